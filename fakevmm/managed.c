/* managed.c: managed memory: host pages, so that host code may touch them, in the page table at
 * their own address. Nothing migrates: the bytes are where both can see them. It must not know
 * what is advised about it. */
#include "managed.h"
#include "mem.h"
#include "stream.h"

CUresult fv_managed_new(struct fv_context *context, size_t size,
                        void (*release)(struct fv_mapping *mapping), CUdeviceptr *out)
{
    struct fv_phys *phys = fv_phys_new_pages(context->device, size);
    CUdeviceptr base = phys ? (CUdeviceptr)phys->bytes : 0;
    struct fv_advice *advice = phys ? fv_advice_new(base, size) : NULL;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (advice)
        result = fv_va_map(&(struct fv_mapping){.base = base,
                                                .size = size,
                                                .requested = size,
                                                .phys = phys,
                                                .readable = UINT32_MAX,
                                                .writable = UINT32_MAX,
                                                .kind = FV_MEM_MANAGED,
                                                .context = context,
                                                .advice = advice,
                                                .id = fv_mem_next_id(),
                                                .release = release});
    if (phys)
        fv_phys_put(phys); /* the mapping holds it now */
    if (result == CUDA_SUCCESS)
        *out = base;
    else
        fv_advice_free(advice);
    return result;
}

void fv_managed_end(struct fv_mapping *mapping)
{
    fv_advice_free(mapping->advice);
    fv_va_unmap(mapping->base);
}

CUresult fv_cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !size || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    return fv_managed_new(context, size, fv_managed_end, out);
}

/* All devices access managed memory concurrently, so what it is attached to changes nothing. */
CUresult fv_cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t length,
                                   unsigned flags)
{
    const struct fv_mapping *mapping = fv_va_find(address);
    struct fv_stream *stream;
    CUresult result = fv_stream_uncaptured(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!mapping || mapping->kind != FV_MEM_MANAGED || mapping->base != address ||
        (length && length != mapping->requested))
        return CUDA_ERROR_INVALID_VALUE;
    switch (flags) {
    case CU_MEM_ATTACH_GLOBAL:
    case CU_MEM_ATTACH_HOST: return CUDA_SUCCESS;
    case CU_MEM_ATTACH_SINGLE:
        return stream == stream->context->legacy ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}
