/* vmm_export.c: device memory as file descriptors. A dma-buf of a mapped range is a real
 * descriptor, though nothing can be read through it. A handle's memory is shared through a file
 * that holds its bytes and, behind them, what another process must know to make a handle of it. It
 * must not know where memory is mapped. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "vmm.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* ---- handles between processes ---- */

/* The last page of the file. */
struct trailer {
    char magic[8];
    uint64_t size; /* of the bytes in front */
    CUmemAllocationProp prop;
};

static const char magic[8] = "fakevmm";

_Static_assert(sizeof(struct trailer) <= PAGE, "fits behind the bytes");

static bool write_trailer(const struct fv_handle *handle)
{
    struct trailer trailer = {.size = handle->phys->size, .prop = handle->prop};

    memcpy(trailer.magic, magic, sizeof magic);
    return pwrite(handle->phys->file, &trailer, sizeof trailer, (off_t)handle->phys->size) ==
           (ssize_t)sizeof trailer;
}

CUresult fv_cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle value,
                                         CUmemAllocationHandleType type, unsigned long long flags)
{
    const struct fv_handle *handle = fv_handle_of(value);
    int file;

    if (!out || !handle || flags || !type || type & (type - 1) ||
        !(handle->prop.requestedHandleTypes & type))
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_va_share(handle->phys, PAGE))
        return CUDA_ERROR_OUT_OF_MEMORY;
    handle = fv_handle_of(value); /* the lock was dropped */
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    file = write_trailer(handle) ? fcntl(handle->phys->file, F_DUPFD_CLOEXEC, 0) : -1;
    if (file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *(int *)out = file;
    return CUDA_SUCCESS;
}

/* False for a file that no handle was exported as. */
static bool read_trailer(int file, struct trailer *out)
{
    struct stat about;
    off_t at;

    if (fstat(file, &about) || !S_ISREG(about.st_mode) || about.st_size < (off_t)(2 * PAGE))
        return false;
    at = about.st_size - (off_t)PAGE;
    return pread(file, out, sizeof *out, at) == (ssize_t)sizeof *out &&
           memcmp(out->magic, magic, sizeof magic) == 0 && out->size == (uint64_t)at;
}

static CUresult import(int file, CUmemGenericAllocationHandle *out)
{
    struct trailer trailer;
    struct fv_device *device;
    struct fv_phys *phys;

    if (!read_trailer(file, &trailer))
        return CUDA_ERROR_INVALID_VALUE;
    device = fv_device(trailer.prop.location.id);
    if (!device || trailer.size % device->granularity)
        return CUDA_ERROR_NOT_SUPPORTED;
    file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    phys = fv_phys_open(device, file, trailer.size);
    if (!phys)
        close(file);
    return fv_handle_new(phys, &trailer.prop, true, out);
}

CUresult fv_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *shareable,
                                           CUmemAllocationHandleType type)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    switch (type) {
    case CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR: return import((int)(intptr_t)shareable, out);
    case CU_MEM_HANDLE_TYPE_WIN32:
    case CU_MEM_HANDLE_TYPE_WIN32_KMT:
    case CU_MEM_HANDLE_TYPE_FABRIC: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}
