/* graph_instantiate.c: makes an exec from a graph: its steps, the order they run in, its first
 * plan. It does not change execs (graph_exec.c, graph_update.c) nor run them (graph_launch.c). */
#include "graph_schedule.h"
#include "va.h"

#include <stdio.h>
#include <stdlib.h>

#define FLAGS_OF_ALL                                                                               \
    (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | \
     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

/* An instantiation under way, and why it failed. */
struct making {
    struct fv_exec *exec;
    size_t steps, levels, actions;    /* entries given out */
    const struct fv_context *context; /* of the nodes so far, for device launch */
    CUgraphInstantiateResult why;
    const struct fv_node *node;
};

static CUresult refuse(struct making *making, CUgraphInstantiateResult why,
                       const struct fv_node *node)
{
    making->why = why;
    making->node = node;
    return CUDA_ERROR_INVALID_VALUE;
}

/* All nodes and all graphs, those inside nodes included. */
static void count_parts(const struct fv_graph *graph, struct fv_exec *exec)
{
    exec->count += graph->count;
    exec->level_count++;
    for (const struct fv_node *node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->inner_count; i++)
            count_parts(fv_node_inner(node, i), exec);
}

/* ---- one level of steps ---- */

/* Device and pinned memory only, and no arrays. */
static bool copies_for_device(const struct fv_params *params)
{
    return params->copy.srcMemoryType != CU_MEMORYTYPE_ARRAY &&
           params->copy.dstMemoryType != CU_MEMORYTYPE_ARRAY &&
           fv_va_find(params->copy_plan.from.at) && fv_va_find(params->copy_plan.to.at);
}

/* What an exec for device launch may hold: work of one context only. */
static CUresult check_device_launch(struct making *making, const struct fv_node *node)
{
    const struct fv_params *params = node->params;
    if (params->type != CU_GRAPH_NODE_TYPE_KERNEL && params->type != CU_GRAPH_NODE_TYPE_MEMCPY &&
        params->type != CU_GRAPH_NODE_TYPE_MEMSET && params->type != CU_GRAPH_NODE_TYPE_GRAPH)
        return refuse(making, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node);
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY && !copies_for_device(params))
        return refuse(making, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node);
    if (making->context && params->context && params->context != making->context)
        return refuse(making, CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, node);
    if (params->context)
        making->context = params->context;
    return CUDA_SUCCESS;
}

static CUresult fill_step(struct making *making, struct fv_step *step, const struct fv_node *node)
{
    const struct fv_params *params = node->params;
    if (!fv_params_alive(params))
        return refuse(making, CUDA_GRAPH_INSTANTIATE_ERROR, NULL);
    if (making->exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
        CUresult result = check_device_launch(making, node);
        if (result != CUDA_SUCCESS)
            return result;
    }
    step->node = node->id;
    step->type = params->type;
    step->context = params->context;
    fv_params_bind(params, &step->source, &step->target);
    step->company = fv_node_company(node);
    step->priority = fv_node_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY)->priority;
    if (fv_node_updatable(node))
        making->exec->updatable = true;
    if (step->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        CUresult result = fv_params_check_company(params, &step->company);
        if (result != CUDA_SUCCESS)
            return result;
    }
    step->in = calloc(node->in.count + 1, sizeof *step->in);
    if (!step->in)
        return CUDA_ERROR_OUT_OF_MEMORY;
    step->in_count = node->in.count;
    for (size_t i = 0; i < node->in.count; i++)
        step->in[i] = (struct fv_step_edge){node->in.at[i].node->mark, node->in.at[i].data};
    return CUDA_SUCCESS;
}

/* Nodes that wait for no other any more; the one that was created first is at the top. */
struct ready {
    struct fv_node **at;
    size_t count;
};

static void swap_ready(struct ready *ready, size_t a, size_t b)
{
    struct fv_node *node = ready->at[a];
    ready->at[a] = ready->at[b];
    ready->at[b] = node;
}

static void add_ready(struct ready *ready, struct fv_node *node)
{
    size_t i = ready->count++;
    ready->at[i] = node;
    for (; i && ready->at[i]->mark < ready->at[(i - 1) / 2]->mark; i = (i - 1) / 2)
        swap_ready(ready, i, (i - 1) / 2);
}

