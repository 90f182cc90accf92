/* core_device_ops.h: the entries of the device of core_device.h. */
#ifndef CORE_DEVICE_OPS_H
#define CORE_DEVICE_OPS_H

#include "tests/unit/core_device_vmm.h"

static enum vr_status dev_device_memory(int ordinal, size_t *granule, size_t *total)
{
    if (device_enter(OP_device_memory))
        return device_leave(OP_device_memory, device.fail_status);
    *granule = GRANULE;
    *total = device.total;
    return device_leave(OP_device_memory, VR_OK);
}

static enum vr_status dev_free_memory(size_t *bytes)
{
    if (device_enter(OP_free_memory))
        return device_leave(OP_free_memory, device.fail_status);
    *bytes = device.total - device.used;
    return device_leave(OP_free_memory, VR_OK);
}

static enum vr_status dev_may_place(int ordinal, bool eager)
{
    return device_leave(OP_may_place, device_enter(OP_may_place) ? VR_REFUSED : VR_OK);
}

static enum vr_status dev_drain(vr_handle context, int *result)
{
    if (device.on_drain)
        device.on_drain();
    if (device_enter(OP_drain) || device.drain_result) {
        *result = device.drain_result ? device.drain_result : 900;
        return device_leave(OP_drain, VR_REFUSED);
    }
    device.drained = context;
    return device_leave(OP_drain, VR_OK);
}

static const struct vr_driver_ops device_ops = {
#define X(name) .name = dev_##name,
    DEVICE_OPS(X)
#undef X
};

#endif
