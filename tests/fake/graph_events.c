/* graph_events.c: nodes that record events and wait for them, and branches that do not hold each
 * other up. Gates decide what is running; no clock is asked. */
#include "tests/fake/graph_gate.h"

static CUevent new_event(void)
{
    CUevent event = NULL;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static CUgraphNode add_record(CUgraph graph, CUgraphNode after, CUevent event)
{
    CUgraphNode node = NULL;
    OK(cuGraphAddEventRecordNode(&node, graph, &after, after != NULL, event));
    return node;
}

static CUgraphNode add_wait(CUgraph graph, CUgraphNode after, CUevent event)
{
    CUgraphNode node = NULL;
    OK(cuGraphAddEventWaitNode(&node, graph, &after, after != NULL, event));
    return node;
}

TEST(graph_events, a_record_node_is_a_record_for_whoever_asks_after_the_launch)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUevent event = new_event();
    add_record(f.graph, add_gate(f.graph, NULL, &gate), event);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuEventQuery(event)); /* nothing yet */
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gate);
    T_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    OK(cuStreamSynchronize(f.stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy_v2(event));
    fixture_end(&f);
}

TEST(graph_events, a_stream_waits_for_a_record_node)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUevent event = new_event();
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUgraphNode kernel = add_kernel(f.graph, add_gate(f.graph, NULL, &gate), f.put, f.data, 5, 0);
    add_record(f.graph, kernel, event);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuMemcpyDtoDAsync_v2(f.data + 64, f.data, 4, other));
    gate_await(&gate);
    T_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(other));
    T_EQ(word_at(f.data + 64), 5);
    OK(cuStreamSynchronize(f.stream));
    OK(cuStreamDestroy_v2(other));
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy_v2(event));
    fixture_end(&f);
}

TEST(graph_events, a_wait_node_waits_for_a_stream_and_holds_its_branch_only)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0}, seen = {.open = true};
    CUevent event = new_event();
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    add_kernel(f.graph, add_wait(f.graph, NULL, event), f.put, f.data, 7, 0);
    add_gate(f.graph, add_kernel(f.graph, NULL, f.put, f.data + 64, 3, 0), &seen);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuLaunchHostFunc(other, gate_wait, &gate));
    OK(cuEventRecord(event, other));
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&seen); /* the branch without the wait comes to its end */
    T_EQ(cuStreamQuery(f.stream), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 7);
    T_EQ(word_at(f.data + 64), 3);
    OK(cuStreamDestroy_v2(other));
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy_v2(event));
    fixture_end(&f);
}

TEST(graph_events, one_graph_waits_for_another)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUevent event = new_event();
    CUgraph second;
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&second, 0));
    CUgraphNode kernel = add_kernel(f.graph, add_gate(f.graph, NULL, &gate), f.put, f.data, 4, 0);
    add_record(f.graph, kernel, event);
    add_kernel(second, add_wait(second, NULL, event), f.mix, f.data, 10, 1);
    CUgraphExec exec = instantiate(f.graph), waiting = instantiate(second);
    OK(cuGraphLaunch(exec, f.stream));
    OK(cuGraphLaunch(waiting, other));
    gate_await(&gate);
    gate_open(&gate);
    OK(cuStreamSynchronize(other));
    T_EQ(word_at(f.data), 41);
    OK(cuStreamSynchronize(f.stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphExecDestroy(waiting));
    OK(cuGraphDestroy(second));
    OK(cuStreamDestroy_v2(other));
    OK(cuEventDestroy_v2(event));
    fixture_end(&f);
}

TEST(graph_events, a_record_and_a_wait_order_branches_of_one_graph)
{
    struct fixture f = fixture_begin();
    CUevent event = new_event();
    add_record(f.graph, add_kernel(f.graph, NULL, f.put, f.data, 2, 0), event);
    add_kernel(f.graph, add_wait(f.graph, NULL, event), f.mix, f.data, 10, 1);
    CUgraphExec exec = instantiate(f.graph);
    for (int i = 0; i < 50; i++) {
        run(exec, f.stream);
        T_EQ(word_at(f.data), 21);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy_v2(event));
    fixture_end(&f);
}

