/* capture_shape.c: captures as far as they are more than a list of work: into a graph that exists,
 * with edges that are set by hand, with memory that the graph then allocates, relaxed ones during
 * which the program goes on, and those that end badly. No capture is of the mode that other threads
 * could disturb. */
#include "tests/random/lane.h"

#define BYTES 2048

/* Half of `memory` is the captured stream's, the other half its fork's. */
struct taken {
    CUdeviceptr memory;
    bool copies; /* then its size is one that no other buffer has: libvaremap leaves it */
    CUgraph graph;
};

static void work_at(struct lane *lane, const struct taken *taken, CUstream stream, CUdeviceptr at)
{
    switch (lane_draw(lane, taken->copies ? 4 : 3)) {
    case 0:
        lane_answer(lane, cuMemsetD32Async(at, (unsigned)lane_draw(lane, 50), 8, stream));
        break;
    case 1: lane_answer(lane, cuStreamWriteValue32_v2(stream, at, 7, 0)); break;
    case 3: lane_answer(lane, cuMemcpyDtoDAsync_v2(at, at + SCRATCH_STEP, 128, stream)); break;
    default: scratch_launch(lane, stream, at, at + SCRATCH_STEP); break;
    }
}

static void work(struct lane *lane, const struct taken *taken)
{
    work_at(lane, taken, lane->stream, taken->memory);
}

static CUstreamCaptureMode draw_mode(struct lane *lane)
{
    return lane_draw(lane, 2) ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                              : CU_STREAM_CAPTURE_MODE_RELAXED;
}

/* What the stream says about its capture. */
static void ask(struct lane *lane, CUstream stream)
{
    CUstreamCaptureStatus is = CU_STREAM_CAPTURE_STATUS_INVALIDATED, info = is;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    CUgraph graph = NULL;
    cuuint64_t id = 0;
    size_t count = 0;

    lane_answer(lane, cuStreamIsCapturing(stream, &is));
    if (lane_draw(lane, 2))
        lane_answer(lane, cuStreamGetCaptureInfo_v2(stream, &info, &id, &graph, &nodes, &count));
    else
        lane_answer(lane,
                    cuStreamGetCaptureInfo_v3(stream, &info, &id, &graph, &nodes, &data, &count));
    lane_count(lane, (uint64_t)is << 16 | (uint64_t)info << 8 | count);
    lane_count(lane, graph != NULL);
}

static void end(struct lane *lane, CUstream stream, struct taken *taken)
{
    size_t nodes = 0, edges = 0;

    lane_answer(lane, cuStreamEndCapture(stream, &taken->graph));
    lane_count(lane, taken->graph != NULL);
    if (!taken->graph)
        return;
    lane_answer(lane, cuGraphGetNodes(taken->graph, NULL, &nodes));
    lane_answer(lane, cuGraphGetEdges_v2(taken->graph, NULL, NULL, NULL, &edges));
    lane_count(lane, nodes << 8 | edges);
}

static void play(struct lane *lane, struct taken *taken)
{
    CUgraphExec exec = NULL;

    if (!taken->graph)
        return;
    MUST(cuGraphInstantiateWithFlags(&exec, taken->graph, 0));
    if (lane_draw(lane, 2)) {
        lane_answer(lane, cuGraphDestroy(taken->graph));
        taken->graph = NULL;
    }
    for (uint64_t i = 1 + lane_draw(lane, 2); i-- > 0;)
        lane_answer(lane, cuGraphLaunch(exec, lane->stream));
    scratch_see(lane, taken->memory, BYTES);
    lane_answer(lane, cuGraphExecDestroy(exec));
    if (taken->graph)
        lane_answer(lane, cuGraphDestroy(taken->graph));
}

/* ---- into a graph ---- */

