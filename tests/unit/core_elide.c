/* core_elide.c: which updates are answered. Every expectation is a sentence of docs/design.md,
 * section 5 (elide) or 6; a wrong "answered" is a wrong result in somebody's program. */
#include "tests/unit/core_setters.h"

TEST(elide, identical_setter_is_answered)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    for (int i = 0; i < 5; i++)
        T_ASSERT(fixture_send(f));
    T_EQ(world_totals(f->state).counter[VR_COUNT_updates_elided], 5);
    T_EQ(world_totals(f->state).counter[VR_COUNT_updates_forwarded], 1);
    world_end(f->state);
}

TEST(elide, equality_is_of_bytes_not_of_places)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    struct world_setter other;

    world_setter(&other, EXEC, NODE);
    T_ASSERT(world_send(f->state, &other.update, true));
    world_end(f->state);
}

TEST(elide, every_parameter_byte_counts)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    for (int i = 0; i < 64; i++) {
        ((unsigned char *)f->setter.value)[i] ^= 1;
        fixture_changed(f, "a parameter byte");
    }
    world_end(f->state);
}

TEST(elide, geometry_counts)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    for (int i = 0; i < 3; i++) {
        f->setter.update.geometry.grid[i]++;
        fixture_changed(f, "the grid");
        f->setter.update.geometry.block[i]++;
        fixture_changed(f, "the block");
    }
    f->setter.update.geometry.shared_bytes = 48;
    fixture_changed(f, "shared memory");
    world_end(f->state);
}

TEST(elide, code_handle_and_kind_count)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.code.handle = CODE_EIGHT + 0x10;
    fixture_changed(f, "the function");
    f->setter.update.context = CONTEXT;
    f->setter.update.code.kind = VR_CODE_KERNEL;
    fixture_changed(f, "function to kernel of one handle value");
    world_end(f->state);
}

TEST(elide, kernel_with_null_context_means_the_current_one)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.code.kind = VR_CODE_KERNEL;
    fixture_changed(f, "kind");
    world.context = CONTEXT + 1;
    fixture_changed(f, "the current context");
    f->setter.update.context = CONTEXT + 1;
    T_ASSERT(fixture_send(f), "the same context, by name");
    f->setter.update.context = CONTEXT;
    fixture_changed(f, "the context given");
    world_end(f->state);
}

TEST(elide, kernel_is_forwarded_while_the_context_is_unknown)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.code.kind = VR_CODE_KERNEL;
    fixture_changed(f, "kind");
    world.contexts_silent = true;
    T_ASSERT(!fixture_send(f));
    world.contexts_silent = false;
    T_ASSERT(!fixture_send(f), "what the driver was sent meanwhile is not known");
    T_ASSERT(fixture_send(f));
    world.context = 0;
    T_ASSERT(!fixture_send(f), "there is no current context");
    T_EQ(world_totals(f->state).refusal[VR_REFUSAL_context_unknown], 2);
    world_end(f->state);
}

TEST(elide, function_form_asks_for_no_context)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    world.context = CONTEXT + 1;
    f->setter.update.context = CONTEXT;
    T_ASSERT(fixture_send(f), "a function's context field is not looked at");
    T_EQ(world.context_queries, 0);
    world_end(f->state);
}

TEST(elide, nodes_and_execs_have_records_of_their_own)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    world_born(f->state, EXEC_B, GRAPH);
    f->setter.update.node = NODE_B;
    fixture_changed(f, "the node");
    f->setter.update.exec = EXEC_B;
    fixture_changed(f, "the exec");
    f->setter.update.exec = EXEC;
    T_ASSERT(fixture_send(f));
    world_end(f->state);
}

/* ---- what is never elided ---- */

TEST(elide, unseen_exec)
{
    struct vr_state *state = world_begin(VR_MODE_ON);
    struct world_setter setter;

    world_setter(&setter, EXEC, NODE);
    for (int i = 0; i < 3; i++)
        T_ASSERT(!world_send(state, &setter.update, true));
    setter.update.exec = 0;
    T_ASSERT(!world_send(state, &setter.update, false));
    T_EQ(world_totals(state).refusal[VR_REFUSAL_unseen_exec], 4);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_forwarded], 3);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_failed], 1);
    T_EQ(world.param_queries + world.node_queries + world.context_queries, 0);
    world_end(state);
}

TEST(elide, device_launch)
{
    struct vr_state *state = world_begin(VR_MODE_ON);
    struct world_setter setter;

    vr_exec_born(state, EXEC, &(struct vr_exec_origin){GRAPH, .device_launch = true});
    world_setter(&setter, EXEC, NODE);
    for (int i = 0; i < 3; i++)
        T_ASSERT(!world_send(state, &setter.update, true));
    T_EQ(world_totals(state).refusal[VR_REFUSAL_device_launch], 3);
    T_EQ(world.param_queries + world.node_queries, 0);
    world_end(state);
}

TEST(elide, device_updatable_node)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    world.updatable = NODE_B;
    f->setter.update.node = NODE_B;
    for (int i = 0; i < 4; i++)
        T_ASSERT(!fixture_send(f));
    T_EQ(world.node_queries, 2); /* once per node */
    f->setter.update.node = NODE;
    T_ASSERT(fixture_send(f), "the other node is as before");
    world_end(f->state);
}

TEST(elide, node_becomes_device_updatable)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    T_ASSERT(fixture_send(f));
    world.updatable = NODE;
    vr_code_changed(f->state); /* by its attribute setter */
    for (int i = 0; i < 3; i++)
        T_ASSERT(!fixture_send(f));
    world_end(f->state);
}

