/* graph_nodes.c: the calls that add a node, read what it does and change that, one set per kind and
 * one for all kinds. They touch graphs only, never what was instantiated from one. */
#include "graph.h"

#include <string.h>

/* The clone a child graph node gets; NULL for the other kinds. */
static CUresult clone_child(const CUgraphNodeParams *given, struct fv_graph **out)
{
    struct fv_graph *graph;
    *out = NULL;
    if (given->type != CU_GRAPH_NODE_TYPE_GRAPH)
        return CUDA_SUCCESS;
    CUresult result = fv_given_graph(given, &graph);
    return result == CUDA_SUCCESS ? fv_graph_clone(graph, out) : result;
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
    result = clone_child(given, &child);
    if (result == CUDA_SUCCESS)
        result = fv_node_add(graph, dependencies, data, count, params, child, out);
    if (result != CUDA_SUCCESS) {
        if (child)
            fv_graph_free(child);
        fv_params_put(params);
    }
    return result;
}

/* A node of that kind, or CUDA_ERROR_INVALID_VALUE. */
static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, struct fv_node **out)
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

static CUresult set(CUgraphNode handle, const CUgraphNodeParams *given)
{
    struct fv_node *node;
    struct fv_params *params;
    struct fv_graph *child;
    CUresult result = node_of_type(handle, given->type, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (given->type == CU_GRAPH_NODE_TYPE_KERNEL && given->kernel.extra && cooperative(node))
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_params_new(given, &params);
    if (result != CUDA_SUCCESS)
        return result;
    result = clone_child(given, &child);
    if (result != CUDA_SUCCESS) {
        fv_params_put(params);
        return result;
    }
    fv_params_put(node->params);
    node->params = params;
    if (child) {
        fv_graph_free(node->child);
        node->child = child;
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
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node);
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
    return set(node, &given);
}

CUresult fv_cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *kernel)
{
    if (!kernel)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_kernel(kernel);
    return set(node, &given);
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
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMCPY, &node);
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
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMCPY, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!copy)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_copy(copy, (CUcontext)node->params->context);
    return set(handle, &given);
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
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMSET, &node);
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
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_MEMSET, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!memset)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_memset(memset, (CUcontext)node->params->context);
    return set(handle, &given);
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
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_HOST, &node);
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
    return set(node, &given);
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
    CUresult result = node_of_type(handle, CU_GRAPH_NODE_TYPE_GRAPH, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUgraph)node->child;
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
    return result == CUDA_SUCCESS ? fv_node_add_given(out, graph, dependencies, data, count, given)
                                  : result;
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
    return result == CUDA_SUCCESS ? set(node, given) : result;
}
