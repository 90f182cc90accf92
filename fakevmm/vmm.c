/* vmm.c: handles of physical memory: creation, references, properties, granularity. It must not
 * know addresses: where a handle is mapped is vmm_map.c's. */
#include "vmm.h"
#include "mem.h"

#include <stdlib.h>

static struct fv_tree handles; /* by value */
static size_t named;           /* how many of them the application holds references to */
static CUmemGenericAllocationHandle last_value = (CUmemGenericAllocationHandle)1 << 32;

/* ---- what may be asked for ---- */

#define KNOWN_HANDLE_TYPES                                                                         \
    (CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |                         \
     CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC)
#define KNOWN_USAGE (CU_MEM_CREATE_USAGE_TILE_POOL | CU_MEM_CREATE_USAGE_HW_DECOMPRESS)

static CUresult check_location(const CUmemLocation *location, CUresult no_device)
{
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return fv_device(location->id) ? CUDA_SUCCESS : no_device;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CUDA_ERROR_NOT_SUPPORTED; /* as the attributes say */
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult check_prop(const CUmemAllocationProp *prop, CUresult no_device)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || prop->win32HandleMetaData ||
        prop->requestedHandleTypes & ~KNOWN_HANDLE_TYPES ||
        prop->allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC ||
        prop->allocFlags.usage & ~KNOWN_USAGE)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        prop->allocFlags.usage)
        return CUDA_ERROR_NOT_SUPPORTED;
    return check_location(&prop->location, no_device);
}

/* Compression is a hint that this device does not take; the other properties are granted. */
static CUmemAllocationProp granted(const CUmemAllocationProp *prop)
{
    const struct fv_device *device = fv_device(prop->location.id);
    CUmemAllocationProp out = {.type = prop->type,
                               .requestedHandleTypes = prop->requestedHandleTypes,
                               .location = prop->location};

    out.allocFlags.gpuDirectRDMACapable =
        prop->allocFlags.gpuDirectRDMACapable &&
        fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
    return out;
}

CUresult fv_cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
                                          CUmemAllocationGranularity_flags option)
{
    CUresult result = check_prop(prop, CUDA_ERROR_INVALID_VALUE);
    const struct fv_device *device;

    if (!out || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                 option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    device = fv_device(prop->location.id);
    *out = option == CU_MEM_ALLOC_GRANULARITY_MINIMUM ? device->granularity
                                                      : device->granularity_recommended;
    return CUDA_SUCCESS;
}

/* ---- life ---- */

CUresult fv_earlier_error(void)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);

    return result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED
               ? CUDA_SUCCESS
               : result;
}

static struct fv_handle *find(CUmemGenericAllocationHandle value)
{
    struct fv_tree_node *node = fv_tree_floor(&handles, value);

    return node && node->key == value ? FV_TREE_OF(node, struct fv_handle, node) : NULL;
}

struct fv_handle *fv_handle_of(CUmemGenericAllocationHandle value)
{
    struct fv_handle *handle = find(value);

    return handle && handle->refs ? handle : NULL;
}

size_t fv_handle_granularity(const struct fv_handle *handle)
{
    return handle->phys->device->granularity;
}

size_t fv_handle_count(void)
{
    return named;
}

CUresult fv_handle_new(struct fv_phys *phys, const CUmemAllocationProp *prop, bool imported,
                       CUmemGenericAllocationHandle *out)
{
    struct fv_handle *handle = phys ? malloc(sizeof *handle) : NULL;

    if (!handle) {
        if (phys)
            fv_phys_put(phys);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = (struct fv_handle){
        .value = ++last_value, .phys = phys, .prop = *prop, .refs = 1, .imported = imported};
    handle->node.key = handle->value;
    fv_tree_add(&handles, &handle->node);
    named++;
    *out = handle->value;
    return CUDA_SUCCESS;
}

CUresult fv_cuMemCreate(CUmemGenericAllocationHandle *out, size_t size,
                        const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult result = fv_earlier_error();
    CUmemAllocationProp given;
    struct fv_device *device;

    if (result == CUDA_SUCCESS)
        result = check_prop(prop, CUDA_ERROR_INVALID_DEVICE);
    if (result != CUDA_SUCCESS)
        return result;
    device = fv_device(prop->location.id);
    if (!out || flags || !size || size % device->granularity)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_mem_charge(device, size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    given = granted(prop);
    result = fv_handle_new(fv_phys_new(device, size), &given, false, out);
    if (result != CUDA_SUCCESS)
        fv_mem_refund(device, size);
    return result;
}

static void end_if_unused(struct fv_handle *handle)
{
    if (handle->refs || handle->mappings)
        return;
    if (!handle->imported)
        fv_mem_refund(handle->phys->device, handle->phys->size);
    fv_phys_put(handle->phys);
    fv_tree_remove(&handles, &handle->node);
    free(handle);
}

void fv_handle_mapped(struct fv_handle *handle)
{
    handle->mappings++;
}

void fv_handle_unmapped(struct fv_handle *handle)
{
    handle->mappings--;
    end_if_unused(handle);
}

CUresult fv_cuMemRelease(CUmemGenericAllocationHandle value)
{
    struct fv_handle *handle = fv_handle_of(value);
    CUresult result = fv_earlier_error();

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (--handle->refs == 0)
        named--;
    end_if_unused(handle);
    return CUDA_SUCCESS;
}

CUresult fv_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address)
{
    const struct fv_mapping *mapping = fv_va_find((CUdeviceptr)address);

    if (!out || !mapping || !mapping->handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (mapping->handle->refs++ == 0)
        named++;
    *out = mapping->handle->value;
    return CUDA_SUCCESS;
}

CUresult fv_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                   CUmemGenericAllocationHandle value)
{
    const struct fv_handle *handle = fv_handle_of(value);

    if (!out || !handle)
        return CUDA_ERROR_INVALID_VALUE;
    *out = handle->prop;
    return CUDA_SUCCESS;
}
