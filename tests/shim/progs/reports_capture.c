/* reports_capture.c: the rows of reports.c about stream captures: what is done to graphs while a
 * stream is being captured, by the capturing thread and by another one, for each mode of capture.
 * The capture must live or break exactly as it does without the library.
 *
 *   reports_capture ROW | --rows */
#include "tests/shim/progs/reports.h"
#include "tests/shim/progs/warm.h"

#include <pthread.h>

static struct rig rig;
static CUstream other; /* does not capture, and does not wait for the legacy stream */
static struct rig unseen;
static CUgraph twin; /* a clone of the rig's graph */

/* ---- what is done meanwhile ---- */

static CUresult setter_equal(void)
{
    return rig_setter(&rig);
}

static CUresult setter_different(void)
{
    rig.a++;
    return rig_setter(&rig);
}

/* The first one of a function that nobody has asked the driver about yet. */
static CUresult setter_unseen(void)
{
    return rig_setter(&unseen);
}

static CUresult copy_equal(void)
{
    return cuGraphExecMemcpyNodeSetParams(rig.exec, rig.memcpy, &rig.copy, rig.context);
}

static CUresult copy_different(void)
{
    rig.copy.srcXInBytes ^= 4;
    return copy_equal();
}

static CUresult fill_different(void)
{
    rig.fill.value++;
    return cuGraphExecMemsetNodeSetParams(rig.exec, rig.memset, &rig.fill, rig.context);
}

static CUresult generic(void)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};

    params.memcpy.copyCtx = rig.context;
    params.memcpy.copyParams = rig.copy;
    return cuGraphExecNodeSetParams(rig.exec, rig.memcpy, &params);
}

static CUresult child(void)
{
    return cuGraphExecChildGraphNodeSetParams(rig.exec, rig.child, rig.inner);
}

static CUresult disabled(void)
{
    return cuGraphNodeSetEnabled(rig.exec, rig.kernel[1], 0);
}

static CUresult updated(void)
{
    CUgraphExecUpdateResultInfo info;

    return cuGraphExecUpdate_v2(rig.exec, twin, &info);
}

static CUresult instantiated(void)
{
    CUgraphExec exec;
    CUresult result = cuGraphInstantiateWithFlags(&exec, rig.graph, 0);

    return result == CUDA_SUCCESS ? cuGraphExecDestroy(exec) : result;
}

static CUresult launched(void)
{
    return cuGraphLaunch(rig.exec, other);
}

/* The control: not ours to do. */
static CUresult legacy(void)
{
    return cuGraphLaunch(rig.exec, NULL);
}

/* Of a size that the library places and keeps. */
static CUresult allocated(void)
{
    CUdeviceptr memory;
    CUresult result = cuMemAlloc_v2(&memory, 65536);

    return result == CUDA_SUCCESS ? cuMemFree_v2(memory) : result;
}

static const struct action {
    const char *name;
    CUresult (*run)(void);
} actions[] = {
    {"setter_equal", setter_equal},
    {"setter_different", setter_different},
    {"setter_unseen", setter_unseen},
    {"copy_equal", copy_equal},
    {"copy_different", copy_different},
    {"fill_different", fill_different},
    {"generic", generic},
    {"child", child},
    {"disabled", disabled},
    {"updated", updated},
    {"instantiated", instantiated},
    {"launched", launched},
    {"allocated", allocated},
    {"legacy", legacy},
};

/* ---- captures ---- */

struct call {
    CUresult (*run)(void);
    CUresult result;
};

static void *make_call(void *argument)
{
    struct call *call = argument;

    MUST(cuCtxSetCurrent(rig.context));
    call->result = call->run();
    return NULL;
}

static void make_call_elsewhere(struct call *call)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, make_call, call) || pthread_join(thread, NULL))
        fail("no thread", 0);
}

