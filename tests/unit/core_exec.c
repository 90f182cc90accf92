/* core_exec.c: when a record stops being believed, and whose record it is. Wrong answers from a
 * stale record are the one thing the product must never give: each way in which a record can go
 * stale is a test here (docs/design.md, sections 3, 5 and 6). */
#include "tests/unit/core_setters.h"

static struct vr_state *state;
static struct world_setter setter;

static bool send(void)
{
    return world_send(state, &setter.update, true);
}

static void begin(void)
{
    state = world_begin(VR_MODE_ON);
    world_born(state, EXEC, GRAPH);
    world_setter(&setter, EXEC, NODE);
    T_ASSERT(!send());
    T_ASSERT(send());
}

/* Exactly one setter reaches the driver, then all is known again. */
static void expect_forgotten(const char *why)
{
    T_ASSERT(!send(), "%s", why);
    T_ASSERT(send(), "%s", why);
}

TEST(exec, change_of_a_node)
{
    begin();
    vr_exec_changed(state, EXEC, NODE, VR_CHANGE_NODE, true);
    expect_forgotten("a setter of another kind");
    vr_exec_changed(state, EXEC, NODE, VR_CHANGE_NODE, false);
    expect_forgotten("one that failed");
    vr_node_doubted(state, EXEC, NODE);
    expect_forgotten("a change of the graph it is in");
    vr_exec_changed(state, EXEC, NODE + 64, VR_CHANGE_NODE, true);
    T_ASSERT(send(), "another node");
    world_end(state);
}

TEST(exec, change_of_all_nodes)
{
    begin();
    vr_exec_changed(state, EXEC, NODE + 64, VR_CHANGE_EXEC, false);
    expect_forgotten("all of the exec's nodes may differ");
    world_end(state);
}

TEST(exec, knows_whether_it_has_records)
{
    begin();
    T_ASSERT(vr_exec_has_records(state, EXEC));
    T_ASSERT(!vr_exec_has_records(state, EXEC_B));
    world_born(state, EXEC_B, GRAPH);
    T_ASSERT(!vr_exec_has_records(state, EXEC_B));
    world_end(state);
}

TEST(exec, change_of_the_graph)
{
    begin();
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, true);
    expect_forgotten("ExecUpdate");
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, false);
    expect_forgotten("one that failed");
    world_end(state);
}

TEST(exec, change_of_another_exec)
{
    begin();
    world_born(state, EXEC_B, GRAPH);
    vr_exec_changed(state, EXEC_B, 0, VR_CHANGE_GRAPH, true);
    vr_exec_changed(state, 0, NODE, VR_CHANGE_NODE, true);
    T_ASSERT(send());
    world_end(state);
}

TEST(exec, change_of_what_handles_mean)
{
    int queries;

    begin();
    queries = world.param_queries;
    vr_code_changed(state);
    expect_forgotten("module unload and its like");
    T_EQ(world.param_queries, queries + 9);
    T_EQ(world.node_queries, 2);
    world_end(state);
}

/* The same function value may come back with other parameters. */
TEST(exec, layout_is_asked_anew_after_unload)
{
    begin();
    vr_code_changed(state);
    world.layouts_silent = true;
    T_ASSERT(!send() && !send(), "the layout of the old function is not used for the new one");
    T_EQ(world_totals(state).refusal[VR_REFUSAL_layout_unknown], 2);
    world_end(state);
}

TEST(exec, graph_destroyed)
{
    begin();
    vr_graph_gone(state, GRAPH_B);
    T_ASSERT(send(), "another graph");
    vr_graph_gone(state, GRAPH);
    expect_forgotten("its graph");
    world_end(state);
}

TEST(exec, any_graph_destroyed_after_exec_update)
{
    begin();
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, true);
    expect_forgotten("ExecUpdate");
    vr_graph_gone(state, GRAPH_B);
    expect_forgotten("its nodes may have come from there");
    world_end(state);
}

TEST(exec, any_graph_destroyed_after_one_moved)
{
    begin();
    vr_graph_moved(state);
    expect_forgotten("a graph is part of another");
    vr_graph_gone(state, GRAPH_B);
    expect_forgotten("it may have been part of that one");
    world_end(state);
}

/* ---- between the question and the driver's answer ---- */

static void during_the_call(void (*event)(void))
{
    struct vr_ticket ticket;

    begin();
    setter.value[0]++;
    T_EQ(vr_update_ask(state, &setter.update, &ticket), VR_FORWARD);
    event();
    vr_update_told(state, &setter.update, &ticket, true);
    expect_forgotten("what happened during the call");
    world_end(state);
}