static struct fv_node *take_ready(struct ready *ready)
{
    struct fv_node *first = ready->at[0];
    size_t i = 0, child;
    ready->at[0] = ready->at[--ready->count];
    for (; (child = 2 * i + 1) < ready->count; i = child) {
        if (child + 1 < ready->count && ready->at[child + 1]->mark < ready->at[child]->mark)
            child++;
        if (ready->at[i]->mark <= ready->at[child]->mark)
            break;
        swap_ready(ready, i, child);
    }
    return first;
}

/* Puts the nodes of a level in an order that respects the edges, and otherwise is that of creation.
 * `waiting` and `ready` have room for each node. Returns how many could be placed: fewer than all
 * when there is a cycle. */
static size_t sort_nodes(const struct fv_graph *graph, struct fv_node **order, size_t *waiting,
                         struct fv_node **room)
{
    struct ready ready = {.at = room};
    size_t placed = 0;
    for (struct fv_node *node = graph->first; node; node = node->next) {
        waiting[node->mark] = node->in.count;
        if (!node->in.count)
            add_ready(&ready, node);
    }
    while (ready.count) {
        const struct fv_edges *out = &(order[placed++] = take_ready(&ready))->out;
        for (size_t i = 0; i < out->count; i++)
            if (!--waiting[out->at[i].node->mark])
                add_ready(&ready, out->at[i].node);
    }
    return placed;
}

static const struct fv_node *stuck_node(const struct fv_graph *graph, const size_t *waiting)
{
    const struct fv_node *node = graph->first;
    while (node && !waiting[node->mark])
        node = node->next;
    return node;
}

static CUresult make_level(struct making *making, const struct fv_graph *graph, size_t index);

/* The graphs inside a node, whose actions follow its own. */
static CUresult make_inner(struct making *making, struct fv_step *step, const struct fv_node *node)
{
    CUresult result = CUDA_SUCCESS;
    step->level = making->levels;
    step->level_count = node->inner_count;
    making->levels += node->inner_count;
    for (size_t i = 0; i < node->inner_count && result == CUDA_SUCCESS; i++)
        result = make_level(making, fv_node_inner(node, i), step->level + i);
    return result;
}

/* Gives each node its place in the plan, and those inside it the places behind it. */
static CUresult place_nodes(struct making *making, struct fv_node **order, size_t count,
                            size_t first)
{
    struct fv_exec *exec = making->exec;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct fv_step *step = &exec->steps[first + order[i]->mark];
        step->action = making->actions++;
        exec->plan->actions[step->action] = (struct fv_action){
            .params = fv_params_get(order[i]->params), .enabled = true, .company = step->company};
        result = make_inner(making, step, order[i]);
    }
    return result;
}

static CUresult order_level(struct making *making, const struct fv_graph *graph, size_t first)
{
    struct fv_node **order = calloc(graph->count + 1, sizeof *order);
    struct fv_node **room = calloc(graph->count + 1, sizeof *room);
    size_t *waiting = calloc(graph->count + 1, sizeof *waiting);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (order && room && waiting) {
        size_t placed = sort_nodes(graph, order, waiting, room);
        result = placed < graph->count ? refuse(making, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE,
                                                stuck_node(graph, waiting))
                                       : place_nodes(making, order, placed, first);
    }
    free(order);
    free(room);
    free(waiting);
    return result;
}

static CUresult make_level(struct making *making, const struct fv_graph *graph, size_t index)
{
    struct fv_level *level = &making->exec->levels[index];
    *level =
        (struct fv_level){.first = making->steps, .count = graph->count, .begin = making->actions};
    making->steps += graph->count;
    making->exec->plan->objects[index] = fv_objects_get(graph->objects);
    if (!fv_conditions_used(graph))
        return refuse(making, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, NULL);
    size_t mark = 0;
    for (struct fv_node *node = graph->first; node; node = node->next)
        node->mark = mark++;
    CUresult result = CUDA_SUCCESS;
    struct fv_step *step = &making->exec->steps[level->first];
    for (struct fv_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->next)
        result = fill_step(making, step++, node);
    if (result == CUDA_SUCCESS)
        result = order_level(making, graph, level->first);
    level->end = making->actions;
    return result;
}

/* ---- the exec ---- */

