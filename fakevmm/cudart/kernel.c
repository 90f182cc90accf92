/* kernel.c: kernels as the application names them: libraries it loads, attributes, launches. A
 * kernel argument called `func` is a host stub or a cudaKernel_t; library.c tells which. */
#include "runtime.h"

/* ---- libraries ---- */

cudaError_t rt_cudaLibraryLoadData(cudaLibrary_t *out, const void *code,
                                   enum cudaJitOption *jit_options, void **jit_values,
                                   unsigned int jit_count, enum cudaLibraryOption *options,
                                   void **values, unsigned int count)
{
    cudaError_t error = DRIVER(cuLibraryLoadData, out, code, (CUjit_option *)jit_options,
                               jit_values, jit_count, (CUlibraryOption *)options, values, count);

    if (error == cudaSuccess)
        rt_library_note(*out);
    return error;
}

cudaError_t rt_cudaLibraryUnload(cudaLibrary_t library)
{
    cudaError_t error = DRIVER(cuLibraryUnload, library);

    if (error == cudaSuccess)
        rt_library_forget(library);
    return error;
}

cudaError_t rt_cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name)
{
    return DRIVER(cuLibraryGetKernel, out, library, name);
}

cudaError_t rt_cudaLibraryGetKernelCount(unsigned int *out, cudaLibrary_t library)
{
    return DRIVER(cuLibraryGetKernelCount, out, library);
}

cudaError_t rt_cudaLibraryEnumerateKernels(cudaKernel_t *out, unsigned int count,
                                           cudaLibrary_t library)
{
    return DRIVER(cuLibraryEnumerateKernels, out, count, library);
}

cudaError_t rt_cudaLibraryGetGlobal(void **out, size_t *bytes, cudaLibrary_t library,
                                    const char *name)
{
    return DRIVER(cuLibraryGetGlobal, (CUdeviceptr *)out, bytes, library, name);
}

cudaError_t rt_cudaLibraryGetManaged(void **out, size_t *bytes, cudaLibrary_t library,
                                     const char *name)
{
    return DRIVER(cuLibraryGetManaged, (CUdeviceptr *)out, bytes, library, name);
}

/* ---- functions ---- */

cudaError_t rt_cudaGetKernel(cudaKernel_t *out, const void *func)
{
    return out ? rt_kernel_of(func, out) : cudaErrorInvalidValue;
}

cudaError_t rt___cudaGetKernel(cudaKernel_t *out, const void *func)
{
    return rt_cudaGetKernel(out, func);
}

cudaError_t rt_cudaGetFuncBySymbol(cudaFunction_t *out, const void *func)
{
    return out ? rt_function_of(func, out) : cudaErrorInvalidValue;
}

/* Field of cudaFuncAttributes, attribute of the driver. */
#define FUNCTION_ATTRIBUTES(X)                                                                     \
    X(sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)                                        \
    X(constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)                                          \
    X(localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)                                          \
    X(maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                                 \
    X(numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS)                                                         \
    X(ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION)                                                   \
    X(binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION)                                             \
    X(cacheModeCA, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA)                                                \
    X(maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)                  \
    X(preferredShmemCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)                  \
    X(clusterDimMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)                             \
    X(requiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)                              \
    X(requiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)                            \
    X(requiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)                              \
    X(nonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)          \
    X(clusterSchedulingPolicyPreference, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)

cudaError_t rt_cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *func)
{
    struct cudaFuncAttributes attributes = {0};
    CUfunction function;
    cudaError_t error = out ? rt_function_of(func, &function) : cudaErrorInvalidValue;
    int value = 0;

#define X(field, attribute)                                                                        \
    if (error == cudaSuccess)                                                                      \
        error = DRIVER(cuFuncGetAttribute, &value, attribute, function);                           \
    attributes.field = value;
    FUNCTION_ATTRIBUTES(X)
#undef X
    if (error == cudaSuccess)
        *out = attributes;
    return error;
}

#define ON_FUNCTION(name, params, driver, ...)                                                     \
    cudaError_t rt_##name params                                                                   \
    {                                                                                              \
        CUfunction function;                                                                       \
        cudaError_t error = rt_function_of(func, &function);                                       \
        return error == cudaSuccess ? DRIVER(driver, __VA_ARGS__) : error;                         \
    }

ON_FUNCTION(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute which, int value),
            cuFuncSetAttribute, function, (CUfunction_attribute)which, value)
ON_FUNCTION(cudaFuncSetCacheConfig, (const void *func, enum cudaFuncCache config),
            cuFuncSetCacheConfig, function, (CUfunc_cache)config)
ON_FUNCTION(cudaFuncGetName, (const char **out, const void *func), cuFuncGetName, out, function)
ON_FUNCTION(cudaFuncGetParamInfo, (const void *func, size_t index, size_t *offset, size_t *bytes),
            cuFuncGetParamInfo, function, index, offset, bytes)
ON_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
            (int *out, const void *func, int threads, size_t shared_bytes),
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, function, threads,
            shared_bytes, CU_OCCUPANCY_DEFAULT)
ON_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int *out, const void *func, int threads, size_t shared_bytes, unsigned int flags),
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, function, threads,
            shared_bytes, flags)

/* ---- launches ---- */

ON_FUNCTION(cudaLaunchKernel,
            (const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
             cudaStream_t stream),
            cuLaunchKernel, function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
            (unsigned)shared_bytes, stream, args, NULL)
ON_FUNCTION(cudaLaunchCooperativeKernel,
            (const void *func, dim3 grid, dim3 block, void **args, size_t shared_bytes,
             cudaStream_t stream),
            cuLaunchCooperativeKernel, function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
            (unsigned)shared_bytes, stream, args)

/* What `<<<>>>` becomes. The handle stays NULL when the kernel could not be looked up. */
cudaError_t rt___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                  size_t shared_bytes, cudaStream_t stream)
{
    return rt_cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *config, cudaStream_t stream,
                             const void *func, void **args)
{
    CUlaunchConfig launch = {
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
    CUfunction function;
    cudaError_t error = rt_function_of(func, &function);

    return error == cudaSuccess ? DRIVER(cuLaunchKernelEx, &launch, function, args, NULL) : error;
}

cudaError_t rt_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    return config ? launch_ex(config, config->stream, func, args) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
                                        void **args)
{
    return config ? launch_ex(config, rt_ptsz(config->stream), func, args) : cudaErrorInvalidValue;
}

/* ---- the configuration between `<<<` and `>>>` ---- */

/* The arguments of a launch may launch themselves, so configurations nest. */
#define CONFIGURATIONS_MAX 16

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

static __thread struct configuration configurations[CONFIGURATIONS_MAX];
static __thread unsigned configuration_depth;

unsigned int rt___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                            struct CUstream_st *stream)
{
    if (configuration_depth == CONFIGURATIONS_MAX)
        return cudaErrorMissingConfiguration;
    configurations[configuration_depth++] =
        (struct configuration){grid, block, shared_bytes, stream};
    return cudaSuccess;
}

cudaError_t rt___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                          void *stream)
{
    const struct configuration *top;

    if (!configuration_depth)
        return cudaErrorMissingConfiguration;
    top = &configurations[--configuration_depth];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}
