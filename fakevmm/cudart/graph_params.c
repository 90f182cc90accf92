/* graph_params.c: the parameters of graph nodes, from the runtime's form to the driver's and back.
 * The runtime's kernel nodes name a host stub or a cudaKernel_t where the driver's name a function
 * or a kernel; its copy nodes name a direction; the rest differs in type names only. */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- func or kern ---- */

static bool kern_form;

/* FAKEVMM_MODEL is a comma list of key=value; this library reads one key of it. Nobody has shown
 * yet which form NVIDIA's runtime uses, so both can be had. */
static void read_model(void)
{
    static const char want[] = "launchform=kern";
    const char *item = getenv("FAKEVMM_MODEL");

    while (item) {
        const char *end = strchr(item, ',');
        size_t length = end ? (size_t)(end - item) : strlen(item);

        kern_form |= length == sizeof want - 1 && memcmp(item, want, length) == 0;
        item = end ? end + 1 : NULL;
    }
}

static bool hands_out_kern(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_model);
    return kern_form;
}

/* ---- kernel nodes ---- */

/* Sets `func` or `kern`. */
static cudaError_t name_kernel(const void *func, CUfunction *function, CUkernel *kernel)
{
    *function = NULL;
    *kernel = NULL;
    return hands_out_kern() ? rt_kernel_of(func, kernel) : rt_function_of(func, function);
}

cudaError_t rt_node_to_driver(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to)
{
    if (!from)
        return cudaErrorInvalidValue;
    *to = (CUDA_KERNEL_NODE_PARAMS){
        .gridDimX = from->gridDim.x,
        .gridDimY = from->gridDim.y,
        .gridDimZ = from->gridDim.z,
        .blockDimX = from->blockDim.x,
        .blockDimY = from->blockDim.y,
        .blockDimZ = from->blockDim.z,
        .sharedMemBytes = from->sharedMemBytes,
        .kernelParams = from->kernelParams,
        .extra = from->extra,
    };
    return name_kernel(from->func, &to->func, &to->kern);
}

cudaError_t rt_node_from_driver(const CUDA_KERNEL_NODE_PARAMS *from,
                                struct cudaKernelNodeParams *to)
{
    void *func;
    cudaError_t error = rt_func_of(from->func, from->kern, &func);

    if (error == cudaSuccess) {
        *to = (struct cudaKernelNodeParams){
            .func = func,
            .gridDim = {from->gridDimX, from->gridDimY, from->gridDimZ},
            .blockDim = {from->blockDimX, from->blockDimY, from->blockDimZ},
            .sharedMemBytes = from->sharedMemBytes,
            .kernelParams = from->kernelParams,
            .extra = from->extra,
        };
    }
    return error;
}

/* ---- the form that carries any type of node ---- */

static cudaError_t kernel_to_driver(const struct cudaKernelNodeParamsV2 *from,
                                    CUDA_KERNEL_NODE_PARAMS_v3 *to)
{
    *to = (CUDA_KERNEL_NODE_PARAMS_v3){
        .gridDimX = from->gridDim.x,
        .gridDimY = from->gridDim.y,
        .gridDimZ = from->gridDim.z,
        .blockDimX = from->blockDim.x,
        .blockDimY = from->blockDim.y,
        .blockDimZ = from->blockDim.z,
        .sharedMemBytes = from->sharedMemBytes,
        .kernelParams = from->kernelParams,
        .extra = from->extra,
    };
    return name_kernel(from->func, &to->func, &to->kern);
}

static cudaError_t memcpy_to_driver(const struct cudaMemcpyNodeParams *from,
                                    CUDA_MEMCPY_NODE_PARAMS *to)
{
    *to = (CUDA_MEMCPY_NODE_PARAMS){.flags = from->flags};
    cudaError_t error = rt_context(&to->copyCtx);

    return error == cudaSuccess ? rt_copy_to_driver(&from->copyParams, &to->copyParams) : error;
}

static cudaError_t memset_to_driver(const struct cudaMemsetParamsV2 *from,
                                    CUDA_MEMSET_NODE_PARAMS_v2 *to)
{
    *to = (CUDA_MEMSET_NODE_PARAMS_v2){
        .dst = rt_address(from->dst),
        .pitch = from->pitch,
        .value = from->value,
        .elementSize = from->elementSize,
        .width = from->width,
        .height = from->height,
    };
    return rt_context(&to->ctx);
}

/* The types not named here have one layout in both forms, except that a conditional node names its
 * context in a field that the runtime's form leaves zero. */
cudaError_t rt_params_to_driver(const struct cudaGraphNodeParams *from, CUgraphNodeParams *to)
{
    _Static_assert(sizeof from->reserved1 == sizeof to->reserved1, "one size in both forms");

    if (!from)
        return cudaErrorInvalidValue;
    memset(to, 0, sizeof *to);
    to->type = (CUgraphNodeType)from->type;
    switch (from->type) {
    case cudaGraphNodeTypeKernel: return kernel_to_driver(&from->kernel, &to->kernel);
    case cudaGraphNodeTypeMemcpy: return memcpy_to_driver(&from->memcpy, &to->memcpy);
    case cudaGraphNodeTypeMemset: return memset_to_driver(&from->memset, &to->memset);
    default: break;
    }
    memcpy(to->reserved1, from->reserved1, sizeof to->reserved1);
    if (from->type == cudaGraphNodeTypeConditional)
        return rt_context(&to->conditional.ctx);
    return cudaSuccess;
}

void rt_params_outputs(const CUgraphNodeParams *from, struct cudaGraphNodeParams *to)
{
    if (to->type == cudaGraphNodeTypeMemAlloc)
        to->alloc.dptr = (void *)from->alloc.dptr;
    if (to->type == cudaGraphNodeTypeConditional)
        to->conditional.phGraph_out = from->conditional.phGraph_out;
}
