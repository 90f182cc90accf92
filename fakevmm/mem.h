/* mem.h: what the memory files share, and copies and fills that take any kind of address. Owned by
 * mem.c (allocations), host_mem.c (pinned memory) and copy.c. */
#ifndef FAKEVMM_MEM_H
#define FAKEVMM_MEM_H

#include "device.h"
#include "va.h"

/* Any thread, no lock: copies `size` bytes; each side may be a device or a host address.
 * `device` is the ordinal whose rights count, or FV_COPY_ON() of it. CUDA_ERROR_ILLEGAL_ADDRESS,
 * after one line on stderr, when a device address is not mapped or may not be accessed. */
CUresult fv_copy_any(uint64_t to, uint64_t from, size_t size, int device);

/* Any thread, no lock: the memset of fv_va_fill(), pinned host addresses included, with the same
 * line on stderr. */
CUresult fv_fill_any(uint64_t to, size_t pitch, unsigned value, unsigned width, size_t count,
                     size_t height, int device);

/* What a copy or memset call (or node) may name: CUDA_ERROR_INVALID_VALUE if a device address is
 * not mapped over the whole range. Lock held. Host addresses are taken on trust. */
CUresult fv_check_range(uint64_t address, size_t size);
/* The same for a side that must be memory a device can reach: device or pinned memory. */
CUresult fv_check_device_range(uint64_t address, size_t size);

/* A number for a mapping that no other has had (CU_POINTER_ATTRIBUTE_BUFFER_ID). */
unsigned long long fv_mem_next_id(void);

/* Memory is handed out in steps of this much; FV_MEM_LARGE bytes and more in pages of their own. */
#define FV_MEM_STEP       ((size_t)512)
#define FV_MEM_LARGE      ((size_t)1 << 20)
#define FV_MEM_LARGE_STEP ((size_t)2 << 20)

static inline size_t fv_mem_round_up(size_t size, size_t step)
{
    return (size + step - 1) / step * step;
}

/* Where an allocation's addresses start is a multiple of this. */
static inline size_t fv_mem_align(size_t size)
{
    return size < FV_MEM_LARGE ? FV_MEM_STEP : FV_MEM_LARGE_STEP;
}

/* Addresses that an allocation takes; more of them than it may touch. */
static inline size_t fv_mem_space(size_t size)
{
    return fv_mem_round_up(size, fv_mem_align(size));
}

/* Puts so much of a device's memory on its accounts; false if there is not that much left, even
 * with what its pools can give back. */
bool fv_mem_charge(struct fv_device *device, size_t size);
/* The same out of what is free now. */
bool fv_mem_charge_free(struct fv_device *device, size_t size);
void fv_mem_refund(struct fv_device *device, size_t size);

/* Takes addresses for an allocation and maps a new block there as `mapping` says; of it base,
 * size, requested, phys and id are set here. Accounts are the caller's. */
CUresult fv_mem_map_new(struct fv_device *device, size_t size, struct fv_mapping mapping,
                        CUdeviceptr *out);
/* Undoes it. */
void fv_mem_unmap(const struct fv_mapping *mapping);

/* Ends a context's mappings of one kind, each by a function of the kind's owner. */
void fv_mem_drop_kind(const struct fv_context *context, enum fv_mem_kind kind,
                      void (*end)(struct fv_mapping *mapping));
/* host_mem.c's and ipc.c's part of fv_mem_drop_context(). */
void fv_host_mem_drop_context(const struct fv_context *context);
void fv_ipc_drop_context(const struct fv_context *context);

#endif
