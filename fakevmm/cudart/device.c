/* device.c: what devices there are, what they can do, and calls on the current context as a whole.
 * Which context that is, context.c decides. */
#include "runtime.h"

#include <string.h>

/* ---- versions and devices ---- */

cudaError_t rt_cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return cudaErrorInvalidValue;
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* Without a driver the version is 0, and that is no error. */
cudaError_t rt_cudaDriverGetVersion(int *version)
{
    if (!version)
        return cudaErrorInvalidValue;
    *version = 0;
    (void)rt_driver_load();
    return rt_driver.cuDriverGetVersion ? DRIVER(cuDriverGetVersion, version) : cudaSuccess;
}

FORWARD(cudaDeviceGetAttribute, (int *out, enum cudaDeviceAttr which, int device),
        cuDeviceGetAttribute, out, (CUdevice_attribute)which, device)
FORWARD(cudaDeviceGetP2PAttribute, (int *out, enum cudaDeviceP2PAttr which, int src, int dst),
        cuDeviceGetP2PAttribute, out, (CUdevice_P2PAttribute)which, src, dst)
FORWARD(cudaDeviceGetHostAtomicCapabilities,
        (unsigned int *out, const enum cudaAtomicOperation *operations, unsigned int count,
         int device),
        cuDeviceGetHostAtomicCapabilities, out, (const CUatomicOperation *)operations, count,
        device)
FORWARD(cudaDeviceGetP2PAtomicCapabilities,
        (unsigned int *out, const enum cudaAtomicOperation *operations, unsigned int count, int src,
         int dst),
        cuDeviceGetP2PAtomicCapabilities, out, (const CUatomicOperation *)operations, count, src,
        dst)
FORWARD(cudaDeviceCanAccessPeer, (int *out, int device, int peer), cuDeviceCanAccessPeer, out,
        device, peer)
FORWARD(cudaDeviceGetPCIBusId, (char *out, int length, int device), cuDeviceGetPCIBusId, out,
        length, device)
FORWARD(cudaDeviceGetByPCIBusId, (int *out, const char *id), cuDeviceGetByPCIBusId, out, id)

cudaError_t rt_cudaGetDeviceCount(int *count)
{
    cudaError_t error = count ? DRIVER(cuDeviceGetCount, count) : cudaErrorInvalidValue;

    return error == cudaSuccess && *count == 0 ? cudaErrorNoDevice : error;
}

/* ---- properties ---- */

