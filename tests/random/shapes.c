/* shapes.c: a graph whose nodes and edges come and go. Each node writes memory of its own, and
 * reads that of the node before it only if it depends on it for good, so that any order the driver
 * may choose gives the same. */
#include "tests/random/lane.h"

#define SHAPE_NODES 8
#define SLOT        512 /* of a node: what it writes, then what it reads if nothing else */
#define SHAPE_BYTES ((size_t)SHAPE_NODES * SLOT)

enum shape_kind { SHAPE_KERNEL, SHAPE_FILL, SHAPE_COPY, SHAPE_HOST, SHAPE_BATCH, SHAPE_EMPTY };
#define SHAPE_KINDS (SHAPE_EMPTY + 1)

struct shape {
    CUgraph graph;
    CUgraphNode node[SHAPE_NODES]; /* NULL: none */
    enum shape_kind kind[SHAPE_NODES];
    bool firm[SHAPE_NODES];      /* depends on the one before it as long as both are there */
    uint64_t calls[SHAPE_NODES]; /* of host nodes */
    CUdeviceptr memory;
    size_t bytes; /* with nodes that copy, a size that no other buffer has: libvaremap leaves it */
    bool copies;
};

/* ---- nodes ---- */

static CUdeviceptr slot(const struct shape *s, unsigned i)
{
    return s->memory + SLOT * (CUdeviceptr)i;
}

static CUdeviceptr read_by(const struct shape *s, unsigned i)
{
    return s->firm[i] ? slot(s, i - 1) : slot(s, i) + SLOT / 2;
}

static void count_call(void *data)
{
    ++*(uint64_t *)data;
}

static void count_twice(void *data)
{
    *(uint64_t *)data += 2;
}

/* Where what a node is told lies; good as long as it lives. */
struct told {
    struct resend_args args;
    void *values[10];
    CUstreamBatchMemOpParams ops[2];
};

static CUgraphNodeParams batch_params(struct lane *lane, struct shape *s, unsigned i,
                                      struct told *told)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};

    for (unsigned k = 0; k < 2; k++)
        told->ops[k] = (CUstreamBatchMemOpParams){
            .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                           .address = slot(s, i) + 4 * lane_draw(lane, 8),
                           .value = (unsigned)lane_draw(lane, 3)}};
    params.memOp.ctx = lane->world->context;
    params.memOp.count = 2;
    params.memOp.paramArray = told->ops;
    return params;
}

static CUgraphNodeParams copy_params(struct lane *lane, const struct shape *s, unsigned i)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};

    params.memcpy.copyCtx = lane->world->context;
    params.memcpy.copyParams = (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = read_by(s, i),
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = slot(s, i),
        .WidthInBytes = 32 << lane_draw(lane, 3),
        .Height = 1,
        .Depth = 1,
    };
    return params;
}

static CUgraphNodeParams draw_params(struct lane *lane, struct shape *s, unsigned i,
                                     struct told *told)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;

    switch (s->kind[i]) {
    case SHAPE_KERNEL:
        params.type = CU_GRAPH_NODE_TYPE_KERNEL;
        kernel = scratch_step(lane, &told->args, told->values, slot(s, i), read_by(s, i));
        memcpy(&params.kernel, &kernel, sizeof kernel);
        break;
    case SHAPE_FILL:
        params.type = CU_GRAPH_NODE_TYPE_MEMSET;
        params.memset.dst = slot(s, i);
        params.memset.value = (unsigned)lane_draw(lane, 4);
        params.memset.elementSize = 1u << lane_draw(lane, 3);
        params.memset.width = 8;
        params.memset.height = 1;
        params.memset.ctx = lane->world->context;
        break;
    case SHAPE_COPY: return copy_params(lane, s, i);
    case SHAPE_HOST:
        params.type = CU_GRAPH_NODE_TYPE_HOST;
        params.host.fn = lane_draw(lane, 2) ? count_call : count_twice;
        params.host.userData = &s->calls[i];
        break;
    case SHAPE_BATCH: return batch_params(lane, s, i, told);
    default: break;
    }
    return params;
}

