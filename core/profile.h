/* profile.h: the state machine each exec goes through (docs/design.md, section 4): profiling until
 * N launches have succeeded, then active if a node can use a rung beyond elide, else disabled; from
 * there it is tried again, ever more rarely. Knows launches and setters as events only; elide needs
 * no profile and works in every phase. Callers are serialised per exec. */
#ifndef VR_PROFILE_H
#define VR_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "counters.h"

/* A disabled exec is profiled again after 2^k further launches, for k from FIRST to LAST; then no
 * more. */
#define VR_RETRY_FIRST 6
#define VR_RETRY_LAST  20

struct vr_profile {
    uint32_t clock;    /* successful launches ever */
    uint32_t launches; /* successful ones since this phase began */
    uint8_t retry;     /* k */
    bool begun;        /* there was an accepted setter: before it there is nothing to profile */
    bool suspended;    /* by an ExecUpdate: nothing is counted until the next accepted setter */
};

/* `phase` is the exec's, in its counter block, where the statistics find it. */
void vr_profile_begin(struct vr_profile *profile, _Atomic int *phase);

/* A launch has succeeded (others are neither counted nor observed). `needed` is the number to
 * profile; `useful` tells whether a node can use a rung beyond elide, and is looked at when the
 * needed-th launch is counted. True when that launch has ended the profiling. */
bool vr_profile_launched(struct vr_profile *profile, _Atomic int *phase, uint32_t needed,
                         bool useful);

/* A node setter was accepted. The first one begins the profile anew. */
void vr_profile_setter(struct vr_profile *profile, _Atomic int *phase);

/* An ExecUpdate was accepted: what was learnt is void. */
void vr_profile_replaced(struct vr_profile *profile, _Atomic int *phase);

#endif
