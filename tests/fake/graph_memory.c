/* graph_memory.c: nodes that allocate and free memory: addresses, who may use it when, how it ends,
 * what graphs with such nodes refuse, and a device's accounts of it. */
#include "tests/fake/graph_fixture.h"

#define BYTES (1u << 20)

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(const struct fixture *f, size_t bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = bytes};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = f->device;
    return params;
}

static CUgraphNode add_alloc(struct fixture *f, CUgraph graph, CUgraphNode after, CUdeviceptr *out)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(f, BYTES);
    CUgraphNode node = NULL;
    OK(cuGraphAddMemAllocNode(&node, graph, &after, after != NULL, &params));
    T_NE(params.dptr, 0);
    *out = params.dptr;
    return node;
}

static CUgraphNode add_free(CUgraph graph, CUgraphNode after, CUdeviceptr address)
{
    CUgraphNode node = NULL;
    OK(cuGraphAddMemFreeNode(&node, graph, &after, after != NULL, address));
    return node;
}

static CUgraphNode add_copy_out(struct fixture *f, CUgraphNode after, CUdeviceptr from)
{
    CUgraphNode node;
    CUDA_MEMCPY3D copy = copy_params(CU_MEMORYTYPE_DEVICE, f->data, CU_MEMORYTYPE_DEVICE, from, 4);
    OK(cuGraphAddMemcpyNode(&node, f->graph, &after, 1, &copy, f->context));
    return node;
}

static cuuint64_t attribute(const struct fixture *f, CUgraphMem_attribute id)
{
    cuuint64_t value = 0;
    OK(cuDeviceGetGraphMemAttribute(f->device, id, &value));
    return value;
}

TEST(graph_memory, memory_of_a_graph_is_used_between_its_nodes)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory);
    CUgraphNode kernel = add_kernel(f.graph, alloc, f.put, memory, 42, 0);
    add_free(f.graph, add_copy_out(&f, kernel, memory), memory);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 42);
    run(exec, f.stream);           /* freed in the graph: it may be launched again */
    REFUSED(cuMemFree_v2(memory)); /* not outside the graph */
    REFUSED(cuMemFreeAsync(memory, f.stream));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_memory, memory_is_gone_after_its_free_node)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory);
    add_kernel(f.graph, add_free(f.graph, alloc, memory), f.put, memory, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphLaunch(exec, f.stream));
    T_EQ(cuStreamSynchronize(f.stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(graph_memory, memory_that_is_not_freed_outlives_the_launch)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory);
    add_kernel(f.graph, alloc, f.put, memory, 7, 0);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(memory), 7);
    REFUSED(cuGraphLaunch(exec, f.stream)); /* still allocated */
    OK(cuMemFreeAsync(memory, f.stream));
    OK(cuGraphLaunch(exec, f.stream)); /* the same addresses again */
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(memory), 7);
    OK(cuMemFree_v2(memory));
    REFUSED(cuMemFree_v2(memory));
    run(exec, f.stream);
    T_EQ(word_at(memory), 7);
    OK(cuGraphExecDestroy(exec));
    T_EQ(word_at(memory), 7); /* it belongs to the application now */
    OK(cuMemFree_v2(memory));
    fixture_end(&f);
}

TEST(graph_memory, memory_outlives_its_graph)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraph graph;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode alloc = add_alloc(&f, graph, NULL, &memory);
    add_kernel(graph, alloc, f.put, memory, 3, 0);
    CUgraphExec exec = instantiate(graph);
    run(exec, f.stream);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    T_EQ(word_at(memory), 3);
    OK(cuMemFreeAsync(memory, f.stream));
    OK(cuStreamSynchronize(f.stream));
    REFUSED(cuMemFree_v2(memory));
    fixture_end(&f);
}

