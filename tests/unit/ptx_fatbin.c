/* ptx_fatbin.c: PTX is found in the containers docs/fatbin.md describes, and nothing outside them
 * is read. */
#include "fakevmm/ptx/ptx.h"
#include "vr_test.h"

#include <lz4.h>
#include <zstd.h>

static const char text_75[] =
    ".version 8.0\n.target sm_75\n// a a a a a a a a a a a a a a a a a a a a a\n";
static const char text_90[] =
    ".version 8.0\n.target sm_90\n// b b b b b b b b b b b b b b b b b b b b b\n";

enum { PLAIN = 0x11, LZ4 = 0x2011, ZSTD = 0x8011 };

/* A container built by hand. */
struct image {
    _Alignas(8) unsigned char bytes[8192];
    size_t size;
};

static void put(struct image *image, size_t offset, uint64_t value, unsigned width)
{
    memcpy(image->bytes + offset, &value, width);
}

static void start(struct image *image)
{
    memset(image, 0, sizeof *image);
    put(image, 0, 0xba55ed50, 4);
    put(image, 4, 1, 2);
    put(image, 6, 16, 2);
    image->size = 16;
}

/* Returns where the entry starts. */
static size_t add(struct image *image, unsigned kind, unsigned arch, unsigned flags,
                  const char *text)
{
    size_t at = image->size, length = strlen(text), packed = length;
    unsigned char *payload = image->bytes + at + 80;

    if (flags == ZSTD)
        packed = ZSTD_compress(payload, 1000, text, length, 1);
    else if (flags == LZ4)
        packed = (size_t)LZ4_compress_default(text, (char *)payload, (int)length, 1000);
    else
        memcpy(payload, text, length);
    put(image, at, kind, 2);
    put(image, at + 4, 80, 4);
    put(image, at + 8, (packed + 7) / 8 * 8, 8);
    put(image, at + 16, flags == PLAIN ? 0 : packed, 4);
    put(image, at + 28, arch, 4);
    put(image, at + 40, flags, 8);
    put(image, at + 56, flags == PLAIN ? 0 : length, 8);
    image->size += 80 + (packed + 7) / 8 * 8;
    put(image, 8, image->size - 16, 8);
    return at;
}

/* From a copy that ends where the image says, so that sanitizers see every byte too many. */
static enum ptx_image extract(const struct image *image, unsigned arch, char **text)
{
    void *copy = malloc(image->size);
    char message[128] = "";
    enum ptx_image result;
    size_t length = 0;

    memcpy(copy, image->bytes, image->size);
    result = ptx_extract(copy, arch, text, &length, message, sizeof message);
    free(copy);
    if (result == PTX_IMAGE_TEXT)
        T_EQ(length, strlen(*text));
    else
        T_ASSERT(message[0] != '\0');
    return result;
}

static void check_text(const struct image *image, unsigned arch, const char *want)
{
    char *text = NULL;

    T_EQ(extract(image, arch, &text), PTX_IMAGE_TEXT);
    T_STR_EQ(text, want);
    free(text);
}

TEST(ptx_fatbin, text)
{
    char message[64], *text;
    size_t length;

    T_EQ(ptx_extract(text_75, 90, &text, &length, message, sizeof message), PTX_IMAGE_TEXT);
    T_STR_EQ(text, text_75);
    free(text);
    T_EQ(ptx_extract("", 90, &text, &length, message, sizeof message), PTX_IMAGE_INVALID);
    T_EQ(ptx_extract("\x01\x02\x03", 90, &text, &length, message, sizeof message),
         PTX_IMAGE_INVALID);
    T_EQ(ptx_extract("\x7f"
                     "ELF",
                     90, &text, &length, message, sizeof message),
         PTX_IMAGE_NO_PTX);
}

TEST(ptx_fatbin, payloads)
{
    static const unsigned flags[] = {PLAIN, LZ4, ZSTD};
    struct image image;

    for (unsigned i = 0; i < 3; i++) {
        start(&image);
        add(&image, 1, 75, flags[i], text_75);
        check_text(&image, 90, text_75);
    }
}