static void unload(void)
{
    vr_code_changed(state);
}

static void destroy_graph(void)
{
    vr_graph_gone(state, GRAPH);
}

/* A library behind us makes the call by another setter, which comes to us too, and another one
 * follows: the node has one record, with what was accepted last. */
TEST(exec, setter_during_a_setter)
{
    struct vr_update first;
    struct vr_ticket outer;

    begin();
    vr_exec_born(state, EXEC, &(struct vr_exec_origin){.graph = GRAPH});
    first = setter.update;
    T_EQ(vr_update_ask(state, &first, &outer), VR_FORWARD);
    T_ASSERT(!send(), "it has no record yet");
    vr_update_told(state, &first, &outer, true);
    setter.value[0]++;
    T_ASSERT(!send(), "another value");
    setter.value[0]--;
    T_ASSERT(!send(), "the first value again");
    T_ASSERT(send(), "and once more");
    world_end(state);
}

TEST(exec, unload_during_a_setter)
{
    during_the_call(unload);
}

TEST(exec, graph_destroyed_during_a_setter)
{
    during_the_call(destroy_graph);
}

TEST(exec, trouble_during_a_setter)
{
    struct vr_ticket ticket;
    int queries;

    begin();
    queries = world.param_queries + world.node_queries;
    setter.update.code.handle = CODE_MIXED;
    T_EQ(vr_update_ask(state, &setter.update, &ticket), VR_FORWARD);
    vr_trouble_seen(state, VR_TROUBLE_ENDED);
    vr_update_told(state, &setter.update, &ticket, true);
    T_EQ(world.param_queries + world.node_queries, queries);
    world_end(state);
}

/* ---- identity ---- */

TEST(exec, destroyed_exec_is_unknown)
{
    begin();
    world_died(state, EXEC);
    T_ASSERT(!send() && !send());
    T_EQ(world_totals(state).refusal[VR_REFUSAL_unseen_exec], 2);
    world_end(state);
}

TEST(exec, handle_value_comes_back)
{
    begin();
    world_died(state, EXEC);
    world_born(state, EXEC, GRAPH);
    expect_forgotten("another exec of the same handle value");
    T_EQ(world_totals(state).execs_seen, 2);
    world_end(state);
}

TEST(exec, handle_value_comes_back_and_the_end_was_not_seen)
{
    begin();
    world_born(state, EXEC, GRAPH);
    expect_forgotten("another exec of the same handle value");
    world_end(state);
}

TEST(exec, restored_when_the_driver_refuses_to_destroy)
{
    struct vr_exec *retired;

    begin();
    retired = vr_exec_retire(state, EXEC);
    T_NOT_NULL(retired);
    T_ASSERT(!send(), "a retired exec is not in the tables");
    vr_exec_restore(state, retired);
    expect_forgotten("what happened while it was out is not known");
    world_end(state);
}

TEST(exec, graph_destroyed_while_the_exec_is_retired)
{
    struct vr_exec *retired;

    begin();
    retired = vr_exec_retire(state, EXEC);
    vr_graph_gone(state, GRAPH);
    vr_exec_restore(state, retired);
    expect_forgotten("its graph is gone");
    world_end(state);
}

TEST(exec, restored_exec_gives_way_to_a_new_one)
{
    struct vr_exec *retired;

    begin();
    retired = vr_exec_retire(state, EXEC);
    world_born(state, EXEC, GRAPH_B);
    vr_exec_restore(state, retired);
    vr_graph_gone(state, GRAPH);
    T_ASSERT(!send());
    vr_graph_gone(state, GRAPH);
    T_ASSERT(send(), "the exec in the table is the one from the other graph");
    world_end(state);
}

TEST(exec, unknown_handles_do_no_harm)
{
    state = world_begin(VR_MODE_ON);
    T_NULL(vr_exec_retire(state, EXEC));
    T_NULL(vr_exec_retire(state, 0));
    vr_exec_restore(state, NULL);
    vr_exec_bury(state, NULL);
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, false);
    vr_graph_gone(state, 0);
    vr_launch_told(state, 0, false);
    world_end(state);
}

/* The memory of a dead exec is remembered for a while and belongs to no handle, not even to none.
 */
