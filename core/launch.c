/* launch.c: what follows when a launch was counted: the exec's records are looked at, and its
 * profile goes on. Owns the order of the two; must not know what a slot or a transition is. A
 * launch of an exec with nothing to look at costs a few instructions. */
#include "slots.h"
#include "state_private.h"

static struct vr_look begin_look(struct vr_state *state, const struct vr_exec *exec)
{
    return (struct vr_look){
        .heap = &state->heap,
        .allocations = state->allocations,
        .sizes = state->sizes,
        .generation = atomic_load_explicit(&state->code_generation, memory_order_acquire),
        .epoch = vr_exec_epoch(exec),
        .launch = exec->profile.clock + 1,
        .needed = state->options.profile_launches,
    };
}

/* Sizes that have been taken change addresses: in observe mode, those that would have been. */
static void note_taken(struct vr_state *state, const struct vr_look *look)
{
    if (look->taken && state->options.mode == VR_MODE_OBSERVE)
        atomic_store_explicit(&state->shadows, true, memory_order_relaxed);
    if (look->taken)
        vr_log(&state->log, VR_LOG_DEBUG, "%u sizes recur under a graph and are taken",
               look->taken);
}

static void note_end(struct vr_state *state, struct vr_exec *exec, const struct vr_look *look)
{
    bool active =
        atomic_load_explicit(&exec->counters.phase, memory_order_relaxed) == VR_PHASE_ACTIVE;

    vr_slots_settle(&exec->nodes, &state->heap, active);
    vr_log(&state->log, VR_LOG_DEBUG,
           "exec %llu is %s: slots: %u constant, %u recurring, %u cycling, %u moving, %u free; %u "
           "scalars",
           (unsigned long long)exec->generation, active ? "active" : "disabled",
           look->class[VR_SLOT_CONSTANT], look -> class[VR_SLOT_RECURRING],
           look -> class[VR_SLOT_CYCLING], look -> class[VR_SLOT_MOVING],
           look -> class[VR_SLOT_FREE], look -> scalars);
}

static __attribute__((noinline)) void look_in_profiling(struct vr_state *state,
                                                        struct vr_exec *exec)
{
    struct vr_look look = begin_look(state, exec);

    if (state->looks && vr_state_alive(state))
        vr_slots_look_all(&look, &exec->nodes);
    note_taken(state, &look);
    if (vr_profile_launched(&exec->profile, &exec->counters.phase, look.needed,
                            vr_policy_active(look.gaining)))
        note_end(state, exec, &look);
}

static __attribute__((noinline)) void look_at_queued(struct vr_state *state, struct vr_exec *exec)
{
    struct vr_look look = begin_look(state, exec);

    vr_slots_look_queued(&look, &exec->nodes);
    note_taken(state, &look);
}

void vr_launch_told(struct vr_state *state, vr_handle handle, bool accepted)
{
    struct vr_exec *exec = vr_track_find(&state->track, handle);
    int phase;

    vr_count(state, exec, accepted ? VR_COUNT_launches : VR_COUNT_launches_failed);
    if (!exec || !accepted)
        return;
    phase = atomic_load_explicit(&exec->counters.phase, memory_order_relaxed);
    if (phase == VR_PHASE_PROFILING) {
        look_in_profiling(state, exec);
        return;
    }
    if (phase == VR_PHASE_ACTIVE && exec->nodes.queue)
        look_at_queued(state, exec);
    vr_profile_launched(&exec->profile, &exec->counters.phase, state->options.profile_launches,
                        false);
}
