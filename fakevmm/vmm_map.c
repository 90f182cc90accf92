/* vmm_map.c: reserved addresses, mappings of handles at them, and who may access those. A mapping
 * starts without any access and loses it with its end; nothing here waits for work. It must not
 * know how memory is made (vmm.c). */
#include "hazard.h"
#include "mem.h"
#include "vmm.h"

#include <stdlib.h>

#define PAGE ((size_t)4096) /* of the host */

static struct fv_tree reservations; /* by base */

/* ---- reservations ---- */

struct fv_reservation *fv_reservation_at(CUdeviceptr address)
{
    struct fv_tree_node *node = fv_tree_floor(&reservations, address);
    struct fv_reservation *found = FV_TREE_OF(node, struct fv_reservation, node);

    return found && address - found->base < found->size ? found : NULL;
}

size_t fv_reservation_count(void)
{
    return reservations.count;
}

/* Ordinal of the current context's device; the first device without one. */
static int current_device(void)
{
    struct fv_context *context;

    return fv_current(&context) == CUDA_SUCCESS ? context->device->ordinal : 0;
}

static CUresult reserve(size_t size, size_t align, CUdeviceptr *out)
{
    struct fv_reservation *reservation = malloc(sizeof *reservation);
    CUdeviceptr base;
    CUresult result;

    if (!reservation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_va_take(size, align, &base);
    if (result != CUDA_SUCCESS) {
        free(reservation);
        return result;
    }
    *reservation = (struct fv_reservation){.base = base, .size = size, .device = current_device()};
    reservation->node.key = base;
    fv_tree_add(&reservations, &reservation->node);
    *out = base;
    return CUDA_SUCCESS;
}

/* Without a wish, addresses that memory of every device can be mapped at. */
static size_t default_align(void)
{
    size_t align = FV_MEM_LARGE_STEP;

    for (int i = 0; i < fv_device_count(); i++)
        if (fv_device(i)->granularity > align)
            align = fv_device(i)->granularity;
    return align;
}

/* The hint is only that; this driver always chooses itself. */
CUresult fv_cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t align, CUdeviceptr hint,
                                unsigned long long flags)
{
    size_t least = default_align();

    if (!out || !size || size % PAGE || hint % PAGE || align & (align - 1) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    return reserve(size, align > least ? align : least, out);
}

static bool has_mapping(const struct fv_reservation *reservation)
{
    const struct fv_mapping *next = fv_va_from(reservation->base);

    return next && next->base - reservation->base < reservation->size;
}

CUresult fv_cuMemAddressFree(CUdeviceptr base, size_t size)
{
    struct fv_reservation *found = fv_reservation_at(base);

    if (!found || found->base != base || found->size != size || has_mapping(found))
        return CUDA_ERROR_INVALID_VALUE;
    fv_tree_remove(&reservations, &found->node);
    fv_va_give(base, size);
    free(found);
    return CUDA_SUCCESS;
}

/* ---- mappings ---- */

CUresult fv_cuMemMap(CUdeviceptr base, size_t size, size_t offset,
                     CUmemGenericAllocationHandle value, unsigned long long flags)
{
    const struct fv_reservation *reservation = fv_reservation_at(base);
    struct fv_handle *handle = fv_handle_of(value);
    CUresult result = fv_earlier_error();

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !reservation || flags || offset || !size || size > handle->phys->size)
        return CUDA_ERROR_INVALID_VALUE;
    if ((base | size) % fv_handle_granularity(handle) ||
        size > reservation->base + reservation->size - base)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_va_map(&(struct fv_mapping){.base = base,
                                            .size = size,
                                            .requested = size,
                                            .phys = handle->phys,
                                            .kind = FV_MEM_VMM,
                                            .handle = handle,
                                            .id = fv_mem_next_id()});
    if (result == CUDA_SUCCESS)
        fv_handle_mapped(handle);
    return result;
}

/* The mapping at an address if it starts there and ends by `end`; else NULL. */
static struct fv_mapping *whole_mapping(CUdeviceptr base, CUdeviceptr end)
{
    struct fv_mapping *mapping = fv_va_find(base);

    return mapping && mapping->base == base && mapping->handle && mapping->size <= end - base
               ? mapping
               : NULL;
}

/* True if a range is one whole mapping, or several without a gap. */
static bool is_whole(CUdeviceptr base, size_t size)
{
    CUdeviceptr end = base + size;
    const struct fv_mapping *mapping;

    if (end <= base)
        return false;
    for (CUdeviceptr at = base; at < end; at += mapping->size) {
        mapping = whole_mapping(at, end);
        if (!mapping)
            return false;
    }
    return true;
}

CUresult fv_cuMemUnmap(CUdeviceptr base, size_t size)
{
    CUresult result = fv_earlier_error();
    CUdeviceptr end = base + size;

    if (result != CUDA_SUCCESS)
        return result;
    if (!is_whole(base, size))
        return CUDA_ERROR_INVALID_VALUE;
    fv_hazard_if_used("cuMemUnmap", base, size);
    while (base < end) {
        const struct fv_mapping *mapping = fv_va_find(base);
        struct fv_handle *handle = mapping->handle;
        CUdeviceptr next = base + mapping->size;
        fv_va_unmap(base);
        fv_handle_unmapped(handle);
        base = next;
    }
    return CUDA_SUCCESS;
}

/* ---- access ---- */

/* Only devices access device memory here; all of them are peers. */
static CUresult check_access_location(const CUmemLocation *location)
{
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    return fv_device(location->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult check_access(const CUmemAccessDesc *access, size_t count)
{
    CUresult result = access && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        CUmemAccess_flags flags = access[i].flags;
        if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
            flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return CUDA_ERROR_INVALID_VALUE;
        result = check_access_location(&access[i].location);
    }
    return result;
}

static void set_bit(uint32_t *mask, int bit, bool on)
{
    *mask = on ? *mask | 1u << bit : *mask & ~(1u << bit);
}

/* Devices that are not named keep what they have. */
static void change_access(struct fv_mapping *mapping, const CUmemAccessDesc *access, size_t count)
{
    uint32_t readable = mapping->readable, writable = mapping->writable;

    for (size_t i = 0; i < count; i++) {
        int device = access[i].location.id;
        set_bit(&readable, device, access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE);
        set_bit(&writable, device, access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    }
    fv_va_set_access(mapping, readable, writable);
}

CUresult fv_cuMemSetAccess(CUdeviceptr base, size_t size, const CUmemAccessDesc *access,
                           size_t count)
{
    CUresult result = fv_earlier_error();
    CUdeviceptr end = base + size;

    if (result == CUDA_SUCCESS)
        result = check_access(access, count);
    if (result != CUDA_SUCCESS)
        return result;
    if (!is_whole(base, size))
        return CUDA_ERROR_INVALID_VALUE;
    while (base < end) {
        struct fv_mapping *mapping = fv_va_find(base);
        change_access(mapping, access, count);
        base += mapping->size;
    }
    return CUDA_SUCCESS;
}

CUresult fv_cuMemGetAccess(unsigned long long *out, const CUmemLocation *location,
                           CUdeviceptr address)
{
    const struct fv_mapping *mapping = fv_va_find(address);
    CUresult result;

    if (!out || !location || !mapping || !mapping->handle)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_access_location(location);
    if (result == CUDA_SUCCESS)
        *out = fv_va_access(mapping, location->id);
    return result;
}
