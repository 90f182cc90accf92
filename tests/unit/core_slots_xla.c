/* core_slots_xla.c: the rows of XLA's checklist for its profiled remapping that concern profiling,
 * as the same rule reads for a program of any kind. Each test begins with the row's name. */
#include "tests/unit/core_buffers.h"

#include <pthread.h>

enum { SIZE = 1 << 20, SMALL = 1000 };

/* A run of the program: one buffer, in the given parameter. */
static void run_with(struct vr_state *state, size_t bytes, bool succeeds)
{
    uint64_t a = buffer(state, bytes);

    point_at(state, NODE, a, 0, 0);
    vr_launch_told(state, EXEC, succeeds);
    buffer_free(state, a);
}

/* SkipProfiledRemapsStableParameterAfterProfiling: the first three runs see the driver's address,
 * the fourth and the fifth one address of ours. */
TEST(xla, SkipProfiledRemapsStableParameterAfterProfiling)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t seen[5];

    for (int i = 0; i < 5; i++) {
        seen[i] = buffer(state, SIZE);
        T_EQ(point_at(state, NODE, seen[i], 0, 0), i == 4);
        launch(state);
        buffer_free(state, seen[i]);
        expect_phase(state, i < 2 ? VR_PHASE_PROFILING : VR_PHASE_ACTIVE);
    }
    for (int i = 0; i < 3; i++)
        T_LT(SLICES + (UINT64_C(1) << 44), seen[i]);
    T_LT(seen[3], SLICES + (UINT64_C(1) << 44));
    T_EQ(seen[4], seen[3]);
    world_end(state);
}

/* SkipProfiledDoesNotCountFailedExecution: one failure, then three successes are still needed. */
TEST(xla, SkipProfiledDoesNotCountFailedExecution)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    run_with(state, SIZE, false);
    run_with(state, SIZE, true);
    run_with(state, SIZE, true);
    expect_phase(state, VR_PHASE_PROFILING);
    run_with(state, SIZE, true);
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

/* SkipProfiledAutomaticallyRemapsTempWithoutProfileCandidates: XLA knows its temporary buffers;
 * here they are recurring slots like others. One alone makes the exec active. */
TEST(xla, SkipProfiledAutomaticallyRemapsTempWithoutProfileCandidates)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t weights = buffer(state, SIZE);

    for (int i = 0; i < 3; i++) {
        uint64_t temporary = buffer(state, SMALL);
        point_at(state, NODE, weights, weights + 64, temporary);
        launch(state);
        buffer_free(state, temporary);
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SMALL) && !is_taken(state, SIZE));
    world_end(state);
}

/* SkipProfiledAutomaticallyRemapsTempWhenParameterIsUnstable: the alternating parameter is left
 * alone, the temporary buffer makes the exec active. */
TEST(xla, SkipProfiledAutomaticallyRemapsTempWhenParameterIsUnstable)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t turns[2] = {buffer(state, SIZE), buffer(state, SIZE)};

    for (int i = 0; i < 3; i++) {
        uint64_t temporary = buffer(state, SMALL);
        point_at(state, NODE, turns[i % 2], temporary, 0);
        launch(state);
        buffer_free(state, temporary);
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SMALL) && !is_taken(state, SIZE));
    world_end(state);
}

/* SkipProfiledRemapsStableOutputAfterProfiling: an output of unaligned size, freed in each run. */
TEST(xla, SkipProfiledRemapsStableOutputAfterProfiling)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 3; i++)
        run_with(state, SMALL, true);
    T_ASSERT(is_taken(state, SMALL));
    T_ASSERT(!is_taken(state, SMALL + 24), "a size is exact");
    world_end(state);
}

/* SkipProfiledDisablesRemappingWhenParameterAddressUnstable: a parameter that alternates, and
 * nothing else: disabled, and every value goes to the driver as it is. */
TEST(xla, SkipProfiledDisablesRemappingWhenParameterAddressUnstable)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t turns[2] = {buffer(state, SIZE), buffer(state, SIZE)};

    for (int i = 0; i < 20; i++) {
        T_ASSERT(!point_at(state, NODE, turns[i % 2], 0, 0));
        launch(state);
    }
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

/* SkipProfiledSkipsParameterNotBackedByVmmAllocator: stable, but memory that nobody saw allocated.
 */
