/* block.h: the memory behind the reservation: blocks of whole granules, each of them with one
 * handle of the driver or, for a while, without. Owns the steps (create, map, set access) and their
 * undoing, and the list of blocks that are kept: with memory, though nobody uses them. Must not
 * know sizes or slices beyond their number. The arena's lock is held in every call.
 *
 * A dry set (observe mode) keeps the same books and never calls the driver. */
#ifndef VR_BLOCK_H
#define VR_BLOCK_H

#include "counters.h"
#include "driver_ops.h"

/* How far a block has come. Steps are taken up again from where they stopped. */
enum vr_stage {
    VR_STAGE_BARE,    /* an address only */
    VR_STAGE_CREATED, /* has memory ... */
    VR_STAGE_MAPPED,  /* ... at its address ... */
    VR_STAGE_READY    /* ... that kernels may use */
};

struct vr_block {
    uint64_t address;
    size_t bytes;
    uint64_t memory; /* the driver's handle, from VR_STAGE_CREATED on */
    enum vr_stage stage;
    bool doomed;            /* has left our control: its address is never handed out again */
    uint32_t slices;        /* cut from it so far */
    uint32_t live, parked;  /* of those: handed out, and freed but not known to be idle */
    struct vr_slice *first; /* its slices */
    struct vr_block *older, *newer; /* among the kept */
    struct vr_block *next;          /* in vr_blocks.all */
};

struct vr_blocks {
    const struct vr_driver_ops *ops;
    int device;
    bool dry;
    _Atomic uint64_t *vmm; /* counters of VR_VMM_CALLS, from VR_COUNT_vmm_create on */
    struct vr_block *all;
    struct vr_block *oldest, *newest; /* kept, by the time of their last use */
    /* Written under the lock, read anywhere. */
    _Atomic uint64_t held_bytes; /* of blocks with memory */
    _Atomic uint64_t kept_bytes; /* of those, nobody's */
    _Atomic uint64_t slices;     /* that have memory */
};

/* A block at an address of the reservation that is in no other; it is bare. */
void vr_block_begin(struct vr_blocks *blocks, struct vr_block *block, uint64_t address,
                    size_t bytes);
/* One more slice is cut from it. */
void vr_block_cut(struct vr_blocks *blocks, struct vr_block *block);

/* Makes it ready. On a refusal everything is undone as far as the driver lets us, and *refusal says
 * which step was refused. */
enum vr_status vr_block_back(struct vr_blocks *blocks, struct vr_block *block,
                             enum vr_refusal *refusal);

/* A slice of it is handed out; is freed (and, when `parked`, may still be in use); is known to be
 * idle at last. A block with memory that has neither live nor parked slices is kept from then on.
 */
void vr_block_use(struct vr_blocks *blocks, struct vr_block *block);
void vr_block_leave(struct vr_blocks *blocks, struct vr_block *block, bool parked);
void vr_block_settle(struct vr_blocks *blocks, struct vr_block *block);
/* It is to go as soon as nobody uses it. */
void vr_block_doom(struct vr_blocks *blocks, struct vr_block *block);

/* Takes the memory of the block that has been kept longest; false when there is none, or the driver
 * refuses: it is then the youngest. */
bool vr_blocks_evict(struct vr_blocks *blocks);
/* Takes all memory, used or not, at the end. Frees nothing of the heap. */
void vr_blocks_end(struct vr_blocks *blocks);

/* NULL, or the first broken invariant. */
const char *vr_blocks_check(const struct vr_blocks *blocks);

#endif
