/* track.c: the exec tables. Owns the shards, the memory of execs and their life; must not know
 * rungs, options or the driver. */
#include "track.h"

void vr_track_init(struct vr_track *track)
{
    for (int i = 0; i < VR_SHARDS; i++)
        vr_lock_init(&track->shard[i].lock, VR_RANK_SHARD);
    vr_lock_init(&track->pool, VR_RANK_POOL);
}

/* ---- the pool ---- */

static struct vr_exec *take_free(struct vr_track *track)
{
    struct vr_exec *exec;

    vr_lock_take(&track->pool);
    exec = track->free;
    if (exec)
        track->free = exec->next_free;
    vr_lock_drop(&track->pool);
    return exec;
}

/* Readers walk the list without a lock: an exec is complete before it is in. */
static struct vr_exec *add_to_pool(struct vr_track *track, struct vr_heap *heap)
{
    struct vr_exec *exec = vr_alloc(heap, sizeof *exec);

    if (!exec)
        return NULL;
    exec->next = atomic_load_explicit(&track->all, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&track->all, &exec->next, exec,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return exec;
}

static _Atomic uint64_t *ends_of(struct vr_track *track, vr_handle graph)
{
    return &track->graph_ends[vr_hash_bytes(&graph, sizeof graph) % VR_GRAPH_BUCKETS];
}

static struct vr_exec *begin_exec(struct vr_track *track, struct vr_heap *heap, vr_handle handle,
                                  const struct vr_exec_origin *origin)
{
    struct vr_exec *exec = take_free(track);

    if (!exec)
        exec = add_to_pool(track, heap);
    if (!exec)
        return NULL;
    exec->handle = handle;
    exec->generation = atomic_fetch_add_explicit(&track->generations, 1, memory_order_relaxed) + 1;
    atomic_store_explicit(&exec->graph_ends, ends_of(track, origin->graph), memory_order_release);
    exec->device_launch = origin->device_launch;
    vr_profile_begin(&exec->profile, &exec->counters.phase);
    return exec;
}

void vr_track_discard(struct vr_track *track, struct vr_heap *heap, struct vr_exec *exec)
{
    if (!exec)
        return;
    vr_nodes_free(&exec->nodes, heap);
    vr_transfers_free(&exec->transfers, heap);
    atomic_store_explicit(&exec->counters.phase, VR_PHASE_DEAD, memory_order_relaxed);
    vr_lock_take(&track->pool);
    exec->next_free = track->free;
    track->free = exec;
    vr_lock_drop(&track->pool);
}

void vr_track_sum(const struct vr_track *track, struct vr_totals *totals)
{
    const struct vr_exec *exec = atomic_load_explicit(&track->all, memory_order_acquire);

    memset(totals, 0, sizeof *totals);
    totals->execs_seen = atomic_load_explicit(&track->generations, memory_order_relaxed);
    vr_counters_add(totals, &track->unseen);
    for (; exec; exec = exec->next)
        vr_counters_add(totals, &exec->counters);
}

/* ---- the tables ---- */

static struct vr_shard *shard_of(struct vr_track *track, unsigned hash)
{
    return &track->shard[hash >> (32 - VR_SHARD_BITS)];
}

/* The hash's upper bits choose the shard; uthash uses the lower ones. */
static unsigned hash_of(vr_handle handle)
{
    return vr_hash_bytes(&handle, sizeof handle);
}

static struct vr_exec *find_locked(struct vr_shard *shard, unsigned hash, vr_handle handle)
{
    struct vr_exec *exec;

    HASH_FIND_BYHASHVALUE(hh, shard->execs, &handle, sizeof handle, hash, exec);
    return exec;
}

/* False when memory is out. */
static bool add_locked(struct vr_shard *shard, struct vr_heap *heap, unsigned hash,
                       struct vr_exec *exec)
{
    HASH_ADD_BYHASHVALUE(hh, shard->execs, handle, sizeof exec->handle, hash, exec);
    if (!vr_hash_added(exec))
        return false;
    atomic_store_explicit(&exec->live, exec->handle, memory_order_release);
    return true;
}

struct vr_exec *vr_track_search(struct vr_track *track, vr_handle handle, unsigned hash)
{
    struct vr_shard *shard = shard_of(track, hash);
    struct vr_exec *exec;

    vr_lock_take(&shard->lock);
    exec = find_locked(shard, hash, handle);
    vr_lock_drop(&shard->lock);
    if (exec)
        atomic_store_explicit(&track->recent[hash % VR_RECENT], exec, memory_order_release);
    return exec;
}

struct vr_exec *vr_track_remove(struct vr_track *track, struct vr_heap *heap, vr_handle handle)
{
    unsigned hash = hash_of(handle);
    struct vr_shard *shard = shard_of(track, hash);
    struct vr_exec *exec;