TEST(xla, SkipProfiledSkipsParameterNotBackedByVmmAllocator)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 3; i++) {
        point_at(state, NODE, 0x7e0000000000 + 4096 * (uint64_t)(i % 2), 0, 0);
        launch(state);
    }
    expect_phase(state, VR_PHASE_DISABLED);
    world_end(state);
}

/* SkipProfiledDropsParametersSharingABuffer: XLA drops both, for its books' sake. To share a buffer
 * is legal, and two slots of one allocation recur together. */
TEST(xla, SkipProfiledDropsParametersSharingABuffer)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 8; i++) {
        uint64_t a = buffer(state, SIZE);
        T_EQ(point_at(state, NODE, a, a, 0), i > 3);
        launch(state);
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

/* SkipProfiledProfilesFinalCopyProtectedAddress: the profile sees what the launch ran with, the
 * last of several setters. */
TEST(xla, SkipProfiledProfilesFinalCopyProtectedAddress)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t original = buffer(state, SIZE);

    for (int i = 0; i < 3; i++) {
        uint64_t copy = buffer(state, SMALL);
        point_at(state, NODE, original, 0, 0);
        point_at(state, NODE, copy, 0, 0);
        launch(state);
        buffer_free(state, copy);
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SMALL) && !is_taken(state, SIZE));
    world_end(state);
}

/* SkipProfiledRemapsCopyProtectedReplacementAfterTransition: another buffer than the profiled one
 * is passed once: it is what the node holds then. */
TEST(xla, SkipProfiledRemapsCopyProtectedReplacementAfterTransition)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t replacement = buffer(state, SMALL), a;

    for (int i = 0; i < 6; i++)
        run_with(state, SIZE, true);
    a = buffer(state, SIZE);
    T_ASSERT(!point_at(state, NODE, replacement, 0, 0));
    T_ASSERT(point_at(state, NODE, replacement, 0, 0));
    launch(state);
    T_ASSERT(!point_at(state, NODE, a, 0, 0));
    launch(state);
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

/* ---- what XLA does not test ---- */

/* Two executors in one profile: the exec's buffers are on one device in some steps and on another
 * one in others; a size is taken on the device where it recurs. */
TEST(xla, two_executors_in_one_profile)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer_on(state, 1, SIZE), b = buffer_on(state, 0, SMALL);
        point_at(state, NODE, a, b, 0);
        launch(state);
        buffer_free(state, a);
        buffer_free(state, b);
    }
    T_EQ(vr_sizes_state(state->sizes, 1, SIZE), VR_SIZE_TAKEN);
    T_EQ(vr_sizes_state(state->sizes, 0, SIZE), VR_SIZE_DRIVERS);
    T_EQ(vr_sizes_state(state->sizes, 1, SMALL), VR_SIZE_DRIVERS);
    T_EQ(vr_sizes_state(state->sizes, 0, SMALL), VR_SIZE_TAKEN);
    world_end(state);
}

/* Null during profiling: that slot does not recur, the others do. */
TEST(xla, null_during_profiling)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, SIZE), b = buffer(state, SMALL);
        point_at(state, NODE, i == 1 ? 0 : a, b, 0);
        launch(state);
        buffer_free(state, b);
        buffer_free(state, a);
    }
    expect_phase(state, VR_PHASE_ACTIVE);
    T_ASSERT(is_taken(state, SMALL) && !is_taken(state, SIZE));
    world_end(state);
}

/* Thread-local and constant mixing: parameters that stay beside parameters that recur. */
TEST(xla, thread_local_and_constant_mixing)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t constant = buffer(state, SMALL);

    for (int i = 0; i < 8; i++) {
        uint64_t a = buffer(state, SIZE);
        T_EQ(point_at(state, NODE, constant, a, 7), i > 3);
        launch(state);
        buffer_free(state, a);
    }
    T_ASSERT(is_taken(state, SIZE) && !is_taken(state, SMALL));
    world_end(state);
}

/* Post-transition foreign or shared buffer: the exec is active; the node gets memory of somebody
 * else, then a buffer that another slot has too. */
TEST(xla, post_transition_foreign_or_shared_buffer)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t a, b;

    for (int i = 0; i < 6; i++)
        run_with(state, SIZE, true);
    T_ASSERT(!point_at(state, NODE, 0x7e0000000000, 0, 0));
    launch(state);
    a = buffer(state, SIZE);
    b = buffer(state, SIZE);
    T_ASSERT(!point_at(state, NODE, b, b, a));
    launch(state);
    T_ASSERT(point_at(state, NODE, b, b, a));
    T_ASSERT(!point_at(state, NODE, a, b, b));
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

