/* Events with time, and events of whole contexts, by the documentation of cuEventElapsedTime,
 * cuCtxRecordEvent and cuCtxWaitEvent. */
#include "tests/fake/driver_fixture.h"

#include <time.h>

TEST(driver_event, elapsed_time)
{
    float forth = -1, back = 1;
    atomic_bool open;

    start();
    CUstream stream = new_stream(0);
    CUevent first = new_event(0), last = new_event(0), untimed = new_event(CU_EVENT_DISABLE_TIMING);

    T_EQ(cuEventElapsedTime(&forth, first, last), CUDA_ERROR_INVALID_HANDLE); /* not recorded */
    OK(cuEventRecord(first, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(cuEventElapsedTime(&forth, first, last), CUDA_ERROR_INVALID_HANDLE);
    close_gate(stream, &open);
    OK(cuEventRecord(last, stream));
    T_EQ(cuEventElapsedTime(&forth, first, last), CUDA_ERROR_NOT_READY);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    OK(cuEventElapsedTime(&forth, first, last));
    T_ASSERT(forth > 0, "%f ms", (double)forth);
    OK(cuEventElapsedTime_v2(&back, last, first));
    T_ASSERT(back == -forth, "%f and %f ms", (double)back, (double)forth);
    OK(cuEventRecord(untimed, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(cuEventElapsedTime(&forth, first, untimed), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuEventElapsedTime(NULL, first, last), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuEventElapsedTime(&forth, first, (CUevent)&back), CUDA_ERROR_INVALID_HANDLE);
}

/* All the context's work, in streams that do not wait for each other. */
TEST(driver_event, a_context_is_recorded)
{
    atomic_bool open;

    CUcontext context = start();
    CUstream held = new_stream(CU_STREAM_NON_BLOCKING), free = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr byte = allocate(1);

    OK(cuCtxRecordEvent(context, event));
    OK(cuEventSynchronize(event));
    close_gate(held, &open);
    OK(cuMemsetD8Async(byte, 1, 1, free));
    OK(cuCtxRecordEvent(NULL, event)); /* the current one */
    OK(cuStreamSynchronize(free));
    T_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuMemsetD8Async(byte, 1, 1, free)); /* later work is not the event's */
    OK(cuStreamSynchronize(free));
    atomic_store(&open, true);
    OK(cuEventSynchronize(event));
    T_EQ(cuStreamQuery(held), CUDA_SUCCESS);
}

/* All future work of the context, in streams that are there and in later ones. */
TEST(driver_event, a_context_waits)
{
    unsigned char value = 0;
    atomic_bool open;

    CUcontext context = start();
    CUstream held = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream before = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING), idle = new_event(0);
    CUdeviceptr bytes = allocate(2);

    OK(cuCtxWaitEvent(context, idle)); /* never recorded: nothing to wait for */
    close_gate(held, &open);
    OK(cuEventRecord(event, held));
    OK(cuCtxWaitEvent(context, event));
    CUstream after = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD8Async(bytes, 1, 1, before));
    OK(cuMemsetD8Async(bytes + 1, 1, 1, after));
    for (int i = 0; i < 100; i++)
        sched_yield();
    T_EQ(cuStreamQuery(before), CUDA_ERROR_NOT_READY);
    T_EQ(cuStreamQuery(after), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(before));
    OK(cuStreamSynchronize(after));
    OK(cuMemcpyDtoH_v2(&value, bytes + 1, 1));
    T_EQ(value, 1);
    CUstream last = new_stream(CU_STREAM_NON_BLOCKING);
    T_EQ(cuStreamQuery(last), CUDA_SUCCESS);
}

TEST(driver_event, events_of_contexts_are_checked)
{
    CUcontext first = start();
    CUevent event = new_event(0);
    CUcontext second = start();

    T_EQ(cuCtxRecordEvent(second, event), CUDA_ERROR_INVALID_HANDLE); /* of another context */
    OK(cuCtxWaitEvent(second, event));                                /* which may be */
    T_EQ(cuCtxRecordEvent((CUcontext)&event, event), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(cuCtxRecordEvent(first, (CUevent)&event), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuCtxWaitEvent(first, (CUevent)&event), CUDA_ERROR_INVALID_HANDLE);
}

TEST(driver_event, contexts_with_captures_are_refused)
{
    CUstreamCaptureStatus status;
    CUgraph graph;

    CUcontext context = start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);

    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    T_EQ(cuCtxRecordEvent(context, event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuStreamIsCapturing(stream, &status));
    T_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    T_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuCtxRecordEvent(context, event));

    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    T_EQ(cuCtxWaitEvent(context, event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    T_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(event, stream));
    start(); /* another context, without captures; the event is part of one */
    T_EQ(cuCtxWaitEvent(NULL, event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuCtxPopCurrent_v2(NULL));
    T_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST(driver_event, a_context_may_end_with_its_waits)
{
    CUcontext context = start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    atomic_bool open;

    close_gate(stream, &open);
    OK(cuEventRecord(event, stream));
    OK(cuCtxWaitEvent(context, event));
    OK(cuCtxRecordEvent(context, event));
    atomic_store(&open, true);
    OK(cuCtxDestroy_v2(context));
    start();
    T_EQ(cuStreamQuery(new_stream(0)), CUDA_SUCCESS);
}
