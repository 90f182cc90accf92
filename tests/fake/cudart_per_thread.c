/* The twins for per-thread default streams: this file is compiled for them, so that NULL means the
 * thread's own stream. A capture of that stream shows it: what goes there becomes a node. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1
#include "tests/fake/cudart_kernels.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* copies without a width */

static struct {
    cudaLibrary_t loaded;
    cudaKernel_t count;
    cudaArray_t array;
    cudaEvent_t event;
    char *device;
    char *host;
} f;

#define PITCH 64

static void start(void)
{
    struct cudaChannelFormatDesc desc = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};

    OK(cudaLibraryLoadData(&f.loaded, cudart_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&f.count, f.loaded, "count"));
    OK(cudaMallocArray(&f.array, &desc, PITCH, 4, 0));
    OK(cudaEventCreate(&f.event));
    OK(cudaMalloc((void **)&f.device, PITCH * 4));
    OK(cudaMallocHost((void **)&f.host, PITCH * 4));
    memset(f.host, 0, PITCH * 4);
}

static void finish(void)
{
    OK(cudaFreeHost(f.host));
    OK(cudaFree(f.device));
    OK(cudaEventDestroy(f.event));
    OK(cudaFreeArray(f.array));
    OK(cudaLibraryUnload(f.loaded));
}

static struct cudaPitchedPtr box(void *memory)
{
    return (struct cudaPitchedPtr){memory, PITCH, PITCH, 2};
}

/* ---- calls that become a node ---- */

static cudaError_t copy(void)
{
    return cudaMemcpyAsync(f.device, f.host, 8, cudaMemcpyHostToDevice, NULL);
}

static cudaError_t copy_2d(void)
{
    return cudaMemcpy2DAsync(f.device, PITCH, f.host, PITCH, 8, 2, cudaMemcpyHostToDevice, NULL);
}

static cudaError_t copy_3d(void)
{
    struct cudaMemcpy3DParms params = {.srcPtr = box(f.host),
                                       .dstPtr = box(f.device),
                                       .extent = {8, 2, 2},
                                       .kind = cudaMemcpyHostToDevice};

    return cudaMemcpy3DAsync(&params, NULL);
}

static cudaError_t into_array(void)
{
    return cudaMemcpy2DToArrayAsync(f.array, 0, 0, f.host, PITCH, 8, 2, cudaMemcpyHostToDevice,
                                    NULL);
}

static cudaError_t from_array(void)
{
    return cudaMemcpy2DFromArrayAsync(f.host, PITCH, f.array, 0, 0, 8, 2, cudaMemcpyDeviceToHost,
                                      NULL);
}

static cudaError_t bytes_into_array(void)
{
    return cudaMemcpyToArrayAsync(f.array, 0, 0, f.host, 8, cudaMemcpyHostToDevice, NULL);
}

static cudaError_t fill(void)
{
    return cudaMemsetAsync(f.device, 1, 8, NULL);
}

static cudaError_t fill_2d(void)
{
    return cudaMemset2DAsync(f.device, PITCH, 1, 8, 2, NULL);
}

static cudaError_t fill_3d(void)
{
    return cudaMemset3DAsync(box(f.device), 1, (struct cudaExtent){8, 2, 1}, NULL);
}

static cudaError_t launch(void)
{
    return cudaLaunchKernel((void *)f.count, ONE_BLOCK(1), NULL, 0, NULL);
}

static cudaError_t launch_cooperative(void)
{
    return cudaLaunchCooperativeKernel((void *)f.count, ONE_BLOCK(1), NULL, 0, NULL);
}

static cudaError_t launch_ex(void)
{
    cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};

    return cudaLaunchKernelExC(&config, (void *)f.count, NULL);
}

static void nothing(void *data)
{
    (void)data;
}

static cudaError_t host(void)
{
    return cudaLaunchHostFunc(NULL, nothing, NULL);
}

static cudaError_t allocate(void)
{
    void *memory;

    return cudaMallocAsync(&memory, 4096, NULL);
}

static cudaError_t record_external(void)
{
    return cudaEventRecordWithFlags(f.event, NULL, cudaEventRecordExternal);
}

static cudaError_t wait_external(void)
{
    return cudaStreamWaitEvent(NULL, f.event, cudaEventWaitExternal);
}

