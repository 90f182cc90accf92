/* Explicit graphs through the fake runtime: every type of node it translates, in graphs and in
 * executable graphs. */
#include "tests/fake/cudart_kernels.h"

#include <stdatomic.h>

#define COUNT 4

/* A graph under test, with one buffer and the kernel `add`. */
struct fixture {
    cudaLibrary_t library;
    cudaKernel_t add;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    unsigned *data;
    unsigned value;
    void *args[2]; /* of add */
};

static void start(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    OK(cudaLibraryLoadData(&f->library, cudart_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&f->add, f->library, "add"));
    OK(cudaMalloc((void **)&f->data, COUNT * sizeof *f->data));
    OK(cudaMemset(f->data, 0, COUNT * sizeof *f->data));
    OK(cudaGraphCreate(&f->graph, 0));
    f->args[0] = &f->data;
    f->args[1] = &f->value;
}

static void finish(struct fixture *f)
{
    if (f->exec)
        OK(cudaGraphExecDestroy(f->exec));
    OK(cudaGraphDestroy(f->graph));
    OK(cudaFree(f->data));
    OK(cudaLibraryUnload(f->library));
}

static struct cudaKernelNodeParams adds(struct fixture *f, unsigned value)
{
    f->value = value;
    return (struct cudaKernelNodeParams){
        .func = f->add, .gridDim = {1, 1, 1}, .blockDim = {COUNT, 1, 1}, .kernelParams = f->args};
}

static void instantiate(struct fixture *f)
{
    OK(cudaGraphInstantiate(&f->exec, f->graph, 0));
}

static void launch(struct fixture *f)
{
    OK(cudaGraphLaunch(f->exec, NULL));
    OK(cudaStreamSynchronize(NULL));
}

/* Element i of the buffer. */
static unsigned element(const struct fixture *f, int i)
{
    unsigned out[COUNT];

    OK(cudaMemcpy(out, f->data, sizeof out, cudaMemcpyDeviceToHost));
    return out[i];
}

TEST(cudart_graph, kernel_nodes_take_new_parameters)
{
    struct fixture f;
    struct cudaKernelNodeParams params, back;
    cudaGraphNode_t node;

    start(&f);
    params = adds(&f, 3);
    OK(cudaGraphAddKernelNode(&node, f.graph, NULL, 0, &params));
    instantiate(&f);
    launch(&f);
    T_EQ(element(&f, COUNT - 1), 3);
    params = adds(&f, 10);
    OK(cudaGraphExecKernelNodeSetParams(f.exec, node, &params));
    launch(&f);
    T_EQ(element(&f, 0), 13);
    OK(cudaGraphKernelNodeGetParams(node, &back)); /* the graph's node was not touched */
    T_PTR_EQ(back.func, f.add);
    T_EQ(back.blockDim.x, COUNT);
    T_EQ(*(unsigned *)back.kernelParams[1], 3);
    params = adds(&f, 4);
    OK(cudaGraphKernelNodeSetParams(node, &params));
    OK(cudaGraphKernelNodeGetParams(node, &back));
    T_EQ(*(unsigned *)back.kernelParams[1], 4);
    params.func = NULL;
    T_NE(cudaGraphExecKernelNodeSetParams(f.exec, node, &params), cudaSuccess);
    T_EQ(cudaGraphExecKernelNodeSetParams(f.exec, node, NULL), cudaErrorInvalidValue);
    finish(&f);
}

TEST(cudart_graph, kernel_nodes_by_kern_behave_alike)
{
    struct fixture f;
    struct cudaKernelNodeParams params, back;
    cudaGraphNode_t node;

    setenv("FAKEVMM_MODEL", "gpa=same,launchform=kern", 1);
    start(&f);
    params = adds(&f, 3);
    OK(cudaGraphAddKernelNode(&node, f.graph, NULL, 0, &params));
    instantiate(&f);
    params = adds(&f, 5);
    OK(cudaGraphExecKernelNodeSetParams(f.exec, node, &params));
    launch(&f);
    T_EQ(element(&f, 0), 5);
    OK(cudaGraphKernelNodeGetParams(node, &back));
    T_PTR_EQ(back.func, f.add);
    finish(&f);
}

