/* effects_exec.c: calls on an exec, from its instantiation to its end: classes BIRTH, SETTER, NODE,
 * CHILD, UPDATE, LAUNCH and DEATH of shim/effects.h, and RESOLVE, by which they are found. A row
 * makes the call between setters that show what is known of the exec, and says what the statistics
 * must count. */
#include "tests/shim/progs/effects.h"

static struct rig rig;

#define KERNEL_SETTER "cuGraphExecKernelNodeSetParams_v2"
#define PROFILE       4 /* launches that a profile takes (VAREMAP_PROFILE_LAUNCHES) */

static CUresult kernel(int which)
{
    return set_kernel(&rig, rig.exec, rig.kernel[which]);
}

/* ---- found by name ---- */

typedef CUresult (*launch)(CUgraphExec, CUstream);

/* What the linker finds, too. */
static void found(CUresult result, const void *function)
{
    launch linked = cuGraphLaunch;

    answer(result);
    printf("the linked one %d\n", !memcmp(&linked, &function, sizeof function));
}

static void run_cuGetProcAddress(void)
{
    void *function = NULL;
    CUresult result = cuGetProcAddress("cuGraphLaunch", &function, 12000, 0);

    found(result, function);
}

static void run_cuGetProcAddress_v2(void)
{
    void *function = NULL;
    CUresult result = cuGetProcAddress_v2("cuGraphLaunch", &function, 12000, 0, NULL);

    found(result, function);
}

/* ---- instantiate ---- */

/* An exec for launch from the device may have kernel nodes only. */
static CUgraph one_kernel(CUgraphNode *node)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig.store, args);
    CUgraph graph;

    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddKernelNode_v2(node, graph, NULL, 0, &params));
    return graph;
}

/* Its second setter is answered, unless it may be launched from the device. */
#define BIRTHS(X)                                                                                  \
    X(cuGraphInstantiate, 1, cuGraphInstantiate(&exec, graph, NULL, NULL, 0))                      \
    X(cuGraphInstantiate_v2, 1, cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0))                \
    X(cuGraphInstantiateWithFlags, 1, cuGraphInstantiateWithFlags(&exec, graph, 0))                \
    X(cuGraphInstantiateWithParams, 1, cuGraphInstantiateWithParams(&exec, graph, with_flags(0)))  \
    X(cuGraphInstantiateWithParams_ptsz, 1,                                                        \
      cuGraphInstantiateWithParams_ptsz(&exec, graph, with_flags(0)))                              \
    X(device_launch_flags, 2,                                                                      \
      cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))        \
    X(device_launch_params, 2,                                                                     \
      cuGraphInstantiateWithParams(&exec, graph,                                                   \
                                   with_flags(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)))         \
    X(device_launch_params_ptsz, 2,                                                                \
      cuGraphInstantiateWithParams_ptsz(&exec, graph,                                              \
                                        with_flags(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)))

#define X(symbol, arriving, call)                                                                  \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        CUgraphNode node;                                                                          \
        CUgraph graph = one_kernel(&node);                                                         \
        CUgraphExec exec;                                                                          \
                                                                                                   \
        MUST(call);                                                                                \
        MUST(set_kernel(&rig, exec, node));                                                        \
        MUST(set_kernel(&rig, exec, node));                                                        \
        reach(KERNEL_SETTER, arriving);                                                            \
        counted("execs.seen", 2);                                                                  \
    }
BIRTHS(X)
#undef X

/* ---- setters that are answered ---- */

#define SETTERS(X)                                                                                 \
    X(cuGraphExecKernelNodeSetParams, rig.kernel[0],                                               \
      (const CUDA_KERNEL_NODE_PARAMS_v1 *)kernel_params(&rig, rig.store))                          \
    X(cuGraphExecKernelNodeSetParams_v2, rig.kernel[0], kernel_params(&rig, rig.store))            \
    X(cuGraphExecNodeSetParams, rig.kernel[0], node_params(&rig, rig.store))                       \
    X(cuGraphExecMemcpyNodeSetParams, rig.memcpy, &rig.copy, rig.context)                          \
    X(cuGraphExecMemsetNodeSetParams, rig.memset, &rig.fill, rig.context)

#define X(symbol, ...)                                                                             \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        MUST(symbol(rig.exec, __VA_ARGS__));                                                       \
        MUST(symbol(rig.exec, __VA_ARGS__));                                                       \
        reach(#symbol, 1);                                                                         \
        counted("calls.updates", 2);                                                               \
        counted("calls.updates_elided", 1);                                                        \
    }
SETTERS(X)
#undef X

/* ---- other updates of one node ---- */

/* `change` is called for a node of the kind that it is for, or one without a record, and for a
 * kernel node: of the kernel nodes, only the one that it named last is in doubt, even if it was
 * refused. */
static void other_update(const char *name, CUgraphNode node, CUresult (*change)(CUgraphNode))
{
    unsigned failed = 0;

    MUST(cuGraphExecDestroy(rig.exec));
    MUST(cuGraphInstantiateWithFlags(&rig.exec, rig.graph, 0));
    for (int round = 0; round < 3; round++) {
        CUresult result;

        MUST(kernel(0));
        MUST(kernel(1));
        if (round == 2)
            break;
        result = change(round ? rig.kernel[0] : node);
        answer(result);
        failed += result != CUDA_SUCCESS;
    }
    reach(KERNEL_SETTER, 3);
    reach(name, 2);
    counted("calls.updates", 8);
    counted("calls.updates_failed", failed);
}

