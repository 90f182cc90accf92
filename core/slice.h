/* slice.h: how the reservation is cut up. Owns the slices: each belongs to one exact size of
 * allocation for good, and has its address for good. Of half a granule or more, a slice is a block
 * of its own; smaller ones are pieces of blocks of one granule that sizes of one class share. New
 * addresses come from the end, so among the slices of a size the order of their numbers is that of
 * addresses. Must not know when slices are handed out or who has memory. The arena's lock is held
 * in every call. */
#ifndef VR_SLICE_H
#define VR_SLICE_H

#include "bitmap.h"
#include "block.h"
#include "hash.h"
#include "types.h"

enum vr_slice_state {
    VR_SLICE_FREE,
    VR_SLICE_LIVE,   /* the application's */
    VR_SLICE_PARKED, /* freed, but work in its context may still use it */
    VR_SLICE_DEAD    /* never again: it had left our control */
};

struct vr_slice {
    uint64_t address;
    struct vr_block *block;
    struct vr_size_list *list;
    uint32_t index; /* in its list */
    enum vr_slice_state state;
    /* While parked: whose work may use it, and the moment it was parked. */
    vr_handle context;
    uint64_t moment;
    struct vr_slice *next_parked;
    struct vr_slice *next; /* of its block */
};

/* All slices of one exact size. */
struct vr_size_list {
    uint64_t bytes;   /* as the application asks */
    uint64_t rounded; /* to whole granules: what it counts for in the bound on memory */
    struct vr_slice **slice;
    uint32_t count, room;
    uint32_t parked;
    struct vr_bitmap free;
    UT_hash_handle hh; /* in vr_slicer.sizes, by `bytes` */
};

/* Pieces are multiples of this, as the driver aligns its own allocations. */
#define VR_PIECE_UNIT 512
/* Four classes per doubling. */
#define VR_CLASSES 192

struct vr_slicer {
    size_t granule;
    uint64_t base, bytes; /* of the reservation */
    uint64_t next;        /* offset of what is not cut yet */
    struct vr_size_list *sizes;
    struct vr_block *sharing[VR_CLASSES]; /* by class: the block that pieces are cut from */
};

/* The list of a size, made when there is none. NULL when memory is out. */
struct vr_size_list *vr_slicer_list(struct vr_slicer *slicer, struct vr_heap *heap, size_t bytes);

/* A new free slice of the list. VR_NONE: the reservation is used up. */
enum vr_status vr_slicer_cut(struct vr_slicer *slicer, struct vr_heap *heap,
                             struct vr_blocks *blocks, struct vr_size_list *list,
                             struct vr_slice **out);

void vr_slicer_free(struct vr_slicer *slicer, struct vr_heap *heap, struct vr_blocks *blocks);

/* NULL, or the first broken invariant. */
const char *vr_slicer_check(const struct vr_slicer *slicer, const struct vr_blocks *blocks);

/* The lowest free slice, or NULL. */
static inline struct vr_slice *vr_slice_lowest(const struct vr_size_list *list)
{
    uint32_t index = vr_bitmap_least(&list->free);

    return index == VR_BITMAP_NONE ? NULL : list->slice[index];
}

static inline void vr_slice_set(struct vr_slice *slice, enum vr_slice_state state)
{
    if (state == VR_SLICE_FREE)
        vr_bitmap_add(&slice->list->free, slice->index);
    else if (slice->state == VR_SLICE_FREE)
        vr_bitmap_remove(&slice->list->free, slice->index);
    slice->state = state;
}

#endif
