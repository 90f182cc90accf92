/* arena.c: taking and giving slices, parking, and the bound on memory. */
#include "arena.h"

/* The driver has refused this many times in a row to make memory: it is not asked again. */
#define REFUSALS 3

/* The reservation, unless VAREMAP_RESERVE says otherwise: this many times the device's memory, and
 * this many bytes at least. */
#define RESERVE_TIMES 4
#define RESERVE_LEAST ((uint64_t)64 << 30)

/* Where a dry arena pretends to be: no device has addresses of more than 57 bits. */
#define PRETENDED(device) (((uint64_t)1 << 62) + ((uint64_t)(device) << 54))
#define PRETENDED_MOST    ((uint64_t)1 << 53)

static uint64_t get(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* ---- life ---- */

struct vr_arena *vr_arena_new(struct vr_heap *heap, const struct vr_driver_ops *ops,
                              const struct vr_options *options, int device, _Atomic uint64_t *vmm)
{
    struct vr_arena *arena = vr_alloc(heap, sizeof *arena);
    size_t granule, total;

    if (!arena)
        return NULL;
    vr_lock_init(&arena->lock, VR_RANK_ARENA);
    arena->options = options;
    arena->blocks.ops = ops;
    arena->blocks.device = device;
    arena->blocks.dry = options->mode != VR_MODE_ON;
    arena->blocks.vmm = vmm;
    arena->slicer.granule = 1;
    if (ops->device_memory && ops->device_memory(device, &granule, &total) == VR_OK && granule) {
        arena->slicer.granule = granule;
        arena->total = total;
    } else {
        arena->refused = true;
    }
    return arena;
}

void vr_arena_free(struct vr_arena *arena, struct vr_heap *heap)
{
    if (!arena)
        return;
    vr_blocks_end(&arena->blocks);
    if (get(&arena->reserved) && !arena->blocks.dry)
        arena->blocks.ops->unreserve(arena->slicer.base, arena->slicer.bytes);
    vr_slicer_free(&arena->slicer, heap, &arena->blocks);
    vr_lock_free(&arena->lock);
    vr_free(heap, arena, sizeof *arena);
}

/* ---- the reservation ---- */

static uint64_t wanted_bytes(const struct vr_arena *arena)
{
    uint64_t bytes = arena->options->reserve, granule = arena->slicer.granule;

    if (bytes == VR_SIZE_AUTO) {
        bytes = arena->total * RESERVE_TIMES;
        bytes = bytes > RESERVE_LEAST ? bytes : RESERVE_LEAST;
    }
    bytes = bytes > PRETENDED_MOST ? PRETENDED_MOST : bytes;
    return round_up(bytes, granule);
}

static bool reserve(struct vr_arena *arena, uint64_t bytes, uint64_t *base)
{
    *base = PRETENDED(arena->blocks.device);
    return arena->blocks.dry ||
           arena->blocks.ops->reserve(bytes, arena->slicer.granule, base) == VR_OK;
}

/* Half as much each time the driver refuses. */
static bool have_reservation(struct vr_arena *arena)
{
    uint64_t bytes, base, granule = arena->slicer.granule;

    if (get(&arena->reserved) || arena->refused)
        return !arena->refused;
    for (bytes = wanted_bytes(arena); bytes >= granule; bytes = bytes / 2 / granule * granule) {
        if (!reserve(arena, bytes, &base))
            continue;
        arena->slicer.base = base;
        arena->slicer.bytes = bytes;
        atomic_store_explicit(&arena->reserved, bytes, memory_order_release);
        return true;
    }
    arena->refused = true;
    return false;
}

/* ---- the bound on memory ---- */

static bool over_bound(const struct vr_arena *arena, uint64_t more_held, uint64_t more_live)
{
    uint64_t live = arena->ours + arena->drivers + more_live;
    uint64_t held = get(&arena->blocks.held_bytes) + arena->drivers + more_held;

    return held > (live > arena->peak ? live : arena->peak);
}

static bool must_evict(const struct vr_arena *arena, uint64_t more_held, uint64_t more_live)
{
    const struct vr_block *oldest = arena->blocks.oldest;

    return oldest &&
           (oldest->doomed || get(&arena->blocks.kept_bytes) > arena->options->keep_bytes ||
            over_bound(arena, more_held, more_live));
}

/* Gives back kept memory until the bound allows for so many bytes more, held and live. A refusal to
 * take memory away is not insisted on. */
static void trim(struct vr_arena *arena, uint64_t more_held, uint64_t more_live, bool quiet)
{
    arena->overdue = false;
    while (must_evict(arena, more_held, more_live)) {
        if (!quiet && vr_blocks_evict(&arena->blocks))
            continue;
        arena->overdue = true;
        return;
    }
}

/* What the driver has left for an allocation of `bytes`. In a dry arena it is already made, and
 * what the arena pretends to keep is free. */
static bool free_memory(const struct vr_arena *arena, size_t bytes, size_t *out)
{
    uint64_t kept = get(&arena->blocks.kept_bytes);

    if (arena->blocks.ops->free_memory(out) != VR_OK)
        return false;
    if (!arena->blocks.dry)
        return true;
    *out += bytes;
    *out -= *out < kept ? *out : kept;
    return true;
}

/* What we keep shall never be the reason why the device runs out of memory. */
static void yield_to_others(struct vr_arena *arena, size_t bytes)
{
    size_t free_bytes, evicted;

    if (!arena->blocks.oldest || !free_memory(arena, bytes, &free_bytes))
        return;
    while (arena->blocks.oldest && free_bytes / 2 < get(&arena->blocks.kept_bytes)) {
        evicted = arena->blocks.oldest->bytes;
        if (!vr_blocks_evict(&arena->blocks))
            return;
        free_bytes += evicted;
    }
}

static uint64_t evict_all(struct vr_arena *arena)
{
    uint64_t before = get(&arena->blocks.held_bytes);

    while (vr_blocks_evict(&arena->blocks))
        ;
    return before - get(&arena->blocks.held_bytes);
}

static void now_live(struct vr_arena *arena, uint64_t *whose, uint64_t bytes)
{
    *whose += bytes;
    if (arena->ours + arena->drivers > arena->peak)
        arena->peak = arena->ours + arena->drivers;
}

/* ---- taking ---- */

static const struct vr_slice *parked_of(const struct vr_arena *arena,
                                        const struct vr_size_list *list)
{
    const struct vr_slice *slice = arena->parked;

    while (slice && list && slice->list != list)
        slice = slice->next_parked;
    return slice;
}

static enum vr_take must_drain(const struct vr_slice *parked, struct vr_taken *out)
{
    out->context = parked->context;
    return VR_TAKE_DRAIN;
}

static enum vr_take refuse(struct vr_taken *out, enum vr_refusal refusal)
{
    out->refusal = refusal;
    return VR_TAKE_REFUSED;
}

/* Gives memory to the slice's block. */
static enum vr_take make_ready(struct vr_arena *arena, const struct vr_asking *asking,
                               struct vr_slice *slice, struct vr_taken *out)
{
    struct vr_block *block = slice->block;
    uint64_t more = block->stage == VR_STAGE_BARE ? block->bytes : 0;
    enum vr_status status;

    if (asking->quiet)
        return refuse(out, VR_REFUSAL_alloc_capture);
    if (arena->refusals >= REFUSALS)
        return refuse(out, VR_REFUSAL_create_refused);
    trim(arena, more, slice->list->rounded, false);
    if (over_bound(arena, more, slice->list->rounded) && arena->parked && !asking->drained)
        return must_drain(arena->parked, out);
    yield_to_others(arena, asking->bytes);
    status = vr_block_back(&arena->blocks, block, &out->refusal);
    if (status == VR_NO_MEMORY && evict_all(arena))
        status = vr_block_back(&arena->blocks, block, &out->refusal);
    if (status == VR_OK) {
        arena->refusals = 0;
        return VR_TAKE_DONE;
    }
    arena->refusals += status == VR_REFUSED;
    return VR_TAKE_REFUSED;
}

/* The lowest free slice, or a new one at the end. */
static enum vr_take find_slice(struct vr_arena *arena, struct vr_heap *heap,
                               const struct vr_asking *asking, struct vr_taken *out)
{
    struct vr_size_list *list;
    enum vr_status status;

    if (!get(&arena->reserved) && asking->quiet)
        return refuse(out, VR_REFUSAL_alloc_capture);
    if (!have_reservation(arena))
        return refuse(out, VR_REFUSAL_reserve_refused);
    if (asking->bytes > arena->slicer.bytes)
        return refuse(out, VR_REFUSAL_range_full);
    list = vr_slicer_list(&arena->slicer, heap, asking->bytes);
    if (!list)
        return refuse(out, VR_REFUSAL_no_memory);
    out->slice = vr_slice_lowest(list);
    out->recycled = out->slice && out->slice->block->stage == VR_STAGE_READY;
    if (out->slice)
        return VR_TAKE_DONE;
    if (asking->quiet)
        return refuse(out, VR_REFUSAL_alloc_capture);
    if (list->parked && !asking->drained)
        return must_drain(parked_of(arena, list), out);
    status = vr_slicer_cut(&arena->slicer, heap, &arena->blocks, list, &out->slice);
    if (status == VR_OK)
        return VR_TAKE_DONE;
    return refuse(out, status == VR_NONE ? VR_REFUSAL_range_full : VR_REFUSAL_no_memory);
}

enum vr_take vr_arena_take(struct vr_arena *arena, struct vr_heap *heap,
                           const struct vr_asking *asking, struct vr_taken *out)
{
    enum vr_take take;

    vr_lock_take(&arena->lock);
    take = find_slice(arena, heap, asking, out);
    if (take == VR_TAKE_DONE && out->slice->block->stage != VR_STAGE_READY)
        take = make_ready(arena, asking, out->slice, out);
    if (take == VR_TAKE_DONE) {
        vr_slice_set(out->slice, VR_SLICE_LIVE);
        vr_block_use(&arena->blocks, out->slice->block);
        now_live(arena, &arena->ours, out->slice->list->rounded);
        out->address = out->slice->address;
        if (!out->recycled)
            trim(arena, 0, 0, asking->quiet);
    }
    vr_lock_drop(&arena->lock);
    return take;
}

/* ---- giving ---- */

static void park(struct vr_arena *arena, struct vr_slice *slice, vr_handle context)
{
    vr_slice_set(slice, VR_SLICE_PARKED);
    slice->context = context;
    slice->moment = ++arena->moments;
    slice->next_parked = arena->parked;
    slice->list->parked++;
    arena->parked = slice;
    atomic_store_explicit(&arena->parked_count, get(&arena->parked_count) + 1,
                          memory_order_relaxed);
}

static void set_idle(struct vr_slice *slice)
{
    vr_slice_set(slice, slice->block->doomed ? VR_SLICE_DEAD : VR_SLICE_FREE);
}

void vr_arena_give(struct vr_arena *arena, struct vr_slice *slice, vr_handle parked_by, bool quiet)
{
    vr_lock_take(&arena->lock);
    arena->ours -= slice->list->rounded;
    if (parked_by)
        park(arena, slice, parked_by);
    else
        set_idle(slice);
    vr_block_leave(&arena->blocks, slice->block, parked_by != 0);
    trim(arena, 0, 0, quiet);
    vr_lock_drop(&arena->lock);
}

uint64_t vr_arena_moment(struct vr_arena *arena)
{
    uint64_t moment;

    if (!get(&arena->parked_count))
        return 0;
    vr_lock_take(&arena->lock);
    moment = arena->moments;
    vr_lock_drop(&arena->lock);
    return moment;
}

void vr_arena_settle(struct vr_arena *arena, vr_handle context, uint64_t moment, bool quiet)
{
    struct vr_slice **at = &arena->parked, *slice;

    if (!moment || !get(&arena->parked_count))
        return;
    vr_lock_take(&arena->lock);
    while ((slice = *at)) {
        if (slice->context != context || slice->moment > moment) {
            at = &slice->next_parked;
            continue;
        }
        *at = slice->next_parked;
        slice->next_parked = NULL;
        slice->list->parked--;
        atomic_store_explicit(&arena->parked_count, get(&arena->parked_count) - 1,
                              memory_order_relaxed);
        set_idle(slice);
        vr_block_settle(&arena->blocks, slice->block);
    }
    trim(arena, 0, 0, quiet);
    vr_lock_drop(&arena->lock);
}

bool vr_arena_parked(struct vr_arena *arena, vr_handle *context)
{
    bool any = false;

    vr_lock_take(&arena->lock);
    if (arena->parked) {
        *context = arena->parked->context;
        any = true;
    }
    vr_lock_drop(&arena->lock);
    return any;
}

void vr_arena_pin(struct vr_arena *arena, struct vr_slice *slice)
{
    vr_lock_take(&arena->lock);
    if (slice->state == VR_SLICE_LIVE && !slice->block->doomed) {
        vr_block_doom(&arena->blocks, slice->block);
        for (struct vr_slice *other = slice->block->first; other; other = other->next)
            if (other->state == VR_SLICE_FREE)
                vr_slice_set(other, VR_SLICE_DEAD);
    }
    vr_lock_drop(&arena->lock);
}

/* ---- the driver's own allocations ---- */

void vr_arena_make_room(struct vr_arena *arena, size_t bytes)
{
    uint64_t more;

    vr_lock_take(&arena->lock);
    if (arena->blocks.oldest && bytes <= arena->total) {
        more = round_up(bytes, arena->slicer.granule);
        trim(arena, more, more, false);
        yield_to_others(arena, bytes);
    }
    vr_lock_drop(&arena->lock);
}

void vr_arena_driver_made(struct vr_arena *arena, size_t bytes, bool quiet)
{
    vr_lock_take(&arena->lock);
    now_live(arena, &arena->drivers, round_up(bytes, arena->slicer.granule));
    trim(arena, 0, 0, quiet);
    vr_lock_drop(&arena->lock);
}

void vr_arena_driver_freed(struct vr_arena *arena, size_t bytes)
{
    vr_lock_take(&arena->lock);
    arena->drivers -= round_up(bytes, arena->slicer.granule);
    vr_lock_drop(&arena->lock);
}

uint64_t vr_arena_give_back(struct vr_arena *arena)
{
    uint64_t bytes;

    vr_lock_take(&arena->lock);
    bytes = evict_all(arena);
    vr_lock_drop(&arena->lock);
    return bytes;
}

/* ---- invariants ---- */

static const char *check_parked(const struct vr_arena *arena)
{
    uint64_t moment = UINT64_MAX, count = 0;

    for (const struct vr_slice *slice = arena->parked; slice; slice = slice->next_parked) {
        if (slice->state != VR_SLICE_PARKED || slice->moment >= moment)
            return "the list of parked slices is out of order";
        moment = slice->moment;
        count++;
    }
    return count == get(&arena->parked_count) ? NULL : "the parked slices do not add up";
}

static const char *check_memory(const struct vr_arena *arena)
{
    uint64_t held = get(&arena->blocks.held_bytes) + arena->drivers, ours = 0;
    bool waits = arena->overdue;

    for (const struct vr_block *block = arena->blocks.all; block; block = block->next) {
        for (const struct vr_slice *slice = block->first; slice; slice = slice->next)
            ours += slice->state == VR_SLICE_LIVE ? slice->list->rounded : 0;
        if (!block->live && block->parked && block->stage >= VR_STAGE_CREATED)
            held -= block->bytes;
        waits |= block->stage == VR_STAGE_CREATED;
    }
    if (ours != arena->ours || ours + arena->drivers > arena->peak)
        return "live bytes do not add up";
    if (held > arena->peak && !waits)
        return "more memory is held than was ever needed";
    if (get(&arena->blocks.kept_bytes) > arena->options->keep_bytes && !waits)
        return "more memory is kept than VAREMAP_KEEP_BYTES allows";
    return NULL;
}

const char *vr_arena_check(struct vr_arena *arena)
{
    const char *broken = vr_slicer_check(&arena->slicer, &arena->blocks);

    if (!broken)
        broken = vr_blocks_check(&arena->blocks);
    if (!broken)
        broken = check_parked(arena);
    return broken ? broken : check_memory(arena);
}
