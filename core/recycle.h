/* recycle.h: the second rung (docs/design.md, section 5): freed memory of a size that is taken
 * keeps its address. Owns the arenas, one per device, and the counters of memory calls; what shim/
 * calls is in memory.h. */
#ifndef VR_RECYCLE_H
#define VR_RECYCLE_H

#include "alloc.h"
#include "counters.h"
#include "options.h"

struct vr_recycler;
struct vr_state;

/* NULL when memory is out. */
struct vr_recycler *vr_recycler_new(struct vr_heap *heap, const struct vr_options *options);
/* Gives all memory back to the driver, used or not. */
void vr_recycler_free(struct vr_recycler *recycler, struct vr_heap *heap);

/* For the statistics. Bytes and slices are those of real reservations: 0 in observe mode. */
struct vr_memory_totals {
    uint64_t counter[VR_MEMORY_COUNTER_COUNT];
    uint64_t reserved_bytes, mapped_bytes, kept_bytes, slices;
};

/* No lock, no heap. */
void vr_recycler_sum(const struct vr_recycler *recycler, struct vr_memory_totals *totals);

/* NULL, or the first broken invariant, also between arenas and the table of allocations. Callers
 * are alone. */
const char *vr_recycler_check(struct vr_state *state);

#endif
