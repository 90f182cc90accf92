/* captured.c: a lane captures what it would do otherwise: kernels, copies, fills, a host function,
 * on its stream and on one that forks from it and joins again; then updates or makes an exec from
 * the graph, launches it, and lets everything go in any order. */
#include "tests/random/lane.h"

static void count(void *data)
{
    ++*(uint64_t *)data;
}

static void kernel(struct lane *lane, CUstream stream, unsigned to)
{
    const struct app_reach reach = {.touched = APP_TOUCHED, .stride = 1, .last = APP_TOUCHED - 1};
    const CUdeviceptr *cell = lane->mixed.cell;
    const uint64_t buffers[3] = {cell[(to + 1) % CELLS], cell[(to + 1) % CELLS], cell[to]};
    struct resend_args args;
    uint64_t fixed = 5;
    void *values[10];

    resend_start(&args, 0, buffers, &reach, &fixed);
    args.add = (uint32_t)lane_draw(lane, 3);
    lane_params(lane, &args, values);
    lane_answer(lane, cuLaunchKernel(lane->world->kernel, RESEND_GRID, 1, 1, RESEND_BLOCK, 1, 1, 0,
                                     stream, values, NULL));
}

static void one(struct lane *lane, CUstream stream, unsigned to)
{
    const CUdeviceptr *cell = lane->mixed.cell;

    switch (lane_draw(lane, 4)) {
    case 0: kernel(lane, stream, to); break;
    case 1: lane_answer(lane, cuMemsetD32Async(cell[to], 3, 8, stream)); break;
    case 2:
        lane_answer(lane, cuMemcpyDtoDAsync_v2(cell[to], cell[(to + 1) % CELLS], 64, stream));
        break;
    default: lane_answer(lane, cuMemcpyDtoDAsync_v2(cell[to] + 64, cell[to], 32, stream)); break;
    }
}

/* Cells 0 and 1 are the stream's, 2 and 3 the fork's: what runs beside each other never meets. */
static CUgraph capture(struct lane *lane, CUstream fork, const CUevent event[2])
{
    CUgraph graph = NULL;
    CUresult begun = cuStreamBeginCapture_v2(lane->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    uint64_t before = lane_draw(lane, 3);
    bool forks = lane_draw(lane, 2);

    lane_answer(lane, begun);
    while (before-- > 0)
        one(lane, lane->stream, 0);
    if (forks) {
        MUST(cuEventRecord(event[0], lane->stream));
        MUST(cuStreamWaitEvent(fork, event[0], 0));
        one(lane, fork, 2);
        MUST(cuEventRecord(event[1], fork));
    }
    one(lane, lane->stream, 0);
    if (forks)
        MUST(cuStreamWaitEvent(lane->stream, event[1], 0));
    if (lane_draw(lane, 2))
        MUST(cuLaunchHostFunc(lane->stream, count, &lane->host_calls));
    lane_answer(lane, cuStreamEndCapture(lane->stream, &graph));
    return graph;
}

/* What a capture does not allow; the driver ends it. */
static void spoil(struct lane *lane)
{
    CUgraph graph = NULL;

    lane_answer(lane, cuStreamBeginCapture_v2(lane->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    lane_answer(lane, cuStreamSynchronize(lane->stream));
    lane_answer(lane, cuStreamEndCapture(lane->stream, &graph));
    lane_observe(lane, &(bool){graph != NULL}, 1);
    if (graph)
        MUST(cuGraphDestroy(graph));
}

void captured_play(struct lane *lane)
{
    CUgraphExecUpdateResultInfo info;
    CUgraph first, second;
    CUgraphExec exec;
    CUevent event[2];
    CUstream fork;
    bool early;

    if (lane_draw(lane, 6) == 0) {
        spoil(lane);
        return;
    }
    MUST(cuStreamCreate(&fork, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        MUST(cuEventCreate(&event[i], CU_EVENT_DISABLE_TIMING));
    first = capture(lane, fork, event);
    MUST(cuGraphInstantiateWithFlags(&exec, first, 0));
    lane_answer(lane, cuGraphLaunch(exec, lane->stream));
    second = capture(lane, fork, event);
    early = lane_draw(lane, 2);
    if (early)
        MUST(cuGraphDestroy(first));
    lane_answer(lane, cuGraphExecUpdate_v2(exec, second, &info));
    lane_observe(lane, &info.result, sizeof info.result);
    lane_answer(lane, cuGraphLaunch(exec, lane->stream));
    if (lane_draw(lane, 2))
        MUST(cuStreamSynchronize(lane->stream));
    lane_answer(lane, cuGraphExecDestroy(exec));
    lane_answer(lane, cuGraphDestroy(second));
    if (!early)
        lane_answer(lane, cuGraphDestroy(first));
    lane_answer(lane, cuStreamDestroy_v2(fork));
    for (int i = 0; i < 2; i++)
        lane_answer(lane, cuEventDestroy_v2(event[i]));
    MUST(cuStreamSynchronize(lane->stream));
    lane_observe(lane, &lane->host_calls, sizeof lane->host_calls);
}
