/* driver_mem.h: the memory entries of core's struct vr_driver_ops, which has their contracts
 * (core/driver_ops.h). */
#ifndef VR_DRIVER_MEM_H
#define VR_DRIVER_MEM_H

#include "core/driver_ops.h"

/* Systems with more devices are left alone. */
#define VR_DEVICES_MAX 32

enum vr_status vr_mem_device(int device, size_t *granule, size_t *total);
enum vr_status vr_mem_free_bytes(size_t *bytes);
enum vr_status vr_mem_reserve(size_t bytes, size_t align, uint64_t *address);
enum vr_status vr_mem_unreserve(uint64_t address, size_t bytes);
enum vr_status vr_mem_create(int device, size_t bytes, uint64_t *memory);
enum vr_status vr_mem_release(uint64_t memory);
enum vr_status vr_mem_map(uint64_t address, size_t bytes, uint64_t memory);
enum vr_status vr_mem_unmap(uint64_t address, size_t bytes);
enum vr_status vr_mem_set_access(int device, uint64_t address, size_t bytes);
enum vr_status vr_mem_may_place(int device, bool eager);
enum vr_status vr_mem_drain(vr_handle context, int *result);

#endif
