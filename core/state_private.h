/* state_private.h: what one struct vr_state consists of, for the files of core/ that work on it. */
#ifndef VR_STATE_PRIVATE_H
#define VR_STATE_PRIVATE_H

#include "allocations.h"
#include "log.h"
#include "memory.h"
#include "params.h"
#include "sizes.h"
#include "state.h"
#include "track.h"

struct vr_state {
    const struct vr_driver_ops *ops;
    struct vr_options options;
    struct vr_log log;
    struct vr_heap heap;
    atomic_bool alive; /* no trouble seen yet */
    /* Decided once, from the options. */
    bool elide;   /* the rung is in use */
    bool answers; /* and updates are answered by it, not only counted */
    bool records; /* accepted setters are kept */
    bool looks;   /* the profile looks at what they point to, for the rung "recycle" */
    /* Observe mode: allocations may have an address that they would have had. */
    atomic_bool shadows;
    /* Bumped whenever handles may have changed their meaning: no record from before is believed. */
    _Atomic uint64_t code_generation;
    atomic_bool graphs_moved; /* some graph is part of another now (vr_graph_moved) */
    struct vr_layouts layouts;
    struct vr_track track;
    struct vr_allocations *allocations;
    struct vr_sizes *sizes;
    struct vr_recycler *recycler; /* device memory of ours (recycle.c) */
};

/* Begins a setter's ticket: its exec, and what its record is to be stamped with. False when nothing
 * can be answered or learnt; the ticket's refusal says why. */
static inline bool vr_ticket_open(struct vr_state *state, vr_handle handle,
                                  struct vr_ticket *ticket)
{
    struct vr_exec *exec = vr_track_find(&state->track, handle);

    ticket->exec = exec;
    ticket->generation = atomic_load_explicit(&state->code_generation, memory_order_acquire);
    ticket->context = 0;
    ticket->would_elide = false;
    ticket->refusal = VR_REFUSAL_NONE;
    if (!exec)
        ticket->refusal = VR_REFUSAL_unseen_exec;
    else if (exec->device_launch)
        ticket->refusal = VR_REFUSAL_device_launch;
    else if (!atomic_load_explicit(&state->alive, memory_order_relaxed))
        ticket->refusal = VR_REFUSAL_trouble;
    if (ticket->refusal != VR_REFUSAL_NONE || !state->records)
        return false;
    ticket->epoch = vr_exec_epoch(exec);
    return true;
}

/* Counts a call on `exec`; NULL for one we do not know. */
void vr_count(struct vr_state *state, struct vr_exec *exec, enum vr_counter counter);

/* Counts why an update or an allocation was forwarded, and logs each reason once; VR_REFUSAL_NONE
 * is allowed. */
void vr_count_refusal(struct vr_state *state, struct vr_exec *exec, enum vr_refusal refusal);

#endif