static cudaError_t read_attributes(struct cudaDeviceProp *prop, CUdevice device)
{
    cudaError_t error = cudaSuccess;
    int value = 0;

#define P(field, attribute)                                                                        \
    if (error == cudaSuccess)                                                                      \
        error = DRIVER(cuDeviceGetAttribute, &value, CU_DEVICE_ATTRIBUTE_##attribute, device);     \
    prop->field = value;
#include "properties.def"
#undef P
    return error;
}

cudaError_t rt_cudaGetDeviceProperties(struct cudaDeviceProp *out, int ordinal)
{
    struct cudaDeviceProp prop;
    CUdevice device;
    CUuuid uuid;
    cudaError_t error = out ? DRIVER(cuDeviceGet, &device, ordinal) : cudaErrorInvalidValue;

    memset(&prop, 0, sizeof prop);
    if (error == cudaSuccess)
        error = DRIVER(cuDeviceGetName, prop.name, sizeof prop.name, device);
    if (error == cudaSuccess)
        error = DRIVER(cuDeviceGetUuid, &uuid, device);
    if (error == cudaSuccess)
        error = DRIVER(cuDeviceTotalMem, &prop.totalGlobalMem, device);
    if (error == cudaSuccess)
        error = read_attributes(&prop, device);
    if (error != cudaSuccess)
        return error;
    memcpy(&prop.uuid, &uuid, sizeof prop.uuid);
    *out = prop;
    return cudaSuccess;
}

/* How many of the properties asked for (those that are not zero) a device has in at least that
 * measure. */
static unsigned matches(const struct cudaDeviceProp *device, const struct cudaDeviceProp *wanted)
{
    unsigned count = wanted->totalGlobalMem && device->totalGlobalMem >= wanted->totalGlobalMem;

#define P(field, attribute) count += wanted->field && device->field >= wanted->field;
#include "properties.def"
#undef P
    return count;
}

/* Of equal matches the first device. */
cudaError_t rt_cudaChooseDevice(int *out, const struct cudaDeviceProp *wanted)
{
    struct cudaDeviceProp prop;
    unsigned best = 0;
    int count, chosen = 0;
    cudaError_t error = out && wanted ? rt_cudaGetDeviceCount(&count) : cudaErrorInvalidValue;

    for (int i = 0; error == cudaSuccess && i < count; i++) {
        error = rt_cudaGetDeviceProperties(&prop, i);
        if (error == cudaSuccess && matches(&prop, wanted) > best) {
            best = matches(&prop, wanted);
            chosen = i;
        }
    }
    if (error == cudaSuccess)
        *out = chosen;
    return error;
}

/* ---- the current device ---- */

/* A device that is not initialized yet is initialized with the flags. */
cudaError_t rt_cudaSetDeviceFlags(unsigned int flags)
{
    CUcontext context;
    int device;
    cudaError_t error = rt_device(&device);

    if (error == cudaSuccess)
        error = DRIVER(cuDevicePrimaryCtxSetFlags, device, flags);
    return error == cudaSuccess ? rt_primary(device, &context) : error;
}

/* Those of the current context, which may be the application's own, else the device's. */
cudaError_t rt_cudaGetDeviceFlags(unsigned int *flags)
{
    CUcontext current = NULL;
    int device, active;
    cudaError_t error = flags ? rt_device(&device) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        error = DRIVER(cuCtxGetCurrent, &current);
    if (error != cudaSuccess)
        return error;
    if (current && DRIVER(cuCtxGetFlags, flags) == cudaSuccess)
        return cudaSuccess;
    return DRIVER(cuDevicePrimaryCtxGetState, device, flags, &active);
}

cudaError_t rt_cudaDeviceSynchronize(void)
{
    return DRIVER(cuCtxSynchronize);
}

FORWARD(cudaDeviceSetLimit, (enum cudaLimit which, size_t value), cuCtxSetLimit, (CUlimit)which,
        value)
FORWARD(cudaDeviceGetLimit, (size_t * out, enum cudaLimit which), cuCtxGetLimit, out,
        (CUlimit)which)
FORWARD(cudaDeviceGetCacheConfig, (enum cudaFuncCache * out), cuCtxGetCacheConfig,
        (CUfunc_cache *)out)
FORWARD(cudaDeviceSetCacheConfig, (enum cudaFuncCache config), cuCtxSetCacheConfig,
        (CUfunc_cache)config)
FORWARD(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest), cuCtxGetStreamPriorityRange,
        least, greatest)
FORWARD(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig * out), cuCtxGetSharedMemConfig,
        (CUsharedconfig *)out)
FORWARD(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config), cuCtxSetSharedMemConfig,
        (CUsharedconfig)config)
FORWARD(cudaDeviceFlushGPUDirectRDMAWrites,
        (enum cudaFlushGPUDirectRDMAWritesTarget target,
         enum cudaFlushGPUDirectRDMAWritesScope scope),
        cuFlushGPUDirectRDMAWrites, (CUflushGPUDirectRDMAWritesTarget)target,
        (CUflushGPUDirectRDMAWritesScope)scope)
/* The callback types differ in type names only. */
FORWARD(cudaDeviceRegisterAsyncNotification,
        (int device, cudaAsyncCallback function, void *data, cudaAsyncCallbackHandle_t *out),
        cuDeviceRegisterAsyncNotification, device, (CUasyncCallback)(void (*)(void))function, data,
        (CUasyncCallbackHandle *)out)
FORWARD(cudaDeviceUnregisterAsyncNotification, (int device, cudaAsyncCallbackHandle_t handle),
        cuDeviceUnregisterAsyncNotification, device, (CUasyncCallbackHandle)handle)

cudaError_t rt_cudaCtxResetPersistingL2Cache(void)
{
    return DRIVER(cuCtxResetPersistingL2Cache);
}

cudaError_t rt_cudaProfilerStart(void)
{
    return DRIVER(cuProfilerStart);
}

cudaError_t rt_cudaProfilerStop(void)
{
    return DRIVER(cuProfilerStop);
}
