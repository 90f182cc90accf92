/* sizes.h: which sizes of allocation are placed in the reservation, and which never will be. Owns
 * that decision; the profile proposes (slots.c), the application's use may forbid. Takes its own
 * lock, but not while it asks the driver. */
#ifndef VR_SIZES_H
#define VR_SIZES_H

#include "driver_ops.h"
#include "hash.h"
#include "lock.h"
#include "options.h"

struct vr_sizes;

enum vr_size_state {
    VR_SIZE_DRIVERS, /* not taken (yet) */
    VR_SIZE_TAKEN,   /* the next allocation of exactly this size is ours */
    VR_SIZE_REFUSED, /* would be taken, but nothing of ours may stand in for the driver's memory */
    VR_SIZE_BARRED   /* never: a copy operand, exported, asked for by IPC */
};

/* Both are kept by pointer and must outlive it. NULL when memory is out. */
struct vr_sizes *vr_sizes_new(struct vr_heap *heap, const struct vr_driver_ops *ops,
                              const struct vr_options *options);
void vr_sizes_free(struct vr_sizes *sizes, struct vr_heap *heap);

/* The profile has seen `bytes` recur under a graph on `device`. True if it is newly taken: not when
 * the options, the driver (may_place, asked once per device) or the application's use say no. */
bool vr_sizes_take(struct vr_sizes *sizes, struct vr_heap *heap, int device, size_t bytes);
/* Never again, on any device. True if it was not so before. */
bool vr_sizes_bar(struct vr_sizes *sizes, struct vr_heap *heap, size_t bytes);
/* Under VAREMAP_BACKING=eager it asks the driver as above. VR_SIZE_BARRED also for all sizes after
 * one could not be noted as barred, since memory was out. */
enum vr_size_state vr_sizes_state(struct vr_sizes *sizes, int device, size_t bytes);

/* NULL, or the first broken invariant. Callers are alone. */
const char *vr_sizes_check(struct vr_sizes *sizes);

#endif
