/* What a capture makes of the work pushed into its streams: nodes, edges, parameters, and what the
 * graph then does. */
#include "tests/fake/capture_fixture.h"

#include <stdatomic.h>

static void CUDA_CB count_up(void *data)
{
    atomic_fetch_add((atomic_int *)data, 1);
}

/* ---- nodes ---- */

TEST(capture_shape, work_becomes_nodes_in_a_row)
{
    struct fixture f = fixture_begin();
    atomic_int calls = 0;
    unsigned out = 0;
    begin(f.stream, GLOBAL);
    OK(cuMemsetD32Async(f.data, 3, 4, f.stream));
    OK(launch(f.mix, f.stream, f.data, 5, 1));
    OK(cuMemcpyDtoDAsync_v2(f.data + 64, f.data, 8, f.stream));
    OK(cuMemcpyDtoHAsync_v2(&out, f.data + 64, 4, f.stream));
    OK(cuLaunchHostFunc(f.stream, count_up, &calls));
    CUgraph graph = end(f.stream);
    T_EQ(node_count(graph), 5);
    T_EQ(type_at(graph, 0), CU_GRAPH_NODE_TYPE_MEMSET);
    T_EQ(type_at(graph, 1), CU_GRAPH_NODE_TYPE_KERNEL);
    T_EQ(type_at(graph, 2), CU_GRAPH_NODE_TYPE_MEMCPY);
    T_EQ(type_at(graph, 3), CU_GRAPH_NODE_TYPE_MEMCPY);
    T_EQ(type_at(graph, 4), CU_GRAPH_NODE_TYPE_HOST);
    expect_edges(graph, 4, (const size_t[][2]){{0, 1}, {1, 2}, {2, 3}, {3, 4}});
    OK(cuStreamSynchronize(f.stream)); /* nothing has run */
    T_EQ(word_at(f.data), 0);
    T_EQ(out, 0);
    T_EQ(atomic_load(&calls), 0);
    CUgraphExec exec = instantiate(graph);
    OK(cuGraphDestroy(graph));
    for (int i = 1; i <= 2; i++) {
        out = 0;
        run(exec, f.stream);
        T_EQ(out, 3 * 5 + 1);
        T_EQ(word_at(f.data + 68), 3);
        T_EQ(atomic_load(&calls), i);
    }
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(capture_shape, parameters_are_those_of_the_call)
{
    struct fixture f = fixture_begin();
    CUDA_MEMSET_NODE_PARAMS memset = {0};
    CUDA_MEMCPY3D copy = {0};
    CUDA_HOST_NODE_PARAMS call = {0};
    CUDA_KERNEL_NODE_PARAMS kernel = {0};
    atomic_int calls = 0;
    begin(f.stream, GLOBAL);
    OK(cuMemsetD2D16Async(f.data, 64, 0x1234, 8, 3, f.stream));
    OK(cuMemcpyAsync(f.data + 512, f.data, 24, f.stream));
    OK(cuLaunchHostFunc(f.stream, count_up, &calls));
    void *params[] = {&f.data, &(unsigned){7}, &(unsigned){9}};
    OK(cuLaunchKernel(f.mix, 2, 3, 4, 5, 6, 7, 128, f.stream, params, NULL));
    CUgraph graph = end(f.stream);
    OK(cuGraphMemsetNodeGetParams(node_at(graph, 0), &memset));
    T_EQ(memset.dst, f.data);
    T_EQ(memset.pitch, 64);
    T_EQ(memset.value, 0x1234);
    T_EQ(memset.elementSize, 2);
    T_EQ(memset.width, 8);
    T_EQ(memset.height, 3);
    OK(cuGraphMemcpyNodeGetParams(node_at(graph, 1), &copy));
    T_EQ(copy.dstDevice, f.data + 512);
    T_EQ(copy.srcDevice, f.data);
    T_EQ(copy.WidthInBytes, 24);
    T_EQ(copy.Height, 1);
    T_EQ(copy.Depth, 1);
    OK(cuGraphHostNodeGetParams(node_at(graph, 2), &call));
    T_ASSERT(call.fn == count_up);
    T_PTR_EQ(call.userData, &calls);
    OK(cuGraphKernelNodeGetParams_v2(node_at(graph, 3), &kernel));
    T_PTR_EQ(kernel.func, f.mix);
    T_EQ(kernel.gridDimX * 100 + kernel.gridDimY * 10 + kernel.gridDimZ, 234);
    T_EQ(kernel.blockDimX * 100 + kernel.blockDimY * 10 + kernel.blockDimZ, 567);
    T_EQ(kernel.sharedMemBytes, 128);
    T_EQ(*(CUdeviceptr *)kernel.kernelParams[0], f.data);
    T_EQ(*(unsigned *)kernel.kernelParams[1], 7);
    T_EQ(*(unsigned *)kernel.kernelParams[2], 9);
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}

/* Arguments are taken at the call, what they point to when the graph runs. */
TEST(capture_shape, values_are_those_of_the_call)
{
    struct fixture f = fixture_begin();
    unsigned a = 6, b = 1, in = 10;
    CUdeviceptr p = f.data;
    void *params[] = {&p, &a, &b};
    begin(f.stream, GLOBAL);
    OK(cuMemcpyHtoDAsync_v2(f.data, &in, sizeof in, f.stream));
    OK(cuLaunchKernel(f.mix, 1, 1, 1, 1, 1, 1, 0, f.stream, params, NULL));
    a = b = 99;
    p += 4;
    CUgraphExec exec = instantiate(end(f.stream));
    in = 20;
    run(exec, f.stream);
    T_EQ(word_at(f.data), 20 * 6 + 1);
    T_EQ(word_at(f.data + 4), 0);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(capture_shape, every_form_of_launch)
{
    struct fixture f = fixture_begin();
    CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = -2}};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, &priority, 1};
    struct arguments arguments = {.p = f.data, .a = 3, .b = 1};
    size_t size = 16;
    void *packed[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE,
                      &size, CU_LAUNCH_PARAM_END};
    void *params[] = {&arguments.p, &arguments.a, &arguments.b};
    CUkernelNodeAttrValue value;
    begin(f.stream, GLOBAL);
    config.hStream = f.stream;
    OK(cuLaunchKernel(f.mix, 1, 1, 1, 1, 1, 1, 0, f.stream, NULL, packed));
    OK(cuLaunchKernelEx(&config, f.mix, params, NULL));
    OK(cuLaunchCooperativeKernel(f.mix, 1, 1, 1, 1, 1, 1, 0, f.stream, params));
    CUgraph graph = end(f.stream);
    OK(cuGraphKernelNodeGetAttribute(node_at(graph, 1), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    T_EQ(value.priority, -2);
    OK(cuGraphKernelNodeGetAttribute(node_at(graph, 1), CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    T_EQ(value.cooperative, 0);
    OK(cuGraphKernelNodeGetAttribute(node_at(graph, 2), CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    T_EQ(value.cooperative, 1);
    run(instantiate(graph), f.stream);
    T_EQ(word_at(f.data), ((0 * 3 + 1) * 3 + 1) * 3 + 1);
    fixture_end(&f);
}

/* cuda.h: a kernel node's priority is copied from the stream during capture. */
TEST(capture_shape, nodes_take_the_streams_priority)
{
    struct fixture f = fixture_begin();
    CUstream stream;
    CUkernelNodeAttrValue value;
    OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
    begin(stream, GLOBAL);
    OK(launch(f.mix, stream, f.data, 1, 1));
    OK(cuGraphKernelNodeGetAttribute(node_at(end(stream), 0), CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                     &value));
    T_EQ(value.priority, -1);
    fixture_end(&f);
}

TEST(capture_shape, a_graph_launch_becomes_a_child_graph)
{
    struct fixture f = fixture_begin();
    CUgraph child = NULL;
    CUgraphNode first = add_kernel(f.graph, NULL, f.mix, f.data, 2, 3);
    CUgraphNode second = add_kernel(f.graph, first, f.mix, f.data, 10, 4);
    CUgraphExec inner = instantiate(f.graph);
    OK(set_kernel(inner, second, f.mix, f.data, 100, 5)); /* what the exec does counts */
    begin(f.stream, GLOBAL);
    OK(cuMemsetD32Async(f.data, 1, 1, f.stream));
    OK(cuGraphLaunch(inner, f.stream));
    OK(launch(f.mix, f.stream, f.data, 1, 7));
    CUgraph graph = end(f.stream);
    T_EQ(node_count(graph), 3);
    T_EQ(type_at(graph, 1), CU_GRAPH_NODE_TYPE_GRAPH);
    expect_edges(graph, 2, (const size_t[][2]){{0, 1}, {1, 2}});
    OK(cuGraphChildGraphNodeGetGraph(node_at(graph, 1), &child));
    T_EQ(node_count(child), 2);
    expect_edges(child, 1, (const size_t[][2]){{0, 1}});
    OK(cuGraphExecDestroy(inner));
    run(instantiate(graph), f.stream);
    T_EQ(word_at(f.data), (1 * 2 + 3) * 100 + 5 + 7);
    fixture_end(&f);
}

TEST(capture_shape, empty_work_and_bad_arguments_add_nothing)
{
    struct fixture f = fixture_begin();
    begin(f.stream, GLOBAL);
    OK(cuMemcpyDtoDAsync_v2(f.data, f.data + 64, 0, f.stream));
    OK(cuMemsetD8Async(f.data, 0, 0, f.stream));
    T_EQ(cuLaunchHostFunc(f.stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(node_count(end(f.stream)), 0);
    fixture_end(&f);
}

/* What was queued before still runs, before what is queued after. */
TEST(capture_shape, the_stream_goes_on_where_it_was)
{
    struct fixture f = fixture_begin();
    OK(launch(f.put, f.stream, f.data, 5, 0));
    begin(f.stream, GLOBAL);
    OK(launch(f.put, f.stream, f.data, 9, 0));
    OK(cuGraphDestroy(end(f.stream)));
    OK(launch(f.mix, f.stream, f.data, 2, 1));
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 5 * 2 + 1);
    fixture_end(&f);
}

TEST(capture_shape, the_threads_own_stream_can_capture)
{
    struct fixture f = fixture_begin();
    CUgraph graph = NULL;
    OK(cuStreamBeginCapture_v2_ptsz(NULL, RELAXED));
    T_EQ(status_of(CU_STREAM_PER_THREAD), ACTIVE);
    OK(cuMemsetD32Async_ptsz(f.data, 6, 1, NULL));
    OK(cuStreamEndCapture_ptsz(NULL, &graph));
    T_EQ(node_count(graph), 1);
    run(instantiate(graph), f.stream);
    T_EQ(word_at(f.data), 6);
    fixture_end(&f);
}

/* ---- several streams ---- */

TEST(capture_shape, fork_and_join)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(CU_STREAM_NON_BLOCKING);
    begin(f.stream, GLOBAL);
    OK(launch(f.put, f.stream, f.data, 1, 0)); /* 0 */
    T_EQ(status_of(side), NONE);
    join(side, f.stream);
    T_EQ(status_of(side), ACTIVE);
    OK(launch(f.put, side, f.data + 4, 2, 0)); /* 1 */
    OK(launch(f.mix, f.stream, f.data, 3, 1)); /* 2 */
    OK(launch(f.mix, side, f.data + 4, 4, 1)); /* 3 */
    join(f.stream, side);
    OK(cuMemcpyDtoDAsync_v2(f.data + 8, f.data, 8, f.stream)); /* 4 */
    CUgraph graph = end(f.stream);
    T_EQ(status_of(side), NONE);
    T_EQ(node_count(graph), 5);
    expect_edges(graph, 5, (const size_t[][2]){{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 4}});
    run(instantiate(graph), side);
    T_EQ(word_at(f.data + 8), 1 * 3 + 1);
    T_EQ(word_at(f.data + 12), 2 * 4 + 1);
    OK(launch(f.put, side, f.data, 77, 0)); /* both are streams again */
    OK(cuStreamSynchronize(side));
    T_EQ(word_at(f.data), 77);
    fixture_end(&f);
}

/* An event stands for what its stream had then, and is no node itself. */
TEST(capture_shape, events_stand_for_the_moment)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    begin(f.stream, GLOBAL);
    OK(launch(f.put, f.stream, f.data, 1, 0)); /* 0 */
    OK(cuEventRecord(event, f.stream));
    OK(launch(f.put, f.stream, f.data, 2, 0)); /* 1 */
    OK(cuStreamWaitEvent(side, event, 0));
    OK(launch(f.put, side, f.data + 4, 3, 0)); /* 2 */
    OK(cuEventRecord(event, side));
    OK(cuStreamWaitEvent(f.stream, event, 0));
    OK(cuStreamWaitEvent(f.stream, event, 0));
    OK(launch(f.put, f.stream, f.data, 4, 0)); /* 3 */
    CUgraph graph = end(f.stream);
    T_EQ(node_count(graph), 4);
    expect_edges(graph, 4, (const size_t[][2]){{0, 1}, {0, 2}, {1, 3}, {2, 3}});
    fixture_end(&f);
}

/* A fork before any work has nothing to depend on; it is part of the capture all the same. */
TEST(capture_shape, an_empty_fork)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(CU_STREAM_NON_BLOCKING), idle = new_stream(0);
    begin(f.stream, GLOBAL);
    join(side, f.stream);
    join(idle, f.stream);
    T_EQ(status_of(idle), ACTIVE);
    OK(launch(f.put, side, f.data, 1, 0));
    join(f.stream, side);
    CUgraph graph = end(f.stream); /* nothing was captured in `idle`, so nothing is unjoined */
    T_EQ(node_count(graph), 1);
    T_EQ(status_of(idle), NONE);
    fixture_end(&f);
}

/* Forks of forks, joined through each other. */
TEST(capture_shape, a_chain_of_forks)
{
    struct fixture f = fixture_begin();
    CUstream stream[3] = {f.stream, new_stream(CU_STREAM_NON_BLOCKING), new_stream(0)};
    begin(f.stream, THREAD_LOCAL);
    for (unsigned i = 0; i < 3; i++) {
        if (i)
            join(stream[i], stream[i - 1]);
        OK(launch(f.put, stream[i], f.data + 4 * i, i + 1, 0));
    }
    join(f.stream, stream[2]); /* covers stream[1] */
    CUgraph graph = end(f.stream);
    expect_edges(graph, 2, (const size_t[][2]){{0, 1}, {1, 2}});
    fixture_end(&f);
}

/* The stream that captures may be of another context. */
TEST(capture_shape, streams_of_two_contexts)
{
    struct fixture f = fixture_begin();
    CUcontext other;
    CUmodule module;
    CUfunction put;
    CUdeviceptr memory;
    CUevent back;
    OK(cuCtxCreate_v2(&other, 0, f.device));
    OK(cuModuleLoadData(&module, graph_ptx));
    OK(cuModuleGetFunction(&put, module, "put"));
    OK(cuMemAlloc_v2(&memory, 4));
    CUstream side = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
    OK(cuCtxSetCurrent(f.context));
    begin(f.stream, GLOBAL);
    join(side, f.stream);
    OK(cuCtxSetCurrent(other));
    OK(launch(put, side, memory, 8, 0));
    OK(cuEventRecord(back, side));
    OK(cuCtxSetCurrent(f.context));
    OK(cuStreamWaitEvent(f.stream, back, 0));
    CUgraph graph = end(f.stream);
    T_EQ(node_count(graph), 1);
    run(instantiate(graph), f.stream);
    T_EQ(word_at(memory), 8);
    fixture_end(&f);
}

/* ---- into a graph ---- */

TEST(capture_shape, capture_into_a_graph)
{
    struct fixture f = fixture_begin();
    CUgraph graph = NULL;
    CUgraphNode first = add_kernel(f.graph, NULL, f.put, f.data, 5, 0);
    CUgraphNode second = add_kernel(f.graph, NULL, f.put, f.data + 4, 6, 0);
    CUgraphNode both[] = {first, second};
    OK(cuStreamBeginCaptureToGraph(f.stream, f.graph, both, NULL, 2, GLOBAL));
    REFUSED(cuGraphInstantiateWithFlags(&(CUgraphExec){NULL}, f.graph, 0));
    OK(cuMemcpyDtoDAsync_v2(f.data + 8, f.data, 8, f.stream));
    OK(cuStreamEndCapture(f.stream, &graph));
    T_PTR_EQ(graph, f.graph);
    T_EQ(node_count(graph), 3);
    expect_edges(graph, 2, (const size_t[][2]){{0, 2}, {1, 2}});
    run(instantiate(graph), f.stream);
    T_EQ(word_at(f.data + 8), 5);
    T_EQ(word_at(f.data + 12), 6);
    fixture_end(&f);
}

TEST(capture_shape, capture_into_a_graph_checks_its_arguments)
{
    struct fixture f = fixture_begin();
    CUgraph other;
    CUgraphNode node = add_empty(f.graph, NULL);
    OK(cuGraphCreate(&other, 0));
    REFUSED(cuStreamBeginCaptureToGraph(f.stream, NULL, NULL, NULL, 0, GLOBAL));
    REFUSED(cuStreamBeginCaptureToGraph(f.stream, f.graph, NULL, NULL, 1, GLOBAL));
    REFUSED(cuStreamBeginCaptureToGraph(f.stream, other, &node, NULL, 1, GLOBAL));
    REFUSED(cuStreamBeginCaptureToGraph(f.stream, f.graph, &node, NULL, 1, (CUstreamCaptureMode)7));
    T_EQ(status_of(f.stream), NONE);
    fixture_end(&f);
}

/* A capture that fails does not take the application's graph away. */
TEST(capture_shape, a_broken_capture_leaves_the_given_graph)
{
    struct fixture f = fixture_begin();
    OK(cuStreamBeginCaptureToGraph(f.stream, f.graph, NULL, NULL, 0, GLOBAL));
    T_EQ(cuStreamSynchronize(f.stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_broken(f.stream);
    OK(cuGraphExecDestroy(instantiate(f.graph)));
    fixture_end(&f);
}

/* Who captures into a graph of their own knows which graph it is. */
TEST(capture_shape, the_given_graph_need_not_be_told)
{
    struct fixture f = fixture_begin();
    OK(cuStreamBeginCaptureToGraph(f.stream, f.graph, NULL, NULL, 0, GLOBAL));
    OK(cuStreamEndCapture(f.stream, NULL));
    OK(cuStreamSynchronize(f.stream));
    OK(cuStreamBeginCapture_v2(f.stream, GLOBAL));
    REFUSED(cuStreamEndCapture(f.stream, NULL));
    CUgraph graph;
    OK(cuStreamEndCapture(f.stream, &graph));
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}
