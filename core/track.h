/* track.h: the execs that are alive, by handle: 64 shards, each with its lock and table, so that
 * threads on different execs do not meet. A lock is held to add or remove an exec, and to walk;
 * what is in an exec is its caller's, but for the atomics.
 *
 * The memory of an exec is given to a later exec, and never freed while the state lives. So a
 * pointer to one may be followed at any time, whoever is in it now, which makes two things possible
 * without a lock: finding an exec by a remembered pointer, and summing all counters, from a signal
 * handler too. */
#ifndef VR_TRACK_H
#define VR_TRACK_H

#include "counters.h"
#include "hash.h"
#include "lock.h"
#include "node.h"
#include "profile.h"
#include "transfer.h"

#define VR_SHARD_BITS    6
#define VR_SHARDS        (1 << VR_SHARD_BITS)
#define VR_RECENT        1024
#define VR_GRAPH_BUCKETS 1024

struct vr_exec {
    /* The handle, while the exec is in its table; else 0. The last field to be set. */
    _Atomic vr_handle live;
    /* Grows with every change that is not in the node records; vr_exec_epoch() adds what graphs do.
     */
    _Atomic uint64_t epoch;
    /* Counts the ends of the exec's source graph; of any graph, once the exec went through
     * ExecUpdate and its parts may come from any. */
    _Atomic uint64_t *_Atomic graph_ends;
    bool device_launch;
    struct vr_nodes nodes;
    struct vr_transfer_record *transfers; /* by node */
    struct vr_counters counters;          /* go on from exec to exec */
    struct vr_profile profile;
    uint64_t generation; /* never reused: the identity behind the handle */
    vr_handle handle;
    UT_hash_handle hh;         /* in its shard, by `handle` */
    struct vr_exec *next;      /* in vr_track.all */
    struct vr_exec *next_free; /* in vr_track.free */
};

struct vr_shard {
    struct vr_lock lock; /* guards `execs` */
    struct vr_exec *execs;
} __attribute__((aligned(64)));

struct vr_track {
    struct vr_shard shard[VR_SHARDS];
    struct vr_exec *_Atomic recent[VR_RECENT]; /* found lately, by hash; may be out of date */
    _Atomic uint64_t generations;
    _Atomic uint64_t
        graph_ends[VR_GRAPH_BUCKETS]; /* by hash: sharing one costs a forwarded update */
    _Atomic uint64_t any_graph_ends;
    struct vr_counters unseen;   /* calls on execs that are not in the tables */
    struct vr_exec *_Atomic all; /* only grows */
    struct vr_lock pool;         /* guards `free` */
    struct vr_exec *free;
};

void vr_track_init(struct vr_track *track);
/* Frees all execs. Nobody else may be inside. */
void vr_track_free(struct vr_track *track, struct vr_heap *heap);

/* By the tables; vr_track_find() asks here when it does not remember the handle. */
struct vr_exec *vr_track_search(struct vr_track *track, vr_handle handle, unsigned hash);

/* The exec of that handle, or NULL. It stays while its caller keeps to CUDA's rule not to destroy
 * an exec during another call on it. */
static inline struct vr_exec *vr_track_find(struct vr_track *track, vr_handle handle)
{
    unsigned hash = vr_hash_bytes(&handle, sizeof handle);
    struct vr_exec *exec =
        atomic_load_explicit(&track->recent[hash % VR_RECENT], memory_order_acquire);

    if (handle && exec && atomic_load_explicit(&exec->live, memory_order_acquire) == handle)
        return exec;
    return vr_track_search(track, handle, hash);
}

/* A new exec takes the handle's place; whatever was there ends. False when memory is out: then
 * the handle is unknown. */
bool vr_track_add(struct vr_track *track, struct vr_heap *heap, vr_handle handle,
                  const struct vr_exec_origin *origin);

/* Takes the exec out, without ending it; NULL for an unknown handle. */
struct vr_exec *vr_track_remove(struct vr_track *track, struct vr_heap *heap, vr_handle handle);

/* Puts a removed exec back. Its records are not believed any more: changes made meanwhile passed it
 * by. If that fails (memory is out, or the handle has a new exec), it ends. */
void vr_track_restore(struct vr_track *track, struct vr_heap *heap, struct vr_exec *exec);

/* Ends a removed exec; NULL is allowed. */
void vr_track_discard(struct vr_track *track, struct vr_heap *heap, struct vr_exec *exec);

/* Ends the belief in the records of every exec that may hold nodes of `graph`. No lock, and no
 * walk: programs destroy a graph for each of thousands of execs. */
void vr_track_graph_gone(struct vr_track *track, vr_handle graph);

/* From now on the exec's parts may come from any graph. */
void vr_track_mix(struct vr_track *track, struct vr_exec *exec);

/* The sums over all execs there ever were. No lock, no heap. */
void vr_track_sum(const struct vr_track *track, struct vr_totals *totals);

/* NULL, or the first broken invariant. Callers are alone. */
const char *vr_track_check(struct vr_track *track, uint64_t code_generation);

/* What a record is stamped with. Both counts only grow, so the sum moves when either does; mixing
 * moves it too, since the ends of any graph are at least those of one. */
static inline uint64_t vr_exec_epoch(const struct vr_exec *exec)
{
    _Atomic uint64_t *ends = atomic_load_explicit(&exec->graph_ends, memory_order_acquire);

    return atomic_load_explicit(&exec->epoch, memory_order_acquire) +
           atomic_load_explicit(ends, memory_order_acquire);
}

static inline void vr_exec_forget(struct vr_exec *exec)
{
    atomic_fetch_add_explicit(&exec->epoch, 1, memory_order_acq_rel);
}

#endif
