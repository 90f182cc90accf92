/* block.c: the steps of a block up to ready and down to bare, and the list of kept ones. */
#include "block.h"

static uint64_t get(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

/* Writers hold the arena's lock; a difference may be negative, modulo 2^64. */
static void change(_Atomic uint64_t *number, uint64_t difference)
{
    atomic_store_explicit(number, get(number) + difference, memory_order_relaxed);
}

void vr_block_begin(struct vr_blocks *blocks, struct vr_block *block, uint64_t address,
                    size_t bytes)
{
    *block = (struct vr_block){.address = address, .bytes = bytes, .next = blocks->all};
    blocks->all = block;
}

void vr_block_cut(struct vr_blocks *blocks, struct vr_block *block)
{
    block->slices++;
    if (block->stage >= VR_STAGE_CREATED)
        change(&blocks->slices, 1);
}

/* ---- the kept ---- */

static bool is_idle(const struct vr_block *block)
{
    return !block->live && !block->parked;
}

static bool is_kept(const struct vr_block *block)
{
    return is_idle(block) && block->stage >= VR_STAGE_CREATED;
}

static void link_newest(struct vr_blocks *blocks, struct vr_block *block)
{
    block->newer = NULL;
    block->older = blocks->newest;
    *(block->older ? &block->older->newer : &blocks->oldest) = block;
    blocks->newest = block;
}

static void link_oldest(struct vr_blocks *blocks, struct vr_block *block)
{
    block->older = NULL;
    block->newer = blocks->oldest;
    *(block->newer ? &block->newer->older : &blocks->newest) = block;
    blocks->oldest = block;
}

/* What nobody will ask for again is the first to go. */
static void keep(struct vr_blocks *blocks, struct vr_block *block)
{
    if (block->doomed || block->stage < VR_STAGE_READY)
        link_oldest(blocks, block);
    else
        link_newest(blocks, block);
    change(&blocks->kept_bytes, block->bytes);
}

static void unkeep(struct vr_blocks *blocks, struct vr_block *block)
{
    *(block->older ? &block->older->newer : &blocks->oldest) = block->newer;
    *(block->newer ? &block->newer->older : &blocks->newest) = block->older;
    block->older = block->newer = NULL;
    change(&blocks->kept_bytes, -(uint64_t)block->bytes);
}

/* ---- up and down ---- */

/* One step of the driver; none in a dry set. */
static enum vr_status step(struct vr_blocks *blocks, struct vr_block *block, int call)
{
    const struct vr_driver_ops *ops = blocks->ops;
    enum vr_status status = VR_REFUSED;

    if (blocks->dry)
        return VR_OK;
    switch (call) {
    case VR_COUNT_vmm_create:
        status = ops->create(blocks->device, block->bytes, &block->memory);
        break;
    case VR_COUNT_vmm_map: status = ops->map(block->address, block->bytes, block->memory); break;
    case VR_COUNT_vmm_set_access:
        status = ops->set_access(blocks->device, block->address, block->bytes);
        break;
    case VR_COUNT_vmm_unmap: status = ops->unmap(block->address, block->bytes); break;
    case VR_COUNT_vmm_release: status = ops->release(block->memory); break;
    }
    if (status == VR_OK)
        vr_bump_shared(&blocks->vmm[call - VR_COUNT_vmm_create]);
    return status;
}

static enum vr_status climb(struct vr_blocks *blocks, struct vr_block *block)
{
    static const int calls[] = {VR_COUNT_vmm_create, VR_COUNT_vmm_map, VR_COUNT_vmm_set_access};
    enum vr_status status = VR_OK;

    while (status == VR_OK && block->stage < VR_STAGE_READY) {
        status = step(blocks, block, calls[block->stage]);
        if (status != VR_OK)
            break;
        if (block->stage++ == VR_STAGE_BARE) {
            change(&blocks->held_bytes, block->bytes);
            change(&blocks->slices, block->slices);
        }
    }
    return status;
}

/* As far down as the driver lets us: a mapping that stays keeps its memory. True when it is bare.
 */
static bool descend(struct vr_blocks *blocks, struct vr_block *block)
{
    if (block->stage >= VR_STAGE_MAPPED) {
        if (step(blocks, block, VR_COUNT_vmm_unmap) != VR_OK)
            return false;
        block->stage = VR_STAGE_CREATED;
    }
    if (block->stage == VR_STAGE_CREATED) {
        if (step(blocks, block, VR_COUNT_vmm_release) != VR_OK)
            return false;
        block->stage = VR_STAGE_BARE;
        change(&blocks->held_bytes, -(uint64_t)block->bytes);
        change(&blocks->slices, -(uint64_t)block->slices);
    }
    return true;
}

enum vr_status vr_block_back(struct vr_blocks *blocks, struct vr_block *block,
                             enum vr_refusal *refusal)
{
    enum vr_status status;

    if (block->stage == VR_STAGE_READY)
        return VR_OK;
    if (is_kept(block))
        unkeep(blocks, block);
    status = climb(blocks, block);
    if (status != VR_OK) {
        *refusal =
            block->stage == VR_STAGE_BARE ? VR_REFUSAL_create_refused : VR_REFUSAL_map_refused;
        descend(blocks, block);
    }
    if (is_kept(block))
        keep(blocks, block);
    return status;
}

/* ---- use ---- */

void vr_block_use(struct vr_blocks *blocks, struct vr_block *block)
{
    if (is_kept(block))
        unkeep(blocks, block);
    block->live++;
}

void vr_block_leave(struct vr_blocks *blocks, struct vr_block *block, bool parked)
{
    block->live--;
    block->parked += parked;
    if (is_kept(block))
        keep(blocks, block);
}

void vr_block_settle(struct vr_blocks *blocks, struct vr_block *block)
{
    block->parked--;
    if (is_kept(block))
        keep(blocks, block);
}

void vr_block_doom(struct vr_blocks *blocks, struct vr_block *block)
{
    bool kept = is_kept(block);

    if (kept)
        unkeep(blocks, block);
    block->doomed = true;
    if (kept)
        keep(blocks, block);
}

bool vr_blocks_evict(struct vr_blocks *blocks)
{
    struct vr_block *block = blocks->oldest;
    bool bare;

    if (!block)
        return false;
    unkeep(blocks, block);
    bare = descend(blocks, block);
    if (bare)
        return true;
    link_newest(blocks, block);
    change(&blocks->kept_bytes, block->bytes);
    return false;
}

void vr_blocks_end(struct vr_blocks *blocks)
{
    for (struct vr_block *block = blocks->all; block; block = block->next)
        descend(blocks, block);
    blocks->oldest = blocks->newest = NULL;
}

/* ---- invariants ---- */

static const char *check_kept(const struct vr_blocks *blocks, uint64_t kept_bytes)
{
    const struct vr_block *older = NULL;
    uint64_t bytes = 0;

    for (const struct vr_block *block = blocks->oldest; block; block = block->newer) {
        if (block->older != older)
            return "the list of kept blocks is not linked both ways";
        if (!is_kept(block))
            return "a block is in the list of kept ones and is none";
        bytes += block->bytes;
        older = block;
    }
    if (blocks->newest != older)
        return "the list of kept blocks ends elsewhere";
    if (bytes != kept_bytes || get(&blocks->kept_bytes) != kept_bytes)
        return "the bytes of kept blocks do not add up";
    return NULL;
}

const char *vr_blocks_check(const struct vr_blocks *blocks)
{
    uint64_t held = 0, kept = 0, slices = 0, above = UINT64_MAX;

    for (const struct vr_block *block = blocks->all; block; block = block->next) {
        if (block->address + block->bytes > above)
            return "blocks overlap or are out of order";
        above = block->address;
        if (block->live + block->parked > block->slices)
            return "more slices of a block are in use than were cut";
        if (block->live && block->stage != VR_STAGE_READY)
            return "a block in use is not ready";
        held += block->stage >= VR_STAGE_CREATED ? block->bytes : 0;
        slices += block->stage >= VR_STAGE_CREATED ? block->slices : 0;
        kept += is_kept(block) ? block->bytes : 0;
    }
    if (held != get(&blocks->held_bytes) || slices != get(&blocks->slices))
        return "the bytes or slices with memory do not add up";
    return check_kept(blocks, kept);
}
