/* peer.c: access of one device to another's cuMemAlloc memory, past and future allocations
 * alike. All fake devices are peers. It must not know how memory is allocated. */
#include "device.h"
#include "va.h"

uint32_t fv_peers_of(const struct fv_device *device)
{
    uint32_t own = 1u << device->ordinal, mask = own;

    for (struct fv_context *it = fv_next(FV_CONTEXT, NULL); it; it = fv_next(FV_CONTEXT, it))
        if (it->peers & own)
            mask |= 1u << it->device->ordinal;
    return mask;
}

/* Gives every cuMemAlloc mapping of a device the rights that its peers have now. */
static void refresh(const struct fv_device *owner)
{
    uint32_t mask = fv_peers_of(owner);

    for (struct fv_mapping *it = fv_va_from(0); it; it = fv_va_from(it->base + 1))
        if (it->kind == FV_MEM_ALLOC && it->phys->device == owner)
            fv_va_set_access(it, mask, mask);
}

static bool has_other_context(const struct fv_context *context)
{
    for (struct fv_context *it = fv_next(FV_CONTEXT, NULL); it; it = fv_next(FV_CONTEXT, it))
        if (it != context && it->device == context->device)
            return true;
    return false;
}

/* What it was given ends, and with the device's last context what others were given here. */
void fv_peer_drop_context(struct fv_context *context)
{
    uint32_t peers = context->peers, own = 1u << context->device->ordinal;

    context->peers = 0;
    if (!has_other_context(context))
        for (struct fv_context *it = fv_next(FV_CONTEXT, NULL); it; it = fv_next(FV_CONTEXT, it))
            it->peers &= ~own;
    for (int i = 0; i < fv_device_count(); i++)
        if (peers & 1u << i)
            refresh(fv_device(i));
}

static CUresult find(CUcontext handle, struct fv_context **current, struct fv_context **peer)
{
    CUresult result = fv_current(current);

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_CONTEXT;
    return fv_context_of(handle, peer);
}

CUresult fv_cuCtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
    struct fv_context *current, *peer;
    CUresult result = find(handle, &current, &peer);

    if (result != CUDA_SUCCESS)
        return result;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (peer == current)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (peer->device == current->device)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (current->peers & 1u << peer->device->ordinal)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    current->peers |= 1u << peer->device->ordinal;
    refresh(peer->device);
    return CUDA_SUCCESS;
}

CUresult fv_cuCtxDisablePeerAccess(CUcontext handle)
{
    struct fv_context *current, *peer;
    CUresult result = find(handle, &current, &peer);

    if (result != CUDA_SUCCESS)
        return result;
    if (!(current->peers & 1u << peer->device->ordinal))
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    current->peers &= ~(1u << peer->device->ordinal);
    refresh(peer->device);
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_device(device) || !fv_device(peer))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = device != peer;
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceGetP2PAttribute(int *out, CUdevice_P2PAttribute attribute, CUdevice device,
                                    CUdevice peer)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_device(device) || !fv_device(peer) || device == peer)
        return CUDA_ERROR_INVALID_DEVICE;
    switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED: *out = 1; return CUDA_SUCCESS;
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: *out = 0; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}
