/* context_legacy.c: calls about contexts that programs should no longer make, but do: usage counts,
 * shared memory banks, execution affinity. */
#include "device.h"

/* ---- usage ---- */

CUresult fv_cuCtxAttach(CUcontext *out, unsigned flags)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags)
        return CUDA_ERROR_INVALID_VALUE;
    context->usage++;
    *out = (CUcontext)context;
    return CUDA_SUCCESS;
}

/* The context has to be current. The last user's call destroys it, unless it is a primary one. */
CUresult fv_cuCtxDetach(CUcontext handle)
{
    struct fv_context *context = (struct fv_context *)handle;
    CUcontext current = NULL;

    fv_cuCtxGetCurrent(&current);
    if (!handle || handle != current || !fv_valid(FV_CONTEXT, context) || context->closing ||
        !context->usage)
        return CUDA_ERROR_INVALID_CONTEXT;
    context->usage--;
    return context->usage || context->primary ? CUDA_SUCCESS : fv_cuCtxDestroy_v2(handle);
}

/* ---- hints ---- */

/* The banks of these devices are four bytes wide, whatever is asked for. */
CUresult fv_cuCtxGetSharedMemConfig(CUsharedconfig *out)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return result;
}

CUresult fv_cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    return (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_SUCCESS
                                                                         : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuCtxResetPersistingL2Cache(void)
{
    struct fv_context *context;

    return fv_current(&context);
}

/* As cuDeviceGetExecAffinitySupport() says. */
CUresult fv_cuCtxGetExecAffinity(CUexecAffinityParam *out, CUexecAffinityType type)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || (unsigned)type >= CU_EXEC_AFFINITY_TYPE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

/* ---- what goes by without effect ---- */

/* Nothing writes to a device's memory from outside. */
CUresult fv_cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                       CUflushGPUDirectRDMAWritesScope scope)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX ||
        (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
         scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* A profiler that is not attached. */
CUresult fv_cuProfilerStart(void)
{
    struct fv_context *context;

    return fv_current(&context);
}

CUresult fv_cuProfilerInitialize(const char *config, const char *output, CUoutput_mode mode)
{
    return CUDA_ERROR_NOT_SUPPORTED; /* all it is documented to do */
}

CUresult fv_cuProfilerStop(void)
{
    return fv_cuProfilerStart();
}
