/* mem.h: what the memory files share, and copies and fills that take any kind of address. Owned by
 * mem.c (allocations), host_mem.c (pinned memory) and copy.c. */
#ifndef FAKEVMM_MEM_H
#define FAKEVMM_MEM_H

#include "fakevmm.h"

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
/* host_mem.c's part of fv_mem_drop_context(). */
struct fv_context;
void fv_host_mem_drop_context(const struct fv_context *context);

#endif
