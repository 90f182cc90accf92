/* graph_conditional.c: conditional nodes: their bodies, which one runs, values set by kernels, what
 * a body may hold, and what such graphs refuse. */
#include "tests/fake/graph_fixture.h"

/* decide: sets the condition to *p. count_down: *p -= 1, and sets the condition to it. */
static const char decide_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry decide(.param .u64 h, .param .u64 p) {\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [h]; ld.param.u64 %rd2, [p];\n"
    "cvta.to.global.u64 %rd3, %rd2; ld.global.u32 %r1, [%rd3];\n"
    "{ .param .b64 param0; st.param.b64 [param0], %rd1;\n"
    ".param .b32 param1; st.param.b32 [param1], %r1;\n"
    "call.uni cudaGraphSetConditional, (param0, param1); }\n"
    "ret; }\n"
    ".visible .entry count_down(.param .u64 h, .param .u64 p) {\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [h]; ld.param.u64 %rd2, [p];\n"
    "cvta.to.global.u64 %rd3, %rd2; ld.global.u32 %r1, [%rd3];\n"
    "add.u32 %r2, %r1, -1; st.global.u32 [%rd3], %r2;\n"
    "{ .param .b64 param0; st.param.b64 [param0], %rd1;\n"
    ".param .b32 param1; st.param.b32 [param1], %r2;\n"
    "call.uni cudaGraphSetConditional, (param0, param1); }\n"
    "ret; }\n";

struct deciders {
    CUmodule module;
    CUfunction decide, count_down;
};

static struct deciders load(void)
{
    struct deciders d;
    OK(cuModuleLoadData(&d.module, decide_ptx));
    OK(cuModuleGetFunction(&d.decide, d.module, "decide"));
    OK(cuModuleGetFunction(&d.count_down, d.module, "count_down"));
    return d;
}

static CUgraphNode add_decider(CUgraph graph, CUgraphNode after, CUfunction function,
                               CUgraphConditionalHandle handle, CUdeviceptr p)
{
    void *list[2] = {&handle, &p};
    CUDA_KERNEL_NODE_PARAMS params = {function, 1, 1, 1, 1, 1, 1, 0, list, NULL, NULL, NULL};
    CUgraphNode node = NULL;
    OK(cuGraphAddKernelNode_v2(&node, graph, &after, after != NULL, &params));
    return node;
}

static CUgraphConditionalHandle new_handle(struct fixture *f, CUgraph graph, unsigned value,
                                           unsigned flags)
{
    CUgraphConditionalHandle handle = 0;
    OK(cuGraphConditionalHandleCreate(&handle, graph, f->context, value, flags));
    return handle;
}

static CUgraphNodeParams condition_params(struct fixture *f, CUgraphConditionalHandle handle,
                                          CUgraphConditionalNodeType type, unsigned size)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = f->context;
    return params;
}

/* Adds the node; its bodies are the node's own array. */
static CUgraph *add_condition(struct fixture *f, CUgraph graph, CUgraphNode after,
                              CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                              unsigned size, CUgraphNode *out)
{
    CUgraphNodeParams params = condition_params(f, handle, type, size);
    OK(cuGraphAddNode_v2(out, graph, &after, NULL, after != NULL, &params));
    T_ASSERT(params.conditional.phGraph_out != NULL);
    return params.conditional.phGraph_out;
}

/* f.data + 64 gets what the node has run, with a default of `value`. */
static unsigned outcome(CUgraphConditionalNodeType type, unsigned size, unsigned value)
{
    struct fixture f = fixture_begin();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, value, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode node;
    CUgraph *bodies = add_condition(&f, f.graph, NULL, handle, type, size, &node);
    for (unsigned i = 0; i < size; i++)
        add_kernel(bodies[i], NULL, f.put, f.data + 64, 100 + i, 0);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    unsigned result = word_at(f.data + 64);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
    return result;
}

TEST(graph_conditional, the_default_value_decides)
{
    T_EQ(outcome(CU_GRAPH_COND_TYPE_IF, 1, 1), 100);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_IF, 1, 7), 100);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_IF, 1, 0), 0);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_IF, 2, 1), 100);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_IF, 2, 0), 101);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_WHILE, 1, 0), 0);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_SWITCH, 3, 0), 100);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_SWITCH, 3, 2), 102);
    T_EQ(outcome(CU_GRAPH_COND_TYPE_SWITCH, 3, 3), 0);
}

