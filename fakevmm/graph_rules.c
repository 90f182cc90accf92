/* graph_rules.c: which nodes a graph may hold, by where the graph is: on its own, inside a child
 * graph node, or a body of a conditional node. It changes nothing. */
#include "graph.h"

static bool is_memory(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/* True if the test holds for a node of the graph or of one inside it. */
static bool any_node(const struct fv_graph *graph,
                     bool (*test)(const struct fv_params *params, const void *data),
                     const void *data)
{
    for (const struct fv_node *node = graph->first; node; node = node->next) {
        if (test(node->params, data))
            return true;
        for (size_t i = 0; i < node->inner_count; i++)
            if (any_node(fv_node_inner(node, i), test, data))
                return true;
    }
    return false;
}

static bool is_of_type(const struct fv_params *params, const void *type)
{
    return params->type == *(const CUgraphNodeType *)type;
}

bool fv_graph_contains(const struct fv_graph *graph, CUgraphNodeType type)
{
    return any_node(graph, is_of_type, &type);
}

static bool is_unique(const struct fv_params *params, const void *data)
{
    return is_memory(params->type) || params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUresult fv_graph_check_clone(const struct fv_graph *graph)
{
    return any_node(graph, is_unique, NULL) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult fv_graph_check_move(const struct fv_graph *graph, const struct fv_graph *into)
{
    if (graph->owner || graph->capture)
        return CUDA_ERROR_INVALID_VALUE;
    for (const struct fv_graph *it = into; it; it = it->owner ? it->owner->graph : NULL)
        if (it == graph)
            return CUDA_ERROR_INVALID_VALUE;
    return fv_graph_contains(graph, CU_GRAPH_NODE_TYPE_CONDITIONAL) ? CUDA_ERROR_NOT_SUPPORTED
                                                                    : CUDA_SUCCESS;
}

/* The conditional node whose body the graph is part of, or NULL. */
static const struct fv_node *conditional_around(const struct fv_graph *graph)
{
    const struct fv_node *owner = graph->owner;
    while (owner && owner->params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        owner = owner->graph->owner;
    return owner;
}

static bool not_for_a_body(const struct fv_params *params, const void *data)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return false;
    default: return true;
    }
}

static bool of_other_context(const struct fv_params *params, const void *context)
{
    return params->context && params->context != context;
}

CUresult fv_graph_check_node(const struct fv_graph *graph, const struct fv_params *params,
                             const struct fv_graph *child)
{
    const struct fv_node *around = conditional_around(graph);
    if (is_memory(params->type) && graph->owner)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!around)
        return CUDA_SUCCESS;
    if (not_for_a_body(params, NULL) || (child && any_node(child, not_for_a_body, NULL)))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (of_other_context(params, around->params->context) ||
        (child && any_node(child, of_other_context, around->params->context)))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
