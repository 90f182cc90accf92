/* conditions.c: conditional nodes, whose kernels set the value they look at, and user objects,
 * whose end must come when nothing holds them any more. */
#include "tests/random/lane.h"

#include <stdatomic.h>

#define BODIES 3

/* ---- conditions ---- */

static CUgraphNode add_kernel(struct lane *lane, CUgraph graph, CUgraphNode after, CUdeviceptr at)
{
    struct resend_args args;
    void *values[10];
    CUDA_KERNEL_NODE_PARAMS_v2 params = scratch_step(lane, &args, values, at, at + SCRATCH_STEP);
    CUgraphNode node;

    MUST(cuGraphAddKernelNode_v2(&node, graph, &after, after != NULL, &params));
    return node;
}

static CUgraphNode add_decider(CUgraph graph, CUgraphNode after, CUfunction function,
                               CUgraphConditionalHandle handle, CUdeviceptr at)
{
    void *values[2] = {&handle, &at};
    CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = function,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = values};
    CUgraphNode node;

    MUST(cuGraphAddKernelNode_v2(&node, graph, &after, after != NULL, &params));
    return node;
}

/* Adds the node; the answer says what its bodies are. */
static CUgraph *add_condition(struct lane *lane, CUgraph graph, CUgraphNode after,
                              CUgraphNodeParams *params, CUgraphNode *node)
{
    params->type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params->conditional.ctx = lane->world->context;
    MUST(cuGraphAddNode_v2(node, graph, &after, NULL, after != NULL, params));
    return params->conditional.phGraph_out;
}

/* Does a fill and a kernel, and, in a loop, counts down. */
static void fill_body(struct lane *lane, CUgraph body, unsigned which, CUdeviceptr at,
                      const CUgraphNodeParams *params, CUdeviceptr flag)
{
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {
        .dst = at + SCRATCH_STEP, .value = which + 1, .elementSize = 4, .width = 8, .height = 1};
    CUgraphNode node;

    MUST(cuGraphAddMemsetNode(&node, body, NULL, 0, &fill, lane->world->context));
    node = add_kernel(lane, body, node, at);
    if (params->conditional.type == CU_GRAPH_COND_TYPE_WHILE)
        add_decider(body, node, lane->world->count_down, params->conditional.handle, flag);
}

/* A kernel decides by what lies at `flag`, then the node, then a kernel. */
static void build(struct lane *lane, CUgraph graph, CUdeviceptr at, CUdeviceptr flag)
{
    static const CUgraphConditionalNodeType types[] = {
        CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_WHILE, CU_GRAPH_COND_TYPE_SWITCH};
    CUgraphNodeParams params = {0};
    CUgraphNode node;

    params.conditional.type = types[lane_draw(lane, 3)];
    params.conditional.size = params.conditional.type == CU_GRAPH_COND_TYPE_SWITCH ? BODIES
                              : params.conditional.type == CU_GRAPH_COND_TYPE_IF
                                  ? 1 + (unsigned)lane_draw(lane, 2)
                                  : 1;
    MUST(cuGraphConditionalHandleCreate(&params.conditional.handle, graph, lane->world->context,
                                        (unsigned)lane_draw(lane, 2),
                                        CU_GRAPH_COND_ASSIGN_DEFAULT));
    node = add_decider(graph, NULL, lane->world->decide, params.conditional.handle, flag);
    CUgraph *bodies = add_condition(lane, graph, node, &params, &node);
    for (unsigned i = 0; i < params.conditional.size; i++)
        fill_body(lane, bodies[i], i, at, &params, flag);
    add_kernel(lane, graph, node, at);
}