/* A graph with device-updatable nodes or memory of its own has one exec at a time. */
static bool has_exec(const struct fv_graph *graph)
{
    for (const struct fv_exec *exec = fv_next(FV_EXEC, NULL); exec; exec = fv_next(FV_EXEC, exec))
        if (exec->graph == graph->id)
            return true;
    return false;
}

static CUresult make_parts(struct making *making, const struct fv_graph *graph)
{
    struct fv_exec *exec = making->exec;
    count_parts(graph, exec);
    exec->steps = calloc(exec->count + 1, sizeof *exec->steps);
    exec->levels = calloc(exec->level_count, sizeof *exec->levels);
    exec->plan = fv_plan_new(exec->count, exec->level_count);
    exec->line = fv_line_new();
    if (!exec->steps || !exec->levels || !exec->plan || !exec->line)
        return CUDA_ERROR_OUT_OF_MEMORY;
    making->levels = 1;
    CUresult result = make_level(making, graph, 0);
    if (result != CUDA_SUCCESS)
        return result;
    if ((exec->updatable || graph->has_memory) && has_exec(graph))
        return refuse(making, CUDA_GRAPH_INSTANTIATE_ERROR, NULL);
    if ((exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) && !making->context)
        return refuse(making, CUDA_GRAPH_INSTANTIATE_ERROR, NULL); /* nothing to do */
    exec->schedule = fv_schedule_new(exec);
    if (!exec->schedule)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->unique = graph->has_memory;
    exec->graph = graph->id;
    return CUDA_SUCCESS;
}

static CUresult make(struct making *making, CUgraphExec *out, CUgraph handle,
                     unsigned long long flags)
{
    struct fv_graph *graph;
    making->why = CUDA_GRAPH_INSTANTIATE_ERROR;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || graph->capture || graph->moved || (flags & ~(unsigned long long)FLAGS_OF_ALL) ||
        ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) &&
         (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)))
        return CUDA_ERROR_INVALID_VALUE;
    making->exec = fv_new(FV_EXEC);
    if (!making->exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    making->exec->flags = flags;
    result = make_parts(making, graph);
    if (result != CUDA_SUCCESS) {
        fv_exec_free(making->exec);
        return result;
    }
    making->why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    *out = (CUgraphExec)making->exec;
    return CUDA_SUCCESS;
}

/* ---- the driver's calls ---- */

CUresult fv_cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    struct making making = {0};
    return make(&making, out, graph, flags);
}

CUresult fv_cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph,
                                         CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    struct making making = {0};
    struct fv_stream *stream = NULL;
    CUresult result = CUDA_SUCCESS;
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    bool upload = params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    if (upload)
        result = fv_stream_uncaptured(params->hUploadStream, &stream);
    if (result == CUDA_SUCCESS)
        result = make(&making, out, graph,
                      params->flags & ~(cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
    if (result == CUDA_SUCCESS && upload) {
        result = fv_exec_queue(making.exec, stream, false);
        if (result != CUDA_SUCCESS)
            fv_exec_free(making.exec);
    }
    if (result != CUDA_SUCCESS && making.why == CUDA_GRAPH_INSTANTIATE_SUCCESS)
        making.why = CUDA_GRAPH_INSTANTIATE_ERROR; /* the upload's */
    params->hErrNode_out = (CUgraphNode)making.node;
    params->result_out = making.why;
    return result;
}

CUresult fv_cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *error_node,
                                  char *log, size_t log_size)
{
    static const char *const reason[] = {
        [CUDA_GRAPH_INSTANTIATE_SUCCESS] = "",
        [CUDA_GRAPH_INSTANTIATE_ERROR] = "invalid argument",
        [CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE] = "the graph has a cycle",
        [CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED] = "a conditional handle has no node",
    };
    struct making making = {0};
    CUresult result = make(&making, out, graph, 0);
    if (error_node)
        *error_node = (CUgraphNode)making.node;
    if (log && log_size)
        snprintf(log, log_size, "%s", reason[making.why]);
    return result;
}

CUresult fv_cuGraphInstantiate(CUgraphExec *out, CUgraph graph, CUgraphNode *error_node, char *log,
                               size_t log_size)
{
    return fv_cuGraphInstantiate_v2(out, graph, error_node, log, log_size);
}
