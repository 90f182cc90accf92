/* graph_nodes.c: the calls that add a node, read what it does and change that, one set per kind and
 * one for all kinds. They touch graphs only, never what was instantiated from one. */
#include "graph.h"

#include <string.h>

/* The graph a child graph node gets, NULL for the other kinds: a clone, or the given one itself. */
static CUresult child_of(const CUgraphNodeParams *given, const struct fv_graph *parent,
                         struct fv_graph **out)
{
    *out = NULL;
    if (given->type != CU_GRAPH_NODE_TYPE_GRAPH)
        return CUDA_SUCCESS;
    struct fv_graph *graph;
    CUresult result = fv_given_graph(given, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (given->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return fv_graph_clone(graph, out);
    result = fv_graph_check_move(graph, parent);
    if (result == CUDA_SUCCESS)
        *out = graph;
    return result;
}

/* Ends what child_of() has answered, if it was made for that. */
static void child_drop(const CUgraphNodeParams *given, struct fv_graph *child)
{
    if (child && given->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        fv_graph_free(child);
}

/* What belongs to one node alone: memory and conditions. */
static CUresult claim(struct fv_params *params, const struct fv_graph *graph)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return fv_memory_join(params, graph);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return fv_condition_take(params->conditional.condition, graph);
    default: return CUDA_SUCCESS;
    }
}

/* The graphs inside a node that was just added, and what that means for those around it. */
static CUresult fill_node(struct fv_node *node, struct fv_graph *child, bool moved)
{
    const struct fv_params *params = node->params;
    CUresult result = CUDA_SUCCESS;
    if (child)
        result = fv_node_give_inner(node, child, 1);
    else if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        result = fv_node_give_inner(node, NULL, params->conditional.set.size);
    if (result != CUDA_SUCCESS)
        return result;
    if (child)
        child->moved = moved;
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
        params->type == CU_GRAPH_NODE_TYPE_MEM_FREE || (child && child->has_memory))
        for (struct fv_graph *it = node->graph; it; it = it->owner ? it->owner->graph : NULL)
            it->has_memory = true;
    return CUDA_SUCCESS;
}

/* With parameters that have claimed what they need. */
static CUresult add(CUgraphNode *out, struct fv_graph *graph, const CUgraphNode *dependencies,
                    const CUgraphEdgeData *data, size_t count, struct fv_params *params,
                    struct fv_graph *child, bool moved)
{
    CUgraphNode node;
    CUresult result = out ? fv_node_add(graph, dependencies, data, count, params, &node)
                          : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS) {
        if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            fv_condition_leave(params->conditional.condition);
        return result;
    }
    result = fill_node((struct fv_node *)node, child, moved);
    if (result != CUDA_SUCCESS) {
        fv_params_get(params); /* the caller's, which the node has taken */
        fv_node_remove((struct fv_node *)node);
        return result;
    }
    *out = node;
    return CUDA_SUCCESS;
}

