/* kernel.c: kernels as the application names them: libraries it loads, attributes. A
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

cudaError_t rt_cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *file,
                                       enum cudaJitOption *jit_options, void **jit_values,
                                       unsigned int jit_count, enum cudaLibraryOption *options,
                                       void **values, unsigned int count)
{
    cudaError_t error = DRIVER(cuLibraryLoadFromFile, out, file, (CUjit_option *)jit_options,
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

FORWARD(cudaLibraryGetUnifiedFunction, (void **out, cudaLibrary_t library, const char *name),
        cuLibraryGetUnifiedFunction, out, library, name)

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

ON_FUNCTION(cudaFuncSetAttribute, (const void *func, enum cudaFuncAttribute which, int value),
            cuFuncSetAttribute, function, (CUfunction_attribute)which, value)
ON_FUNCTION(cudaFuncSetCacheConfig, (const void *func, enum cudaFuncCache config),
            cuFuncSetCacheConfig, function, (CUfunc_cache)config)
ON_FUNCTION(cudaFuncGetName, (const char **out, const void *func), cuFuncGetName, out, function)
ON_FUNCTION(cudaFuncGetParamInfo, (const void *func, size_t index, size_t *offset, size_t *bytes),
            cuFuncGetParamInfo, function, index, offset, bytes)
ON_FUNCTION(cudaFuncSetSharedMemConfig, (const void *func, enum cudaSharedMemConfig config),
            cuFuncSetSharedMemConfig, function, (CUsharedconfig)config)
FORWARD(cudaKernelSetAttributeForDevice,
        (cudaKernel_t kernel, enum cudaFuncAttribute which, int value, int device),
        cuKernelSetAttribute, (CUfunction_attribute)which, value, kernel, device)
