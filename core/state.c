/* state.c: the calls that shim/ makes, but for setters (elide.c) and statistics (stats.c), and
 * their counting. Owns struct vr_state's life; must not know what makes an update superfluous. */
#include "recycle.h"
#include "slots.h"
#include "state_private.h"

#include <sys/mman.h>

/* ---- life ---- */

/* The leak checker of a program built with a sanitizer does not look into mappings by itself, and
 * would call the heap blocks that hang on the state leaks of the program. Weak: absent without a
 * sanitizer. */
void __lsan_register_root_region(const void *begin, size_t bytes) __attribute__((weak));
void __lsan_unregister_root_region(const void *begin, size_t bytes) __attribute__((weak));

static void tell_leak_checker(const struct vr_state *state, bool begins)
{
    if (begins && __lsan_register_root_region)
        __lsan_register_root_region(state, sizeof *state);
    else if (!begins && __lsan_unregister_root_region)
        __lsan_unregister_root_region(state, sizeof *state);
}

/* What the options ask for. */
static void set_ways(struct vr_state *state)
{
    const struct vr_options *options = &state->options;
    bool on = options->mode != VR_MODE_OFF;

    state->elide = on && options->rungs & VR_RUNG_ELIDE;
    state->answers = state->elide && options->mode == VR_MODE_ON;
    state->looks = on && options->rungs & VR_RUNG_RECYCLE && options->backing != VR_BACKING_OFF;
    state->records = state->elide || state->looks;
    atomic_init(&state->shadows, state->looks && options->mode == VR_MODE_OBSERVE &&
                                     options->backing == VR_BACKING_EAGER);
}

struct vr_state *vr_state_new(const struct vr_driver_ops *ops, const struct vr_options *options)
{
    struct vr_state *state =
        mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (state == MAP_FAILED)
        return NULL;
    tell_leak_checker(state, true);
    state->ops = ops;
    state->options = *options;
    set_ways(state);
    vr_log_init(&state->log, options->log, state->options.log_file);
    vr_layouts_init(&state->layouts);
    vr_track_init(&state->track);
    /* 0 is no generation: a record that was never filled has it. */
    atomic_init(&state->code_generation, 1);
    atomic_init(&state->alive, true);
    state->allocations = vr_allocations_new(&state->heap);
    state->sizes = vr_sizes_new(&state->heap, ops, &state->options);
    state->recycler = vr_recycler_new(&state->heap, options);
    if (state->allocations && state->sizes && state->recycler)
        return state;
    vr_state_free(state);
    return NULL;
}

void vr_state_free(struct vr_state *state)
{
    vr_recycler_free(state->recycler, &state->heap);
    vr_sizes_free(state->sizes, &state->heap);
    vr_allocations_free(state->allocations, &state->heap);
    vr_track_free(&state->track, &state->heap);
    vr_layouts_free(&state->layouts, &state->heap);
    tell_leak_checker(state, false);
    munmap(state, sizeof *state);
}

const struct vr_options *vr_state_options(const struct vr_state *state)
{
    return &state->options;
}

struct vr_log *vr_state_log(struct vr_state *state)
{
    return &state->log;
}

const char *vr_state_check(struct vr_state *state)
{
    const char *broken = vr_track_check(&state->track, atomic_load(&state->code_generation));

    if (!broken)
        broken = vr_layouts_check(&state->layouts);
    if (!broken)
        broken = vr_allocations_check(state->allocations);
    if (!broken)
        broken = vr_sizes_check(state->sizes);
    if (!broken)
        broken = vr_recycler_check(state);
    if (!broken && !atomic_load(&state->heap.blocks) != !atomic_load(&state->heap.bytes))
        broken = "heap blocks and bytes do not agree";
    return broken;
}

/* ---- counting ---- */

void vr_count(struct vr_state *state, struct vr_exec *exec, enum vr_counter counter)
{
    if (exec)
        vr_bump(&exec->counters.counter[counter]);
    else
        vr_bump_shared(&state->track.unseen.counter[counter]);
}

