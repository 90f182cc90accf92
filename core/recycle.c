/* recycle.c: the application's allocations and frees, placed in the arena of their device when
 * their size is taken. In observe mode every allocation is the driver's, and the same decisions are
 * made afterwards in a dry arena: an allocation's shadow is where it would have been.
 *
 * An allocation of ours belongs to the thread that retired it in the table; its slice goes back to
 * the arena only after it is out of the table, so an address is never two allocations. */
#include "recycle.h"

#include "arena.h"
#include "state_private.h"

#define DEVICES VR_MEMORY_DEVICES

struct vr_recycler {
    bool active;           /* the rung and the backing are on; decided once */
    bool dry;              /* observe mode */
    _Atomic unsigned pins; /* bit n: a reason of vr_memory_pin() that was told */
    _Atomic uint64_t counter[VR_MEMORY_COUNTER_COUNT];
    struct vr_arena *_Atomic arena[DEVICES];
};

struct vr_recycler *vr_recycler_new(struct vr_heap *heap, const struct vr_options *options)
{
    struct vr_recycler *recycler = vr_alloc(heap, sizeof *recycler);

    if (!recycler)
        return NULL;
    recycler->active = options->mode != VR_MODE_OFF && options->rungs & VR_RUNG_RECYCLE &&
                       options->backing != VR_BACKING_OFF;
    recycler->dry = options->mode != VR_MODE_ON;
    return recycler;
}

void vr_recycler_free(struct vr_recycler *recycler, struct vr_heap *heap)
{
    for (int i = 0; recycler && i < DEVICES; i++)
        vr_arena_free(atomic_load(&recycler->arena[i]), heap);
    vr_free(heap, recycler, sizeof *recycler);
}

static void count(struct vr_state *state, enum vr_memory_counter counter)
{
    vr_bump_shared(&state->recycler->counter[counter]);
}

/* The device's arena, if there is one. */
static struct vr_arena *find_arena(const struct vr_state *state, int device)
{
    if (device < 0 || device >= DEVICES)
        return NULL;
    return atomic_load_explicit(&state->recycler->arena[device], memory_order_acquire);
}

/* Made at first use. NULL when memory is out, or the rung not in use. */
static struct vr_arena *arena_of(struct vr_state *state, int device)
{
    struct vr_recycler *recycler = state->recycler;
    struct vr_arena *arena = find_arena(state, device), *present = NULL;

    if (arena || !recycler->active || device < 0 || device >= DEVICES)
        return arena;
    arena = vr_arena_new(&state->heap, state->ops, &state->options, device,
                         &recycler->counter[VR_COUNT_vmm_create]);
    if (!arena || atomic_compare_exchange_strong(&recycler->arena[device], &present, arena))
        return arena;
    vr_arena_free(arena, &state->heap);
    return present;
}

/* ---- placing ---- */

/* Waits for the context's work; what it had parked before is free then. */
static bool drain(struct vr_state *state, struct vr_arena *arena, vr_handle context, bool quiet,
                  int *result)
{
    uint64_t moment = vr_arena_moment(arena);

    /* An observed free has been waited for by the driver. */
    if (!state->recycler->dry && state->ops->drain(context, result) != VR_OK)
        return false;
    vr_arena_settle(arena, context, moment, quiet);
    return true;
}

/* Whether the allocation should be ours. */
static bool is_wanted(struct vr_state *state, const struct vr_alloc_call *call,
                      enum vr_refusal *refusal)
{
    *refusal = VR_REFUSAL_NONE;
    switch (vr_sizes_state(state->sizes, call->device, call->bytes)) {
    case VR_SIZE_DRIVERS: return false;
    case VR_SIZE_BARRED: *refusal = VR_REFUSAL_size_barred; return false;
    case VR_SIZE_REFUSED: *refusal = VR_REFUSAL_place_refused; return false;
    case VR_SIZE_TAKEN: break;
    }
    if (call->capture == VR_CAPTURE_FORBIDS)
        *refusal = VR_REFUSAL_alloc_capture;
    return call->capture != VR_CAPTURE_FORBIDS;
}

