/* What a capturing stream tells about itself, and the set its next node depends on. */
#include "tests/fake/capture_fixture.h"

struct info {
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count;
};

static struct info info_of(CUstream stream)
{
    struct info info = {.status = (CUstreamCaptureStatus)9};
    OK(cuStreamGetCaptureInfo_v3(stream, &info.status, &info.id, &info.graph, &info.nodes,
                                 &info.data, &info.count));
    return info;
}

TEST(capture_info, a_stream_that_does_not_capture)
{
    struct fixture f = fixture_begin();
    CUstreamCaptureStatus status = ACTIVE;
    T_EQ(info_of(f.stream).status, NONE);
    OK(cuStreamGetCaptureInfo(CU_STREAM_LEGACY, &status, NULL));
    T_EQ(status, NONE);
    T_EQ(cuStreamGetCaptureInfo(f.stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuStreamIsCapturing(f.stream, NULL), CUDA_ERROR_INVALID_VALUE);
    fixture_end(&f);
}

TEST(capture_info, every_version_tells_the_same)
{
    struct fixture f = fixture_begin();
    struct info second = {0};
    cuuint64_t id = 0;
    CUstreamCaptureStatus status = NONE;
    begin(f.stream, GLOBAL);
    T_EQ(info_of(f.stream).count, 0);
    OK(launch(f.put, f.stream, f.data, 1, 0));
    struct info info = info_of(f.stream);
    T_EQ(info.status, ACTIVE);
    T_EQ(info.count, 1);
    T_PTR_EQ(info.nodes[0], node_at(info.graph, 0));
    T_EQ(info.data[0].type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
    OK(cuStreamGetCaptureInfo(f.stream, &status, &id));
    T_EQ(status, ACTIVE);
    T_EQ(id, info.id);
    OK(cuStreamGetCaptureInfo_v2(f.stream, &second.status, &second.id, &second.graph, &second.nodes,
                                 &second.count));
    T_EQ(second.id, info.id);
    T_PTR_EQ(second.graph, info.graph);
    T_PTR_EQ(second.nodes[0], info.nodes[0]);
    T_EQ(second.count, 1);
    T_PTR_EQ(end(f.stream), info.graph);
    fixture_end(&f);
}

/* Streams of one capture share its id; the next capture has another one. */
TEST(capture_info, ids)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(0);
    begin(f.stream, GLOBAL);
    join(side, f.stream);
    cuuint64_t id = info_of(f.stream).id;
    T_EQ(info_of(side).id, id);
    OK(cuGraphDestroy(end(f.stream)));
    begin(f.stream, GLOBAL);
    T_NE(info_of(f.stream).id, id);
    OK(cuGraphDestroy(end(f.stream)));
    fixture_end(&f);
}

TEST(capture_info, edge_data_needs_room)
{
    struct fixture f = fixture_begin();
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    size_t count = 0;
    CUgraphEdgeData early = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                             .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraphNode kernel = add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    OK(cuStreamBeginCaptureToGraph(f.stream, f.graph, &kernel, &early, 1, GLOBAL));
    T_EQ(cuStreamGetCaptureInfo_v2(f.stream, &status, NULL, NULL, &nodes, &count),
         CUDA_ERROR_LOSSY_QUERY);
    T_EQ(cuStreamGetCaptureInfo_v3(f.stream, &status, NULL, NULL, NULL, &data, &count),
         CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamGetCaptureInfo_v3(f.stream, &status, NULL, NULL, NULL, NULL, &count));
    T_EQ(count, 1);
    T_EQ(info_of(f.stream).data[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    OK(launch(f.put, f.stream, f.data, 2, 0));
    end(f.stream);
    CUgraphNode from = NULL, to = NULL;
    CUgraphEdgeData edge = {0};
    count = 1;
    OK(cuGraphGetEdges_v2(f.graph, &from, &to, &edge, &count));
    T_EQ(edge.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    fixture_end(&f);
}

/* ---- changing the set ---- */

TEST(capture_info, nodes_added_by_hand_join_the_set)
{
    struct fixture f = fixture_begin();
    begin(f.stream, GLOBAL);
    OK(launch(f.put, f.stream, f.data, 1, 0)); /* 0 */
    struct info info = info_of(f.stream);
    CUgraphNode hand = add_kernel(info.graph, NULL, f.put, f.data + 4, 2, 0); /* 1 */
    OK(cuStreamUpdateCaptureDependencies(f.stream, &hand, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cuStreamUpdateCaptureDependencies(f.stream, &hand, 1, 0)); /* it is there already */
    T_EQ(info_of(f.stream).count, 2);
    OK(launch(f.put, f.stream, f.data, 3, 0)); /* 2 */
    expect_edges(end(f.stream), 2, (const size_t[][2]){{0, 2}, {1, 2}});
    fixture_end(&f);
}

TEST(capture_info, the_set_can_be_replaced)
{
    struct fixture f = fixture_begin();
    begin(f.stream, GLOBAL);
    OK(launch(f.put, f.stream, f.data, 1, 0)); /* 0 */
    CUgraphNode first = info_of(f.stream).nodes[0];
    OK(launch(f.put, f.stream, f.data + 4, 2, 0)); /* 1 */
    OK(cuStreamUpdateCaptureDependencies_v2(f.stream, &first, NULL, 1,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    OK(launch(f.put, f.stream, f.data + 8, 3, 0)); /* 2 */
    OK(cuStreamUpdateCaptureDependencies_v2(f.stream, NULL, NULL, 0,
                                            CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    T_EQ(info_of(f.stream).count, 0);
    OK(launch(f.put, f.stream, f.data + 12, 4, 0)); /* 3 */
    expect_edges(end(f.stream), 2, (const size_t[][2]){{0, 1}, {0, 2}});
    fixture_end(&f);
}

TEST(capture_info, the_set_takes_nodes_of_the_graph_only)
{
    struct fixture f = fixture_begin();
    CUgraphNode foreign = add_empty(f.graph, NULL);
    T_EQ(cuStreamUpdateCaptureDependencies(f.stream, &foreign, 1, 0), CUDA_ERROR_ILLEGAL_STATE);
    begin(f.stream, GLOBAL);
    REFUSED(cuStreamUpdateCaptureDependencies(f.stream, &foreign, 1, 0));
    REFUSED(cuStreamUpdateCaptureDependencies(f.stream, NULL, 1, 0));
    CUgraphNode own = add_empty(info_of(f.stream).graph, NULL);
    REFUSED(cuStreamUpdateCaptureDependencies(f.stream, &own, 1, 2));
    T_EQ(info_of(f.stream).count, 0);
    OK(cuGraphDestroy(end(f.stream)));
    fixture_end(&f);
}

/* A fork is joined by its nodes too, not only by an event. */
TEST(capture_info, an_update_joins_a_fork)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(0);
    begin(f.stream, GLOBAL);
    join(side, f.stream);
    OK(launch(f.put, side, f.data, 1, 0));
    CUgraphNode node = info_of(side).nodes[0];
    OK(cuStreamUpdateCaptureDependencies(f.stream, &node, 1, 0));
    OK(cuGraphDestroy(end(f.stream)));
    fixture_end(&f);
}

/* ---- what the application does to the graph itself ---- */

/* cuda.h: nodes that are or become unreachable by direct actions on the graph, or are taken out of
 * a set, count as joined. */
TEST(capture_info, direct_actions_leave_nothing_unjoined)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(0);
    begin(f.stream, GLOBAL);
    struct info info = info_of(f.stream);
    add_empty(info.graph, NULL); /* 0: in no stream's set */
    join(side, f.stream);
    OK(launch(f.put, side, f.data, 1, 0)); /* 1 */
    join(f.stream, side);
    OK(launch(f.put, f.stream, f.data, 2, 0)); /* 2 */
    CUgraphNode from = node_at(info.graph, 1), to = node_at(info.graph, 2);
    OK(cuGraphRemoveDependencies(info.graph, &from, &to, 1));
    CUgraph graph = end(f.stream);
    T_EQ(node_count(graph), 3);
    expect_edges(graph, 0, NULL);

    begin(f.stream, GLOBAL);
    join(side, f.stream);
    OK(launch(f.put, side, f.data, 1, 0));
    OK(cuStreamUpdateCaptureDependencies(side, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    T_EQ(node_count(end(f.stream)), 1);
    fixture_end(&f);
}

TEST(capture_info, the_graph_cannot_go_while_it_is_captured_into)
{
    struct fixture f = fixture_begin();
    OK(cuStreamBeginCaptureToGraph(f.stream, f.graph, NULL, NULL, 0, GLOBAL));
    OK(launch(f.put, f.stream, f.data, 1, 0));
    T_NE(cuGraphDestroy(f.graph), CUDA_SUCCESS);
    T_NE(cuGraphDestroyNode(node_at(f.graph, 0)), CUDA_SUCCESS);
    end(f.stream);
    OK(cuGraphDestroyNode(node_at(f.graph, 0)));
    fixture_end(&f);
}

/* A child graph goes with its node all the same; then there is no capture any more. */
TEST(capture_info, a_child_graph_takes_its_capture_along)
{
    struct fixture f = fixture_begin();
    CUgraph child, inner = NULL;
    CUgraphNode node;
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddChildGraphNode(&node, f.graph, NULL, 0, child));
    OK(cuGraphChildGraphNodeGetGraph(node, &inner));
    OK(cuStreamBeginCaptureToGraph(f.stream, inner, NULL, NULL, 0, GLOBAL));
    OK(launch(f.put, f.stream, f.data, 1, 0));
    OK(cuGraphDestroyNode(node));
    T_EQ(status_of(f.stream), NONE);
    T_EQ(word_at(f.data), 0); /* nothing is forbidden */
    OK(cuGraphDestroy(child));
    fixture_end(&f);
}
