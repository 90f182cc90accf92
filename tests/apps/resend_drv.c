/* resend_drv: the same work as resend, by a program that links nothing of CUDA: it opens the driver
 * library by name, looks its functions up, and uses the first forms of the kernel-node calls with
 * all parameters packed in one buffer, as bindings written for CUDA 10 still do. */
#include "tests/apps/resend.h"
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>

/* Symbol and type of each function used. */
#define FUNCTIONS(X)                                                                               \
    X(cuInit, PFN_cuInit_v2000)                                                                    \
    X(cuGetErrorName, PFN_cuGetErrorName_v6000)                                                    \
    X(cuDeviceGet, PFN_cuDeviceGet_v2000)                                                          \
    X(cuDevicePrimaryCtxRetain, PFN_cuDevicePrimaryCtxRetain_v7000)                                \
    X(cuDevicePrimaryCtxRelease_v2, PFN_cuDevicePrimaryCtxRelease_v11000)                          \
    X(cuCtxSetCurrent, PFN_cuCtxSetCurrent_v4000)                                                  \
    X(cuModuleLoadData, PFN_cuModuleLoadData_v2000)                                                \
    X(cuModuleGetFunction, PFN_cuModuleGetFunction_v2000)                                          \
    X(cuModuleUnload, PFN_cuModuleUnload_v2000)                                                    \
    X(cuMemAlloc_v2, PFN_cuMemAlloc_v3020)                                                         \
    X(cuMemFree_v2, PFN_cuMemFree_v3020)                                                           \
    X(cuMemcpyHtoD_v2, PFN_cuMemcpyHtoD_v3020)                                                     \
    X(cuMemcpyDtoH_v2, PFN_cuMemcpyDtoH_v3020)                                                     \
    X(cuStreamCreate, PFN_cuStreamCreate_v2000)                                                    \
    X(cuStreamSynchronize, PFN_cuStreamSynchronize_v2000)                                          \
    X(cuStreamDestroy_v2, PFN_cuStreamDestroy_v4000)                                               \
    X(cuGraphCreate, PFN_cuGraphCreate_v10000)                                                     \
    X(cuGraphAddKernelNode, PFN_cuGraphAddKernelNode_v10000)                                       \
    X(cuGraphInstantiateWithFlags, PFN_cuGraphInstantiateWithFlags_v11040)                         \
    X(cuGraphExecKernelNodeSetParams, PFN_cuGraphExecKernelNodeSetParams_v10010)                   \
    X(cuGraphLaunch, PFN_cuGraphLaunch_v10000)                                                     \
    X(cuGraphExecDestroy, PFN_cuGraphExecDestroy_v10000)                                           \
    X(cuGraphDestroy, PFN_cuGraphDestroy_v10000)

#define DECLARE(name, type) type fn_##name;
static struct {
    FUNCTIONS(DECLARE)
} cu;

_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v1) == 56, "the form without kernel and context");

struct resend {
    struct app_options options;
    struct app_reach reach;
    struct app_tally tally;
    uint64_t random;
    CUdevice device;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode *nodes;
    struct resend_args *args;
    uint64_t *buffers; /* device addresses */
};

#define CALL(name, ...) check(#name, cu.fn_##name(__VA_ARGS__))

static void check(const char *name, CUresult error)
{
    const char *text = "unknown error";

    if (error == CUDA_SUCCESS)
        return;
    cu.fn_cuGetErrorName(error, &text);
    app_fail(name, text);
}

static void *look_up(void *library, const char *name)
{
    void *function = dlsym(library, name);

    if (!function)
        app_fail(name, "not in libcuda.so.1");
    return function;
}

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        app_fail("dlopen", dlerror());
#define LOOK_UP(name, type) cu.fn_##name = (type)look_up(library, #name);
    FUNCTIONS(LOOK_UP)
}

static void start(struct resend *r)
{
    CUcontext context;

    CALL(cuInit, 0);
    CALL(cuDeviceGet, &r->device, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, r->device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuModuleLoadData, &r->module, resend_ptx);
    CALL(cuModuleGetFunction, &r->function, r->module, "resend_step");
    CALL(cuStreamCreate, &r->stream, CU_STREAM_DEFAULT);
}

