/* slice.c: lists of slices by size, and the cutting of new ones. */
#include "slice.h"

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* ---- lists ---- */

struct vr_size_list *vr_slicer_list(struct vr_slicer *slicer, struct vr_heap *heap, size_t bytes)
{
    struct vr_size_list *list;
    uint64_t key = bytes;

    HASH_FIND(hh, slicer->sizes, &key, sizeof key, list);
    if (list || !(list = vr_alloc(heap, sizeof *list)))
        return list;
    list->bytes = key;
    list->rounded = round_up(bytes, slicer->granule);
    HASH_ADD(hh, slicer->sizes, bytes, sizeof list->bytes, list);
    if (vr_hash_added(list))
        return list;
    vr_free(heap, list, sizeof *list);
    return NULL;
}

static bool grow(struct vr_size_list *list, struct vr_heap *heap)
{
    uint32_t room = list->room ? list->room * 2 : 4;
    struct vr_slice **slice;

    if (list->count < list->room)
        return true;
    if (!vr_bitmap_reserve(&list->free, heap, room))
        return false;
    slice = vr_alloc(heap, room * sizeof *slice);
    if (!slice)
        return false;
    if (list->count)
        memcpy(slice, list->slice, list->count * sizeof *slice);
    vr_free(heap, list->slice, list->room * sizeof *list->slice);
    list->slice = slice;
    list->room = room;
    return true;
}

/* ---- blocks ---- */

static struct vr_block *new_block(struct vr_slicer *slicer, struct vr_heap *heap,
                                  struct vr_blocks *blocks, uint64_t bytes, enum vr_status *status)
{
    struct vr_block *block;

    *status = VR_NONE;
    if (bytes > slicer->bytes - slicer->next)
        return NULL;
    *status = VR_NO_MEMORY;
    block = vr_alloc(heap, sizeof *block);
    if (!block)
        return NULL;
    vr_block_begin(blocks, block, slicer->base + slicer->next, bytes);
    slicer->next += bytes;
    return block;
}

/* The class of a size below half a granule, and what its pieces measure. */
static unsigned class_of(size_t bytes, size_t *piece)
{
    uint64_t units = (bytes + VR_PIECE_UNIT - 1) / VR_PIECE_UNIT;
    unsigned shift = units <= 4 ? 0 : 61 - (unsigned)__builtin_clzll(units - 1);

    units = round_up(units, (uint64_t)1 << shift) >> shift;
    *piece = (size_t)(units << shift) * VR_PIECE_UNIT;
    return 4 * shift + (unsigned)units;
}

/* A block with room for one more slice of that size, and the slice's address. */
static struct vr_block *find_room(struct vr_slicer *slicer, struct vr_heap *heap,
                                  struct vr_blocks *blocks, const struct vr_size_list *list,
                                  uint64_t *address, enum vr_status *status)
{
    bool shared = list->bytes < slicer->granule / 2;
    size_t piece = 0;
    struct vr_block **sharing = shared ? &slicer->sharing[class_of(list->bytes, &piece)] : NULL;
    struct vr_block *block = shared ? *sharing : NULL;

    if (block && (block->doomed || (block->slices + 1) * piece > block->bytes))
        block = NULL;
    if (!block)
        block = new_block(slicer, heap, blocks, shared ? slicer->granule : list->rounded, status);
    if (!block)
        return NULL;
    if (shared)
        *sharing = block;
    *address = block->address + block->slices * piece;
    return block;
}

enum vr_status vr_slicer_cut(struct vr_slicer *slicer, struct vr_heap *heap,
                             struct vr_blocks *blocks, struct vr_size_list *list,
                             struct vr_slice **out)
{
    enum vr_status status = VR_NO_MEMORY;
    struct vr_slice *slice = grow(list, heap) ? vr_alloc(heap, sizeof *slice) : NULL;
    uint64_t address;

    if (!slice)
        return VR_NO_MEMORY;
    slice->block = find_room(slicer, heap, blocks, list, &address, &status);
    if (!slice->block) {
        vr_free(heap, slice, sizeof *slice);
        return status;
    }
    slice->address = address;
    slice->list = list;
    slice->index = list->count++;
    slice->next = slice->block->first;
    slice->block->first = slice;
    list->slice[slice->index] = slice;
    vr_block_cut(blocks, slice->block);
    vr_slice_set(slice, VR_SLICE_FREE);
    *out = slice;
    return VR_OK;
}

void vr_slicer_free(struct vr_slicer *slicer, struct vr_heap *heap, struct vr_blocks *blocks)
{
    struct vr_size_list *list, *next_list;
    struct vr_block *block, *next_block;

    HASH_ITER (hh, slicer->sizes, list, next_list) {
        HASH_DEL(slicer->sizes, list);
        for (uint32_t i = 0; i < list->count; i++)
            vr_free(heap, list->slice[i], sizeof *list->slice[i]);
        vr_free(heap, list->slice, list->room * sizeof *list->slice);
        vr_bitmap_free(&list->free, heap);
        vr_free(heap, list, sizeof *list);
    }
    for (block = blocks->all; block; block = next_block) {
        next_block = block->next;
        vr_free(heap, block, sizeof *block);
    }
    blocks->all = NULL;
}

/* ---- invariants ---- */

static const char *check_block(const struct vr_slicer *slicer, const struct vr_block *block)
{
    uint32_t live = 0, parked = 0, slices = 0;
    uint64_t above = block->address + block->bytes;

    if (block->address < slicer->base || above - slicer->base > slicer->next ||
        slicer->next > slicer->bytes)
        return "a block lies outside of what is cut from the reservation";
    for (const struct vr_slice *slice = block->first; slice; slice = slice->next) {
        if (slice->address < block->address || slice->address + slice->list->bytes > above)
            return "slices overlap, or lie outside of their block";
        if (block->doomed && slice->state == VR_SLICE_FREE)
            return "a slice that has left our control is free";
        above = slice->address;
        live += slice->state == VR_SLICE_LIVE;
        parked += slice->state == VR_SLICE_PARKED;
        slices++;
    }
    if (live != block->live || parked != block->parked || slices != block->slices)
        return "a block's slices do not add up";
    return NULL;
}

static const char *check_list(const struct vr_size_list *list)
{
    uint32_t parked = 0;

    if (!vr_bitmap_sound(&list->free))
        return "the bitmap of free slices is not sound";
    for (uint32_t i = 0; i < list->count; i++) {
        const struct vr_slice *slice = list->slice[i];
        if (slice->list != list || slice->index != i)
            return "a slice is in the wrong list";
        if (i && slice->address <= list->slice[i - 1]->address)
            return "the slices of a size are not in the order of addresses";
        if (vr_bitmap_has(&list->free, i) != (slice->state == VR_SLICE_FREE))
            return "the bitmap of free slices does not agree with them";
        parked += slice->state == VR_SLICE_PARKED;
    }
    for (uint32_t i = list->count; i < list->free.room; i++)
        if (vr_bitmap_has(&list->free, i))
            return "a slice that does not exist is free";
    return parked == list->parked ? NULL : "the parked slices of a size do not add up";
}

const char *vr_slicer_check(const struct vr_slicer *slicer, const struct vr_blocks *blocks)
{
    const struct vr_size_list *list, *next;
    const char *broken = NULL;

    for (const struct vr_block *block = blocks->all; block && !broken; block = block->next)
        broken = check_block(slicer, block);
    HASH_ITER (hh, slicer->sizes, list, next) {
        if (!broken)
            broken = check_list(list);
    }
    return broken;
}
