/* streams.c: a second stream of a lane: its order with the first by events and by values in memory,
 * its end with work still in it, callbacks, and what streams, events and contexts say about
 * themselves. Nothing is asked whose answer depends on the moment. */
#include "tests/random/lane.h"

#define FLAG_BYTES 256

/* ---- values in memory ---- */

static CUstreamBatchMemOpParams write_op(CUdeviceptr at, unsigned value)
{
    return (CUstreamBatchMemOpParams){.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                                                     .address = at,
                                                     .value = value}};
}

static CUstreamBatchMemOpParams wait_op(CUdeviceptr at, unsigned value)
{
    return (CUstreamBatchMemOpParams){.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                                                    .address = at,
                                                    .value = value,
                                                    .flags = CU_STREAM_WAIT_VALUE_EQ}};
}

static void signal_value(struct lane *lane, CUstream stream, CUdeviceptr flag, unsigned value)
{
    CUstreamBatchMemOpParams ops[2] = {write_op(flag + 64, value), write_op(flag, value)};

    switch (lane_draw(lane, 3)) {
    case 0: MUST(cuStreamWriteValue64_v2(stream, flag, value, 0)); break;
    case 1: MUST(cuStreamBatchMemOp_v2(stream, 2, ops, 0)); break;
    default: MUST(cuStreamWriteValue32_v2(stream, flag, value, 0)); break;
    }
}

static void await_value(struct lane *lane, CUstream stream, CUdeviceptr flag, unsigned value)
{
    CUstreamBatchMemOpParams ops[2] = {wait_op(flag, value), write_op(flag + 128, value)};

    switch (lane_draw(lane, 3)) {
    case 0: MUST(cuStreamWaitValue64_v2(stream, flag, value, CU_STREAM_WAIT_VALUE_GEQ)); break;
    case 1: MUST(cuStreamBatchMemOp_v2(stream, 2, ops, 0)); break;
    default: MUST(cuStreamWaitValue32_v2(stream, flag, value, CU_STREAM_WAIT_VALUE_AND)); break;
    }
}

static void value_mistakes(struct lane *lane, CUdeviceptr flag)
{
    CUstreamBatchMemOpParams op = {.operation = (CUstreamBatchMemOpType)99};

    lane_answer(lane, cuStreamWriteValue32_v2(lane->stream, flag + 1, 1, 0));
    lane_answer(lane, cuStreamWaitValue32_v2(lane->stream, flag, 0, 99));
    lane_answer(lane, cuStreamBatchMemOp_v2(lane->stream, 1, &op, 0));
    lane_answer(lane, cuStreamBatchMemOp_v2(lane->stream, 1, NULL, 0));
}

/* The side works on a buffer, then the lane's stream does, then the side again; each waits for a
 * value that the other writes, and the waits are often there first. */
static void values_play(struct lane *lane, CUstream side)
{
    CUdeviceptr flag = scratch_new(lane, FLAG_BYTES, 0), data = scratch_new(lane, 512, 4);
    bool side_first = lane_draw(lane, 2);

    scratch_order(lane->stream, side);
    if (lane_draw(lane, 4) == 0)
        value_mistakes(lane, flag);
    if (side_first)
        await_value(lane, side, flag, 1);
    scratch_launch(lane, lane->stream, data, data + SCRATCH_STEP);
    signal_value(lane, lane->stream, flag, 1);
    if (!side_first)
        await_value(lane, side, flag, 1);
    scratch_launch(lane, side, data + SCRATCH_STEP, data);
    signal_value(lane, side, flag, 2);
    await_value(lane, lane->stream, flag, 2);
    scratch_launch(lane, lane->stream, data, data + SCRATCH_STEP);
    scratch_order(side, lane->stream);
    scratch_see(lane, flag, FLAG_BYTES);
    scratch_see(lane, data, 512);
    scratch_free(lane, flag);
    scratch_free(lane, data);
}

/* ---- events ---- */

/* The stream may be gone before its work is done; the event behind the work is not. */
static void events_play(struct lane *lane, CUstream *side)
{
    CUevent behind, timed[2];
    float elapsed = -1;
    CUdeviceptr data = scratch_new(lane, 512, 5);
    bool gone = lane_draw(lane, 2);

    MUST(cuEventCreate(&behind,
                       lane_draw(lane, 2) ? CU_EVENT_DISABLE_TIMING : CU_EVENT_BLOCKING_SYNC));
    for (int i = 0; i < 2; i++)
        MUST(cuEventCreate(&timed[i], CU_EVENT_DEFAULT));
    lane_answer(lane, cuEventElapsedTime_v2(&elapsed, timed[0], timed[1])); /* not recorded */
    lane_answer(lane, cuEventQuery(behind));
    scratch_order(lane->stream, *side);
    lane_answer(lane, cuEventRecordWithFlags(timed[0], *side, CU_EVENT_RECORD_DEFAULT));
    for (uint64_t i = lane_draw(lane, 4); i-- > 0;)
        scratch_launch(lane, *side, data, data + SCRATCH_STEP);
    lane_answer(lane, cuEventRecord(timed[1], *side));
    lane_answer(lane, cuEventRecord(behind, *side));
    if (lane_draw(lane, 2)) {
        lane_answer(lane, cuStreamDestroy_v2(*side));
        *side = scratch_stream();
    }
    lane_answer(lane, cuStreamWaitEvent(lane->stream, behind, 0));
    lane_answer(lane, cuStreamWaitEvent(lane->stream, behind, 99));
    lane_answer(lane, cuEventDestroy_v2(timed[gone])); /* with the work pending */
    scratch_see(lane, data, 512);
    lane_answer(lane, cuEventQuery(behind));
    lane_answer(lane, cuEventSynchronize(behind));
    lane_answer(lane, cuEventElapsedTime_v2(&elapsed, timed[!gone], timed[!gone]));
    lane_count(lane, elapsed == 0);
    lane_answer(lane, cuEventDestroy_v2(timed[!gone]));
    lane_answer(lane, cuEventDestroy_v2(behind));
    scratch_free(lane, data);
}