    vr_lock_take(&shard->lock);
    exec = find_locked(shard, hash, handle);
    if (exec) {
        atomic_store_explicit(&exec->live, 0, memory_order_release);
        HASH_DEL(shard->execs, exec);
    }
    vr_lock_drop(&shard->lock);
    return exec;
}

/* An exec that died unseen may have left its record: it goes, whether or not the new one fits. */
bool vr_track_add(struct vr_track *track, struct vr_heap *heap, vr_handle handle,
                  const struct vr_exec_origin *origin)
{
    unsigned hash = hash_of(handle);
    struct vr_shard *shard = shard_of(track, hash);
    struct vr_exec *exec;
    bool added = false;

    vr_track_discard(track, heap, vr_track_remove(track, heap, handle));
    exec = begin_exec(track, heap, handle, origin);
    if (!exec)
        return false;
    vr_lock_take(&shard->lock);
    added = add_locked(shard, heap, hash, exec);
    vr_lock_drop(&shard->lock);
    if (!added)
        vr_track_discard(track, heap, exec);
    return added;
}

void vr_track_restore(struct vr_track *track, struct vr_heap *heap, struct vr_exec *exec)
{
    unsigned hash = hash_of(exec->handle);
    struct vr_shard *shard = shard_of(track, hash);
    bool added = false;

    vr_exec_forget(exec);
    vr_lock_take(&shard->lock);
    if (!find_locked(shard, hash, exec->handle))
        added = add_locked(shard, heap, hash, exec);
    vr_lock_drop(&shard->lock);
    if (!added)
        vr_track_discard(track, heap, exec);
}

void vr_track_graph_gone(struct vr_track *track, vr_handle graph)
{
    /* In this order: the ends of any graph are never fewer than those of one. */
    atomic_fetch_add_explicit(&track->any_graph_ends, 1, memory_order_acq_rel);
    atomic_fetch_add_explicit(ends_of(track, graph), 1, memory_order_acq_rel);
}

void vr_track_mix(struct vr_track *track, struct vr_exec *exec)
{
    vr_exec_forget(exec);
    atomic_store_explicit(&exec->graph_ends, &track->any_graph_ends, memory_order_release);
}

static void free_pool(struct vr_track *track, struct vr_heap *heap)
{
    struct vr_exec *exec = atomic_load(&track->all);

    while (exec) {
        struct vr_exec *next = exec->next;
        vr_free(heap, exec, sizeof *exec);
        exec = next;
    }
    vr_lock_free(&track->pool);
}

void vr_track_free(struct vr_track *track, struct vr_heap *heap)
{
    for (int i = 0; i < VR_SHARDS; i++) {
        struct vr_shard *shard = &track->shard[i];
        while (shard->execs) {
            struct vr_exec *exec = shard->execs;
            HASH_DEL(shard->execs, exec);
            vr_track_discard(track, heap, exec);
        }
        vr_lock_free(&shard->lock);
    }
    free_pool(track, heap);
}

/* ---- invariants ---- */

static const char *check_exec(struct vr_track *track, struct vr_shard *shard, struct vr_exec *exec,
                              uint64_t code_generation)
{
    unsigned hash = hash_of(exec->handle);

    if (shard_of(track, hash) != shard || find_locked(shard, hash, exec->handle) != exec)
        return "an exec is not found by its handle";
    if (atomic_load(&exec->live) != exec->handle)
        return "an exec in the tables is not live";
    if (!exec->generation || exec->generation > atomic_load(&track->generations))
        return "an exec has a generation that was never given out";
    if (atomic_load(&exec->counters.phase) == VR_PHASE_DEAD)
        return "a live exec is in no phase";
    if (exec->device_launch && (exec->nodes.table || exec->transfers))
        return "an exec for device launch has node records";
    if (!vr_transfers_sound(exec->transfers, code_generation, vr_exec_epoch(exec)))
        return "a copy or fill record is from the future";
    return vr_nodes_check(&exec->nodes, code_generation, vr_exec_epoch(exec));
}

const char *vr_track_check(struct vr_track *track, uint64_t code_generation)
{
    struct vr_totals totals;
    uint64_t execs = 0;

    for (int i = 0; i < VR_SHARDS; i++) {
        struct vr_shard *shard = &track->shard[i];
        for (struct vr_exec *exec = shard->execs; exec; exec = exec->hh.next, execs++) {
            const char *broken = check_exec(track, shard, exec, code_generation);
            if (broken)
                return broken;
        }
    }
    vr_track_sum(track, &totals);
    if (totals.phase[VR_PHASE_PROFILING] + totals.phase[VR_PHASE_ACTIVE] +
            totals.phase[VR_PHASE_DISABLED] !=
        execs)
        return "the phases do not add up to the live execs";
    if (totals.execs_seen < execs)
        return "more execs live than were seen";
    return NULL;
}
