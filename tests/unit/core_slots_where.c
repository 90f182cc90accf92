/* core_slots_where.c: where slots are found in a node's parameters, what is not looked at, and what
 * it costs (docs/design.md, section "Profile"). */
#include "tests/unit/core_buffers.h"

enum { SIZE = 4096, OTHER = 8192 };

/* Steps of a program that owns nothing between steps. */
static void fresh_steps(struct vr_state *state, int steps)
{
    while (steps--) {
        uint64_t a = buffer(state, SIZE);
        point_at(state, NODE, a, 0, 0);
        launch(state);
        buffer_free(state, a);
    }
}

/* ---- where slots are ---- */

TEST(slots_where, two_in_one_allocation)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, SIZE);
        point_at(state, NODE, a, a + SIZE / 2, 0);
        launch(state);
        if (i < 2)
            T_ASSERT(slot_of(state, NODE, 0) && slot_of(state, NODE, 1));
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SIZE));
    world_end(state);
}

TEST(slots_where, each_slot_takes_its_own_size)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t constant = buffer(state, 512);

    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, SIZE), b = buffer(state, OTHER);
        point_at(state, NODE, a, b, constant);
        launch(state);
        buffer_free(state, b);
        buffer_free(state, a);
    }
    T_ASSERT(is_taken(state, SIZE) && is_taken(state, OTHER) && !is_taken(state, 512));
    world_end(state);
}

/* A struct by value: the pointer lies at byte 16 of 28, in the second window of the second
 * parameter; the last window is cut short. */
TEST(slots_where, pointer_in_a_struct_parameter)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    unsigned char packed[29] = {0};
    struct vr_update update = {
        .exec = EXEC,
        .node = NODE,
        .code = {CODE_MIXED, VR_CODE_FUNCTION},
        .packed = packed,
        .packed_bytes = sizeof packed,
    };

    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, SIZE);
        memcpy(packed + 16, &a, sizeof a);
        packed[28] = (unsigned char)i;
        T_ASSERT(!world_send(state, &update, true));
        launch(state);
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SIZE));
    world_end(state);
}

/* Two numbers side by side, or one wide one, may lie in a live allocation by chance. They are slots
 * then, and nothing worse: an update is answered when its bytes are equal, and never else. */
TEST(slots_where, scalar_that_looks_like_an_address)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t base = buffer(state, 1 << 20);

    for (uint64_t i = 0; i < 40; i++) {
        uint64_t a = buffer(state, SIZE);
        bool answered = point_at(state, NODE, a, base + i / 10, 0);
        T_ASSERT(!answered || i % 10, "the number has changed");
        launch(state);
        buffer_free(state, a);
    }
    T_ASSERT(is_taken(state, SIZE) && !is_taken(state, 1 << 20));
    world_end(state);
}

TEST(slots_where, more_windows_than_bits)
{
    struct vr_slots *slots;
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);
    struct vr_node *record;

    point_at(state, NODE, buffer(state, SIZE), buffer(state, SIZE), buffer(state, SIZE));
    launch(state);
    record = vr_node_find(&the_exec(state)->nodes, NODE);
    slots = record->slots;
    T_EQ(slots->count, 3);
    T_EQ(vr_window_bit(62), UINT64_C(1) << 62);
    T_EQ(vr_window_bit(63), UINT64_C(1) << 63);
    T_EQ(vr_window_bit(8191), UINT64_C(1) << 63);
    world_end(state);
}

/* ---- what is not looked at ---- */

TEST(slots_where, failed_launch_is_not_observed)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    fresh_steps(state, 2);
    for (int i = 0; i < 5; i++) {
        uint64_t a = buffer(state, SIZE);
        point_at(state, NODE, a, 0, 0);
        vr_launch_told(state, EXEC, false);
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_PROFILING);
    T_ASSERT(!is_taken(state, SIZE));
    fresh_steps(state, 1);
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

TEST(slots_where, failed_setter_is_not_observed)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);
    struct world_setter setter;

    fresh_steps(state, 2);
    world_setter(&setter, EXEC, NODE);
    setter.value[0] = buffer(state, SIZE);
    T_ASSERT(!world_send(state, &setter.update, false));
    launch(state);
    T_EQ(slot_of(state, NODE, 0)->counts.run, 2);
    fresh_steps(state, 1);
    T_EQ(slot_of(state, NODE, 0)->counts.run, 1);
    world_end(state);
}

TEST(slots_where, device_updatable_node_proposes_nothing)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    world.updatable = NODE;
    fresh_steps(state, 6);
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

TEST(slots_where, unknown_layout_proposes_nothing)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    world.layouts_silent = true;
    fresh_steps(state, 6);
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

TEST(slots_where, exec_for_device_launch_proposes_nothing)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    world_died(state, EXEC);
    vr_exec_born(state, EXEC, &(struct vr_exec_origin){GRAPH, .device_launch = true});
    fresh_steps(state, 6);
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

TEST(slots_where, record_that_is_not_believed_is_not_looked_at)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 6; i++) {
        uint64_t a = buffer(state, SIZE);
        point_at(state, NODE, a, 0, 0);
        vr_exec_changed(state, EXEC, NODE, VR_CHANGE_NODE, true);
        launch(state);
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

TEST(slots_where, nothing_is_looked_at_without_the_rung)
{
    for (int way = 0; way < 3; way++) {
        struct vr_options options = buffers_options(way == 2 ? VR_MODE_OFF : VR_MODE_ON, 3);
        struct vr_state *state;
        if (way == 0)
            options.rungs = VR_RUNG_ELIDE;
        if (way == 1)
            options.backing = VR_BACKING_OFF;
        state = buffers_begin_with(&options, false);
        fresh_steps(state, 2);
        T_NULL(slot_of(state, NODE, 0));
        fresh_steps(state, 4);
        expect_phase(state, VR_PHASE_DISABLED);
        T_ASSERT(!is_taken(state, SIZE));
        world_end(state);
    }
}

TEST(slots_where, sizes_are_taken_without_the_rung_elide_too)
{
    struct vr_options options = buffers_options(VR_MODE_ON, 3);
    struct vr_state *state;

    options.rungs = VR_RUNG_RECYCLE;
    state = buffers_begin_with(&options, false);
    fresh_steps(state, 6);
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SIZE));
    T_EQ(world_totals(state).counter[VR_COUNT_updates_forwarded], 6);
    world_end(state);
}

/* ---- memory ---- */

TEST(slots_where, memory_goes_with_the_need)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t live;

    point_at(state, NODE, buffer(state, SIZE), 0, 0);
    live = state->heap.blocks;
    launch(state);
    T_EQ(state->heap.blocks, live + 1);
    T_LE(sizeof(struct vr_node) + sizeof(UT_hash_bucket), 256);
    T_LE(sizeof(struct vr_slot), 64);
    launch(state);
    launch(state);
    expect_phase(state, VR_PHASE_DISABLED);
    T_EQ(state->heap.blocks, live);
    world_end(state);
}
