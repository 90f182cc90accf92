/* arena.h: the reservation of one device: hands out slices and takes them back, and keeps the
 * promise about memory: what we hold and what the driver has allocated for the application never
 * exceed, in granules, the most that live allocations ever needed at one time. Must not know which
 * sizes are taken nor which address is which allocation. Takes its own lock, which is not held
 * while work is waited for: whoever must drain is told so, drains, settles and asks again.
 *
 * A dry arena (observe mode) keeps the same books over a pretended reservation. */
#ifndef VR_ARENA_H
#define VR_ARENA_H

#include "lock.h"
#include "options.h"
#include "slice.h"

struct vr_arena {
    struct vr_lock lock; /* guards what follows, but for atomics */
    const struct vr_options *options;
    struct vr_slicer slicer;
    struct vr_blocks blocks;
    uint64_t total;                /* the device's memory */
    bool refused;                  /* there will be no reservation */
    uint32_t refusals;             /* by the driver, to make memory, in a row */
    bool overdue;                  /* memory should have been given back and was not yet */
    uint64_t ours, drivers, peak;  /* live bytes, in whole granules; the most of both together */
    struct vr_slice *parked;       /* the youngest first */
    uint64_t moments;              /* parkings so far */
    _Atomic uint64_t parked_count; /* in the list; read without the lock */
    _Atomic uint64_t reserved;     /* bytes of the reservation; read without the lock */
};

/* NULL when memory is out. `options`, `ops` and `vmm` (counters, see vr_blocks) must outlive it. A
 * device of which the driver will not say the granule never gets a reservation. */
struct vr_arena *vr_arena_new(struct vr_heap *heap, const struct vr_driver_ops *ops,
                              const struct vr_options *options, int device, _Atomic uint64_t *vmm);
/* Gives everything back, used or not. */
void vr_arena_free(struct vr_arena *arena, struct vr_heap *heap);

/* Whether an address lies in the reservation. No lock: a reservation stays where it is. */
static inline bool vr_arena_covers(const struct vr_arena *arena, uint64_t address)
{
    uint64_t bytes = atomic_load_explicit(&arena->reserved, memory_order_acquire);

    return bytes && address - arena->slicer.base < bytes;
}

/* How a call may go about it. */
struct vr_asking {
    size_t bytes;
    bool quiet;   /* a capture lives: nothing may be asked of the driver */
    bool drained; /* do not say VR_TAKE_DRAIN: it was done, or was refused */
};

struct vr_taken {
    struct vr_slice *slice;
    uint64_t address;
    bool recycled;           /* a slice that was free and had memory */
    enum vr_refusal refusal; /* VR_TAKE_REFUSED */
    vr_handle context;       /* VR_TAKE_DRAIN */
};

enum vr_take {
    VR_TAKE_DONE,
    VR_TAKE_DRAIN,  /* parked slices would serve: drain the context, settle, ask again */
    VR_TAKE_REFUSED /* leave it to the driver */
};

enum vr_take vr_arena_take(struct vr_arena *arena, struct vr_heap *heap,
                           const struct vr_asking *asking, struct vr_taken *out);

/* A live slice is free: its context has been drained; or, with a context, parked until it is. */
void vr_arena_give(struct vr_arena *arena, struct vr_slice *slice, vr_handle parked_by, bool quiet);

/* Around a drain: the moment before it, and after it the end of the parking of all slices that the
 * context had parked by then. Neither takes the lock when none is parked. */
uint64_t vr_arena_moment(struct vr_arena *arena);
void vr_arena_settle(struct vr_arena *arena, vr_handle context, uint64_t moment, bool quiet);
/* The context of some parked slice; false when there is none. */
bool vr_arena_parked(struct vr_arena *arena, vr_handle *context);

/* A live slice has left our control: it dies when it is freed, and its block's free slices now. */
void vr_arena_pin(struct vr_arena *arena, struct vr_slice *slice);

/* The driver is to make an allocation itself: makes room for it among what we keep. */
void vr_arena_make_room(struct vr_arena *arena, size_t bytes);
/* It has made one; it has freed one. */
void vr_arena_driver_made(struct vr_arena *arena, size_t bytes, bool quiet);
void vr_arena_driver_freed(struct vr_arena *arena, size_t bytes);

/* Gives back all that is kept; the bytes. */
uint64_t vr_arena_give_back(struct vr_arena *arena);

/* NULL, or the first broken invariant. Callers are alone. */
const char *vr_arena_check(struct vr_arena *arena);

#endif