/* A slice for the allocation; else *refusal says why there is none. */
static bool place(struct vr_state *state, struct vr_arena *arena, const struct vr_alloc_call *call,
                  struct vr_taken *taken, enum vr_refusal *refusal)
{
    /* The driver's allocation does not wait for work: ours must not either, unless frees that do
     * not wait were asked for. */
    struct vr_asking asking = {.bytes = call->bytes,
                               .quiet = call->capture != VR_CAPTURE_NONE,
                               .drained = state->options.free_sync};
    enum vr_take take;
    int result;

    if (!is_wanted(state, call, refusal))
        return false;
    while ((take = vr_arena_take(arena, &state->heap, &asking, taken)) == VR_TAKE_DRAIN) {
        drain(state, arena, taken->context, false, &result);
        asking.drained = true;
    }
    if (take != VR_TAKE_DONE)
        *refusal = taken->refusal;
    return take == VR_TAKE_DONE;
}

static struct vr_allocation allocation_of(const struct vr_alloc_call *call, uint64_t address)
{
    return (struct vr_allocation){
        .base = address, .bytes = call->bytes, .context = call->context, .device = call->device};
}

enum vr_answer vr_alloc_ask(struct vr_state *state, const struct vr_alloc_call *call,
                            uint64_t *address)
{
    struct vr_arena *arena;
    struct vr_allocation allocation;
    struct vr_taken taken;
    enum vr_refusal refusal;

    if (state->recycler->dry || !vr_state_alive(state) || !(arena = arena_of(state, call->device)))
        return VR_FORWARD;
    if (place(state, arena, call, &taken, &refusal)) {
        allocation = allocation_of(call, taken.address);
        allocation.slice = taken.slice;
        if (vr_allocations_add(state->allocations, &state->heap, &allocation)) {
            count(state, taken.recycled ? VR_COUNT_allocs_recycled : VR_COUNT_allocs_placed);
            *address = taken.address;
            return VR_ANSWERED;
        }
        vr_arena_give(arena, taken.slice, 0, call->capture != VR_CAPTURE_NONE);
        refusal = VR_REFUSAL_no_memory;
    }
    vr_count_refusal(state, NULL, refusal);
    if (call->capture == VR_CAPTURE_NONE)
        vr_arena_make_room(arena, call->bytes);
    return VR_FORWARD;
}

/* ---- what is no more ---- */

/* The slice, or the driver's bytes, of an allocation that is out of the table. */
static void let_go(struct vr_state *state, const struct vr_allocation *allocation,
                   vr_handle parked_by, bool quiet)
{
    struct vr_arena *arena = find_arena(state, allocation->device);

    if (!arena)
        return;
    if (allocation->slice)
        vr_arena_give(arena, allocation->slice, parked_by, quiet);
    else
        vr_arena_driver_freed(arena, allocation->bytes);
}

void vr_context_ending(struct vr_state *state, struct vr_context_mark *mark)
{
    struct vr_arena *arena;

    mark->generation = vr_allocations_generation(state->allocations);
    for (int i = 0; i < DEVICES; i++)
        mark->moment[i] = (arena = find_arena(state, i)) ? vr_arena_moment(arena) : 0;
}

void vr_context_gone(struct vr_state *state, vr_handle context, const struct vr_context_mark *mark)
{
    struct vr_allocation allocation;
    struct vr_arena *arena;
    uint64_t from = 0;

    while (vr_allocations_remove_of(state->allocations, &state->heap, context, mark->generation,
                                    &from, &allocation))
        let_go(state, &allocation, 0, true);
    for (int i = 0; i < DEVICES; i++)
        if ((arena = find_arena(state, i)))
            vr_arena_settle(arena, context, mark->moment[i], true);
}

/* ---- the driver's allocations ---- */

/* In observe mode: where the allocation would be, if it would be ours. */
static void shadow(struct vr_state *state, struct vr_arena *arena, const struct vr_alloc_call *call,
                   struct vr_allocation *allocation)
{
    enum vr_refusal refusal;
    struct vr_taken taken;

    if (!vr_state_alive(state))
        return;
    if (!place(state, arena, call, &taken, &refusal)) {
        vr_count_refusal(state, NULL, refusal);
        if (call->capture == VR_CAPTURE_NONE)
            vr_arena_make_room(arena, call->bytes);
        return;
    }
    allocation->slice = taken.slice;
    allocation->shadow = taken.address;
    if (taken.recycled)
        count(state, VR_COUNT_would_recycle);
}

