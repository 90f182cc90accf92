/* profile.c: the transitions. Must not know execs, nodes or rungs. */
#include "profile.h"

static void enter(struct vr_profile *profile, _Atomic int *phase, enum vr_phase next)
{
    profile->launches = 0;
    atomic_store_explicit(phase, next, memory_order_relaxed);
}

void vr_profile_begin(struct vr_profile *profile, _Atomic int *phase)
{
    *profile = (struct vr_profile){.retry = VR_RETRY_FIRST};
    enter(profile, phase, VR_PHASE_PROFILING);
}

bool vr_profile_launched(struct vr_profile *profile, _Atomic int *phase, uint32_t needed,
                         bool useful)
{
    profile->clock++;
    if (profile->suspended)
        return false;
    switch (atomic_load_explicit(phase, memory_order_relaxed)) {
    case VR_PHASE_PROFILING:
        if (++profile->launches < needed)
            break;
        enter(profile, phase, useful ? VR_PHASE_ACTIVE : VR_PHASE_DISABLED);
        return true;
    case VR_PHASE_DISABLED:
        if (profile->retry <= VR_RETRY_LAST && ++profile->launches >= 1u << profile->retry) {
            profile->retry++;
            enter(profile, phase, VR_PHASE_PROFILING);
        }
        break;
    }
    return false;
}

void vr_profile_setter(struct vr_profile *profile, _Atomic int *phase)
{
    if (profile->begun && !profile->suspended)
        return;
    profile->begun = true;
    profile->suspended = false;
    enter(profile, phase, VR_PHASE_PROFILING);
}

/* Disabled, until a setter shows that updates of single nodes go on. */
void vr_profile_replaced(struct vr_profile *profile, _Atomic int *phase)
{
    profile->suspended = true;
    enter(profile, phase, VR_PHASE_DISABLED);
}
