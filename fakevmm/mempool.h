/* mempool.h: memory pools and the allocations made from them, for the files that need more than the
 * calls. Owned by mempool.c (the pools), mempool_info.c (their properties) and mempool_alloc.c
 * (allocation in stream order). Lock held throughout. */
#ifndef FAKEVMM_MEMPOOL_H
#define FAKEVMM_MEMPOOL_H

#include "device.h"
#include "va.h"

/* Memory is reserved of the device in steps, and handed out of what is reserved. */
struct fv_mempool {
    struct fv_device *device;
    unsigned long long id;       /* never reused; handles are */
    uint32_t readable, writable; /* bit per device, for all allocations alike */
    size_t max_size;
    uint64_t threshold;       /* reserved bytes kept beyond what is in use */
    int reuse[3];             /* CU_MEMPOOL_ATTR_REUSE_*, in their order; they change nothing */
    uint64_t used, used_high; /* bytes, rounded as they are handed out */
    uint64_t reserved, reserved_high;
    bool dying; /* destroyed, ends with its last allocation */
};

/* ---- mempool.c ---- */

/* The pool a handle names, or NULL. */
struct fv_mempool *fv_pool_of(CUmemoryPool handle);
/* The pool a device began with; NULL when memory is out. */
struct fv_mempool *fv_pool_default(struct fv_device *device);
/* The one that cuMemAllocAsync uses on it; NULL when memory is out. */
struct fv_mempool *fv_pool_current(struct fv_device *device);

/* What a device may do with its memory (mempool_info.c). */
CUmemAccess_flags fv_pool_access(const struct fv_mempool *pool, int device);
void fv_pool_make_current(struct fv_mempool *pool);
bool fv_pool_is_default(const struct fv_mempool *pool);
/* What is wrong with the properties of a pool to make, or of a graph's allocation. */
CUresult fv_pool_check_props(const CUmemPoolProps *props);

/* Takes `size` bytes from a pool: at `*out`, mapped without access until fv_pool_grant().
 * CUDA_ERROR_OUT_OF_MEMORY beyond the pool's maximum or the device's memory. */
CUresult fv_pool_take(struct fv_mempool *pool, size_t size, CUdeviceptr *out);
/* The turn of that allocation has come: devices may access it as its pool says. */
void fv_pool_grant(struct fv_mapping *mapping);

/* Gives a device back what its pools hold beyond their thresholds: at every synchronisation. */
void fv_pools_trim(struct fv_device *device);
/* The same regardless of thresholds, before an allocation fails: true if that gave anything. */
bool fv_pools_reclaim(struct fv_device *device);

#endif