void vr_count_refusal(struct vr_state *state, struct vr_exec *exec, enum vr_refusal refusal)
{
    static const char *const reasons[] = {
#define X(name, text) text,
        VR_REFUSALS(X)
#undef X
    };
    bool allocation = (int)refusal >= VR_FIRST_ALLOC_REFUSAL;
    bool warned = allocation && (int)refusal <= VR_LAST_WARNED_REFUSAL;
    enum vr_log_level level = warned ? VR_LOG_WARN : VR_LOG_INFO;

    if (refusal == VR_REFUSAL_NONE)
        return;
    if (exec)
        vr_bump(&exec->counters.refusal[refusal]);
    else
        vr_bump_shared(&state->track.unseen.refusal[refusal]);
    if (vr_log_first(&state->log, level, (unsigned)refusal))
        vr_log_line(&state->log, level, "%s is forwarded: %s; more are only counted",
                    allocation ? "an allocation" : "an update", reasons[refusal]);
}

/* ---- execs ---- */

void vr_exec_born(struct vr_state *state, vr_handle exec, const struct vr_exec_origin *origin)
{
    if (!vr_track_add(&state->track, &state->heap, exec, origin))
        vr_count_refusal(state, NULL, VR_REFUSAL_no_memory);
}

struct vr_exec *vr_exec_retire(struct vr_state *state, vr_handle exec)
{
    return vr_track_remove(&state->track, &state->heap, exec);
}

void vr_exec_restore(struct vr_state *state, struct vr_exec *retired)
{
    if (retired)
        vr_track_restore(&state->track, &state->heap, retired);
}

void vr_exec_bury(struct vr_state *state, struct vr_exec *retired)
{
    vr_track_discard(&state->track, &state->heap, retired);
}

/* ---- everything else that changes an exec, or what handles mean ---- */

static void doubt(struct vr_exec *exec, vr_handle node)
{
    struct vr_node *record = vr_node_find(&exec->nodes, node);

    if (record)
        record->valid = false;
    vr_transfer_doubt(exec->transfers, node);
}

void vr_exec_changed(struct vr_state *state, vr_handle handle, vr_handle node,
                     enum vr_change change, bool accepted)
{
    struct vr_exec *exec = vr_track_find(&state->track, handle);

    vr_count(state, exec, accepted ? VR_COUNT_updates_forwarded : VR_COUNT_updates_failed);
    if (!exec)
        return;
    /* A call that failed may have changed part of what it names. */
    if (change == VR_CHANGE_NODE)
        doubt(exec, node);
    else
        vr_exec_forget(exec);
    if (change == VR_CHANGE_GRAPH)
        vr_track_mix(&state->track, exec);
    if (!accepted)
        return;
    if (change != VR_CHANGE_GRAPH) {
        vr_profile_setter(&exec->profile, &exec->counters.phase);
        return;
    }
    vr_profile_replaced(&exec->profile, &exec->counters.phase);
    vr_slots_settle(&exec->nodes, &state->heap, false);
}

void vr_node_doubted(struct vr_state *state, vr_handle handle, vr_handle node)
{
    struct vr_exec *exec = vr_track_find(&state->track, handle);

    if (exec)
        doubt(exec, node);
}

bool vr_exec_has_records(struct vr_state *state, vr_handle handle)
{
    const struct vr_exec *exec = vr_track_find(&state->track, handle);

    return exec && (exec->nodes.table || exec->transfers);
}

void vr_code_changed(struct vr_state *state)
{
    atomic_fetch_add_explicit(&state->code_generation, 1, memory_order_acq_rel);
}

void vr_graph_gone(struct vr_state *state, vr_handle graph)
{
    vr_track_graph_gone(&state->track, graph);
    if (atomic_load_explicit(&state->graphs_moved, memory_order_acquire))
        vr_code_changed(state);
}

void vr_graph_moved(struct vr_state *state)
{
    atomic_store_explicit(&state->graphs_moved, true, memory_order_release);
    vr_code_changed(state);
}

/* ---- errors ---- */

void vr_trouble_seen(struct vr_state *state, enum vr_trouble trouble)
{
    static const struct {
        const char *what;
        enum vr_log_level level;
    } rows[] = {
        [VR_TROUBLE_STICKY] = {"a context is lost", VR_LOG_WARN},
        [VR_TROUBLE_EXITING] = {"the process ends", VR_LOG_DEBUG},
        [VR_TROUBLE_ENDED] = {"the driver has shut down", VR_LOG_INFO},
        [VR_TROUBLE_BYPASSED] =
            {"the driver has an ABI of a hooked function that is not known here", VR_LOG_WARN},
    };

    if (atomic_exchange_explicit(&state->alive, false, memory_order_relaxed))
        vr_log(&state->log, rows[trouble].level, "%s: from now on everything is forwarded",
               rows[trouble].what);
}

bool vr_state_alive(const struct vr_state *state)
{
    return atomic_load_explicit(&state->alive, memory_order_relaxed);
}
