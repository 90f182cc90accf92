/* graph_shape.c: nodes and edges of a graph as cuda.h describes the calls that make, list, join,
 * clone and destroy them. Nothing runs here. */
#include "tests/fake/graph_fixture.h"

TEST(graph_shape, null_and_unknown_handles_are_refused)
{
    struct fixture f = fixture_begin();
    size_t count = 0;
    CUgraphNode node;
    CUgraphNodeType type;
    REFUSED(cuGraphCreate(NULL, 0));
    REFUSED(cuGraphCreate(&f.graph, 1));
    REFUSED(cuGraphDestroy(NULL));
    REFUSED(cuGraphDestroyNode(NULL));
    REFUSED(cuGraphGetNodes(NULL, NULL, &count));
    REFUSED(cuGraphGetNodes(f.graph, NULL, NULL));
    REFUSED(cuGraphNodeGetType(NULL, &type));
    REFUSED(cuGraphNodeGetType((CUgraphNode)f.graph, &type));
    REFUSED(cuGraphAddEmptyNode(NULL, f.graph, NULL, 0));
    REFUSED(cuGraphAddEmptyNode(&node, NULL, NULL, 0));
    REFUSED(cuGraphAddEmptyNode(&node, f.graph, NULL, 1));
    fixture_end(&f);
}

TEST(graph_shape, calls_before_cuInit_are_not_initialised)
{
    CUgraph graph;
    T_EQ(cuGraphCreate(&graph, 0), CUDA_ERROR_NOT_INITIALIZED);
    T_EQ(cuGraphDestroy(NULL), CUDA_ERROR_NOT_INITIALIZED);
    T_EQ(cuGraphLaunch(NULL, NULL), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(graph_shape, lists_nodes_roots_and_neighbours)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_empty(f.graph, NULL), b = add_empty(f.graph, a), c = add_empty(f.graph, a);
    CUgraphNode both[2] = {b, c}, d, list[8];
    size_t count = 0;
    OK(cuGraphAddEmptyNode(&d, f.graph, both, 2));

    OK(cuGraphGetNodes(f.graph, NULL, &count));
    T_EQ(count, 4);
    count = 8;
    OK(cuGraphGetNodes(f.graph, list, &count));
    T_EQ(count, 4);
    T_PTR_EQ(list[0], a);
    T_PTR_EQ(list[3], d);
    T_NULL(list[4]);
    T_NULL(list[7]);
    count = 1;
    OK(cuGraphGetNodes(f.graph, list, &count));
    T_EQ(count, 1);

    count = 8;
    OK(cuGraphGetRootNodes(f.graph, list, &count));
    T_EQ(count, 1);
    T_PTR_EQ(list[0], a);
    count = 8;
    OK(cuGraphNodeGetDependencies(d, list, &count));
    T_EQ(count, 2);
    T_PTR_EQ(list[0], b);
    T_PTR_EQ(list[1], c);
    count = 8;
    OK(cuGraphNodeGetDependentNodes(a, list, &count));
    T_EQ(count, 2);
    T_PTR_EQ(list[0], b);
    OK(cuGraphNodeGetDependencies(a, NULL, &count));
    T_EQ(count, 0);
    fixture_end(&f);
}

TEST(graph_shape, lists_edges)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_empty(f.graph, NULL), b = add_empty(f.graph, a), from[4], to[4];
    CUgraphEdgeData data[4];
    size_t count = 4;
    OK(cuGraphGetEdges(f.graph, from, to, &count));
    T_EQ(count, 1);
    T_PTR_EQ(from[0], a);
    T_PTR_EQ(to[0], b);
    T_NULL(from[1]);
    T_NULL(to[3]);
    count = 4;
    OK(cuGraphGetEdges_v2(f.graph, from, to, data, &count));
    T_EQ(data[0].type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    OK(cuGraphGetEdges(f.graph, NULL, NULL, &count));
    T_EQ(count, 1);
    REFUSED(cuGraphGetEdges(f.graph, from, NULL, &count));
    REFUSED(cuGraphGetEdges_v2(f.graph, NULL, NULL, data, &count));
    fixture_end(&f);
}

TEST(graph_shape, edges_with_data_need_room_for_it)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_kernel(f.graph, NULL, f.mix, f.data, 1, 1);
    CUgraphNode b = add_kernel(f.graph, NULL, f.mix, f.data, 1, 1), list[2], to[2];
    CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                            .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraphEdgeData bad = {.to_port = 1}, data[2];
    size_t count = 2;
    REFUSED(cuGraphAddDependencies_v2(f.graph, &a, &b, &bad, 1));
    OK(cuGraphAddDependencies_v2(f.graph, &a, &b, &edge, 1));
    T_EQ(cuGraphGetEdges(f.graph, list, to, &count), CUDA_ERROR_LOSSY_QUERY);
    T_EQ(cuGraphNodeGetDependencies(b, list, &count), CUDA_ERROR_LOSSY_QUERY);
    T_EQ(cuGraphNodeGetDependentNodes(a, list, &count), CUDA_ERROR_LOSSY_QUERY);
    OK(cuGraphNodeGetDependencies(b, NULL, &count));
    T_EQ(count, 1);
    count = 2;
    OK(cuGraphNodeGetDependencies_v2(b, list, data, &count));
    T_MEM_EQ(&data[0], &edge, sizeof edge);
    REFUSED(cuGraphRemoveDependencies(f.graph, &a, &b, 1)); /* the data does not match */
    OK(cuGraphRemoveDependencies_v2(f.graph, &a, &b, &edge, 1));
    fixture_end(&f);
}