TEST(graph_conditional, a_kernel_decides)
{
    struct fixture f = fixture_begin();
    struct deciders d = load();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, 0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode node, first = add_decider(f.graph, NULL, d.decide, handle, f.data);
    CUgraph *bodies =
        add_condition(&f, f.graph, first, handle, CU_GRAPH_COND_TYPE_SWITCH, 2, &node);
    add_kernel(bodies[0], NULL, f.put, f.data + 64, 10, 0);
    add_kernel(bodies[1], NULL, f.put, f.data + 64, 11, 0);
    add_kernel(f.graph, node, f.mix, f.data + 64, 2, 1);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data + 64), 21);
    OK(cuMemsetD32_v2(f.data, 1, 1));
    OK(cuCtxSynchronize());
    run(exec, f.stream);
    T_EQ(word_at(f.data + 64), 23);
    OK(cuMemsetD32_v2(f.data, 9, 1));
    OK(cuCtxSynchronize());
    run(exec, f.stream);
    T_EQ(word_at(f.data + 64), 47);
    OK(cuGraphExecDestroy(exec));
    OK(cuModuleUnload(d.module));
    fixture_end(&f);
}

TEST(graph_conditional, a_while_loop_runs_until_a_kernel_ends_it)
{
    struct fixture f = fixture_begin();
    struct deciders d = load();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode node;
    CUgraph *bodies = add_condition(&f, f.graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &node);
    CUgraphNode step = add_kernel(bodies[0], NULL, f.mix, f.data + 64, 1, 1);
    add_decider(bodies[0], step, d.count_down, handle, f.data);
    CUgraphExec exec = instantiate(f.graph);
    for (unsigned i = 1; i <= 3; i++) { /* the default starts each launch anew */
        OK(cuMemsetD32_v2(f.data, 10, 1));
        OK(cuCtxSynchronize());
        run(exec, f.stream);
        T_EQ(word_at(f.data), 0);
        T_EQ(word_at(f.data + 64), 10 * i);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuModuleUnload(d.module));
    fixture_end(&f);
}

TEST(graph_conditional, bodies_nest)
{
    struct fixture f = fixture_begin();
    struct deciders d = load();
    CUgraphConditionalHandle outer = new_handle(&f, f.graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphConditionalHandle inner = new_handle(&f, f.graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode node, choice;
    CUgraph *loop = add_condition(&f, f.graph, NULL, outer, CU_GRAPH_COND_TYPE_WHILE, 1, &node);
    /* A handle may be used in a graph inside the one it was made for. */
    CUgraphNode decide = add_decider(loop[0], NULL, d.decide, inner, f.data);
    CUgraph *bodies = add_condition(&f, loop[0], decide, inner, CU_GRAPH_COND_TYPE_IF, 1, &choice);
    add_kernel(bodies[0], NULL, f.mix, f.data + 64, 1, 1);
    add_decider(loop[0], choice, d.count_down, outer, f.data);
    add_kernel(f.graph, node, f.mix, f.data + 64, 10, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuMemsetD32_v2(f.data, 5, 1));
    OK(cuCtxSynchronize());
    run(exec, f.stream);
    T_EQ(word_at(f.data + 64), 50);
    OK(cuGraphExecDestroy(exec));
    OK(cuModuleUnload(d.module));
    fixture_end(&f);
}

TEST(graph_conditional, a_body_may_hold_children_and_be_captured_into)
{
    struct fixture f = fixture_begin();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNode node, child_node;
    CUgraph child, captured;
    CUstream stream;
    CUgraph *bodies = add_condition(&f, f.graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &node);
    OK(cuGraphCreate(&child, 0));
    add_kernel(child, add_kernel(child, NULL, f.put, f.data, 3, 0), f.mix, f.data, 2, 1);
    OK(cuGraphAddChildGraphNode(&child_node, bodies[0], NULL, 0, child));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCaptureToGraph(stream, bodies[0], &child_node, NULL, 1,
                                   CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemsetD32Async(f.data + 64, 8, 1, stream));
    OK(cuStreamEndCapture(stream, &captured));
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 7);
    T_EQ(word_at(f.data + 64), 8);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(child));
    OK(cuStreamDestroy_v2(stream));
    fixture_end(&f);
}

static void CUDA_CB nothing(void *data)
{
}

TEST(graph_conditional, a_body_refuses_other_kinds)
{
    struct fixture f = fixture_begin();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, 1, 0);
    CUDA_HOST_NODE_PARAMS host = {.fn = nothing};
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {.bytesize = 64};
    CUgraphNode node, other;
    CUgraph child;
    CUevent event;
    CUgraph *bodies = add_condition(&f, f.graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &node);
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    T_EQ(cuGraphAddHostNode(&other, bodies[0], NULL, 0, &host), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphAddEventRecordNode(&other, bodies[0], NULL, 0, event), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphAddMemAllocNode(&other, bodies[0], NULL, 0, &alloc), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddHostNode(&other, child, NULL, 0, &host));
    T_EQ(cuGraphAddChildGraphNode(&other, bodies[0], NULL, 0, child), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuEventDestroy_v2(event));
    OK(cuGraphDestroy(child));
    fixture_end(&f);
}