CUresult fv_node_add_given(CUgraphNode *out, CUgraph handle, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *data, size_t count,
                           const CUgraphNodeParams *given)
{
    struct fv_graph *graph, *child;
    struct fv_params *params;
    CUresult result = fv_graph_of(handle, &graph);
    if (result == CUDA_SUCCESS)
        result = fv_params_new(given, &params);
    if (result != CUDA_SUCCESS)
        return result;
    result = child_of(given, graph, &child);
    if (result == CUDA_SUCCESS)
        result = fv_graph_check_node(graph, params, child);
    if (result == CUDA_SUCCESS)
        result = claim(params, graph);
    if (result == CUDA_SUCCESS)
        result = add(out, graph, dependencies, data, count, params, child,
                     given->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    if (result != CUDA_SUCCESS) {
        child_drop(given, child);
        fv_params_put(params);
    }
    return result;
}

CUresult fv_node_of_type(CUgraphNode handle, CUgraphNodeType type, struct fv_node **out)
{
    CUresult result = fv_node_of(handle, out);
    if (result != CUDA_SUCCESS)
        return result;
    return (*out)->params->type == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool cooperative(const struct fv_node *node)
{
    return fv_node_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE)->cooperative;
}

CUresult fv_node_set_given(CUgraphNode handle, const CUgraphNodeParams *given)
{
    struct fv_node *node;
    struct fv_params *params;
    struct fv_graph *child;
    CUresult result = fv_node_of_type(handle, given->type, &node);
    if (result == CUDA_SUCCESS)
        result = fv_given_settable(given);
    if (result != CUDA_SUCCESS)
        return result;
    if (given->type == CU_GRAPH_NODE_TYPE_KERNEL && given->kernel.extra && cooperative(node))
        return CUDA_ERROR_INVALID_VALUE;
    if (given->type == CU_GRAPH_NODE_TYPE_GRAPH && fv_node_inner(node, 0)->has_memory)
        return CUDA_ERROR_NOT_SUPPORTED;
    result = fv_params_new(given, &params);
    if (result != CUDA_SUCCESS)
        return result;
    result = child_of(given, node->graph, &child);
    if (result == CUDA_SUCCESS)
        result = fv_graph_check_node(node->graph, params, child);
    if (result != CUDA_SUCCESS) {
        child_drop(given, child);
        fv_params_put(params);
        return result;
    }
    fv_params_put(node->params);
    node->params = params;
    if (child) {
        fv_graph_free(fv_node_inner(node, 0));
        node->inner[0] = (CUgraph)child;
        child->owner = node;
    }
    return CUDA_SUCCESS;
}

/* ---- kernel ---- */

CUresult fv_cuGraphAddKernelNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_kernel_v1(kernel);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph,
                                    const CUgraphNode *dependencies, size_t count,
                                    const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_kernel(kernel);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *kernel)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node);
    if (result != CUDA_SUCCESS)
        return result;
    return kernel ? fv_params_show_kernel(node->params, kernel) : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    CUDA_KERNEL_NODE_PARAMS_v2 all;
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_cuGraphKernelNodeGetParams_v2(handle, &all);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(kernel, &all, sizeof *kernel);
    if (!kernel->func) /* set as a CUkernel, which this form cannot tell */
        kernel->func = (CUfunction)((struct fv_node *)handle)->params->kernel.handle;
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_kernel_v1(kernel);
    return fv_node_set_given(node, &given);
}

CUresult fv_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_kernel(kernel);
    return fv_node_set_given(node, &given);
}

/* ---- memcpy ---- */

CUresult fv_cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_MEMCPY3D *copy, CUcontext context)
{
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_copy(copy, context);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *copy)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMCPY, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    *copy = node->params->copy;
    return CUDA_SUCCESS;
}

/* The context stays what it was. */
CUresult fv_cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D *copy)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMCPY, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_copy(copy, (CUcontext)node->params->context);
    return fv_node_set_given(handle, &given);
}

/* ---- memset ---- */

CUresult fv_cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_MEMSET_NODE_PARAMS *memset,
                                 CUcontext context)
{
    if (!memset)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_memset(memset, context);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *memset)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMSET, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!memset)
        return CUDA_ERROR_INVALID_VALUE;
    *memset = node->params->memset;
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *memset)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMSET, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!memset)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_memset(memset, (CUcontext)node->params->context);
    return fv_node_set_given(handle, &given);
}

/* ---- host, child graph, empty ---- */

CUresult fv_cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, const CUDA_HOST_NODE_PARAMS *host)
{
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_host(host);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *host)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_HOST, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    host->fn = node->params->host.fn;
    host->userData = node->params->host.userData;
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host)
{
    if (!host)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_host(host);
    return fv_node_set_given(node, &given);
}

CUresult fv_cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph,
                                     const CUgraphNode *dependencies, size_t count, CUgraph child)
{
    CUgraphNodeParams given = fv_given_child(child);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *out)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_GRAPH, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = node->inner[0];
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

/* ---- any kind ---- */

CUresult fv_cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                              const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *given)
{
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_given_check(given);
    if (result == CUDA_SUCCESS)
        result = fv_node_add_given(out, graph, dependencies, data, count, given);
    if (result != CUDA_SUCCESS)
        return result;
    const struct fv_node *node = (const struct fv_node *)*out;
    if (given->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        given->alloc.dptr = node->params->alloc.set.dptr;
    if (given->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        given->conditional.phGraph_out = node->inner;
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                           size_t count, CUgraphNodeParams *given)
{
    return fv_cuGraphAddNode_v2(out, graph, dependencies, NULL, count, given);
}

CUresult fv_cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *given)
{
    if (!given)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_given_check(given);
    return result == CUDA_SUCCESS ? fv_node_set_given(node, given) : result;
}
