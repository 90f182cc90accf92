/* driver_ops.h: all that core/ may ask of the world below. shim/driver_ops.c fills the table with
 * the driver, tests with functions of their own. Each may be called from any thread that is inside
 * a call of the application. With a lock of ours held only free_memory, reserve, create, release,
 * map, unmap and set_access are called: they wait for nobody and call nobody. */
#ifndef VR_DRIVER_OPS_H
#define VR_DRIVER_OPS_H

#include "types.h"

struct vr_driver_ops {
    /* Offset and size in bytes of parameter `index` (0-based) in the packed parameters of `code`.
     * VR_NONE past the last one; VR_REFUSED when the driver cannot tell (cuFuncGetParamInfo and
     * cuKernelGetParamInfo exist from driver 12.4; CUDA driver API, "Execution Control"). */
    enum vr_status (*param_info)(struct vr_code code, size_t index, size_t *offset, size_t *size);

    /* Whether a kernel node can be changed from the device (CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_
     * KERNEL_NODE). `node` must be alive: it is one the application is passing to its own call.
     * VR_REFUSED when the driver will not say. */
    enum vr_status (*node_updatable)(vr_handle node, bool *updatable);

    /* The calling thread's current context; 0 when there is none. */
    enum vr_status (*current_context)(vr_handle *context);

    /* ---- memory; `device` is a device ordinal, addresses are device addresses. VR_NO_MEMORY when
     * the driver is out of memory, VR_REFUSED for any other refusal. ---- */

    /* Bytes of one granule (cuMemGetAllocationGranularity, recommended), and the device's memory.
     */
    enum vr_status (*device_memory)(int device, size_t *granule, size_t *total);
    /* Free bytes of the device as the driver sees them (cuMemGetInfo; the device's context is
     * current). */
    enum vr_status (*free_memory)(size_t *bytes);
    enum vr_status (*reserve)(size_t bytes, size_t align, uint64_t *address);
    enum vr_status (*unreserve)(uint64_t address, size_t bytes);
    enum vr_status (*create)(int device, size_t bytes, uint64_t *memory);
    enum vr_status (*release)(uint64_t memory);
    enum vr_status (*map)(uint64_t address, size_t bytes, uint64_t memory);
    enum vr_status (*unmap)(uint64_t address, size_t bytes);
    /* Read and write for every device that may access plain device memory of `device`. */
    enum vr_status (*set_access)(int device, uint64_t address, size_t bytes);
    /* Whether memory of ours may stand in for plain memory of the device: the driver has the VMM
     * calls, every device is P2P-capable with every other, no MPS, and (unless `eager`) no library
     * that registers memory is loaded (NCCL, UCX, MPI, NVSHMEM, libfabric, gdrcopy). */
    enum vr_status (*may_place)(int device, bool eager);
    /* Waits as cuMemFree does: for all work of `context`. On VR_REFUSED *result is the driver's own
     * code, which the application gets. */
    enum vr_status (*drain)(vr_handle context, int *result);
};

#endif