void vr_alloc_told(struct vr_state *state, const struct vr_alloc_call *call, bool accepted,
                   uint64_t address)
{
    bool quiet = call->capture != VR_CAPTURE_NONE;
    struct vr_allocation allocation = allocation_of(call, address), dead;
    struct vr_arena *arena;

    count(state, VR_COUNT_allocs_forwarded);
    if (!accepted || !address || !call->bytes)
        return;
    while (vr_allocations_displace(state->allocations, &state->heap, address, call->bytes, &dead))
        let_go(state, &dead, 0, quiet);
    arena = arena_of(state, call->device);
    if (arena && state->recycler->dry)
        shadow(state, arena, call, &allocation);
    if (arena && !allocation.slice)
        vr_arena_driver_made(arena, call->bytes, quiet);
    if (vr_allocations_add(state->allocations, &state->heap, &allocation))
        return;
    vr_count_refusal(state, NULL, VR_REFUSAL_no_memory);
    let_go(state, &allocation, 0, quiet);
}

/* ---- frees ---- */

/* The free waits as the driver's does, or its slice waits for a later drain. A capture that forbids
 * the free makes the driver refuse the drain: its answer is what the application expects. */
static enum vr_free_answer free_ours(struct vr_state *state, struct vr_free_call *call,
                                     struct vr_allocation *allocation)
{
    struct vr_arena *arena = find_arena(state, allocation->device);
    bool quiet = call->capture != VR_CAPTURE_NONE;
    bool parks = call->capture == VR_CAPTURE_PERMITS || (!quiet && !state->options.free_sync);

    count(state, VR_COUNT_frees);
    if (!parks && !drain(state, arena, allocation->context, quiet, &call->result)) {
        parks = !call->result;
        if (!parks) {
            vr_allocations_restore(state->allocations, call->address, allocation->generation);
            return VR_FREE_REFUSED;
        }
    }
    if (vr_allocations_bury(state->allocations, &state->heap, call->address, allocation->generation,
                            allocation))
        let_go(state, allocation, parks ? allocation->context : 0, quiet);
    return VR_FREE_DONE;
}

enum vr_free_answer vr_free_ask(struct vr_state *state, struct vr_free_call *call)
{
    struct vr_allocation allocation;

    call->generation = 0;
    call->result = 0;
    if (!vr_allocations_retire(state->allocations, call->address, &allocation))
        return VR_FREE_FORWARD;
    if (allocation.slice && !state->recycler->dry)
        return free_ours(state, call, &allocation);
    call->generation = allocation.generation;
    return VR_FREE_FORWARD;
}

void vr_free_told(struct vr_state *state, const struct vr_free_call *call, bool accepted)
{
    bool quiet = call->capture != VR_CAPTURE_NONE;
    bool parks = call->capture == VR_CAPTURE_PERMITS || (!quiet && !state->options.free_sync);
    struct vr_allocation allocation;
    int result;

    count(state, VR_COUNT_frees);
    if (!call->generation)
        return;
    if (!accepted)
        vr_allocations_restore(state->allocations, call->address, call->generation);
    else if (vr_allocations_bury(state->allocations, &state->heap, call->address, call->generation,
                                 &allocation)) {
        if (allocation.slice && !parks)
            drain(state, find_arena(state, allocation.device), allocation.context, quiet, &result);
        let_go(state, &allocation, parks ? allocation.context : 0, quiet);
    }
}

/* ---- giving back ---- */

/* Parked slices too: the application has freed them. */
static bool give_back(struct vr_state *state, struct vr_arena *arena)
{
    vr_handle context;
    int result;

    while (!state->options.free_sync && vr_arena_parked(arena, &context))
        if (!drain(state, arena, context, false, &result))
            break;
    return vr_arena_give_back(arena) != 0;
}

bool vr_memory_give_back(struct vr_state *state, enum vr_capture capture)
{
    struct vr_arena *arena;
    bool any = false;

    if (capture != VR_CAPTURE_NONE || state->recycler->dry)
        return false;
    for (int i = 0; i < DEVICES; i++)
        if ((arena = find_arena(state, i)))
            any |= give_back(state, arena);
    return any;
}

