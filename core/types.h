/* types.h: the words core/ and shim/ share. core/ includes no CUDA header: handles are plain
 * numbers here, and shim/ alone turns driver results into vr_status. */
#ifndef VR_TYPES_H
#define VR_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one error type inside. Outputs are written on VR_OK only. */
enum vr_status {
    VR_OK,
    VR_NONE,      /* there is no such thing (no further parameter, unknown exec) */
    VR_NO_MEMORY, /* an allocation of ours failed: forward */
    VR_REFUSED    /* the driver would not say or do it: forward */
};

/* A driver handle's value. Values come back after a destroy: identity is never a handle alone. */
typedef uintptr_t vr_handle;

/* What a kernel node runs. CUfunction and CUkernel are different spaces of handles. */
enum vr_code_kind { VR_CODE_FUNCTION, VR_CODE_KERNEL };

struct vr_code {
    vr_handle handle;
    enum vr_code_kind kind;
};

/* What the shim may do. */
enum vr_mode { VR_MODE_OFF, VR_MODE_OBSERVE, VR_MODE_ON };

#endif
