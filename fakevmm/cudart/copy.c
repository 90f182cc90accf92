/* copy.c: copies and fills. The runtime names a direction; the driver has one call for each, and a
 * memory type at each end of a 2D or 3D copy. This file owns that translation, for plain calls and
 * for the copy nodes of graphs. */
#include "runtime.h"

/* Which of two forms a synchronous call takes: for the legacy or the per-thread default stream. */
#define SYNC(per_thread, name, ...)                                                                \
    ((per_thread) ? DRIVER(name##_ptds, __VA_ARGS__) : DRIVER(name, __VA_ARGS__))

/* ---- one dimension ---- */

static cudaError_t copy_now(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                            bool per_thread)
{
    CUdeviceptr to = rt_address(dst), from = rt_address(src);

    switch (kind) {
    case cudaMemcpyHostToDevice: return SYNC(per_thread, cuMemcpyHtoD, to, src, count);
    case cudaMemcpyDeviceToHost: return SYNC(per_thread, cuMemcpyDtoH, dst, from, count);
    case cudaMemcpyDeviceToDevice: return SYNC(per_thread, cuMemcpyDtoD, to, from, count);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return SYNC(per_thread, cuMemcpy, to, from, count);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

cudaError_t rt_cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return copy_now(dst, src, count, kind, false);
}

cudaError_t rt_cudaMemcpy_ptds(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    return copy_now(dst, src, count, kind, true);
}

cudaError_t rt_cudaMemcpyAsync(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                               cudaStream_t stream)
{
    CUdeviceptr to = rt_address(dst), from = rt_address(src);

    switch (kind) {
    case cudaMemcpyHostToDevice: return DRIVER(cuMemcpyHtoDAsync, to, src, count, stream);
    case cudaMemcpyDeviceToHost: return DRIVER(cuMemcpyDtoHAsync, dst, from, count, stream);
    case cudaMemcpyDeviceToDevice: return DRIVER(cuMemcpyDtoDAsync, to, from, count, stream);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return DRIVER(cuMemcpyAsync, to, from, count, stream);
    default: return cudaErrorInvalidMemcpyDirection;
    }
}

/* ---- two and three dimensions ---- */

/* The memory type at each end that a direction means. "Default" leaves it to the addresses. */
static cudaError_t memory_types(enum cudaMemcpyKind kind, CUmemorytype *src, CUmemorytype *dst)
{
    static const CUmemorytype types[][2] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };

    if ((unsigned)kind >= sizeof types / sizeof *types)
        return cudaErrorInvalidMemcpyDirection;
    *src = types[kind][0];
    *dst = types[kind][1];
    return cudaSuccess;
}

cudaError_t rt_copy_to_driver(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to)
{
    CUmemorytype src, dst;
    cudaError_t error = memory_types(from->kind, &src, &dst);

    if (error != cudaSuccess)
        return error;
    if (from->srcArray || from->dstArray)
        return cudaErrorNotSupported;
    *to = (CUDA_MEMCPY3D){
        .srcXInBytes = from->srcPos.x,
        .srcY = from->srcPos.y,
        .srcZ = from->srcPos.z,
        .srcMemoryType = src,
        .srcPitch = from->srcPtr.pitch,
        .srcHeight = from->srcPtr.ysize,
        .dstXInBytes = from->dstPos.x,
        .dstY = from->dstPos.y,
        .dstZ = from->dstPos.z,
        .dstMemoryType = dst,
        .dstPitch = from->dstPtr.pitch,
        .dstHeight = from->dstPtr.ysize,
        .WidthInBytes = from->extent.width,
        .Height = from->extent.height,
        .Depth = from->extent.depth,
    };
    if (src == CU_MEMORYTYPE_HOST)
        to->srcHost = from->srcPtr.ptr;
    else
        to->srcDevice = rt_address(from->srcPtr.ptr);
    if (dst == CU_MEMORYTYPE_HOST)
        to->dstHost = from->dstPtr.ptr;
    else
        to->dstDevice = rt_address(from->dstPtr.ptr);
    return cudaSuccess;
}

static enum cudaMemcpyKind kind_of(CUmemorytype src, CUmemorytype dst)
{
    if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (src == CU_MEMORYTYPE_HOST)
        return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

/* A driver's description has no width of the whole row; the pitch stands in for it. */
void rt_copy_from_driver(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to)
{
    void *src = from->srcMemoryType == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)from->srcHost
                                                          : (void *)from->srcDevice;
    void *dst = from->dstMemoryType == CU_MEMORYTYPE_HOST ? from->dstHost : (void *)from->dstDevice;

    *to = (struct cudaMemcpy3DParms){
        .srcPos = {from->srcXInBytes, from->srcY, from->srcZ},
        .srcPtr = {src, from->srcPitch, from->srcPitch, from->srcHeight},
        .dstPos = {from->dstXInBytes, from->dstY, from->dstZ},
        .dstPtr = {dst, from->dstPitch, from->dstPitch, from->dstHeight},
        .extent = {from->WidthInBytes, from->Height, from->Depth},
        .kind = kind_of(from->srcMemoryType, from->dstMemoryType),
    };
}

struct cudaMemcpy3DParms rt_copy_1d(void *dst, const void *src, size_t count,
                                    enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)src, count, count, 1},
        .dstPtr = {dst, count, count, 1},
        .extent = {count, 1, 1},
        .kind = kind,
    };
}

