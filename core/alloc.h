/* alloc.h: the heap as core/ sees it. Counts blocks and bytes that are ours, and can fail the nth
 * allocation, which is how tests walk every out-of-memory path. Sizes are told on free, so blocks
 * carry no header. Any thread may allocate. */
#ifndef VR_ALLOC_H
#define VR_ALLOC_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct vr_heap {
    _Atomic uint64_t bytes, blocks; /* live */
    _Atomic uint64_t fail_at;       /* 1: the next allocation fails; n: the nth; 0: none */
};

/* Zeroed memory, or NULL. */
void *vr_alloc(struct vr_heap *heap, size_t bytes);
/* `bytes` as given to vr_alloc(); NULL is allowed. */
void vr_free(struct vr_heap *heap, void *block, size_t bytes);

#endif