/* A kernel is captured before the action and one after it. */
static CUresult capture_around(CUstream stream, CUstreamCaptureMode mode, bool elsewhere,
                               const struct action *action)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    struct call call = {.run = action->run};
    CUresult launch, end;
    CUgraph graph = NULL;
    size_t nodes = 0;

    MUST(cuStreamBeginCapture_v2(stream, mode));
    MUST(cuLaunchKernel(rig.store, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    if (elsewhere)
        make_call_elsewhere(&call);
    else
        make_call(&call);
    launch = cuLaunchKernel(rig.store, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
    end = cuStreamEndCapture(stream, &graph);
    if (end == CUDA_SUCCESS && graph) {
        MUST(cuGraphGetNodes(graph, NULL, &nodes));
        MUST(cuGraphDestroy(graph));
    }
    printf("%s %d, launch %d, capture %d, nodes %zu\n", action->name, (int)call.result, //
           (int)launch, (int)end, nodes);
    return end;
}

/* A module and an exec that the library has not seen a setter of. */
static void renew_unseen(void)
{
    if (unseen.exec)
        MUST(cuGraphExecDestroy(unseen.exec));
    else
        unseen = rig;
    rig_load(&unseen);
    MUST(cuGraphInstantiateWithFlags(&unseen.exec, rig.graph, 0));
}

/* Returns how many captures the control broke. */
static unsigned capture_all(unsigned stream_flags)
{
    static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                                CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                CU_STREAM_CAPTURE_MODE_RELAXED};
    static const size_t sizes[] = {65536};
    unsigned broken = 0;
    CUstream stream;
    CUresult end;

    MUST(cuStreamCreate(&stream, stream_flags));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuGraphClone(&twin, rig.graph));
    warm_up(&rig, sizes, COUNT_OF(sizes));
    for (size_t m = 0; m < COUNT_OF(modes); m++)
        for (int elsewhere = 0; elsewhere < 2; elsewhere++)
            for (size_t a = 0; a < COUNT_OF(actions); a++) {
                renew_unseen();
                printf("mode %d, %s thread: ", (int)modes[m], elsewhere ? "another" : "the same");
                end = capture_around(stream, modes[m], elsewhere, &actions[a]);
                if (actions[a].run == legacy)
                    broken += end != CUDA_SUCCESS;
                MUST(cuCtxSynchronize());
            }
    return broken;
}

static void B17_updates_during_a_capture(void)
{
    capture_all(CU_STREAM_NON_BLOCKING);
}

/* Any work on the legacy stream would break the capture of such a stream. */
static void B30_nothing_on_the_legacy_stream(void)
{
    if (!capture_all(CU_STREAM_DEFAULT))
        fail("nobody would notice", 0);
}

/* ---- B29: the order of captured nodes is part of their graph ---- */

/* A fork of `branches` streams, each with a kernel of its own value, in the order given. */
static CUgraph capture_fork(CUstream *streams, const int *order, int branches)
{
    CUevent fork, join[3];
    CUgraph graph;

    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuStreamBeginCapture_v2(streams[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    MUST(cuEventRecord(fork, streams[0]));
    for (int i = 0; i < branches; i++) {
        unsigned value = 10u + (unsigned)order[i];
        CUdeviceptr place = rig.buffer + 8 * (CUdeviceptr)order[i];
        void *args[] = {&place, &value, &rig.b};
        CUstream stream = streams[order[i]];

        if (order[i])
            MUST(cuStreamWaitEvent(stream, fork, 0));
        for (int k = 0; k <= order[i]; k++) /* so that the branches differ in length */
            MUST(cuLaunchKernel(rig.store, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    }
    for (int i = 1; i < branches; i++) {
        MUST(cuEventCreate(&join[i], CU_EVENT_DISABLE_TIMING));
        MUST(cuEventRecord(join[i], streams[i]));
        MUST(cuStreamWaitEvent(streams[0], join[i], 0));
        MUST(cuEventDestroy_v2(join[i]));
    }
    MUST(cuStreamEndCapture(streams[0], &graph));
    MUST(cuEventDestroy_v2(fork));
    return graph;
}

static void B29_order_of_captured_nodes(void)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 1, 2}};
    CUstream streams[3];
    CUgraphExec exec = NULL;

    for (int i = 0; i < 3; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
        CUgraph graph = capture_fork(streams, orders[i], 3);

        if (!exec)
            MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
        printf("update %d", (int)cuGraphExecUpdate_v2(exec, graph, &info));
        printf(" because %d\n", (int)info.result);
        MUST(cuGraphDestroy(graph));
    }
    reach("cuGraphExecUpdate_v2", COUNT_OF(orders));
}

static const struct row rows[] = {
    ROW(B17_updates_during_a_capture),
    ROW(B29_order_of_captured_nodes),
    ROW(B30_nothing_on_the_legacy_stream),
};

int main(int argc, char **argv)
{
    return run_row(rows, COUNT_OF(rows), &rig, argc, argv);
}
