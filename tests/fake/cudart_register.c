/* What nvcc's start-up code calls: registration of an image, its kernels and variables, and what
 * becomes of `<<<>>>`. The image is built here, by docs/fatbin.md, so that no nvcc is needed. */
#include "tests/fake/cudart_kernels.h"

/* The compiler's calls, declared for C++ alone in crt/host_runtime.h. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t bytes, int constant, int global);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                         struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *func);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared_bytes, cudaStream_t stream);

/* One container with one entry: plain PTX. */
struct image {
    uint32_t magic; /* 0xBA55ED50 */
    uint16_t version, header_bytes;
    uint64_t bytes; /* of what follows */
    struct {
        uint16_t kind, unused;
        uint32_t header_bytes;
        uint64_t payload_bytes;
        uint32_t compressed_bytes, extra_offset;
        uint16_t minor, major;
        uint32_t architecture;
        uint64_t extra_bytes, flags, zero, plain_bytes;
    } entry;
    char payload[(sizeof cudart_ptx + 7) & ~(size_t)7];
};

static struct image image = {
    .magic = 0xBA55ED50,
    .version = 1,
    .header_bytes = 16,
    .bytes = sizeof(struct image) - 16,
    .entry = {.kind = 1,
              .unused = 0x0101,
              .header_bytes = 64,
              .payload_bytes = (sizeof cudart_ptx + 7) & ~(size_t)7,
              .minor = 4,
              .major = 6,
              .architecture = 70},
};

static struct {
    uint32_t magic, version;
    const void *container, *second_file;
} wrapper = {0x466243B1, 1, &image, NULL};

/* Host addresses that stand for device code, as the compiler makes them: a stub and a shadow. */
static char add_stub, count_stub, absent_stub, counter_shadow;

static void **register_all(void)
{
    void **handle;

    memcpy(image.payload, cudart_ptx, sizeof cudart_ptx);
    handle = __cudaRegisterFatBinary(&wrapper);
    T_NOT_NULL(handle);
    __cudaRegisterFunction(handle, &add_stub, &add_stub, "add", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, &count_stub, &count_stub, "count", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFunction(handle, &absent_stub, &absent_stub, "absent", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterVar(handle, &counter_shadow, &counter_shadow, "counter", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

/* The stub function that nvcc generates for `count<<<1, 1>>>()` does this. */
static cudaError_t launch_count(void)
{
    cudaKernel_t kernel = NULL;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;

    if (__cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){1, 1, 1}, 0, NULL) != cudaSuccess)
        return cudaErrorMissingConfiguration;
    OK(__cudaGetKernel(&kernel, &count_stub));
    OK(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    return __cudaLaunchKernel(kernel, grid, block, NULL, shared_bytes, stream);
}

TEST(cudart_register, a_stub_stands_for_its_kernel)
{
    void **handle = register_all();
    cudaKernel_t first = NULL, second = NULL;
    cudaFunction_t function = NULL;
    int in[2] = {5, 6}, out[2], *data = NULL;
    unsigned value = 100;
    void *args[] = {&data, &value};

    OK(cudaGetKernel(&first, &add_stub));
    OK(__cudaGetKernel(&second, &add_stub));
    T_PTR_EQ(first, second);
    OK(cudaGetFuncBySymbol(&function, &add_stub));
    T_NOT_NULL(function);
    OK(cudaMalloc((void **)&data, sizeof in));
    OK(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaLaunchKernel(&add_stub, ONE_BLOCK(2), args, 0, NULL));
    OK(cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost));
    T_EQ(out[0], 105);
    T_EQ(out[1], 106);
    OK(cudaFree(data));
    __cudaUnregisterFatBinary(handle);
}

TEST(cudart_register, variables_are_reached_by_their_shadow)
{
    void **handle = register_all();
    void *address = NULL;
    size_t bytes = 0;
    int value = 0;

    OK(cudaGetSymbolAddress(&address, &counter_shadow));
    T_NOT_NULL(address);
    OK(cudaGetSymbolSize(&bytes, &counter_shadow));
    T_EQ(bytes, 4);
    OK(launch_count());
    OK(cudaMemcpyFromSymbol(&value, &counter_shadow, 4, 0, cudaMemcpyDeviceToHost));
    T_EQ(value, 41);
    value = 7;
    OK(cudaMemcpyToSymbol(&counter_shadow, &value, 4, 0, cudaMemcpyHostToDevice));
    OK(launch_count());
    OK(cudaMemcpyFromSymbol(&value, &counter_shadow, 4, 0, cudaMemcpyDeviceToHost));
    T_EQ(value, 8);
    T_EQ(cudaMemcpyToSymbol(&counter_shadow, &value, 4, 1, cudaMemcpyHostToDevice),
         cudaErrorInvalidValue);
    T_EQ(cudaMemcpyToSymbol(&counter_shadow, &value, 4, 0, cudaMemcpyDeviceToHost),
         cudaErrorInvalidMemcpyDirection);
    __cudaUnregisterFatBinary(handle);
}

TEST(cudart_register, what_was_not_registered_is_refused)
{
    void **handle = register_all();
    cudaKernel_t kernel = NULL;
    void *address = NULL;

    T_EQ(cudaGetSymbolAddress(&address, &add_stub), cudaErrorInvalidSymbol);
    T_EQ(cudaGetSymbolAddress(&address, &address), cudaErrorInvalidSymbol);
    T_EQ(cudaGetKernel(&kernel, &counter_shadow), cudaErrorInvalidDeviceFunction);
    T_EQ(cudaGetKernel(&kernel, &absent_stub), cudaErrorInvalidDeviceFunction);
    __cudaUnregisterFatBinary(handle);
    T_EQ(cudaLaunchKernel(&count_stub, ONE_BLOCK(1), NULL, 0, NULL),
         cudaErrorInvalidDeviceFunction);
}

TEST(cudart_register, configurations_nest)
{
    dim3 grid, block;
    size_t shared_bytes = 0;
    cudaStream_t stream = NULL;

    OK(__cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, cudaStreamLegacy));
    OK(__cudaPushCallConfiguration((dim3){9, 9, 9}, (dim3){9, 9, 9}, 9, NULL));
    OK(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    T_EQ(grid.x, 9);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    T_ASSERT(grid.x == 1 && grid.y == 2 && grid.z == 3);
    T_ASSERT(block.x == 4 && block.y == 5 && block.z == 6);
    T_EQ(shared_bytes, 7);
    T_PTR_EQ(stream, cudaStreamLegacy);
    T_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream),
         cudaErrorMissingConfiguration);
}

