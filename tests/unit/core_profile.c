/* core_profile.c: the state machine of docs/design.md, section 4. */
#include "tests/unit/core_setters.h"

static _Atomic int phase;
static struct vr_profile profile;

static void launch(int times, bool useful)
{
    while (times--)
        vr_profile_launched(&profile, &phase, 3, useful);
}

TEST(profile, transition_happens_when_the_nth_launch_is_counted)
{
    vr_profile_begin(&profile, &phase);
    launch(2, true);
    T_EQ(phase, VR_PHASE_PROFILING);
    launch(1, true);
    T_EQ(phase, VR_PHASE_ACTIVE);
    launch(1000, true);
    T_EQ(phase, VR_PHASE_ACTIVE);
}

TEST(profile, disabled_when_no_node_can_gain)
{
    vr_profile_begin(&profile, &phase);
    launch(3, false);
    T_EQ(phase, VR_PHASE_DISABLED);
}

TEST(profile, disabled_is_tried_again_after_growing_pauses)
{
    vr_profile_begin(&profile, &phase);
    launch(3, false);
    for (int k = VR_RETRY_FIRST; k < VR_RETRY_FIRST + 3; k++) {
        launch((1 << k) - 1, false);
        T_EQ(phase, VR_PHASE_DISABLED);
        launch(1, false);
        T_EQ(phase, VR_PHASE_PROFILING);
        launch(3, false);
        T_EQ(phase, VR_PHASE_DISABLED);
    }
    launch(1 << (VR_RETRY_FIRST + 3), true);
    launch(3, true);
    T_EQ(phase, VR_PHASE_ACTIVE);
}

TEST(profile, retries_are_bounded)
{
    vr_profile_begin(&profile, &phase);
    launch(3, false);
    for (int k = VR_RETRY_FIRST; k <= VR_RETRY_LAST; k++)
        launch((1 << k) + 3, false);
    T_EQ(phase, VR_PHASE_DISABLED);
    launch(1 << (VR_RETRY_LAST + 2), true);
    T_EQ(phase, VR_PHASE_DISABLED);
}

TEST(profile, exec_update_ends_profiling_until_the_next_accepted_setter)
{
    vr_profile_begin(&profile, &phase);
    launch(2, true);
    vr_profile_replaced(&profile, &phase);
    T_EQ(phase, VR_PHASE_DISABLED);
    launch(1 << 20, true);
    T_EQ(phase, VR_PHASE_DISABLED);
    vr_profile_setter(&profile, &phase);
    T_EQ(phase, VR_PHASE_PROFILING);
    launch(2, true);
    T_EQ(phase, VR_PHASE_PROFILING);
    vr_profile_setter(&profile, &phase);
    launch(1, true);
    T_EQ(phase, VR_PHASE_ACTIVE);
}

TEST(profile, exec_update_of_an_active_exec)
{
    vr_profile_begin(&profile, &phase);
    launch(3, true);
    vr_profile_replaced(&profile, &phase);
    vr_profile_setter(&profile, &phase);
    T_EQ(phase, VR_PHASE_PROFILING);
}

/* ---- through the state ---- */

static void expect_phases(struct vr_state *state, uint64_t profiling, uint64_t disabled)
{
    struct vr_totals totals = world_totals(state);

    T_EQ(totals.phase[VR_PHASE_PROFILING], profiling);
    T_EQ(totals.phase[VR_PHASE_ACTIVE], 0);
    T_EQ(totals.phase[VR_PHASE_DISABLED], disabled);
}

TEST(profile, failed_launches_do_not_count)
{
    struct vr_state *state = world_begin(VR_MODE_ON);

    world_born(state, EXEC, GRAPH);
    world_born(state, EXEC_B, GRAPH);
    for (int i = 0; i < 50; i++)
        vr_launch_told(state, EXEC, false);
    vr_launch_told(state, EXEC, true);
    vr_launch_told(state, EXEC, true);
    expect_phases(state, 2, 0);
    vr_launch_told(state, EXEC, true);
    expect_phases(state, 1, 1);
    world_died(state, EXEC);
    expect_phases(state, 1, 0);
    world_end(state);
}

TEST(profile, number_of_launches_is_an_option)
{
    struct vr_options options;
    struct vr_state *state;

    vr_options_read(&options, world_no_variables, "test");
    options.profile_launches = 5;
    state = vr_state_new(&world_ops, &options);
    world_born(state, EXEC, GRAPH);
    for (int i = 0; i < 4; i++)
        vr_launch_told(state, EXEC, true);
    expect_phases(state, 1, 0);
    vr_launch_told(state, EXEC, true);
    expect_phases(state, 0, 1);
    world_end(state);
}

TEST(profile, only_accepted_updates_matter)
{
    struct vr_state *state = world_begin(VR_MODE_ON);
    struct world_setter setter;

    world_born(state, EXEC, GRAPH);
    world_setter(&setter, EXEC, NODE);
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, false);
    expect_phases(state, 1, 0);
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, true);
    expect_phases(state, 0, 1);
    world_send(state, &setter.update, false);
    expect_phases(state, 0, 1);
    world_send(state, &setter.update, true);
    expect_phases(state, 1, 0);
    world_end(state);
}

TEST(profile, elide_works_in_every_phase_and_never_ends_because_of_misses)
{
    struct vr_state *state = world_begin(VR_MODE_ON);
    struct world_setter setter;

    world_born(state, EXEC, GRAPH);
    world_setter(&setter, EXEC, NODE);
    for (int i = 0; i < 200; i++) {
        setter.value[0]++;
        T_ASSERT(!world_send(state, &setter.update, true));
        vr_launch_told(state, EXEC, true);
    }
    T_ASSERT(world_send(state, &setter.update, true));
    world_end(state);
}
