/* alloc.c: wraps calloc and free. Must not know who allocates what. */
#include "alloc.h"

#include <stdbool.h>
#include <stdlib.h>

/* Counts down to the allocation that a test wants to fail. */
static bool fails_now(struct vr_heap *heap)
{
    uint64_t left = atomic_load_explicit(&heap->fail_at, memory_order_relaxed);

    if (!left)
        return false;
    atomic_store_explicit(&heap->fail_at, left - 1, memory_order_relaxed);
    return left == 1;
}

void *vr_alloc(struct vr_heap *heap, size_t bytes)
{
    void *block = fails_now(heap) ? NULL : calloc(1, bytes);

    if (block) {
        atomic_fetch_add_explicit(&heap->bytes, bytes, memory_order_relaxed);
        atomic_fetch_add_explicit(&heap->blocks, 1, memory_order_relaxed);
    }
    return block;
}

void vr_free(struct vr_heap *heap, void *block, size_t bytes)
{
    if (!block)
        return;
    atomic_fetch_sub_explicit(&heap->bytes, bytes, memory_order_relaxed);
    atomic_fetch_sub_explicit(&heap->blocks, 1, memory_order_relaxed);
    free(block);
}
