/* copy_box.c: the driver's copies of two and three dimensions, and those from and to arrays. Each
 * is turned into a CUDA_MEMCPY3D. */
#include "copy.h"
#include "device.h"

/* What every description of a copy has, and what those of three dimensions have besides. */
#define FLAT(copy)                                                                                 \
    .srcXInBytes = (copy)->srcXInBytes, .srcY = (copy)->srcY,                                      \
    .srcMemoryType = (copy)->srcMemoryType, .srcHost = (copy)->srcHost,                            \
    .srcDevice = (copy)->srcDevice, .srcArray = (copy)->srcArray, .srcPitch = (copy)->srcPitch,    \
    .dstXInBytes = (copy)->dstXInBytes, .dstY = (copy)->dstY,                                      \
    .dstMemoryType = (copy)->dstMemoryType, .dstHost = (copy)->dstHost,                            \
    .dstDevice = (copy)->dstDevice, .dstArray = (copy)->dstArray, .dstPitch = (copy)->dstPitch,    \
    .WidthInBytes = (copy)->WidthInBytes, .Height = (copy)->Height
#define DEEP(copy)                                                                                 \
    FLAT(copy), .srcZ = (copy)->srcZ, .srcLOD = (copy)->srcLOD, .srcHeight = (copy)->srcHeight,    \
                .dstZ = (copy)->dstZ, .dstLOD = (copy)->dstLOD, .dstHeight = (copy)->dstHeight,    \
                .Depth = (copy)->Depth

static CUresult submit(const CUDA_MEMCPY3D *copy, CUstream stream, bool async)
{
    return fv_copy_submit(copy, &(struct fv_copy_call){.stream = stream, .async = async});
}

/* ---- two dimensions ---- */

/* fv_cuMemcpy<name>: one form with a stream or one without. */
#define FORM_SYNC(name, type, ...)                                                                 \
    CUresult fv_cuMemcpy##name(const type *copy)                                                   \
    {                                                                                              \
        if (!copy)                                                                                 \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        return submit(&(CUDA_MEMCPY3D){__VA_ARGS__}, NULL, false);                                 \
    }
#define FORM_ASYNC(name, type, ...)                                                                \
    CUresult fv_cuMemcpy##name(const type *copy, CUstream stream)                                  \
    {                                                                                              \
        if (!copy)                                                                                 \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        return submit(&(CUDA_MEMCPY3D){__VA_ARGS__}, stream, true);                                \
    }

FORM_SYNC(2D, CUDA_MEMCPY2D_v1, FLAT(copy), .Depth = 1)
FORM_SYNC(2D_v2, CUDA_MEMCPY2D, FLAT(copy), .Depth = 1)
FORM_SYNC(2DUnaligned, CUDA_MEMCPY2D_v1, FLAT(copy), .Depth = 1)
FORM_SYNC(2DUnaligned_v2, CUDA_MEMCPY2D, FLAT(copy), .Depth = 1)
FORM_ASYNC(2DAsync, CUDA_MEMCPY2D_v1, FLAT(copy), .Depth = 1)
FORM_ASYNC(2DAsync_v2, CUDA_MEMCPY2D, FLAT(copy), .Depth = 1)

/* ---- three dimensions ---- */

FORM_SYNC(3D, CUDA_MEMCPY3D_v1, DEEP(copy), .reserved0 = copy->reserved0,
          .reserved1 = copy->reserved1)
FORM_ASYNC(3DAsync, CUDA_MEMCPY3D_v1, DEEP(copy), .reserved0 = copy->reserved0,
           .reserved1 = copy->reserved1)

CUresult fv_cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy)
{
    return copy ? submit(copy, NULL, false) : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    return copy ? submit(copy, stream, true) : CUDA_ERROR_INVALID_VALUE;
}

/* An array knows its context. */
static CUresult check_context(CUmemorytype type, CUcontext handle)
{
    struct fv_context *context;

    return type == CU_MEMORYTYPE_ARRAY ? CUDA_SUCCESS : fv_context_of(handle, &context);
}