TEST(cudart_register, code_survives_a_device_reset)
{
    void **handle = register_all();
    int value = 0;

    OK(launch_count());
    OK(cudaDeviceSynchronize());
    OK(cudaDeviceReset());
    OK(launch_count());
    OK(cudaMemcpyFromSymbol(&value, &counter_shadow, 4, 0, cudaMemcpyDeviceToHost));
    T_EQ(value, 41); /* a new context has the initial value again */
    __cudaUnregisterFatBinary(handle);
}

/* A node's parameters name the stub again, not what the driver knows the kernel by. */
TEST(cudart_register, node_parameters_lead_back_to_the_stub)
{
    void **handle = register_all();
    struct cudaKernelNodeParams in = {&count_stub, {1, 1, 1}, {1, 1, 1}, 0, NULL, NULL}, out;
    cudaGraph_t graph;
    cudaGraphNode_t node;

    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &in));
    OK(cudaGraphKernelNodeGetParams(node, &out));
    T_PTR_EQ(out.func, &count_stub);
    OK(cudaGraphDestroy(graph));
    __cudaUnregisterFatBinary(handle);
}

/* Copy nodes with a variable at one end: added, set, and set in the executable graph. */
TEST(cudart_register, copy_nodes_reach_variables)
{
    void **handle = register_all();
    int in = 5, other = 6, out = 0;
    cudaGraph_t graph;
    cudaGraphNode_t to, from;
    cudaGraphExec_t exec;

    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, &counter_shadow, &other, 4, 0,
                                      cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, &other, &counter_shadow, 4, 0,
                                        cudaMemcpyDeviceToHost));
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(to, &counter_shadow, &in, 4, 0,
                                            cudaMemcpyHostToDevice));
    OK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, &out, &counter_shadow, 4, 0,
                                              cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaStreamSynchronize(NULL));
    T_EQ(out, 5);
    OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, &counter_shadow, &other, 4, 0,
                                                cudaMemcpyHostToDevice));
    OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, &in, &counter_shadow, 4, 0,
                                                  cudaMemcpyDeviceToHost));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaStreamSynchronize(NULL));
    T_EQ(in, 6);
    T_EQ(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, &add_stub, &other, 4, 0,
                                        cudaMemcpyHostToDevice),
         cudaErrorInvalidSymbol);
    T_EQ(cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, &counter_shadow, &other, 4, 1,
                                        cudaMemcpyHostToDevice),
         cudaErrorInvalidValue);
    T_EQ(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, &in, &counter_shadow, 4, 0,
                                                    cudaMemcpyHostToDevice),
         cudaErrorInvalidMemcpyDirection);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    __cudaUnregisterFatBinary(handle);
}
