/* core_observe.c: observe mode predicts. Each program runs twice, in mode on and in mode observe,
 * on memory that differs only in where it places what recurs; what the first run saved is what the
 * second one says that it would have saved. */
#include "tests/unit/core_buffers.h"

enum { NODES = 5, STEPS = 120 };

typedef void program(struct vr_state *state);

struct outcome {
    uint64_t saved;  /* updates answered, or that would have been */
    uint64_t sent;   /* to the driver */
    uint64_t placed; /* allocations of taken sizes */
    struct vr_totals totals;
};

static struct outcome run(program *program, enum vr_mode mode, uint32_t needed, bool lifo)
{
    struct vr_options options = buffers_options(mode, needed);
    struct vr_state *state = buffers_begin_with(&options, lifo);
    struct outcome outcome = {0};

    program(state);
    outcome.totals = world_totals(state);
    outcome.saved =
        outcome.totals.counter[mode == VR_MODE_ON ? VR_COUNT_updates_elided : VR_COUNT_would_elide];
    outcome.sent = outcome.totals.counter[VR_COUNT_updates_forwarded];
    outcome.placed = memory.placed;
    world_end(state);
    return outcome;
}

static void predicts(program *program)
{
    for (int way = 0; way < 4; way++) {
        uint32_t needed = way & 1 ? 7 : 3;
        struct outcome on = run(program, VR_MODE_ON, needed, way & 2);
        struct outcome observed = run(program, VR_MODE_OBSERVE, needed, way & 2);
        T_EQ(observed.saved, on.saved);
        T_EQ(observed.placed, on.placed);
        T_EQ(observed.sent, on.sent + on.saved); /* everything goes to the driver */
        T_EQ(observed.totals.counter[VR_COUNT_updates_elided], 0);
        T_GT(on.placed, 0);
        T_EQ(observed.totals.phase[VR_PHASE_ACTIVE], on.totals.phase[VR_PHASE_ACTIVE]);
    }
}

static void point_all(struct vr_state *state, const uint64_t *buffers, int count, uint64_t offset)
{
    for (int k = 0; k < NODES; k++)
        point_at(state, NODE + 64 * (vr_handle)k, buffers[k % count],
                 buffers[(k + 1) % count] + offset, buffers[(k + 2) % count]);
    launch(state);
}

static void one_size(struct vr_state *state)
{
    uint64_t buffers[3];

    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < 3; b++)
            buffers[b] = buffer(state, 4096);
        point_all(state, buffers, 3, 256);
        for (int b = 0; b < 3; b++)
            buffer_free(state, buffers[b]);
    }
}

TEST(observe, predicts_one_size)
{
    struct outcome on = run(one_size, VR_MODE_ON, 3, false);

    T_EQ(on.saved, (STEPS - 4) * NODES);
    predicts(one_size);
}

static void shuffled_frees(struct vr_state *state)
{
    uint64_t buffers[6];
    uint32_t random = 1;

    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < 6; b++)
            buffers[b] = buffer(state, 512 + 4096 * (size_t)(b % 3));
        point_all(state, buffers, 6, 8);
        for (int left = 6; left; left--) {
            random = random * 1664525 + 1013904223;
            int which = (int)(random >> 16) % left;
            buffer_free(state, buffers[which]);
            memmove(buffers + which, buffers + which + 1, (size_t)(5 - which) * sizeof *buffers);
        }
    }
}

TEST(observe, predicts_mixed_sizes_freed_in_any_order)
{
    predicts(shuffled_frees);
}

static void double_buffer(struct vr_state *state)
{
    uint64_t last[2] = {0}, next[2];

    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < 2; b++)
            next[b] = buffer(state, 4096);
        point_all(state, next, 2, 0);
        for (int b = 0; b < 2 && i; b++)
            buffer_free(state, last[b]);
        memcpy(last, next, sizeof last);
    }
}

/* The places take turns: sizes are taken, and no update is saved. */
TEST(observe, predicts_a_double_buffer)
{
    struct outcome on = run(double_buffer, VR_MODE_ON, 3, false);

    T_EQ(on.saved, 0);
    T_GT(on.placed, STEPS);
    predicts(double_buffer);
}

static void grow(struct vr_state *state)
{
    uint64_t buffers[4];

    for (int i = 0; i < STEPS; i++) {
        for (int b = 0; b < 4; b++)
            buffers[b] = buffer(state, 4096 * (size_t)(i / 40 + 1) + 512 * (size_t)b);
        point_all(state, buffers, 4, 64);
        for (int b = 0; b < 4; b++)
            buffer_free(state, buffers[b]);
    }
}

TEST(observe, predicts_growing_sizes)
{
    predicts(grow);
}

/* One node's parameters stay as they are, another's offset changes now and then. */
static void other_offsets(struct vr_state *state)
{
    uint64_t constant = buffer(state, 512);

    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t a = buffer(state, 4096);
        point_at(state, NODE, constant, constant + 8, 3);
        point_at(state, NODE_B, constant, a + 64 * (i / 10), 3);
        launch(state);
        buffer_free(state, a);
    }
}

