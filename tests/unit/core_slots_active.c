/* core_slots_active.c: the transitions that slots decide, and what an active exec goes on learning.
 */
#include "tests/unit/core_buffers.h"

enum { NODES = 6, BUFFERS = 4, SIZE = 4096 };

static vr_handle node(int k)
{
    return NODE + 64 * (vr_handle)k;
}

/* A step that allocates BUFFERS buffers, the sizes all different, points every node at three of
 * them, launches, frees. Returns how many setters the driver got. */
static int step(struct vr_state *state, size_t bytes)
{
    uint64_t buffers[BUFFERS];
    int sent = 0;

    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = buffer(state, bytes + 512 * (size_t)i);
    for (int k = 0; k < NODES; k++)
        sent += !point_at(state, node(k), buffers[k % BUFFERS], buffers[(k + 1) % BUFFERS] + 64,
                          buffers[(k + 2) % BUFFERS]);
    launch(state);
    for (int i = 0; i < BUFFERS; i++)
        buffer_free(state, buffers[i]);
    return sent;
}

/* ---- grow: every 50 steps all sizes are others ---- */

static void grow(uint32_t needed, bool lifo)
{
    struct vr_options options = buffers_options(VR_MODE_ON, needed);
    struct vr_state *state = buffers_begin_with(&options, lifo);

    for (int phase = 0; phase < 4; phase++) {
        size_t bytes = SIZE * (size_t)(phase + 1);
        int sent = 0;
        for (int i = 0; i < 50; i++)
            sent += step(state, bytes);
        T_LE(sent, (int)(needed + 1) * NODES);
        T_GE(sent, NODES);
        for (size_t i = 0; i < BUFFERS; i++)
            T_ASSERT(is_taken(state, bytes + 512 * i), "phase %d, buffer %zu", phase, i);
        expect_phase(state, VR_PHASE_ACTIVE);
    }
    world_end(state);
}

TEST(slots_active, new_sizes_are_learnt)
{
    grow(2, false);
    grow(3, false);
    grow(20, false);
}

/* Here updates of a later phase are equal by chance, and the sizes recur all the same. */
TEST(slots_active, new_sizes_are_learnt_at_addresses_that_come_back)
{
    grow(2, true);
    grow(3, true);
    grow(20, true);
}

TEST(slots_active, steady_state_looks_at_nothing)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t blocks;

    for (int i = 0; i < 5; i++)
        step(state, SIZE);
    blocks = state->heap.blocks;
    for (int i = 0; i < 50; i++) {
        T_EQ(step(state, SIZE), 0);
        T_NULL(the_exec(state)->nodes.queue);
        T_EQ(state->heap.blocks, blocks);
    }
    for (int k = 0; k < NODES; k++)
        T_NULL(vr_node_find(&the_exec(state)->nodes, node(k))->slots);
    world_end(state);
}

/* A size that may not be taken is proposed again and again, but no exec becomes active by it. */
TEST(slots_active, barred_size_gains_nothing)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (size_t i = 0; i < BUFFERS; i++)
        vr_sizes_bar(state->sizes, &state->heap, SIZE + 512 * i);
    for (int i = 0; i < 8; i++)
        T_EQ(step(state, SIZE), NODES);
    expect_phase(state, VR_PHASE_DISABLED);
    world_end(state);
}

TEST(slots_active, memory_that_may_not_be_placed_gains_nothing)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    memory.refuses = true;
    for (int i = 0; i < 8; i++)
        T_EQ(step(state, SIZE), NODES);
    expect_phase(state, VR_PHASE_DISABLED);
    world_end(state);
}

TEST(slots_active, size_that_another_exec_has_taken_counts)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 5; i++)
        step(state, SIZE);
    world_died(state, EXEC);
    world_born(state, EXEC, GRAPH);
    T_EQ(step(state, SIZE), NODES);
    expect_phase(state, VR_PHASE_PROFILING);
    step(state, SIZE);
    T_EQ(step(state, SIZE), 0);
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

TEST(slots_active, disabled_exec_is_profiled_again)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t constant = buffer(state, SIZE);
    int launches = 0;

    point_at(state, NODE, constant, 0, 0);
    for (int i = 0; i < 3; i++)
        launch(state);
    expect_phase(state, VR_PHASE_DISABLED);
    while (phase_of(state) == VR_PHASE_DISABLED && ++launches < 1000)
        step(state, 2 * SIZE);
    T_EQ(launches, 1 << VR_RETRY_FIRST);
    T_ASSERT(!is_taken(state, 2 * SIZE), "disabled: nothing is looked at");
    for (int i = 0; i < 3; i++)
        step(state, 2 * SIZE);
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, 2 * SIZE));
    world_end(state);
}

/* Launches of a graph as it was instantiated tell nothing: the profile begins with the first
 * setter. */
