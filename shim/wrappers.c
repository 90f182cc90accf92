/* wrappers.c: the exported functions, generated from entries.h. Linked programs bind to them, and
 * dlsym and cuGetProcAddress hand out their addresses.
 *
 * Each finds the driver's function, and when there is nothing to ask (off, a forked child, the driver's
 * end) makes that call and nothing else. It must not decide anything. */
#include "shim/hooks.h"

/* After the call, whatever its answer: a refused change is as unsure as an accepted one. */
#define VR_AFTER_UPDATE vr_exec_changed(state, (vr_handle)a, VR_CHANGE_GRAPH, result == CUDA_SUCCESS)
#define VR_AFTER_NODE   vr_exec_changed(state, (vr_handle)a, VR_CHANGE_NODE, result == CUDA_SUCCESS)
#define VR_AFTER_GRAPH  vr_graph_gone(state, (vr_handle)a)
#define VR_AFTER_CODE   vr_code_changed(state)

/* Before it too, where another thread may be given a reused handle value before we are back. */
#define VR_BEFORE_UPDATE ((void)0)
#define VR_BEFORE_NODE   ((void)0)
#define VR_BEFORE_GRAPH  VR_AFTER_GRAPH
#define VR_BEFORE_CODE   VR_AFTER_CODE

#define VR_FORWARD_THEN_FORGET(class, args)                                                        \
    CUresult result;                                                                               \
    VR_BEFORE_##class;                                                                             \
    result = real args;                                                                            \
    vr_result_seen(state, result);                                                                 \
    VR_AFTER_##class;                                                                              \
    return result

#define VR_BODY_OWN(symbol, args)    return vr_hook_##symbol(state, real, VR_UNPACK args)
#define VR_BODY_UPDATE(symbol, args) VR_FORWARD_THEN_FORGET(UPDATE, args)
#define VR_BODY_NODE(symbol, args)   VR_FORWARD_THEN_FORGET(NODE, args)
#define VR_BODY_GRAPH(symbol, args)  VR_FORWARD_THEN_FORGET(GRAPH, args)
#define VR_BODY_CODE(symbol, args)   VR_FORWARD_THEN_FORGET(CODE, args)

#define VR_ENTRY(class, symbol, base, since, ptds, params, args)                                   \
    VR_EXPORT CUresult CUDAAPI symbol params                                                       \
    {                                                                                              \
        CUresult(*real) params = vr_real(VR_##symbol);                                             \
        struct vr_state *state;                                                                    \
                                                                                                   \
        if (!real)                                                                                 \
            return CUDA_ERROR_NOT_INITIALIZED;                                                     \
        state = vr_active();                                                                       \
        if (!state)                                                                                \
            return real args;                                                                      \
        VR_BODY_##class(symbol, args);                                                             \
    }
#include "shim/entries.h"