TEST(cudart_graph, copy_nodes_take_new_operands)
{
    struct fixture f;
    struct cudaMemcpy3DParms back, params = {0};
    unsigned in[COUNT] = {1, 2, 3, 4}, other[COUNT] = {5, 6, 7, 8};
    cudaGraphNode_t node;

    start(&f);
    OK(cudaGraphAddMemcpyNode1D(&node, f.graph, NULL, 0, f.data, in, sizeof in,
                                cudaMemcpyHostToDevice));
    instantiate(&f);
    launch(&f);
    T_EQ(element(&f, 2), 3);
    OK(cudaGraphExecMemcpyNodeSetParams1D(f.exec, node, f.data, other, sizeof other,
                                          cudaMemcpyHostToDevice));
    launch(&f);
    T_EQ(element(&f, 2), 7);
    OK(cudaGraphMemcpyNodeGetParams(node, &back));
    T_EQ(back.kind, cudaMemcpyHostToDevice);
    T_PTR_EQ(back.srcPtr.ptr, in);
    T_PTR_EQ(back.dstPtr.ptr, f.data);
    T_EQ(back.extent.width, sizeof in);
    T_EQ(back.extent.height, 1);
    params.srcPtr = (struct cudaPitchedPtr){in, sizeof in, sizeof in, 1};
    params.dstPtr = (struct cudaPitchedPtr){f.data, sizeof in, sizeof in, 1};
    params.extent = (struct cudaExtent){sizeof in, 1, 1};
    params.kind = cudaMemcpyHostToDevice;
    OK(cudaGraphExecMemcpyNodeSetParams(f.exec, node, &params));
    launch(&f);
    T_EQ(element(&f, 2), 3);
    params.kind = (enum cudaMemcpyKind)9;
    T_EQ(cudaGraphExecMemcpyNodeSetParams(f.exec, node, &params), cudaErrorInvalidMemcpyDirection);
    finish(&f);
}

TEST(cudart_graph, a_default_copy_finds_its_direction)
{
    struct fixture f;
    struct cudaMemcpy3DParms back;
    unsigned *pinned = NULL;
    cudaGraphNode_t node;

    start(&f);
    OK(cudaMallocHost((void **)&pinned, sizeof *pinned));
    *pinned = 77;
    OK(cudaGraphAddMemcpyNode1D(&node, f.graph, NULL, 0, f.data + 1, pinned, sizeof *pinned,
                                cudaMemcpyDefault));
    OK(cudaGraphMemcpyNodeGetParams(node, &back));
    T_EQ(back.kind, cudaMemcpyDefault);
    instantiate(&f);
    launch(&f);
    T_EQ(element(&f, 1), 77);
    finish(&f);
    OK(cudaFreeHost(pinned));
}

TEST(cudart_graph, fill_nodes_take_new_values)
{
    struct fixture f;
    struct cudaMemsetParams back, params = {0};
    cudaGraphNode_t node;

    start(&f);
    params =
        (struct cudaMemsetParams){.dst = f.data, .elementSize = 4, .width = COUNT, .height = 1};
    params.value = 0x01020304;
    OK(cudaGraphAddMemsetNode(&node, f.graph, NULL, 0, &params));
    instantiate(&f);
    launch(&f);
    T_EQ(element(&f, 3), 0x01020304);
    params.value = 9;
    OK(cudaGraphExecMemsetNodeSetParams(f.exec, node, &params));
    launch(&f);
    T_EQ(element(&f, 3), 9);
    OK(cudaGraphMemsetNodeGetParams(node, &back));
    T_EQ(back.value, 0x01020304);
    T_PTR_EQ(back.dst, f.data);
    finish(&f);
}

static void note(void *data)
{
    atomic_fetch_add((atomic_int *)data, 1);
}

TEST(cudart_graph, host_nodes_call_back)
{
    struct fixture f;
    atomic_int first = 0, second = 0;
    struct cudaHostNodeParams params = {note, &first};
    cudaGraphNode_t node;

    start(&f);
    OK(cudaGraphAddHostNode(&node, f.graph, NULL, 0, &params));
    instantiate(&f);
    launch(&f);
    params.userData = &second;
    OK(cudaGraphExecHostNodeSetParams(f.exec, node, &params));
    launch(&f);
    T_EQ(atomic_load(&first), 1);
    T_EQ(atomic_load(&second), 1);
    finish(&f);
}

/* add 1, then a child that adds 2: both have run, in the order of the edge. */
TEST(cudart_graph, children_edges_and_types)
{
    struct fixture f;
    struct cudaKernelNodeParams params;
    cudaGraph_t child;
    cudaGraphNode_t inner, first, second, from, to;
    enum cudaGraphNodeType type;
    size_t count = 1;

    start(&f);
    OK(cudaGraphCreate(&child, 0));
    params = adds(&f, 2);
    OK(cudaGraphAddKernelNode(&inner, child, NULL, 0, &params));
    params = adds(&f, 1);
    OK(cudaGraphAddKernelNode(&first, f.graph, NULL, 0, &params));
    OK(cudaGraphAddChildGraphNode(&second, f.graph, &first, 1, child));
    OK(cudaGraphNodeGetType(second, &type));
    T_EQ(type, cudaGraphNodeTypeGraph);
    OK(cudaGraphGetEdges(f.graph, &from, &to, NULL, &count));
    T_EQ(count, 1);
    T_PTR_EQ(from, first);
    T_PTR_EQ(to, second);
    OK(cudaGraphGetNodes(f.graph, NULL, &count));
    T_EQ(count, 2);
    instantiate(&f);
    launch(&f);
    T_EQ(element(&f, 0), 3);
    OK(cudaGraphDestroy(child));
    finish(&f);
}

