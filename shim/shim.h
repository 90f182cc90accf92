/* shim.h: what the files of shim/ share. The shim alone knows names, ABIs and the loader; it
 * decides nothing: every hook asks core/ and calls the driver.
 *
 * One object, vr_shim, lies in .bss, because dlsym must work before any memory can be had. It holds
 * pointers, each published once, complete: the next dlsym and dlvsym, the provider (the driver
 * library found, with its functions), the process (options, and core's state), and the functions
 * that wrappers call. */
#ifndef VR_SHIM_H
#define VR_SHIM_H

#include <stddef.h>
#include <stdint.h>

#include "core/log.h"
#include "core/memory.h"
#include "core/state.h"
#include "shim/provider.h"
#include "shim/captures.h"

#define VR_EXPORT __attribute__((visibility("default")))

/* Lives on a page of its own that the kernel zeroes in a forked child (MADV_WIPEONFORK), which
 * makes every hook of the child a plain forward without a call to getpid. */
struct vr_process {
    _Atomic(struct vr_state *) active; /* what hooks ask; NULL when there is nothing to ask */
    _Atomic(struct vr_state *) state;  /* NULL: off, or a forked child */
    atomic_bool stats_due;             /* SIGUSR2 came */
    struct vr_captures captures;
};

struct vr_shim {
    /* First: dlsym.S reads them at offsets 0 and 8. */
    void *(*dlsym)(void *handle, const char *name);
    void *(*dlvsym)(void *handle, const char *name, const char *version);
    _Atomic(struct vr_provider *) provider;
    _Atomic(struct vr_process *) process;
    _Atomic(void *) call[VR_ENTRIES]; /* what a wrapper calls; filled at its first call */
};

extern struct vr_shim vr_shim __attribute__((visibility("hidden")));

/* ---- elf.c: no libc function, never instrumented ---- */

/* The next dlsym or dlvsym in search order after ours; published in vr_shim. NULL when there is
 * none. Called by dlsym.S. */
void *vr_find_dlsym(void);
void *vr_find_dlvsym(void);
/* The value of a defined function symbol of one loaded object, NULL if it has none. */
void *vr_elf_symbol(uintptr_t base, const void *dynamic, const char *name);
bool vr_same_name(const char *a, const char *b);

/* ---- resolve.c ---- */

/* dlsym and dlvsym, called from code at `caller`, for a name that looks like a driver function's
 * and a handle that is neither RTLD_DEFAULT nor RTLD_NEXT. Called by dlsym.S. */
void *vr_dlsym_driver(void *handle, const char *name, const void *caller);
void *vr_dlvsym_driver(void *handle, const char *name, const char *version, const void *caller);
/* First call of a wrapper: finds what it stands in front of, which is the next definition in the
 * search order after ours (the driver's, or another library's in between), else the provider's.
 * NULL: there is none. */
void *vr_first_call(enum vr_entry entry);
/* dlsym(RTLD_NEXT, name) for a name that looks like a driver function's, from code at `caller`.
 * From an object after ours the answer passes us by. Called by dlsym.S, which then goes on to the
 * next dlsym. */
void vr_next_looked_up(const char *name, const void *caller);
struct vr_doors vr_doors(void);
/* Asks the driver's version once, while the driver surely lives: inside a call that has succeeded.
 */
void vr_note_driver_version(void);

/* The driver's function behind an entry; NULL without a driver. */
static inline void *vr_real(enum vr_entry entry)
{
    void *real = atomic_load_explicit(&vr_shim.call[entry], memory_order_acquire);

    return __builtin_expect(real != NULL, 1) ? real : vr_first_call(entry);
}

/* ---- process.c ---- */

/* Reads the environment at the first call and makes the state. Never fails: without memory the
 * process is off. */
struct vr_process *vr_process_open(void);
/* Writes the statistics that SIGUSR2 asked for. */
void vr_process_stats_due(struct vr_process *process, struct vr_state *state);

/* After the driver's end nothing is asked or counted any more. */
void vr_process_end(void);

/* The state, when there is something to ask: NULL when off, in a forked child, and after the
 * driver's end. */
static inline struct vr_state *vr_active(void)
{
    struct vr_process *process = atomic_load_explicit(&vr_shim.process, memory_order_acquire);

    if (!process)
        process = vr_process_open();
    return atomic_load_explicit(&process->active, memory_order_relaxed);
}

/* ---- capture.c ---- */

/* What the captures that live now mean for an unsafe call of this thread. */
enum vr_capture vr_capture_now(void);

/* ---- contexts.c ---- */

/* The primary context of a device, 0 when it has none now. */
vr_handle vr_primary_of(CUdevice device);
/* Tells core, and lets go of what we keep. */
void vr_context_ended(struct vr_state *state, vr_handle context,
                      const struct vr_context_mark *mark);
/* After a detach: tells core if that was the end of it. */
void vr_context_maybe_gone(struct vr_state *state, vr_handle context,
                           const struct vr_context_mark *mark);
/* After a release or reset: tells core if that was the end of it. 0 is allowed. */
void vr_primary_maybe_gone(struct vr_state *state, CUdevice device, vr_handle primary,
                           const struct vr_context_mark *mark);
/* The current context may use memory of `owner` from now on. */
void vr_peer_enabled(CUcontext owner);
/* Waits as cuMemFree does: for the context's work, and that of contexts which may use its memory.
 */
CUresult vr_drain(CUcontext owner);

/* ---- operands.c ---- */

/* Tell core which memory is copied or filled. NULL is allowed. */
void vr_note_copy(struct vr_state *state, const CUDA_MEMCPY3D *copy);
void vr_note_fill(struct vr_state *state, const CUDA_MEMSET_NODE_PARAMS_v1 *fill);
void vr_note_node(struct vr_state *state, const CUgraphNodeParams *params);
/* The same for every node of a graph and of its child graphs, if placing memory is allowed at all.
 */
void vr_note_graph(struct vr_state *state, CUgraph graph);

/* ---- hooks_mem.c ---- */

/* Gives kept memory back; true if there was any. */
bool vr_give_back(struct vr_state *state);

/* True when `result` says that memory is out and kept memory was given back: worth one more try. */
static inline bool vr_retry(struct vr_state *state, CUresult result)
{
    return __builtin_expect(result == CUDA_ERROR_OUT_OF_MEMORY, 0) && vr_give_back(state);
}

/* ---- hooks_graph.c, driver_ops.c ---- */

/* Takes note of an error that ends our work. */
void vr_error_seen(struct vr_state *state, CUresult result);

static inline void vr_result_seen(struct vr_state *state, CUresult result)
{
    if (__builtin_expect(result != CUDA_SUCCESS, 0))
        vr_error_seen(state, result);
}

extern const struct vr_driver_ops vr_driver_ops;

#endif