TEST(graph_memory, another_graph_may_free_it)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraph other;
    CUgraphNode node;
    OK(cuGraphCreate(&other, 0));
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory);
    add_kernel(f.graph, alloc, f.put, memory, 7, 0);
    add_free(other, NULL, memory);
    /* Then the owning graph may not. */
    REFUSED(cuGraphAddMemFreeNode(&node, f.graph, NULL, 0, memory));
    CUgraphExec exec = instantiate(f.graph), freeing = instantiate(other);
    REFUSED(cuGraphLaunch(freeing, f.stream)); /* nothing there to free */
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(exec, f.stream));
        OK(cuGraphLaunch(freeing, f.stream));
    }
    OK(cuStreamSynchronize(f.stream));
    REFUSED(cuMemFree_v2(memory));
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphExecDestroy(freeing));
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_memory, auto_free_lets_a_graph_be_launched_again)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraphExec exec;
    cuuint64_t flags;
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory);
    add_kernel(f.graph, alloc, f.put, memory, 7, 0);
    OK(cuGraphInstantiateWithFlags(&exec, f.graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    OK(cuGraphExecGetFlags(exec, &flags));
    T_EQ(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    for (int i = 0; i < 3; i++)
        run(exec, f.stream);
    T_EQ(word_at(memory), 7);
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), BYTES);
    OK(cuMemFree_v2(memory));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_memory, a_free_node_names_memory_of_a_graph_once)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraph other;
    CUgraphNode node, alloc = add_alloc(&f, f.graph, NULL, &memory);
    REFUSED(cuGraphAddMemFreeNode(&node, f.graph, NULL, 0, f.data));
    REFUSED(cuGraphAddMemFreeNode(&node, f.graph, NULL, 0, memory + 512));
    REFUSED(cuGraphAddMemFreeNode(&node, f.graph, NULL, 0, 0));
    add_free(f.graph, alloc, memory);
    REFUSED(cuGraphAddMemFreeNode(&node, f.graph, &alloc, 1, memory));
    OK(cuGraphCreate(&other, 0));
    REFUSED(cuGraphAddMemFreeNode(&node, other, NULL, 0, memory));
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_memory, parameters_are_checked_and_given_back)
{
    struct fixture f = fixture_begin();
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(&f, 1000), got;
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUmemAccessDesc access = {.location = params.poolProps.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUgraphNode node, freeing;
    CUdeviceptr address;
    params.accessDescs = &access;
    params.accessDescCount = 1;
    OK(cuGraphAddMemAllocNode(&node, f.graph, NULL, 0, &params));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE; /* it was copied */
    OK(cuGraphMemAllocNodeGetParams(node, &got));
    T_EQ(got.bytesize, 1000);
    T_EQ(got.dptr, params.dptr);
    T_EQ(got.accessDescCount, 1);
    T_EQ(got.accessDescs[0].flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    freeing = add_free(f.graph, node, params.dptr);
    OK(cuGraphMemFreeNodeGetParams(freeing, &address));
    T_EQ(address, params.dptr);
    REFUSED(cuGraphMemFreeNodeGetParams(node, &address));
    REFUSED(cuGraphMemAllocNodeGetParams(freeing, &got));
    params.bytesize = 0;
    REFUSED(cuGraphAddMemAllocNode(&node, f.graph, NULL, 0, &params));
    params = alloc_params(&f, 64);
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    REFUSED(cuGraphAddMemAllocNode(&node, f.graph, NULL, 0, &params));
    params = alloc_params(&f, 64);
    params.poolProps.location.id = 99;
    REFUSED(cuGraphAddMemAllocNode(&node, f.graph, NULL, 0, &params));
    params = alloc_params(&f, 64);
    memcpy(&any.alloc, &params, sizeof any.alloc);
    OK(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &any));
    T_NE(any.alloc.dptr, 0);
    fixture_end(&f);
}

TEST(graph_memory, such_graphs_are_not_cloned_cut_or_instantiated_twice)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraph other;
    CUgraphExec exec, second;
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory), node;
    CUgraphNode kernel = add_kernel(f.graph, alloc, f.put, memory, 1, 0);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    CUgraphExecUpdateResultInfo info;
    add_free(f.graph, kernel, memory);
    T_EQ(cuGraphClone(&other, f.graph), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphDestroyNode(kernel), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphRemoveDependencies(f.graph, &alloc, &kernel, 1), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuGraphCreate(&other, 0));
    T_EQ(cuGraphAddChildGraphNode(&node, other, NULL, 0, f.graph), CUDA_ERROR_NOT_SUPPORTED);
    exec = instantiate(f.graph);
    REFUSED(cuGraphInstantiateWithFlags(&second, f.graph, 0));
    params.free.dptr = memory;
    T_EQ(cuGraphNodeSetParams(alloc, &params), CUDA_ERROR_INVALID_VALUE); /* another kind */
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    T_EQ(cuGraphNodeSetParams(alloc, &params), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphExecNodeSetParams(exec, alloc, &params), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphExecUpdate_v2(exec, f.graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    T_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED);
    T_ASSERT(info.errorNode == alloc);
    OK(cuGraphExecDestroy(exec));
    exec = instantiate(f.graph);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_memory, such_a_graph_can_be_moved_into_another)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    CUgraph child, clone;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    CUDA_MEM_ALLOC_NODE_PARAMS more = alloc_params(&f, 64);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUgraphNode node, leaf;
    OK(cuGraphCreate(&child, 0));
    leaf = add_alloc(&f, child, NULL, &memory);
    leaf = add_kernel(child, leaf, f.put, memory, 11, 0);
    params.graph.graph = child;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    OK(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params));
    OK(cuGraphChildGraphNodeGetGraph(node, &clone));
    T_ASSERT(clone == child);
    REFUSED(cuGraphDestroy(child));
    REFUSED(cuGraphInstantiateWithFlags(&exec, child, 0));
    REFUSED(cuGraphAddNode_v2(&leaf, f.graph, NULL, NULL, 0, &params));
    T_EQ(cuGraphAddMemAllocNode(&leaf, child, NULL, 0, &more), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuGraphClone(&clone, f.graph), CUDA_ERROR_NOT_SUPPORTED);
    add_free(f.graph, add_copy_out(&f, node, memory), memory); /* its own by now */
    exec = instantiate(f.graph);
    REFUSED(cuGraphExecUpdate_v2(exec, child, &info));
    run(exec, f.stream);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 11);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_memory, the_device_keeps_accounts)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory;
    cuuint64_t zero = 0, one = 1;
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory);
    add_kernel(f.graph, alloc, f.put, memory, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    run(exec, f.stream);
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), BYTES);
    T_GE(attribute(&f, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), BYTES);
    OK(cuDeviceGraphMemTrim(f.device)); /* in use: stays */
    T_GE(attribute(&f, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), BYTES);
    OK(cuMemFreeAsync(memory, f.stream));
    OK(cuStreamSynchronize(f.stream));
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), BYTES);
    T_GE(attribute(&f, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), BYTES); /* cached */
    OK(cuDeviceGraphMemTrim(f.device));
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
    T_GE(attribute(&f, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), BYTES);
    OK(cuDeviceSetGraphMemAttribute(f.device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    OK(cuDeviceSetGraphMemAttribute(f.device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0);
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 0);
    REFUSED(cuDeviceSetGraphMemAttribute(f.device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one));
    REFUSED(cuDeviceSetGraphMemAttribute(f.device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
    T_EQ(cuDeviceGetGraphMemAttribute(99, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one),
         CUDA_ERROR_INVALID_DEVICE);
    T_EQ(cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
    OK(cuGraphUpload(exec, f.stream)); /* takes memory, allocates nothing */
    OK(cuStreamSynchronize(f.stream));
    T_GE(attribute(&f, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), BYTES);
    T_EQ(attribute(&f, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_memory, more_than_the_device_has_fails_the_launch)
{
    struct fixture f = fixture_begin();
    size_t total;
    CUgraphNode node;
    CUgraphExec exec;
    OK(cuDeviceTotalMem_v2(&total, f.device));
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(&f, total);
    OK(cuGraphAddMemAllocNode(&node, f.graph, NULL, 0, &params));
    exec = instantiate(f.graph);
    T_EQ(cuGraphLaunch(exec, f.stream), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuGraphUpload(exec, f.stream), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_memory, the_memory_is_known_by_its_address)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory, base;
    size_t size;
    CUgraphNode alloc = add_alloc(&f, f.graph, NULL, &memory);
    add_kernel(f.graph, alloc, f.put, memory, 1, 0);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    OK(cuMemGetAddressRange_v2(&base, &size, memory + 100));
    T_EQ(base, memory);
    T_EQ(size, BYTES);
    OK(cuMemFree_v2(memory));
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_memory, captured_allocations_become_nodes)
{
    struct fixture f = fixture_begin();
    CUdeviceptr memory = 0;
    CUgraph graph;
    CUgraphNode nodes[4];
    CUgraphNodeType type;
    size_t count = 4;
    OK(cuStreamBeginCapture_v2(f.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&memory, 4096, f.stream));
    OK(cuMemsetD32Async(memory, 77, 16, f.stream));
    OK(cuMemcpyDtoDAsync_v2(f.data, memory, 4, f.stream));
    OK(cuMemFreeAsync(memory, f.stream));
    OK(cuStreamEndCapture(f.stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &count));
    T_EQ(count, 4);
    OK(cuGraphNodeGetType(nodes[0], &type));
    T_EQ(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    OK(cuGraphNodeGetType(nodes[3], &type));
    T_EQ(type, CU_GRAPH_NODE_TYPE_MEM_FREE);
    CUgraphExec exec = instantiate(graph);
    run(exec, f.stream);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 77);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    fixture_end(&f);
}
