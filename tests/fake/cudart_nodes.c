/* Nodes of graphs that allocate, wait and signal, and what belongs to a graph, through the fake
 * runtime. */
#include "tests/fake/cudart_kernels.h"
#include "tests/helpers.h"

#include <stdatomic.h>
#include <unistd.h>

static cudaGraph_t graph(void)
{
    cudaGraph_t out = NULL;

    OK(cudaGraphCreate(&out, 0));
    return out;
}

static void run(cudaGraph_t graph)
{
    cudaGraphExec_t exec = NULL;

    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaStreamSynchronize(NULL));
    OK(cudaGraphExecDestroy(exec));
}

/* ---- events ---- */

TEST(cudart_nodes, a_node_records_an_event)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaEvent_t first, second, found = NULL;
    enum cudaGraphNodeType type;

    OK(cudaEventCreateWithFlags(&first, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));
    OK(cudaGraphAddEventRecordNode(&node, g, NULL, 0, first));
    OK(cudaGraphNodeGetType(node, &type));
    T_EQ(type, cudaGraphNodeTypeEventRecord);
    OK(cudaGraphEventRecordNodeGetEvent(node, &found));
    T_PTR_EQ(found, first);
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphEventRecordNodeSetEvent(node, second));
    OK(cudaGraphEventRecordNodeGetEvent(node, &found));
    T_PTR_EQ(found, second);
    OK(cudaGraphExecEventRecordNodeSetEvent(exec, node, second));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaEventSynchronize(second));
    OK(cudaStreamSynchronize(NULL));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(first));
    OK(cudaEventDestroy(second));
}

static void wait_for_flag(void *data)
{
    while (!atomic_load((atomic_bool *)data))
        usleep(100);
}

static void note(void *data)
{
    atomic_store((atomic_bool *)data, true);
}

TEST(cudart_nodes, a_node_waits_for_an_event)
{
    atomic_bool go = false, after = false;
    struct cudaHostNodeParams host = {.fn = note, .userData = &after};
    cudaGraph_t g = graph();
    cudaGraphNode_t wait, noted;
    cudaGraphExec_t exec;
    cudaStream_t stream, other;
    cudaEvent_t event, found = NULL;

    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    OK(cudaGraphAddEventWaitNode(&wait, g, NULL, 0, event));
    OK(cudaGraphEventWaitNodeGetEvent(wait, &found));
    T_PTR_EQ(found, event);
    OK(cudaGraphEventWaitNodeSetEvent(wait, event));
    OK(cudaGraphAddHostNode(&noted, g, &wait, 1, &host));
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, event));
    OK(cudaLaunchHostFunc(other, wait_for_flag, &go));
    OK(cudaEventRecord(event, other));
    OK(cudaGraphLaunch(exec, stream));
    usleep(2000);
    T_EQ(atomic_load(&after), false);
    atomic_store(&go, true);
    OK(cudaStreamSynchronize(stream));
    T_EQ(atomic_load(&after), true);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
}

/* ---- memory ---- */

TEST(cudart_nodes, a_graph_allocates_and_frees)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t alloc, fill, copy, gone;
    struct cudaMemAllocNodeParams params = {
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice, .id = 0}},
        .bytesize = 4096};
    struct cudaMemAllocNodeParams back = {0};
    struct cudaMemsetParams zeros = {.elementSize = 1, .value = 7, .width = 16, .height = 1};
    unsigned char out[16] = {0};
    void *freed = NULL;
    uint64_t used = 99;

    OK(cudaGraphAddMemAllocNode(&alloc, g, NULL, 0, &params));
    T_NOT_NULL(params.dptr);
    OK(cudaGraphMemAllocNodeGetParams(alloc, &back));
    T_PTR_EQ(back.dptr, params.dptr);
    T_EQ(back.bytesize, 4096);
    zeros.dst = params.dptr;
    OK(cudaGraphAddMemsetNode(&fill, g, &alloc, 1, &zeros));
    OK(cudaGraphAddMemcpyNode1D(&copy, g, &fill, 1, out, params.dptr, sizeof out,
                                cudaMemcpyDeviceToHost));
    OK(cudaGraphAddMemFreeNode(&gone, g, &copy, 1, params.dptr));
    OK(cudaGraphMemFreeNodeGetParams(gone, &freed));
    T_PTR_EQ(freed, params.dptr);
    run(g);
    T_EQ(out[0], 7);
    T_EQ(out[15], 7);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    T_EQ(used, 0);
    OK(cudaDeviceGraphMemTrim(0));
    OK(cudaGraphDestroy(g));
}

