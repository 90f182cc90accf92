/* copy.c: copies. The runtime names a direction; the driver has one call for each, and a memory
 * type at each end of a 2D or 3D copy. This file owns that translation, for plain calls and for the
 * copy nodes of graphs. */
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

/* "Default" leaves it to the addresses. */
cudaError_t rt_memory_types(enum cudaMemcpyKind kind, CUmemorytype *src, CUmemorytype *dst)
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

/* Bytes that a unit of width means: an element of the array that takes part, a byte where none
 * does. Of two arrays the elements must be equal. */
static cudaError_t unit_of(cudaArray_const_t src, cudaArray_const_t dst, size_t *unit)
{
    CUDA_ARRAY3D_DESCRIPTOR array;
    size_t of_src = 1, of_dst = 1;
    cudaError_t error = cudaSuccess;

    if (src)
        error = rt_array_describe(src, &array, &of_src);
    if (error == cudaSuccess && dst)
        error = rt_array_describe(dst, &array, &of_dst);
    if (error == cudaSuccess && src && dst && of_src != of_dst)
        error = cudaErrorInvalidValue;
    *unit = src ? of_src : of_dst;
    return error;
}

/* Each end is an array or a pointer, not both and not neither. An array lies on the device,
 * whatever the direction says. */
static cudaError_t ends_of(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to)
{
    if (!from->srcArray == !from->srcPtr.ptr || !from->dstArray == !from->dstPtr.ptr)
        return cudaErrorInvalidValue;
    to->srcArray = (CUarray)from->srcArray;
    to->dstArray = (CUarray)from->dstArray;
    if (from->srcArray)
        to->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    else if (to->srcMemoryType == CU_MEMORYTYPE_HOST)
        to->srcHost = from->srcPtr.ptr;
    else
        to->srcDevice = rt_address(from->srcPtr.ptr);
    if (from->dstArray)
        to->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    else if (to->dstMemoryType == CU_MEMORYTYPE_HOST)
        to->dstHost = from->dstPtr.ptr;
    else
        to->dstDevice = rt_address(from->dstPtr.ptr);
    return cudaSuccess;
}

cudaError_t rt_copy_to_driver(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to)
{
    CUmemorytype src, dst;
    size_t unit = 1;
    cudaError_t error = rt_memory_types(from->kind, &src, &dst);

    if (error == cudaSuccess)
        error = unit_of(from->srcArray, from->dstArray, &unit);
    if (error != cudaSuccess)
        return error;
    *to = (CUDA_MEMCPY3D){
        .srcXInBytes = from->srcPos.x * (from->srcArray ? unit : 1),
        .srcY = from->srcPos.y,
        .srcZ = from->srcPos.z,
        .srcMemoryType = src,
        .srcPitch = from->srcPtr.pitch,
        .srcHeight = from->srcPtr.ysize,
        .dstXInBytes = from->dstPos.x * (from->dstArray ? unit : 1),
        .dstY = from->dstPos.y,
        .dstZ = from->dstPos.z,
        .dstMemoryType = dst,
        .dstPitch = from->dstPtr.pitch,
        .dstHeight = from->dstPtr.ysize,
        .WidthInBytes = from->extent.width * unit,
        .Height = from->extent.height,
        .Depth = from->extent.depth,
    };
    return ends_of(from, to);
}

/* Array ends leave the other end to tell the direction; between two arrays it is the device's. */
static enum cudaMemcpyKind kind_of(CUmemorytype src, CUmemorytype dst)
{
    if (src == CU_MEMORYTYPE_UNIFIED || dst == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (src == CU_MEMORYTYPE_HOST)
        return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return dst == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

static void *pointer_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    if (type == CU_MEMORYTYPE_ARRAY)
        return NULL;
    return type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : (void *)device;
}

/* A driver's description has no width of the whole row; the pitch stands in for it. */
cudaError_t rt_copy_from_driver(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to)
{
    CUarray src = from->srcMemoryType == CU_MEMORYTYPE_ARRAY ? from->srcArray : NULL;
    CUarray dst = from->dstMemoryType == CU_MEMORYTYPE_ARRAY ? from->dstArray : NULL;
    size_t unit = 1;
    cudaError_t error = unit_of((cudaArray_t)src, (cudaArray_t)dst, &unit);

    if (error != cudaSuccess)
        return error;
    *to = (struct cudaMemcpy3DParms){
        .srcArray = (cudaArray_t)src,
        .srcPos = {from->srcXInBytes / (src ? unit : 1), from->srcY, from->srcZ},
        .srcPtr = {pointer_of(from->srcMemoryType, from->srcHost, from->srcDevice), from->srcPitch,
                   from->srcPitch, from->srcHeight},
        .dstArray = (cudaArray_t)dst,
        .dstPos = {from->dstXInBytes / (dst ? unit : 1), from->dstY, from->dstZ},
        .dstPtr = {pointer_of(from->dstMemoryType, from->dstHost, from->dstDevice), from->dstPitch,
                   from->dstPitch, from->dstHeight},
        .extent = {from->WidthInBytes / unit, from->Height, from->Depth},
        .kind = kind_of(from->srcMemoryType, from->dstMemoryType),
    };
    return cudaSuccess;
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
    return rt_memory_types(kind, &copy->srcMemoryType, &copy->dstMemoryType);
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

/* ---- batches ---- */

_Static_assert(sizeof(struct cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes), "one layout");
_Static_assert(sizeof(struct cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP), "one layout");

FORWARD(cudaMemcpyBatchAsync,
        (void *const *dsts, const void *const *srcs, const size_t *sizes, size_t count,
         struct cudaMemcpyAttributes *attributes, size_t *indices, size_t attribute_count,
         cudaStream_t stream),
        cuMemcpyBatchAsync, (CUdeviceptr *)(uintptr_t)dsts, (CUdeviceptr *)(uintptr_t)srcs,
        (size_t *)(uintptr_t)sizes, count, (CUmemcpyAttributes *)attributes, indices,
        attribute_count, stream)
FORWARD(cudaMemcpy3DBatchAsync,
        (size_t count, struct cudaMemcpy3DBatchOp *copies, unsigned long long flags,
         cudaStream_t stream),
        cuMemcpy3DBatchAsync, count, (CUDA_MEMCPY3D_BATCH_OP *)copies, flags, stream)
