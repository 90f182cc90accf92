/* graph_kernels.c: what attributes of kernel nodes change: cooperative launches and clusters, which
 * an exec checks and keeps, and priorities, which it keeps if it was asked to. */
#include "tests/fake/graph_fixture.h"

static CUresult set_attribute(CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue value)
{
    return cuGraphKernelNodeSetAttribute(node, id, &value);
}

static CUkernelNodeAttrValue blocks(unsigned x)
{
    CUkernelNodeAttrValue value = {.clusterDim = {x, 1, 1}};
    return value;
}

TEST(graph_kernels, clusters_divide_the_grid)
{
    struct fixture f = fixture_begin();
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.nothing, NULL);
    CUgraphNode node;
    CUgraphExec exec;
    params.gridDimX = 4;
    OK(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    OK(set_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, blocks(3)));
    T_NE(cuGraphInstantiateWithFlags(&exec, f.graph, 0), CUDA_SUCCESS);
    OK(set_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, blocks(2)));
    exec = instantiate(f.graph);
    run(exec, f.stream);
    params.gridDimX = 5; /* the exec's node still has its clusters */
    T_NE(cuGraphExecKernelNodeSetParams_v2(exec, node, &params), CUDA_SUCCESS);
    params.gridDimX = 6;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    run(exec, f.stream);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_kernels, a_cooperative_node_stays_one)
{
    struct fixture f = fixture_begin();
    CUgraph other;
    CUgraphExecUpdateResultInfo info;
    CUkernelNodeAttrValue yes = {.cooperative = 1};
    CUgraphNode node = add_kernel(f.graph, NULL, f.put, f.data, 1, 0), plain;
    OK(set_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, yes));
    OK(cuGraphCreate(&other, 0));
    plain = add_kernel(other, NULL, f.put, f.data, 2, 0);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 1);
    T_EQ(cuGraphExecUpdate_v2(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    T_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
    T_ASSERT(info.errorNode == plain);
    OK(cuGraphKernelNodeCopyAttributes(plain, node));
    OK(cuGraphExecUpdate_v2(exec, other, &info));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_kernels, priorities_are_kept_on_demand)
{
    struct fixture f = fixture_begin();
    CUgraph other;
    CUgraphExec plain, strict;
    CUgraphExecUpdateResultInfo info;
    CUkernelNodeAttrValue high = {.priority = -2};
    add_kernel(f.graph, NULL, f.put, f.data, 1, 0);
    OK(cuGraphCreate(&other, 0));
    CUgraphNode node = add_kernel(other, NULL, f.put, f.data, 2, 0);
    OK(set_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, high));
    OK(cuGraphInstantiateWithFlags(&plain, f.graph, 0));
    OK(cuGraphInstantiateWithFlags(&strict, f.graph,
                                   CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
    OK(cuGraphExecUpdate_v2(plain, other, &info));
    T_EQ(cuGraphExecUpdate_v2(strict, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    T_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
    OK(cuGraphExecDestroy(plain));
    OK(cuGraphExecDestroy(strict));
    OK(cuGraphDestroy(other));
    fixture_end(&f);
}

TEST(graph_kernels, a_launch_for_the_device_copies_device_and_pinned_memory)
{
    struct fixture f = fixture_begin();
    static unsigned pageable;
    void *pinned;
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
    CUgraphExec exec;
    CUgraphNode node;
    CUDA_MEMCPY3D copy =
        copy_params(CU_MEMORYTYPE_HOST, (uintptr_t)&pageable, CU_MEMORYTYPE_DEVICE, f.data, 4);
    OK(cuMemAllocHost_v2(&pinned, 4));
    OK(cuGraphAddMemcpyNode(&node, f.graph, NULL, 0, &copy, f.context));
    REFUSED(cuGraphInstantiateWithParams(&exec, f.graph, &how));
    T_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    T_ASSERT(how.hErrNode_out == node);
    copy.dstHost = pinned;
    OK(cuGraphMemcpyNodeSetParams(node, &copy));
    OK(cuGraphInstantiateWithParams(&exec, f.graph, &how));
    T_EQ(how.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    OK(cuGraphExecDestroy(exec));
    OK(cuMemFreeHost(pinned));
    fixture_end(&f);
}