/* Through one of the functions there are. */
static CUresult add(struct lane *lane, struct shape *s, unsigned i, const CUgraphNode *before,
                    size_t count, CUgraphNodeParams *params)
{
    CUgraphNode *node = &s->node[i];
    CUcontext context = lane->world->context;
    uint64_t way = lane_draw(lane, 4);

    if (way < 2)
        return way ? cuGraphAddNode_v2(node, s->graph, before, NULL, count, params)
                   : cuGraphAddNode(node, s->graph, before, count, params);
    switch (s->kind[i]) {
    case SHAPE_KERNEL:
        return way == 2
                   ? cuGraphAddKernelNode(node, s->graph, before, count,
                                          (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params->kernel)
                   : cuGraphAddKernelNode_v2(node, s->graph, before, count,
                                             (const CUDA_KERNEL_NODE_PARAMS_v2 *)&params->kernel);
    case SHAPE_FILL:
        return cuGraphAddMemsetNode(node, s->graph, before, count,
                                    (const CUDA_MEMSET_NODE_PARAMS_v1 *)&params->memset, context);
    case SHAPE_COPY:
        return cuGraphAddMemcpyNode(node, s->graph, before, count, &params->memcpy.copyParams,
                                    context);
    case SHAPE_HOST:
        return cuGraphAddHostNode(node, s->graph, before, count,
                                  (const CUDA_HOST_NODE_PARAMS_v1 *)&params->host);
    case SHAPE_BATCH:
        return cuGraphAddBatchMemOpNode(
            node, s->graph, before, count,
            &(CUDA_BATCH_MEM_OP_NODE_PARAMS_v1){.ctx = context,
                                                .count = params->memOp.count,
                                                .paramArray = params->memOp.paramArray});
    default: return cuGraphAddEmptyNode(node, s->graph, before, count);
    }
}

/* Depends on some of the nodes before it, and maybe on its neighbour for good. */
static void add_node(struct lane *lane, struct shape *s, unsigned i)
{
    CUgraphNode before[SHAPE_NODES];
    struct told told;
    size_t count = 0;

    s->kind[i] = (enum shape_kind)lane_draw(lane, SHAPE_KINDS);
    if (s->kind[i] == SHAPE_COPY && !s->copies)
        s->kind[i] = SHAPE_KERNEL;
    s->firm[i] = i && s->node[i - 1] && lane_draw(lane, 2);
    s->calls[i] = 0;
    for (unsigned k = 0; k < i; k++)
        if (s->node[k] && ((s->firm[i] && k == i - 1) || lane_draw(lane, 4) == 0))
            before[count++] = s->node[k];
    CUgraphNodeParams params = draw_params(lane, s, i, &told);
    MUST(add(lane, s, i, before, count, &params));
}

/* With it go those that read what it writes, for its place may be taken by another. */
static void destroy_node(struct lane *lane, struct shape *s, unsigned i)
{
    do {
        lane_answer(lane, cuGraphDestroyNode(s->node[i]));
        s->node[i] = NULL;
    } while (++i < SHAPE_NODES && s->node[i] && s->firm[i]);
}

/* ---- edits ---- */

static void change_edges(struct lane *lane, struct shape *s)
{
    unsigned b = (unsigned)lane_draw(lane, SHAPE_NODES), a = (unsigned)lane_draw(lane, b + 1);
    bool two_versions = lane_draw(lane, 2);

    if (!s->node[a] || !s->node[b])
        return;
    if (lane_draw(lane, 2)) /* refused if it is there already, or is the node itself */
        lane_answer(lane,
                    two_versions
                        ? cuGraphAddDependencies(s->graph, &s->node[a], &s->node[b], 1)
                        : cuGraphAddDependencies_v2(s->graph, &s->node[a], &s->node[b], NULL, 1));
    else if (!(s->firm[b] && a + 1 == b))
        lane_answer(
            lane, two_versions
                      ? cuGraphRemoveDependencies(s->graph, &s->node[a], &s->node[b], 1)
                      : cuGraphRemoveDependencies_v2(s->graph, &s->node[a], &s->node[b], NULL, 1));
}

/* The node in the graph is told something else, which an exec learns by an update. */
static void change_node(struct lane *lane, struct shape *s, unsigned i)
{
    struct told told;
    CUgraphNodeParams params = draw_params(lane, s, i, &told);

    if (s->kind[i] == SHAPE_KERNEL && lane_draw(lane, 2))
        lane_answer(lane, cuGraphKernelNodeSetParams(
                              s->node[i], (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params.kernel));
    else if (s->kind[i] == SHAPE_BATCH && lane_draw(lane, 2))
        lane_answer(lane, cuGraphBatchMemOpNodeSetParams(
                              s->node[i], &(CUDA_BATCH_MEM_OP_NODE_PARAMS_v1){
                                              .ctx = lane->world->context,
                                              .count = 1 + (unsigned)lane_draw(lane, 2),
                                              .paramArray = told.ops}));
    else
        lane_answer(lane, cuGraphNodeSetParams(s->node[i], &params));
}

static void change_attributes(struct lane *lane, struct shape *s, unsigned i)
{
    CUkernelNodeAttrValue value = {.priority = -(int)lane_draw(lane, 3)}, got = {0};
    unsigned other = (unsigned)lane_draw(lane, SHAPE_NODES);

    lane_answer(lane,
                cuGraphKernelNodeSetAttribute(s->node[i], CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    if (s->node[other])
        lane_answer(lane, cuGraphKernelNodeCopyAttributes(s->node[other], s->node[i]));
    lane_answer(lane,
                cuGraphKernelNodeGetAttribute(s->node[i], CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
    lane_count(lane, (uint64_t)got.priority);
}

static void edit(struct lane *lane, struct shape *s)
{
    unsigned i = (unsigned)lane_draw(lane, SHAPE_NODES);

    if (!s->node[i]) {
        add_node(lane, s, i);
        return;
    }
    switch (lane_draw(lane, 6)) {
    case 0: destroy_node(lane, s, i); break;
    case 1: change_attributes(lane, s, i); break;
    case 2:
    case 3: change_node(lane, s, i); break;
    default: change_edges(lane, s); break;
    }
}

/* ---- questions ---- */

/* Where a node says that it writes, as an offset. */
static void ask_node(struct lane *lane, const struct shape *s, unsigned i)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = {0};
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {0};
    CUDA_MEMCPY3D copy = {0};
    CUDA_HOST_NODE_PARAMS_v1 host = {0};
    CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 batch = {0};

    switch (s->kind[i]) {
    case SHAPE_KERNEL:
        MUST(cuGraphKernelNodeGetParams_v2(s->node[i], &kernel));
        lane_count(lane, *(CUdeviceptr *)kernel.kernelParams[0] - s->memory);
        lane_count(lane, *(uint32_t *)kernel.kernelParams[8]);
        break;
    case SHAPE_FILL:
        MUST(cuGraphMemsetNodeGetParams(s->node[i], &fill));
        lane_count(lane, (fill.dst - s->memory) << 8 | fill.elementSize << 4 | fill.value);
        break;
    case SHAPE_COPY:
        MUST(cuGraphMemcpyNodeGetParams(s->node[i], &copy));
        lane_count(lane, copy.dstDevice - s->memory);
        lane_count(lane, copy.srcDevice - s->memory);
        break;
    case SHAPE_HOST:
        MUST(cuGraphHostNodeGetParams(s->node[i], &host));
        lane_count(lane, host.fn == count_twice);
        break;
    default:
        lane_answer(lane, cuGraphBatchMemOpNodeGetParams(s->node[i], &batch)); /* or it is empty */
        if (batch.count)
            lane_count(lane, batch.paramArray[0].writeValue.address - s->memory);
        break;
    }
}

static void ask(struct lane *lane, const struct shape *s)
{
    size_t nodes = 0, roots = 0, edges = 0, few = 1;
    CUgraphNode first = NULL;

    lane_answer(lane, cuGraphGetNodes(s->graph, NULL, &nodes));
    lane_answer(lane, cuGraphGetRootNodes(s->graph, NULL, &roots));
    if (lane_draw(lane, 2))
        lane_answer(lane, cuGraphGetEdges(s->graph, NULL, NULL, &edges));
    else
        lane_answer(lane, cuGraphGetEdges_v2(s->graph, NULL, NULL, NULL, &edges));
    lane_count(lane, nodes << 16 | roots << 8 | edges);
    lane_answer(lane, cuGraphGetNodes(s->graph, &first, &few));
    lane_count(lane, few);
    for (unsigned i = 0; i < SHAPE_NODES; i++) {
        size_t in = 0, out = 0;
        CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;

        if (!s->node[i])
            continue;
        lane_answer(lane, cuGraphNodeGetDependencies(s->node[i], NULL, &in));
        lane_answer(lane, cuGraphNodeGetDependentNodes_v2(s->node[i], NULL, NULL, &out));
        lane_answer(lane, cuGraphNodeGetType(s->node[i], &type));
        lane_count(lane, (uint64_t)type << 16 | in << 8 | out);
        ask_node(lane, s, i);
    }
    lane_answer(lane, cuGraphDebugDotPrint(s->graph, "/dev/null", 0));
}

/* ---- clones and execs ---- */

/* A clone, with one of its nodes told something else; the exec may be updated from it. */
static CUgraph clone(struct lane *lane, struct shape *s)
{
    unsigned i = (unsigned)lane_draw(lane, SHAPE_NODES);
    struct told told;
    CUgraphNode twin = NULL;
    CUgraph graph;

    MUST(cuGraphClone(&graph, s->graph));
    if (!s->node[i])
        return graph;
    lane_answer(lane, cuGraphNodeFindInClone(&twin, s->node[i], graph));
    CUgraphNodeParams params = draw_params(lane, s, i, &told);
    if (twin)
        lane_answer(lane, cuGraphNodeSetParams(twin, &params));
    lane_answer(lane, cuGraphNodeFindInClone(&twin, s->node[i], s->graph));
    return graph;
}

static void update(struct lane *lane, struct shape *s, CUgraphExec exec)
{
    CUgraphExecUpdateResultInfo info = {0};
    CUgraph from = lane_draw(lane, 2) ? clone(lane, s) : s->graph;

    lane_answer(lane, cuGraphExecUpdate_v2(exec, from, &info));
    lane_count(lane, info.result);
    if (from != s->graph)
        lane_answer(lane, cuGraphDestroy(from));
}

/* One node of an exec that has all of the graph's. */
static void set(struct lane *lane, struct shape *s, CUgraphExec exec, unsigned i)
{
    struct told told;
    CUgraphNodeParams params = draw_params(lane, s, i, &told);
    if (s->kind[i] == SHAPE_BATCH && lane_draw(lane, 2))
        lane_answer(lane, cuGraphExecBatchMemOpNodeSetParams(
                              exec, s->node[i],
                              &(CUDA_BATCH_MEM_OP_NODE_PARAMS_v1){.ctx = lane->world->context,
                                                                  .count = params.memOp.count,
                                                                  .paramArray = told.ops}));
    else if (s->kind[i] != SHAPE_EMPTY)
        lane_answer(lane, cuGraphExecNodeSetParams(exec, s->node[i], &params));
    else
        lane_answer(lane, cuGraphNodeSetEnabled(exec, s->node[i], 0));
}

/* All that names the memory is told where it is now; what refuses is made anew. */
static void move(struct lane *lane, struct shape *s, CUgraphExec *exec)
{
    CUgraphExecUpdateResultInfo info = {0};
    bool whole = lane_draw(lane, 2);
    uint64_t refused;

    MUST(cuStreamSynchronize(lane->stream));
    scratch_free(lane, s->memory);
    s->memory = scratch_new(lane, s->bytes, 3);
    for (unsigned i = 0; i < SHAPE_NODES; i++)
        if (s->node[i] && s->kind[i] != SHAPE_EMPTY)
            change_node(lane, s, i);
    refused = lane->refused;
    for (unsigned i = 0; i < SHAPE_NODES && !whole; i++)
        if (s->node[i] && s->kind[i] != SHAPE_EMPTY)
            set(lane, s, *exec, i);
    if (whole)
        lane_answer(lane, cuGraphExecUpdate_v2(*exec, s->graph, &info));
    if (lane->refused == refused)
        return;
    lane_answer(lane, cuGraphExecDestroy(*exec));
    MUST(cuGraphInstantiateWithFlags(exec, s->graph, 0));
}

static void see(struct lane *lane, struct shape *s)
{
    scratch_see(lane, s->memory, SHAPE_BYTES);
    for (unsigned i = 0; i < SHAPE_NODES; i++)
        lane_count(lane, s->calls[i]);
}

/* Made, told, launched, moved, edited, updated, launched. */
static void use(struct lane *lane, struct shape *s)
{
    CUgraphExec exec;

    MUST(cuGraphInstantiateWithFlags(&exec, s->graph, 0));
    for (unsigned i = 0; i < SHAPE_NODES; i++)
        if (s->node[i] && lane_draw(lane, 4) == 0)
            set(lane, s, exec, i);
    lane_answer(lane, cuGraphLaunch(exec, lane->stream));
    see(lane, s);
    if (lane_draw(lane, 2)) {
        move(lane, s, &exec);
        lane_answer(lane, cuGraphLaunch(exec, lane->stream));
        see(lane, s);
    }
    for (uint64_t k = lane_draw(lane, 3); k-- > 0;)
        edit(lane, s);
    update(lane, s, exec);
    lane_answer(lane, cuGraphLaunch(exec, lane->stream));
    see(lane, s);
    lane_answer(lane, cuGraphExecDestroy(exec));
}

void shapes_play(struct lane *lane)
{
    struct shape s = {.copies = lane_draw(lane, 2)};

    s.bytes = SHAPE_BYTES + (s.copies ? 32 : 0);
    s.memory = scratch_new(lane, s.bytes, 3);
    MUST(cuGraphCreate(&s.graph, 0));
    for (unsigned i = 0; i < SHAPE_NODES; i++)
        if (lane_draw(lane, 4))
            add_node(lane, &s, i);
    for (uint64_t k = lane_draw(lane, 3); k-- > 0;) {
        edit(lane, &s);
        ask(lane, &s);
    }
    for (uint64_t k = 1 + lane_draw(lane, 2); k-- > 0;)
        use(lane, &s);
    lane_answer(lane, cuGraphDestroy(s.graph));
    scratch_free(lane, s.memory);
}
