/* fakevmm.h: what all files of the fake driver share: the process-wide state, its one lock,
 * objects with handle values that come back, and the door every exported call passes.
 *
 * It knows nothing of libvaremap: the same library stands in for the driver under any program.
 *
 * Locking. One mutex guards everything. Door.c takes it before it calls fv_<impl>() and drops it
 * after, so an implementation runs alone and needs no lock of its own. Code that must wait (for
 * work, for another thread) or that calls back into the application uses fv_wait() or
 * fv_unlock()/fv_lock() and re-validates the handles it holds afterwards. Workers (worker.c) run
 * kernels and copies without the lock. Functions marked "any thread, no lock" say so. */
#ifndef FAKEVMM_H
#define FAKEVMM_H

/* Declares every ABI under its ELF name, with no macros in between. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cudaProfiler.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FV_DRIVER_VERSION 13000 /* the newest that FAKEVMM_DRIVER can ask for, and the default */

/* Implementations: defined where they belong, or not at all; door.c tests the address. */
#define FV(symbol, base, since, ptds, impl, params, args)                                          \
    extern CUresult fv_##impl params __attribute__((weak, visibility("hidden")));
#include "entries.def"

/* ---- lock (door.c) ---- */

void fv_lock(void);
void fv_unlock(void);
/* Sleeps until fv_changed() is called by anyone; the lock is dropped meanwhile. Callers loop on
 * their own condition. */
void fv_wait(void);
/* State that somebody may wait for has changed. Lock held. */
void fv_changed(void);

/* ---- objects with handles (pool.c) ---- */

/* Room in each object, whatever its kind. Who stores a struct in one asserts that it fits. */
#define FV_OBJECT_BYTES 512
#define FV_FITS(type)   _Static_assert(sizeof(type) <= FV_OBJECT_BYTES, "fits into an object slot")

enum fv_kind {
    FV_CONTEXT,
    FV_MODULE,
    FV_LIBRARY,
    FV_FUNCTION,
    FV_KERNEL,
    FV_STREAM,
    FV_EVENT,
    FV_GRAPH,
    FV_NODE,
    FV_EXEC,
    FV_ARRAY,
    FV_MIPMAP,
    FV_MEMPOOL,
    FV_USER_OBJECT,
    FV_LINK,
    FV_KINDS
};

/* A zeroed object of that kind, or NULL when memory is out. The handle the app sees is its
 * address. Slots are never unmapped and the slot freed last is handed out first, so a handle
 * value comes back at once, as values do on a GPU, and a stale handle is recognised instead of
 * followed. */
void *fv_new(enum fv_kind kind);
void fv_delete(enum fv_kind kind, void *object);
/* True if the handle names a live object of that kind. Accepts any value. */
bool fv_valid(enum fv_kind kind, const void *handle);
/* The number of a live object among those of its kind that were ever asked about, from 1; 0 for a
 * handle that names none. */
unsigned fv_ordinal(enum fv_kind kind, const void *handle);
/* How many objects of that kind have been deleted: while it stays, all that were valid are. */
uint64_t fv_deletions(enum fv_kind kind);
/* Walks the live objects of a kind: pass NULL first, then the last answer; NULL ends it. The object
 * last returned may be deleted meanwhile. */
void *fv_next(enum fv_kind kind, const void *after);

/* ---- process state (door.c) ---- */

/* Set by fv_cuInit. The door answers CUDA_ERROR_NOT_INITIALIZED before, for every function but
 * the few that need no driver; an implementation need not ask. */
bool fv_initialised(void);
void fv_set_initialised(void);
/* True while the call in progress came through a twin for per-thread default streams: its NULL
 * stream is this thread's own. fv_stream_of() asks it. */
bool fv_call_is_ptds(void);
/* The value of an environment variable now, NULL when unset or empty. */
const char *fv_env(const char *name);
/* One line on stderr, "fakevmm: ..." in front. Any thread, no lock needed. */
void fv_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The stream a *_ptsz twin means: NULL becomes CU_STREAM_PER_THREAD, others stay. */
static inline CUstream fv_ptds(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

#endif
