/* launch.c: kernel launches outside graphs. It must not know what a kernel's code is. */
#include "capture.h"
#include "device.h"
#include "module.h"
#include "stream.h"

#include <stdlib.h>

struct launch {
    struct fv_work work;
    struct fv_function function; /* a copy: the handle may go before the work has run */
    unsigned grid[3], block[3], shared_bytes;
    unsigned char *params;
};

static CUresult run_launch(struct fv_work *work)
{
    const struct launch *launch = (const struct launch *)work;

    return fv_run_kernel(&launch->function, launch->grid, launch->block, launch->shared_bytes,
                         launch->params, work->context->device->ordinal);
}

static const char *launch_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    const struct launch *launch = (const struct launch *)work;
    return fv_kernel_names(&launch->function, launch->params, base, size);
}

static void retire_launch(struct fv_work *work)
{
    free(((struct launch *)work)->params);
    free(work);
}

static CUresult check_attribute(const CUlaunchAttribute *attribute)
{
    const CUlaunchAttributeValue *value = &attribute->value;

    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: /* later work may start early */
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return value->clusterDim.x == 1 && value->clusterDim.y == 1 && value->clusterDim.z == 1
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

static CUresult check_attributes(const CUlaunchConfig *config)
{
    CUresult result = CUDA_SUCCESS;

    if (config->numAttrs && !config->attrs)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++)
        result = check_attribute(&config->attrs[i]);
    return result;
}

static CUresult submit(struct fv_stream *stream, const struct fv_function *function,
                       const CUlaunchConfig *config, unsigned char *params)
{
    struct launch *launch = malloc(sizeof *launch);

    if (!launch) {
        free(params);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *launch =
        (struct launch){.work = {.run = run_launch, .retire = retire_launch, .uses = launch_uses},
                        .function = *function,
                        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                        .shared_bytes = config->sharedMemBytes,
                        .params = params};
    fv_submit(stream, &launch->work);
    return CUDA_SUCCESS;
}

/* A launch's attributes become the node's, but for those that no node has. */
static CUresult keep_attributes(CUgraphNode node, const CUlaunchConfig *config, int priority)
{
    CUlaunchAttributeValue value = {.priority = priority};
    CUresult result = CUDA_SUCCESS;

    if (priority)
        result = fv_cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value);
    for (unsigned i = 0; i < config->numAttrs && result != CUDA_ERROR_OUT_OF_MEMORY; i++)
        result =
            fv_cuGraphKernelNodeSetAttribute(node, config->attrs[i].id, &config->attrs[i].value);
    return result == CUDA_ERROR_OUT_OF_MEMORY ? result : CUDA_SUCCESS;
}

static CUresult capture(struct fv_stream *stream, struct fv_function *function,
                        const CUlaunchConfig *config, void **params, void **extra)
{
    CUgraphNodeParams given =
        fv_given_kernel(&(CUDA_KERNEL_NODE_PARAMS_v2){.func = (CUfunction)function,
                                                      .gridDimX = config->gridDimX,
                                                      .gridDimY = config->gridDimY,
                                                      .gridDimZ = config->gridDimZ,
                                                      .blockDimX = config->blockDimX,
                                                      .blockDimY = config->blockDimY,
                                                      .blockDimZ = config->blockDimZ,
                                                      .sharedMemBytes = config->sharedMemBytes,
                                                      .kernelParams = params,
                                                      .extra = extra});
    CUgraphNode node;
    CUresult result = fv_capture_node(stream, &given, &node);

    if (result == CUDA_SUCCESS)
        result = keep_attributes(node, config, stream->priority);
    return result;
}

CUresult fv_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction handle, void **params,
                             void **extra)
{
    struct fv_function *function;
    struct fv_stream *stream;
    unsigned char *packed;
    CUresult result;

    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_stream_for_work(config->hStream, &stream);
    if (result == CUDA_SUCCESS)
        result = fv_function_of(handle, (CUcontext)stream->context, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (function->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    result = check_attributes(config);
    if (result == CUDA_SUCCESS)
        result = fv_check_shape(
            function, (unsigned[3]){config->gridDimX, config->gridDimY, config->gridDimZ},
            (unsigned[3]){config->blockDimX, config->blockDimY, config->blockDimZ},
            config->sharedMemBytes);
    if (result == CUDA_SUCCESS && stream->tail)
        return capture(stream, function, config, params, extra);
    if (result == CUDA_SUCCESS)
        result = fv_pack_params(function, params, extra, &packed);
    return result == CUDA_SUCCESS ? submit(stream, function, config, packed) : result;
}

CUresult fv_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
    return fv_cuLaunchKernelEx(&(CUlaunchConfig){.gridDimX = grid_x,
                                                 .gridDimY = grid_y,
                                                 .gridDimZ = grid_z,
                                                 .blockDimX = block_x,
                                                 .blockDimY = block_y,
                                                 .blockDimZ = block_z,
                                                 .sharedMemBytes = shared_bytes,
                                                 .hStream = stream},
                               function, params, extra);
}

CUresult fv_cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned shared_bytes, CUstream stream,
                                      void **params)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                     .value = {.cooperative = 1}};

    return fv_cuLaunchKernelEx(&(CUlaunchConfig){.gridDimX = grid_x,
                                                 .gridDimY = grid_y,
                                                 .gridDimZ = grid_z,
                                                 .blockDimX = block_x,
                                                 .blockDimY = block_y,
                                                 .blockDimZ = block_z,
                                                 .sharedMemBytes = shared_bytes,
                                                 .hStream = stream,
                                                 .attrs = &cooperative,
                                                 .numAttrs = 1},
                               function, params, NULL);
}