TEST(graph_conditional, parameters_are_checked)
{
    struct fixture f = fixture_begin();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, 1, 0), out;
    CUgraphNodeParams params;
    CUgraphNode node;
    CUgraph other;
    OK(cuGraphCreate(&other, 0));
    REFUSED(cuGraphConditionalHandleCreate(&out, f.graph, f.context, 0, 2));
    REFUSED(cuGraphConditionalHandleCreate(NULL, f.graph, f.context, 0, 0));
    REFUSED(cuGraphConditionalHandleCreate(&out, NULL, f.context, 0, 0));
    static const struct {
        CUgraphConditionalNodeType type;
        unsigned size;
    } bad[] = {{CU_GRAPH_COND_TYPE_IF, 0},
               {CU_GRAPH_COND_TYPE_IF, 3},
               {CU_GRAPH_COND_TYPE_WHILE, 2},
               {CU_GRAPH_COND_TYPE_SWITCH, 0},
               {(CUgraphConditionalNodeType)3, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        params = condition_params(&f, handle, bad[i].type, bad[i].size);
        REFUSED(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params));
    }
    params = condition_params(&f, handle + 1000, CU_GRAPH_COND_TYPE_IF, 1);
    REFUSED(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params));
    params = condition_params(&f, handle, CU_GRAPH_COND_TYPE_IF, 1);
    REFUSED(cuGraphAddNode_v2(&node, other, NULL, NULL, 0, &params)); /* another graph's */
    OK(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params));
    params = condition_params(&f, handle, CU_GRAPH_COND_TYPE_IF, 1);
    REFUSED(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params)); /* it has its node */
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_conditional, an_unused_handle_fails_the_instantiation)
{
    struct fixture f = fixture_begin();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, 1, 0);
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {0};
    CUgraphExec exec;
    CUgraphNode node;
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &how));
    T_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
    add_condition(&f, f.graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &node);
    OK(cuGraphInstantiateWithParams(&exec, f.graph, &how));
    T_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    OK(cuGraphExecDestroy(exec));
    how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &how));
    T_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    T_ASSERT(how.hErrNode_out == node);
    fixture_end(&f);
}

TEST(graph_conditional, such_graphs_are_not_cloned_and_keep_their_nodes_parameters)
{
    struct fixture f = fixture_begin();
    CUgraphConditionalHandle handle = new_handle(&f, f.graph, 1, 0);
    CUgraphNodeParams params = condition_params(&f, handle, CU_GRAPH_COND_TYPE_IF, 1);
    CUgraphNodeParams move = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUgraphNode node, other_node;
    CUgraph other;
    add_condition(&f, f.graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &node);
    CUgraphExec exec = instantiate(f.graph);
    T_EQ(cuGraphClone(&other, f.graph), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuGraphCreate(&other, 0));
    T_EQ(cuGraphAddChildGraphNode(&other_node, other, NULL, 0, f.graph), CUDA_ERROR_NOT_SUPPORTED);
    move.graph.graph = f.graph;
    move.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    T_EQ(cuGraphAddNode_v2(&other_node, other, NULL, NULL, 0, &move), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphNodeSetParams(node, &params), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphExecNodeSetParams(exec, node, &params), CUDA_ERROR_NOT_SUPPORTED);
    REFUSED(cuGraphNodeSetEnabled(exec, node, 0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_conditional, nodes_of_bodies_are_updated)
{
    struct fixture f = fixture_begin();
    struct fixture *g = &f;
    CUgraph newer, graphs[2];
    CUgraphNode leaves[2], node;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&newer, 0));
    graphs[0] = f.graph;
    graphs[1] = newer;
    for (unsigned i = 0; i < 2; i++) { /* the second one's default runs its else body */
        CUgraphConditionalHandle handle =
            new_handle(g, graphs[i], 1 - i, CU_GRAPH_COND_ASSIGN_DEFAULT);
        CUgraph *bodies =
            add_condition(g, graphs[i], NULL, handle, CU_GRAPH_COND_TYPE_IF, 2, &node);
        leaves[i] = add_kernel(bodies[0], NULL, f.put, f.data, 10 + i, 0);
        add_kernel(bodies[1], NULL, f.put, f.data, 20 + i, 0);
    }
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 10);
    OK(set_kernel(exec, leaves[0], f.put, f.data, 15, 0));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 15);
    OK(cuGraphExecUpdate_v2(exec, newer, &info));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 21); /* default values are updated too */
    OK(cuGraphDestroy(newer));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 21);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_conditional, an_update_does_not_change_the_node)
{
    struct fixture f = fixture_begin();
    CUgraph newer;
    CUgraphNode node;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&newer, 0));
    add_condition(&f, f.graph, NULL, new_handle(&f, f.graph, 1, 0), CU_GRAPH_COND_TYPE_IF, 1,
                  &node);
    add_condition(&f, newer, NULL, new_handle(&f, newer, 0, 0), CU_GRAPH_COND_TYPE_WHILE, 1, &node);
    CUgraphExec exec = instantiate(f.graph);
    T_EQ(cuGraphExecUpdate_v2(exec, newer, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    T_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    T_ASSERT(info.errorNode == node);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(newer));
    fixture_end(&f);
}
