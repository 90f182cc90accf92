/* context_info.c: questions to a context, its limits and hints, and the wait for all its work.
 * It must not know how contexts live and end (context.c). */
#include "capture.h"
#include "device.h"
#include "stream.h"

CUresult fv_cuCtxSynchronize_v2(CUcontext handle)
{
    struct fv_context *context;
    CUresult result = fv_context_of(handle, &context);

    if (result == CUDA_SUCCESS)
        result = fv_capture_permits_wait(context);
    return result == CUDA_SUCCESS ? fv_context_wait(context) : result;
}

CUresult fv_cuCtxSynchronize(void)
{
    return fv_cuCtxSynchronize_v2(NULL);
}

CUresult fv_cuCtxGetDevice_v2(CUdevice *out, CUcontext handle)
{
    struct fv_context *context;
    CUresult result = fv_context_of(handle, &context);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = context->device->ordinal;
    return result;
}

CUresult fv_cuCtxGetDevice(CUdevice *out)
{
    return fv_cuCtxGetDevice_v2(out, NULL);
}

CUresult fv_cuCtxGetFlags(unsigned *out)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = context->flags;
    return result;
}

CUresult fv_cuCtxSetFlags(unsigned flags)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (fv_check_context_flags(flags) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult fv_cuCtxGetApiVersion(CUcontext handle, unsigned *out)
{
    struct fv_context *context;
    CUresult result = fv_context_of(handle, &context);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = context->api_version;
    return result;
}

CUresult fv_cuCtxGetId(CUcontext handle, unsigned long long *out)
{
    struct fv_context *context;
    CUresult result = fv_context_of(handle, &context);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = context->id;
    return result;
}

/* ---- limits ---- */

enum limit_kind { LIMIT_NONE, LIMIT_READ, LIMIT_WRITE };

/* The nesting depth is refused as on every device of compute capability 9.0 and above. */
static enum limit_kind limit_kind(CUlimit limit)
{
    switch (limit) {
    case CU_LIMIT_STACK_SIZE:
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MALLOC_HEAP_SIZE:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return LIMIT_WRITE;
    case CU_LIMIT_SHMEM_SIZE:
    case CU_LIMIT_CIG_ENABLED: return LIMIT_READ;
    default: return LIMIT_NONE;
    }
}

static CUresult check_limit(CUlimit limit, enum limit_kind wanted)
{
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    return limit_kind(limit) < wanted ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_SUCCESS;
}

CUresult fv_cuCtxGetLimit(size_t *out, CUlimit limit)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result == CUDA_SUCCESS)
        result = out ? check_limit(limit, LIMIT_READ) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = context->limits[limit];
    return result;
}

/* What the driver makes of a request. */
static size_t clamp_limit(const struct fv_context *context, CUlimit limit, size_t value)
{
    size_t most = SIZE_MAX;

    if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY)
        most = 128;
    if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE)
        most = (size_t)fv_device_attribute(context->device,
                                           CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
    return value < most ? value : most;
}

CUresult fv_cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result == CUDA_SUCCESS)
        result = check_limit(limit, LIMIT_WRITE);
    if (result == CUDA_SUCCESS)
        context->limits[limit] = clamp_limit(context, limit, value);
    return result;
}

/* ---- hints ---- */

CUresult fv_cuCtxGetCacheConfig(CUfunc_cache *out)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = context->cache_config;
    return result;
}

CUresult fv_cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return CUDA_ERROR_INVALID_VALUE;
    context->cache_config = config;
    return CUDA_SUCCESS;
}

CUresult fv_cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = FV_GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}
