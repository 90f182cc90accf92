/* scratch.c: what one operation of a lane makes and lets go again: memory, kernels on it, a second
 * stream and its order with the first. */
#include "tests/random/lane.h"

void lane_count(struct lane *lane, uint64_t number)
{
    lane_observe(lane, &number, sizeof number);
}

/* ---- memory ---- */

CUdeviceptr scratch_new(struct lane *lane, size_t bytes, unsigned value)
{
    CUdeviceptr at;

    MUST(cuMemAlloc_v2(&at, bytes));
    MUST(cuMemsetD32Async(at, value, bytes / sizeof(uint32_t), lane->stream));
    return at;
}

void scratch_free(struct lane *lane, CUdeviceptr at)
{
    lane_answer(lane, cuMemFree_v2(at));
}

void scratch_see(struct lane *lane, CUdeviceptr at, size_t bytes)
{
    char host[SCRATCH_SEEN] = {0};

    lane_answer(lane, cuMemcpyDtoHAsync_v2(host, at, bytes, lane->stream));
    lane_answer(lane, cuStreamSynchronize(lane->stream));
    lane_observe(lane, host, bytes);
}

/* ---- kernels ---- */

CUDA_KERNEL_NODE_PARAMS_v2 scratch_step(struct lane *lane, struct resend_args *args,
                                        void *values[10], CUdeviceptr out, CUdeviceptr in)
{
    const struct app_reach reach = {.touched = APP_TOUCHED, .stride = 1, .last = APP_TOUCHED - 1};
    const uint64_t buffers[3] = {in, in, out};
    uint64_t fixed = 9;

    resend_start(args, 0, buffers, &reach, &fixed);
    args->add = (uint32_t)lane_draw(lane, 3);
    return lane_params(lane, args, values);
}

void scratch_launch(struct lane *lane, CUstream stream, CUdeviceptr out, CUdeviceptr in)
{
    struct resend_args args;
    void *values[10];

    scratch_step(lane, &args, values, out, in);
    lane_answer(lane, cuLaunchKernel(lane->world->kernel, RESEND_GRID, 1, 1, RESEND_BLOCK, 1, 1, 0,
                                     stream, values, NULL));
}

/* ---- streams ---- */

CUstream scratch_stream(void)
{
    CUstream stream;

    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

void scratch_order(CUstream before, CUstream behind)
{
    CUevent event;

    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventRecord(event, before));
    MUST(cuStreamWaitEvent(behind, event, 0));
    MUST(cuEventDestroy_v2(event));
}