TEST(elide, node_of_which_the_driver_will_not_say)
{
    struct fixture *f;

    world.nodes_silent = true;
    f = fixture_begin(VR_MODE_ON);
    T_ASSERT(!fixture_send(f) && !fixture_send(f));
    T_GE(world_totals(f->state).refusal[VR_REFUSAL_device_updatable], 1);
    world_end(f->state);
}

TEST(elide, layout_unknown)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.code.handle = CODE_DUMB;
    T_ASSERT(!fixture_send(f) && !fixture_send(f) && !fixture_send(f));
    T_EQ(world_totals(f->state).refusal[VR_REFUSAL_layout_unknown], 3);
    f->setter.update.code.handle = CODE_LIES;
    T_ASSERT(!fixture_send(f) && !fixture_send(f), "overlapping parameters are not believed");
    f->setter.update.code.handle = CODE_EIGHT;
    fixture_changed(f, "the code");
    world_end(f->state);
}

TEST(elide, failed_setter_makes_the_node_unsure)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.value[0]++;
    T_ASSERT(!world_send(f->state, &f->setter.update, false));
    f->setter.value[0]--;
    T_ASSERT(!fixture_send(f), "the first setter after a failed one goes to the driver");
    T_ASSERT(fixture_send(f));
    T_EQ(world_totals(f->state).counter[VR_COUNT_updates_failed], 1);
    T_EQ(world_totals(f->state).refusal[VR_REFUSAL_unsure], 1);
    world_end(f->state);
}

TEST(elide, failed_first_setter_leaves_no_record)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    f->setter.update.node = NODE_B;
    T_ASSERT(!world_send(f->state, &f->setter.update, false));
    T_ASSERT(!world_send(f->state, &f->setter.update, false));
    fixture_changed(f, "nothing known");
    world_end(f->state);
}

/* ---- modes ---- */

TEST(elide, observe_forwards_everything_and_counts_what_on_would_have_answered)
{
    struct fixture *f = fixture_begin(VR_MODE_OBSERVE);
    struct vr_totals totals;

    T_ASSERT(!fixture_send(f) && !fixture_send(f));
    f->setter.value[0]++;
    T_ASSERT(!fixture_send(f) && !fixture_send(f));
    T_ASSERT(!world_send(f->state, &f->setter.update, false), "equal, but the driver refused it");
    totals = world_totals(f->state);
    T_EQ(totals.counter[VR_COUNT_updates_elided], 0);
    T_EQ(totals.counter[VR_COUNT_updates_forwarded], 5);
    T_EQ(totals.counter[VR_COUNT_updates_failed], 1);
    T_EQ(totals.counter[VR_COUNT_would_elide], 3);
    world_end(f->state);
}

TEST(elide, off_forwards_everything_and_asks_nothing)
{
    struct fixture *f = fixture_begin(VR_MODE_OFF);

    T_ASSERT(!fixture_send(f) && !fixture_send(f));
    T_EQ(world.param_queries + world.node_queries, 0);
    world_end(f->state);
}

TEST(elide, no_rungs_forwards_everything_and_asks_nothing)
{
    struct vr_options options;
    struct vr_state *state;
    struct world_setter setter;

    vr_options_read(&options, world_no_variables, "test");
    options.rungs = 0;
    state = vr_state_new(&world_ops, &options);
    world_born(state, EXEC, GRAPH);
    world_setter(&setter, EXEC, NODE);
    for (int i = 0; i < 3; i++)
        T_ASSERT(!world_send(state, &setter.update, true));
    T_EQ(world.param_queries + world.node_queries, 0);
    T_EQ(world_totals(state).counter[VR_COUNT_updates_forwarded], 3);
    world_end(state);
}

TEST(elide, trouble_forwards_everything)
{
    for (int trouble = VR_TROUBLE_STICKY; trouble <= VR_TROUBLE_BYPASSED; trouble++) {
        struct fixture *f = fixture_begin(VR_MODE_ON);
        int queries = world.param_queries + world.node_queries;
        T_ASSERT(vr_state_alive(f->state));
        vr_trouble_seen(f->state, (enum vr_trouble)trouble);
        T_ASSERT(!vr_state_alive(f->state));
        T_ASSERT(!fixture_send(f) && !fixture_send(f));
        f->setter.update.code.handle = CODE_MIXED;
        T_ASSERT(!fixture_send(f));
        T_EQ(world.param_queries + world.node_queries, queries);
        T_EQ(world_totals(f->state).refusal[VR_REFUSAL_trouble], 3);
        world_end(f->state);
    }
}

/* ---- cost ---- */

TEST(elide, driver_is_asked_once_per_function_and_node)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);

    T_EQ(world.param_queries, 9);
    T_EQ(world.node_queries, 1);
    for (int node = 0; node < 100; node++) {
        f->setter.update.node = (vr_handle)(NODE_B + 16 * node);
        fixture_changed(f, "the node");
        f->setter.value[0]++;
        fixture_changed(f, "a value");
    }
    T_EQ(world.param_queries, 9);
    T_EQ(world.node_queries, 101);
    world_end(f->state);
}

TEST(elide, answering_allocates_nothing)
{
    struct fixture *f = fixture_begin(VR_MODE_ON);
    uint64_t blocks = f->state->heap.blocks;

    f->state->heap.fail_at = 1;
    for (int i = 0; i < 10; i++)
        T_ASSERT(fixture_send(f));
    T_EQ(f->state->heap.fail_at, 1);
    T_EQ(f->state->heap.blocks, blocks);
    world_end(f->state);
}