/* ---- what belongs to a graph ---- */

static void count_down(void *data)
{
    atomic_fetch_sub((atomic_int *)data, 1);
}

TEST(cudart_nodes, a_user_object_lives_as_long_as_its_references)
{
    atomic_int alive = 1;
    cudaGraph_t g = graph();
    cudaUserObject_t object = NULL;

    OK(cudaUserObjectCreate(&object, &alive, count_down, 1, cudaUserObjectNoDestructorSync));
    OK(cudaUserObjectRetain(object, 1));
    OK(cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove));
    OK(cudaGraphRetainUserObject(g, object, 1, 0));
    OK(cudaGraphReleaseUserObject(g, object, 1));
    OK(cudaUserObjectRelease(object, 1)); /* now the graph's reference alone is left */
    T_EQ(atomic_load(&alive), 1);
    OK(cudaGraphDestroy(g));
    for (int i = 0; i < 2000 && atomic_load(&alive); i++)
        usleep(1000); /* the destructor may run later, on a thread of the driver's */
    T_EQ(atomic_load(&alive), 0);
    T_EQ(cudaUserObjectCreate(&object, &alive, count_down, 0, cudaUserObjectNoDestructorSync),
         cudaErrorInvalidValue);
    T_EQ(cudaUserObjectCreate(&object, &alive, NULL, 1, cudaUserObjectNoDestructorSync),
         cudaErrorInvalidValue);
}

/* A graph whose one node, if `condition`, fills `memory` with ones. */
static cudaGraph_t fill_if(unsigned condition, void *memory)
{
    struct cudaMemsetParams ones = {
        .dst = memory, .elementSize = 1, .value = 1, .width = 4, .height = 1};
    cudaGraph_t g = graph();
    cudaGraphNode_t node, inside;
    cudaGraphConditionalHandle handle = 0;
    struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional};

    OK(cudaGraphConditionalHandleCreate(&handle, g, condition, cudaGraphCondAssignDefault));
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 1;
    OK(cudaGraphAddNode(&node, g, NULL, NULL, 0, &params));
    T_NOT_NULL(params.conditional.phGraph_out);
    OK(cudaGraphAddMemsetNode(&inside, params.conditional.phGraph_out[0], NULL, 0, &ones));
    return g;
}

TEST(cudart_nodes, a_conditional_node_has_a_body)
{
    cudaGraph_t taken, left;
    int *memory = NULL, value = -1;

    OK(cudaMalloc((void **)&memory, sizeof value));
    OK(cudaMemset(memory, 0, sizeof value));
    left = fill_if(0, memory);
    run(left);
    OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    T_EQ(value, 0);
    taken = fill_if(1, memory);
    run(taken);
    OK(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost));
    T_EQ(value, 0x01010101);
    OK(cudaGraphDestroy(left));
    OK(cudaGraphDestroy(taken));
    OK(cudaFree(memory));
}

TEST(cudart_nodes, a_graph_is_printed)
{
    char *file = t_format("%s/graph.dot", t_temp()), text[4096] = {0};
    cudaGraph_t g = graph();
    cudaGraphNode_t node;
    FILE *in;

    OK(cudaGraphAddEmptyNode(&node, g, NULL, 0));
    OK(cudaGraphDebugDotPrint(g, file, cudaGraphDebugDotFlagsVerbose));
    in = fopen(file, "r");
    T_NOT_NULL(in);
    T_GT(fread(text, 1, sizeof text - 1, in), 0);
    T_STR_HAS(text, "digraph");
    fclose(in);
    OK(cudaGraphDestroy(g));
    free(file);
}

/* The first node that differs, as the documentation of the update has it. */
TEST(cudart_nodes, a_refused_update_says_where)
{
    cudaGraph_t g = graph(), other = graph();
    cudaGraphNode_t node, first, second;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info = {0};

    OK(cudaGraphAddEmptyNode(&node, g, NULL, 0));
    OK(cudaGraphInstantiate(&exec, g, 0));
    OK(cudaGraphAddEmptyNode(&first, other, NULL, 0));
    OK(cudaGraphAddEmptyNode(&second, other, &first, 1));
    T_EQ(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
    T_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaGraphExecUpdate(exec, g, &info));
    T_EQ(info.result, cudaGraphExecUpdateSuccess);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(g));
    OK(cudaGraphDestroy(other));
}
