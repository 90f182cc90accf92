/* pointer.c: questions about an address, answered from its mapping or its reservation, and the one
 * property of memory that can be set. It must not change anything else. */
#include "mempool.h"
#include "vmm.h"

#include <string.h>

static bool is_host(const struct fv_mapping *mapping)
{
    return mapping->kind == FV_MEM_HOST || mapping->kind == FV_MEM_REGISTERED;
}

static bool has_host_pointer(const struct fv_mapping *mapping)
{
    return is_host(mapping) || mapping->kind == FV_MEM_MANAGED;
}

/* Bytes an answer takes; 0: this attribute is not answered. */
static size_t size_of(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return 8;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return 4;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return sizeof(bool);
    default: return 0;
    }
}

/* What the current context's device may do at the mapping; at memory whose allocation is queued,
 * what it will. */
static CUresult access_of(const struct fv_mapping *mapping, uint64_t *out)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *out = mapping->pool ? fv_pool_access(mapping->pool, context->device->ordinal)
                         : fv_va_access(mapping, context->device->ordinal);
    return CUDA_SUCCESS;
}

static CUresult device_pointer(const struct fv_mapping *mapping, CUdeviceptr address, uint64_t *out)
{
    uint64_t access = 0;
    CUresult result = access_of(mapping, &access);

    if (result == CUDA_SUCCESS && access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
        result = CUDA_ERROR_INVALID_VALUE;
    *out = result == CUDA_SUCCESS ? address : 0;
    return result;
}

static bool is_rdma_capable(const struct fv_mapping *mapping)
{
    if (mapping->handle)
        return mapping->handle->prop.allocFlags.gpuDirectRDMACapable;
    return mapping->kind == FV_MEM_ALLOC &&
           fv_device_attribute(mapping->phys->device,
                               CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
}

/* At addresses that are reserved and no more, few questions have an answer. */
static CUresult value_of_reserved(const struct fv_reservation *reservation,
                                  CUpointer_attribute attribute, uint64_t *out)
{
    *out = 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *out = reservation->base; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *out = reservation->size; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult value_of(const struct fv_mapping *mapping, CUpointer_attribute attribute,
                         CUdeviceptr address, uint64_t *out)
{
    *out = 0;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *out = (uintptr_t)mapping->context; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *out = is_host(mapping) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return device_pointer(mapping, address, out);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!has_host_pointer(mapping))
            return CUDA_ERROR_INVALID_VALUE;
        *out = address;
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: *out = mapping->sync_memops; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *out = mapping->id; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *out = mapping->handle ? mapping->handle->value : mapping->id;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *out = (uint64_t)(mapping->handle ? fv_reservation_at(address)->device
                                          : mapping->phys->device->ordinal);
        break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *out = mapping->kind == FV_MEM_ALLOC;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *out = mapping->handle ? fv_reservation_at(address)->base : mapping->base;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *out = mapping->handle ? fv_reservation_at(address)->size : mapping->requested;
        break;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *out = mapping->base; break;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *out = mapping->requested; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *out = mapping->handle ? mapping->handle->prop.requestedHandleTypes : 0;
        break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: *out = is_rdma_capable(mapping); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *out = 1; break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return access_of(mapping, out);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *out = mapping->kind == FV_MEM_MANAGED; break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *out = (uintptr_t)mapping->pool; break;
    default: break; /* what this memory is not: fit for hardware decompression */
    }
    return CUDA_SUCCESS;
}

/* The answer for any address. */
static CUresult answer(CUpointer_attribute attribute, CUdeviceptr address, uint64_t *out)
{
    const struct fv_mapping *mapping = fv_va_find(address);
    const struct fv_reservation *reservation;

    if (mapping)
        return value_of(mapping, attribute, address, out);
    reservation = fv_reservation_at(address);
    return reservation ? value_of_reserved(reservation, attribute, out) : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr address)
{
    size_t size = size_of(attribute);
    uint64_t value;
    CUresult result;

    if (!out || !size)
        return CUDA_ERROR_INVALID_VALUE;
    result = answer(attribute, address, &value);
    if (result == CUDA_SUCCESS)
        memcpy(out, &value, size); /* little endian: the low bytes come first */
    return result;
}

/* An address or attribute without an answer gets zero, and the call succeeds. */
CUresult fv_cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **out,
                                   CUdeviceptr address)
{
    if (!attributes || !out)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (!out[i] || !size_of(attributes[i]))
            return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = 0;
        if (answer(attributes[i], address, &value) != CUDA_SUCCESS)
            value = 0;
        memcpy(out[i], &value, size_of(attributes[i]));
    }
    return CUDA_SUCCESS;
}

/* Only one attribute can be set. VMM memory has none: the context's flag is for that. */
CUresult fv_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                                  CUdeviceptr address)
{
    struct fv_mapping *mapping = fv_va_find(address);
    unsigned flag;

    if (!value || !mapping || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
        return CUDA_ERROR_INVALID_VALUE;
    if (mapping->handle)
        return CUDA_ERROR_NOT_SUPPORTED;
    memcpy(&flag, value, sizeof flag);
    if (flag > 1)
        return CUDA_ERROR_INVALID_VALUE;
    mapping->sync_memops = flag;
    return CUDA_SUCCESS;
}