TEST(observe, predicts_what_stays_and_offsets_that_change)
{
    struct outcome on = run(other_offsets, VR_MODE_ON, 3, false);

    /* All but the first, and all but four and one in ten. */
    T_EQ(on.saved, STEPS - 1 + STEPS - 4 - (STEPS / 10 - 1));
    predicts(other_offsets);
}

/* Some buffers stay, a scalar changes in some steps, some setters fail. */
static void mixed(struct vr_state *state)
{
    uint64_t constant = buffer(state, 4096);
    struct world_setter setter;

    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t a = buffer(state, 8192);
        world_setter(&setter, EXEC, NODE);
        setter.value[0] = constant;
        setter.value[1] = a + 16;
        setter.value[2] = i / 7;
        world_send(state, &setter.update, i % 10 != 9);
        setter.value[2] = 0;
        setter.update.node = NODE_B;
        world_send(state, &setter.update, true);
        launch(state);
        buffer_free(state, a);
    }
}

/* A setter that the driver refuses is one that an answer might have hidden: only accepted ones
 * count. */
TEST(observe, predicts_mixed_parameters)
{
    struct outcome on = run(mixed, VR_MODE_ON, 3, false);
    struct outcome observed = run(mixed, VR_MODE_OBSERVE, 3, false);

    T_GT(on.saved, 0);
    T_LE(observed.saved, on.saved);
    T_LE(on.saved - observed.saved, 2 * STEPS / 10);
}

/* Nothing recurs: what is equal is equal as it stands. */
static void resend(struct vr_state *state)
{
    uint64_t buffers[3] = {buffer(state, 4096), buffer(state, 4096), buffer(state, 512)};

    for (int i = 0; i < STEPS; i++)
        point_all(state, buffers, 3, 0);
}

TEST(observe, predicts_what_needs_no_profile)
{
    struct outcome on = run(resend, VR_MODE_ON, 3, false);
    struct outcome observed = run(resend, VR_MODE_OBSERVE, 3, false);

    T_EQ(on.saved, (STEPS - 1) * NODES);
    T_EQ(observed.saved, on.saved);
    T_EQ(observed.placed, 0);
}

/* What is equal as it stands need not be equal as it would have been: the freed buffer's address
 * comes back, but the place that it would have had is in use. */
TEST(observe, equal_addresses_of_other_places_are_not_equal)
{
    struct vr_options options = buffers_options(VR_MODE_OBSERVE, 3);
    struct vr_state *state = buffers_begin_with(&options, true);
    uint64_t a, b, c, saved;

    for (int i = 0; i < 5; i++) {
        a = buffer(state, 4096);
        point_at(state, NODE, a, 0, 0);
        launch(state);
        buffer_free(state, a);
    }
    T_ASSERT(is_taken(state, 4096));
    a = buffer(state, 4096);
    b = buffer(state, 4096);
    point_at(state, NODE, b, 0, 0);
    buffer_free(state, b);
    buffer_free(state, a);
    T_EQ(c = buffer(state, 4096), a);
    T_EQ(buffer(state, 4096), b);
    saved = world_totals(state).counter[VR_COUNT_would_elide];
    point_at(state, NODE, b, 0, 0);
    T_EQ(world_totals(state).counter[VR_COUNT_would_elide], saved + 1);
    buffer_free(state, b);
    buffer_free(state, c);
    T_EQ(buffer(state, 4096), c);
    point_at(state, NODE, c, 0, 0);
    T_EQ(world_totals(state).counter[VR_COUNT_would_elide], saved + 1);
    world_end(state);
}

TEST(observe, nothing_is_translated_while_no_size_is_taken)
{
    struct vr_state *state = buffers_begin(VR_MODE_OBSERVE, 3);
    uint64_t a = buffer(state, 4096);

    for (int i = 0; i < 10; i++) {
        point_at(state, NODE, a, 0, 0);
        launch(state);
    }
    T_ASSERT(!state->shadows);
    T_NULL(vr_node_find(&the_exec(state)->nodes, NODE)->shadow);
    world_end(state);
}

TEST(observe, without_the_rung_nothing_is_predicted_from_places)
{
    struct vr_options options = buffers_options(VR_MODE_OBSERVE, 3);
    struct vr_state *state;

    options.rungs = VR_RUNG_ELIDE;
    state = buffers_begin_with(&options, false);
    one_size(state);
    T_EQ(world_totals(state).counter[VR_COUNT_would_elide], 0);
    world_end(state);
    options.rungs = VR_RUNG_RECYCLE;
    state = buffers_begin_with(&options, false);
    one_size(state);
    T_EQ(world_totals(state).counter[VR_COUNT_would_elide], 0);
    T_GT(memory.placed, 0);
    world_end(state);
}
