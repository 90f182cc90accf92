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
    struct vr_layouts layouts;
    struct vr_track track;
    struct vr_allocations *allocations;
    struct vr_sizes *sizes;
    struct vr_recycler *recycler; /* device memory of ours (recycle.c) */
};

/* Counts a call on `exec`; NULL for one we do not know. */
void vr_count(struct vr_state *state, struct vr_exec *exec, enum vr_counter counter);

/* Counts why an update or an allocation was forwarded, and logs each reason once; VR_REFUSAL_NONE
 * is allowed. */
void vr_count_refusal(struct vr_state *state, struct vr_exec *exec, enum vr_refusal refusal);

#endif
