/* policy.h: the decisions of the profile, in one place: what a slot is, whether its size is
 * proposed to be taken, whether it is worth looking at again, whether an exec can gain. Pure
 * functions over counts; must not know addresses, nodes or execs. `needed` is
 * VAREMAP_PROFILE_LAUNCHES. */
#ifndef VR_POLICY_H
#define VR_POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* docs/design.md, section "Profile". */
enum vr_slot_class {
    VR_SLOT_CONSTANT,  /* one allocation all the time */
    VR_SLOT_RECURRING, /* in each launch a fresh one, of one size, at one offset, in place of one
                        * that was freed */
    VR_SLOT_CYCLING,   /* comes back to an allocation that is alive, after a few others */
    VR_SLOT_MOVING,    /* other allocations, always at one offset */
    VR_SLOT_FREE,      /* anything else */
    VR_SLOT_CLASS_COUNT
};

/* The most allocations a cycle may have. */
#define VR_CYCLE_MAX 64

/* What is counted about a slot at each counted launch of its exec. */
struct vr_slot_counts {
    uint16_t run;  /* successive launches up to the last one, each with a fresh allocation, all of
                    * one size, at one offset */
    uint8_t moves; /* to another allocation, since the one that a cycle would come back to */
    bool follows : 1; /* and the last of them has followed one that was freed, before it came or,
                       * as when two buffers take turns, one launch later */
    bool moved : 1;   /* was in more than one allocation */
    bool cycled : 1;  /* came back to an allocation within VR_CYCLE_MAX moves */
    bool strayed : 1; /* changed its offset, or was in no allocation */
    bool judged : 1;  /* its size was proposed in this run */
};

/* Whether the run is long enough to take its size. */
bool vr_policy_recurring(const struct vr_slot_counts *counts, uint32_t needed);
enum vr_slot_class vr_policy_class(const struct vr_slot_counts *counts, uint32_t needed);

/* Whether the size of the slot's allocation is to be proposed now: once in a run. */
bool vr_policy_proposes(const struct vr_slot_counts *counts, uint32_t needed);

/* Whether the next launch may extend a run that has not been judged: then the slot must be looked
 * at even if its bytes stay what they are, because a fresh allocation may get its predecessor's
 * address. */
bool vr_policy_watches(const struct vr_slot_counts *counts);

/* Whether an exec of which `gaining` slots recur with a size that is taken can use a rung beyond
 * elide. */
bool vr_policy_active(uint32_t gaining);

#endif
