/* core_slots_oom.c: every allocation of the profile fails once, in mode on and in mode observe: no
 * update is answered that differs from what its node holds, and the invariants hold. */
#include "tests/unit/core_buffers.h"

enum { NODES = 3, STEPS = 12, BUFFERS = 3 };

/* What the driver holds for each node: the oracle for "answered". */
static uint64_t driver_holds[NODES][3];

static void point(struct vr_state *state, int k, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t says[3] = {a, b, c};

    if (point_at(state, NODE + 64 * (vr_handle)k, a, b, c))
        T_MEM_EQ(driver_holds[k], says, sizeof says);
    memcpy(driver_holds[k], says, sizeof says);
}

/* The next allocation fails only inside the calls that are tested here. */
static uint64_t pause_failing(struct vr_state *state)
{
    return atomic_exchange(&state->heap.fail_at, 0);
}

static void step(struct vr_state *state, size_t bytes)
{
    uint64_t buffers[BUFFERS], fail_at = pause_failing(state);

    for (int i = 0; i < BUFFERS; i++)
        buffers[i] = buffer(state, bytes + 512 * (size_t)i);
    state->heap.fail_at = fail_at;
    for (int k = 0; k < NODES; k++)
        point(state, k, buffers[k], buffers[(k + 1) % BUFFERS] + 8, buffers[(k + 2) % BUFFERS]);
    launch(state);
    fail_at = pause_failing(state);
    for (int i = 0; i < BUFFERS; i++)
        buffer_free(state, buffers[i]);
    state->heap.fail_at = fail_at;
}

static void script(struct vr_state *state)
{
    memset(driver_holds, 0, sizeof driver_holds);
    for (size_t i = 0; i < STEPS; i++)
        step(state, 4096 * (1 + i / 6));
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, true);
    memset(driver_holds, 0, sizeof driver_holds);
    for (size_t i = 0; i < STEPS; i++)
        step(state, 65536);
}

static void fail_each(enum vr_mode mode)
{
    uint64_t nth = 0, left;

    do {
        struct vr_state *state = buffers_begin(mode, 3);
        state->heap.fail_at = ++nth;
        script(state);
        left = state->heap.fail_at;
        world_end(state);
    } while (left == 0);
    T_GT(nth, 2 * NODES);
}

TEST(slots_oom, every_allocation_fails_once)
{
    fail_each(VR_MODE_ON);
}

TEST(slots_oom, every_allocation_fails_once_in_observe_mode)
{
    fail_each(VR_MODE_OBSERVE);
}

/* The profile learns nothing, and the program does not notice. */
TEST(slots_oom, memory_for_slots_never_comes)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, 4096);
        point(state, 0, a, 0, 0);
        state->heap.fail_at = 1;
        launch(state);
        T_EQ(state->heap.fail_at, 0);
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, 4096));
    world_end(state);
}
