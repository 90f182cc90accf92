/* copy_linear.c: the one-dimensional copies between host and device memory, and between contexts. A
 * first form of a call has 32-bit addresses, which no memory of a 64-bit process has. */
#include "copy.h"
#include "device.h"

static CUresult copy(uint64_t to, uint64_t from, size_t size, struct fv_copy_call call)
{
    CUDA_MEMCPY3D linear = fv_copy_linear(to, from, size);

    return fv_copy_submit(&linear, &call);
}

CUresult fv_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return copy(to, from, size, (struct fv_copy_call){.async = false});
}

CUresult fv_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy(to, from, size, (struct fv_copy_call){.stream = stream, .async = true});
}

/* cuMemcpy<what>: its forms with and without a stream, and their first versions. */
#define COPY(what, to_type, from_type, to_v1, from_v1, ...)                                        \
    CUresult fv_cuMemcpy##what##_v2(to_type to, from_type from, size_t size)                       \
    {                                                                                              \
        return copy((uint64_t)to, (uint64_t)from, size, (struct fv_copy_call){__VA_ARGS__});       \
    }                                                                                              \
    CUresult fv_cuMemcpy##what##Async_v2(to_type to, from_type from, size_t size, CUstream stream) \
    {                                                                                              \
        return copy((uint64_t)to, (uint64_t)from, size,                                            \
                    (struct fv_copy_call){.stream = stream, .async = true, __VA_ARGS__});          \
    }                                                                                              \
    CUresult fv_cuMemcpy##what(to_v1 to, from_v1 from, unsigned size)                              \
    {                                                                                              \
        return fv_cuMemcpy##what##_v2((to_type)to, (from_type)from, size);                         \
    }                                                                                              \
    CUresult fv_cuMemcpy##what##Async(to_v1 to, from_v1 from, unsigned size, CUstream stream)      \
    {                                                                                              \
        return fv_cuMemcpy##what##Async_v2((to_type)to, (from_type)from, size, stream);            \
    }

COPY(HtoD, CUdeviceptr, const void *, CUdeviceptr_v1, const void *, .to_device = true)
COPY(DtoH, void *, CUdeviceptr, void *, CUdeviceptr_v1, .from_device = true)
COPY(DtoD, CUdeviceptr, CUdeviceptr, CUdeviceptr_v1, CUdeviceptr_v1, .to_device = true,
     .from_device = true)

/* ---- between contexts ---- */

static CUresult check_contexts(CUcontext a, CUcontext b)
{
    struct fv_context *context;
    CUresult result = fv_context_of(a, &context);

    return result == CUDA_SUCCESS ? fv_context_of(b, &context) : result;
}

CUresult fv_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                         CUcontext from_context, size_t size)
{
    CUresult result = check_contexts(to_context, from_context);

    return result == CUDA_SUCCESS ? fv_cuMemcpyDtoD_v2(to, from, size) : result;
}

CUresult fv_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                              CUcontext from_context, size_t size, CUstream stream)
{
    CUresult result = check_contexts(to_context, from_context);

    return result == CUDA_SUCCESS ? fv_cuMemcpyDtoDAsync_v2(to, from, size, stream) : result;
}
