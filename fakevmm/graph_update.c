/* graph_update.c: takes over into an exec what the nodes of another graph do. Nodes are paired in
 * order of creation, and their dependencies in order of creation too. Everything is compared before
 * anything changes, so a graph that does not fit leaves the exec as it was. */
#include "graph_exec.h"

#include <string.h>

static bool differ(struct fv_mismatch *why, CUgraphExecUpdateResult result, struct fv_node *node,
                   struct fv_node *from)
{
    *why = (struct fv_mismatch){result, node, from};
    return false;
}

/* Whether the nodes of one level and the edges between them pair up. */
static bool same_edges(const struct fv_step *steps, struct fv_graph *graph, struct fv_mismatch *why)
{
    size_t index = 0;
    for (struct fv_node *node = graph->first; node; node = node->next)
        node->mark = index++;
    for (struct fv_node *node = graph->first; node; node = node->next) {
        const struct fv_step *step = &steps[node->mark];
        if (node->in.count != step->in_count)
            return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, NULL);
        for (size_t i = 0; i < step->in_count; i++) {
            struct fv_edge *edge = &node->in.at[i];
            if (edge->node->mark != step->in[i].from ||
                memcmp(&edge->data, &step->in[i].data, sizeof edge->data))
                return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, edge->node);
        }
    }
    return true;
}

static bool kernel_fits(const struct fv_exec *exec, const struct fv_step *step,
                        struct fv_node *node, struct fv_mismatch *why)
{
    if (fv_node_updatable(node))
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, node, NULL);
    if (node->params->context != step->context)
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, node, NULL);
    struct fv_company company = fv_node_company(node);
    int priority = fv_node_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY)->priority;
    if (company.cooperative != step->company.cooperative ||
        fv_params_check_company(node->params, &company) != CUDA_SUCCESS)
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, node, NULL);
    if ((exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) && priority != step->priority)
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, node, NULL);
    return true;
}

static bool level_fits(const struct fv_exec *exec, size_t index, struct fv_graph *graph,
                       struct fv_mismatch *why);

static bool inner_fits(const struct fv_exec *exec, const struct fv_step *step, struct fv_node *node,
                       struct fv_mismatch *why)
{
    for (size_t i = 0; i < step->level_count; i++)
        if (!level_fits(exec, step->level + i, fv_node_inner(node, i), why))
            return false;
    return true;
}

static bool node_fits(const struct fv_exec *exec, const struct fv_step *step, struct fv_node *node,
                      struct fv_mismatch *why)
{
    const struct fv_params *old = exec->plan->actions[step->action].params;
    if (node->params->type != step->type)
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, node, NULL);
    if (step->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || step->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, node, NULL);
    if (!fv_params_alive(node->params))
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR, node, NULL);
    if (step->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return kernel_fits(exec, step, node, why);
    if (!fv_step_takes_update(step, old, node->params))
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, node, NULL);
    return inner_fits(exec, step, node, why);
}

static bool level_fits(const struct fv_exec *exec, size_t index, struct fv_graph *graph,
                       struct fv_mismatch *why)
{
    const struct fv_level *level = &exec->levels[index];
    if (graph->count != level->count)
        return differ(why, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    if (!same_edges(&exec->steps[level->first], graph, why))
        return false;
    for (struct fv_node *node = graph->first; node; node = node->next)
        if (!node_fits(exec, &exec->steps[level->first + node->mark], node, why))
            return false;
    return true;
}

/* Whether a node is enabled is the exec's own affair and stays. */
static void take_level(struct fv_exec *exec, size_t index, const struct fv_graph *graph)
{
    const struct fv_step *step = &exec->steps[exec->levels[index].first];
    fv_objects_put(exec->plan->objects[index]);
    exec->plan->objects[index] = fv_objects_get(graph->objects);
    for (const struct fv_node *node = graph->first; node; node = node->next, step++) {
        struct fv_action *action = &exec->plan->actions[step->action];
        struct fv_params *old = action->params;
        action->params = fv_params_get(node->params);
        action->company = fv_node_company(node);
        fv_params_put(old);
        for (size_t i = 0; i < step->level_count; i++)
            take_level(exec, step->level + i, fv_node_inner(node, i));
    }
}

CUresult fv_exec_adopt(struct fv_exec *exec, size_t level, struct fv_graph *graph,
                       struct fv_mismatch *why)
{
    if (!level_fits(exec, level, graph, why))
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    CUresult result = fv_plan_own(exec);
    *why = (struct fv_mismatch){result == CUDA_SUCCESS ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                       : CU_GRAPH_EXEC_UPDATE_ERROR,
                                NULL, NULL};
    if (result == CUDA_SUCCESS)
        take_level(exec, level, graph);
    return result;
}

/* ---- the driver's calls ---- */

static CUresult update(CUgraphExec exec_handle, CUgraph graph_handle, struct fv_mismatch *why)
{
    struct fv_exec *exec;
    struct fv_graph *graph;
    *why = (struct fv_mismatch){CU_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL};
    CUresult result = fv_exec_of(exec_handle, &exec);
    if (result == CUDA_SUCCESS)
        result = fv_graph_of(graph_handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (graph->moved)
        return CUDA_ERROR_INVALID_VALUE;
    if (exec->updatable) {
        why->result = CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    return fv_exec_adopt(exec, 0, graph, why);
}

CUresult fv_cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    struct fv_mismatch why;
    if (!info)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = update(exec, graph, &why);
    info->result = why.result;
    info->errorNode = (CUgraphNode)why.node;
    info->errorFromNode = (CUgraphNode)why.from;
    return result;
}

CUresult fv_cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                              CUgraphExecUpdateResult *out)
{
    struct fv_mismatch why;
    if (!error_node || !out)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = update(exec, graph, &why);
    *out = why.result;
    *error_node = (CUgraphNode)why.node;
    return result;
}
