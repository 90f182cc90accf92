/* mempool_info.c: what can be asked about a pool and set in one: attributes, access, and which one
 * a device uses. It must not change what a pool holds. */
#include "mempool.h"

#include <string.h>

/* ---- attributes ---- */

enum how { READ, WRITE, RESET }; /* what setting an attribute does */

/* The attribute of a pool, or NULL for one that is none. */
static void *attribute_of(struct fv_mempool *pool, CUmemPool_attribute attribute, size_t *size,
                          enum how *how)
{
    *size = sizeof(cuuint64_t);
    *how = READ;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
        *size = sizeof(int);
        *how = WRITE;
        return &pool->reuse[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *how = WRITE; return &pool->threshold;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *how = RESET; return &pool->reserved_high;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *how = RESET; return &pool->used_high;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return &pool->reserved;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return &pool->used;
    default: return NULL;
    }
}

CUresult fv_cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    struct fv_mempool *pool = fv_pool_of(handle);
    enum how how;
    size_t size;
    const void *from = pool ? attribute_of(pool, attribute, &size, &how) : NULL;

    if (!from || !value)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(value, from, size);
    return CUDA_SUCCESS;
}

/* A high watermark can only be set to zero, which brings it down to what it is now. */
static CUresult reset_high(struct fv_mempool *pool, CUmemPool_attribute attribute,
                           const void *value)
{
    uint64_t number;

    memcpy(&number, value, sizeof number);
    if (number)
        return CUDA_ERROR_INVALID_VALUE;
    if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        pool->used_high = pool->used;
    else
        pool->reserved_high = pool->reserved;
    return CUDA_SUCCESS;
}

CUresult fv_cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value)
{
    struct fv_mempool *pool = fv_pool_of(handle);
    enum how how;
    size_t size;
    void *to = pool ? attribute_of(pool, attribute, &size, &how) : NULL;

    if (!to || !value || how == READ)
        return CUDA_ERROR_INVALID_VALUE;
    if (how == RESET)
        return reset_high(pool, attribute, value);
    memcpy(to, value, size);
    return CUDA_SUCCESS;
}

/* ---- access ---- */

/* Of a device; its own pool stays accessible to it. */
static bool may_set(const struct fv_mempool *pool, const CUmemAccessDesc *access)
{
    if (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !fv_device(access->location.id))
        return false;
    switch (access->flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE: return true;
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
    case CU_MEM_ACCESS_FLAGS_PROT_READ: return access->location.id != pool->device->ordinal;
    default: return false;
    }
}

/* For what was allocated and what will be. */
static void refresh(const struct fv_mempool *pool)
{
    for (struct fv_mapping *it = fv_va_from(0); it; it = fv_va_from(it->base + 1))
        if (it->pool == pool && !it->waiting)
            fv_va_set_access(it, pool->readable, pool->writable);
}

CUresult fv_cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *access, size_t count)
{
    struct fv_mempool *pool = fv_pool_of(handle);

    if (!pool || (count && !access))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!may_set(pool, &access[i]))
            return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        uint32_t bit = 1u << access[i].location.id;
        bool reads = access[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
        bool writes = access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        pool->readable = reads ? pool->readable | bit : pool->readable & ~bit;
        pool->writable = writes ? pool->writable | bit : pool->writable & ~bit;
    }
    refresh(pool);
    return CUDA_SUCCESS;
}

CUmemAccess_flags fv_pool_access(const struct fv_mempool *pool, int device)
{
    uint32_t bit = 1u << device;

    if (pool->writable & bit)
        return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return pool->readable & bit ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

CUresult fv_cuMemPoolGetAccess(CUmemAccess_flags *out, CUmemoryPool handle, CUmemLocation *location)
{
    const struct fv_mempool *pool = fv_pool_of(handle);

    if (!out || !pool || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE ||
        !fv_device(location->id))
        return CUDA_ERROR_INVALID_VALUE;
    *out = fv_pool_access(pool, location->id);
    return CUDA_SUCCESS;
}

/* ---- of a device ---- */

static CUresult answer(CUmemoryPool *out, CUdevice ordinal,
                       struct fv_mempool *(*which)(struct fv_device *device))
{
    struct fv_device *device = fv_device(ordinal);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *out = (CUmemoryPool)which(device);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fv_cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal)
{
    return answer(out, ordinal, fv_pool_default);
}

CUresult fv_cuDeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal)
{
    return answer(out, ordinal, fv_pool_current);
}

CUresult fv_cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle)
{
    struct fv_mempool *pool = fv_pool_of(handle);

    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!pool || pool->device->ordinal != ordinal)
        return CUDA_ERROR_INVALID_VALUE;
    fv_pool_make_current(pool);
    return CUDA_SUCCESS;
}

/* ---- of a location ---- */

/* Only devices' pinned memory has pools here, as the attributes say. */
static CUresult check_location(const CUmemLocation *location, CUmemAllocationType type)
{
    bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;

    if (!location || (type != CU_MEM_ALLOCATION_TYPE_PINNED && !managed))
        return CUDA_ERROR_INVALID_VALUE;
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (!fv_device(location->id))
            return CUDA_ERROR_INVALID_DEVICE;
        return managed ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return CUDA_ERROR_NOT_SUPPORTED;
    case CU_MEM_LOCATION_TYPE_NONE:
        return managed ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult fv_cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *location,
                                   CUmemAllocationType type)
{
    CUresult result = check_location(location, type);

    return result == CUDA_SUCCESS ? fv_cuDeviceGetDefaultMemPool(out, location->id) : result;
}

CUresult fv_cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult result = check_location(location, type);

    return result == CUDA_SUCCESS ? fv_cuDeviceGetMemPool(out, location->id) : result;
}

CUresult fv_cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult result = check_location(location, type);

    return result == CUDA_SUCCESS ? fv_cuDeviceSetMemPool(location->id, pool) : result;
}