TEST(ptx_fatbin, newest_architecture_the_device_has)
{
    struct image image;
    char *text;

    start(&image);
    add(&image, 2, 90, PLAIN, "machine code");
    add(&image, 1, 75, ZSTD, text_75);
    add(&image, 1, 90, PLAIN, text_90);
    add(&image, 1, 50, PLAIN, "old");
    check_text(&image, 90, text_90);
    check_text(&image, 89, text_75);
    check_text(&image, 120, text_90);
    T_EQ(extract(&image, 40, &text), PTX_IMAGE_NO_PTX);
}

TEST(ptx_fatbin, machine_code_only)
{
    struct image image;
    char *text;

    start(&image);
    add(&image, 2, 90, PLAIN, "machine code");
    T_EQ(extract(&image, 90, &text), PTX_IMAGE_NO_PTX);
}

TEST(ptx_fatbin, wrapper)
{
    struct {
        uint32_t magic, version;
        const void *container, *second;
    } wrapper = {0x466243b1, 1, NULL, NULL};
    char message[64], *text;
    struct image image;
    size_t length;

    start(&image);
    add(&image, 1, 75, ZSTD, text_75);
    wrapper.container = image.bytes;
    T_EQ(ptx_extract(&wrapper, 90, &text, &length, message, sizeof message), PTX_IMAGE_TEXT);
    T_STR_EQ(text, text_75);
    free(text);
    wrapper.container = NULL;
    T_EQ(ptx_extract(&wrapper, 90, &text, &length, message, sizeof message), PTX_IMAGE_INVALID);
}

/* Every size field set to every kind of wrong value. */
TEST(ptx_fatbin, hostile_sizes)
{
    static const struct {
        unsigned offset, width;
    } fields[] = {{4, 4}, {8, 8}, {16, 4}, {56, 8}};
    static const uint64_t values[] = {
        0, 1, 15, 63, 64, 0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 79};
    static const unsigned flags[] = {PLAIN, LZ4, ZSTD};

    for (unsigned f = 0; f < 4; f++) {
        for (unsigned v = 0; v < sizeof values / sizeof *values; v++) {
            for (unsigned k = 0; k < 3; k++) {
                struct image image;
                char *text = NULL;
                size_t at;

                start(&image);
                at = add(&image, 1, 75, flags[k], text_75);
                put(&image, at + fields[f].offset, values[v], fields[f].width);
                if (extract(&image, 90, &text) == PTX_IMAGE_TEXT)
                    free(text);
            }
        }
    }
}

TEST(ptx_fatbin, entry_behind_its_container)
{
    struct image image;
    char *text;
    size_t at;

    start(&image);
    at = add(&image, 1, 75, PLAIN, text_75);
    put(&image, at + 8, 100000, 8);
    T_EQ(extract(&image, 90, &text), PTX_IMAGE_INVALID);
    start(&image);
    at = add(&image, 1, 75, PLAIN, text_75);
    put(&image, at + 4, 32, 4);
    T_EQ(extract(&image, 90, &text), PTX_IMAGE_INVALID);
}

TEST(ptx_fatbin, cut_and_damaged_compression)
{
    static const unsigned flags[] = {LZ4, ZSTD};

    for (unsigned k = 0; k < 2; k++) {
        for (unsigned bit = 0; bit < 8 * 40; bit++) {
            struct image image;
            char *text = NULL;
            size_t at;

            start(&image);
            at = add(&image, 1, 75, flags[k], text_75);
            image.bytes[at + 80 + bit / 8] ^= (unsigned char)(1u << bit % 8);
            if (extract(&image, 90, &text) == PTX_IMAGE_TEXT)
                free(text);
        }
        struct image image;
        char *text;
        size_t at;
        start(&image);
        at = add(&image, 1, 75, flags[k], text_75);
        put(&image, at + 56, strlen(text_75) + 1, 8);
        T_EQ(extract(&image, 90, &text), PTX_IMAGE_INVALID);
    }
}
