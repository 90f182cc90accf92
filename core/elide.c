/* elide.c: kernel-node setters, and the first rung: an update that says, byte for byte, what its
 * node already holds needs no driver call. Decides when a record may be believed: made under the
 * present code generation and epoch, by an accepted setter, for a node that only the host changes.
 *
 * Generation and epoch are read once, when the setter is asked about, and go into the record with
 * the parameters: whatever moves them during the driver's call leaves a record that is never
 * believed. */
#include "shadow.h"
#include "slots.h"
#include "state_private.h"

/* ---- before the driver's call ---- */

/* "The current context" is part of what a null context says. */
static bool find_context(struct vr_state *state, const struct vr_update *update, vr_handle *context)
{
    if (update->code.kind != VR_CODE_KERNEL)
        return true;
    *context = update->context;
    return *context || (state->ops->current_context(context) == VR_OK && *context);
}

/* Whether the driver's node already holds what `update` says; when that cannot be known, the
 * ticket's refusal says why. */
static bool holds_already(struct vr_state *state, const struct vr_update *update,
                          struct vr_ticket *ticket)
{
    const struct vr_node *record = vr_node_find(&ticket->exec->nodes, update->node);

    if (update->malformed) {
        ticket->refusal = VR_REFUSAL_malformed;
        return false;
    }
    if (!find_context(state, update, &ticket->context)) {
        ticket->refusal = VR_REFUSAL_context_unknown;
        return false;
    }
    if (!record)
        return false;
    if (record->generation != ticket->generation || record->epoch != ticket->epoch)
        ticket->refusal = VR_REFUSAL_stale;
    else if (record->never_elide)
        ticket->refusal = VR_REFUSAL_device_updatable;
    else if (!record->valid)
        ticket->refusal = VR_REFUSAL_unsure;
    else
        return vr_node_equal(record, update, ticket->context);
    return false;
}

enum vr_answer vr_update_ask(struct vr_state *state, const struct vr_update *update,
                             struct vr_ticket *ticket)
{
    if (!vr_ticket_open(state, update->exec, ticket))
        return VR_FORWARD;
    ticket->would_elide = holds_already(state, update, ticket);
    if (!ticket->would_elide || !state->answers)
        return VR_FORWARD;
    vr_bump(&ticket->exec->counters.counter[VR_COUNT_updates_elided]);
    return VR_ANSWERED;
}

/* ---- after it ---- */

/* Asked when the record is made, and anew whenever handles may have changed their meaning. Must run
 * before the record's generation is renewed. */
static bool never_elide(struct vr_state *state, const struct vr_node *record,
                        const struct vr_ticket *ticket)
{
    bool updatable;

    if (record->generation == ticket->generation)
        return record->never_elide;
    return state->ops->node_updatable(record->node, &updatable) != VR_OK || updatable;
}

static enum vr_phase phase_of(const struct vr_exec *exec)
{
    return (enum vr_phase)atomic_load_explicit(&exec->counters.phase, memory_order_relaxed);
}

/* Fills the record. Returns the windows that say something else than before (all, when nobody wants
 * to know); in observe mode, something else than if the sizes that recur had been taken. */
static uint64_t fill(struct vr_state *state, struct vr_node *record, const struct vr_layout *layout,
                     const struct vr_update *update, const struct vr_ticket *ticket)
{
    bool shadows = atomic_load_explicit(&state->shadows, memory_order_relaxed);
    bool wanted = shadows || phase_of(ticket->exec) != VR_PHASE_DISABLED;
    bool comparable = record->layout == layout && wanted;
    uint64_t changed = 0;

    if (record->layout != layout)
        vr_slots_forget(record, &state->heap);
    if (shadows)
        comparable &= vr_shadow_keep(record, &state->heap);
    if (comparable)
        changed = vr_params_changed(layout, record->bytes, update);
    vr_node_fill(record, layout, update, ticket->context);
    if (shadows && record->shadow)
        changed = vr_shadow_renew(record, state->allocations);
    return comparable ? changed : VR_WINDOWS_ALL;
}