TEST(graph_shape, only_kernels_have_programmatic_edges)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_empty(f.graph, NULL), b = add_empty(f.graph, NULL);
    CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                            .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    REFUSED(cuGraphAddDependencies_v2(f.graph, &a, &b, &edge, 1));
    fixture_end(&f);
}

TEST(graph_shape, dependencies_are_added_once_and_removed)
{
    struct fixture f = fixture_begin();
    CUgraph other;
    OK(cuGraphCreate(&other, 0));
    CUgraphNode a = add_empty(f.graph, NULL), b = add_empty(f.graph, NULL);
    CUgraphNode stranger = add_empty(other, NULL), twice[2] = {a, a}, node;
    size_t count = 0;
    REFUSED(cuGraphAddEmptyNode(&node, f.graph, twice, 2));
    REFUSED(cuGraphAddEmptyNode(&node, f.graph, &stranger, 1));
    OK(cuGraphGetNodes(f.graph, NULL, &count));
    T_EQ(count, 2); /* a refused node leaves nothing behind */
    OK(cuGraphAddDependencies(f.graph, &a, &b, 1));
    REFUSED(cuGraphAddDependencies(f.graph, &a, &b, 1));
    REFUSED(cuGraphAddDependencies(f.graph, &a, &stranger, 1));
    REFUSED(cuGraphRemoveDependencies(f.graph, &b, &a, 1));
    OK(cuGraphAddDependencies(f.graph, NULL, NULL, 0));
    OK(cuGraphRemoveDependencies(f.graph, &a, &b, 1));
    OK(cuGraphGetEdges(f.graph, NULL, NULL, &count));
    T_EQ(count, 0);
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_shape, destroying_a_node_severs_its_edges)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_empty(f.graph, NULL), b = add_empty(f.graph, a), c = add_empty(f.graph, b);
    CUgraphNodeType type;
    size_t count = 0;
    OK(cuGraphDestroyNode(b));
    REFUSED(cuGraphNodeGetType(b, &type));
    REFUSED(cuGraphDestroyNode(b));
    OK(cuGraphNodeGetDependentNodes(a, NULL, &count));
    T_EQ(count, 0);
    OK(cuGraphNodeGetDependencies(c, NULL, &count));
    T_EQ(count, 0);
    OK(cuGraphGetNodes(f.graph, NULL, &count));
    T_EQ(count, 2);
    REFUSED(cuGraphAddEmptyNode(&a, f.graph, &b, 1)); /* a destroyed dependency */
    fixture_end(&f);
}

