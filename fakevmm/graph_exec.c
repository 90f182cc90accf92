/* graph_exec.c: the calls on an exec that concern one of its nodes or its end. A node is named by
 * the handle it has in the graph the exec was made from, and must still be there; ids tell it from
 * a later node with the same handle value. */
#include "graph_schedule.h"

#include <stdlib.h>

FV_FITS(struct fv_exec);

CUresult fv_exec_of(CUgraphExec handle, struct fv_exec **out)
{
    if (!fv_valid(FV_EXEC, handle))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct fv_exec *)handle;
    return CUDA_SUCCESS;
}

void fv_exec_free(struct fv_exec *exec)
{
    for (size_t i = 0; exec->steps && i < exec->count; i++)
        free(exec->steps[i].in);
    free(exec->steps);
    free(exec->levels);
    if (exec->schedule)
        fv_schedule_put(exec->schedule);
    if (exec->plan)
        fv_plan_put(exec->plan);
    if (exec->line)
        fv_line_put(exec->line);
    fv_delete(FV_EXEC, exec);
}

static struct fv_step *find_step(const struct fv_exec *exec, const struct fv_node *node);

/* The level of a graph, or NULL: the top one, for a graph that is inside no node. */
static const struct fv_level *find_level(const struct fv_exec *exec, const struct fv_graph *graph)
{
    if (!graph->owner)
        return &exec->levels[0];
    const struct fv_step *step = find_step(exec, graph->owner);
    for (size_t i = 0; step && i < step->level_count; i++)
        if (fv_node_inner(graph->owner, i) == graph)
            return &exec->levels[step->level + i];
    return NULL;
}

/* The step of a node, or NULL. Levels are sorted by id. */
static struct fv_step *find_step(const struct fv_exec *exec, const struct fv_node *node)
{
    const struct fv_level *level = find_level(exec, node->graph);
    if (!level)
        return NULL;
    size_t low = level->first, high = level->first + level->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (exec->steps[middle].node == node->id)
            return &exec->steps[middle];
        if (exec->steps[middle].node < node->id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static CUresult step_of(CUgraphExec exec_handle, CUgraphNode node_handle, struct fv_exec **exec,
                        struct fv_step **step)
{
    struct fv_node *node;
    CUresult result = fv_exec_of(exec_handle, exec);
    if (result == CUDA_SUCCESS)
        result = fv_node_of(node_handle, &node);
    if (result != CUDA_SUCCESS)
        return result;
    *step = find_step(*exec, node);
    return *step ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- setters ---- */

static CUresult set_child(struct fv_exec *exec, const struct fv_step *step,
                          const CUgraphNodeParams *given)
{
    struct fv_graph *graph;
    struct fv_mismatch why;
    CUresult result = fv_given_graph(given, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    result = fv_exec_adopt(exec, step->level, graph, &why);
    return result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ? CUDA_ERROR_INVALID_VALUE : result;
}

static CUresult set_work(struct fv_exec *exec, const struct fv_step *step,
                         const CUgraphNodeParams *given)
{
    struct fv_params *params;
    if (given->type == CU_GRAPH_NODE_TYPE_KERNEL && given->kernel.extra &&
        step->company.cooperative)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_params_new(given, &params);
    if (result != CUDA_SUCCESS)
        return result;
    struct fv_action *action = &exec->plan->actions[step->action];
    result = fv_step_takes_setter(step, action->params, params) ? CUDA_SUCCESS
                                                                : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && step->type == CU_GRAPH_NODE_TYPE_KERNEL)
        result = fv_params_check_company(params, &action->company);
    if (result == CUDA_SUCCESS)
        result = fv_plan_own(exec);
    if (result != CUDA_SUCCESS) {
        fv_params_put(params);
        return result;
    }
    fv_params_put(exec->plan->actions[step->action].params);
    exec->plan->actions[step->action].params = params;
    return CUDA_SUCCESS;
}

CUresult fv_exec_set_given(CUgraphExec exec_handle, CUgraphNode node,
                           const CUgraphNodeParams *given)
{
    struct fv_exec *exec;
    struct fv_step *step;
    CUresult result = step_of(exec_handle, node, &exec, &step);
    if (result != CUDA_SUCCESS)
        return result;
    if (step->type != given->type)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_given_settable(given);
    if (result != CUDA_SUCCESS)
        return result;
    return step->type == CU_GRAPH_NODE_TYPE_GRAPH ? set_child(exec, step, given)
                                                  : set_work(exec, step, given);
}

CUresult fv_cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_kernel_v1(kernel);
    return fv_exec_set_given(exec, node, &given);
}

CUresult fv_cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                              const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_kernel(kernel);
    return fv_exec_set_given(exec, node, &given);
}

CUresult fv_cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_MEMCPY3D *copy, CUcontext context)
{
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_copy(copy, context);
    return fv_exec_set_given(exec, node, &given);
}

CUresult fv_cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_MEMSET_NODE_PARAMS *memset, CUcontext context)
{
    if (!memset)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_memset(memset, context);
    return fv_exec_set_given(exec, node, &given);
}

CUresult fv_cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                         const CUDA_HOST_NODE_PARAMS *host)
{
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_host(host);
    return fv_exec_set_given(exec, node, &given);
}

CUresult fv_cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    CUgraphNodeParams given = fv_given_child(child);
    return fv_exec_set_given(exec, node, &given);
}

CUresult fv_cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *given)
{
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_given_check(given);
    return result == CUDA_SUCCESS ? fv_exec_set_given(exec, node, given) : result;
}

/* ---- enabled ---- */

static bool can_disable(const struct fv_step *step)
{
    return step->type == CU_GRAPH_NODE_TYPE_KERNEL || step->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           step->type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult fv_cuGraphNodeSetEnabled(CUgraphExec exec_handle, CUgraphNode node, unsigned enabled)
{
    struct fv_exec *exec;
    struct fv_step *step;
    CUresult result = step_of(exec_handle, node, &exec, &step);
    if (result == CUDA_SUCCESS)
        result = can_disable(step) ? fv_plan_own(exec) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        exec->plan->actions[step->action].enabled = enabled != 0;
    return result;
}

CUresult fv_cuGraphNodeGetEnabled(CUgraphExec exec_handle, CUgraphNode node, unsigned *enabled)
{
    struct fv_exec *exec;
    struct fv_step *step;
    CUresult result = step_of(exec_handle, node, &exec, &step);
    if (result != CUDA_SUCCESS)
        return result;
    if (!enabled || !can_disable(step))
        return CUDA_ERROR_INVALID_VALUE;
    *enabled = exec->plan->actions[step->action].enabled;
    return CUDA_SUCCESS;
}

/* ---- the exec as a whole ---- */

CUresult fv_cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *flags)
{
    struct fv_exec *exec;
    CUresult result = fv_exec_of(handle, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphExecDestroy(CUgraphExec handle)
{
    struct fv_exec *exec;
    CUresult result = fv_exec_of(handle, &exec);
    if (result == CUDA_SUCCESS)
        fv_exec_free(exec);
    return result;
}
