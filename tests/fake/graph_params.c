/* graph_params.c: parameters and attributes of nodes: what is accepted, that values are copied at
 * the call, and what the getters return. Nothing runs here. */
#include "tests/fake/graph_gate.h"

#include <sys/mman.h>
#include <unistd.h>

TEST(graph_params, values_are_copied_at_the_call)
{
    struct fixture f = fixture_begin();
    struct arguments arguments = {.p = f.data, .a = 2, .b = 3};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.mix, &arguments), got;
    CUgraphNode node;
    OK(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    arguments = (struct arguments){0};
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    T_PTR_EQ(got.func, f.mix);
    T_EQ(got.gridDimX, 1);
    T_NULL(got.extra);
    T_EQ(*(CUdeviceptr *)got.kernelParams[0], f.data);
    T_EQ(*(unsigned *)got.kernelParams[1], 2);
    T_EQ(*(unsigned *)got.kernelParams[2], 3);
    fixture_end(&f);
}

TEST(graph_params, extra_comes_back_as_extra)
{
    struct fixture f = fixture_begin();
    struct {
        CUdeviceptr p;
        unsigned a, b;
    } packed = {f.data, 7, 8};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.mix, NULL), got;
    CUgraphNode node;
    params.extra = extra;
    OK(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    T_NULL(got.kernelParams);
    T_NOT_NULL(got.extra);
    T_PTR_EQ(got.extra[0], CU_LAUNCH_PARAM_BUFFER_POINTER);
    T_ASSERT(got.extra[1] != &packed);
    T_MEM_EQ(got.extra[1], &packed, sizeof packed);
    T_EQ(*(size_t *)got.extra[3], sizeof packed);

    struct arguments arguments = {.p = f.data};
    params = kernel_params(f.mix, &arguments);
    params.extra = extra; /* both */
    REFUSED(cuGraphKernelNodeSetParams_v2(node, &params));
    REFUSED(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    params.extra = NULL;
    OK(cuGraphKernelNodeSetParams_v2(node, &params));
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    T_NULL(got.extra); /* the form set last */
    T_NOT_NULL(got.kernelParams);
    fixture_end(&f);
}

TEST(graph_params, a_kernel_without_parameters_needs_none)
{
    struct fixture f = fixture_begin();
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.nothing, NULL), got;
    CUgraphNode node;
    OK(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    T_PTR_EQ(got.func, f.nothing);
    fixture_end(&f);
}

TEST(graph_params, a_bad_kernel_is_refused)
{
    struct fixture f = fixture_begin();
    struct arguments arguments = {.p = f.data};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(f.mix, &arguments);
    CUgraphNode node;
    REFUSED(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, NULL));
    params.func = NULL;
    REFUSED(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    params.func = f.mix;
    params.gridDimX = 0;
    REFUSED(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    params.gridDimX = 1;
    params.blockDimX = 1025;
    REFUSED(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    fixture_end(&f);
}

/* A first-version caller's struct may end where its memory does. */
TEST(graph_params, the_first_version_has_56_bytes)
{
    struct fixture f = fixture_begin();
    T_EQ(sizeof(CUDA_KERNEL_NODE_PARAMS_v1), 56);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    T_ASSERT(pages != MAP_FAILED);
    T_EQ(mprotect(pages + page, page, PROT_NONE), 0);
    void *params = pages + page - sizeof(CUDA_KERNEL_NODE_PARAMS_v1);

    struct arguments arguments = {.p = f.data, .a = 5, .b = 6};
    CUDA_KERNEL_NODE_PARAMS full = kernel_params(f.mix, &arguments);
    CUgraphNode node;
    memcpy(params, &full, sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
    OK(cuGraphAddKernelNode(&node, f.graph, NULL, 0, params));
    OK(cuGraphKernelNodeSetParams(node, params));
    CUgraphExec exec = instantiate(f.graph);
    OK(cuGraphExecKernelNodeSetParams(exec, node, params));
    memset(params, 0, sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
    OK(cuGraphKernelNodeGetParams(node, params));
    T_PTR_EQ(((CUDA_KERNEL_NODE_PARAMS_v1 *)params)->func, f.mix);
    T_EQ(*(unsigned *)((CUDA_KERNEL_NODE_PARAMS_v1 *)params)->kernelParams[2], 6);
    OK(cuGraphExecDestroy(exec));
    fixture_end(&f);
}

TEST(graph_params, a_kernel_handle_runs_in_its_context)
{
    struct fixture f = fixture_begin();
    CUlibrary library;
    CUkernel kernel;
    OK(cuLibraryLoadData(&library, graph_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "put"));
    struct arguments arguments = {.p = f.data, .a = 6, .b = 3};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(NULL, &arguments), got;
    CUgraphNode node;
    params.kern = kernel; /* a null context: the current one */
    OK(cuGraphAddKernelNode_v2(&node, f.graph, NULL, 0, &params));
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    T_PTR_EQ(got.kern, kernel);
    CUgraphExec exec = instantiate(f.graph);
    run(exec, f.stream);
    T_EQ(word_at(f.data), 5);

    params.ctx = f.context;
    arguments.a = 8;
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    run(exec, f.stream);
    T_EQ(word_at(f.data), 11);
    OK(cuGraphExecDestroy(exec));
    OK(cuLibraryUnload(library));
    fixture_end(&f);
}

TEST(graph_params, memcpy_memset_and_host_are_returned_as_set)
{
    struct fixture f = fixture_begin();
    char buffer[64] = {0};
    CUDA_MEMCPY3D copy = copy_params(CU_MEMORYTYPE_HOST, (uintptr_t)buffer, CU_MEMORYTYPE_DEVICE,
                                     f.data, sizeof buffer),
                  got_copy;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = f.data,
                                    .value = 7,
                                    .elementSize = 4,
                                    .width = 8,
                                    .height = 1},
                            got_fill;
    struct gate gate = {0};
    CUDA_HOST_NODE_PARAMS host = {.fn = gate_wait, .userData = &gate}, got_host;
    CUgraphNode a, b, c;
    OK(cuGraphAddMemcpyNode(&a, f.graph, NULL, 0, &copy, f.context));
    OK(cuGraphAddMemsetNode(&b, f.graph, NULL, 0, &fill, f.context));
    OK(cuGraphAddHostNode(&c, f.graph, NULL, 0, &host));
    OK(cuGraphMemcpyNodeGetParams(a, &got_copy));
    T_MEM_EQ(&got_copy, &copy, sizeof copy);
    OK(cuGraphMemsetNodeGetParams(b, &got_fill));
    T_EQ(got_fill.dst, f.data);
    T_EQ(got_fill.width, 8);
    OK(cuGraphHostNodeGetParams(c, &got_host));
    T_PTR_EQ(got_host.userData, &gate);

    copy.WidthInBytes = 16;
    OK(cuGraphMemcpyNodeSetParams(a, &copy));
    OK(cuGraphMemcpyNodeGetParams(a, &got_copy));
    T_EQ(got_copy.WidthInBytes, 16);
    fill.value = 9;
    OK(cuGraphMemsetNodeSetParams(b, &fill));
    OK(cuGraphMemsetNodeGetParams(b, &got_fill));
    T_EQ(got_fill.value, 9);
    REFUSED(cuGraphMemsetNodeGetParams(a, &got_fill)); /* another kind */
    REFUSED(cuGraphMemcpyNodeSetParams(b, &copy));
    host.fn = NULL;
    REFUSED(cuGraphHostNodeSetParams(c, &host));
    fixture_end(&f);
}

TEST(graph_params, a_bad_memset_or_memcpy_is_refused)
{
    struct fixture f = fixture_begin();
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = f.data, .elementSize = 3, .width = 8, .height = 1};
    REFUSED(cuGraphAddMemsetNode(&node, f.graph, NULL, 0, &fill, f.context));
    fill.elementSize = 4;
    fill.dst = 0;
    REFUSED(cuGraphAddMemsetNode(&node, f.graph, NULL, 0, &fill, f.context));
    fill.dst = f.data;
    fill.height = 2;
    fill.pitch = 16; /* less than a row */
    REFUSED(cuGraphAddMemsetNode(&node, f.graph, NULL, 0, &fill, f.context));
    fill.pitch = 32;
    fill.height = (size_t)1 << 59; /* no number of bytes */
    REFUSED(cuGraphAddMemsetNode(&node, f.graph, NULL, 0, &fill, f.context));
    fill.height = 1;
    fill.width = (size_t)1 << 62;
    REFUSED(cuGraphAddMemsetNode(&node, f.graph, NULL, 0, &fill, f.context));
    fill.width = 8;
    fill.dst = (CUdeviceptr)(uintptr_t)&f; /* no memory that a device reaches */
    REFUSED(cuGraphAddMemsetNode(&node, f.graph, NULL, 0, &fill, f.context));
    CUDA_MEMCPY3D copy =
        copy_params((CUmemorytype)9, f.data, CU_MEMORYTYPE_DEVICE, f.data + 64, 64);
    REFUSED(cuGraphAddMemcpyNode(&node, f.graph, NULL, 0, &copy, f.context));
    REFUSED(cuGraphAddMemcpyNode(&node, f.graph, NULL, 0, NULL, f.context));
    fixture_end(&f);
}

TEST(graph_params, generic_parameters_must_be_clean)
{
    struct fixture f = fixture_begin();
    struct arguments arguments = {.p = f.data, .a = 1, .b = 2};
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_params(f.mix, &arguments), got;
    CUgraphNode node, empty;
    memcpy(&params.kernel, &kernel, sizeof kernel);
    OK(cuGraphAddNode(&node, f.graph, NULL, 0, &params));
    arguments.b = 77;
    OK(cuGraphNodeSetParams(node, &params));
    OK(cuGraphKernelNodeGetParams_v2(node, &got));
    T_EQ(*(unsigned *)got.kernelParams[2], 77);

    params.reserved0[2] = 1;
    REFUSED(cuGraphNodeSetParams(node, &params));
    params.reserved0[2] = 0;
    params.reserved1[28] = 1;
    REFUSED(cuGraphAddNode(&node, f.graph, NULL, 0, &params));
    params.reserved1[28] = 0;
    params.reserved2 = 1;
    REFUSED(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params));
    params.reserved2 = 0;
    params.type = (CUgraphNodeType)99;
    REFUSED(cuGraphAddNode(&node, f.graph, NULL, 0, &params));

    CUgraphNodeParams nothing = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    OK(cuGraphAddNode_v2(&empty, f.graph, &node, NULL, 1, &nothing));
    REFUSED(cuGraphNodeSetParams(node, &nothing)); /* the type must match */
    fixture_end(&f);
}

TEST(graph_params, attributes_are_kept_and_copied)
{
    struct fixture f = fixture_begin();
    CUgraphNode a = add_kernel(f.graph, NULL, f.mix, f.data, 1, 1);
    CUgraphNode b = add_kernel(f.graph, NULL, f.mix, f.data, 1, 1),
                empty = add_empty(f.graph, NULL);
    CUkernelNodeAttrValue value = {.priority = -3}, got;
    OK(cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
    T_EQ(got.priority, 0);
    OK(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    value = (CUkernelNodeAttrValue){.clusterDim = {2, 1, 1}};
    OK(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    OK(cuGraphKernelNodeCopyAttributes(b, a));
    OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
    T_EQ(got.priority, -3);
    OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &got));
    T_EQ(got.clusterDim.x, 2);
    REFUSED(cuGraphKernelNodeGetAttribute(empty, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
    REFUSED(cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &got));
    REFUSED(cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, NULL));
    REFUSED(cuGraphKernelNodeSetAttribute(a, (CUkernelNodeAttrID)1000, &value));
    fixture_end(&f);
}

TEST(graph_params, a_device_updatable_node_stays_one)
{
    struct fixture f = fixture_begin();
    CUgraphNode node = add_kernel(f.graph, NULL, f.mix, f.data, 1, 1);
    CUgraphNode other = add_kernel(f.graph, NULL, f.mix, f.data, 1, 1);
    CUkernelNodeAttrID id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
    CUkernelNodeAttrValue value = {.deviceUpdatableKernelNode = {.deviceUpdatable = 2}}, got;
    REFUSED(cuGraphKernelNodeSetAttribute(node, id, &value));
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    OK(cuGraphKernelNodeSetAttribute(node, id, &value));
    T_NOT_NULL(value.deviceUpdatableKernelNode.devNode);
    OK(cuGraphKernelNodeGetAttribute(node, id, &got));
    T_EQ(got.deviceUpdatableKernelNode.deviceUpdatable, 1);
    value.deviceUpdatableKernelNode.deviceUpdatable = 0;
    REFUSED(cuGraphKernelNodeSetAttribute(node, id, &value)); /* no way back */
    REFUSED(cuGraphKernelNodeCopyAttributes(other, node));
    REFUSED(cuGraphDestroyNode(node));

    CUgraphExec first = instantiate(f.graph), second;
    REFUSED(cuGraphInstantiateWithFlags(&second, f.graph, 0)); /* one exec at a time */
    OK(cuGraphExecDestroy(first));
    second = instantiate(f.graph);
    OK(cuGraphExecDestroy(second));
    fixture_end(&f);
}
