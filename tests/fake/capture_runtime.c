/* Captures through the fake runtime, from the first call to the results of the launched graph. */
#include "tests/fake/cudart_kernels.h"

#define COUNT 4

/* data = (in + 5) per element, twice: on the origin and, between fork and join, on a side stream.
 */
static void work(cudaStream_t origin, cudaStream_t side, cudaKernel_t add, unsigned *data[2],
                 const unsigned *in)
{
    unsigned value = 5;
    cudaEvent_t event;

    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaMemcpyAsync(data[0], in, COUNT * sizeof *in, cudaMemcpyHostToDevice, origin));
    OK(cudaEventRecord(event, origin));
    OK(cudaStreamWaitEvent(side, event, 0));
    OK(cudaMemcpyAsync(data[1], data[0], COUNT * sizeof *in, cudaMemcpyDeviceToDevice, side));
    OK(cudaEventRecord(event, side));
    OK(cudaStreamWaitEvent(origin, event, 0));
    for (int i = 0; i < 2; i++) {
        void *args[] = {&data[i], &value};
        OK(cudaLaunchKernel((const void *)add, (dim3){1, 1, 1}, (dim3){COUNT, 1, 1}, args, 0,
                            origin));
    }
    OK(cudaEventDestroy(event));
}

TEST(capture_runtime, a_captured_graph_computes)
{
    unsigned in[COUNT] = {1, 2, 3, 4}, out[COUNT], *data[2];
    cudaLibrary_t library;
    cudaKernel_t add;
    cudaStream_t origin, side;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec;
    size_t nodes = 0;
    enum cudaStreamCaptureStatus status;

    OK(cudaLibraryLoadData(&library, cudart_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&add, library, "add"));
    for (int i = 0; i < 2; i++)
        OK(cudaMalloc((void **)&data[i], sizeof in));
    OK(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
    OK(cudaStreamCreate(&side));
    OK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    work(origin, side, add, data, in);
    OK(cudaStreamIsCapturing(side, &status));
    T_EQ(status, cudaStreamCaptureStatusActive);
    OK(cudaStreamEndCapture(origin, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    T_EQ(nodes, 4);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    in[3] = 40; /* pageable memory is read when the graph runs */
    OK(cudaGraphLaunch(exec, origin));
    OK(cudaStreamSynchronize(origin));
    for (int i = 0; i < 2; i++) {
        OK(cudaMemcpy(out, data[i], sizeof out, cudaMemcpyDeviceToHost));
        for (int k = 0; k < COUNT; k++)
            T_EQ(out[k], in[k] + 5);
    }
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

/* The runtime's errors are the driver's, and its modes too. */
TEST(capture_runtime, unsafe_calls)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaStream_t stream;
    cudaGraph_t graph = (cudaGraph_t)&graph;
    void *memory;

    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaMalloc(&memory, 64));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    T_EQ(cudaMalloc(&memory, 64), cudaErrorStreamCaptureUnsupported);
    T_EQ(cudaGetLastError(), cudaErrorStreamCaptureUnsupported);
    T_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    T_NULL(graph);
    OK(cudaMalloc(&memory, 64));
}
