/* core_policy.c: the profile's decisions, as functions of what was counted (docs/design.md, section
 * "Profile"). */
#include "core/policy.h"

#include "tests/unit/vr_test.h"

static enum vr_slot_class class_of(struct vr_slot_counts counts)
{
    return vr_policy_class(&counts, 3);
}

TEST(policy, classes)
{
    T_EQ(class_of((struct vr_slot_counts){0}), VR_SLOT_CONSTANT);
    T_EQ(class_of((struct vr_slot_counts){.run = 1}), VR_SLOT_CONSTANT);
    T_EQ(class_of((struct vr_slot_counts){.moved = true, .run = 3, .follows = true}),
         VR_SLOT_RECURRING);
    T_EQ(class_of((struct vr_slot_counts){.moved = true, .run = 2, .follows = true}),
         VR_SLOT_MOVING);
    T_EQ(class_of((struct vr_slot_counts){.moved = true, .cycled = true}), VR_SLOT_CYCLING);
    T_EQ(class_of((struct vr_slot_counts){.moved = true, .strayed = true}), VR_SLOT_FREE);
    T_EQ(class_of((struct vr_slot_counts){.strayed = true}), VR_SLOT_FREE);
}

TEST(policy, what_happened_lately_counts)
{
    T_EQ(class_of((struct vr_slot_counts){
             .moved = true, .strayed = true, .cycled = true, .run = 3, .follows = true}),
         VR_SLOT_RECURRING);
}

TEST(policy, run_must_be_long_enough)
{
    for (uint32_t needed = 2; needed <= 1000; needed++) {
        struct vr_slot_counts counts = {.run = (uint16_t)(needed - 1), .follows = true};
        T_ASSERT(!vr_policy_recurring(&counts, needed));
        counts.run++;
        T_ASSERT(vr_policy_recurring(&counts, needed));
        counts.run = UINT16_MAX;
        T_ASSERT(vr_policy_recurring(&counts, needed));
    }
}

TEST(policy, run_whose_allocations_live_on_is_none)
{
    struct vr_slot_counts counts = {.run = 10};

    T_ASSERT(!vr_policy_recurring(&counts, 3));
    T_ASSERT(!vr_policy_proposes(&counts, 3));
}

TEST(policy, size_is_proposed_once_in_a_run)
{
    struct vr_slot_counts counts = {.run = 3, .follows = true};

    T_ASSERT(vr_policy_proposes(&counts, 3));
    counts.judged = true;
    T_ASSERT(!vr_policy_proposes(&counts, 3));
    T_ASSERT(vr_policy_recurring(&counts, 3), "it goes on recurring");
}

TEST(policy, run_is_watched_until_it_is_judged)
{
    T_ASSERT(!vr_policy_watches(&(struct vr_slot_counts){0}));
    T_ASSERT(vr_policy_watches(&(struct vr_slot_counts){.run = 1}));
    T_ASSERT(vr_policy_watches(&(struct vr_slot_counts){.run = 3, .follows = true}));
    T_ASSERT(!vr_policy_watches(&(struct vr_slot_counts){.run = 3, .judged = true}));
}

TEST(policy, one_slot_that_gains_makes_an_exec_active)
{
    T_ASSERT(!vr_policy_active(0));
    T_ASSERT(vr_policy_active(1));
    T_ASSERT(vr_policy_active(1000));
}
