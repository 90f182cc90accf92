/* wrappers.c: the exported functions, generated from entries.h. Linked programs bind to them, and
 * dlsym and cuGetProcAddress hand out their addresses.
 *
 * Each finds the driver's function, and when there is nothing to ask (off, a forked child, the
 * driver's end) makes that call and nothing else. It must not decide anything. */
#include "shim/around.h"

/* A build for tests that leaves one function alone (VR_MUTANT=VR_<symbol>): some test must notice.
 */
#ifdef VR_MUTANT
#define VR_LEAVE_ALONE(symbol, args)                                                               \
    if (VR_##symbol == VR_MUTANT)                                                                  \
        return real args;
#else
#define VR_LEAVE_ALONE(symbol, args)
#endif

/* The first two of a list of arguments, as far as there are any. */
#define VR_FIRST(...)         (vr_handle) VR_FIRST_(__VA_ARGS__, 0)
#define VR_FIRST_(a, ...)     (a)
#define VR_SECOND(...)        (vr_handle) VR_SECOND_(__VA_ARGS__, 0, 0)
#define VR_SECOND_(a, b, ...) (b)

#define VR_BODY_HOOK(class, symbol, args) return vr_hook_##symbol(state, real, VR_UNPACK args)
#define VR_BODY_AROUND(class, symbol, args)                                                        \
    struct vr_around around;                                                                       \
    CUresult result;                                                                               \
                                                                                                   \
    vr_around_begin(state, VR_CLASS_##class, &around, VR_FIRST args, VR_SECOND args);              \
    result = real args;                                                                            \
    vr_around_end(state, VR_CLASS_##class, &around, VR_FIRST args, VR_SECOND args, result);        \
    return result
#define VR_BODY_SEE(class, symbol, args)                                                           \
    CUresult result = real args;                                                                   \
                                                                                                   \
    vr_result_seen(state, result);                                                                 \
    return result
#define VR_BODY_RETRY(class, symbol, args)                                                         \
    CUresult result = real args;                                                                   \
                                                                                                   \
    if (vr_retry(state, result))                                                                   \
        result = real args;                                                                        \
    vr_result_seen(state, result);                                                                 \
    return result

#define VR_ENTRY(body, class, symbol, base, since, ptds, params, args)                             \
    VR_EXPORT CUresult CUDAAPI symbol params                                                       \
    {                                                                                              \
        CUresult(*real) params = vr_real(VR_##symbol);                                             \
        struct vr_state *state;                                                                    \
                                                                                                   \
        if (!real)                                                                                 \
            return CUDA_ERROR_NOT_INITIALIZED;                                                     \
        VR_LEAVE_ALONE(symbol, args)                                                               \
        state = vr_active();                                                                       \
        if (!state)                                                                                \
            return real args;                                                                      \
        VR_BODY_##body(class, symbol, args);                                                       \
    }
#include "shim/entries.h"
