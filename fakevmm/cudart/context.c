/* context.c: which context a runtime call works in. A context the application made current through
 * the driver is used as it is; otherwise the primary context of the thread's device is retained,
 * once per process, and made current. It must not know what the call is for. */
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>

#define DEVICES_MAX 64

struct primary {
    CUcontext context; /* the handle last retained; stale while !retained */
    bool retained;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct primary primaries[DEVICES_MAX]; /* guarded by lock */
static atomic_bool reset_seen;                /* some primary context was reset by us */
static int valid[DEVICES_MAX];                /* guarded by lock; in order of priority */
static int valid_count;                       /* 0: every device, in order */
static __thread int chosen_device = -1;       /* -1: none yet */

/* Retains under the lock, so that two threads do not retain twice; the driver never calls back. */
cudaError_t rt_primary(int device, CUcontext *out)
{
    struct primary *primary;
    cudaError_t error = cudaSuccess;
    CUdevice handle;

    if (device < 0 || device >= DEVICES_MAX)
        return cudaErrorInvalidDevice;
    pthread_mutex_lock(&lock);
    primary = &primaries[device];
    if (!primary->retained) {
        error = DRIVER(cuDeviceGet, &handle, device);
        if (error == cudaSuccess)
            error = DRIVER(cuDevicePrimaryCtxRetain, &primary->context, handle);
        primary->retained = error == cudaSuccess;
    }
    *out = primary->context;
    pthread_mutex_unlock(&lock);
    return error;
}

/* True if the current context is a primary context that a reset has ended. Its handle may have come
 * back for a context of the application's own; the driver knows. */
static bool is_stale(CUcontext current)
{
    bool stale = false;
    CUdevice device;

    if (!atomic_load_explicit(&reset_seen, memory_order_acquire))
        return false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < DEVICES_MAX; i++)
        stale |= primaries[i].context == current && !primaries[i].retained;
    pthread_mutex_unlock(&lock);
    return stale && DRIVER(cuCtxGetDevice, &device) != cudaSuccess;
}

/* The devices to try for a thread that chose none, in order; -1 ends them. */
static int candidate(int position)
{
    int count, device = -1;

    pthread_mutex_lock(&lock);
    count = valid_count;
    if (position < count)
        device = valid[position];
    pthread_mutex_unlock(&lock);
    if (count)
        return device;
    if (DRIVER(cuDeviceGetCount, &count) != cudaSuccess)
        return -1;
    return position < count ? position : -1;
}

/* The primary context of the thread's device. A thread that chose none gets the first device that
 * works, and keeps it. */
static cudaError_t own_primary(CUcontext *out)
{
    cudaError_t error = cudaErrorNoDevice;

    if (chosen_device >= 0)
        return rt_primary(chosen_device, out);
    for (int i = 0, device; error != cudaSuccess && (device = candidate(i)) >= 0; i++) {
        error = rt_primary(device, out);
        if (error == cudaSuccess)
            chosen_device = device;
    }
    return error;
}

cudaError_t rt_context(CUcontext *out)
{
    CUcontext current = NULL;
    cudaError_t error = DRIVER(cuCtxGetCurrent, &current);

    if (error == cudaSuccess && (!current || is_stale(current))) {
        error = own_primary(&current);
        if (error == cudaSuccess)
            error = DRIVER(cuCtxSetCurrent, current);
    }
    if (error == cudaSuccess && out)
        *out = current;
    return error;
}

cudaError_t rt_device(int *out)
{
    CUcontext current = NULL;
    CUdevice device = chosen_device >= 0 ? chosen_device : candidate(0);
    cudaError_t error = DRIVER(cuCtxGetCurrent, &current);

    if (error == cudaSuccess && current && !is_stale(current))
        error = DRIVER(cuCtxGetDevice, &device);
    if (error == cudaSuccess && device < 0)
        error = cudaErrorNoDevice;
    if (error == cudaSuccess)
        *out = device;
    return error;
}

cudaError_t rt_cudaGetDevice(int *device)
{
    return device ? rt_device(device) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaSetDevice(int device)
{
    CUcontext context;
    cudaError_t error = rt_primary(device, &context);

    if (error == cudaSuccess)
        error = DRIVER(cuCtxSetCurrent, context);
    if (error == cudaSuccess)
        chosen_device = device;
    return error;
}

cudaError_t rt_cudaSetValidDevices(int *devices, int count)
{
    int existing;
    cudaError_t error = DRIVER(cuDeviceGetCount, &existing);

    if (error != cudaSuccess)
        return error;
    if (count < 0 || count > existing || count > DEVICES_MAX || (count && !devices))
        return cudaErrorInvalidValue;
    for (int i = 0; i < count; i++) {
        if (devices[i] < 0 || devices[i] >= existing)
            return cudaErrorInvalidDevice;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        valid[i] = devices[i];
    valid_count = count;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t rt_cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
    cudaError_t error = cudaSuccess;
    CUcontext context;

    if (flags & ~(unsigned)cudaInitDeviceFlagsAreValid)
        return cudaErrorInvalidValue;
    if (flags & cudaInitDeviceFlagsAreValid)
        error = DRIVER(cuDevicePrimaryCtxSetFlags, device, device_flags);
    return error == cudaSuccess ? rt_primary(device, &context) : error;
}

/* A reset does not release: what we retained is released afterwards, as cuda.h asks. */
static cudaError_t drop_primary(int device)
{
    struct primary *primary = &primaries[device];
    cudaError_t error = cudaSuccess;
    CUcontext current = NULL, ended;

    pthread_mutex_lock(&lock);
    ended = primary->context;
    if (primary->retained) {
        error = DRIVER(cuDevicePrimaryCtxRelease, device);
        primary->retained = false;
        atomic_store_explicit(&reset_seen, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    if (error == cudaSuccess)
        error = DRIVER(cuCtxGetCurrent, &current);
    if (error == cudaSuccess && current == ended)
        error = DRIVER(cuCtxSetCurrent, NULL);
    return error;
}

static bool is_ours(CUcontext context, int device)
{
    bool ours;

    pthread_mutex_lock(&lock);
    ours = primaries[device].retained && primaries[device].context == context;
    pthread_mutex_unlock(&lock);
    return ours;
}

/* True if the application has a context of its own current: neither none nor the primary one, which
 * it may have retained itself. */
static cudaError_t own_is_current(int device, bool *out)
{
    CUcontext current = NULL, primary = NULL;
    cudaError_t error = DRIVER(cuCtxGetCurrent, &current);

    *out = false;
    if (error != cudaSuccess || !current || is_ours(current, device))
        return error;
    error = DRIVER(cuDevicePrimaryCtxRetain, &primary, device);
    if (error == cudaSuccess)
        error = DRIVER(cuDevicePrimaryCtxRelease, device);
    *out = current != primary;
    return error;
}

/* Of a context of the application's own the runtime keeps no state that could be reset. */
cudaError_t rt_cudaDeviceReset(void)
{
    unsigned int flags;
    int device, active = 0;
    bool own;
    cudaError_t error = rt_device(&device);

    if (error == cudaSuccess)
        error = DRIVER(cuDevicePrimaryCtxGetState, device, &flags, &active);
    if (error != cudaSuccess || !active)
        return error;
    error = own_is_current(device, &own);
    if (error != cudaSuccess || own)
        return error;
    error = DRIVER(cuDevicePrimaryCtxReset, device);
    return error == cudaSuccess ? drop_primary(device) : error;
}