/* What has changed is looked at when the next launch is counted; while profiling, everything is. */
static void mark_changed(const struct vr_state *state, struct vr_exec *exec, struct vr_node *record,
                         uint64_t changed)
{
    record->changed |= changed;
    if (changed && state->looks && phase_of(exec) == VR_PHASE_ACTIVE)
        vr_node_queue(&exec->nodes, record);
}

/* The record knows the layout of its code, as long as code handles mean what they did. */
static enum vr_status find_layout(struct vr_state *state, const struct vr_update *update,
                                  const struct vr_ticket *ticket, const struct vr_node *record,
                                  const struct vr_layout **out)
{
    if (record && record->layout && record->generation == ticket->generation &&
        record->code.handle == update->code.handle && record->code.kind == update->code.kind) {
        *out = record->layout;
        return VR_OK;
    }
    return vr_layout_of(&state->layouts, &state->heap, state->ops, update->code, ticket->generation,
                        out);
}

/* Makes or renews the record. Returns why there is none to elide by. */
static enum vr_refusal learn(struct vr_state *state, const struct vr_update *update,
                             const struct vr_ticket *ticket, struct vr_node *record,
                             uint64_t *changed)
{
    const struct vr_layout *layout;
    enum vr_status status = find_layout(state, update, ticket, record, &layout);

    if (status != VR_OK)
        return status == VR_NO_MEMORY ? VR_REFUSAL_no_memory : VR_REFUSAL_layout_unknown;
    if (!vr_params_readable(layout, update))
        return VR_REFUSAL_malformed;
    record = vr_node_make(&ticket->exec->nodes, &state->heap, record, update->node, layout->extent);
    if (!record)
        return VR_REFUSAL_no_memory;
    record->never_elide = never_elide(state, record, ticket);
    record->generation = ticket->generation;
    record->epoch = ticket->epoch;
    *changed = fill(state, record, layout, update, ticket);
    record->valid = true;
    mark_changed(state, ticket->exec, record, *changed);
    return VR_REFUSAL_NONE;
}

/* The driver holds something else now, or we cannot know what. The record is looked up anew: a
 * library behind us may have answered the call by another setter, which came to us too. */
static enum vr_refusal learn_answer(struct vr_state *state, const struct vr_update *update,
                                    const struct vr_ticket *ticket, bool accepted,
                                    uint64_t *changed)
{
    struct vr_node *record = vr_node_search(&ticket->exec->nodes, update->node);

    if (record)
        record->valid = false;
    if (!accepted || ticket->refusal == VR_REFUSAL_malformed ||
        ticket->refusal == VR_REFUSAL_context_unknown || !vr_state_alive(state))
        return VR_REFUSAL_NONE;
    return learn(state, update, ticket, record, changed);
}

/* Once sizes would have been taken, the addresses that the application passes say no longer what an
 * update would have said. Then: whether the rest of it says what the node held. */
static bool says_the_rest(const struct vr_update *update, const struct vr_ticket *ticket)
{
    const struct vr_node *record;

    if (ticket->refusal != VR_REFUSAL_NONE || !ticket->exec)
        return false;
    record = vr_node_search(&ticket->exec->nodes, update->node);
    return record && vr_node_alike(record, update, ticket->context);
}

void vr_update_told(struct vr_state *state, const struct vr_update *update,
                    const struct vr_ticket *ticket, bool accepted)
{
    enum vr_refusal refusal = (enum vr_refusal)ticket->refusal, learnt = VR_REFUSAL_NONE;
    bool shadows = atomic_load_explicit(&state->shadows, memory_order_relaxed);
    bool would_elide = shadows ? says_the_rest(update, ticket) : ticket->would_elide;
    struct vr_exec *exec = ticket->exec;
    uint64_t changed = VR_WINDOWS_ALL;

    if (exec && !exec->device_launch && state->records)
        learnt = learn_answer(state, update, ticket, accepted, &changed);
    if (exec && accepted)
        vr_profile_setter(&exec->profile, &exec->counters.phase);
    vr_count(state, exec, accepted ? VR_COUNT_updates_forwarded : VR_COUNT_updates_failed);
    if (accepted && would_elide && state->elide && !(shadows && changed))
        vr_count(state, exec, VR_COUNT_would_elide);
    vr_count_refusal(state, exec, learnt == VR_REFUSAL_NONE ? refusal : learnt);
}
