/* mixed.c: operations on graphs of every kind of node. Nothing here depends on an address, and no
 * node ever names memory that is gone: when cells move, all that names them is set anew. */
#include "tests/random/lane.h"

/* ---- setters, on an exec ---- */

static void set_kernel(struct lane *lane, CUgraphExec exec, CUgraphNode node)
{
    struct resend_args args;
    void *values[10];
    CUDA_KERNEL_NODE_PARAMS_v2 params = mixed_draw_kernel(lane, &args, values);

    if (lane_draw(lane, 3) == 0)
        lane_answer(lane, cuGraphExecKernelNodeSetParams(
                              exec, node, (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params));
    else
        lane_answer(lane, cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
}

static void set_generic(struct lane *lane, CUgraphExec exec, enum mixed_kind kind)
{
    struct resend_args args;
    void *values[10];
    CUgraphNodeParams params = mixed_draw_any(lane, kind, &args, values);

    lane_answer(lane, cuGraphExecNodeSetParams(exec, lane->mixed.node[kind], &params));
}

static void set_as_drawn(struct lane *lane, CUgraphExec exec, enum mixed_kind kind, bool generic)
{
    struct mixed *m = &lane->mixed;
    CUcontext context = lane->world->context;
    CUgraphNode node = m->node[kind];

    if (generic) {
        set_generic(lane, exec, kind);
        return;
    }
    CUDA_MEMSET_NODE_PARAMS_v1 fill = mixed_draw_fill(lane);
    CUDA_MEMCPY3D copy = mixed_draw_copy(lane);
    CUDA_HOST_NODE_PARAMS_v1 host = mixed_draw_host(lane);
    switch (kind) {
    case MIXED_FILL:
        lane_answer(lane, cuGraphExecMemsetNodeSetParams(exec, node, &fill, context));
        break;
    case MIXED_COPY:
        lane_answer(lane, cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context));
        break;
    case MIXED_HOST: lane_answer(lane, cuGraphExecHostNodeSetParams(exec, node, &host)); break;
    case MIXED_CHILD:
        lane_answer(lane, cuGraphExecChildGraphNodeSetParams(exec, node, m->inner));
        break;
    case MIXED_RECORD:
        lane_answer(lane, cuGraphExecEventRecordNodeSetEvent(exec, node, mixed_any_event(lane)));
        break;
    case MIXED_WAIT:
        lane_answer(lane, cuGraphExecEventWaitNodeSetEvent(exec, node, mixed_any_event(lane)));
        break;
    default: set_kernel(lane, exec, node); break;
    }
}

/* Values come from one of two places in the sequence of random numbers, so that most updates say
 * what one before them said, in this form or another. */
static void set(struct lane *lane, CUgraphExec exec, enum mixed_kind kind)
{
    bool generic = lane_draw(lane, 3) == 0;
    uint64_t choice = lane_draw(lane, 2), goes_on = lane->random;

    lane->random = lane->seed + 2 * (uint64_t)kind + choice;
    set_as_drawn(lane, exec, kind, generic);
    lane->random = goes_on;
}

static CUgraphExec any_exec(struct lane *lane)
{
    return lane->mixed.exec[lane_draw(lane, EXECS)];
}

void mixed_set(struct lane *lane)
{
    CUgraphExec exec = any_exec(lane);
    enum mixed_kind kind = (enum mixed_kind)lane_draw(lane, MIXED_KINDS);

    /* Often more than one, as programs do. */
    for (uint64_t i = lane_draw(lane, 4); i-- > 0;)
        set(lane, exec, kind);
    set(lane, exec, kind);
}

void mixed_set_nested(struct lane *lane)
{
    CUgraphExec exec = any_exec(lane);

    set_kernel(lane, exec, lane->mixed.embedded_node[0]);
    if (lane_draw(lane, 2)) {
        CUDA_MEMSET_NODE_PARAMS_v1 fill = mixed_draw_fill(lane);
        lane_answer(lane, cuGraphExecMemsetNodeSetParams(exec, lane->mixed.embedded_node[1], &fill,
                                                         lane->world->context));
    }
}

void mixed_enable(struct lane *lane)
{
    enum mixed_kind kind = (enum mixed_kind)lane_draw(lane, MIXED_COPY + 1);

    lane_answer(lane, cuGraphNodeSetEnabled(any_exec(lane), lane->mixed.node[kind],
                                            (unsigned)lane_draw(lane, 2)));
}

/* ---- the graph itself ---- */

static void edit(struct lane *lane, enum mixed_kind kind)
{
    struct resend_args args;
    void *values[10];
    CUgraphNode node = lane->mixed.node[kind];
    CUgraphNodeParams params = mixed_draw_any(lane, kind, &args, values);

    if (kind == MIXED_CHILD) /* the graph in a child node is set by its nodes */
        return;
    if (lane_draw(lane, 2)) {
        lane_answer(lane, cuGraphNodeSetParams(node, &params));
        return;
    }
    if (kind == MIXED_FILL)
        lane_answer(lane, cuGraphMemsetNodeSetParams(
                              node, (const CUDA_MEMSET_NODE_PARAMS_v1 *)&params.memset));
    else if (kind == MIXED_COPY)
        lane_answer(lane, cuGraphMemcpyNodeSetParams(node, &params.memcpy.copyParams));
    else if (kind == MIXED_HOST)
        lane_answer(lane,
                    cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS_v1 *)&params.host));
    else if (kind == MIXED_RECORD)
        lane_answer(lane, cuGraphEventRecordNodeSetEvent(node, params.eventRecord.event));
    else if (kind == MIXED_WAIT)
        lane_answer(lane, cuGraphEventWaitNodeSetEvent(node, params.eventWait.event));
    else
        lane_answer(lane, cuGraphKernelNodeSetParams_v2(
                              node, (const CUDA_KERNEL_NODE_PARAMS_v2 *)&params.kernel));
}