/* ---- what may be asked, and what the application does with it ---- */

static bool is_reserved(const struct vr_state *state, uint64_t address)
{
    for (int i = 0; i < DEVICES; i++) {
        const struct vr_arena *arena = find_arena(state, i);
        if (arena && vr_arena_covers(arena, address))
            return true;
    }
    return false;
}

enum vr_status vr_memory_find(struct vr_state *state, uint64_t address, struct vr_memory_view *out)
{
    struct vr_allocation allocation;

    if (state->recycler->dry)
        return VR_NONE;
    if (!vr_allocations_find(state->allocations, address, &allocation) || !allocation.slice)
        return is_reserved(state, address) ? VR_REFUSED : VR_NONE;
    *out = (struct vr_memory_view){.base = allocation.base,
                                   .bytes = allocation.bytes,
                                   .context = allocation.context,
                                   .device = allocation.device,
                                   .generation = allocation.generation};
    return VR_OK;
}

bool vr_memory_pin(struct vr_state *state, uint64_t address, enum vr_pin reason)
{
    struct vr_allocation allocation;
    unsigned bit = 1u << reason;

    if (!vr_allocations_find(state->allocations, address, &allocation))
        return false;
    vr_sizes_bar(state->sizes, &state->heap, allocation.bytes);
    if (!allocation.slice)
        return false;
    vr_arena_pin(find_arena(state, allocation.device), allocation.slice);
    return !state->recycler->dry && !(atomic_fetch_or(&state->recycler->pins, bit) & bit);
}

void vr_memory_operand(struct vr_state *state, uint64_t address)
{
    struct vr_allocation allocation;

    if (vr_allocations_find(state->allocations, address, &allocation))
        vr_sizes_bar(state->sizes, &state->heap, allocation.bytes);
}

size_t vr_memory_kept(struct vr_state *state, int device)
{
    const struct vr_arena *arena = find_arena(state, device);

    if (!arena || state->recycler->dry)
        return 0;
    return atomic_load_explicit(&arena->blocks.kept_bytes, memory_order_relaxed);
}

/* ---- statistics and invariants ---- */

void vr_recycler_sum(const struct vr_recycler *recycler, struct vr_memory_totals *totals)
{
    const struct vr_arena *arena;

    *totals = (struct vr_memory_totals){0};
    for (int i = 0; i < VR_MEMORY_COUNTER_COUNT; i++)
        totals->counter[i] = atomic_load_explicit(&recycler->counter[i], memory_order_relaxed);
    for (int i = 0; i < DEVICES && !recycler->dry; i++) {
        arena = atomic_load_explicit(&recycler->arena[i], memory_order_acquire);
        if (!arena)
            continue;
        totals->reserved_bytes += atomic_load_explicit(&arena->reserved, memory_order_relaxed);
        totals->mapped_bytes +=
            atomic_load_explicit(&arena->blocks.held_bytes, memory_order_relaxed);
        totals->kept_bytes += atomic_load_explicit(&arena->blocks.kept_bytes, memory_order_relaxed);
        totals->slices += atomic_load_explicit(&arena->blocks.slices, memory_order_relaxed);
    }
}

/* Every live slice is an allocation. A dry arena's slices are known by other addresses. */
static const char *check_table(struct vr_state *state, const struct vr_arena *arena)
{
    struct vr_allocation found;

    for (const struct vr_block *block = arena->blocks.all; block; block = block->next)
        for (const struct vr_slice *slice = block->first; slice; slice = slice->next)
            if (slice->state == VR_SLICE_LIVE &&
                (!vr_allocations_find(state->allocations, slice->address, &found) ||
                 found.slice != slice || found.base != slice->address))
                return "a live slice is no allocation";
    return NULL;
}

const char *vr_recycler_check(struct vr_state *state)
{
    struct vr_arena *arena;
    const char *broken = NULL;

    for (int i = 0; i < DEVICES && !broken; i++) {
        if (!(arena = find_arena(state, i)))
            continue;
        broken = vr_arena_check(arena);
        if (!broken && !state->recycler->dry)
            broken = check_table(state, arena);
    }
    return broken;
}
