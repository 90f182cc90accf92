/* mem_v1.c: the memory functions of CUDA 2 and 3, for 32-bit device addresses and sizes. Addresses
 * here are beyond those, so what would have to return one finds none to give. It must not know
 * more than the functions of today. */
#include "fakevmm.h"

#include <limits.h>

static unsigned clipped(size_t size)
{
    return size > UINT_MAX ? UINT_MAX : (unsigned)size;
}

/* Ends an allocation that the caller has no way to name. */
static CUresult hand_out(CUdeviceptr address, CUdeviceptr_v1 *out)
{
    if (address > UINT_MAX) {
        fv_cuMemFree_v2(address);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = (CUdeviceptr_v1)address;
    return CUDA_SUCCESS;
}

CUresult fv_cuMemAlloc(CUdeviceptr_v1 *out, unsigned size)
{
    CUdeviceptr address = 0;
    CUresult result = fv_cuMemAlloc_v2(out ? &address : NULL, size);

    return result == CUDA_SUCCESS ? hand_out(address, out) : result;
}

CUresult fv_cuMemAllocPitch(CUdeviceptr_v1 *out, unsigned *pitch, unsigned width, unsigned height,
                            unsigned element)
{
    CUdeviceptr address = 0;
    size_t row = 0;
    CUresult result =
        fv_cuMemAllocPitch_v2(out ? &address : NULL, pitch ? &row : NULL, width, height, element);

    if (result == CUDA_SUCCESS)
        result = hand_out(address, out);
    if (result == CUDA_SUCCESS)
        *pitch = clipped(row);
    return result;
}

CUresult fv_cuMemFree(CUdeviceptr_v1 address)
{
    return fv_cuMemFree_v2(address);
}

CUresult fv_cuMemGetInfo(unsigned *available, unsigned *total)
{
    size_t all = 0, left = 0;
    CUresult result = fv_cuMemGetInfo_v2(available ? &left : NULL, total ? &all : NULL);

    if (result != CUDA_SUCCESS)
        return result;
    *available = clipped(left);
    *total = clipped(all);
    return CUDA_SUCCESS;
}

/* What is found at an address of 32 bits starts at one. */
CUresult fv_cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned *size, CUdeviceptr_v1 address)
{
    CUdeviceptr start = 0;
    size_t bytes = 0;
    CUresult result = fv_cuMemGetAddressRange_v2(&start, &bytes, address);

    if (result != CUDA_SUCCESS)
        return result;
    if (base)
        *base = (CUdeviceptr_v1)start;
    if (size)
        *size = clipped(bytes);
    return CUDA_SUCCESS;
}

CUresult fv_cuMemAllocHost(void **out, unsigned size)
{
    return fv_cuMemAllocHost_v2(out, size);
}

CUresult fv_cuMemHostGetDevicePointer(CUdeviceptr_v1 *out, void *bytes, unsigned flags)
{
    CUdeviceptr address = 0;
    CUresult result = fv_cuMemHostGetDevicePointer_v2(out ? &address : NULL, bytes, flags);

    if (result != CUDA_SUCCESS)
        return result;
    if (address > UINT_MAX)
        return CUDA_ERROR_INVALID_VALUE; /* as for memory that is not mapped for devices */
    *out = (CUdeviceptr_v1)address;
    return CUDA_SUCCESS;
}