static void edit_inner(struct lane *lane, const CUgraphNode nodes[2])
{
    struct resend_args args;
    void *values[10];
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = mixed_draw_kernel(lane, &args, values);
    CUDA_MEMSET_NODE_PARAMS_v1 fill = mixed_draw_fill(lane);

    lane_answer(lane, cuGraphKernelNodeSetParams_v2(nodes[0], &kernel));
    lane_answer(lane, cuGraphMemsetNodeSetParams(nodes[1], &fill));
}

void mixed_edit(struct lane *lane)
{
    CUkernelNodeAttrValue value = {.priority = 0};

    switch (lane_draw(lane, 6)) {
    case 0: edit_inner(lane, lane->mixed.inner_node); break;
    case 1: edit_inner(lane, lane->mixed.embedded_node); break;
    case 2:
        lane_answer(lane, cuGraphKernelNodeSetAttribute(lane->mixed.node[MIXED_KERNEL],
                                                        CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
        break;
    default: edit(lane, (enum mixed_kind)lane_draw(lane, MIXED_KINDS)); break;
    }
}

/* ---- whole execs ---- */

static CUresult instantiate(struct lane *lane, CUgraphExec *exec)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    CUgraph source = lane->mixed.source;
    char log[64];

    switch (lane_draw(lane, 4)) {
    case 0: return cuGraphInstantiate_v2(exec, source, NULL, log, sizeof log);
    case 1: return cuGraphInstantiate(exec, source, NULL, log, sizeof log);
    case 2: return cuGraphInstantiateWithParams(exec, source, &params);
    default: return cuGraphInstantiateWithFlags(exec, source, 0);
    }
}

void mixed_update(struct lane *lane)
{
    CUgraph from = lane->mixed.source;
    CUgraphExecUpdateResultInfo info = {0};
    CUgraphExecUpdateResult why = CU_GRAPH_EXEC_UPDATE_ERROR;
    CUgraphNode culprit;
    bool clone = lane_draw(lane, 2);

    if (clone)
        MUST(cuGraphClone(&from, lane->mixed.source));
    if (lane_draw(lane, 3) == 0) {
        lane_answer(lane, cuGraphExecUpdate(any_exec(lane), from, &culprit, &why));
        lane_observe(lane, &why, sizeof why);
    } else {
        lane_answer(lane, cuGraphExecUpdate_v2(any_exec(lane), from, &info));
        lane_observe(lane, &info.result, sizeof info.result);
    }
    if (clone)
        lane_answer(lane, cuGraphDestroy(from));
}

void mixed_renew(struct lane *lane)
{
    CUgraphExec *exec = &lane->mixed.exec[lane_draw(lane, EXECS)];

    lane_answer(lane, cuGraphExecDestroy(*exec));
    MUST(instantiate(lane, exec));
}

/* A chain: no result depends on an order that the driver may choose. */
static void build(struct lane *lane)
{
    struct mixed *m = &lane->mixed;
    CUgraph embedded;
    size_t count = 2;

    MUST(cuGraphCreate(&m->source, 0));
    MUST(cuGraphCreate(&m->inner, 0));
    for (int i = 0; i < 2; i++) {
        struct resend_args args;
        void *values[10];
        CUgraphNodeParams params =
            mixed_draw_any(lane, i ? MIXED_FILL : MIXED_KERNEL, &args, values);
        MUST(cuGraphAddNode_v2(&m->inner_node[i], m->inner, m->inner_node, NULL, (size_t)i,
                               &params));
    }
    for (int kind = 0; kind < MIXED_KINDS; kind++) {
        struct resend_args args;
        void *values[10];
        CUgraphNodeParams params = mixed_draw_any(lane, (enum mixed_kind)kind, &args, values);
        MUST(cuGraphAddNode_v2(&m->node[kind], m->source, &m->node[kind ? kind - 1 : 0], NULL,
                               kind ? 1 : 0, &params));
    }
    MUST(cuGraphChildGraphNodeGetGraph(m->node[MIXED_CHILD], &embedded));
    MUST(cuGraphGetNodes(embedded, m->embedded_node, &count));
    for (int i = 0; i < EXECS; i++)
        MUST(instantiate(lane, &m->exec[i]));
}

static void destroy(struct lane *lane)
{
    struct mixed *m = &lane->mixed;
    bool source_first = lane_draw(lane, 2);

    if (source_first)
        lane_answer(lane, cuGraphDestroy(m->source));
    for (int i = 0; i < EXECS; i++)
        lane_answer(lane, cuGraphExecDestroy(m->exec[i]));
    if (!source_first)
        lane_answer(lane, cuGraphDestroy(m->source));
    lane_answer(lane, cuGraphDestroy(m->inner));
}

/* ---- cells ---- */

static void allocate_cells(struct lane *lane)
{
    for (int i = 0; i < CELLS; i++) {
        MUST(cuMemAlloc_v2(&lane->mixed.cell[i], CELL_BYTES));
        MUST(cuMemsetD32Async(lane->mixed.cell[i], (unsigned)i, CELL_BYTES / 4, lane->stream));
    }
}

static void free_cells(struct lane *lane)
{
    for (int i = 0; i < CELLS; i++)
        lane_answer(lane, cuMemFree_v2(lane->mixed.cell[i]));
}

/* Tells an exec where the cells are; true if the driver has taken all of it. */
static bool tell(struct lane *lane, CUgraphExec exec)
{
    uint64_t refused = lane->refused;
    CUgraphExecUpdateResultInfo info;

    if (lane_draw(lane, 2)) {
        lane_answer(lane, cuGraphExecUpdate_v2(exec, lane->mixed.source, &info));
    } else {
        for (int kind = 0; kind < MIXED_KINDS; kind++)
            set(lane, exec, (enum mixed_kind)kind);
    }
    return lane->refused == refused;
}

/* Everything that an exec is made from; true if the driver has taken all of it. */
static bool tell_graph(struct lane *lane)
{
    uint64_t refused = lane->refused;

    edit_inner(lane, lane->mixed.inner_node);
    edit_inner(lane, lane->mixed.embedded_node);
    for (int kind = 0; kind < MIXED_KINDS; kind++)
        edit(lane, (enum mixed_kind)kind);
    return lane->refused == refused;
}

static void rebuild(struct lane *lane)
{
    destroy(lane);
    build(lane);
}

/* The graph, then the execs. What refuses to be told is made anew. */
static void tell_all(struct lane *lane)
{
    struct mixed *m = &lane->mixed;

    if (!tell_graph(lane)) {
        rebuild(lane);
        return;
    }
    for (int i = 0; i < EXECS; i++) {
        if (tell(lane, m->exec[i]))
            continue;
        lane_answer(lane, cuGraphExecDestroy(m->exec[i]));
        MUST(instantiate(lane, &m->exec[i]));
    }
}

void mixed_move(struct lane *lane)
{
    MUST(cuStreamSynchronize(lane->stream));
    free_cells(lane);
    if (lane_draw(lane, 2)) {
        destroy(lane);
        allocate_cells(lane);
        build(lane);
    } else {
        allocate_cells(lane);
        tell_all(lane);
    }
}

/* ---- launches ---- */

void mixed_launch(struct lane *lane)
{
    struct mixed *m = &lane->mixed;
    char host[CELL_BYTES];

    if (lane_draw(lane, 4) == 0)
        lane_answer(lane, cuGraphUpload(m->exec[0], lane->stream));
    for (uint64_t i = lane_draw(lane, 3) + 1; i-- > 0;)
        lane_answer(lane, cuGraphLaunch(any_exec(lane), lane->stream));
    for (int i = 0; i < CELLS; i++) {
        lane_answer(lane, cuMemcpyDtoHAsync_v2(host, m->cell[i], CELL_BYTES, lane->stream));
        lane_answer(lane, cuStreamSynchronize(lane->stream));
        lane_observe(lane, host, sizeof host);
    }
    lane_observe(lane, &m->total, sizeof m->total);
    m->step = lane_draw(lane, 5);
}

/* ---- mistakes ---- */

void mixed_mistake(struct lane *lane)
{
    struct mixed *m = &lane->mixed;
    struct resend_args args;
    void *values[10];
    CUgraphNodeParams params = mixed_draw_any(lane, MIXED_KERNEL, &args, values);
    CUDA_MEMCPY3D copy = mixed_draw_copy(lane);
    CUDA_MEMSET_NODE_PARAMS_v1 fill = mixed_draw_fill(lane);
    CUcontext context = lane->world->context;

    switch (lane_draw(lane, 5)) {
    case 0:
        lane_answer(lane, cuGraphExecNodeSetParams(m->exec[0], m->node[MIXED_FILL], &params));
        break;
    case 1:
        copy.Height = 2;
        copy.srcPitch = copy.dstPitch = 256;
        lane_answer(
            lane, cuGraphExecMemcpyNodeSetParams(m->exec[0], m->node[MIXED_COPY], &copy, context));
        break;
    case 2:
        fill.elementSize = 3;
        lane_answer(
            lane, cuGraphExecMemsetNodeSetParams(m->exec[1], m->node[MIXED_FILL], &fill, context));
        break;
    case 3:
        params.reserved2 = 1;
        lane_answer(lane, cuGraphExecNodeSetParams(m->exec[0], m->node[MIXED_KERNEL], &params));
        break;
    default: lane_answer(lane, cuGraphNodeSetEnabled(m->exec[0], m->node[MIXED_HOST], 0)); break;
    }
}

/* ---- beginning and end ---- */

void mixed_begin(struct lane *lane)
{
    for (int i = 0; i < 2; i++)
        MUST(cuEventCreate(&lane->mixed.event[i], CU_EVENT_DISABLE_TIMING));
    lane->mixed.step = 1;
    allocate_cells(lane);
    build(lane);
}

void mixed_end(struct lane *lane)
{
    mixed_launch(lane);
    destroy(lane);
    free_cells(lane);
    for (int i = 0; i < 2; i++)
        lane_answer(lane, cuEventDestroy_v2(lane->mixed.event[i]));
}
