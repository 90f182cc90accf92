/* wrappers.c: the exported functions, generated from entries.h. Linked programs bind to them, and
 * dlsym and cuGetProcAddress hand out their addresses.
 *
 * Each finds the driver's function, and when there is nothing to ask (off, a forked child, the
 * driver's end) makes that call and nothing else. It must not decide anything. */
#include "shim/hooks.h"

/* After the call, whatever its answer: a refused change is as unsure as an accepted one. */
#define VR_AFTER_UPDATE                                                                            \
    vr_exec_changed(state, (vr_handle)a, VR_CHANGE_GRAPH, result == CUDA_SUCCESS)
#define VR_AFTER_NODE  vr_exec_changed(state, (vr_handle)a, VR_CHANGE_NODE, result == CUDA_SUCCESS)
#define VR_AFTER_GRAPH vr_graph_gone(state, (vr_handle)a)
#define VR_AFTER_CODE  vr_code_changed(state)

#define VR_AFTER_COPY VR_AFTER_NODE
#define VR_AFTER_CONTEXT                                                                           \
    do {                                                                                           \
        VR_AFTER_CODE;                                                                             \
        if (result == CUDA_SUCCESS)                                                                \
            vr_context_ended(state, (vr_handle)a, &mark);                                          \
    } while (0)
#define VR_AFTER_PRIMARY                                                                           \
    do {                                                                                           \
        VR_AFTER_CODE;                                                                             \
        vr_primary_maybe_gone(state, a, primary, &mark);                                           \
    } while (0)

/* Before it too, where another thread may be given a reused handle value before we are back; and
 * what can be learnt before only. */
#define VR_BEFORE_UPDATE vr_note_graph(state, b)
#define VR_BEFORE_NODE   ((void)0)
#define VR_BEFORE_COPY   VR_NOTE_OPERANDS(state, c)
#define VR_BEFORE_GRAPH  VR_AFTER_GRAPH
#define VR_BEFORE_CODE   VR_AFTER_CODE
#define VR_BEFORE_CONTEXT                                                                          \
    struct vr_context_mark mark;                                                                   \
    vr_context_ending(state, &mark);                                                               \
    VR_AFTER_CODE
#define VR_BEFORE_PRIMARY                                                                          \
    vr_handle primary = vr_memory_watched(state) ? vr_primary_of(a) : 0;                           \
    struct vr_context_mark mark;                                                                   \
    vr_context_ending(state, &mark);                                                               \
    VR_AFTER_CODE

/* By the type of a setter's parameters. */
#define VR_NOTE_OPERANDS(state, params)                                                            \
    _Generic((params), const CUDA_MEMCPY3D *: vr_note_copy,                                        \
             const CUDA_MEMSET_NODE_PARAMS_v1 *: vr_note_fill,                                     \
             CUgraphNodeParams *: vr_note_node)(state, params)

#define VR_FORWARD_THEN_FORGET(class, args)                                                        \
    CUresult result;                                                                               \
    VR_BEFORE_##class;                                                                             \
    result = real args;                                                                            \
    vr_result_seen(state, result);                                                                 \
    VR_AFTER_##class;                                                                              \
    return result

#define VR_BODY_OWN(symbol, args)     return vr_hook_##symbol(state, real, VR_UNPACK args)
#define VR_BODY_UPDATE(symbol, args)  VR_FORWARD_THEN_FORGET(UPDATE, args)
#define VR_BODY_NODE(symbol, args)    VR_FORWARD_THEN_FORGET(NODE, args)
#define VR_BODY_GRAPH(symbol, args)   VR_FORWARD_THEN_FORGET(GRAPH, args)
#define VR_BODY_COPY(symbol, args)    VR_FORWARD_THEN_FORGET(COPY, args)
#define VR_BODY_CODE(symbol, args)    VR_FORWARD_THEN_FORGET(CODE, args)
#define VR_BODY_CONTEXT(symbol, args) VR_FORWARD_THEN_FORGET(CONTEXT, args)
#define VR_BODY_PRIMARY(symbol, args) VR_FORWARD_THEN_FORGET(PRIMARY, args)
#define VR_BODY_RETRY(symbol, args)                                                                \
    CUresult result = real args;                                                                   \
                                                                                                   \
    if (vr_retry(state, result))                                                                   \
        result = real args;                                                                        \
    vr_result_seen(state, result);                                                                 \
    return result

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