TEST(graph_events, an_event_never_recorded_holds_nothing)
{
    struct fixture f = fixture_begin();
    CUevent event = new_event();
    add_kernel(f.graph, add_wait(f.graph, NULL, event), f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 1);
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy_v2(event));
    fixture_end(&f);
}

TEST(graph_events, getters_and_setters)
{
    struct fixture f = fixture_begin();
    CUevent first = new_event(), second = new_event(), got = NULL;
    CUgraphNode record = add_record(f.graph, NULL, first), wait = add_wait(f.graph, NULL, first);
    CUgraphNodeType type;
    OK(cuGraphNodeGetType(record, &type));
    T_EQ(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    OK(cuGraphNodeGetType(wait, &type));
    T_EQ(type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    OK(cuGraphEventRecordNodeGetEvent(record, &got));
    T_ASSERT(got == first);
    OK(cuGraphEventWaitNodeSetEvent(wait, second));
    OK(cuGraphEventWaitNodeGetEvent(wait, &got));
    T_ASSERT(got == second);
    OK(cuGraphEventRecordNodeSetEvent(record, second));
    OK(cuGraphEventRecordNodeGetEvent(record, &got));
    T_ASSERT(got == second);
    REFUSED(cuGraphEventRecordNodeGetEvent(wait, &got));
    REFUSED(cuGraphEventWaitNodeSetEvent(record, first));
    REFUSED(cuGraphEventRecordNodeGetEvent(record, NULL));
    T_EQ(cuGraphEventRecordNodeSetEvent(record, (CUevent)&f), CUDA_ERROR_INVALID_HANDLE);
    REFUSED(cuGraphAddEventRecordNode(&record, f.graph, NULL, 0, NULL));
    OK(cuEventDestroy_v2(first));
    OK(cuEventDestroy_v2(second));
    fixture_end(&f);
}

TEST(graph_events, an_exec_setter_affects_later_launches_only)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUevent first = new_event(), second = new_event();
    CUgraphNode record = add_record(f.graph, add_gate(f.graph, NULL, &gate), first);
    CUgraphNode got_node = NULL;
    CUevent got;
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    OK(cuGraphExecEventRecordNodeSetEvent(exec, record, second));
    OK(cuEventQuery(second));
    T_EQ(cuEventQuery(first), CUDA_ERROR_NOT_READY);
    OK(cuGraphLaunch(exec, f.stream));
    T_EQ(cuEventQuery(second), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuEventSynchronize(first));
    OK(cuEventSynchronize(second));
    OK(cuGraphEventRecordNodeGetEvent(record, &got)); /* the graph's node stays */
    T_ASSERT(got == first);
    REFUSED(cuGraphExecEventWaitNodeSetEvent(exec, record, first));
    REFUSED(cuGraphExecEventRecordNodeSetEvent(exec, got_node, first));
    OK(cuStreamSynchronize(f.stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy_v2(first));
    OK(cuEventDestroy_v2(second));
    fixture_end(&f);
}

TEST(graph_events, the_generic_calls_take_events)
{
    struct fixture f = fixture_begin();
    CUevent first = new_event(), second = new_event(), got;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    CUgraphNode node;
    params.eventRecord.event = first;
    OK(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params));
    CUgraphExec exec = instantiate(f.graph);
    params.eventRecord.event = second;
    OK(cuGraphNodeSetParams(node, &params));
    OK(cuGraphEventRecordNodeGetEvent(node, &got));
    T_ASSERT(got == second);
    OK(cuGraphExecNodeSetParams(exec, node, &params));
    params.reserved2 = 1;
    REFUSED(cuGraphNodeSetParams(node, &params));
    run(exec, f.stream);
    OK(cuEventQuery(second));
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy_v2(first));
    OK(cuEventDestroy_v2(second));
    fixture_end(&f);
}

