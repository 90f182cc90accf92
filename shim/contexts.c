/* contexts.c: contexts as far as memory of ours depends on them: which one a device's primary is,
 * when it has ended, and which contexts may use another's memory and so must be waited for before
 * it is reused. It must not know allocations. */
#include "shim/hooks.h"

static struct vr_provider *provider(void)
{
    return atomic_load_explicit(&vr_shim.provider, memory_order_acquire);
}

static bool primary_active(CUdevice device)
{
    CUresult (*state)(CUdevice, unsigned int *, int *) =
        provider()->need[VR_NEED_cuDevicePrimaryCtxGetState];
    unsigned int flags;
    int active = 0;

    return state && state(device, &flags, &active) == CUDA_SUCCESS && active;
}

/* Retaining is the only way to learn the handle, and is undone at once. */
vr_handle vr_primary_of(CUdevice device)
{
    CUresult (*retain)(CUcontext *, CUdevice) = provider()->need[VR_NEED_cuDevicePrimaryCtxRetain];
    CUresult (*release)(CUdevice) = provider()->real[VR_cuDevicePrimaryCtxRelease_v2];
    CUcontext context;

    if (!retain || !release || !primary_active(device) || retain(&context, device) != CUDA_SUCCESS)
        return 0;
    if (release(device) != CUDA_SUCCESS)
        release(device);
    return (vr_handle)context;
}

/* Whether mapped memory outlives a reset is not documented: what we keep is given back, so that
 * later allocations get memory made after it. */
void vr_context_ended(struct vr_state *state, vr_handle context, const struct vr_context_mark *mark)
{
    struct vr_provider *p = provider();

    vr_context_gone(state, context, mark);
    vr_give_back(state);
    for (unsigned i = 0; i < VR_PEERS_MAX && i < atomic_load(&p->peers); i++) {
        if (atomic_load(&p->peer[i].user) == (CUcontext)context ||
            atomic_load(&p->peer[i].owner) == (CUcontext)context)
            atomic_store(&p->peer[i].owner, NULL);
    }
}

/* Only the current context can be detached, and its end takes it off the thread. */
void vr_context_maybe_gone(struct vr_state *state, vr_handle context,
                           const struct vr_context_mark *mark)
{
    CUresult (*current)(CUcontext *) = provider()->need[VR_NEED_cuCtxGetCurrent];
    CUcontext now = NULL;

    if (current && (current(&now) != CUDA_SUCCESS || (vr_handle)now != context))
        vr_context_ended(state, context, mark);
}

void vr_primary_maybe_gone(struct vr_state *state, CUdevice device, vr_handle primary,
                           const struct vr_context_mark *mark)
{
    if (primary && !primary_active(device))
        vr_context_ended(state, primary, mark);
}

void vr_peer_enabled(CUcontext owner)
{
    struct vr_provider *p = provider();
    CUresult (*current)(CUcontext *) = p->need[VR_NEED_cuCtxGetCurrent];
    CUcontext user = NULL;
    unsigned place;

    if (!current || current(&user) != CUDA_SUCCESS || !user)
        return;
    for (unsigned i = 0; i < VR_PEERS_MAX && i < atomic_load(&p->peers); i++) {
        if (atomic_load(&p->peer[i].user) == user && atomic_load(&p->peer[i].owner) == owner)
            return;
    }
    place = atomic_fetch_add(&p->peers, 1);
    if (place >= VR_PEERS_MAX)
        return; /* more pairs than all devices of a machine can make */
    atomic_store(&p->peer[place].user, user);
    atomic_store(&p->peer[place].owner, owner);
}

static CUresult wait_for(CUcontext context)
{
    CUresult (*current)(CUcontext *) = provider()->need[VR_NEED_cuCtxGetCurrent];
    CUresult (*push)(CUcontext) = provider()->need[VR_NEED_cuCtxPushCurrent_v2];
    CUresult (*pop)(CUcontext *) = provider()->need[VR_NEED_cuCtxPopCurrent_v2];
    CUresult (*wait)(void) = provider()->need[VR_NEED_cuCtxSynchronize];
    CUcontext now = NULL;
    CUresult result;

    if (current(&now) == CUDA_SUCCESS && now == context)
        return wait();
    result = push(context);
    if (result != CUDA_SUCCESS)
        return result;
    result = wait();
    pop(&now);
    return result;
}

CUresult vr_drain(CUcontext owner)
{
    struct vr_provider *p = provider();
    CUresult result = wait_for(owner);

    for (unsigned i = 0; result == CUDA_SUCCESS && i < VR_PEERS_MAX && i < atomic_load(&p->peers);
         i++) {
        if (atomic_load(&p->peer[i].owner) == owner)
            result = wait_for(atomic_load(&p->peer[i].user));
        /* A context that has ended without our seeing it has nothing to wait for. */
        if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
            result = CUDA_SUCCESS;
    }
    return result;
}
