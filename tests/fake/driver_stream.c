/* Streams, events and host functions, by their documentation. Order is shown with gates that the
 * test opens, never with time. */
#include "tests/fake/driver_fixture.h"

#include <pthread.h>

static struct order order;
static struct step steps[64];

static void step(CUstream stream, int number)
{
    steps[number] = (struct step){&order, number};
    OK(cuLaunchHostFunc(stream, note, &steps[number]));
}

static void expect_order(int count, const int *expected)
{
    T_EQ(atomic_load(&order.count), count);
    for (int i = 0; i < count; i++)
        T_EQ(atomic_load(&order.seen[i]), expected[i]);
}

TEST(driver_stream, work_runs_after_the_call_and_in_order)
{
    atomic_bool open;

    start();
    CUstream stream = new_stream(0);
    close_gate(stream, &open);
    for (int i = 0; i < 20; i++)
        step(stream, i);
    T_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    T_EQ(atomic_load(&order.count), 0);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    OK(cuStreamQuery(stream));
    T_EQ(atomic_load(&order.count), 20);
    for (int i = 0; i < 20; i++)
        T_EQ(atomic_load(&order.seen[i]), i);
}

TEST(driver_stream, streams_do_not_wait_for_each_other)
{
    atomic_bool open;

    start();
    CUstream held = new_stream(CU_STREAM_NON_BLOCKING), other = new_stream(CU_STREAM_NON_BLOCKING);
    close_gate(held, &open);
    step(other, 1);
    OK(cuStreamSynchronize(other));
    T_EQ(atomic_load(&order.count), 1);
    T_EQ(cuStreamQuery(held), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    OK(cuCtxSynchronize());
}

TEST(driver_stream, the_legacy_stream_waits_for_blocking_streams)
{
    atomic_bool open;

    start();
    CUstream blocking = new_stream(0);
    close_gate(blocking, &open);
    step(blocking, 1);
    step(NULL, 2);
    T_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(NULL));
    expect_order(2, (int[]){1, 2});
}

TEST(driver_stream, blocking_streams_wait_for_the_legacy_stream)
{
    atomic_bool open;

    start();
    CUstream blocking = new_stream(0), free_stream = new_stream(CU_STREAM_NON_BLOCKING);
    close_gate(NULL, &open);
    step(NULL, 1);
    step(blocking, 2);
    step(free_stream, 3);
    OK(cuStreamSynchronize(free_stream)); /* a non-blocking stream does not */
    expect_order(1, (int[]){3});
    T_EQ(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    OK(cuCtxSynchronize());
    expect_order(3, (int[]){3, 1, 2});
}

TEST(driver_stream, synchronous_copies_follow_the_legacy_stream)
{
    unsigned char byte = 0;

    start();
    CUstream blocking = new_stream(0);
    CUdeviceptr address = allocate(1);
    for (int i = 0; i < 50; i++) {
        OK(cuMemsetD8Async(address, (unsigned char)i, 1, blocking));
        OK(cuMemcpyDtoH_v2(&byte, address, 1));
        T_EQ(byte, i);
    }
}

/* ---- per-thread default streams ---- */

TEST(driver_stream, twins_use_the_threads_own_stream)
{
    unsigned long long legacy = 0, own = 0, named = 0;

    start();
    OK(cuStreamGetId(NULL, &legacy));
    OK(cuStreamGetId_ptsz(NULL, &own));
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &named));
    T_EQ(own, named);
    T_NE(own, legacy);
    OK(cuStreamGetId_ptsz(CU_STREAM_LEGACY, &named));
    T_EQ(named, legacy);
}

static void *id_of_own_stream(void *context)
{
    static unsigned long long id;

    return cuCtxSetCurrent(context) == CUDA_SUCCESS &&
                   cuStreamGetId(CU_STREAM_PER_THREAD, &id) == CUDA_SUCCESS
               ? &id
               : NULL;
}

TEST(driver_stream, each_thread_has_its_own_stream)
{
    unsigned long long id = 0;
    pthread_t thread;
    void *other;

    CUcontext context = start();
    OK(cuStreamGetId(CU_STREAM_PER_THREAD, &id));
    T_EQ(pthread_create(&thread, NULL, id_of_own_stream, context), 0);
    pthread_join(thread, &other);
    T_NOT_NULL(other);
    T_NE(*(unsigned long long *)other, id);
}

TEST(driver_stream, twins_of_synchronous_copies_follow_the_own_stream)
{
    unsigned char byte = 0;
    atomic_bool open;

    start();
    CUstream held = new_stream(0);
    CUdeviceptr address = allocate(1);
    close_gate(held, &open);
    OK(cuMemsetD8_v2_ptds(address, 6, 1));
    OK(cuMemcpyDtoH_v2_ptds(&byte, address, 1)); /* the legacy stream would wait for the gate */
    T_EQ(byte, 6);
    atomic_store(&open, true);
    OK(cuCtxSynchronize());
}