TEST(graph_shape, handle_values_come_back)
{
    struct fixture f = fixture_begin();
    CUgraph first, second;
    CUgraphNodeType type;
    OK(cuGraphCreate(&first, 0));
    CUgraphNode node = add_empty(first, NULL);
    OK(cuGraphDestroy(first));
    REFUSED(cuGraphNodeGetType(node, &type)); /* its nodes went with it */
    REFUSED(cuGraphDestroy(first));
    OK(cuGraphCreate(&second, 0));
    T_PTR_EQ(second, first);
    T_PTR_EQ(add_empty(second, NULL), node);
    OK(cuGraphDestroy(second));
    fixture_end(&f);
}

TEST(graph_shape, clone_keeps_parameters_and_edges)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_kernel(f.graph, NULL, f.mix, f.data, 2, 3);
    CUgraphNode b = add_kernel(f.graph, a, f.put, f.data, 4, 5), a2, b2, list[2];
    CUgraph clone;
    CUDA_KERNEL_NODE_PARAMS params;
    size_t count = 2;
    OK(cuGraphClone(&clone, f.graph));
    OK(cuGraphNodeFindInClone(&a2, a, clone));
    OK(cuGraphNodeFindInClone(&b2, b, clone));
    T_ASSERT(a2 != a && b2 != b && a2 != b2);
    OK(cuGraphNodeGetDependencies(b2, list, &count));
    T_EQ(count, 1);
    T_PTR_EQ(list[0], a2);
    OK(cuGraphKernelNodeGetParams_v2(b2, &params));
    T_PTR_EQ(params.func, f.put);
    T_EQ(*(unsigned *)params.kernelParams[2], 5);

    struct arguments changed = {.p = f.data, .a = 9, .b = 9};
    params = kernel_params(f.mix, &changed);
    OK(cuGraphKernelNodeSetParams_v2(a, &params)); /* the original goes its own way */
    OK(cuGraphKernelNodeGetParams_v2(a2, &params));
    T_EQ(*(unsigned *)params.kernelParams[1], 2);
    OK(cuGraphDestroy(clone));
    fixture_end(&f);
}

TEST(graph_shape, find_in_clone_knows_what_was_cloned)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_empty(f.graph, NULL), b = add_empty(f.graph, NULL), found;
    CUgraph clone, stranger;
    OK(cuGraphClone(&clone, f.graph));
    OK(cuGraphCreate(&stranger, 0));
    CUgraphNode later = add_empty(f.graph, NULL);
    REFUSED(cuGraphNodeFindInClone(&found, later, clone));
    REFUSED(cuGraphNodeFindInClone(&found, a, stranger));
    REFUSED(cuGraphNodeFindInClone(&found, a, f.graph));
    OK(cuGraphNodeFindInClone(&found, b, clone));
    OK(cuGraphDestroyNode(found));
    REFUSED(cuGraphNodeFindInClone(&found, b, clone));
    OK(cuGraphNodeFindInClone(&found, a, clone));
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(stranger));
    fixture_end(&f);
}

TEST(graph_shape, a_child_graph_is_a_clone_its_node_owns)
{
    struct fixture f = fixture_begin();
    CUgraph child, inner;
    OK(cuGraphCreate(&child, 0));
    CUgraphNode leaf = add_empty(child, NULL), node, found;
    CUgraphNodeType type;
    OK(cuGraphAddChildGraphNode(&node, f.graph, NULL, 0, child));
    OK(cuGraphNodeGetType(node, &type));
    T_EQ(type, CU_GRAPH_NODE_TYPE_GRAPH);
    OK(cuGraphChildGraphNodeGetGraph(node, &inner));
    T_ASSERT(inner != child);
    OK(cuGraphNodeFindInClone(&found, leaf, inner));
    REFUSED(cuGraphDestroy(inner)); /* its node owns it */
    OK(cuGraphDestroy(child));
    OK(cuGraphDestroyNode(node));
    REFUSED(cuGraphNodeGetType(found, &type));
    fixture_end(&f);
}
