/* allocations.h: every live device allocation we have seen made, by address. Owns their identity: a
 * generation that is never reused. It must not know slices, sizes that are taken, or profiles.
 *
 * In observe mode an allocation that the rung would have placed carries the address it would have
 * had
 * (`shadow`), so that updates can be compared as they would have been. Every function takes the
 * table's lock. */
#ifndef VR_ALLOCATIONS_H
#define VR_ALLOCATIONS_H

#include "hash.h"
#include "lock.h"
#include "types.h"

struct vr_slice;

/* What is known of an allocation; copied out, since another thread may free it any time. */
struct vr_allocation {
    uint64_t base;
    size_t bytes; /* as the application asked */
    uint64_t generation;
    vr_handle context;
    int device;
    bool retired;           /* its free is under way: nobody finds it */
    uint64_t shadow;        /* observe mode: where it would be; 0 when it would be the driver's */
    struct vr_slice *slice; /* ours (or, in observe mode, as if); NULL: the driver's */
};

struct vr_allocations;

/* NULL when memory is out. */
struct vr_allocations *vr_allocations_new(struct vr_heap *heap);
void vr_allocations_free(struct vr_allocations *table, struct vr_heap *heap);

/* Gives `allocation` its generation and adds it; those in its place that died unseen go, see
 * vr_allocations_displace(). False when memory is out: then it is unknown. */
bool vr_allocations_add(struct vr_allocations *table, struct vr_heap *heap,
                        struct vr_allocation *allocation);
/* Takes out one allocation that overlaps a new one at `base`: it has died unseen. False when there
 * is none (any more). */
bool vr_allocations_displace(struct vr_allocations *table, struct vr_heap *heap, uint64_t base,
                             size_t bytes, struct vr_allocation *out);
/* Takes out the allocation whose base is `base`, retired or not; false for an unknown one. */
bool vr_allocations_remove(struct vr_allocations *table, struct vr_heap *heap, uint64_t base,
                           struct vr_allocation *out);
/* Takes out one of the context's that is no younger than `generation`, at *from or above; *from
 * moves on. False when none is left. */
bool vr_allocations_remove_of(struct vr_allocations *table, struct vr_heap *heap, vr_handle context,
                              uint64_t generation, uint64_t *from, struct vr_allocation *out);

/* Around a free. Retire hides the allocation whose base is `base`; false for an unknown or retired
 * one. Then restore (the driver refused) or bury it. Both need no memory, and do nothing, answering
 * false, if it was displaced meanwhile. */
bool vr_allocations_retire(struct vr_allocations *table, uint64_t base, struct vr_allocation *out);
bool vr_allocations_restore(struct vr_allocations *table, uint64_t base, uint64_t generation);
bool vr_allocations_bury(struct vr_allocations *table, struct vr_heap *heap, uint64_t base,
                         uint64_t generation, struct vr_allocation *out);

/* The live allocation that contains `address`. */
bool vr_allocations_find(struct vr_allocations *table, uint64_t address, struct vr_allocation *out);
/* Whether an allocation is alive; `base` is where it was. */
bool vr_allocations_alive(struct vr_allocations *table, uint64_t base, uint64_t generation);
/* The number of allocations ever made: anything with a greater generation came later. */
uint64_t vr_allocations_generation(const struct vr_allocations *table);
/* The number in the table. Callers are alone. */
size_t vr_allocations_count(const struct vr_allocations *table);

/* NULL, or the first broken invariant. Callers are alone. */
const char *vr_allocations_check(struct vr_allocations *table);

#endif
