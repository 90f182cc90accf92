/* Captures of copies of more dimensions, batches, memory operations and event nodes: each becomes
 * the node it is documented to become, and the graph does what the calls would have done. */
#include "tests/fake/capture_fixture.h"

static void run_graph(CUgraph graph, CUstream stream)
{
    CUgraphExec exec;

    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
}

TEST(capture_more, copies_of_two_and_three_dimensions)
{
    static const size_t edges[][2] = {{0, 1}};
    struct fixture f = fixture_begin();
    CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = f.data,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = f.data + 1024,
                          .dstPitch = 4,
                          .WidthInBytes = 4,
                          .Height = 2};
    CUDA_MEMCPY3D deep = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = f.data + 1024,
                          .srcPitch = 4,
                          .srcHeight = 1,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = f.data + 2048,
                          .dstPitch = 8,
                          .dstHeight = 2,
                          .WidthInBytes = 4,
                          .Height = 1,
                          .Depth = 2};
    CUDA_MEMCPY3D shown;

    begin(f.stream, GLOBAL);
    OK(cuMemcpy2DAsync_v2(&flat, f.stream));
    OK(cuMemcpy3DAsync_v2(&deep, f.stream));
    CUgraph graph = end(f.stream);
    T_EQ(type_at(graph, 0), CU_GRAPH_NODE_TYPE_MEMCPY);
    expect_edges(graph, 1, edges);
    OK(cuGraphMemcpyNodeGetParams(node_at(graph, 1), &shown));
    T_EQ(shown.dstDevice, deep.dstDevice);
    T_EQ(shown.Depth, 2);
    OK(cuMemsetD32_v2(f.data, 11, 1));
    OK(cuMemsetD32_v2(f.data + 16, 22, 1));
    OK(cuCtxSynchronize());
    run_graph(graph, f.stream);
    T_EQ(word_at(f.data + 2048), 11);
    T_EQ(word_at(f.data + 2048 + 16), 22);
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}

TEST(capture_more, a_bad_copy_adds_nothing)
{
    struct fixture f = fixture_begin();
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = f.data,
                          .srcPitch = 2,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = f.data + 1024,
                          .dstPitch = 4,
                          .WidthInBytes = 4,
                          .Height = 2};

    begin(f.stream, GLOBAL);
    REFUSED(cuMemcpy2DAsync_v2(&copy, f.stream));
    CUgraph graph = end(f.stream);
    T_EQ(node_count(graph), 0);
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}

TEST(capture_more, memory_operations)
{
    struct fixture f = fixture_begin();
    CUstreamBatchMemOpParams ops[2] = {
        {.waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, f.data, {1}, CU_STREAM_WAIT_VALUE_EQ, 0}},
        {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, f.data + 4, {5}, 0, 0}}};

    begin(f.stream, GLOBAL);
    OK(cuStreamWriteValue32_v2(f.stream, f.data, 1, 0));
    OK(cuStreamBatchMemOp_v2(f.stream, 2, ops, 0));
    CUgraph graph = end(f.stream);
    T_EQ(node_count(graph), 2);
    T_EQ(type_at(graph, 0), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    T_EQ(type_at(graph, 1), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    T_EQ(word_at(f.data + 4), 0); /* nothing has happened yet */
    run_graph(graph, f.stream);
    T_EQ(word_at(f.data + 4), 5);
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}

TEST(capture_more, external_events_become_nodes)
{
    static const size_t edges[][2] = {{0, 1}, {1, 2}};
    struct fixture f = fixture_begin();
    CUevent before = new_event(), after = new_event(), shown;
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);

    begin(f.stream, GLOBAL);
    OK(cuStreamWaitEvent(f.stream, before, CU_EVENT_WAIT_EXTERNAL));
    OK(launch(f.put, f.stream, f.data, 7, 0));
    OK(cuEventRecordWithFlags(after, f.stream, CU_EVENT_RECORD_EXTERNAL));
    CUgraph graph = end(f.stream);
    T_EQ(type_at(graph, 0), CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    T_EQ(type_at(graph, 2), CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    expect_edges(graph, 2, edges);
    OK(cuGraphEventRecordNodeGetEvent(node_at(graph, 2), &shown));
    T_PTR_EQ(shown, after);
    OK(cuEventQuery(after)); /* not a captured event: it stands for nothing yet */
    run_graph(graph, f.stream);
    OK(cuStreamWaitEvent(other, after, 0));
    OK(cuStreamSynchronize(other));
    T_EQ(word_at(f.data), 7);
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}

TEST(capture_more, batches_of_copies)
{
    struct fixture f = fixture_begin();
    CUdeviceptr to[2] = {f.data + 64, f.data + 128}, from[2] = {f.data, f.data + 4};
    size_t sizes[2] = {4, 4}, first = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

    OK(cuMemsetD32_v2(f.data, 3, 1));
    OK(cuMemsetD32_v2(f.data + 4, 4, 1));
    OK(cuCtxSynchronize());
    begin(f.stream, GLOBAL);
    OK(cuMemcpyBatchAsync_v2(to, from, sizes, 2, &attributes, &first, 1, f.stream));
    CUgraph graph = end(f.stream);
    T_GT(node_count(graph), 0);
    T_EQ(word_at(f.data + 64), 0);
    run_graph(graph, f.stream);
    T_EQ(word_at(f.data + 64), 3);
    T_EQ(word_at(f.data + 128), 4);
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}
