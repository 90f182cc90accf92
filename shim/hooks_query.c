/* hooks_query.c: what an application may ask about memory of ours, answered as for cuMemAlloc
 * memory. The driver is asked first, so errors, and answers that are right as they are, stay its
 * own. */
#include "shim/hooks.h"

CUresult vr_hook_cuMemGetInfo_v2(struct vr_state *state, CUresult (*real)(size_t *, size_t *),
                                 size_t *a, size_t *b)
{
    struct vr_provider *provider = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);
    CUresult (*device)(CUdevice *) = provider->need[VR_NEED_cuCtxGetDevice];
    CUresult result = real(a, b);
    CUdevice ordinal;

    vr_result_seen(state, result);
    if (result == CUDA_SUCCESS && a && device && device(&ordinal) == CUDA_SUCCESS)
        *a += vr_memory_kept(state, ordinal);
    return result;
}

/* An address that nobody's memory has: what the driver says of it, it would say of memory that is
 * free. */
#define VR_NOWHERE ((CUdeviceptr)1)

/* The address to ask the driver about. *ours: whether it is of an allocation of ours, which is then
 * in *view. */
static CUdeviceptr ask_about(struct vr_state *state, CUdeviceptr address,
                             struct vr_memory_view *view, bool *ours)
{
    enum vr_status status = vr_memory_find(state, address, view);

    *ours = status == VR_OK;
    return status == VR_REFUSED ? VR_NOWHERE : address;
}

CUresult vr_hook_cuMemGetAddressRange_v2(struct vr_state *state,
                                         CUresult (*real)(CUdeviceptr *, size_t *, CUdeviceptr),
                                         CUdeviceptr *a, size_t *b, CUdeviceptr c)
{
    struct vr_memory_view view;
    bool ours;
    CUresult result = real(a, b, ask_about(state, c, &view, &ours));

    vr_result_seen(state, result);
    if (result != CUDA_SUCCESS || !ours)
        return result;
    if (a)
        *a = view.base;
    if (b)
        *b = view.bytes;
    return result;
}

/* Memory that cuMemCreate made can be asked for its access rights, other memory cannot. */
CUresult vr_hook_cuMemGetAccess(struct vr_state *state,
                                CUresult (*real)(unsigned long long *, const CUmemLocation *,
                                                 CUdeviceptr),
                                unsigned long long *a, const CUmemLocation *b, CUdeviceptr c)
{
    struct vr_memory_view view;
    CUresult result = real(a, b, vr_memory_find(state, c, &view) == VR_NONE ? c : VR_NOWHERE);

    vr_result_seen(state, result);
    return result;
}

/* Ids are unique in the process and never come back: ours are told from the driver's by a bit that
 * it does not reach. */
#define VR_OUR_IDS (1ull << 63)

/* The attributes in which memory of ours differs from cuMemAlloc memory, and their answers there.
 * X(attribute, type, value) */
#define VR_DIFFERING_ATTRIBUTES(X)                                                                 \
    X(CU_POINTER_ATTRIBUTE_CONTEXT, CUcontext, (CUcontext)view->context)                           \
    X(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, int, view->device)                                      \
    X(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CUdeviceptr, view->base)                              \
    X(CU_POINTER_ATTRIBUTE_RANGE_SIZE, size_t, view->bytes)                                        \
    X(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CUdeviceptr, view->base)                             \
    X(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, size_t, view->bytes)                                      \
    X(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, unsigned long long, 0)                            \
    X(CU_POINTER_ATTRIBUTE_BUFFER_ID, unsigned long long, VR_OUR_IDS | view->generation)           \
    X(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, unsigned long long, VR_OUR_IDS | view->generation)     \
    X(CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, bool, true)

static void correct(const struct vr_memory_view *view, void *data, CUpointer_attribute attribute)
{
    if (!data)
        return;
    switch (attribute) {
#define X(name, type, value)                                                                       \
    case name: *(type *)data = value; break;
        VR_DIFFERING_ATTRIBUTES(X)
#undef X
    default: break;
    }
}

CUresult vr_hook_cuPointerGetAttribute(struct vr_state *state,
                                       CUresult (*real)(void *, CUpointer_attribute, CUdeviceptr),
                                       void *a, CUpointer_attribute b, CUdeviceptr c)
{
    struct vr_memory_view view;
    bool ours;
    CUresult result = real(a, b, ask_about(state, c, &view, &ours));

    vr_result_seen(state, result);
    if (result == CUDA_SUCCESS && ours)
        correct(&view, a, b);
    return result;
}

CUresult vr_hook_cuPointerGetAttributes(struct vr_state *state,
                                        CUresult (*real)(unsigned int, CUpointer_attribute *,
                                                         void **, CUdeviceptr),
                                        unsigned int a, CUpointer_attribute *b, void **c,
                                        CUdeviceptr d)
{
    struct vr_memory_view view;
    bool ours;
    CUresult result = real(a, b, c, ask_about(state, d, &view, &ours));

    vr_result_seen(state, result);
    for (unsigned int i = 0; result == CUDA_SUCCESS && ours && i < a; i++)
        correct(&view, c[i], b[i]);
    return result;
}

/* ---- calls after which memory is no longer ours alone ---- */

static void warn(struct vr_state *state, const char *what)
{
    vr_log_always(
        vr_state_log(state),
        "%s was asked of memory placed by libvaremap and is refused; allocations of that size "
        "are the driver's from now on (VAREMAP_BACKING=off leaves all to it)",
        what);
}

CUresult vr_hook_cuPointerSetAttribute(struct vr_state *state,
                                       CUresult (*real)(const void *, CUpointer_attribute,
                                                        CUdeviceptr),
                                       const void *a, CUpointer_attribute b, CUdeviceptr c)
{
    bool first = vr_memory_pin(state, c, VR_PIN_ATTRIBUTE);
    CUresult result = real(a, b, c);

    vr_result_seen(state, result);
    if (first && result != CUDA_SUCCESS)
        warn(state, "a pointer attribute");
    return result;
}

/* Legacy IPC cannot serve mapped memory; the driver's refusal goes to the application, and the next
 * allocation of that size is the driver's. */
CUresult vr_hook_cuIpcGetMemHandle(struct vr_state *state,
                                   CUresult (*real)(CUipcMemHandle *, CUdeviceptr),
                                   CUipcMemHandle *a, CUdeviceptr b)
{
    if (vr_memory_pin(state, b, VR_PIN_IPC))
        warn(state, "a legacy IPC handle");
    return real(a, b);
}

/* cuda.h: CUDA_ERROR_INVALID_VALUE for memory that does not come from cuMemCreate; libraries tell
 * the two kinds apart by it. */
CUresult vr_hook_cuMemRetainAllocationHandle(struct vr_state *state,
                                             CUresult (*real)(CUmemGenericAllocationHandle *,
                                                              void *),
                                             CUmemGenericAllocationHandle *a, void *b)
{
    struct vr_memory_view view;

    if (vr_memory_find(state, (uint64_t)(uintptr_t)b, &view) != VR_NONE)
        return CUDA_ERROR_INVALID_VALUE;
    return real(a, b);
}

CUresult vr_hook_cuMemGetHandleForAddressRange(
    struct vr_state *state,
    CUresult (*real)(void *, CUdeviceptr, size_t, CUmemRangeHandleType, unsigned long long),
    void *a, CUdeviceptr b, size_t c, CUmemRangeHandleType d, unsigned long long e)
{
    vr_memory_pin(state, b, VR_PIN_EXPORT);
    return real(a, b, c, d, e);
}