TEST(graph_events, a_destroyed_event_fails_the_launch)
{
    struct fixture f = fixture_begin();
    CUevent event = new_event();
    add_record(f.graph, NULL, event);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuEventDestroy_v2(event));
    REFUSED(cuGraphLaunch(exec, f.stream));
    CUevent other = new_event(); /* may well have the same handle value */
    REFUSED(cuGraphLaunch(exec, f.stream));
    OK(cuStreamSynchronize(f.stream));
    OK(cuEventDestroy_v2(other));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_events, exec_update_changes_events)
{
    struct fixture f = fixture_begin();
    CUevent first = new_event(), second = new_event();
    struct gate gate = {0};
    CUgraph newer;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&newer, 0));
    add_record(f.graph, add_gate(f.graph, NULL, &gate), first);
    add_record(newer, add_gate(newer, NULL, &gate), second);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphExecUpdate_v2(exec, newer, &info));
    OK(cuGraphLaunch(exec, f.stream));
    OK(cuEventQuery(first));
    T_EQ(cuEventQuery(second), CUDA_ERROR_NOT_READY);
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(newer));
    OK(cuEventDestroy_v2(first));
    OK(cuEventDestroy_v2(second));
    fixture_end(&f);
}

/* ---- branches ---- */

TEST(graph_events, branches_run_side_by_side)
{
    struct fixture f = fixture_begin();
    struct gate gates[4] = {0};
    CUgraphNode ends[4];
    /* Each gate opens only when all have been reached: one worker alone would stay in the first. */
    for (int i = 0; i < 4; i++)
        ends[i] = add_gate(f.graph, add_kernel(f.graph, NULL, f.put, f.data + 64 * i, i + 1, 0),
                           &gates[i]);
    CUgraphNode join = NULL;
    OK(cuGraphAddEmptyNode(&join, f.graph, ends, 4));
    add_kernel(f.graph, join, f.put, f.data + 512, 9, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    for (int i = 0; i < 4; i++)
        gate_await(&gates[i]);
    for (int i = 0; i < 4; i++)
        gate_open(&gates[i]);
    OK(cuStreamSynchronize(f.stream));
    for (int i = 0; i < 4; i++)
        T_EQ(word_at(f.data + 64 * i), i + 1);
    T_EQ(word_at(f.data + 512), 9);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_events, branches_in_child_graphs_run_side_by_side_and_end_together)
{
    struct fixture f = fixture_begin();
    struct gate gates[2] = {0};
    CUgraph child;
    CUgraphNode first = add_kernel(f.graph, NULL, f.put, f.data, 1, 0), node;
    OK(cuGraphCreate(&child, 0));
    for (int i = 0; i < 2; i++)
        add_kernel(child, add_gate(child, NULL, &gates[i]), f.put, f.data + 64 * (i + 1), 5, 0);
    OK(cuGraphAddChildGraphNode(&node, f.graph, &first, 1, child));
    add_kernel(f.graph, node, f.mix, f.data, 2, 3);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gates[0]);
    gate_await(&gates[1]);
    T_EQ(word_at(f.data), 1); /* what follows the child has not run */
    gate_open(&gates[0]);
    gate_open(&gates[1]);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 5);
    T_EQ(word_at(f.data + 64), 5);
    T_EQ(word_at(f.data + 128), 5);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(child));
    fixture_end(&f);
}

TEST(graph_events, empty_graphs_and_children_run)
{
    struct fixture f = fixture_begin();
    CUgraph child;
    CUgraphNode node;
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddChildGraphNode(&node, f.graph, NULL, 0, child));
    add_kernel(f.graph, node, f.put, f.data, 6, 0);
    exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 6);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(child));
    fixture_end(&f);
}

TEST(graph_events, a_launch_that_fails_holds_nobody)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUevent never = new_event(), event = new_event();
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    /* One branch waits for a stream that is held, the other one fails. */
    add_record(f.graph, add_wait(f.graph, NULL, never), event);
    add_kernel(f.graph, NULL, f.put, 64, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuLaunchHostFunc(other, gate_wait, &gate));
    OK(cuEventRecord(never, other));
    OK(cuGraphLaunch(exec, f.stream));
    T_EQ(cuEventSynchronize(event), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuStreamSynchronize(f.stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    gate_open(&gate);
}
