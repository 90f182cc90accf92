/* graph_exec.c: executable graphs: what a launch does, what a setter changes and what it does not,
 * who may be named, how launches of one exec follow each other. Results are read back from the
 * device. */
#include "tests/fake/graph_gate.h"

TEST(graph_exec, runs_nodes_in_the_order_of_the_edges)
{
    struct fixture f = fixture_begin();
    /* Created last first: only the edges give the order (((0 * 2 + 1) * 3) + 5) * 7. */
    CUgraphNode third = add_kernel(f.graph, NULL, f.mix, f.data, 7, 0);
    CUgraphNode second = add_kernel(f.graph, NULL, f.mix, f.data, 3, 5);
    CUgraphNode first = add_kernel(f.graph, NULL, f.mix, f.data, 2, 1);
    CUgraphNode from[3] = {first, first, second}, to[3] = {third, second, third};
    OK(cuGraphAddDependencies(f.graph, from, to, 3));
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 56);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, copies_fills_and_calls_the_host)
{
    struct fixture f = fixture_begin();
    unsigned out[8] = {0};
    struct gate gate = {.open = true};
    CUgraphNode fill, copy;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = f.data, .value = 0x01020304, .elementSize = 4, .width = 8, .height = 1};
    CUDA_MEMCPY3D move =
        copy_params(CU_MEMORYTYPE_HOST, (uintptr_t)out, CU_MEMORYTYPE_DEVICE, f.data, sizeof out);
    OK(cuGraphAddMemsetNode(&fill, f.graph, NULL, 0, &set, f.context));
    CUgraphNode kernel = add_kernel(f.graph, fill, f.mix, f.data, 2, 1);
    CUgraphNode barrier = add_empty(f.graph, kernel);
    OK(cuGraphAddMemcpyNode(&copy, f.graph, &barrier, 1, &move, f.context));
    add_gate(f.graph, copy, &gate);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(out[0], 0x02040609);
    T_EQ(out[7], 0x01020304);
    T_ASSERT(atomic_load(&gate.reached));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, a_pitched_copy_goes_row_by_row)
{
    struct fixture f = fixture_begin();
    unsigned char in[3][16], out[3][8] = {{0}};
    for (int i = 0; i < 48; i++)
        in[i / 16][i % 16] = (unsigned char)i;
    OK(cuMemcpyHtoD_v2(f.data, in, sizeof in));
    CUDA_MEMCPY3D copy =
        copy_params(CU_MEMORYTYPE_HOST, (uintptr_t)out, CU_MEMORYTYPE_DEVICE, f.data, 8);
    CUgraphNode node;
    copy.srcXInBytes = 4;
    copy.srcPitch = 16;
    copy.dstPitch = 8;
    copy.Height = 3;
    OK(cuGraphAddMemcpyNode(&node, f.graph, NULL, 0, &copy, f.context));
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    for (int row = 0; row < 3; row++)
        T_MEM_EQ(out[row], &in[row][4], 8);
    REFUSED(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, f.context)); /* 1-D only */
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, runs_child_graphs_in_place)
{
    struct fixture f = fixture_begin();
    CUgraph child, inner;
    OK(cuGraphCreate(&child, 0));
    CUgraphNode leaf = add_kernel(child, NULL, f.mix, f.data, 3, 5), node, inner_leaf;
    CUgraphNode first = add_kernel(f.graph, NULL, f.mix, f.data, 2, 1);
    OK(cuGraphAddChildGraphNode(&node, f.graph, &first, 1, child));
    add_kernel(f.graph, node, f.mix, f.data, 7, 0);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 56);

    /* Its nodes are named as they are in the node's graph, not in the one it was cloned from. */
    OK(cuGraphChildGraphNodeGetGraph(node, &inner));
    OK(cuGraphNodeFindInClone(&inner_leaf, leaf, inner));
    REFUSED(set_kernel(exec, leaf, f.put, f.data, 1, 0));
    OK(set_kernel(exec, inner_leaf, f.put, f.data, 1, 0));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 7);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(child));
    fixture_end(&f);
}