static void condition_mistakes(struct lane *lane, CUgraph graph, CUgraphExec exec)
{
    CUgraph clone = NULL;
    CUgraphConditionalHandle handle = 0;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphNode node;
    CUresult cloned = cuGraphClone(&clone, graph);

    lane_answer(lane, cloned);
    if (cloned == CUDA_SUCCESS)
        MUST(cuGraphDestroy(clone));
    lane_answer(lane, cuGraphConditionalHandleCreate(&handle, graph, lane->world->context, 0, 99));
    params.conditional.ctx = lane->world->context;
    params.conditional.handle = handle;
    params.conditional.size = 0;
    lane_answer(lane, cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    lane_answer(lane, cuGraphExecNodeSetParams(exec, NULL, &params));
}

/* A graph of its own each time; the value that decides changes between launches. */
void conditions_play(struct lane *lane)
{
    CUdeviceptr at = scratch_new(lane, 1024, 2), flag = at + 768;
    CUgraphExecUpdateResultInfo info = {0};
    CUgraphExec exec;
    CUgraph graph;

    MUST(cuGraphCreate(&graph, 0));
    build(lane, graph, at, flag);
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    if (lane_draw(lane, 4) == 0)
        condition_mistakes(lane, graph, exec);
    for (uint64_t i = 1 + lane_draw(lane, 3); i-- > 0;) {
        MUST(cuMemsetD32Async(flag, (unsigned)lane_draw(lane, BODIES + 1), 1, lane->stream));
        lane_answer(lane, cuGraphLaunch(exec, lane->stream));
        if (lane_draw(lane, 3) == 0) {
            lane_answer(lane, cuGraphExecUpdate_v2(exec, graph, &info));
            lane_count(lane, info.result);
        }
        if (lane_draw(lane, 2))
            scratch_see(lane, at, 1024);
    }
    if (lane_draw(lane, 2))
        MUST(cuStreamSynchronize(lane->stream));
    lane_answer(lane, cuGraphDestroy(graph));
    lane_answer(lane, cuGraphExecDestroy(exec));
    scratch_see(lane, at, 1024);
    scratch_free(lane, at);
}

/* ---- user objects ---- */

static void ended(void *data)
{
    atomic_fetch_add((_Atomic uint64_t *)data, 1);
}

static void await_ends(_Atomic uint64_t *ends, uint64_t expected)
{
    const struct timespec pause = {.tv_nsec = 50000};

    while (atomic_load(ends) < expected)
        nanosleep(&pause, NULL);
}

/* References of the program, of a graph, a clone and an exec end in an order that is drawn. */
void user_objects_play(struct lane *lane)
{
    CUdeviceptr at = scratch_new(lane, 512, 1);
    unsigned count = 1 + (unsigned)lane_draw(lane, 3);
    bool move = lane_draw(lane, 2), clones = lane_draw(lane, 2), early = lane_draw(lane, 2);
    _Atomic uint64_t ends = 0;
    CUgraph graph, clone = NULL;
    CUuserObject object;
    CUgraphExec exec;

    MUST(cuUserObjectCreate(&object, (void *)&ends, ended, count,
                            CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    lane_answer(lane, cuUserObjectRetain(object, 2));
    lane_answer(lane, cuUserObjectRelease(object, 2));
    MUST(cuGraphCreate(&graph, 0));
    add_kernel(lane, graph, NULL, at);
    lane_answer(
        lane, cuGraphRetainUserObject(graph, object, count, move ? CU_GRAPH_USER_OBJECT_MOVE : 0));
    lane_answer(lane, cuGraphRetainUserObject(graph, object, 0, 0));
    lane_answer(lane, cuGraphReleaseUserObject(graph, object, count + 1));
    if (clones)
        lane_answer(lane, cuGraphClone(&clone, graph));
    MUST(cuGraphInstantiateWithFlags(&exec, clones ? clone : graph, 0));
    if (!move)
        lane_answer(lane, cuUserObjectRelease(object, count));
    if (early)
        lane_answer(lane, cuGraphReleaseUserObject(graph, object, count)); /* others have theirs */
    lane_answer(lane, cuGraphLaunch(exec, lane->stream));
    lane_answer(lane, cuGraphDestroy(graph));
    if (clones)
        lane_answer(lane, cuGraphDestroy(clone));
    lane_count(lane, atomic_load(&ends)); /* none: the exec has its own */
    lane_answer(lane, cuGraphExecDestroy(exec));
    scratch_see(lane, at, 512);
    await_ends(&ends, 1);
    lane_count(lane, atomic_load(&ends));
    scratch_free(lane, at);
}
