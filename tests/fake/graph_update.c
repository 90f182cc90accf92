/* graph_update.c: cuGraphExecUpdate in both forms: what it takes over, what it refuses and why, and
 * that a refusal leaves the exec as it was. */
#include "tests/fake/graph_gate.h"

/* Two kernels in a row: *p = (*p * a + b) * 10 + c. */
static CUgraph two_kernels(const struct fixture *f, unsigned a, unsigned b, unsigned c)
{
    CUgraph graph;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode first = add_kernel(graph, NULL, f->mix, f->data, a, b);
    add_kernel(graph, first, f->mix, f->data, 10, c);
    return graph;
}

/* Updates from `graph`, which must fail so. */
static CUgraphExecUpdateResultInfo refused(CUgraphExec exec, CUgraph graph,
                                           CUgraphExecUpdateResult result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    T_EQ(cuGraphExecUpdate_v2(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    T_EQ(info.result, result);
    return info;
}

TEST(graph_update, takes_over_parameters)
{
    struct fixture f = fixture_begin();
    CUgraph graph = two_kernels(&f, 0, 1, 2), next = two_kernels(&f, 0, 3, 4);
    CUgraphExec exec = instantiate(graph);
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    OK(cuGraphExecUpdate_v2(exec, next, &info));
    T_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    T_NULL(info.errorNode);
    OK(cuGraphDestroy(next)); /* the exec does not need it any more */
    run(exec, f.stream);
    T_EQ(word_at(f.data), 34);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}

TEST(graph_update, the_first_version_has_four_arguments)
{
    struct fixture f = fixture_begin();
    CUgraph graph = two_kernels(&f, 0, 1, 2), next = two_kernels(&f, 0, 3, 4);
    CUgraphExec exec = instantiate(graph);
    CUgraphNode error = (CUgraphNode)&f;
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
    OK(cuGraphExecUpdate(exec, next, &error, &result));
    T_EQ(result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    T_NULL(error);
    CUgraphNode extra = add_empty(next, NULL);
    T_EQ(cuGraphExecUpdate(exec, next, &error, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    T_EQ(result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphDestroyNode(extra));
    REFUSED(cuGraphExecUpdate(exec, NULL, &error, &result));
    T_EQ(result, CU_GRAPH_EXEC_UPDATE_ERROR);
    REFUSED(cuGraphExecUpdate(NULL, next, &error, &result));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, nodes_keep_the_names_of_the_first_graph)
{
    struct fixture f = fixture_begin();
    CUgraph next;
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&next, 0));
    CUgraphNode other = add_kernel(next, NULL, f.put, f.data, 2, 0);
    OK(cuGraphExecUpdate_v2(exec, next, &info));
    REFUSED(set_kernel(exec, other, f.put, f.data, 3, 0));
    OK(set_kernel(exec, node, f.put, f.data, 4, 0));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 4);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, another_topology_is_refused)
{
    struct fixture f = fixture_begin();
    CUgraph graph = two_kernels(&f, 0, 1, 2), next = two_kernels(&f, 0, 5, 6);
    CUgraphExec exec = instantiate(graph);
    CUgraphNode nodes[2];
    size_t count = 2;
    OK(cuGraphGetNodes(next, nodes, &count));

    CUgraphNode extra = add_empty(next, NULL); /* another count of nodes */
    T_NULL(refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED).errorNode);
    OK(cuGraphDestroyNode(extra));

    OK(cuGraphRemoveDependencies(next, &nodes[0], &nodes[1], 1)); /* a missing edge */
    T_PTR_EQ(refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED).errorNode, nodes[1]);

    OK(cuGraphAddDependencies(next, &nodes[1], &nodes[0], 1)); /* the other way round */
    refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

    run(exec, f.stream); /* as it was */
    T_EQ(word_at(f.data), 12);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, a_dependency_on_another_node_is_named)
{
    struct fixture f = fixture_begin();
    CUgraph next;
    CUgraphNode a = add_empty(f.graph, NULL);
    add_empty(f.graph, NULL);
    add_empty(f.graph, a);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphCreate(&next, 0));
    add_empty(next, NULL);
    CUgraphNode b = add_empty(next, NULL), c = add_empty(next, b);
    CUgraphExecUpdateResultInfo info =
        refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    T_PTR_EQ(info.errorNode, c);
    T_PTR_EQ(info.errorFromNode, b);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, another_type_is_refused_and_nothing_changes)
{
    struct fixture f = fixture_begin();
    CUgraph graph = two_kernels(&f, 0, 1, 2), next;
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphCreate(&next, 0));
    CUgraphNode first = add_kernel(next, NULL, f.mix, f.data, 0, 7),
                second = add_empty(next, first);
    T_PTR_EQ(refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED).errorNode, second);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 12); /* the first node did not change either */
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, another_context_is_an_unsupported_function_change)
{
    struct fixture f = fixture_begin();
    CUgraph next;
    CUcontext other;
    CUmodule module;
    CUfunction put;
    add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuCtxCreate_v2(&other, 0, f.device));
    OK(cuModuleLoadData(&module, graph_ptx));
    OK(cuModuleGetFunction(&put, module, "put"));
    OK(cuGraphCreate(&next, 0));
    CUgraphNode node = add_kernel(next, NULL, put, f.data, 2, 0);
    T_PTR_EQ(refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE).errorNode,
             node);
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxSetCurrent(f.context));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, operands_of_another_kind_are_parameters_changed)
{
    struct fixture f = fixture_begin();
    unsigned host = 3;
    CUgraph next;
    CUgraphNode node;
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMCPY3D copy =
        copy_params(CU_MEMORYTYPE_DEVICE, f.data, CU_MEMORYTYPE_HOST, (uintptr_t)&host, 4);
    OK(cuGraphAddMemcpyNode(&node, f.graph, NULL, 0, &copy, f.context));
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphCreate(&next, 0));
    CUDA_MEMCPY3D other =
        copy_params(CU_MEMORYTYPE_DEVICE, f.data, CU_MEMORYTYPE_DEVICE, f.data + 64, 4);
    OK(cuGraphAddMemcpyNode(&node, next, NULL, 0, &other, f.context));
    T_PTR_EQ(refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED).errorNode, node);
    copy.dstDevice = f.data + 8;
    OK(cuGraphMemcpyNodeSetParams(node, &copy));
    OK(cuGraphExecUpdate_v2(exec, next, &info));
    run(exec, f.stream);
    T_EQ(word_at(f.data + 8), 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, attributes_that_cannot_change)
{
    struct fixture f = fixture_begin();
    CUgraph next;
    CUgraphExec exec, by_priority;
    CUgraphExecUpdateResultInfo info;
    add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    exec = instantiate(f.graph);
    OK(cuGraphInstantiateWithFlags(&by_priority, f.graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    OK(cuGraphCreate(&next, 0));
    CUgraphNode node = add_kernel(next, NULL, f.put, f.data, 2, 0);
    CUkernelNodeAttrValue value = {.priority = -1};
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    OK(cuGraphExecUpdate_v2(exec, next, &info)); /* matters only to the other exec */
    T_PTR_EQ(refused(by_priority, next, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED).errorNode,
             node);
    value = (CUkernelNodeAttrValue){.cooperative = 1};
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    refused(exec, next, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphExecDestroy(by_priority));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, device_updatable_nodes_are_refused_on_either_side)
{
    struct fixture f = fixture_begin();
    CUgraph next;
    add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec plain = instantiate(f.graph);
    OK(cuGraphCreate(&next, 0));
    CUgraphNode node = add_kernel(next, NULL, f.put, f.data, 2, 0);
    CUkernelNodeAttrValue value = {.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                     &value));
    refused(plain, next, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    CUgraphExec updatable = instantiate(next);
    refused(updatable, f.graph, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    OK(cuGraphExecDestroy(plain));
    OK(cuGraphExecDestroy(updatable));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, a_disabled_node_stays_disabled)
{
    struct fixture f = fixture_begin();
    CUgraph next;
    CUgraphExecUpdateResultInfo info;
    unsigned enabled = 1;
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphNodeSetEnabled(exec, node, 0));
    OK(cuGraphCreate(&next, 0));
    add_kernel(next, NULL, f.put, f.data, 2, 0);
    OK(cuGraphExecUpdate_v2(exec, next, &info));
    OK(cuGraphNodeGetEnabled(exec, node, &enabled));
    T_EQ(enabled, 0);
    OK(cuGraphNodeSetEnabled(exec, node, 1));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, goes_into_child_graphs)
{
    struct fixture f = fixture_begin();
    CUgraph child = two_kernels(&f, 0, 1, 2), changed = two_kernels(&f, 0, 3, 4), next;
    CUgraphExecUpdateResultInfo info;
    CUgraphNode node, other;
    OK(cuGraphAddChildGraphNode(&node, f.graph, NULL, 0, child));
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphCreate(&next, 0));
    OK(cuGraphAddChildGraphNode(&other, next, NULL, 0, changed));
    OK(cuGraphExecUpdate_v2(exec, next, &info));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 34);
    OK(cuGraphExecChildGraphNodeSetParams(exec, node, child));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 12);
    add_empty(changed, NULL);
    REFUSED(cuGraphExecChildGraphNodeSetParams(exec, node, changed));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 12);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(child));
    OK(cuGraphDestroy(changed));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}

TEST(graph_update, launches_already_queued_are_not_affected)
{
    struct fixture f = fixture_begin();
    struct gate gate = {0};
    CUgraph next;
    CUgraphExecUpdateResultInfo info;
    CUgraphNode wait = add_gate(f.graph, NULL, &gate);
    add_kernel(f.graph, wait, f.mix, f.data, 10, 1);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphClone(&next, f.graph));
    CUgraphNode nodes[2];
    size_t count = 2;
    OK(cuGraphGetNodes(next, nodes, &count));
    struct arguments arguments = {.p = f.data, .a = 10, .b = 2};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.mix, &arguments);
    OK(cuGraphKernelNodeSetParams_v2(nodes[1], &params));
    OK(cuGraphLaunch(exec, f.stream));
    gate_await(&gate);
    OK(cuGraphExecUpdate_v2(exec, next, &info));
    OK(cuGraphLaunch(exec, f.stream));
    gate_open(&gate);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 12);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(next));
    fixture_end(&f);
}
