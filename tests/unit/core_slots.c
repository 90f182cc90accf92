/* core_slots.c: which slots are found, and how each is classed, from scripted sequences of
 * allocations (docs/design.md, section "Profile"). */
#include "tests/unit/core_buffers.h"

enum { SIZE = 4096, OTHER = 8192 };

/* One step of a program that owns nothing between steps. */
static bool fresh_step(struct vr_state *state, size_t bytes, uint64_t offset)
{
    uint64_t a = buffer(state, bytes);
    bool answered = point_at(state, NODE, a + offset, 0, 0);

    launch(state);
    buffer_free(state, a);
    return answered;
}

/* ---- recurring ---- */

static void recurring(uint32_t needed, bool lifo)
{
    struct vr_options options = buffers_options(VR_MODE_ON, needed);
    struct vr_state *state = buffers_begin_with(&options, lifo);

    for (uint32_t i = 1; i < needed; i++) {
        fresh_step(state, SIZE, 0);
        expect_phase(state, VR_PHASE_PROFILING);
        T_ASSERT(!is_taken(state, SIZE));
    }
    fresh_step(state, SIZE, 0);
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SIZE));
    T_ASSERT(!fresh_step(state, SIZE, 0), "its address is another one now");
    for (int i = 0; i < 10; i++)
        T_ASSERT(fresh_step(state, SIZE, 0), "and stays");
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

TEST(slots, recurring_size_is_taken_when_the_nth_launch_returns)
{
    recurring(2, false);
    recurring(3, false);
    recurring(20, false);
}

/* The same address comes back with another generation: the setters are elided, the buffer is a
 * fresh one all the same. */
TEST(slots, recurring_at_one_address)
{
    recurring(2, true);
    recurring(3, true);
    recurring(20, true);
}

/* The address came back, the allocation did not: identity is the generation (ABA). */
TEST(slots, aba_is_not_constant)
{
    struct vr_options options = buffers_options(VR_MODE_ON, 20);
    struct vr_state *state = buffers_begin_with(&options, true);
    uint64_t a = buffer(state, SIZE);

    for (int i = 0; i < 5; i++) {
        buffer_free(state, a);
        T_EQ(buffer(state, SIZE), a);
        point_at(state, NODE, a, 0, 0);
        launch(state);
        T_EQ(slot_of(state, NODE, 0)->counts.run, i + 1);
    }
    T_EQ(class_of(state, NODE, 0), VR_SLOT_MOVING);
    world_end(state);
}

TEST(slots, offset_inside_an_allocation)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 3; i++)
        fresh_step(state, SIZE, 128);
    T_ASSERT(is_taken(state, SIZE));
    world_end(state);
}

TEST(slots, changing_offset_is_free)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);

    for (uint64_t i = 0; i < 8; i++) {
        fresh_step(state, SIZE, 64 * i);
        T_EQ(slot_of(state, NODE, 0)->counts.run, 1);
    }
    T_EQ(class_of(state, NODE, 0), VR_SLOT_FREE);
    world_end(state);
}

TEST(slots, interior_pointer_that_walks_is_free)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);
    uint64_t a = buffer(state, SIZE);

    for (uint64_t i = 0; i < 8; i++) {
        point_at(state, NODE, a + 64 * i, 0, 0);
        launch(state);
    }
    T_EQ(class_of(state, NODE, 0), VR_SLOT_FREE);
    world_end(state);
}

TEST(slots, changing_size_does_not_recur)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 6; i++)
        fresh_step(state, i % 2 ? SIZE : OTHER, 0);
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE) && !is_taken(state, OTHER));
    world_end(state);
}

/* What was there before is not fresh, even if the buffer in between has been freed. */
TEST(slots, coming_back_to_an_old_buffer_is_no_run)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t old = buffer(state, SIZE);

    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, SIZE);
        point_at(state, NODE, i % 2 ? a : old, 0, 0);
        launch(state);
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

TEST(slots, only_successive_launches_make_a_run)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);
    uint64_t a;

    fresh_step(state, SIZE, 0);
    fresh_step(state, SIZE, 0);
    a = buffer(state, SIZE);
    point_at(state, NODE, a, 0, 0);
    launch(state);
    T_EQ(slot_of(state, NODE, 0)->counts.run, 3);
    launch(state);
    T_EQ(slot_of(state, NODE, 0)->counts.run, 0);
    buffer_free(state, a);
    fresh_step(state, SIZE, 0);
    T_EQ(slot_of(state, NODE, 0)->counts.run, 1);
    world_end(state);
}

