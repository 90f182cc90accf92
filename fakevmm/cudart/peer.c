/* peer.c: more than one device, or more than one process: peer access, copies between devices, and
 * memory and events of other processes. The runtime names a device where the driver wants a
 * context: the device's primary one. */
#include "runtime.h"

#include <string.h>

/* ---- access ---- */

cudaError_t rt_cudaDeviceEnablePeerAccess(int device, unsigned int flags)
{
    CUcontext peer;
    int own;
    cudaError_t error = rt_primary(device, &peer);

    if (error == cudaSuccess)
        error = rt_device(&own);
    if (error == cudaSuccess)
        error = device != own ? DRIVER(cuCtxEnablePeerAccess, peer, flags) : cudaErrorInvalidDevice;
    return error == cudaErrorPeerAccessUnsupported ? cudaErrorInvalidDevice : error;
}

cudaError_t rt_cudaDeviceDisablePeerAccess(int device)
{
    CUcontext peer;
    cudaError_t error = rt_primary(device, &peer);

    return error == cudaSuccess ? DRIVER(cuCtxDisablePeerAccess, peer) : error;
}

/* ---- copies ---- */

static cudaError_t both(int dst_device, int src_device, CUcontext *dst, CUcontext *src)
{
    cudaError_t error = rt_primary(dst_device, dst);

    return error == cudaSuccess ? rt_primary(src_device, src) : error;
}

cudaError_t rt_cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device,
                              size_t count)
{
    CUcontext to, from;
    cudaError_t error = both(dst_device, src_device, &to, &from);

    return error == cudaSuccess
               ? DRIVER(cuMemcpyPeer, rt_address(dst), to, rt_address(src), from, count)
               : error;
}

cudaError_t rt_cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                   size_t count, cudaStream_t stream)
{
    CUcontext to, from;
    cudaError_t error = both(dst_device, src_device, &to, &from);

    return error == cudaSuccess ? DRIVER(cuMemcpyPeerAsync, rt_address(dst), to, rt_address(src),
                                         from, count, stream)
                                : error;
}

/* The driver's description of a copy between contexts is that of a plain copy, with the contexts
 * in two fields that are reserved there. */
static cudaError_t describe(const struct cudaMemcpy3DPeerParms *from, CUDA_MEMCPY3D_PEER *to)
{
    struct cudaMemcpy3DParms plain;
    CUDA_MEMCPY3D copy;
    cudaError_t error;

    _Static_assert(sizeof copy == sizeof *to, "one layout");
    _Static_assert(offsetof(CUDA_MEMCPY3D, reserved0) == offsetof(CUDA_MEMCPY3D_PEER, srcContext) &&
                       offsetof(CUDA_MEMCPY3D, reserved1) ==
                           offsetof(CUDA_MEMCPY3D_PEER, dstContext),
                   "one layout");
    if (!from)
        return cudaErrorInvalidValue;
    plain = (struct cudaMemcpy3DParms){
        .srcArray = from->srcArray,
        .srcPos = from->srcPos,
        .srcPtr = from->srcPtr,
        .dstArray = from->dstArray,
        .dstPos = from->dstPos,
        .dstPtr = from->dstPtr,
        .extent = from->extent,
        .kind = cudaMemcpyDefault,
    };
    error = rt_copy_to_driver(&plain, &copy);
    if (error != cudaSuccess)
        return error;
    memcpy(to, &copy, sizeof *to);
    return both(from->dstDevice, from->srcDevice, &to->dstContext, &to->srcContext);
}

#define COPY_3D_PEER(name, params, driver, ...)                                                    \
    cudaError_t rt_##name params                                                                   \
    {                                                                                              \
        CUDA_MEMCPY3D_PEER copy;                                                                   \
        cudaError_t error = describe(from, &copy);                                                 \
        return error == cudaSuccess ? DRIVER(driver, &copy, ##__VA_ARGS__) : error;                \
    }

COPY_3D_PEER(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *from), cuMemcpy3DPeer)
COPY_3D_PEER(cudaMemcpy3DPeer_ptds, (const struct cudaMemcpy3DPeerParms *from), cuMemcpy3DPeer_ptds)
COPY_3D_PEER(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *from, cudaStream_t stream),
             cuMemcpy3DPeerAsync, stream)

/* ---- other processes ---- */

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "one layout");
_Static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle), "one layout");

FORWARD(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * out, void *pointer), cuIpcGetMemHandle,
        (CUipcMemHandle *)out, rt_address(pointer))
FORWARD(cudaIpcCloseMemHandle, (void *pointer), cuIpcCloseMemHandle, rt_address(pointer))
FORWARD(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * out, cudaEvent_t event), cuIpcGetEventHandle,
        (CUipcEventHandle *)out, event)

cudaError_t rt_cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned int flags)
{
    CUipcMemHandle given;

    memcpy(&given, &handle, sizeof given);
    return DRIVER(cuIpcOpenMemHandle, (CUdeviceptr *)out, given, flags);
}

cudaError_t rt_cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle given;

    memcpy(&given, &handle, sizeof given);
    return DRIVER(cuIpcOpenEventHandle, out, given);
}
