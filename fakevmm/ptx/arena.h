/* arena.h: memory that lives as long as one loaded module and is freed in one go, so that a parse
 * that fails half-way leaks nothing. */
#ifndef FAKEVMM_PTX_ARENA_H
#define FAKEVMM_PTX_ARENA_H

#include <stddef.h>

struct ptx_arena {
    struct ptx_chunk *chunks;
};

/* Zeroed bytes, aligned for anything; NULL when memory is out. */
void *ptx_take(struct ptx_arena *arena, size_t bytes);
/* Makes room for one more item in a vector of `count`: `items` itself, or a copy twice as long.
 * NULL when memory is out. */
void *ptx_grow(struct ptx_arena *arena, void *items, unsigned count, unsigned *room,
               size_t item_size);
/* A NUL-terminated copy. NULL when memory is out. */
char *ptx_keep_text(struct ptx_arena *arena, const char *text, size_t length);
void ptx_arena_free(struct ptx_arena *arena);

#endif
