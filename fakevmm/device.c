/* device.c: cuInit, the devices and their primary contexts. It must not know what a context owns
 * (context.c) nor what a device claims to be able to do (device_info.c). */
#include "device.h"
#include "card.h"
#include "settings.h"
#include "va.h"

#include <stdlib.h>

#define MAX_DEVICES 16

static struct fv_device devices[MAX_DEVICES];
static int device_count;

CUresult fv_devices_init(void)
{
    device_count = fv_settings()->devices;
    for (int i = 0; i < device_count; i++)
        devices[i] =
            (struct fv_device){.ordinal = i,
                               .memory_bytes = fv_settings()->memory,
                               .granularity = fv_settings()->card->granularity,
                               .granularity_recommended = fv_settings()->card->granularity};
    return device_count ? fv_va_init() : CUDA_ERROR_NO_DEVICE;
}

int fv_device_count(void)
{
    return device_count;
}

struct fv_device *fv_device(int ordinal)
{
    return ordinal >= 0 && ordinal < device_count ? &devices[ordinal] : NULL;
}

CUresult fv_cuInit(unsigned flags)
{
    CUresult result;

    if (fv_settings_complaint()) {
        fv_say("%s", fv_settings_complaint());
        /* Exit handlers of the application may call us. */
        fv_unlock();
        exit(2);
    }
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (fv_initialised())
        return CUDA_SUCCESS;
    result = fv_devices_init();
    if (result == CUDA_SUCCESS)
        fv_set_initialised();
    return result;
}

CUresult fv_cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = fv_settings()->driver;
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceGetCount(int *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = device_count;
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceGet(CUdevice *out, int ordinal)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

/* ---- primary contexts ---- */

CUresult fv_cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal)
{
    struct fv_device *device = fv_device(ordinal);
    CUresult result = CUDA_SUCCESS;

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!device->primary)
        result = fv_context_new(device, device->primary_flags, true, &device->primary);
    if (result != CUDA_SUCCESS)
        return result;
    device->primary_refs++;
    *out = (CUcontext)device->primary;
    return CUDA_SUCCESS;
}

/* The device forgets the context first: a retain during the wait for its work makes a new one. */
static void reset_primary(struct fv_device *device)
{
    struct fv_context *primary = device->primary;

    device->primary = NULL;
    if (primary)
        fv_context_close(primary);
}

CUresult fv_cuDevicePrimaryCtxRelease(CUdevice ordinal)
{
    struct fv_device *device = fv_device(ordinal);

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!device->primary_refs)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--device->primary_refs == 0)
        reset_primary(device);
    return CUDA_SUCCESS;
}

CUresult fv_cuDevicePrimaryCtxRelease_v2(CUdevice ordinal)
{
    return fv_cuDevicePrimaryCtxRelease(ordinal);
}

/* A reset releases nothing: who has retained the context still owes a release. */
CUresult fv_cuDevicePrimaryCtxReset(CUdevice ordinal)
{
    struct fv_device *device = fv_device(ordinal);

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    reset_primary(device);
    return CUDA_SUCCESS;
}

CUresult fv_cuDevicePrimaryCtxReset_v2(CUdevice ordinal)
{
    return fv_cuDevicePrimaryCtxReset(ordinal);
}

CUresult fv_cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags)
{
    struct fv_device *device = fv_device(ordinal);

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (fv_check_context_flags(flags) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags;
    return CUDA_SUCCESS;
}

/* The first form refuses an active context; the second was made because that got in the way. */
CUresult fv_cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags)
{
    struct fv_device *device = fv_device(ordinal);

    if (device && device->primary)
        return CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE;
    return fv_cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

CUresult fv_cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *active)
{
    struct fv_device *device = fv_device(ordinal);

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = device->primary_flags;
    *active = device->primary != NULL;
    return CUDA_SUCCESS;
}
