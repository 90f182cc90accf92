/* device_more.c: questions to devices that few programs ask: links, textures, identity on other
 * systems, sizes in 32 bits. */
#include "array.h"
#include "device.h"

#include <limits.h>
#include <string.h>

/* More memory than fits into the result is cut off. */
CUresult fv_cuDeviceTotalMem(unsigned *out, CUdevice ordinal)
{
    size_t bytes;
    CUresult result = out ? fv_cuDeviceTotalMem_v2(&bytes, ordinal) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = bytes < UINT_MAX ? (unsigned)bytes : UINT_MAX;
    return result;
}

/* Only Windows has these. */
CUresult fv_cuDeviceGetLuid(char *luid, unsigned *mask, CUdevice ordinal)
{
    if (!luid || !mask)
        return CUDA_ERROR_INVALID_VALUE;
    return fv_device(ordinal) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
}

CUresult fv_cuDeviceGetTexture1DLinearMaxWidth(size_t *out, CUarray_format format,
                                               unsigned channels, CUdevice ordinal)
{
    const struct fv_device *device = fv_device(ordinal);
    CUDA_ARRAY3D_DESCRIPTOR texel = {.Width = 1, .Format = format, .NumChannels = channels};
    size_t element, bytes;

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (fv_array_check(&texel, false, &element, &bytes) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (size_t)fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
    return CUDA_SUCCESS;
}

/* ---- atomics over links: none are native, as HOST_NATIVE_ATOMIC_SUPPORTED and
 * CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED say ---- */

static CUresult no_atomics(unsigned *out, const CUatomicOperation *operations, unsigned count)
{
    if (!out || !operations || !count)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if ((unsigned)operations[i] >= CU_ATOMIC_OPERATION_MAX)
            return CUDA_ERROR_INVALID_VALUE;
    memset(out, 0, count * sizeof *out);
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceGetHostAtomicCapabilities(unsigned *out, const CUatomicOperation *operations,
                                              unsigned count, CUdevice device)
{
    return fv_device(device) ? no_atomics(out, operations, count) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult fv_cuDeviceGetP2PAtomicCapabilities(unsigned *out, const CUatomicOperation *operations,
                                             unsigned count, CUdevice from, CUdevice to)
{
    if (!fv_device(from) || !fv_device(to) || from == to)
        return CUDA_ERROR_INVALID_DEVICE;
    return no_atomics(out, operations, count);
}
