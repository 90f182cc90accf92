/* arena.c: a list of chunks, handed out front to back. It knows nothing of PTX. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct ptx_chunk {
    struct ptx_chunk *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void *ptx_take(struct ptx_arena *arena, size_t bytes)
{
    struct ptx_chunk *chunk = arena->chunks;

    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!chunk || chunk->size - chunk->used < bytes) {
        size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = calloc(1, sizeof(*chunk) + size);
        if (!chunk)
            return NULL;
        chunk->size = size;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    chunk->used += bytes;
    return chunk->bytes + chunk->used - bytes;
}

void *ptx_grow(struct ptx_arena *arena, void *items, unsigned count, unsigned *room,
               size_t item_size)
{
    unsigned wanted = *room ? *room * 2 : 8;
    void *copy;

    if (count < *room)
        return items;
    copy = ptx_take(arena, wanted * item_size);
    if (!copy)
        return NULL;
    if (count)
        memcpy(copy, items, count * item_size);
    *room = wanted;
    return copy;
}

char *ptx_keep_text(struct ptx_arena *arena, const char *text, size_t length)
{
    char *copy = ptx_take(arena, length + 1);

    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void ptx_arena_free(struct ptx_arena *arena)
{
    while (arena->chunks) {
        struct ptx_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
}
