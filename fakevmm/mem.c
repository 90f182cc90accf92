/* mem.c: cuMemAlloc memory, its accounts and questions about it. Like the driver, it hands small
 * allocations out of common pages (512-byte steps) and large ones in pages of their own (2 MiB).
 * It must not know how bytes are moved, nor when memory is freed (mem_free.c). */
#include "mem.h"
#include "kernel_host.h"
#include "mempool.h"

static unsigned long long last_id;

unsigned long long fv_mem_next_id(void)
{
    return ++last_id;
}

/* ---- accounts ---- */

bool fv_mem_charge_free(struct fv_device *device, size_t size)
{
    if (size > device->memory_bytes - device->memory_used)
        return false;
    device->memory_used += size;
    return true;
}

bool fv_mem_charge(struct fv_device *device, size_t size)
{
    return fv_mem_charge_free(device, size) ||
           (fv_pools_reclaim(device) && fv_mem_charge_free(device, size));
}

void fv_mem_refund(struct fv_device *device, size_t size)
{
    device->memory_used -= size;
}

/* ---- allocation ---- */

CUresult fv_mem_map_new(struct fv_device *device, size_t size, struct fv_mapping mapping,
                        CUdeviceptr *out)
{
    struct fv_phys *phys;
    CUresult result = fv_va_take(fv_mem_space(size), fv_mem_align(size), out);

    if (result != CUDA_SUCCESS)
        return result;
    phys = fv_phys_new(device, fv_mem_round_up(size, FV_MEM_STEP));
    result = CUDA_ERROR_OUT_OF_MEMORY;
    if (phys) {
        mapping.base = *out;
        mapping.size = phys->size;
        mapping.requested = size;
        mapping.phys = phys;
        mapping.id = fv_mem_next_id();
        result = fv_va_map(&mapping);
        fv_phys_put(phys); /* the mapping holds it now */
    }
    if (result != CUDA_SUCCESS)
        fv_va_give(*out, fv_mem_space(size));
    return result;
}

void fv_mem_unmap(const struct fv_mapping *mapping)
{
    CUdeviceptr base = mapping->base;
    size_t space = fv_mem_space(mapping->requested);

    fv_va_unmap(base);
    fv_va_give(base, space);
}

static void release(struct fv_mapping *mapping)
{
    fv_mem_refund(mapping->phys->device, fv_mem_space(mapping->requested));
    fv_mem_unmap(mapping);
}

static CUresult allocate(struct fv_context *context, size_t size, CUdeviceptr *out)
{
    struct fv_device *device = context->device;
    uint32_t access = fv_peers_of(device);
    struct fv_mapping mapping = {.readable = access,
                                 .writable = access,
                                 .kind = FV_MEM_ALLOC,
                                 .context = context,
                                 .release = release};
    CUdeviceptr base;
    CUresult result;

    if (size > device->memory_bytes || !fv_mem_charge(device, fv_mem_space(size)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_mem_map_new(device, size, mapping, &base);
    if (result == CUDA_SUCCESS)
        *out = base;
    else
        fv_mem_refund(device, fv_mem_space(size));
    return result;
}

CUresult fv_cuMemAlloc_v2(CUdeviceptr *out, size_t size)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    return out && size ? allocate(context, size, out) : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                               unsigned element)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    size_t row, bytes;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return CUDA_ERROR_INVALID_VALUE;
    if (width > SIZE_MAX - FV_MEM_STEP)
        return CUDA_ERROR_OUT_OF_MEMORY;
    row = fv_mem_round_up(width, FV_MEM_STEP);
    if (__builtin_mul_overflow(row, height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = allocate(context, bytes, out);
    if (result == CUDA_SUCCESS)
        *pitch = row;
    return result;
}

/* ---- questions ---- */

CUresult fv_cuMemGetInfo_v2(size_t *available, size_t *total)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!available || !total)
        return CUDA_ERROR_INVALID_VALUE;
    *total = context->device->memory_bytes;
    *available = *total - context->device->memory_used;
    return CUDA_SUCCESS;
}

CUresult fv_cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    const struct fv_mapping *mapping;

    if (result != CUDA_SUCCESS)
        return result;
    mapping = fv_va_find(address);
    if (!mapping || mapping->kind == FV_MEM_REGISTERED)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = mapping->base;
    if (size)
        *size = mapping->requested;
    return CUDA_SUCCESS;
}

/* ---- the end of a context ---- */

void fv_mem_drop_kind(const struct fv_context *context, enum fv_mem_kind kind,
                      void (*end)(struct fv_mapping *mapping))
{
    struct fv_mapping *next;

    for (struct fv_mapping *it = fv_va_from(0); it; it = next) {
        CUdeviceptr after = it->base + 1;
        if (it->context == context && it->kind == kind)
            end(it);
        next = fv_va_from(after);
    }
}

static void end_mapping(struct fv_mapping *mapping)
{
    if (mapping->release)
        mapping->release(mapping);
}

/* A managed variable has no `release`: it goes with its module. */
void fv_mem_drop_context(struct fv_context *context)
{
    fv_mem_drop_kind(context, FV_MEM_ALLOC, end_mapping);
    fv_mem_drop_kind(context, FV_MEM_MANAGED, end_mapping);
    fv_heap_drop_context(context);
    fv_host_mem_drop_context(context);
    fv_ipc_drop_context(context);
}