TEST(graph_exec, a_setter_changes_this_exec_only)
{
    struct fixture f = fixture_begin();
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph), other = instantiate(f.graph);
    CUDA_KERNEL_NODE_PARAMS got;
    OK(set_kernel(exec, node, f.put, f.data, 2, 0));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 2);
    run(other, f.stream);
    T_EQ(word_at(f.data), 1);
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    T_EQ(*(unsigned *)got.kernelParams[1], 1);
    OK(set_kernel(exec, node, f.mix, f.data, 10, 3)); /* another function, the same context */
    run(exec, f.stream);
    T_EQ(word_at(f.data), 13);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphExecDestroy(other));
    fixture_end(&f);
}

TEST(graph_exec, a_source_setter_changes_no_exec)
{
    struct fixture f = fixture_begin();
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    struct arguments arguments = {.p = f.data, .a = 2, .b = 0};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.put, &arguments);
    OK(cuGraphKernelNodeSetParams_v2(node, &params));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 1);
    CUgraphExec later = instantiate(f.graph);
    run(later, f.stream);
    T_EQ(word_at(f.data), 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphExecDestroy(later));
    fixture_end(&f);
}

TEST(graph_exec, a_setter_does_not_touch_launches_already_queued)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUgraphNode wait = add_gate(f.graph, NULL, &gate);
    CUgraphNode node = add_kernel(f.graph, wait, f.mix, f.data, 10, 1);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gate); /* the first is running */
    OK(set_kernel(exec, node, f.mix, f.data, 10, 2));
    OK(cuGraphLaunch(exec, f.stream)); /* the second is queued */
    OK(set_kernel(exec, node, f.mix, f.data, 10, 3));
    OK(cuGraphLaunch(exec, f.stream));
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 123);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, launches_on_two_streams_do_not_overlap)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUgraphNode wait = add_gate(f.graph, NULL, &gate);
    CUgraphNode node = add_kernel(f.graph, wait, f.mix, f.data, 10, 1);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gate);
    OK(set_kernel(exec, node, f.mix, f.data, 10, 2));
    OK(cuGraphLaunch(exec, other));
    OK(cuGraphUpload(exec, other));
    OK(set_kernel(exec, node, f.mix, f.data, 10, 3));
    OK(cuGraphLaunch(exec, f.stream));
    T_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY); /* waits for the first */
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    OK(cuStreamSynchronize(other));
    T_EQ(word_at(f.data), 123);
    OK(cuStreamDestroy_v2(other));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, execs_of_one_graph_may_overlap)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    add_gate(f.graph, NULL, &gate);
    CUgraphExec held = instantiate(f.graph);
    CUgraph plain;
    OK(cuGraphCreate(&plain, 0));
    add_kernel(plain, NULL, f.put, f.data, 4, 1);
    CUgraphExec free_one = instantiate(plain);
    OK(cuGraphLaunch(held, f.stream));
    gate_await(&gate);
    run(free_one, other);
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 5);
    OK(cuGraphExecDestroy(held));
    OK(cuGraphExecDestroy(free_one));
    OK(cuGraphDestroy(plain));
    OK(cuStreamDestroy_v2(other));
    fixture_end(&f);
}

TEST(graph_exec, destroying_a_running_exec_lets_it_finish)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUgraphNode wait = add_gate(f.graph, NULL, &gate);
    CUgraphNode node = add_kernel(f.graph, wait, f.mix, f.data, 10, 1);
    CUgraphExec exec = instantiate(f.graph), next;
    OK(cuGraphLaunch(exec, f.stream));
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gate);
    OK(cuGraphExecDestroy(exec));
    REFUSED(cuGraphLaunch(exec, f.stream));
    REFUSED(cuGraphExecDestroy(exec));
    REFUSED(set_kernel(exec, node, f.mix, f.data, 1, 1));
    next = instantiate(f.graph);
    T_PTR_EQ(next, exec); /* the value comes back at once */
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 11);
    OK(cuGraphExecDestroy(next));
    fixture_end(&f);
}