static void into_play(struct lane *lane, struct taken *taken)
{
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {
        .dst = taken->memory, .value = 3, .elementSize = 4, .width = 8, .height = 1};
    CUgraphNode node;
    CUgraph graph;

    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, lane->world->context));
    lane_answer(lane,
                cuStreamBeginCaptureToGraph(lane->stream, graph, &node, NULL, 1, draw_mode(lane)));
    lane_answer(lane,
                cuStreamBeginCaptureToGraph(lane->stream, graph, &node, NULL, 1, draw_mode(lane)));
    ask(lane, lane->stream);
    for (uint64_t i = lane_draw(lane, 3); i-- > 0;)
        work(lane, taken);
    end(lane, lane->stream, taken);
    lane_count(lane, taken->graph == graph);
    taken->graph = graph;
}

/* ---- edges by hand ---- */

/* Adds a node to what is captured, behind all that was, and the stream goes on behind it. */
static void splice(struct lane *lane, CUdeviceptr at)
{
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes = NULL;
    struct resend_args args;
    void *values[10];
    CUDA_KERNEL_NODE_PARAMS_v2 step = scratch_step(lane, &args, values, at, at + SCRATCH_STEP);
    CUgraph graph;
    CUgraphNode node;
    cuuint64_t id;
    size_t count = 0;

    MUST(cuStreamGetCaptureInfo_v2(lane->stream, &status, &id, &graph, &nodes, &count));
    MUST(cuGraphAddKernelNode_v2(&node, graph, nodes, count, &step));
    if (lane_draw(lane, 2))
        lane_answer(lane, cuStreamUpdateCaptureDependencies_v2(
                              lane->stream, &node, NULL, 1,
                              lane_draw(lane, 2) ? CU_STREAM_SET_CAPTURE_DEPENDENCIES
                                                 : CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    else
        lane_answer(lane, cuStreamUpdateCaptureDependencies(
                              lane->stream, &node, 1,
                              lane_draw(lane, 2) ? CU_STREAM_SET_CAPTURE_DEPENDENCIES
                                                 : CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    lane_answer(lane, cuStreamUpdateCaptureDependencies_v2(lane->stream, &node, NULL, 1, 99));
}

static void edges_play(struct lane *lane, struct taken *taken)
{
    CUgraphNode none = NULL;

    MUST(cuStreamBeginCapture_v2(lane->stream, draw_mode(lane)));
    for (uint64_t i = 1 + lane_draw(lane, 3); i-- > 0;) {
        work(lane, taken);
        splice(lane, taken->memory);
        ask(lane, lane->stream);
    }
    work(lane, taken);
    end(lane, lane->stream, taken);
    lane_answer(lane, cuStreamUpdateCaptureDependencies_v2(lane->stream, &none, NULL, 0, 0));
}

/* ---- memory ---- */

/* The graph allocates and frees what the stream did. */
static void allocating_play(struct lane *lane, struct taken *taken)
{
    CUdeviceptr own = 0;

    MUST(cuStreamBeginCapture_v2(lane->stream, draw_mode(lane)));
    lane_answer(lane, cuMemAllocAsync(&own, BYTES, lane->stream));
    lane_answer(lane, cuMemsetD32Async(own, (unsigned)lane_draw(lane, 9), BYTES / 4, lane->stream));
    scratch_launch(lane, lane->stream, own, taken->memory);
    scratch_launch(lane, lane->stream, taken->memory, own);
    lane_answer(lane, cuMemFreeAsync(own, lane->stream));
    end(lane, lane->stream, taken);
}

/* The program allocates, writes and frees while it captures, as libraries do. */
static void relaxed_play(struct lane *lane, struct taken *taken)
{
    bool by_thread = lane_draw(lane, 2);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUdeviceptr kept = 0, brief = 0;

    MUST(cuStreamBeginCapture_v2(lane->stream, by_thread ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                                                         : CU_STREAM_CAPTURE_MODE_RELAXED));
    if (by_thread)
        MUST(cuThreadExchangeStreamCaptureMode(&mode));
    lane_answer(lane, cuMemAlloc_v2(&kept, BYTES));
    lane_answer(lane, cuMemAlloc_v2(&brief, 64));
    lane_answer(lane, cuMemsetD32_v2(kept, (unsigned)lane_draw(lane, 9), BYTES / 4));
    lane_answer(lane, cuMemcpyDtoH_v2(&(uint32_t){0}, kept, 4)); /* the fill is done */
    scratch_launch(lane, lane->stream, taken->memory, kept);
    lane_answer(lane, cuMemFree_v2(brief));
    work(lane, taken);
    if (by_thread)
        MUST(cuThreadExchangeStreamCaptureMode(&mode));
    end(lane, lane->stream, taken);
    play(lane, taken);
    taken->graph = NULL;
    lane_answer(lane, cuMemFree_v2(kept));
}

/* ---- graphs in captures ---- */

static void child_play(struct lane *lane, struct taken *taken)
{
    struct taken inner = {.memory = taken->memory, .copies = taken->copies};
    CUevent event;
    CUgraphExec exec;

    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    edges_play(lane, &inner);
    MUST(cuGraphInstantiateWithFlags(&exec, inner.graph, 0));
    MUST(cuStreamBeginCapture_v2(lane->stream, draw_mode(lane)));
    lane_answer(lane, cuEventRecordWithFlags(event, lane->stream, CU_EVENT_RECORD_EXTERNAL));
    lane_answer(lane, cuGraphLaunch(exec, lane->stream));
    lane_answer(lane, cuStreamWaitEvent(lane->stream, event, CU_EVENT_WAIT_EXTERNAL));
    work(lane, taken);
    ask(lane, lane->stream);
    end(lane, lane->stream, taken);
    lane_answer(lane, cuGraphExecDestroy(exec));
    lane_answer(lane, cuGraphDestroy(inner.graph));
    play(lane, taken);
    taken->graph = NULL;
    lane_answer(lane, cuEventDestroy_v2(event));
}

/* ---- bad ends ---- */

static void fork_and_end(struct lane *lane, struct taken *taken, CUstream fork)
{
    switch (lane_draw(lane, 4)) {
    case 0:
        lane_answer(lane, cuStreamEndCapture(fork, &taken->graph));
        break; /* did not begin it */
    case 1: lane_answer(lane, cuStreamQuery(fork)); break;
    case 2: lane_answer(lane, cuStreamSynchronize(lane->stream)); break;
    default: break; /* never joined */
    }
    ask(lane, lane->stream);
    work(lane, taken);
}

static void bad_play(struct lane *lane, struct taken *taken)
{
    CUstream fork = scratch_stream();

    lane_answer(lane, cuStreamEndCapture(lane->stream, &taken->graph)); /* none */
    lane_answer(lane, cuStreamBeginCapture_v2(lane->stream, (CUstreamCaptureMode)9));
    MUST(cuStreamBeginCapture_v2(lane->stream, draw_mode(lane)));
    lane_answer(lane, cuStreamBeginCapture_v2(lane->stream, draw_mode(lane)));
    work(lane, taken);
    scratch_order(lane->stream, fork);
    work_at(lane, taken, fork, taken->memory + BYTES / 2);
    ask(lane, fork);
    fork_and_end(lane, taken, fork);
    taken->graph = NULL;
    end(lane, lane->stream, taken);
    ask(lane, fork);
    lane_answer(lane, cuStreamDestroy_v2(fork));
}

void capture_shape_play(struct lane *lane)
{
    struct taken taken = {.copies = lane_draw(lane, 2)};

    taken.memory = scratch_new(lane, BYTES + (taken.copies ? 32 : 0), 2);
    switch (lane_draw(lane, 7)) {
    case 0:
    case 1: into_play(lane, &taken); break;
    case 2: edges_play(lane, &taken); break;
    case 3: allocating_play(lane, &taken); break;
    case 4: relaxed_play(lane, &taken); break;
    case 5: child_play(lane, &taken); break;
    default: bad_play(lane, &taken); break;
    }
    play(lane, &taken);
    scratch_see(lane, taken.memory, BYTES);
    scratch_free(lane, taken.memory);
}
