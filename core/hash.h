/* hash.h: uthash, set up for core/; nobody includes uthash.h directly. Tables allocate from `heap`,
 * a local variable that any function adding to or deleting from a table must have. Out of memory is
 * not fatal: after an add, vr_hash_added() says whether the element is in; if not, the table is as
 * before. */
#ifndef VR_HASH_H
#define VR_HASH_H

#include <stdint.h>
#include <string.h>

#include "alloc.h"

#define HASH_NONFATAL_OOM               1
#define uthash_malloc(bytes)            vr_alloc(heap, bytes)
#define uthash_free(block, bytes)       vr_free(heap, block, bytes)
#define HASH_FUNCTION(key, bytes, hash) ((hash) = vr_hash_bytes(key, bytes))

#include <uthash.h>

/* Both halves of the wide product: handles are aligned addresses, whose low bits never differ,
 * while uthash looks at the low bits of the hash alone. */
static inline uint64_t vr_hash_mix(uint64_t value)
{
    unsigned __int128 product = (unsigned __int128)value * 0x9e3779b97f4a7c15u;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Keys are made of whole 8-byte words. */
static inline unsigned vr_hash_bytes(const void *key, size_t bytes)
{
    uint64_t hash = 0, word;

    for (size_t at = 0; at < bytes; at += sizeof word) {
        memcpy(&word, (const char *)key + at, sizeof word);
        hash = vr_hash_mix(hash ^ word);
    }
    return (unsigned)hash;
}

#define vr_hash_added(element) ((element)->hh.tbl != NULL)

#endif