TEST(graph_exec, nodes_must_still_be_in_the_graph)
{
    struct fixture f = fixture_begin();
    CUgraph other;
    OK(cuGraphCreate(&other, 0));
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphNode stranger = add_kernel(other, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    CUgraphNode later = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    REFUSED(set_kernel(exec, NULL, f.put, f.data, 2, 0));
    REFUSED(set_kernel(NULL, node, f.put, f.data, 2, 0));
    REFUSED(set_kernel(exec, stranger, f.put, f.data, 2, 0));
    REFUSED(set_kernel(exec, later, f.put, f.data, 2, 0));
    OK(cuGraphDestroyNode(node));
    REFUSED(set_kernel(exec, node, f.put, f.data, 2, 0));
    CUgraphNode reused = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    T_PTR_EQ(reused, node); /* the same handle value, another node */
    REFUSED(set_kernel(exec, reused, f.put, f.data, 2, 0));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 1); /* the exec itself is whole */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_exec, nodes_of_a_destroyed_graph_are_unknown)
{
    struct fixture f = fixture_begin();
    CUgraph graph, again;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode node = add_kernel(graph, NULL, f.put, f.data, 3, 0);
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphDestroy(graph));
    REFUSED(set_kernel(exec, node, f.put, f.data, 2, 0));
    OK(cuGraphCreate(&again, 0));
    T_PTR_EQ(add_kernel(again, NULL, f.put, f.data, 3, 0), node);
    REFUSED(set_kernel(exec, node, f.put, f.data, 2, 0));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(again));
    fixture_end(&f);
}

TEST(graph_exec, a_refused_setter_changes_nothing)
{
    struct fixture f = fixture_begin();
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0), fill;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = f.data + 64, .value = 5, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&fill, f.graph, NULL, 0, &set, f.context));
    CUgraphExec exec = instantiate(f.graph);
    struct arguments arguments = {.p = f.data, .a = 2};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.put, &arguments);
    params.blockDimX = 4096;
    REFUSED(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    params.blockDimX = 1;
    params.extra = arguments.list;
    REFUSED(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    REFUSED(cuGraphExecKernelNodeSetParams_v2(exec, node, NULL));
    params.extra = NULL;
    REFUSED(cuGraphExecKernelNodeSetParams_v2(exec, fill, &params)); /* another kind */
    run(exec, f.stream);
    T_EQ(word_at(f.data), 1);
    T_EQ(word_at(f.data + 64), 5);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, the_context_of_a_function_cannot_change)
{
    struct fixture f = fixture_begin();
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    CUcontext other;
    CUmodule module;
    CUfunction put;
    OK(cuCtxCreate_v2(&other, 0, f.device));
    OK(cuModuleLoadData(&module, graph_ptx));
    OK(cuModuleGetFunction(&put, module, "put"));
    REFUSED(set_kernel(exec, node, put, f.data, 2, 0));
    OK(cuCtxSetCurrent(f.context));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 1);
    OK(cuCtxDestroy_v2(other));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, the_generic_setter_is_one_of_them)
{
    struct fixture f = fixture_begin();
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    struct arguments arguments = {.p = f.data, .a = 9};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(f.put, &arguments);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&params.kernel, &kernel, sizeof kernel);
    OK(cuGraphExecNodeSetParams(exec, node, &params));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 9);
    params.reserved2 = 1;
    REFUSED(cuGraphExecNodeSetParams(exec, node, &params));
    params = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMSET};
    REFUSED(cuGraphExecNodeSetParams(exec, node, &params));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, memcpy_operands_keep_their_kind)
{
    struct fixture f = fixture_begin();
    unsigned one = 11, two = 22;
    CUgraphNode node;
    CUDA_MEMCPY3D copy =
        copy_params(CU_MEMORYTYPE_DEVICE, f.data, CU_MEMORYTYPE_HOST, (uintptr_t)&one, sizeof one);
    OK(cuGraphAddMemcpyNode(&node, f.graph, NULL, 0, &copy, f.context));
    CUgraphExec exec = instantiate(f.graph);
    copy = copy_params(CU_MEMORYTYPE_DEVICE, f.data + 4, CU_MEMORYTYPE_HOST, (uintptr_t)&two,
                       sizeof two);
    OK(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, f.context));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 0);
    T_EQ(word_at(f.data + 4), 22);
    copy = copy_params(CU_MEMORYTYPE_DEVICE, f.data, CU_MEMORYTYPE_DEVICE, f.data + 4, 4);
    REFUSED(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, f.context));
    copy = copy_params(CU_MEMORYTYPE_DEVICE, f.data, CU_MEMORYTYPE_HOST, (uintptr_t)&one, 0);
    REFUSED(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, f.context)); /* zero length */
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, memset_keeps_its_dimensions)
{
    struct fixture f = fixture_begin();
    CUgraphNode flat, tall;
    CUDA_MEMSET_NODE_PARAMS one = {
        .dst = f.data, .value = 1, .elementSize = 4, .width = 1, .height = 1};
    CUDA_MEMSET_NODE_PARAMS two = {
        .dst = f.data + 1024, .value = 2, .elementSize = 4, .width = 1, .height = 2, .pitch = 64};
    OK(cuGraphAddMemsetNode(&flat, f.graph, NULL, 0, &one, f.context));
    OK(cuGraphAddMemsetNode(&tall, f.graph, NULL, 0, &two, f.context));
    CUgraphExec exec = instantiate(f.graph);
    one.value = 3;
    one.dst += 4;
    two.value = 4;
    OK(cuGraphExecMemsetNodeSetParams(exec, flat, &one, f.context));
    OK(cuGraphExecMemsetNodeSetParams(exec, tall, &two, f.context));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 0);
    T_EQ(word_at(f.data + 4), 3);
    T_EQ(word_at(f.data + 1024 + 64), 4);
    one.height = 2;
    one.pitch = 64;
    REFUSED(cuGraphExecMemsetNodeSetParams(exec, flat, &one, f.context));
    two.width = 2;
    REFUSED(cuGraphExecMemsetNodeSetParams(exec, tall, &two, f.context));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_exec, a_disabled_node_does_nothing_and_keeps_its_parameters)
{
    struct fixture f = fixture_begin();
    CUgraphNode node = add_kernel(f.graph, NULL, f.mix, f.data, 1, 1), empty;
    empty = add_empty(f.graph, node);
    CUgraphExec exec = instantiate(f.graph);
    unsigned enabled = 0;
    OK(cuGraphNodeGetEnabled(exec, node, &enabled));
    T_EQ(enabled, 1);
    OK(cuGraphNodeSetEnabled(exec, node, 0));
    OK(cuGraphNodeGetEnabled(exec, node, &enabled));
    T_EQ(enabled, 0);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 0);
    OK(set_kernel(exec, node, f.mix, f.data, 1, 5));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 0); /* a setter does not enable it */
    OK(cuGraphNodeSetEnabled(exec, node, 7));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 5);
    REFUSED(cuGraphNodeSetEnabled(exec, empty, 0)); /* only kernel, memcpy and memset nodes */
    REFUSED(cuGraphNodeGetEnabled(exec, node, NULL));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

