/* driver_ops.h: all that core/ may ask of the world below. shim/driver_ops.c fills the table with
 * the driver, tests with functions of their own. Only read-only queries so far. No entry is called
 * with a lock of ours held; each may be called from any thread that is inside a call of the
 * application. */
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
};

#endif
