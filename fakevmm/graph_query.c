/* graph_query.c: the calls that list what is in a graph: nodes, roots, edges, a node's neighbours,
 * a node's type. It changes nothing. */
#include "graph.h"

#include <string.h>

/* A list on its way to the caller's arrays. Without arrays it only counts. */
struct answer {
    CUgraphNode *nodes, *others; /* others: the far ends, for edges only */
    CUgraphEdgeData *data;
    size_t room, count;
    bool lossy; /* an edge had data the caller gave no room for */
};

static void answer_put(struct answer *answer, const struct fv_node *node,
                       const struct fv_node *other, const CUgraphEdgeData *data)
{
    static const CUgraphEdgeData plain;
    size_t index = answer->count++;
    if (!answer->nodes || index >= answer->room)
        return;
    answer->nodes[index] = (CUgraphNode)node;
    if (answer->others)
        answer->others[index] = (CUgraphNode)other;
    if (answer->data)
        answer->data[index] = data ? *data : plain;
    else if (data && memcmp(data, &plain, sizeof plain))
        answer->lossy = true;
}

static CUresult answer_end(struct answer *answer, size_t *count)
{
    if (answer->lossy)
        return CUDA_ERROR_LOSSY_QUERY;
    *count = !answer->nodes || answer->count < answer->room ? answer->count : answer->room;
    for (size_t i = answer->count; answer->nodes && i < answer->room; i++) {
        answer->nodes[i] = NULL;
        if (answer->others)
            answer->others[i] = NULL;
    }
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    struct fv_graph *graph;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = {.nodes = nodes, .room = *count};
    for (const struct fv_node *node = graph->first; node; node = node->next)
        answer_put(&answer, node, NULL, NULL);
    return answer_end(&answer, count);
}

CUresult fv_cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    struct fv_graph *graph;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = {.nodes = nodes, .room = *count};
    for (const struct fv_node *node = graph->first; node; node = node->next)
        if (!node->in.count)
            answer_put(&answer, node, NULL, NULL);
    return answer_end(&answer, count);
}

CUresult fv_cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                               CUgraphEdgeData *data, size_t *count)
{
    struct fv_graph *graph;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count || !from != !to || (data && !from))
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = {.nodes = from, .others = to, .data = data, .room = *count};
    for (const struct fv_node *node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->in.count; i++)
            answer_put(&answer, node->in.at[i].node, node, &node->in.at[i].data);
    return answer_end(&answer, count);
}

CUresult fv_cuGraphGetEdges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return fv_cuGraphGetEdges_v2(handle, from, to, NULL, count);
}

static CUresult neighbours(const struct fv_edges *edges, CUgraphNode *nodes, CUgraphEdgeData *data,
                           size_t *count)
{
    if (!count || (data && !nodes))
        return CUDA_ERROR_INVALID_VALUE;
    struct answer answer = {.nodes = nodes, .data = data, .room = *count};
    for (size_t i = 0; i < edges->count; i++)
        answer_put(&answer, edges->at[i].node, NULL, &edges->at[i].data);
    return answer_end(&answer, count);
}

CUresult fv_cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *nodes,
                                          CUgraphEdgeData *data, size_t *count)
{
    struct fv_node *node;
    CUresult result = fv_node_of(handle, &node);
    return result == CUDA_SUCCESS ? neighbours(&node->in, nodes, data, count) : result;
}

CUresult fv_cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode *nodes, size_t *count)
{
    return fv_cuGraphNodeGetDependencies_v2(handle, nodes, NULL, count);
}

CUresult fv_cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *nodes,
                                            CUgraphEdgeData *data, size_t *count)
{
    struct fv_node *node;
    CUresult result = fv_node_of(handle, &node);
    return result == CUDA_SUCCESS ? neighbours(&node->out, nodes, data, count) : result;
}

CUresult fv_cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode *nodes, size_t *count)
{
    return fv_cuGraphNodeGetDependentNodes_v2(handle, nodes, NULL, count);
}

CUresult fv_cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType *type)
{
    struct fv_node *node;
    CUresult result = fv_node_of(handle, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->params->type;
    return CUDA_SUCCESS;
}
