/* core_oom.c: every allocation fails once. A script that uses all of core/ runs again and again,
 * its nth allocation failing, until none fails: whatever happens, the answer is to forward, never a
 * wrong "answered", and the invariants hold. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/unit/core_setters.h"

enum { EXECS = 3, NODES = 40, CODES = 3 };

/* What the driver holds for each node: the oracle for "answered". */
static uint64_t driver_holds[EXECS][NODES];

static void step(struct vr_state *state, int exec, int node, uint64_t value)
{
    static const vr_handle codes[CODES] = {CODE_EIGHT, CODE_MIXED, CODE_NONE};
    struct world_setter setter;
    uint64_t says = value * CODES + (uint64_t)node % CODES + 1;

    world_setter(&setter, EXEC + (vr_handle)exec * 64, NODE + (vr_handle)node * 64);
    setter.value[0] = value;
    setter.update.geometry.shared_bytes =
        (uint32_t)value; /* so that each kernel can tell values apart */
    setter.update.code.handle = codes[node % CODES] + 0x1000 * (vr_handle)(node / CODES);
    if (setter.update.code.handle % 16 == CODE_NONE % 16)
        setter.update.params = NULL;
    if (world_send(state, &setter.update, true))
        T_EQ(driver_holds[exec][node], says);
    driver_holds[exec][node] = says;
}

static void all_steps(struct vr_state *state, uint64_t value)
{
    for (int exec = 0; exec < EXECS; exec++)
        for (int node = 0; node < NODES; node++)
            step(state, exec, node, value);
}

static void script(struct vr_state *state)
{
    memset(driver_holds, 0, sizeof driver_holds);
    for (int exec = 0; exec < EXECS; exec++)
        world_born(state, EXEC + (vr_handle)exec * 64, GRAPH);
    all_steps(state, 1);
    all_steps(state, 1);
    vr_code_changed(state);
    all_steps(state, 1);
    all_steps(state, 2);
    vr_exec_restore(state, vr_exec_retire(state, EXEC));
    vr_exec_changed(state, EXEC + 64, 0, VR_CHANGE_GRAPH, true);
    world_born(state, EXEC + 128, GRAPH_B);
    memset(driver_holds, 0, sizeof driver_holds);
    all_steps(state, 2);
    all_steps(state, 2);
    vr_launch_told(state, EXEC, true);
    for (int exec = 0; exec < EXECS; exec++)
        world_died(state, EXEC + (vr_handle)exec * 64);
}

TEST(oom, every_allocation_fails_once)
{
    uint64_t nth = 0, left;

    do {
        struct vr_state *state = world_begin(VR_MODE_ON);
        state->heap.fail_at = ++nth;
        script(state);
        left = state->heap.fail_at;
        T_EQ(world_totals(state).counter[VR_COUNT_updates_elided] +
                 world_totals(state).counter[VR_COUNT_updates_forwarded],
             6 * EXECS * NODES + 1);
        world_end(state);
    } while (left == 0);
    T_GT(nth, EXECS * NODES);
}

/* As above, and everything after it fails too. */
TEST(oom, memory_never_comes_back)
{
    struct vr_state *state = world_begin(VR_MODE_ON);

    world_born(state, EXEC, GRAPH);
    for (int i = 0; i < 50; i++) {
        state->heap.fail_at = 1;
        step(state, 0, 0, 1);
        state->heap.fail_at = 1;
        world_born(state, EXEC_B, GRAPH);
    }
    T_EQ(world_totals(state).counter[VR_COUNT_updates_elided], 0);
    T_GE(world_totals(state).refusal[VR_REFUSAL_no_memory], 100);
    state->heap.fail_at = 0;
    step(state, 0, 0, 1);
    step(state, 0, 0, 1);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_elided], 1);
    world_end(state);
}

TEST(oom, no_memory_for_the_state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    T_SKIP("sanitizers need address space themselves");
#else
    struct rlimit before, none = {0};
    struct vr_options options;
    struct vr_state *state;
    void *probe;

    vr_options_read(&options, world_no_variables, "test");
    T_EQ(getrlimit(RLIMIT_AS, &before), 0);
    none.rlim_max = before.rlim_max;
    T_EQ(setrlimit(RLIMIT_AS, &none), 0);
    probe = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    state = vr_state_new(&world_ops, &options);
    setrlimit(RLIMIT_AS, &before);
    if (probe != MAP_FAILED)
        T_SKIP("address space is not limited here: qemu-user leaves it to the host");
    T_NULL(state);
#endif
}
