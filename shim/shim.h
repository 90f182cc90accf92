/* shim.h: what the files of shim/ share. The shim alone knows names, ABIs and the loader; it decides
 * nothing: every hook asks core/ and calls the driver.
 *
 * One object, vr_shim, lies in .bss, because dlsym must work before any memory can be had. It holds
 * three pointers, each published once, complete, by a compare-and-swap: the next dlsym, the provider
 * (the driver library found, with its functions), and the process (options, and core's state). */
#ifndef VR_SHIM_H
#define VR_SHIM_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL /* every ABI under its ELF name, no macros in between */
#endif
#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/log.h"
#include "core/state.h"

#define VR_EXPORT __attribute__((visibility("default")))

/* Indices into the provider's tables. */
enum vr_entry {
#define VR_ENTRY(class, symbol, base, since, ptds, params, args) VR_##symbol,
#include "shim/entries.h"
    VR_ENTRIES
};

enum vr_need {
#define VR_NEED(symbol, params) VR_NEED_##symbol,
#include "shim/entries.h"
    VR_NEEDS
};

/* One driver library. All addresses are its own, read from its ELF tables; none is asked of dlsym, so
 * that the dlerror state stays the application's. */
struct vr_provider {
    void *real[VR_ENTRIES];                   /* NULL: this driver has no such function */
    void *need[VR_NEEDS];
    _Atomic(void *) call[VR_ENTRIES];         /* as real[], filled at an entry's first call */
    _Atomic(void *) procaddress[VR_ENTRIES][3]; /* cuGetProcAddress's answers by flag, where they differ */
    atomic_bool procaddress_known;
    atomic_bool handed[VR_ENTRIES];           /* our hook was given out by dlsym or cuGetProcAddress */
    atomic_ullong doors_elf, doors_dlsym, doors_procaddress;
    atomic_int version;                       /* cuDriverGetVersion's answer, 0 before it was asked */
};

/* Lives on a page of its own that the kernel zeroes in a forked child (MADV_WIPEONFORK), which makes
 * every hook of the child a plain forward without a call to getpid. */
struct vr_process {
    _Atomic(struct vr_state *) active; /* what hooks ask; NULL when there is nothing to ask */
    _Atomic(struct vr_state *) state;  /* NULL: off, or a forked child */
    atomic_bool stats_due;            /* SIGUSR2 came */
};

struct vr_shim {
    void *(*dlsym)(void *handle, const char *name); /* first: dlsym.S reads it at offset 0 */
    _Atomic(struct vr_provider *) provider;
    _Atomic(struct vr_process *) process;
};

extern struct vr_shim vr_shim __attribute__((visibility("hidden")));

/* ---- elf.c: no libc function, never instrumented ---- */

/* The next dlsym in search order after ours; published in vr_shim.dlsym. NULL when there is none.
 * Called by dlsym.S. */
void *vr_find_dlsym(void);
/* The value of a defined function symbol of one loaded object, NULL if it has none. */
void *vr_elf_symbol(uintptr_t base, const void *dynamic, const char *name);
bool vr_same_name(const char *a, const char *b);

/* ---- resolve.c ---- */

/* dlsym(handle, name) for a name that looks like a driver function's and a handle that is neither
 * RTLD_DEFAULT nor RTLD_NEXT. Called by dlsym.S. */
void *vr_dlsym_driver(void *handle, const char *name);
/* First call through an exported hook: finds the driver if nobody has yet. NULL: there is none. */
void *vr_first_call(enum vr_entry entry);
struct vr_doors vr_doors(void);
/* Asks the driver's version once, while the driver surely lives: inside a call that has succeeded. */
void vr_note_driver_version(void);

/* The driver's function behind an entry; NULL without a driver. */
static inline void *vr_real(enum vr_entry entry)
{
    struct vr_provider *provider = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);
    void *real = provider ? atomic_load_explicit(&provider->call[entry], memory_order_relaxed) : NULL;

    return real ? real : vr_first_call(entry);
}

/* ---- process.c ---- */

/* Reads the environment at the first call and makes the state. Never fails: without memory the process
 * is off. */
struct vr_process *vr_process_open(void);
/* Writes the statistics that SIGUSR2 asked for. */
void vr_process_stats_due(struct vr_process *process, struct vr_state *state);

/* After the driver's end nothing is asked or counted any more. */
void vr_process_end(void);

/* The state, when there is something to ask: NULL when off, in a forked child, and after the driver's
 * end. */
static inline struct vr_state *vr_active(void)
{
    struct vr_process *process = atomic_load_explicit(&vr_shim.process, memory_order_acquire);

    if (!process)
        process = vr_process_open();
    return atomic_load_explicit(&process->active, memory_order_relaxed);
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