static cudaError_t copy_3d_now(const struct cudaMemcpy3DParms *params, bool per_thread)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = params ? rt_copy_to_driver(params, &copy) : cudaErrorInvalidValue;

    return error == cudaSuccess ? SYNC(per_thread, cuMemcpy3D, &copy) : error;
}

cudaError_t rt_cudaMemcpy3D(const struct cudaMemcpy3DParms *params)
{
    return copy_3d_now(params, false);
}

cudaError_t rt_cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *params)
{
    return copy_3d_now(params, true);
}

cudaError_t rt_cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *params, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = params ? rt_copy_to_driver(params, &copy) : cudaErrorInvalidValue;

    return error == cudaSuccess ? DRIVER(cuMemcpy3DAsync, &copy, stream) : error;
}

static cudaError_t copy_2d(CUDA_MEMCPY2D *copy, void *dst, size_t dst_pitch, const void *src,
                           size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    *copy = (CUDA_MEMCPY2D){
        .srcHost = src,
        .srcDevice = rt_address(src),
        .srcPitch = src_pitch,
        .dstHost = dst,
        .dstDevice = rt_address(dst),
        .dstPitch = dst_pitch,
        .WidthInBytes = width,
        .Height = height,
    };
    if (width > dst_pitch || width > src_pitch)
        return cudaErrorInvalidPitchValue;
    return memory_types(kind, &copy->srcMemoryType, &copy->dstMemoryType);
}

cudaError_t rt_cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy;
    cudaError_t error = copy_2d(&copy, dst, dst_pitch, src, src_pitch, width, height, kind);

    return error == cudaSuccess ? DRIVER(cuMemcpy2DUnaligned, &copy) : error;
}

cudaError_t rt_cudaMemcpy2D_ptds(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                                 size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy;
    cudaError_t error = copy_2d(&copy, dst, dst_pitch, src, src_pitch, width, height, kind);

    return error == cudaSuccess ? DRIVER(cuMemcpy2DUnaligned_ptds, &copy) : error;
}

cudaError_t rt_cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                                 size_t width, size_t height, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    cudaError_t error = copy_2d(&copy, dst, dst_pitch, src, src_pitch, width, height, kind);

    return error == cudaSuccess ? DRIVER(cuMemcpy2DAsync, &copy, stream) : error;
}

/* ---- fills ---- */

cudaError_t rt_cudaMemset(void *dst, int value, size_t count)
{
    return DRIVER(cuMemsetD8, rt_address(dst), (unsigned char)value, count);
}

cudaError_t rt_cudaMemset_ptds(void *dst, int value, size_t count)
{
    return DRIVER(cuMemsetD8_ptds, rt_address(dst), (unsigned char)value, count);
}

cudaError_t rt_cudaMemsetAsync(void *dst, int value, size_t count, cudaStream_t stream)
{
    return DRIVER(cuMemsetD8Async, rt_address(dst), (unsigned char)value, count, stream);
}

cudaError_t rt_cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    return DRIVER(cuMemsetD2D8, rt_address(dst), pitch, (unsigned char)value, width, height);
}

cudaError_t rt_cudaMemset2D_ptds(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    return DRIVER(cuMemsetD2D8_ptds, rt_address(dst), pitch, (unsigned char)value, width, height);
}

cudaError_t rt_cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
                                 cudaStream_t stream)
{
    return DRIVER(cuMemsetD2D8Async, rt_address(dst), pitch, (unsigned char)value, width, height,
                  stream);
}