TEST(driver_stream, the_own_stream_is_a_blocking_one)
{
    atomic_bool open;

    start();
    close_gate(CU_STREAM_PER_THREAD, &open);
    step(CU_STREAM_PER_THREAD, 1);
    step(CU_STREAM_LEGACY, 2);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    expect_order(2, (int[]){1, 2});
}

/* ---- handles ---- */

TEST(driver_stream, handles)
{
    CUstream stream, other;
    unsigned flags = 7;
    int priority = 7, least, greatest;
    CUcontext context = start(), owner = NULL;
    CUdevice device = -1;

    T_EQ(cuStreamCreate(&stream, 0x80), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetFlags(stream, &flags));
    T_EQ(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetCtx(stream, &owner));
    T_PTR_EQ(owner, context);
    OK(cuStreamGetDevice(stream, &device));
    T_EQ(device, 0);
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&other, 0, greatest - 10)); /* clamped */
    OK(cuStreamGetPriority(other, &priority));
    T_EQ(priority, greatest);
    OK(cuStreamDestroy_v2(stream));
    T_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuStreamDestroy_v2(NULL), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuStreamDestroy_v2(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuStreamQuery((CUstream)&stream), CUDA_ERROR_INVALID_HANDLE);
    T_PTR_EQ(new_stream(0), stream); /* the value comes back at once */
}

TEST(driver_stream, a_destroyed_stream_finishes_its_work)
{
    atomic_bool open;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    close_gate(stream, &open);
    step(stream, 1);
    OK(cuStreamDestroy_v2(stream));
    T_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    T_ASSERT(new_stream(0) != stream, "a stream that still works is used again");
    atomic_store(&open, true);
    OK(cuCtxSynchronize());
    expect_order(1, (int[]){1});
}

TEST(driver_stream, capture_is_not_going_on)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    start();
    OK(cuStreamIsCapturing(new_stream(0), &status));
    T_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    T_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    T_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    mode = (CUstreamCaptureMode)9;
    T_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
}

/* ---- events ---- */

TEST(driver_stream, events_order_streams)
{
    atomic_bool open;

    start();
    CUstream first = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream second = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    close_gate(first, &open);
    step(first, 1);
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(second, event, 0));
    step(second, 2);
    T_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    T_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(second));
    OK(cuEventQuery(event));
    expect_order(2, (int[]){1, 2});
}

/* A wait is for what was recorded when it was queued, whatever becomes of the event. */
TEST(driver_stream, waits_keep_their_record)
{
    atomic_bool open, later;

    start();
    CUstream first = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream second = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream third = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);
    close_gate(first, &open);
    OK(cuEventRecord(event, first));
    OK(cuStreamWaitEvent(second, event, 0));
    step(second, 1);
    close_gate(third, &later);
    OK(cuEventRecord(event, third));
    T_EQ(atomic_load(&order.count), 0);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(second)); /* the second record is not complete */
    expect_order(1, (int[]){1});
    T_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuStreamWaitEvent(second, event, 0));
    OK(cuEventDestroy_v2(event));
    step(second, 2);
    T_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
    atomic_store(&later, true);
    OK(cuStreamSynchronize(second));
    expect_order(2, (int[]){1, 2});
}

TEST(driver_stream, event_states)
{
    float elapsed = -1;

    start();
    CUevent a = new_event(0), b = new_event(0), untimed = new_event(CU_EVENT_DISABLE_TIMING);
    OK(cuEventQuery(a)); /* never recorded: an empty set of work */
    OK(cuEventSynchronize(a));
    OK(cuStreamWaitEvent(NULL, a, 0));
    T_EQ(cuEventElapsedTime(&elapsed, a, b), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(a, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuEventRecord(untimed, NULL));
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&elapsed, a, b));
    T_ASSERT(elapsed >= 0);
    OK(cuEventElapsedTime_v2(&elapsed, a, b));
    OK(cuEventSynchronize(untimed));
    T_EQ(cuEventElapsedTime(&elapsed, a, untimed), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy_v2(a));
    T_EQ(cuEventQuery(a), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuEventDestroy_v2(a), CUDA_ERROR_INVALID_HANDLE);
    T_PTR_EQ(new_event(0), a);
}