TEST(cudart_per_thread, what_has_no_stream_goes_to_the_threads_own)
{
    static const struct {
        const char *name;
        cudaError_t (*call)(void);
    } calls[] = {
        {"cudaMemcpyAsync", copy},
        {"cudaMemcpy2DAsync", copy_2d},
        {"cudaMemcpy3DAsync", copy_3d},
        {"cudaMemcpy2DToArrayAsync", into_array},
        {"cudaMemcpy2DFromArrayAsync", from_array},
        {"cudaMemcpyToArrayAsync", bytes_into_array},
        {"cudaMemsetAsync", fill},
        {"cudaMemset2DAsync", fill_2d},
        {"cudaMemset3DAsync", fill_3d},
        {"cudaLaunchKernel", launch},
        {"cudaLaunchCooperativeKernel", launch_cooperative},
        {"cudaLaunchKernelExC", launch_ex},
        {"cudaLaunchHostFunc", host},
        {"cudaMallocAsync", allocate},
        {"cudaEventRecordWithFlags", record_external},
        {"cudaStreamWaitEvent", wait_external},
    };

    start();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        cudaGraph_t graph = NULL;
        size_t count = 0;
        cudaError_t error;

        OK(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeThreadLocal)); /* a twin, too */
        error = calls[i].call();
        T_ASSERT(error == cudaSuccess, "%s: %s", calls[i].name, cudaGetErrorName(error));
        OK(cudaStreamEndCapture(cudaStreamPerThread, &graph));
        OK(cudaGraphGetNodes(graph, NULL, &count));
        T_ASSERT(count == 1, "%s: %zu nodes", calls[i].name, count);
        OK(cudaGraphDestroy(graph));
    }
    finish();
}

/* ---- calls that wait ---- */

TEST(cudart_per_thread, copies_and_fills_that_wait)
{
    char out[PITCH * 4] = {0};
    struct cudaMemcpy3DParms params = {.extent = {8, 2, 2}, .kind = cudaMemcpyDefault};

    start();
    memset(f.host, 3, PITCH * 4);
    OK(cudaMemset3D(box(f.device), 9, (struct cudaExtent){PITCH, 2, 2}));
    OK(cudaMemset2D(f.device, PITCH, 4, 8, 2));
    OK(cudaMemcpy(out, f.device, sizeof out, cudaMemcpyDeviceToHost));
    T_EQ(out[PITCH + 7], 4);
    T_EQ(out[PITCH + 8], 9);
    OK(cudaMemcpy2DToArray(f.array, 0, 0, f.host, PITCH, PITCH, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArray(f.array, 0, 1, out, PITCH, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(f.host, PITCH, f.array, 0, 0, PITCH, 4, cudaMemcpyDeviceToHost));
    T_EQ(f.host[0], 3);
    T_EQ(f.host[PITCH], out[0]);
    OK(cudaMemcpy2DArrayToArray(f.array, 0, 0, f.array, 0, 1, 8, 1, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArray(f.host, f.array, 0, 0, 8, cudaMemcpyDeviceToHost));
    T_EQ(f.host[0], out[0]);
    params.srcPtr = box(f.host);
    params.dstPtr = box(f.device);
    OK(cudaMemcpy3D(&params));
    OK(cudaMemcpy2D(out, PITCH, f.device, PITCH, 8, 2, cudaMemcpyDeviceToHost));
    T_EQ(out[PITCH], f.host[PITCH]);
    finish();
}

TEST(cudart_per_thread, graphs_and_events)
{
    cudaGraphInstantiateParams params = {.flags = cudaGraphInstantiateFlagUpload};
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int priority = -99, device = -1;
    unsigned flags = 99;

    start();
    OK(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeThreadLocal));
    OK(fill());
    OK(cudaStreamEndCapture(NULL, &graph));
    OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
    OK(cudaGraphUpload(exec, NULL));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaEventRecord(f.event, NULL));
    OK(cudaEventSynchronize(f.event));
    OK(cudaStreamQuery(NULL));
    OK(cudaMemcpy(f.host, f.device, 1, cudaMemcpyDeviceToHost));
    T_EQ(f.host[0], 1);
    OK(cudaStreamGetPriority(NULL, &priority));
    T_EQ(priority, 0);
    OK(cudaStreamGetFlags(NULL, &flags));
    OK(cudaStreamGetDevice(NULL, &device));
    T_EQ(device, 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    finish();
}