TEST(cudart_graph, the_generic_form_adds_and_sets)
{
    struct fixture f;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeKernel};
    cudaGraphNode_t node, fill;

    start(&f);
    f.value = 6;
    params.kernel.func = f.add;
    params.kernel.gridDim = (dim3){1, 1, 1};
    params.kernel.blockDim = (dim3){COUNT, 1, 1};
    params.kernel.kernelParams = f.args;
    OK(cudaGraphAddNode(&node, f.graph, NULL, NULL, 0, &params));
    instantiate(&f);
    launch(&f);
    f.value = 60;
    OK(cudaGraphExecNodeSetParams(f.exec, node, &params));
    launch(&f);
    T_EQ(element(&f, 1), 66);
    OK(cudaGraphNodeSetParams(node, &params));
    params = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeMemset};
    params.memset = (struct cudaMemsetParamsV2){f.data, 0, 1, 4, COUNT, 1};
    OK(cudaGraphAddNode(&fill, f.graph, &node, NULL, 1, &params));
    OK(cudaGraphExecDestroy(f.exec));
    instantiate(&f);
    launch(&f);
    T_EQ(element(&f, 1), 1);
    finish(&f);
}

TEST(cudart_graph, clones_and_updates)
{
    struct fixture f;
    struct cudaKernelNodeParams params;
    cudaGraphExecUpdateResultInfo info;
    cudaGraph_t clone;
    cudaGraphNode_t node, cloned;

    start(&f);
    params = adds(&f, 1);
    OK(cudaGraphAddKernelNode(&node, f.graph, NULL, 0, &params));
    instantiate(&f);
    OK(cudaGraphClone(&clone, f.graph));
    OK(cudaGraphNodeFindInClone(&cloned, node, clone));
    params = adds(&f, 8);
    OK(cudaGraphKernelNodeSetParams(cloned, &params));
    OK(cudaGraphExecUpdate(f.exec, clone, &info));
    T_EQ(info.result, cudaGraphExecUpdateSuccess);
    launch(&f);
    T_EQ(element(&f, 0), 8);
    OK(cudaGraphDestroyNode(cloned));
    T_EQ(cudaGraphExecUpdate(f.exec, clone, &info), cudaErrorGraphExecUpdateFailure);
    T_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaGraphDestroy(clone));
    finish(&f);
}

TEST(cudart_graph, nodes_can_be_switched_off)
{
    struct fixture f;
    struct cudaKernelNodeParams params;
    cudaGraphNode_t node;
    unsigned enabled = 9;

    start(&f);
    params = adds(&f, 1);
    OK(cudaGraphAddKernelNode(&node, f.graph, NULL, 0, &params));
    instantiate(&f);
    OK(cudaGraphNodeSetEnabled(f.exec, node, 0));
    OK(cudaGraphNodeGetEnabled(f.exec, node, &enabled));
    T_EQ(enabled, 0);
    launch(&f);
    T_EQ(element(&f, 0), 0);
    OK(cudaGraphNodeSetEnabled(f.exec, node, 1));
    launch(&f);
    T_EQ(element(&f, 0), 1);
    finish(&f);
}

TEST(cudart_graph, instantiation_reports_flags_and_uploads)
{
    struct fixture f;
    struct cudaKernelNodeParams params;
    cudaGraphInstantiateParams how = {.flags = cudaGraphInstantiateFlagUpload};
    cudaGraphNode_t node;
    unsigned long long flags = 99;
    cudaStream_t stream;

    start(&f);
    OK(cudaStreamCreate(&stream));
    params = adds(&f, 1);
    OK(cudaGraphAddKernelNode(&node, f.graph, NULL, 0, &params));
    how.uploadStream = stream;
    OK(cudaGraphInstantiateWithParams(&f.exec, f.graph, &how));
    T_EQ(how.result_out, cudaGraphInstantiateSuccess);
    OK(cudaGraphUpload(f.exec, stream));
    OK(cudaGraphExecGetFlags(f.exec, &flags));
    T_EQ(flags & ~(unsigned long long)cudaGraphInstantiateFlagUpload, 0);
    launch(&f);
    T_EQ(element(&f, 0), 1);
    OK(cudaStreamDestroy(stream));
    finish(&f);
}