TEST(slots_active, launches_before_the_first_setter_do_not_count)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 10; i++)
        launch(state);
    for (int i = 0; i < 3; i++)
        step(state, SIZE);
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

TEST(slots_active, exec_update_begins_anew)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    step(state, SIZE);
    step(state, SIZE);
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, true);
    expect_phase(state, VR_PHASE_DISABLED);
    T_NULL(slot_of(state, NODE, 0));
    step(state, SIZE);
    step(state, SIZE);
    expect_phase(state, VR_PHASE_PROFILING);
    T_ASSERT(!is_taken(state, SIZE), "the launches before do not count");
    step(state, SIZE);
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SIZE));
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, true);
    expect_phase(state, VR_PHASE_DISABLED);
    T_EQ(step(state, SIZE), NODES);
    expect_phase(state, VR_PHASE_PROFILING);
    world_end(state);
}

/* A launch that only repeats tells that the buffers stay: it ends the run of an active exec too. */
TEST(slots_active, run_of_an_active_exec_is_of_successive_launches)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    const size_t bytes = 3 * SIZE;

    for (int i = 0; i < 5; i++)
        step(state, SIZE);
    for (int i = 0; i < 12; i++) {
        uint64_t a = buffer(state, bytes);
        T_ASSERT(!point_at(state, NODE, a, 0, 0));
        launch(state);
        if (i % 2)
            launch(state);
        buffer_free(state, a);
    }
    T_ASSERT(!is_taken(state, bytes));
    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, bytes);
        point_at(state, NODE, a, 0, 0);
        launch(state);
        buffer_free(state, a);
    }
    T_ASSERT(is_taken(state, bytes));
    world_end(state);
}

/* Only the window that has changed is looked at, whichever it is. */
TEST(slots_active, one_window_changes)
{
    for (int window = 0; window < 3; window++) {
        struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
        uint64_t values[3];
        for (int i = 0; i < 3; i++) {
            uint64_t a = buffer(state, SIZE);
            point_at(state, NODE_B, a, 0, 0);
            launch(state);
            buffer_free(state, a);
        }
        expect_phase(state, VR_PHASE_ACTIVE);
        for (int i = 0; i < 3; i++)
            values[i] = buffer(state, 2 * SIZE);
        point_at(state, NODE, values[0], values[1], values[2]);
        launch(state);
        launch(state);
        T_NULL(slot_of(state, NODE, window));
        for (int i = 0; i < 3; i++) {
            values[window] = buffer(state, 3 * SIZE);
            point_at(state, NODE, values[0], values[1], values[2]);
            launch(state);
            buffer_free(state, values[window]);
        }
        T_ASSERT(is_taken(state, 3 * SIZE) && !is_taken(state, 2 * SIZE));
        world_end(state);
    }
}

/* Buffers of ours that take turns change the node in every step, and teach nothing more. */
TEST(slots_active, buffers_of_ours_ask_for_no_memory)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t turns[2];

    for (int i = 0; i < 5; i++)
        step(state, SIZE);
    turns[0] = buffer(state, SIZE);
    turns[1] = buffer(state, SIZE);
    for (int i = 0; i < 10; i++) {
        T_ASSERT(!point_at(state, NODE, turns[i % 2], 0, 0));
        state->heap.fail_at = 1;
        launch(state);
        T_EQ(state->heap.fail_at, 1);
        state->heap.fail_at = 0;
    }
    world_end(state);
}

/* A kernel with other parameters comes to a node while a run goes on there. */
TEST(slots_active, another_kernel_ends_what_was_learnt)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 20);
    struct world_setter setter;

    for (int i = 0; i < 5; i++)
        step(state, SIZE);
    T_NOT_NULL(slot_of(state, NODE, 2));
    world_setter(&setter, EXEC, NODE);
    setter.update.code.handle = CODE_GAPS;
    T_ASSERT(!world_send(state, &setter.update, true));
    T_NULL(slot_of(state, NODE, 2));
    launch(state);
    expect_phase(state, VR_PHASE_PROFILING);
    world_end(state);
}

/* A record that needs more room is a new one; the old one waited to be looked at. */
TEST(slots_active, record_that_grows_leaves_the_queue)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    struct world_setter setter;

    for (int i = 0; i < 5; i++)
        step(state, SIZE);
    for (int k = 0; k < 3; k++) {
        world_setter(&setter, EXEC, node(10 + k));
        setter.update.code.handle = CODE_GAPS;
        T_ASSERT(!world_send(state, &setter.update, true));
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    world_setter(&setter, EXEC, node(11));
    T_ASSERT(!world_send(state, &setter.update, true));
    expect_phase(state, VR_PHASE_ACTIVE);
    launch(state);
    expect_phase(state, VR_PHASE_ACTIVE);
    T_NULL(the_exec(state)->nodes.queue);
    world_end(state);
}
