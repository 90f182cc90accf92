/* hooks.h: the bodies behind the HOOK entries, declared from the table. Each gets the state (never
 * NULL), the driver's function, and the application's arguments; each returns the driver's result
 * or the success it stands for. Defined in hooks_graph.c and resolve.c. */
#ifndef VR_HOOKS_H
#define VR_HOOKS_H

#include "shim/shim.h"

/* A driver function that we call ourselves; NULL without a driver, or when it has none. */
static inline void *vr_need(enum vr_need which)
{
    struct vr_provider *provider = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);

    return provider ? provider->need[which] : NULL;
}

/* Whether the library may place allocations at all; else nobody needs to know what copies name. */
static inline bool vr_memory_watched(const struct vr_state *state)
{
    const struct vr_options *options = vr_state_options(state);

    return options->rungs & VR_RUNG_RECYCLE && options->backing != VR_BACKING_OFF;
}

/* The list inside a parenthesised list. */
#define VR_UNPACK(...) __VA_ARGS__

#define VR_DECLARE_HOOK(symbol, params)                                                            \
    CUresult vr_hook_##symbol(struct vr_state *state, CUresult(*real) params, VR_UNPACK params);
#define VR_DECLARE_AROUND(symbol, params)
#define VR_DECLARE_RETRY(symbol, params)
#define VR_DECLARE_SEE(symbol, params)

/* A per-thread-default-stream twin means the same to us: the stream goes to the driver's twin. */
#define vr_hook_cuGraphInstantiateWithParams_ptsz vr_hook_cuGraphInstantiateWithParams
#define vr_hook_cuGraphLaunch_ptsz                vr_hook_cuGraphLaunch
#define vr_hook_cuMemFreeAsync_ptsz               vr_hook_cuMemFreeAsync

#define VR_ENTRY(body, class, symbol, base, since, ptds, params, args)                             \
    VR_DECLARE_##body(symbol, params)
#include "shim/entries.h"

#endif
