/* fatbin.c: finds PTX text inside an image (docs/fatbin.md). Every size in an image is checked
 * against the container's own before it is used. It does not read the text. */
#include "ptx.h"

#include <ctype.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    CONTAINER_MAGIC = (int)0xba55ed50,
    WRAPPER_MAGIC = 0x466243b1,
    KIND_PTX = 1,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    TEXT_LIMIT = 1 << 29 /* bytes of text nobody has */
};

struct wrapper {
    uint32_t magic, version;
    const void *container;
    const void *second;
};

struct container {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of the entries behind the header */
};

struct entry {
    uint16_t kind, unknown_a;
    uint32_t header_size;
    uint64_t payload_size;
    uint32_t compressed_size, extra_offset;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name_offset, name_size;
    uint64_t flags;
    uint64_t unknown_b;
    uint64_t text_size; /* 0: the payload is stored as it is */
};
_Static_assert(sizeof(struct container) == 16 && sizeof(struct entry) == 64, "the format's layout");

struct reason {
    char *message;
    size_t size;
};

static enum ptx_image fail(const struct reason *reason, enum ptx_image result, const char *text)
{
    snprintf(reason->message, reason->size, "%s", text);
    return result;
}

/* ---- payloads ---- */

static bool unpack(const struct entry *entry, const unsigned char *payload, char *text)
{
    size_t size = (size_t)entry->text_size;

    if (entry->flags & FLAG_ZSTD)
        return ZSTD_decompress(text, size, payload, entry->compressed_size) == size;
    if (entry->flags & FLAG_LZ4)
        return LZ4_decompress_safe((const char *)payload, text, (int)entry->compressed_size,
                                   (int)size) == (int)size;
    return false;
}

static enum ptx_image take_payload(const struct entry *entry, const unsigned char *payload,
                                   char **text, size_t *length, const struct reason *reason)
{
    uint64_t size = entry->text_size ? entry->text_size : entry->payload_size;
    char *copy;

    if (size > TEXT_LIMIT || (entry->text_size && entry->compressed_size > entry->payload_size) ||
        entry->compressed_size > TEXT_LIMIT)
        return fail(reason, PTX_IMAGE_INVALID, "a size in a fatbin entry makes no sense");
    copy = malloc((size_t)size + 1);
    if (!copy)
        return fail(reason, PTX_IMAGE_NO_MEMORY, "out of memory");
    if (!entry->text_size) {
        memcpy(copy, payload, (size_t)size);
    } else if (!unpack(entry, payload, copy)) {
        free(copy);
        return fail(reason, PTX_IMAGE_INVALID, "the PTX in a fatbin does not decompress");
    }
    copy[size] = '\0';
    *text = copy;
    *length = strlen(copy);
    return PTX_IMAGE_TEXT;
}

/* ---- containers ---- */

/* The best PTX entry so far. */
struct choice {
    struct entry entry;
    const unsigned char *payload;
    bool newer; /* there is PTX, but for newer architectures */
};

static void consider(struct choice *choice, const struct entry *entry, const unsigned char *payload,
                     unsigned max_arch)
{
    if (entry->kind != KIND_PTX)
        return;
    if (entry->arch > max_arch) {
        choice->newer = true;
        return;
    }
    if (!choice->payload || entry->arch > choice->entry.arch) {
        choice->entry = *entry;
        choice->payload = payload;
    }
}

static enum ptx_image read_container(const unsigned char *at, unsigned max_arch, char **text,
                                     size_t *length, const struct reason *reason)
{
    struct choice choice = {.newer = false};
    struct container container;
    uint64_t left;

    memcpy(&container, at, sizeof(container));
    if (container.version != 1 || container.header_size != sizeof(container))
        return fail(reason, PTX_IMAGE_INVALID, "an unknown fatbin version");
    at += container.header_size;
    for (left = container.size; left >= sizeof(struct entry);) {
        struct entry entry;

        memcpy(&entry, at, sizeof(entry));
        if (entry.header_size < sizeof(entry) || entry.header_size > left ||
            entry.payload_size > left - entry.header_size)
            return fail(reason, PTX_IMAGE_INVALID, "a fatbin entry ends behind its container");
        consider(&choice, &entry, at + entry.header_size, max_arch);
        at += entry.header_size + entry.payload_size;
        left -= entry.header_size + entry.payload_size;
    }
    if (choice.payload)
        return take_payload(&choice.entry, choice.payload, text, length, reason);
    return fail(reason, PTX_IMAGE_NO_PTX,
                choice.newer ? "the fatbin has PTX for newer architectures only"
                             : "the fatbin has no PTX");
}

static enum ptx_image read_text(const char *image, char **text, size_t *length,
                                const struct reason *reason)
{
    unsigned char first = (unsigned char)image[0];

    if (!isprint(first) && !isspace(first))
        return fail(reason, PTX_IMAGE_INVALID, "neither PTX text nor a fatbin");
    *length = strlen(image);
    *text = malloc(*length + 1);
    if (!*text)
        return fail(reason, PTX_IMAGE_NO_MEMORY, "out of memory");
    memcpy(*text, image, *length + 1);
    return PTX_IMAGE_TEXT;
}

static bool starts_with(const void *image, int magic)
{
    const unsigned char *bytes = image;

    /* byte by byte: text may be shorter than a magic */
    for (unsigned i = 0; i < 4; i++) {
        if (bytes[i] != ((unsigned)magic >> 8 * i & 0xff))
            return false;
    }
    return true;
}

bool ptx_is_whole(const void *image, size_t size)
{
    struct container container;

    if (starts_with(image, WRAPPER_MAGIC))
        return size >= sizeof(struct wrapper);
    if (!starts_with(image, CONTAINER_MAGIC))
        return true;
    if (size < sizeof(container))
        return false;
    memcpy(&container, image, sizeof(container));
    return container.size <= size - sizeof(container);
}

enum ptx_image ptx_extract(const void *image, unsigned max_arch, char **text, size_t *length,
                           char *message, size_t message_size)
{
    const struct reason reason = {message, message_size};

    if (starts_with(image, WRAPPER_MAGIC)) {
        struct wrapper wrapper;
        memcpy(&wrapper, image, sizeof(wrapper));
        image = wrapper.container;
        if (!image || !starts_with(image, CONTAINER_MAGIC))
            return fail(&reason, PTX_IMAGE_INVALID, "a fatbin wrapper without a container");
    }
    if (starts_with(image, CONTAINER_MAGIC))
        return read_container(image, max_arch, text, length, &reason);
    if (*(const unsigned char *)image == 0x7f) /* an ELF file */
        return fail(&reason, PTX_IMAGE_NO_PTX, "machine code without PTX");
    return read_text(image, text, length, &reason);
}
