/* mem.c: cuMemAlloc memory. Like the driver, it hands small allocations out of common pages
 * (512-byte steps) and large ones in pages of their own (2 MiB). It must not know how bytes are
 * moved. */
#include "device.h"
#include "hazard.h"
#include "mem.h"
#include "settings.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>

#define SMALL_STEP ((size_t)512)
#define LARGE_STEP ((size_t)2 << 20)
#define LARGE      ((size_t)1 << 20)

static unsigned long long last_id;

unsigned long long fv_mem_next_id(void)
{
    return ++last_id;
}

static size_t step_of(size_t size)
{
    return size < LARGE ? SMALL_STEP : LARGE_STEP;
}

static size_t round_up(size_t size, size_t step)
{
    return (size + step - 1) / step * step;
}

/* Addresses and memory that an allocation takes; more of them than it may touch. */
static size_t space_of(size_t size)
{
    return round_up(size, step_of(size));
}

static CUresult map_block(struct fv_context *context, struct fv_phys *phys, CUdeviceptr base,
                          size_t size)
{
    uint32_t access = fv_peers_of(context->device);

    return fv_va_map(&(struct fv_mapping){.base = base,
                                          .size = phys->size,
                                          .requested = size,
                                          .phys = phys,
                                          .readable = access,
                                          .writable = access,
                                          .kind = FV_MEM_ALLOC,
                                          .context = context,
                                          .id = fv_mem_next_id()});
}

static CUresult allocate(struct fv_context *context, size_t size, CUdeviceptr *out)
{
    struct fv_device *device = context->device;
    struct fv_phys *phys;
    CUdeviceptr base;
    CUresult result;

    if (size > device->memory_bytes || space_of(size) > device->memory_bytes - device->memory_used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_va_take(space_of(size), step_of(size), &base);
    if (result != CUDA_SUCCESS)
        return result;
    phys = fv_phys_new(device, round_up(size, SMALL_STEP));
    result = phys ? map_block(context, phys, base, size) : CUDA_ERROR_OUT_OF_MEMORY;
    if (phys)
        fv_phys_put(phys); /* the mapping holds it now */
    if (result != CUDA_SUCCESS) {
        fv_va_give(base, space_of(size));
        return result;
    }
    device->memory_used += space_of(size);
    *out = base;
    return CUDA_SUCCESS;
}

static void release(const struct fv_mapping *mapping)
{
    CUdeviceptr base = mapping->base;
    size_t space = space_of(mapping->requested);

    mapping->phys->device->memory_used -= space;
    fv_va_unmap(base);
    fv_va_give(base, space);
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
    if (width > SIZE_MAX - SMALL_STEP)
        return CUDA_ERROR_OUT_OF_MEMORY;
    row = round_up(width, SMALL_STEP);
    if (__builtin_mul_overflow(row, height, &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = allocate(context, bytes, out);
    if (result == CUDA_SUCCESS)
        *pitch = row;
    return result;
}

/* The driver may wait for whoever can be using the memory: its context and those with access to its
 * device's memory. */
static CUresult wait_for_users(struct fv_context *owner)
{
    uint32_t device = 1u << owner->device->ordinal;
    CUresult result = fv_context_wait(owner);

    for (struct fv_context *it = fv_next(FV_CONTEXT, NULL); it; it = fv_next(FV_CONTEXT, it))
        if (it->peers & device)
            fv_context_wait(it);
    return result;
}

/* The allocation that starts at an address, or NULL. */
static struct fv_mapping *find_allocation(CUdeviceptr address)
{
    struct fv_mapping *mapping = fv_va_find(address);

    return mapping && mapping->base == address && mapping->kind == FV_MEM_ALLOC && !mapping->freed
               ? mapping
               : NULL;
}
CUresult fv_cuMemFree_v2(CUdeviceptr address)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_mapping *mapping;
    unsigned long long id;

    if (result != CUDA_SUCCESS || !address)
        return result;
    mapping = find_allocation(address);
    if (!mapping)
        return CUDA_ERROR_INVALID_VALUE;
    id = mapping->id;
    if (!fv_settings()->free_async)
        result = wait_for_users(mapping->context);
    if (result != CUDA_SUCCESS)
        return result;
    /* The lock was dropped: another thread may have freed it. */
    mapping = find_allocation(address);
    if (!mapping || mapping->id != id)
        return CUDA_ERROR_INVALID_VALUE;
    fv_hazard_if_used("cuMemFree", mapping->base, mapping->requested);
    release(mapping);
    return CUDA_SUCCESS;
}

/* ---- frees in stream order ---- */

struct free_work {
    struct fv_work work;
    CUdeviceptr address;
    unsigned long long id;
};

/* Work that still names the memory is in no order with the free, or behind it. */
static void retire_free(struct fv_work *work)
{
    const struct free_work *request = (const struct free_work *)work;
    const struct fv_mapping *mapping = fv_va_find(request->address);

    if (mapping && mapping->id == request->id) {
        fv_hazard_if_used("cuMemFreeAsync", mapping->base, mapping->requested);
        release(mapping);
    }
    free(work);
}

/* There are no memory pools, so this is cuMemAlloc memory. */
CUresult fv_cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(handle, &stream);
    struct fv_mapping *mapping = find_allocation(address);
    struct free_work *work;

    if (result != CUDA_SUCCESS)
        return result;
    if (!mapping || stream->tail) /* a capture frees what a graph has allocated, nothing else */
        return CUDA_ERROR_INVALID_VALUE;
    work = malloc(sizeof *work);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *work =
        (struct free_work){.work = {.retire = retire_free}, .address = address, .id = mapping->id};
    mapping->freed = true;
    fv_submit(stream, &work->work);
    return CUDA_SUCCESS;
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

void fv_mem_drop_context(struct fv_context *context)
{
    struct fv_mapping *next;

    for (struct fv_mapping *it = fv_va_from(0); it; it = next) {
        CUdeviceptr after = it->base + 1;
        if (it->context == context && it->kind == FV_MEM_ALLOC)
            release(it);
        next = fv_va_from(after);
    }
    fv_host_mem_drop_context(context);
}
