/* device_assert: an assertion fails in a kernel. The launch succeeds; the call that waits for the
 * kernel says cudaErrorAssert, and so does every later one. Mode: how the kernel is launched and
 * which call waits for it. */
#include "tests/apps/cuda_app.h"
#include <assert.h>

static const unsigned count = 40, bad = 33;
static const char *const modes[] = {"stream", "device", "copy", "event", "graph", "none", NULL};
enum { BY_STREAM, BY_DEVICE, BY_COPY, BY_EVENT, BY_GRAPH, NO_FAILURE };

__global__ void check_limits(const int *values, int limit)
{
    assert(values[threadIdx.x] < limit);
}

static cudaError_t wait_for(size_t mode, cudaStream_t stream, int *host, const int *device)
{
    cudaEvent_t event;
    cudaError_t answer;

    if (mode == BY_DEVICE)
        return cudaDeviceSynchronize();
    if (mode == BY_COPY)
        return cudaMemcpy(host, device, sizeof *host, cudaMemcpyDeviceToHost);
    if (mode != BY_EVENT)
        return cudaStreamSynchronize(stream);
    answer = cudaEventCreate(&event);
    if (answer == cudaSuccess)
        answer = cudaEventRecord(event, stream);
    return answer == cudaSuccess ? cudaEventSynchronize(event) : answer;
}

static void launch(size_t mode, cudaStream_t stream, const int *device, int limit)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    if (mode == BY_GRAPH)
        CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    check_limits<<<1, count, 0, stream>>>(device, limit);
    CALL_KERNEL("check_limits");
    if (mode != BY_GRAPH)
        return;
    CALL(cudaStreamEndCapture(stream, &graph));
    CALL(cudaGraphInstantiate(&exec, graph, 0));
    CALL(cudaGraphLaunch(exec, stream));
}

int main(int argc, char **argv)
{
    app_options options = {};
    int values[count], got = 0;
    cudaStream_t stream = NULL;
    void *more;

    options.steps = 1;
    options.seed = 1;
    options.modes = modes;
    app_parse(argc, argv, "an assertion that fails in a kernel", &options);
    for (unsigned i = 0; i < count; i++)
        values[i] = i == bad ? 100 : (int)i;
    int *device = to_device(values, count);
    if (options.mode != BY_COPY)
        CALL(cudaStreamCreate(&stream));

    launch(options.mode, stream, device, 101);
    expect_error("assertion that holds", wait_for(options.mode, stream, &got, device), cudaSuccess);
    if (options.mode == NO_FAILURE) {
        CALL(cudaStreamDestroy(stream));
        CALL(cudaFree(device));
        return cuda_finish(APP_CHECKSUM_START);
    }
    launch(options.mode, stream, device, 100);
    expect_error("assertion that fails", wait_for(options.mode, stream, &got, device),
                 cudaErrorAssert);
    expect_error("last error", cudaGetLastError(), cudaErrorAssert);
    expect_error("a later allocation", cudaMalloc(&more, 16), cudaErrorAssert);
    expect_error("a later synchronise", cudaDeviceSynchronize(), cudaErrorAssert);
    return app_checksum_line(app_checksum(APP_CHECKSUM_START, &got, sizeof got));
}
