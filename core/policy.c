/* policy.c: see policy.h. */
#include "policy.h"

bool vr_policy_recurring(const struct vr_slot_counts *counts, uint32_t needed)
{
    return counts->run >= needed && counts->follows;
}

/* What happened lately counts more than what happened once. */
enum vr_slot_class vr_policy_class(const struct vr_slot_counts *counts, uint32_t needed)
{
    if (vr_policy_recurring(counts, needed))
        return VR_SLOT_RECURRING;
    if (counts->strayed)
        return VR_SLOT_FREE;
    if (!counts->moved)
        return VR_SLOT_CONSTANT;
    return counts->cycled ? VR_SLOT_CYCLING : VR_SLOT_MOVING;
}

bool vr_policy_proposes(const struct vr_slot_counts *counts, uint32_t needed)
{
    return vr_policy_recurring(counts, needed) && !counts->judged;
}

bool vr_policy_watches(const struct vr_slot_counts *counts)
{
    return counts->run > 0 && !counts->judged;
}

bool vr_policy_active(uint32_t gaining)
{
    return gaining > 0;
}