static CUresult submit_peer(const CUDA_MEMCPY3D_PEER *copy, CUstream stream, bool async)
{
    CUresult result;

    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_context(copy->srcMemoryType, copy->srcContext);
    if (result == CUDA_SUCCESS)
        result = check_context(copy->dstMemoryType, copy->dstContext);
    if (result != CUDA_SUCCESS)
        return result;
    return submit(&(CUDA_MEMCPY3D){DEEP(copy)}, stream, async);
}

CUresult fv_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy)
{
    return submit_peer(copy, NULL, false);
}

CUresult fv_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream)
{
    return submit_peer(copy, stream, true);
}

/* ---- one-dimensional arrays ---- */

/* The ends of a copy that is one row. */
#define FROM_ARRAY(a, offset)                                                                      \
    .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = (a), .srcXInBytes = (offset)
#define TO_ARRAY(a, offset)                                                                        \
    .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = (a), .dstXInBytes = (offset)
#define FROM_HOST(p)   .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = (p)
#define TO_HOST(p)     .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = (p)
#define FROM_DEVICE(p) .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = (p)
#define TO_DEVICE(p)   .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = (p)
#define ROW(size, ...)                                                                             \
    &(CUDA_MEMCPY3D)                                                                               \
    {                                                                                              \
        .WidthInBytes = (size), .Height = 1, .Depth = 1, __VA_ARGS__                               \
    }

CUresult fv_cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                            size_t size)
{
    return submit(ROW(size, TO_ARRAY(to, to_offset), FROM_ARRAY(from, from_offset)), NULL, false);
}

CUresult fv_cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t size)
{
    return submit(ROW(size, TO_DEVICE(to), FROM_ARRAY(from, offset)), NULL, false);
}

CUresult fv_cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t size)
{
    return submit(ROW(size, TO_ARRAY(to, offset), FROM_DEVICE(from)), NULL, false);
}

CUresult fv_cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t size)
{
    return submit(ROW(size, TO_HOST(to), FROM_ARRAY(from, offset)), NULL, false);
}

CUresult fv_cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t size)
{
    return submit(ROW(size, TO_ARRAY(to, offset), FROM_HOST(from)), NULL, false);
}

CUresult fv_cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t size,
                                 CUstream stream)
{
    return submit(ROW(size, TO_HOST(to), FROM_ARRAY(from, offset)), stream, true);
}

CUresult fv_cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t size,
                                 CUstream stream)
{
    return submit(ROW(size, TO_ARRAY(to, offset), FROM_HOST(from)), stream, true);
}

/* ---- the same with 32-bit sizes ---- */

CUresult fv_cuMemcpyAtoA(CUarray to, unsigned to_offset, CUarray from, unsigned from_offset,
                         unsigned size)
{
    return fv_cuMemcpyAtoA_v2(to, to_offset, from, from_offset, size);
}

CUresult fv_cuMemcpyAtoD(CUdeviceptr_v1 to, CUarray from, unsigned offset, unsigned size)
{
    return fv_cuMemcpyAtoD_v2(to, from, offset, size);
}

CUresult fv_cuMemcpyDtoA(CUarray to, unsigned offset, CUdeviceptr_v1 from, unsigned size)
{
    return fv_cuMemcpyDtoA_v2(to, offset, from, size);
}

CUresult fv_cuMemcpyAtoH(void *to, CUarray from, unsigned offset, unsigned size)
{
    return fv_cuMemcpyAtoH_v2(to, from, offset, size);
}

CUresult fv_cuMemcpyHtoA(CUarray to, unsigned offset, const void *from, unsigned size)
{
    return fv_cuMemcpyHtoA_v2(to, offset, from, size);
}

CUresult fv_cuMemcpyAtoHAsync(void *to, CUarray from, unsigned offset, unsigned size,
                              CUstream stream)
{
    return fv_cuMemcpyAtoHAsync_v2(to, from, offset, size, stream);
}

CUresult fv_cuMemcpyHtoAAsync(CUarray to, unsigned offset, const void *from, unsigned size,
                              CUstream stream)
{
    return fv_cuMemcpyHtoAAsync_v2(to, offset, from, size, stream);
}
