/* core_buffers.h: device memory by hand for the tests of the profile: allocations come at fresh
 * addresses, or (lifo) at the one freed last; those of a taken size are placed as the rung
 * "recycle" does, at the lowest free place of their size, or, in observe mode, get that address as
 * a shadow. */
#ifndef CORE_BUFFERS_H
#define CORE_BUFFERS_H

#include "core/policy.h"
#include "core/slots.h"
#include "tests/unit/core_setters.h"

#define SLICES UINT64_C(0x500000000000) /* the places; a block of 2^32 for each size */

enum { PLACES = 64, MEMORY = 4096 };

struct place {
    uint64_t address;
    size_t bytes;
    bool used;
};

static struct {
    bool lifo;
    bool refuses;               /* nothing may be placed */
    uint64_t next;              /* fresh addresses begin here */
    struct place freed[MEMORY]; /* by the driver, the last one last */
    size_t freed_count;
    struct place place[PLACES]; /* ours; [0] of a size is its lowest */
    size_t place_count;
    uint64_t placed; /* allocations that were, or would have been */
} memory;

static inline enum vr_status buffers_may_place(int device, bool eager)
{
    return memory.refuses ? VR_REFUSED : VR_OK;
}

static const struct vr_driver_ops buffers_ops = {
    .param_info = world_param_info,
    .node_updatable = world_node_updatable,
    .current_context = world_current_context,
    .may_place = buffers_may_place,
};

static inline struct vr_options buffers_options(enum vr_mode mode, uint32_t launches)
{
    struct vr_options options;

    vr_options_read(&options, world_no_variables, "test");
    options.mode = mode;
    options.profile_launches = launches;
    return options;
}

/* A state with one exec, and empty memory. */
static inline struct vr_state *buffers_begin_with(const struct vr_options *options, bool lifo)
{
    struct vr_state *state = vr_state_new(&buffers_ops, options);

    T_NOT_NULL(state);
    memset(&memory, 0, sizeof memory);
    memory.lifo = lifo;
    memory.next = UINT64_C(0x7f0000000000);
    world_born(state, EXEC, GRAPH);
    return state;
}

static inline struct vr_state *buffers_begin(enum vr_mode mode, uint32_t launches)
{
    struct vr_options options = buffers_options(mode, launches);

    return buffers_begin_with(&options, false);
}

static inline uint64_t driver_address(size_t bytes)
{
    size_t room = (bytes + 511) / 512 * 512;

    for (size_t i = memory.freed_count; memory.lifo && i-- > 0;) {
        struct place found = memory.freed[i];
        if (found.bytes != bytes)
            continue;
        memory.freed[i] = memory.freed[--memory.freed_count];
        return found.address;
    }
    memory.next += room;
    return memory.next - room;
}

static inline struct place *take_place(size_t bytes)
{
    struct place *place = memory.place;
    uint64_t next = SLICES + ((uint64_t)bytes << 12);

    for (; place < memory.place + memory.place_count; place++) {
        if (place->bytes == bytes && !place->used)
            break;
        if (place->bytes == bytes)
            next = place->address + (bytes + 511) / 512 * 512;
    }
    if (place == memory.place + memory.place_count) {
        T_LT(memory.place_count, PLACES);
        memory.place[memory.place_count++] = (struct place){next, bytes, false};
    }
    place->used = true;
    memory.placed++;
    return place;
}

static inline uint64_t buffer_on(struct vr_state *state, int device, size_t bytes)
{
    struct vr_allocation allocation = {.bytes = bytes, .context = CONTEXT, .device = device};
    bool observes = state->options.mode == VR_MODE_OBSERVE;
    uint64_t place = 0;

    if (vr_sizes_state(state->sizes, device, bytes) == VR_SIZE_TAKEN) {
        struct place *taken = take_place(bytes);
        place = taken->address;
        allocation.slice = (struct vr_slice *)taken;
    }
    allocation.base = place && !observes ? place : driver_address(bytes);
    allocation.shadow = place && observes ? place : 0;
    T_ASSERT(vr_allocations_add(state->allocations, &state->heap, &allocation));
    return allocation.base;
}

static inline uint64_t buffer(struct vr_state *state, size_t bytes)
{
    return buffer_on(state, 0, bytes);
}

static inline void buffer_free(struct vr_state *state, uint64_t address)
{
    struct vr_allocation gone;

    T_ASSERT(vr_allocations_remove(state->allocations, &state->heap, address, &gone));
    if (gone.slice)
        ((struct place *)gone.slice)->used = false;
    if (gone.base >= SLICES && gone.base < SLICES + (UINT64_C(1) << 44) && !gone.shadow)
        return;
    T_LT(memory.freed_count, MEMORY);
    memory.freed[memory.freed_count++] = (struct place){gone.base, gone.bytes, false};
}

/* ---- the program's calls ---- */

/* A setter with up to three pointers, the rest as ever. True when it was answered. */
static inline bool point_at(struct vr_state *state, vr_handle node, uint64_t a, uint64_t b,
                            uint64_t c)
{
    struct world_setter setter;

    world_setter(&setter, EXEC, node);
    memset(setter.value, 0, sizeof setter.value);
    setter.value[0] = a;
    setter.value[1] = b;
    setter.value[2] = c;
    return world_send(state, &setter.update, true);
}

static inline void launch(struct vr_state *state)
{
    vr_launch_told(state, EXEC, true);
}

/* ---- what was learnt ---- */

static inline bool is_taken(struct vr_state *state, size_t bytes)
{
    return vr_sizes_state(state->sizes, 0, bytes) == VR_SIZE_TAKEN;
}

static inline struct vr_exec *the_exec(struct vr_state *state)
{
    return vr_track_find(&state->track, EXEC);
}

static inline enum vr_phase phase_of(struct vr_state *state)
{
    return (enum vr_phase)atomic_load(&the_exec(state)->counters.phase);
}

static inline const struct vr_slot *slot_of(struct vr_state *state, vr_handle node, int window)
{
    const struct vr_node *record = vr_node_find(&the_exec(state)->nodes, node);

    for (int i = 0; record && record->slots && i < record->slots->count; i++)
        if (record->slots->slot[i].window == window)
            return &record->slots->slot[i];
    return NULL;
}

static inline enum vr_slot_class class_of(struct vr_state *state, vr_handle node, int window)
{
    const struct vr_slot *slot = slot_of(state, node, window);

    T_NOT_NULL(slot);
    return vr_policy_class(&slot->counts, state->options.profile_launches);
}

/* What a slot that sees fresh buffers is to be after launch `n` (1, 2...) of profiling. */
static inline void expect_phase(struct vr_state *state, enum vr_phase phase)
{
    const char *broken = vr_state_check(state);

    T_ASSERT(!broken, "%s", broken);
    T_EQ(phase_of(state), phase);
}

#endif