/* Source freed between the last observation and the transition: the setter was sent, the buffer is
 * gone when the Nth launch returns. What is gone is no slot. */
TEST(xla, source_freed_between_last_observation_and_transition)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t a;

    run_with(state, SIZE, true);
    run_with(state, SIZE, true);
    a = buffer(state, SIZE);
    point_at(state, NODE, a, 0, 0);
    buffer_free(state, a);
    launch(state);
    expect_phase(state, VR_PHASE_DISABLED);
    T_ASSERT(!is_taken(state, SIZE));
    world_end(state);
}

/* Handle-address reuse: an exec dies, another one gets its handle: it is profiled from the start.
 */
TEST(xla, handle_address_reuse)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    run_with(state, SIZE, true);
    run_with(state, SIZE, true);
    world_died(state, EXEC);
    world_born(state, EXEC, GRAPH_B);
    run_with(state, SIZE, true);
    expect_phase(state, VR_PHASE_PROFILING);
    T_ASSERT(!is_taken(state, SIZE));
    run_with(state, SIZE, true);
    run_with(state, SIZE, true);
    expect_phase(state, VR_PHASE_ACTIVE);
    world_end(state);
}

/* Allocator swap: the program takes its buffers from elsewhere from some step on, and comes back.
 */
TEST(xla, allocator_swap)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);

    for (int i = 0; i < 6; i++)
        run_with(state, SIZE, true);
    for (uint64_t i = 0; i < 6; i++) {
        T_ASSERT(!point_at(state, NODE, 0x7e0000000000 + 4096 * i, 0, 0));
        launch(state);
    }
    run_with(state, SIZE, true);
    for (int i = 0; i < 3; i++) {
        uint64_t a = buffer(state, SIZE);
        T_ASSERT(point_at(state, NODE, a, 0, 0));
        launch(state);
        buffer_free(state, a);
    }
    world_end(state);
}

/* 64-entry limit: there is none: 200 nodes, each with a buffer of its own size. */
TEST(xla, no_64_entry_limit)
{
    enum { COUNT = 200 };
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    uint64_t buffers[COUNT];

    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            buffers[k] = buffer(state, SIZE + 512 * k);
            point_at(state, NODE + 64 * k, buffers[k], 0, 0);
        }
        launch(state);
        for (size_t k = 0; k < COUNT; k++)
            buffer_free(state, buffers[k]);
    }
    for (size_t k = 0; k < COUNT; k++)
        T_ASSERT(is_taken(state, SIZE + 512 * k));
    world_end(state);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 300 };

struct worker {
    struct vr_state *state;
    uint64_t number;
    pthread_t thread;
    uint64_t answered;
};

/* A program of its own on an exec of its own; allocations and sizes are everybody's. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct vr_state *state = worker->state;
    struct world_setter setter;

    world_setter(&setter, EXEC + 64 * worker->number, NODE);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct vr_allocation allocation = {.bytes = SIZE + 512 * (i / 100), .context = CONTEXT};
        allocation.base = UINT64_C(0x7f0000000000) + (worker->number << 32) + (i % 2) * 2 * SIZE;
        if (!vr_allocations_add(state->allocations, &state->heap, &allocation))
            return NULL;
        setter.value[0] = allocation.base;
        worker->answered += world_send(state, &setter.update, true);
        vr_launch_told(state, setter.update.exec, true);
        vr_allocations_remove(state->allocations, &state->heap, allocation.base, &allocation);
    }
    return NULL;
}

/* Threads and concurrent executions: several execs are profiled at one time. */
TEST(xla, threads_and_concurrent_executions)
{
    struct vr_state *state = buffers_begin(VR_MODE_ON, 3);
    struct worker workers[THREADS];

    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.state = state, .number = i};
        world_born(state, EXEC + 64 * i, GRAPH);
    }
    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_join(workers[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        T_EQ(workers[i].answered, 0);
    for (size_t i = 0; i < ROUNDS / 100; i++)
        T_ASSERT(is_taken(state, SIZE + 512 * i));
    T_EQ(world_totals(state).phase[VR_PHASE_ACTIVE], THREADS);
    world_end(state);
}
