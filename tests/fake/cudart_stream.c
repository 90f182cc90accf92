/* The fake runtime's streams, events and host callbacks, and its twins for per-thread default
 * streams. */
#include "tests/fake/cudart_kernels.h"

#include <stdatomic.h>
#include <unistd.h>

/* The twins are declared by the headers only in programs compiled for them. */
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void *data);
cudaError_t cudaMemcpy_ptds(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind);

static void wait_for_flag(void *data)
{
    while (!atomic_load((atomic_bool *)data))
        usleep(100);
}

static void count_up(void *data)
{
    atomic_fetch_add((atomic_int *)data, 1);
}

static void on_done(cudaStream_t stream, cudaError_t status, void *data)
{
    if (status == cudaSuccess && stream)
        count_up(data);
}

TEST(cudart_stream, not_ready_is_an_answer_and_no_error)
{
    atomic_bool go = false;
    cudaStream_t stream;
    cudaEvent_t event;

    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaLaunchHostFunc(stream, wait_for_flag, &go));
    OK(cudaEventRecord(event, stream));
    T_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
    T_EQ(cudaEventQuery(event), cudaErrorNotReady);
    OK(cudaPeekAtLastError());
    atomic_store(&go, true);
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamQuery(stream));
    OK(cudaEventQuery(event));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
}

TEST(cudart_stream, an_event_orders_two_streams)
{
    atomic_bool go = false;
    atomic_int count = 0;
    cudaStream_t first, second;
    cudaEvent_t event;

    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaLaunchHostFunc(first, wait_for_flag, &go));
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event, 0));
    OK(cudaLaunchHostFunc(second, count_up, &count));
    T_EQ(cudaStreamQuery(second), cudaErrorNotReady);
    T_EQ(atomic_load(&count), 0);
    atomic_store(&go, true);
    OK(cudaStreamSynchronize(second));
    T_EQ(atomic_load(&count), 1);
    OK(cudaEventSynchronize(event));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
}

TEST(cudart_stream, elapsed_time_needs_recorded_events)
{
    cudaEvent_t start, end;
    float ms = -1;

    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    T_EQ(cudaEventElapsedTime(&ms, start, end), cudaErrorInvalidResourceHandle);
    OK(cudaEventRecord(start, NULL));
    OK(cudaEventRecord(end, NULL));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    T_ASSERT(ms >= 0);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
}

TEST(cudart_stream, callbacks_get_stream_and_status)
{
    atomic_int count = 0;
    cudaStream_t stream;

    OK(cudaStreamCreate(&stream));
    OK(cudaStreamAddCallback(stream, on_done, &count, 0));
    OK(cudaStreamSynchronize(stream));
    T_EQ(atomic_load(&count), 1);
    OK(cudaStreamDestroy(stream));
}

TEST(cudart_stream, flags_and_priorities_come_back)
{
    int least = 0, greatest = 0, priority = 99;
    unsigned flags = 99;
    cudaStream_t stream;

    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    T_LE(greatest, least);
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetPriority(stream, &priority));
    T_EQ(priority, greatest);
    OK(cudaStreamGetFlags(stream, &flags));
    T_EQ(flags, cudaStreamNonBlocking);
    OK(cudaStreamDestroy(stream));
}

/* What is queued on the twin's NULL stream is found on cudaStreamPerThread. */
TEST(cudart_stream, a_twin_means_the_threads_own_stream)
{
    atomic_bool go = false;
    int in = 7, out = 0, *memory = NULL;

    OK(cudaMalloc((void **)&memory, sizeof in));
    OK(cudaLaunchHostFunc_ptsz(NULL, wait_for_flag, &go));
    T_EQ(cudaStreamQuery_ptsz(NULL), cudaErrorNotReady);
    T_EQ(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
    atomic_store(&go, true);
    OK(cudaStreamSynchronize_ptsz(NULL));
    OK(cudaStreamQuery(cudaStreamPerThread));
    OK(cudaMemcpy_ptds(memory, &in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpy_ptds(&out, memory, sizeof in, cudaMemcpyDeviceToHost));
    T_EQ(out, 7);
    OK(cudaFree(memory));
}

TEST(cudart_stream, attributes_can_be_set_and_copied)
{
    cudaStream_t first, second;
    cudaLaunchAttributeValue value = {.syncPolicy = cudaSyncPolicyYield}, back;

    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreate(&second));
    OK(cudaStreamSetAttribute(first, cudaLaunchAttributeSynchronizationPolicy, &value));
    memset(&back, 0, sizeof back);
    OK(cudaStreamGetAttribute(first, cudaLaunchAttributeSynchronizationPolicy, &back));
    T_EQ(back.syncPolicy, cudaSyncPolicyYield);
    OK(cudaStreamCopyAttributes(second, first));
    memset(&back, 0, sizeof back);
    OK(cudaStreamGetAttribute(second, cudaLaunchAttributeSynchronizationPolicy, &back));
    T_EQ(back.syncPolicy, cudaSyncPolicyYield);
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
}

TEST(cudart_stream, a_stream_knows_its_device)
{
    cudaStream_t stream;
    int device = -1;

    setenv("FAKEVMM_DEVICES", "2", 1);
    OK(cudaSetDevice(1));
    OK(cudaStreamCreate(&stream));
    OK(cudaSetDevice(0));
    OK(cudaStreamGetDevice(stream, &device));
    T_EQ(device, 1);
    OK(cudaStreamGetDevice(NULL, &device));
    T_EQ(device, 0);
    OK(cudaStreamDestroy(stream));
}
