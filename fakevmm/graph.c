/* graph.c: graphs and the nodes in them: made, cloned, destroyed. It does not know what a node does
 * (graph_params.c), what joins them (graph_edges.c) nor how a graph runs (graph_launch.c). */
#include "graph.h"
#include "capture.h"

#include <stdlib.h>
#include <string.h>

FV_FITS(struct fv_graph);
FV_FITS(struct fv_node);

static unsigned long long new_id(void)
{
    static unsigned long long last;
    return ++last;
}

CUresult fv_graph_of(CUgraph handle, struct fv_graph **out)
{
    if (!fv_valid(FV_GRAPH, handle))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct fv_graph *)handle;
    return CUDA_SUCCESS;
}

CUresult fv_node_of(CUgraphNode handle, struct fv_node **out)
{
    if (!fv_valid(FV_NODE, handle))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct fv_node *)handle;
    return CUDA_SUCCESS;
}

/* ---- nodes ---- */

static void link_node(struct fv_graph *graph, struct fv_node *node)
{
    node->graph = graph;
    node->previous = graph->last;
    *(graph->last ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    graph->count++;
}

static void unlink_node(struct fv_node *node)
{
    struct fv_graph *graph = node->graph;
    *(node->previous ? &node->previous->next : &graph->first) = node->next;
    *(node->next ? &node->next->previous : &graph->last) = node->previous;
    if (graph->found == node)
        graph->found = node->next;
    graph->count--;
}

static void drop_inner(struct fv_node *node)
{
    for (size_t i = 0; i < node->inner_count; i++)
        if (node->inner[i])
            fv_graph_free(fv_node_inner(node, i));
    free(node->inner);
    node->inner = NULL;
    node->inner_count = 0;
}

/* The node only; its edges and its place in the graph are the caller's. */
static void node_free(struct fv_node *node)
{
    if (node->params && node->params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        fv_condition_leave(node->params->conditional.condition);
    drop_inner(node);
    if (node->params)
        fv_params_put(node->params);
    free(node->in.at);
    free(node->out.at);
    free(node->attribute);
    fv_delete(FV_NODE, node);
}

void fv_node_remove(struct fv_node *node)
{
    while (node->in.count)
        fv_edge_remove(node->in.at[node->in.count - 1].node, node);
    while (node->out.count)
        fv_edge_remove(node, node->out.at[node->out.count - 1].node);
    unlink_node(node);
    node_free(node);
}

CUresult fv_node_add(struct fv_graph *graph, const CUgraphNode *dependencies,
                     const CUgraphEdgeData *data, size_t count, struct fv_params *params,
                     CUgraphNode *out)
{
    if (!out || (count && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_edges_check(graph, dependencies, count);
    if (result != CUDA_SUCCESS)
        return result;
    struct fv_node *node = fv_new(FV_NODE);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->id = new_id();
    node->params = params;
    link_node(graph, node);
    result = fv_edges_into(node, dependencies, data, count);
    if (result != CUDA_SUCCESS) {
        node->params = NULL; /* still the caller's */
        fv_node_remove(node);
        return result;
    }
    *out = (CUgraphNode)node;
    return CUDA_SUCCESS;
}

CUresult fv_node_give_inner(struct fv_node *node, struct fv_graph *graph, size_t count)
{
    node->inner = calloc(count, sizeof *node->inner);
    if (!node->inner)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->inner_count = count;
    for (size_t i = 0; i < count; i++) {
        struct fv_graph *inner = graph ? graph : fv_graph_new();
        if (!inner)
            return CUDA_ERROR_OUT_OF_MEMORY;
        inner->owner = node;
        node->inner[i] = (CUgraph)inner;
    }
    return CUDA_SUCCESS;
}

/* ---- graphs ---- */

struct fv_graph *fv_graph_new(void)
{
    struct fv_graph *graph = fv_new(FV_GRAPH);
    if (graph)
        graph->id = new_id();
    return graph;
}

void fv_graph_free(struct fv_graph *graph)
{
    fv_capture_drop_graph(graph);
    for (struct fv_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        node_free(node);
    }
    fv_conditions_drop(graph);
    fv_objects_put(graph->objects);
    fv_delete(FV_GRAPH, graph);
}

static CUresult clone_node(const struct fv_node *from, struct fv_graph *graph)
{
    struct fv_node *node = fv_new(FV_NODE);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->id = new_id();
    node->origin = from->id;
    node->params = fv_params_get(from->params);
    link_node(graph, node);
    CUresult result = fv_node_copy_attributes(node, from);
    if (result != CUDA_SUCCESS || !from->inner_count)
        return result;
    struct fv_graph *inner;
    result = fv_graph_clone(fv_node_inner(from, 0), &inner);
    if (result != CUDA_SUCCESS)
        return result;
    result = fv_node_give_inner(node, inner, 1);
    if (result != CUDA_SUCCESS)
        fv_graph_free(inner);
    return result;
}

CUresult fv_graph_clone(const struct fv_graph *from, struct fv_graph **out)
{
    CUresult result = fv_graph_check_clone(from);
    if (result != CUDA_SUCCESS)
        return result;
    struct fv_graph *graph = fv_graph_new();
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph->origin = from->id;
    graph->objects = fv_objects_get(from->objects);
    for (const struct fv_node *node = from->first; node && result == CUDA_SUCCESS;
         node = node->next)
        result = clone_node(node, graph);
    if (result == CUDA_SUCCESS)
        result = fv_edges_clone(from, graph);
    if (result != CUDA_SUCCESS) {
        fv_graph_free(graph);
        return result;
    }
    *out = graph;
    return CUDA_SUCCESS;
}

/* ---- the driver's calls ---- */

CUresult fv_cuGraphCreate(CUgraph *out, unsigned flags)
{
    if (!out || flags)
        return CUDA_ERROR_INVALID_VALUE;
    struct fv_graph *graph = fv_graph_new();
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUgraph)graph;
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphDestroy(CUgraph handle)
{
    struct fv_graph *graph;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (graph->owner || graph->capture) /* belongs to its node, or to the capture until its end */
        return CUDA_ERROR_INVALID_VALUE;
    fv_graph_free(graph);
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphDestroyNode(CUgraphNode handle)
{
    struct fv_node *node;
    CUresult result = fv_node_of(handle, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (node->graph->has_memory)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (fv_node_updatable(node) || node->graph->capture)
        return CUDA_ERROR_INVALID_VALUE;
    fv_node_remove(node);
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphClone(CUgraph *out, CUgraph handle)
{
    struct fv_graph *graph, *clone;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_graph_clone(graph, &clone);
    if (result == CUDA_SUCCESS)
        *out = (CUgraph)clone;
    return result;
}

/* Callers ask for all nodes in turn, so the search goes on from the last answer. */
CUresult fv_cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode original, CUgraph handle)
{
    struct fv_node *node;
    struct fv_graph *clone;
    CUresult result = fv_node_of(original, &node);
    if (result == CUDA_SUCCESS)
        result = fv_graph_of(handle, &clone);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || clone->origin != node->graph->id)
        return CUDA_ERROR_INVALID_VALUE;
    struct fv_node *at = clone->found;
    for (size_t i = 0; i < clone->count; i++, at = at->next) {
        if (!at)
            at = clone->first;
        if (at->origin == node->id) {
            clone->found = at;
            *out = (CUgraphNode)at;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}