static void make_buffers(struct resend *r)
{
    uint64_t count = resend_buffers(r->options.nodes);
    size_t piece = r->reach.piece_bytes;
    char *host = app_alloc(r->reach.pieces, piece);

    r->buffers = app_alloc(count, sizeof *r->buffers);
    for (uint64_t b = 0; b < count; b++) {
        CUdeviceptr device;

        CALL(cuMemAlloc_v2, &device, r->options.bytes);
        r->buffers[b] = device;
        resend_fill(host, r->reach.pieces * piece, &r->random);
        for (size_t i = 0; i < r->reach.pieces; i++)
            CALL(cuMemcpyHtoD_v2, device + app_piece(&r->reach, i), host + i * piece, piece);
    }
    free(host);
}

/* `extra` and `*bytes` are the list through which the packed parameters are passed. */
static CUDA_KERNEL_NODE_PARAMS_v1 node_params(const struct resend *r, struct resend_args *args,
                                              void *extra[5], size_t *bytes)
{
    void *list[5] = {CU_LAUNCH_PARAM_BUFFER_POINTER, args, CU_LAUNCH_PARAM_BUFFER_SIZE, bytes,
                     CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS_v1 params = {
        .func = r->function,
        .gridDimX = RESEND_GRID,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = RESEND_BLOCK,
        .blockDimY = 1,
        .blockDimZ = 1,
        .extra = extra,
    };

    *bytes = sizeof *args;
    memcpy(extra, list, sizeof list);
    return params;
}

static void make_graph(struct resend *r)
{
    uint64_t count = r->options.nodes;
    void *extra[5];
    size_t bytes;

    r->nodes = app_alloc(count, sizeof *r->nodes);
    r->args = app_alloc(count, sizeof *r->args);
    CALL(cuGraphCreate, &r->graph, 0);
    for (uint64_t k = 0; k < count; k++) {
        resend_start(&r->args[k], k, r->buffers, &r->reach, &r->random);
        CUDA_KERNEL_NODE_PARAMS_v1 params = node_params(r, &r->args[k], extra, &bytes);
        CALL(cuGraphAddKernelNode, &r->nodes[k], r->graph, k ? &r->nodes[k - 1] : NULL, k ? 1 : 0,
             &params);
    }
    CALL(cuGraphInstantiateWithFlags, &r->exec, r->graph, 0);
}

static void step(struct resend *r, uint64_t number)
{
    void *extra[5];
    size_t bytes;

    resend_change(r->args, r->options.nodes, number, &r->random);
    uint64_t start = app_now();
    for (uint64_t k = 0; k < r->options.nodes; k++) {
        CUDA_KERNEL_NODE_PARAMS_v1 params = node_params(r, &r->args[k], extra, &bytes);
        r->tally.updates++;
        CALL(cuGraphExecKernelNodeSetParams, r->exec, r->nodes[k], &params);
    }
    r->tally.launches++;
    CALL(cuGraphLaunch, r->exec, r->stream);
    r->tally.host_ns += app_now() - start;
    CALL(cuStreamSynchronize, r->stream);
}

static void read_buffers(struct resend *r)
{
    size_t piece = r->reach.piece_bytes;
    char *host = app_alloc(1, piece);

    r->tally.checksum = APP_CHECKSUM_START;
    for (uint64_t b = 0; b < resend_buffers(r->options.nodes); b++)
        for (size_t i = 0; i < r->reach.pieces; i++) {
            CALL(cuMemcpyDtoH_v2, host, r->buffers[b] + app_piece(&r->reach, i), piece);
            r->tally.checksum = app_checksum(r->tally.checksum, host, piece);
        }
    free(host);
}

static void clean_up(struct resend *r)
{
    CALL(cuGraphExecDestroy, r->exec);
    CALL(cuGraphDestroy, r->graph);
    for (uint64_t b = 0; b < resend_buffers(r->options.nodes); b++)
        CALL(cuMemFree_v2, r->buffers[b]);
    CALL(cuStreamDestroy_v2, r->stream);
    CALL(cuModuleUnload, r->module);
    CALL(cuDevicePrimaryCtxRelease_v2, r->device);
    free(r->buffers);
    free(r->args);
    free(r->nodes);
}

int main(int argc, char **argv)
{
    struct resend r = {.options = resend_defaults};

    app_parse(argc, argv, resend_about, &r.options);
    r.reach = app_reach(r.options.bytes, sizeof(uint32_t));
    r.random = r.options.seed;
    open_driver();
    start(&r);
    make_buffers(&r);
    make_graph(&r);
    for (uint64_t number = 0; number < r.options.steps; number++)
        step(&r, number);
    read_buffers(&r);
    clean_up(&r);
    return app_finish(&r.options, &r.tally);
}
