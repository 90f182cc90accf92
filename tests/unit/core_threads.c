/* core_threads.c: many threads inside at once, as far as CUDA lets an application go: each exec has
 * one caller at a time, all else is free. Run under ThreadSanitizer these tests find unordered
 * accesses; everywhere they check that no answer was wrong and no call was lost. */
#include <pthread.h>
#include <unistd.h>

#include "tests/unit/core_setters.h"

enum { THREADS = 4, STEPS = 2000, NODES = 10 };

static struct vr_state *state;
static atomic_bool stop;

static vr_handle exec_of(intptr_t thread)
{
    return EXEC + (vr_handle)thread * 64;
}

/* Sends to the nodes of the thread's exec; one value changes every tenth step. Counts wrong
 * answers: a setter with a new value may not be answered. */
static intptr_t send_steps(intptr_t thread)
{
    struct world_setter setter;
    intptr_t wrong = 0;

    world_setter(&setter, exec_of(thread), 0);
    for (int step = 0; step < STEPS; step++) {
        setter.value[7] = (uint64_t)(step / 10);
        for (vr_handle node = 0; node < NODES; node++) {
            setter.update.node = NODE + node * 64;
            bool answered = world_send(state, &setter.update, true);
            wrong += answered && step % 10 == 0;
        }
        vr_launch_told(state, exec_of(thread), true);
    }
    return wrong;
}

static void *update_own_exec(void *thread)
{
    world_born(state, exec_of((intptr_t)thread), GRAPH);
    return (void *)send_steps((intptr_t)thread);
}

static void *change_meanings(void *unused)
{
    while (!stop) {
        vr_code_changed(state);
        usleep(50);
    }
    return unused;
}

static void *destroy_graphs(void *unused)
{
    while (!stop) {
        vr_graph_gone(state, GRAPH);
        usleep(50);
    }
    return unused;
}

static void *come_and_go(void *unused)
{
    for (vr_handle exec = EXEC_B; !stop; exec = EXEC_B + (exec + 64) % 4096) {
        world_born(state, exec, GRAPH_B);
        world_died(state, exec);
    }
    return unused;
}

static void *read_statistics(void *unused)
{
    int ends[2];

    if (pipe(ends) != 0)
        return unused;
    close(ends[0]);
    while (!stop) {
        world_totals(state);
        vr_stats_write(state, &(struct vr_doors){0}, ends[1]);
        usleep(100);
    }
    close(ends[1]);
    return unused;
}

/* THREADS updating threads and, beside them, `other`, if any. */
static void run(void *(*other)(void *))
{
    pthread_t thread[THREADS], beside;
    struct vr_totals totals;
    void *wrong;

    state = world_begin(VR_MODE_ON);
    if (other)
        T_EQ(pthread_create(&beside, NULL, other, NULL), 0);
    for (intptr_t i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&thread[i], NULL, update_own_exec, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &wrong);
        T_NULL(wrong);
    }
    stop = true;
    if (other)
        pthread_join(beside, NULL);
    totals = world_totals(state);
    T_EQ(totals.counter[VR_COUNT_updates_elided] + totals.counter[VR_COUNT_updates_forwarded],
         THREADS * STEPS * NODES);
    T_EQ(totals.counter[VR_COUNT_launches], THREADS * STEPS);
    if (!other)
        T_EQ(totals.counter[VR_COUNT_updates_forwarded], THREADS * STEPS / 10 * NODES);
    world_end(state);
}

TEST(threads, each_with_its_own_exec)
{
    run(NULL);
}

TEST(threads, while_modules_are_unloaded)
{
    run(change_meanings);
}

TEST(threads, while_graphs_are_destroyed)
{
    run(destroy_graphs);
}

TEST(threads, while_execs_come_and_go)
{
    run(come_and_go);
}

TEST(threads, while_statistics_are_read)
{
    run(read_statistics);
}

/* Calls on execs nobody has seen are counted without losing one. */
static void *update_unseen(void *unused)
{
    struct world_setter setter;

    world_setter(&setter, EXEC, NODE);
    for (int i = 0; i < STEPS; i++)
        world_send(state, &setter.update, true);
    return unused;
}

TEST(threads, unseen_execs_are_counted_exactly)
{
    pthread_t thread[THREADS];

    state = world_begin(VR_MODE_ON);
    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&thread[i], NULL, update_unseen, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_forwarded], THREADS * STEPS);
    T_EQ(world_totals(state).refusal[VR_REFUSAL_unseen_exec], THREADS * STEPS);
    world_end(state);
}

/* One exec, handed from thread to thread with a lock of the application's. */
static pthread_mutex_t app_lock = PTHREAD_MUTEX_INITIALIZER;

static void *update_shared(void *unused)
{
    struct world_setter setter;

    world_setter(&setter, EXEC, NODE);
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&app_lock);
        world_send(state, &setter.update, true);
        pthread_mutex_unlock(&app_lock);
    }
    return unused;
}

TEST(threads, one_exec_handed_around)
{
    pthread_t thread[THREADS];

    state = world_begin(VR_MODE_ON);
    world_born(state, EXEC, GRAPH);
    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&thread[i], NULL, update_shared, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_forwarded], 1);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_elided], THREADS * STEPS - 1);
    world_end(state);
}
