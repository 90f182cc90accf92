/* hooks_mem.c: the hooks on cuMemAlloc, cuMemFree and everything else that takes device memory from
 * the driver. Each asks core, calls the driver, tells core. It must not know slices or sizes. */
#include "shim/hooks.h"

/* VR_NONE when there is none: the driver then refuses what we may not answer. */
static enum vr_status current_context(vr_handle *out)
{
    CUresult (*current)(CUcontext *) = vr_need(VR_NEED_cuCtxGetCurrent);
    CUcontext context = NULL;

    if (!current || current(&context) != CUDA_SUCCESS)
        return VR_REFUSED;
    *out = (vr_handle)context;
    return context ? VR_OK : VR_NONE;
}

/* Whose memory a cuMemAlloc of this thread would be; false when no context is current. */
static bool describe(struct vr_alloc_call *call, size_t bytes)
{
    CUresult (*device)(CUdevice *) = vr_need(VR_NEED_cuCtxGetDevice);
    vr_handle context;
    CUdevice ordinal;

    if (current_context(&context) != VR_OK || !device || device(&ordinal) != CUDA_SUCCESS)
        return false;
    *call = (struct vr_alloc_call){
        .bytes = bytes,
        .context = context,
        .device = ordinal,
        .capture = vr_capture_now(),
    };
    return true;
}

bool vr_give_back(struct vr_state *state)
{
    return vr_memory_give_back(state, vr_capture_now());
}

CUresult vr_hook_cuMemAlloc_v2(struct vr_state *state, CUresult (*real)(CUdeviceptr *, size_t),
                               CUdeviceptr *a, size_t b)
{
    struct vr_alloc_call call;
    uint64_t address;
    CUresult result;

    if (!a || !b || !describe(&call, b))
        return real(a, b);
    if (vr_alloc_ask(state, &call, &address) == VR_ANSWERED) {
        *a = address;
        return CUDA_SUCCESS;
    }
    result = real(a, b);
    if (vr_retry(state, result))
        result = real(a, b);
    vr_result_seen(state, result);
    vr_alloc_told(state, &call, result == CUDA_SUCCESS, result == CUDA_SUCCESS ? *a : 0);
    return result;
}

CUresult vr_hook_cuMemFree_v2(struct vr_state *state, CUresult (*real)(CUdeviceptr), CUdeviceptr a)
{
    struct vr_free_call call = {.address = a, .capture = vr_capture_now()};
    vr_handle context;
    CUresult result;

    if (!a || current_context(&context) == VR_NONE)
        return real(a);
    switch (vr_free_ask(state, &call)) {
    case VR_FREE_DONE: return CUDA_SUCCESS;
    case VR_FREE_REFUSED:
        vr_result_seen(state, (CUresult)call.result);
        return (CUresult)call.result;
    case VR_FREE_FORWARD: break;
    }
    result = real(a);
    vr_result_seen(state, result);
    vr_free_told(state, &call, result == CUDA_SUCCESS);
    return result;
}

/* Whether the stream takes a free now: it exists, and does not capture, which would make the free a
 * node. */
static bool takes_free(CUstream stream)
{
    CUresult (*ask)(CUstream, CUstreamCaptureStatus *) = vr_need(VR_NEED_cuStreamIsCapturing);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = ask ? ask(stream, &status) : CUDA_ERROR_NOT_SUPPORTED;

    return (result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE) ||
           result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

/* A stream-ordered free of ours must not wait, and the driver would not take it: the slice is
 * parked. If the stream would not take a free either, the driver says so itself. */
CUresult vr_hook_cuMemFreeAsync(struct vr_state *state, CUresult (*real)(CUdeviceptr, CUstream),
                                CUdeviceptr a, CUstream b)
{
    struct vr_free_call call = {.address = a, .capture = VR_CAPTURE_PERMITS};
    struct vr_memory_view view;
    CUresult result;

    if (vr_memory_find(state, a, &view) == VR_OK && !takes_free(b))
        return real(a, b);
    if (vr_free_ask(state, &call) == VR_FREE_DONE)
        return CUDA_SUCCESS;
    result = real(a, b);
    vr_result_seen(state, result);
    vr_free_told(state, &call, result == CUDA_SUCCESS);
    return result;
}

CUresult vr_hook_cuCtxEnablePeerAccess(struct vr_state *state,
                                       CUresult (*real)(CUcontext, unsigned int), CUcontext a,
                                       unsigned int b)
{
    CUresult result = real(a, b);

    vr_result_seen(state, result);
    if (result == CUDA_SUCCESS)
        vr_peer_enabled(a);
    return result;
}
