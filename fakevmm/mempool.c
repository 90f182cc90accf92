/* mempool.c: memory pools: their life, which one a device uses, what they hold and what they hand
 * out. It must not know streams (mempool_alloc.c). */
#include "mempool.h"
#include "mem.h"

#define MAX_DEVICES 16
#define STEP        FV_MEM_LARGE_STEP /* reserved of the device at once */

FV_FITS(struct fv_mempool);

/* NULL: not asked for yet. */
static struct {
    struct fv_mempool *first, *current;
} pools_of[MAX_DEVICES];

/* ---- which one ---- */

struct fv_mempool *fv_pool_of(CUmemoryPool handle)
{
    struct fv_mempool *pool = (struct fv_mempool *)handle;

    return fv_valid(FV_MEMPOOL, pool) && !pool->dying ? pool : NULL;
}

static struct fv_mempool *new_pool(struct fv_device *device)
{
    static unsigned long long last_id;
    struct fv_mempool *pool = fv_new(FV_MEMPOOL);
    uint32_t own = 1u << device->ordinal;

    if (pool)
        *pool = (struct fv_mempool){.device = device,
                                    .id = ++last_id,
                                    .readable = own,
                                    .writable = own,
                                    .max_size = device->memory_bytes,
                                    .reuse = {1, 1, 1}};
    return pool;
}

struct fv_mempool *fv_pool_default(struct fv_device *device)
{
    struct fv_mempool **first = &pools_of[device->ordinal].first;

    if (!*first)
        *first = new_pool(device);
    return *first;
}

struct fv_mempool *fv_pool_current(struct fv_device *device)
{
    struct fv_mempool *current = pools_of[device->ordinal].current;

    return current ? current : fv_pool_default(device);
}

void fv_pool_make_current(struct fv_mempool *pool)
{
    pools_of[pool->device->ordinal].current = pool;
}

bool fv_pool_is_default(const struct fv_mempool *pool)
{
    return pools_of[pool->device->ordinal].first == pool;
}

/* ---- life ---- */

static CUresult check_location(const CUmemPoolProps *props)
{
    switch (props->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return fv_device(props->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_HOST:
        return props->handleTypes ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return CUDA_ERROR_NOT_SUPPORTED; /* as the attributes say */
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult fv_pool_check_props(const CUmemPoolProps *props)
{
    const unsigned known_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR |
                                 CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT |
                                 CU_MEM_HANDLE_TYPE_FABRIC;
    CUresult result;

    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || props->handleTypes & ~known_types ||
        props->win32SecurityAttributes || props->usage & ~CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof props->reserved; i++)
        if (props->reserved[i])
            return CUDA_ERROR_INVALID_VALUE;
    result = check_location(props);
    if (result == CUDA_SUCCESS && (props->handleTypes || props->usage))
        result = CUDA_ERROR_NOT_SUPPORTED;
    return result;
}

CUresult fv_cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props)
{
    struct fv_mempool *pool;
    CUresult result;

    if (!out || !props)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_pool_check_props(props);
    if (result != CUDA_SUCCESS)
        return result;
    pool = new_pool(fv_device(props->location.id));
    if (!pool)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (props->maxSize)
        pool->max_size = props->maxSize;
    *out = (CUmemoryPool)pool;
    return CUDA_SUCCESS;
}

/* ---- what it holds ---- */

static void shrink(struct fv_mempool *pool, uint64_t keep)
{
    uint64_t needed = pool->used > keep ? pool->used : keep;

    if (needed >= pool->reserved)
        return;
    needed = fv_mem_round_up(needed, STEP);
    if (needed >= pool->reserved)
        return;
    fv_mem_refund(pool->device, pool->reserved - needed);
    pool->reserved = needed;
}

/* The last allocation of a destroyed pool takes it along. */
static void end_if_unused(struct fv_mempool *pool)
{
    if (!pool->dying || pool->used)
        return;
    fv_mem_refund(pool->device, pool->reserved);
    fv_delete(FV_MEMPOOL, pool);
}

CUresult fv_cuMemPoolDestroy(CUmemoryPool handle)
{
    struct fv_mempool *pool = fv_pool_of(handle);

    if (!pool || fv_pool_is_default(pool))
        return CUDA_ERROR_INVALID_VALUE;
    if (fv_pool_current(pool->device) == pool)
        pools_of[pool->device->ordinal].current = NULL;
    pool->dying = true;
    end_if_unused(pool);
    return CUDA_SUCCESS;
}

CUresult fv_cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
    struct fv_mempool *pool = fv_pool_of(handle);

    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    shrink(pool, keep);
    return CUDA_SUCCESS;
}

void fv_pools_trim(struct fv_device *device)
{
    for (struct fv_mempool *it = fv_next(FV_MEMPOOL, NULL); it; it = fv_next(FV_MEMPOOL, it))
        if (it->device == device)
            shrink(it, it->threshold);
}

bool fv_pools_reclaim(struct fv_device *device)
{
    size_t before = device->memory_used;

    for (struct fv_mempool *it = fv_next(FV_MEMPOOL, NULL); it; it = fv_next(FV_MEMPOOL, it))
        if (it->device == device)
            shrink(it, 0);
    return device->memory_used < before;
}

/* ---- what it hands out ---- */

/* Reserves what is missing: whole steps, or less at the end of the pool's or the device's memory.
 */
static bool reserve(struct fv_mempool *pool, uint64_t size)
{
    uint64_t left = pool->max_size - pool->reserved, missing, step;

    if (pool->used + size <= pool->reserved)
        return true;
    missing = pool->used + size - pool->reserved;
    step = fv_mem_round_up(missing, STEP);
    if (missing > left)
        return false;
    if (step > left || !fv_mem_charge_free(pool->device, step)) {
        step = missing;
        if (!fv_mem_charge_free(pool->device, step))
            return false;
    }
    pool->reserved += step;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return true;
}

static void release(struct fv_mapping *mapping)
{
    struct fv_mempool *pool = mapping->pool;

    pool->used -= fv_mem_round_up(mapping->requested, FV_MEM_STEP);
    fv_mem_unmap(mapping);
    end_if_unused(pool);
}

CUresult fv_pool_take(struct fv_mempool *pool, size_t size, CUdeviceptr *out)
{
    uint64_t rounded = fv_mem_round_up(size, FV_MEM_STEP);
    CUdeviceptr base;
    CUresult result;

    if (size > pool->max_size || size > pool->device->memory_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!reserve(pool, rounded) && !(fv_pools_reclaim(pool->device) && reserve(pool, rounded)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_mem_map_new(
        pool->device, size,
        (struct fv_mapping){.kind = FV_MEM_POOL, .pool = pool, .waiting = true, .release = release},
        &base);
    if (result != CUDA_SUCCESS)
        return result;
    *out = base;
    pool->used += rounded;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    return CUDA_SUCCESS;
}

void fv_pool_grant(struct fv_mapping *mapping)
{
    mapping->waiting = false;
    fv_va_set_access(mapping, mapping->pool->readable, mapping->pool->writable);
}