/* ---- callbacks ---- */

static void on_stream(CUstream stream, CUresult status, void *data)
{
    uint64_t *calls = data;

    *calls = *calls * 5 + (status == CUDA_SUCCESS);
}

static void on_host(void *data)
{
    uint64_t *calls = data;

    *calls = *calls * 5 + 2;
}

static void callbacks_play(struct lane *lane, CUstream side)
{
    uint64_t calls = 0;

    for (uint64_t i = 1 + lane_draw(lane, 4); i-- > 0;)
        if (lane_draw(lane, 2))
            lane_answer(lane, cuStreamAddCallback(side, on_stream, &calls, 0));
        else
            lane_answer(lane, cuLaunchHostFunc(side, on_host, &calls));
    lane_answer(lane, cuStreamAddCallback(side, on_stream, &calls, 1));
    lane_answer(lane, cuLaunchHostFunc(side, NULL, &calls));
    lane_answer(lane, cuStreamSynchronize(side));
    lane_count(lane, calls);
}

/* ---- what they say about themselves ---- */

static void attributes_play(struct lane *lane, CUstream side)
{
    CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_YIELD}, got = {0};

    lane_answer(lane,
                cuStreamSetAttribute(side, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    lane_answer(lane, cuStreamCopyAttributes(lane->stream, side));
    lane_answer(
        lane, cuStreamGetAttribute(lane->stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &got));
    lane_count(lane, got.syncPolicy);
    lane_answer(lane, cuStreamGetAttribute(side, CU_LAUNCH_ATTRIBUTE_IGNORE, &got));
}

static void priorities_play(struct lane *lane)
{
    int least = 0, greatest = 0, priority = 99;
    unsigned flags = 99;
    CUstream stream;

    MUST(cuCtxGetStreamPriorityRange(&least, &greatest));
    lane_count(lane, (uint64_t)(least - greatest));
    MUST(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING,
                                    greatest - 2 + (int)lane_draw(lane, 5)));
    lane_answer(lane, cuStreamGetPriority(stream, &priority));
    lane_count(lane, (uint64_t)priority);
    lane_answer(lane, cuStreamGetFlags(stream, &flags));
    lane_count(lane, flags);
    lane_answer(lane, cuStreamDestroy_v2(stream));
    lane_answer(lane, cuStreamCreate(&stream, 99));
    lane_answer(lane, cuStreamCreateWithPriority(&stream, 99, 0));
}

static void context_play(struct lane *lane)
{
    CUcontext current = NULL, popped = NULL, of_stream = NULL;
    CUdevice device = 99;
    size_t limit = 0, unused, total = 0;
    unsigned flags = 99;

    lane_answer(lane, cuStreamGetCtx(lane->stream, &of_stream));
    lane_answer(lane, cuCtxPushCurrent_v2(lane->world->context));
    lane_answer(lane, cuCtxPopCurrent_v2(&popped));
    lane_answer(lane, cuCtxGetCurrent(&current));
    lane_count(lane, current == lane->world->context && current == of_stream && popped == current);
    lane_answer(lane, cuCtxGetDevice(&device));
    lane_count(lane, device == lane->world->device);
    lane_answer(lane, cuCtxGetFlags(&flags));
    lane_count(lane, flags);
    lane_answer(lane, cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    lane_count(lane, limit);
    lane_answer(lane, cuCtxGetLimit(&limit, (CUlimit)99));
    lane_answer(lane, cuMemGetInfo_v2(&unused, &total));
    lane_count(lane, total);
    lane_answer(lane, cuDeviceGraphMemTrim(lane->world->device));
}

void streams_play(struct lane *lane)
{
    CUstream side = scratch_stream();

    switch (lane_draw(lane, 9)) {
    case 0: callbacks_play(lane, side); break;
    case 1: attributes_play(lane, side); break;
    case 2: priorities_play(lane); break;
    case 3: context_play(lane); break;
    case 4:
    case 5: events_play(lane, &side); break;
    default: values_play(lane, side); break;
    }
    lane_answer(lane, cuStreamDestroy_v2(side));
}