/* ---- the other classes ---- */

TEST(slots, constant)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);
    uint64_t a = buffer(state, SIZE);

    for (int i = 0; i < 19; i++) {
        point_at(state, NODE, a, 0, 0);
        launch(state);
        T_EQ(class_of(state, NODE, 0), VR_SLOT_CONSTANT);
    }
    launch(state);
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

static void cycle(uint32_t needed, int length)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, needed);
    uint64_t buffers[VR_CYCLE_MAX];

    for (int i = 0; i < length; i++)
        buffers[i] = buffer(state, SIZE);
    for (int i = 0; i < 3 * length; i++) {
        point_at(state, NODE, buffers[i % length], 0, 0);
        launch(state);
    }
    T_ASSERT(!is_taken(state, SIZE), "%d buffers that all live on, N=%u", length, needed);
    if ((int)needed > 3 * length)
        T_EQ(class_of(state, NODE, 0), VR_SLOT_CYCLING);
    else
        expect_phase(state, VR_PHASE_DISABLED);
    world_end(state);
}

TEST(slots, double_buffer_cycles)
{
    cycle(2, 2);
    cycle(3, 2);
    cycle(20, 2);
}

TEST(slots, small_sets_cycle)
{
    cycle(3, 3);
    cycle(20, 5);
    cycle(1000, 3);
    cycle(1000, VR_CYCLE_MAX);
}

TEST(slots, fresh_allocations_that_all_live_on_move)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 1000);

    for (int i = 0; i < 300; i++) {
        point_at(state, NODE, buffer(state, SIZE), 0, 0);
        launch(state);
        T_LE(slot_of(state, NODE, 0)->counts.run, 2);
    }
    T_EQ(class_of(state, NODE, 0), VR_SLOT_MOVING);
    world_end(state);
}

TEST(slots, cycle_that_ended_is_none)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 1000);
    uint64_t turns[2] = {buffer(state, SIZE), buffer(state, SIZE)};

    for (int i = 0; i < 2 * VR_CYCLE_MAX; i++) {
        point_at(state, NODE, i < 8 ? turns[i % 2] : buffer(state, SIZE), 0, 0);
        launch(state);
        if (i == 7)
            T_EQ(class_of(state, NODE, 0), VR_SLOT_CYCLING);
    }
    T_EQ(class_of(state, NODE, 0), VR_SLOT_MOVING);
    world_end(state);
}

/* Two buffers take turns, each a new one: the last step's is freed when this step has run. */
static void free_one_launch_later(uint32_t needed, uint32_t launches)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, needed);
    uint64_t last = 0;

    for (uint32_t i = 0; i < launches; i++) {
        uint64_t next = buffer(state, SIZE);
        T_ASSERT(!is_taken(state, SIZE));
        point_at(state, NODE, next, 0, 0);
        launch(state);
        if (last)
            buffer_free(state, last);
        last = next;
    }
    T_ASSERT(is_taken(state, SIZE));
    world_end(state);
}

TEST(slots, predecessor_may_be_freed_one_launch_later)
{
    free_one_launch_later(3, 3);
    free_one_launch_later(20, 20);
}

TEST(slots, predecessors_freed_later_than_that_do_not_count)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t last[3] = {0};

    for (int i = 0; i < 12; i++) {
        uint64_t next = buffer(state, SIZE);
        point_at(state, NODE, next, 0, 0);
        launch(state);
        if (last[i % 3])
            buffer_free(state, last[i % 3]);
        last[i % 3] = next;
    }
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

TEST(slots, null_now_and_then_is_free)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);

    for (int i = 0; i < 8; i++) {
        uint64_t a = buffer(state, SIZE);
        point_at(state, NODE, i % 3 == 2 ? 0 : a, 0, 0);
        launch(state);
        buffer_free(state, a);
    }
    T_EQ(class_of(state, NODE, 0), VR_SLOT_FREE);
    T_LE(slot_of(state, NODE, 0)->counts.run, 2);
    world_end(state);
}

TEST(slots, unknown_memory_is_no_slot)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);

    buffer(state, SIZE);
    point_at(state, NODE, 0x7e0000000000, 0, 42);
    launch(state);
    T_NULL(slot_of(state, NODE, 0));
    T_NULL(slot_of(state, NODE, 2));
    world_end(state);
}