TEST(driver_stream, event_not_ready_and_foreign)
{
    atomic_bool open;
    CUcontext other;
    CUevent event;
    float elapsed;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent a = new_event(0), b = new_event(0);
    T_EQ(cuEventCreate(&event, 0x80), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuEventRecordWithFlags(a, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
    OK(cuEventRecord(a, stream));
    close_gate(stream, &open);
    OK(cuEventRecord(b, stream));
    T_EQ(cuEventElapsedTime(&elapsed, a, b), CUDA_ERROR_NOT_READY);
    OK(cuCtxCreate_v2(&other, 0, 0));
    T_EQ(cuEventRecord(a, new_stream(0)), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamWaitEvent(new_stream(0), b, 0)); /* may be of another context */
    atomic_store(&open, true);
    OK(cuEventSynchronize(b));
}

/* ---- host functions ---- */

static atomic_int answer;

static void call_driver(void *unused)
{
    (void)unused;
    atomic_store(&answer, cuCtxSynchronize());
}

TEST(driver_stream, host_functions_may_not_call_the_driver)
{
    start();
    OK(cuLaunchHostFunc(NULL, call_driver, NULL));
    OK(cuCtxSynchronize());
    T_EQ(atomic_load(&answer), CUDA_ERROR_NOT_PERMITTED);
    T_EQ(cuLaunchHostFunc(NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

struct called {
    _Atomic(CUstream) stream;
    atomic_int status;
};

static void callback(CUstream stream, CUresult status, void *data)
{
    struct called *called = data;

    atomic_store(&called->stream, stream);
    atomic_store(&called->status, status);
}

TEST(driver_stream, callbacks)
{
    struct called called = {NULL, -1};

    start();
    CUstream stream = new_stream(0);
    OK(cuStreamAddCallback(stream, callback, &called, 0));
    OK(cuStreamSynchronize(stream));
    T_PTR_EQ(atomic_load(&called.stream), stream);
    T_EQ(atomic_load(&called.status), CUDA_SUCCESS);
    T_EQ(cuStreamAddCallback(stream, callback, &called, 1), CUDA_ERROR_INVALID_VALUE);
}

/* ---- errors of queued work ---- */

/* Memory of one context is freed while a copy in another is queued: freeing waits for its own
 * context's work only. The copy meets an address that is gone. */
static void poison(CUcontext victim, CUstream stream, atomic_bool *open)
{
    CUcontext owner;
    CUdeviceptr to = allocate(512), from;

    OK(cuCtxCreate_v2(&owner, 0, 0));
    from = allocate(512);
    OK(cuCtxPopCurrent_v2(NULL));
    close_gate(stream, open);
    OK(cuMemcpyDtoDAsync_v2(to, from, 512, stream));
    OK(cuCtxPushCurrent_v2(owner));
    OK(cuMemFree_v2(from));
    OK(cuCtxSetCurrent(victim));
}

TEST(driver_stream, errors_stick_to_the_context)
{
    struct called called = {NULL, -1};
    atomic_bool open;
    CUdeviceptr address;
    CUcontext other, context = start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(0);

    poison(context, stream, &open);
    step(stream, 1);
    OK(cuStreamAddCallback(stream, callback, &called, 0));
    OK(cuEventRecord(event, stream));
    atomic_store(&open, true);
    T_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuMemAlloc_v2(&address, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuEventQuery(event), CUDA_ERROR_ILLEGAL_ADDRESS);
    /* Host functions after the error do not run, callbacks do and learn of it. */
    T_EQ(atomic_load(&order.count), 0);
    T_EQ(atomic_load(&called.status), CUDA_ERROR_ILLEGAL_ADDRESS);
    /* Other contexts go on, and this one can be ended. */
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuMemAlloc_v2(&address, 1));
    OK(cuCtxDestroy_v2(context));
}

static void cause_error(void)
{
    atomic_bool open;
    CUcontext context = start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);

    poison(context, stream, &open);
    atomic_store(&open, true);
    T_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(driver_stream, illegal_addresses_are_named)
{
    struct child child = in_child(cause_error);

    T_EQ(child.exit_code, 0);
    T_STR_HAS(child.err, "fakevmm: illegal address: copy of 512 bytes from 0x");
}

/* ---- many threads ---- */

#define THREADS 4

static void *work_in_thread(void *context)
{
    CUdeviceptr address;
    CUstream stream;
    unsigned value = 0;

    if (cuCtxSetCurrent(context) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING))
        return "set-up";
    for (unsigned i = 1; i <= 100; i++) {
        if (cuMemAlloc_v2(&address, 4096) || cuMemsetD32Async(address, i, 1024, stream) ||
            cuMemcpyDtoHAsync_v2(&value, address + 4092, 4, stream) || value != i ||
            cuMemFree_v2(address))
            return "work";
    }
    return cuStreamDestroy_v2(stream) ? "end" : NULL;
}

TEST(driver_stream, threads_share_a_context)
{
    CUcontext context = start();
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        T_EQ(pthread_create(&thread[i], NULL, work_in_thread, context), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        T_STR_EQ((const char *)wrong, NULL);
    }
}
