/* driver.c: the least that counts as a driver library: it allocates, frees, and answers for
 * cuGetProcAddress. Every address is its own. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult cuInit(unsigned int flags)
{
    (void)flags;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = NULL;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *address = 0x700000000 + bytes;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr address)
{
    return address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **answer, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status)
{
    (void)flags;
    *answer = !strcmp(name, "cuMemAlloc") && version >= 3020 ? (void *)cuMemAlloc_v2
              : !strcmp(name, "cuInit")                      ? (void *)cuInit
                                                             : NULL;
    if (status)
        *status = *answer ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *answer ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
