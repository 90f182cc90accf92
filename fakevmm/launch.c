/* launch.c: kernel launches outside graphs. It must not know what a kernel's code is. */
#include "capture.h"
#include "device.h"
#include "event.h"
#include "module.h"
#include "stream.h"

#include <stdlib.h>

struct launch {
    struct fv_work work;
    struct fv_function function; /* a copy: the handle may go before the work has run */
    struct fv_shape shape;
    unsigned char *params;
};

static CUresult run_launch(struct fv_work *work)
{
    const struct launch *launch = (const struct launch *)work;

    return fv_run_kernel(&launch->function, &launch->shape, launch->params,
                         work->context->device->ordinal);
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

/* ---- attributes ---- */

static CUresult take_cluster(const CUlaunchAttributeValue *value, struct fv_shape *shape)
{
    shape->cluster[0] = value->clusterDim.x;
    shape->cluster[1] = value->clusterDim.y;
    shape->cluster[2] = value->clusterDim.z;
    return value->clusterDim.x && value->clusterDim.y && value->clusterDim.z
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* Those that change nothing here are checked and forgotten; later work that may start early
 * (programmatic serialization) does not have to. */
static CUresult take_attribute(const CUlaunchAttribute *attribute, struct fv_shape *shape)
{
    const CUlaunchAttributeValue *value = &attribute->value;

    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: /* each_event()'s */
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: shape->cooperative = value->cooperative; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: return take_cluster(value, shape);
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if ((unsigned)value->clusterSchedulingPolicyPreference >
            CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        if ((unsigned)value->memSyncDomain > CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value->sharedMemCarveout > 100)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

static CUresult take_config(const CUlaunchConfig *config, struct fv_shape *shape)
{
    CUresult result = CUDA_SUCCESS;

    *shape = (struct fv_shape){.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                               .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                               .shared_bytes = config->sharedMemBytes};
    if (config->numAttrs && !config->attrs)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++)
        result = take_attribute(&config->attrs[i], shape);
    return result;
}

static CUresult check_shape(const struct fv_function *function, const CUlaunchConfig *config,
                            struct fv_shape *shape)
{
    CUresult result = take_config(config, shape);

    if (result == CUDA_SUCCESS)
        result = fv_check_shape(function, shape->grid, shape->block, shape->shared_bytes);
    return result == CUDA_SUCCESS ? fv_check_company(function, shape) : result;
}

/* ---- events that a launch records ---- */

/* cuda.h lets such an event trigger as late as when the kernel is done: it is recorded behind it.
 */
static bool named_event(const CUlaunchAttribute *attribute, CUevent *event, int *flags)
{
    const CUlaunchAttributeValue *value = &attribute->value;

    if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
        *event = value->programmaticEvent.event;
        *flags = value->programmaticEvent.flags;
    } else if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
        *event = value->launchCompletionEvent.event;
        *flags = value->launchCompletionEvent.flags;
    } else {
        return false;
    }
    return true;
}

static CUresult check_event(CUevent handle, int flags, const struct fv_stream *stream,
                            struct fv_event **out)
{
    CUresult result = fv_event_of(handle, out);

    if (result != CUDA_SUCCESS)
        return result;
    if (fv_event_context(*out) != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    return flags == CU_EVENT_RECORD_DEFAULT && fv_event_is_plain(*out) ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE;
}

/* Looks whether the events can be recorded, or records them. */
static CUresult each_event(const CUlaunchConfig *config, struct fv_stream *stream, bool record)
{
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < config->numAttrs && result == CUDA_SUCCESS; i++) {
        struct fv_event *event;
        CUevent handle;
        int flags;

        if (!named_event(&config->attrs[i], &handle, &flags))
            continue;
        result = check_event(handle, flags, stream, &event);
        if (result == CUDA_SUCCESS && record)
            result = fv_event_record(event, stream);
    }
    return result;
}

/* ---- submission ---- */

static CUresult submit(struct fv_stream *stream, const struct fv_function *function,
                       const struct fv_shape *shape, unsigned char *params)
{
    struct launch *launch = malloc(sizeof *launch);

    if (!launch) {
        free(params);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *launch =
        (struct launch){.work = {.run = run_launch, .retire = retire_launch, .uses = launch_uses},
                        .function = *function,
                        .shape = *shape,
                        .params = params};
    fv_submit(stream, &launch->work);
    return CUDA_SUCCESS;
}

static CUresult launch_now(struct fv_stream *stream, const struct fv_function *function,
                           const struct fv_shape *shape, void **params, void **extra)
{
    unsigned char *packed;
    CUresult result = fv_pack_params(function, params, extra, &packed);

    return result == CUDA_SUCCESS ? submit(stream, function, shape, packed) : result;
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
    struct fv_shape shape;
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
    result = check_shape(function, config, &shape);
    if (result == CUDA_SUCCESS)
        result = each_event(config, stream, false);
    if (result == CUDA_SUCCESS)
        result = stream->tail ? capture(stream, function, config, params, extra)
                              : launch_now(stream, function, &shape, params, extra);
    return result == CUDA_SUCCESS ? each_event(config, stream, true) : result;
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