TEST(exec, null_handle_is_never_a_dead_exec)
{
    vr_handle handle = EXEC;

    state = world_begin(VR_MODE_ON);
    while (vr_hash_bytes(&handle, sizeof handle) % VR_RECENT)
        handle += 16;
    world_born(state, handle, GRAPH);
    vr_launch_told(state, handle, true);
    T_EQ(state->track.unseen.counter[VR_COUNT_launches], 0);
    world_died(state, handle);
    vr_launch_told(state, 0, true);
    vr_launch_told(state, handle, true);
    T_EQ(state->track.unseen.counter[VR_COUNT_launches], 2);
    world_end(state);
}

/* A later exec has the memory of an earlier one, and a slot of the remembered ones points at it. */
TEST(exec, memory_of_another_handle)
{
    begin();
    world_died(state, EXEC);
    world_born(state, EXEC_B, GRAPH);
    T_ASSERT(!send() && !send(), "the old handle is unknown");
    setter.update.exec = EXEC_B;
    expect_forgotten("nothing of the old exec is left");
    world_end(state);
}

TEST(exec, nodes_in_any_order)
{
    enum { NODES = 300 };

    state = world_begin(VR_MODE_ON);
    world_born(state, EXEC, GRAPH);
    world_setter(&setter, EXEC, 0);
    for (int round = 0; round < 4; round++)
        for (vr_handle i = 0; i < NODES; i++) {
            static const vr_handle stride[] = {1, 7, NODES - 1, 1};
            vr_handle node = i * stride[round] % NODES;
            setter.update.node = NODE + node * 64;
            setter.value[0] = node;
            T_EQ(send(), round > 0);
        }
    world_end(state);
}

TEST(exec, many_execs_and_nodes)
{
    enum { EXECS = 500, NODES = 20 };

    state = world_begin(VR_MODE_ON);
    world_setter(&setter, 0, 0);
    for (int round = 0; round < 2; round++)
        for (vr_handle exec = 0; exec < EXECS; exec++) {
            setter.update.exec = 0x10000 + exec * 64;
            if (round == 0)
                world_born(state, setter.update.exec, GRAPH);
            for (vr_handle node = 0; node < NODES; node++) {
                setter.update.node = 0x900000 + node * 64;
                setter.value[0] = exec * NODES + node;
                T_EQ(send(), round == 1);
            }
        }
    T_EQ(world_totals(state).counter[VR_COUNT_updates_elided], EXECS * NODES);
    T_NULL(vr_state_check(state));
    for (vr_handle exec = 0; exec < EXECS; exec += 2)
        world_died(state, 0x10000 + exec * 64);
    T_EQ(world_totals(state).phase[VR_PHASE_PROFILING], EXECS / 2);
    world_end(state);
}

/* ---- counting ---- */

TEST(exec, updates_are_counted_once_each_and_survive_the_exec)
{
    struct vr_totals totals;

    begin(); /* forwarded, elided */
    vr_exec_changed(state, EXEC, NODE, VR_CHANGE_NODE, true);
    vr_exec_changed(state, EXEC, 0, VR_CHANGE_GRAPH, false);
    vr_exec_changed(state, EXEC_B, 0, VR_CHANGE_GRAPH, true);
    T_ASSERT(!world_send(state, &setter.update, false));
    vr_launch_told(state, EXEC, true);
    vr_launch_told(state, EXEC, false);
    vr_launch_told(state, EXEC_B, true);
    for (int round = 0; round < 2; round++) {
        totals = world_totals(state);
        T_EQ(totals.counter[VR_COUNT_updates_elided], 1);
        T_EQ(totals.counter[VR_COUNT_updates_forwarded], 3);
        T_EQ(totals.counter[VR_COUNT_updates_failed], 2);
        T_EQ(totals.counter[VR_COUNT_launches], 2);
        T_EQ(totals.counter[VR_COUNT_launches_failed], 1);
        world_died(state, EXEC);
    }
    world_end(state);
}

TEST(exec, memory_comes_back)
{
    uint64_t bytes = 0;

    state = world_begin(VR_MODE_ON);
    world_setter(&setter, EXEC, NODE);
    for (int round = 0; round < 100; round++) {
        world_born(state, EXEC, GRAPH);
        for (vr_handle node = 0; node < 50; node++) {
            setter.update.node = NODE + node * 16;
            T_ASSERT(!send());
        }
        world_died(state, EXEC);
        if (round == 0)
            bytes = state->heap.bytes;
    }
    T_EQ(state->heap.bytes, bytes);
    T_EQ(world_totals(state).execs_seen, 100);
    world_end(state);
}
