/* host_mem.c: pinned host memory, allocated here or registered by the application. Devices see
 * it at its host address, so it is mapped in the page table there. It must not know how bytes
 * are moved. */
#include "device.h"
#include "mem.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)

static CUresult map_host(struct fv_context *context, void *bytes, size_t size,
                         enum fv_mem_kind kind, unsigned flags)
{
    struct fv_phys *phys = kind == FV_MEM_HOST ? fv_phys_adopt(context->device, bytes, size)
                                               : fv_phys_borrow(context->device, bytes, size);
    bool read_only = kind == FV_MEM_REGISTERED && flags & CU_MEMHOSTREGISTER_READ_ONLY;
    CUresult result;

    if (!phys)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_va_map(&(struct fv_mapping){.base = (CUdeviceptr)bytes,
                                            .size = size,
                                            .requested = size,
                                            .phys = phys,
                                            .readable = UINT32_MAX,
                                            .writable = read_only ? 0 : UINT32_MAX,
                                            .kind = kind,
                                            .flags = flags,
                                            .context = context,
                                            .id = fv_mem_next_id()});
    fv_phys_put(phys);
    return result;
}

CUresult fv_cuMemHostAlloc(void **out, size_t size, unsigned flags)
{
    const unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    struct fv_context *context;
    CUresult result = fv_current(&context);
    void *bytes;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !size || flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    if (posix_memalign(&bytes, PAGE, size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = map_host(context, bytes, size, FV_MEM_HOST, flags);
    if (result == CUDA_SUCCESS)
        *out = bytes;
    return result;
}

CUresult fv_cuMemAllocHost_v2(void **out, size_t size)
{
    return fv_cuMemHostAlloc(out, size, 0);
}

static void release(struct fv_mapping *mapping)
{
    fv_va_unmap(mapping->base);
}

/* Ends pinned memory of that kind after the work of its context, and after that of all others,
 * which may use it as well. */
static CUresult end_pinned(void *bytes, enum fv_mem_kind kind, CUresult unknown)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_mapping *mapping;
    unsigned long long id;

    if (result != CUDA_SUCCESS)
        return result;
    mapping = fv_va_find((CUdeviceptr)bytes);
    if (!mapping || mapping->base != (CUdeviceptr)bytes || mapping->kind != kind)
        return unknown;
    id = mapping->id;
    result = fv_context_wait(mapping->context);
    if (result != CUDA_SUCCESS)
        return result;
    fv_wait_everywhere();
    mapping = fv_va_find((CUdeviceptr)bytes);
    if (!mapping || mapping->id != id)
        return unknown;
    release(mapping);
    return CUDA_SUCCESS;
}

CUresult fv_cuMemFreeHost(void *bytes)
{
    if (!bytes)
        return CUDA_SUCCESS;
    return end_pinned(bytes, FV_MEM_HOST, CUDA_ERROR_INVALID_VALUE);
}

/* True if the process has memory at all of those addresses. */
static bool is_there(const void *bytes, size_t size)
{
    uintptr_t first = (uintptr_t)bytes & ~(PAGE - 1), end = (uintptr_t)bytes + size;

    return end > (uintptr_t)bytes && msync((void *)first, end - first, MS_ASYNC) == 0;
}

CUresult fv_cuMemHostRegister_v2(void *bytes, size_t size, unsigned flags)
{
    const unsigned known =
        CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!bytes || !size || flags & ~known || fv_va_is_device((CUdeviceptr)bytes) ||
        !is_there(bytes, size))
        return CUDA_ERROR_INVALID_VALUE;
    result = map_host(context, bytes, size, FV_MEM_REGISTERED, flags);
    return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : result;
}

CUresult fv_cuMemHostRegister(void *bytes, size_t size, unsigned flags)
{
    return fv_cuMemHostRegister_v2(bytes, size, flags);
}

CUresult fv_cuMemHostUnregister(void *bytes)
{
    return end_pinned(bytes, FV_MEM_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* Under unified addressing all pinned memory is mapped for devices, asked for or not. */
CUresult fv_cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *bytes, unsigned flags)
{
    const struct fv_mapping *mapping = fv_va_find((CUdeviceptr)bytes);
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags || !mapping ||
        (mapping->kind != FV_MEM_HOST && mapping->kind != FV_MEM_REGISTERED))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdeviceptr)bytes;
    return CUDA_SUCCESS;
}

CUresult fv_cuMemHostGetFlags(unsigned *out, void *bytes)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    const struct fv_mapping *mapping;

    if (result != CUDA_SUCCESS)
        return result;
    mapping = fv_va_find((CUdeviceptr)bytes);
    if (!out || !mapping || mapping->kind != FV_MEM_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    *out = mapping->flags;
    return CUDA_SUCCESS;
}

void fv_host_mem_drop_context(const struct fv_context *context)
{
    fv_mem_drop_kind(context, FV_MEM_HOST, release);
    fv_mem_drop_kind(context, FV_MEM_REGISTERED, release);
}
