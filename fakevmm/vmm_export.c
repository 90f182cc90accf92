/* vmm_export.c: device memory as file descriptors. A dma-buf of a mapped range is a real
 * descriptor, though nothing can be read through it; sharing handles between processes is not
 * implemented. It must not change any memory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "vmm.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

/* True if memory of both is alike enough for one descriptor. */
static bool alike(const struct fv_mapping *a, const struct fv_mapping *b)
{
    if (a->phys->device != b->phys->device || !a->handle != !b->handle)
        return false;
    return !a->handle ||
           (a->handle->prop.requestedHandleTypes == b->handle->prop.requestedHandleTypes &&
            a->handle->prop.allocFlags.gpuDirectRDMACapable ==
                b->handle->prop.allocFlags.gpuDirectRDMACapable);
}

/* Where the memory of a mapping ends; that of cuMemAlloc is handed out in pieces of pages. */
static CUdeviceptr end_of(const struct fv_mapping *mapping)
{
    CUdeviceptr end = mapping->base + mapping->size;

    return mapping->handle ? end : (end + PAGE - 1) & ~(CUdeviceptr)(PAGE - 1);
}

/* One cuMemAlloc allocation, or mappings without a gap. */
static bool exportable(CUdeviceptr base, size_t size)
{
    const struct fv_mapping *first = fv_va_find(base), *mapping = first;
    CUdeviceptr end = base + size;

    if (!first || (first->kind != FV_MEM_ALLOC && first->kind != FV_MEM_VMM))
        return false;
    while (mapping && end_of(mapping) < end) {
        mapping = mapping->handle ? fv_va_find(end_of(mapping)) : NULL;
        if (mapping && !alike(first, mapping))
            return false;
    }
    return mapping != NULL;
}

CUresult fv_cuMemGetHandleForAddressRange(void *out, CUdeviceptr base, size_t size,
                                          CUmemRangeHandleType type, unsigned long long flags)
{
    int file;

    if (!out || !size || (base | size) % PAGE || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD ||
        flags & ~(unsigned long long)CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE ||
        base + size < base || !exportable(base, size))
        return CUDA_ERROR_INVALID_VALUE;
    file = memfd_create("fakevmm-dma-buf", MFD_CLOEXEC);
    if (file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (ftruncate(file, (off_t)size)) {
        close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *(int *)out = file;
    return CUDA_SUCCESS;
}

CUresult fv_cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle value,
                                         CUmemAllocationHandleType type, unsigned long long flags)
{
    const struct fv_handle *handle = fv_handle_of(value);

    if (!out || !handle || flags || !(handle->prop.requestedHandleTypes & type))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult fv_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *shareable,
                                           CUmemAllocationHandleType type)
{
    return out ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}
