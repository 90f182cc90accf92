/* hazard_alias.c: finds a kernel launch that reaches the same bytes of physical memory through two
 * addresses and writes to them through one. It is told of every access to memory that is mapped
 * twice, and keeps for each 64 bytes of it and each address which bytes were read and written: two
 * mappings that are used in different parts are no hazard. It must not know how memory is mapped.
 */
#include "hazard.h"

#include <stdlib.h>

#define LINE    64 /* bytes, one bit each in a mask */
#define BUCKETS 4096

struct line {
    uintptr_t
        host; /* where the line is in the host's memory, which is the same for all addresses */
    CUdeviceptr address;
    uint64_t read, written;
    struct line *next;
};

struct fv_touched {
    bool reported;
    struct line *buckets[BUCKETS];
};

static struct line **bucket_of(struct fv_touched *touched, uintptr_t host)
{
    return &touched->buckets[host / LINE % BUCKETS];
}

/* The line under one address, made if it is new; NULL when memory is out. */
static struct line *line_at(struct line **bucket, uintptr_t host, CUdeviceptr address)
{
    struct line *line = *bucket;

    while (line && (line->host != host || line->address != address))
        line = line->next;
    if (line)
        return line;
    line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    *line = (struct line){.host = host, .address = address, .next = *bucket};
    return *bucket = line;
}

/* The same bytes under another address, in a way that does not go with this access; or NULL. *bytes
 * gets which of them. */
static const struct line *clash(const struct line *bucket, const struct line *own, uint64_t mask,
                                bool write, uint64_t *bytes)
{
    for (const struct line *it = bucket; it; it = it->next) {
        *bytes = mask & (write ? it->read | it->written : it->written);
        if (it->host == own->host && it->address != own->address && *bytes)
            return it;
    }
    return NULL;
}

static void report(const char *kernel, CUdeviceptr first, CUdeviceptr second)
{
    fv_hazard("one launch of %s uses the same memory at 0x%llx and at 0x%llx and writes to it",
              kernel, (unsigned long long)first, (unsigned long long)second);
}

static void note_line(struct fv_watch *watch, uintptr_t host, CUdeviceptr address, uint64_t mask,
                      bool write)
{
    struct line **bucket = bucket_of(watch->touched, host);
    struct line *line = line_at(bucket, host, address);
    const struct line *other;
    uint64_t bytes;

    if (!line)
        return;
    *(write ? &line->written : &line->read) |= mask;
    other = clash(*bucket, line, mask, write, &bytes);
    if (!other || watch->touched->reported)
        return;
    watch->touched->reported = true;
    unsigned byte = (unsigned)__builtin_ctzll(bytes);
    report(watch->kernel, other->address + byte, address + byte);
}

void fv_alias_note(struct fv_watch *watch, const unsigned char *host, CUdeviceptr address,
                   unsigned bytes, bool write)
{
    if (!watch->touched)
        watch->touched = calloc(1, sizeof *watch->touched);
    if (!watch->touched)
        return;
    while (bytes) {
        unsigned first = (unsigned)((uintptr_t)host % LINE);
        unsigned count = bytes < LINE - first ? bytes : LINE - first;
        uint64_t ones = count == LINE ? UINT64_MAX : (UINT64_C(1) << count) - 1;
        note_line(watch, (uintptr_t)host - first, address - first, ones << first, write);
        host += count, address += count, bytes -= count;
    }
}

void fv_alias_end(struct fv_watch *watch)
{
    for (int i = 0; watch->touched && i < BUCKETS; i++) {
        for (struct line *line = watch->touched->buckets[i], *next; line; line = next) {
            next = line->next;
            free(line);
        }
    }
    free(watch->touched);
    watch->touched = NULL;
}