/* On a GPU the code is gone as well; what such a launch does there is not defined. */
TEST(graph_exec, a_function_that_was_unloaded_does_not_run)
{
    struct fixture f = fixture_begin();
    CUmodule module;
    CUfunction put;
    OK(cuModuleLoadData(&module, graph_ptx));
    OK(cuModuleGetFunction(&put, module, "put"));
    add_kernel(f.graph, NULL, put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuModuleUnload(module));
    OK(cuGraphLaunch(exec, f.stream));
    T_NE(cuStreamSynchronize(f.stream), CUDA_SUCCESS);
}

/* The launch behind a failed one is dropped, on whatever stream it waits. */
TEST(graph_exec, an_illegal_address_ends_the_context_and_hangs_nobody)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUgraphNode wait = add_gate(f.graph, NULL, &gate);
    add_kernel(f.graph, wait, f.put, 0x10, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gate);
    OK(cuGraphLaunch(exec, other));
    OK(cuGraphLaunch(exec, f.stream));
    gate_open(&gate);
    T_EQ(cuStreamSynchronize(f.stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuStreamSynchronize(other), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuGraphLaunch(exec, f.stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* A kernel that is running ends first; those behind it are gone, which ends the graph's context. */
TEST(graph_exec, a_context_may_end_under_a_graph_of_another)
{
    struct fixture f = fixture_begin();
    struct gate gate = {false, false};
    CUgraphNode node = add_gate(f.graph, NULL, &gate);
    CUcontext other;
    CUmodule module;
    CUfunction nothing;
    OK(cuCtxCreate_v2(&other, 0, f.device));
    OK(cuModuleLoadData(&module, graph_ptx));
    OK(cuModuleGetFunction(&nothing, module, "nothing"));
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(nothing, NULL);
    for (unsigned i = 0; i < 8; i++)
        OK(cuGraphAddKernelNode_v2(&node, f.graph, &node, 1, &kernel));
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuGraphLaunch(instantiate(f.graph), f.stream));
    gate_await(&gate);
    OK(cuCtxDestroy_v2(other));
    gate_open(&gate);
    T_EQ(cuStreamSynchronize(f.stream), CUDA_ERROR_INVALID_PC);
}