#define UPDATES(X)                                                                                 \
    X(cuGraphExecHostNodeSetParams, rig.host, &rig.call)                                           \
    X(cuGraphExecChildGraphNodeSetParams, rig.child, rig.inner)                                    \
    X(cuGraphExecEventRecordNodeSetEvent, record_node(&rig), new_event())                          \
    X(cuGraphExecEventWaitNodeSetEvent, wait_node(&rig), new_event())                              \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams, rig.empty,                                 \
      &(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS){NULL})                                                    \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams, rig.empty,                                   \
      &(CUDA_EXT_SEM_WAIT_NODE_PARAMS){NULL})                                                      \
    X(cuGraphExecBatchMemOpNodeSetParams, batch_node(&rig), batch(&rig))                           \
    X(cuGraphNodeSetEnabled, rig.memset, 0)

#define X(symbol, own, ...)                                                                        \
    static CUresult change_##symbol(CUgraphNode node)                                              \
    {                                                                                              \
        return symbol(rig.exec, node, __VA_ARGS__);                                                \
    }                                                                                              \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        other_update(#symbol, own, change_##symbol);                                               \
    }
UPDATES(X)
#undef X

/* ---- ExecUpdate ---- */

static CUgraphNode culprit;
static CUgraphExecUpdateResult why;
static CUgraphExecUpdateResultInfo info;

/* After it all records are in doubt, and the profile waits for the next setter. */
#define EXEC_UPDATES(X)                                                                            \
    X(cuGraphExecUpdate, &culprit, &why)                                                           \
    X(cuGraphExecUpdate_v2, &info)

#define X(symbol, ...)                                                                             \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        MUST(kernel(0));                                                                           \
        MUST(kernel(1));                                                                           \
        MUST(symbol(rig.exec, rig.graph, __VA_ARGS__));                                            \
        MUST(kernel(0));                                                                           \
        MUST(kernel(1));                                                                           \
        reach(KERNEL_SETTER, 4);                                                                   \
        reach(#symbol, 1);                                                                         \
        counted("calls.updates", 5);                                                               \
        counted("execs.profiling", 1);                                                             \
    }                                                                                              \
    static void run_suspended_##symbol(void)                                                       \
    {                                                                                              \
        MUST(kernel(0));                                                                           \
        MUST(symbol(rig.exec, rig.graph, __VA_ARGS__));                                            \
        counted("execs.disabled", 1);                                                              \
    }
EXEC_UPDATES(X)
#undef X

/* ---- launch ---- */

static void launches(const char *name, launch function, CUstream stream)
{
    MUST(kernel(0));
    for (int i = 0; i < PROFILE; i++)
        MUST(function(rig.exec, stream));
    MUST(cuCtxSynchronize());
    answer(function(NULL, stream));
    reach(name, PROFILE + 1);
    counted("calls.launches", PROFILE);
    counted("calls.launches_failed", 1);
    counted("execs.profiling", 0);
    counted("execs.disabled", 1);
}

static void run_cuGraphLaunch(void)
{
    launches("cuGraphLaunch", cuGraphLaunch, NULL);
}

static void run_cuGraphLaunch_ptsz(void)
{
    launches("cuGraphLaunch_ptsz", cuGraphLaunch_ptsz, NULL);
}

/* ---- destroy ---- */

static void run_cuGraphExecDestroy(void)
{
    CUgraphExec another;

    MUST(kernel(0));
    MUST(cuGraphInstantiateWithFlags(&another, rig.graph, 0));
    MUST(cuGraphExecDestroy(rig.exec));
    counted("execs.seen", 2);
    counted("execs.profiling", 1);
}

/* Refused by the driver (FAKEVMM_FAULT): the exec lives on, its records in doubt. */
static void run_destroy_refused(void)
{
    MUST(kernel(0));
    printf("destroyed %d\n", cuGraphExecDestroy(rig.exec) == CUDA_SUCCESS);
    MUST(kernel(0));
    MUST(kernel(0));
    reach(KERNEL_SETTER, 2);
    counted("execs.profiling", 1);
}

#define OTHERS(X)                                                                                  \
    X(cuGetProcAddress)                                                                            \
    X(cuGetProcAddress_v2)                                                                         \
    X(suspended_cuGraphExecUpdate)                                                                 \
    X(suspended_cuGraphExecUpdate_v2)                                                              \
    X(cuGraphLaunch)                                                                               \
    X(cuGraphLaunch_ptsz)                                                                          \
    X(cuGraphExecDestroy)                                                                          \
    X(destroy_refused)

static const struct row rows[] = {BIRTHS(EFFECT_ROW) SETTERS(EFFECT_ROW) UPDATES(EFFECT_ROW)
                                      EXEC_UPDATES(EFFECT_ROW) OTHERS(EFFECT_ROW)};

int main(int argc, char **argv)
{
    return run_row(rows, COUNT_OF(rows), &rig, argc, argv);
}
