/* graph_edges.c: the edges between the nodes of a graph: checked, made, copied, taken away. It does
 * not know what nodes do, but that kernels have edges of their own. */
#include "capture.h"
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static const CUgraphEdgeData plain; /* full completion: what an edge without data has */

static bool same_data(const CUgraphEdgeData *a, const CUgraphEdgeData *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Only kernels know other edges than full completion. */
static bool data_fits(const struct fv_node *from, const struct fv_node *to,
                      const CUgraphEdgeData *data)
{
    static const unsigned char zero[sizeof data->reserved];
    bool kernels = from->params->type == CU_GRAPH_NODE_TYPE_KERNEL &&
                   to->params->type == CU_GRAPH_NODE_TYPE_KERNEL;
    if (data->to_port || memcmp(data->reserved, zero, sizeof zero))
        return false;
    if (data->type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
        return data->from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
    return data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && kernels &&
           (data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
            data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
}

static bool edges_reserve(struct fv_edges *edges, size_t more)
{
    if (edges->count + more <= edges->room)
        return true;
    size_t room = edges->room * 2 > edges->count + more ? edges->room * 2 : edges->count + more;
    struct fv_edge *at = realloc(edges->at, room * sizeof *at);
    if (!at)
        return false;
    edges->at = at;
    edges->room = room;
    return true;
}

static struct fv_edge *edges_find(const struct fv_edges *edges, const struct fv_node *node)
{
    for (size_t i = 0; i < edges->count; i++)
        if (edges->at[i].node == node)
            return &edges->at[i];
    return NULL;
}

static void edges_remove(struct fv_edges *edges, const struct fv_node *node)
{
    struct fv_edge *edge = edges_find(edges, node);
    size_t after = edges->at + edges->count - (edge + 1);
    memmove(edge, edge + 1, after * sizeof *edge);
    edges->count--;
}

static CUresult edge_add(struct fv_node *from, struct fv_node *to, const CUgraphEdgeData *data)
{
    if (!edges_reserve(&from->out, 1) || !edges_reserve(&to->in, 1))
        return CUDA_ERROR_OUT_OF_MEMORY;
    from->out.at[from->out.count++] = (struct fv_edge){to, *data};
    to->in.at[to->in.count++] = (struct fv_edge){from, *data};
    return CUDA_SUCCESS;
}

void fv_edge_remove(struct fv_node *from, struct fv_node *to)
{
    edges_remove(&from->out, to);
    edges_remove(&to->in, from);
}

/* Before the node exists: it may get the handle value of a destroyed one. Marks show an entry that
 * comes twice. */
CUresult fv_edges_check(const struct fv_graph *graph, const CUgraphNode *dependencies, size_t count)
{
    struct fv_node *node;
    for (size_t i = 0; i < count; i++) {
        CUresult result = fv_node_of(dependencies[i], &node);
        if (result != CUDA_SUCCESS)
            return result;
        node->mark = SIZE_MAX;
    }
    for (size_t i = 0; i < count; i++) {
        node = (struct fv_node *)dependencies[i];
        if (node->graph != graph || node->mark != SIZE_MAX)
            return CUDA_ERROR_INVALID_VALUE;
        node->mark = i;
    }
    return CUDA_SUCCESS;
}

CUresult fv_edges_into(struct fv_node *node, const CUgraphNode *dependencies,
                       const CUgraphEdgeData *data, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct fv_node *from = (struct fv_node *)dependencies[i];
        const CUgraphEdgeData *edge = data ? &data[i] : &plain;
        if (!data_fits(from, node, edge))
            return CUDA_ERROR_INVALID_VALUE;
        CUresult result = edge_add(from, node, edge);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

/* Both orders of edges are kept: those into a node and those out of it. */
static bool clone_edges(struct fv_edges *to, const struct fv_edges *from, struct fv_node **clones)
{
    if (!edges_reserve(to, from->count))
        return false;
    for (size_t i = 0; i < from->count; i++)
        to->at[i] = (struct fv_edge){clones[from->at[i].node->mark], from->at[i].data};
    to->count = from->count;
    return true;
}

CUresult fv_edges_clone(const struct fv_graph *from, struct fv_graph *graph)
{
    struct fv_node **clones = calloc(from->count + 1, sizeof *clones);
    if (!clones)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct fv_node *node, *clone = graph->first;
    size_t index = 0;
    for (node = from->first; node; node = node->next, clone = clone->next) {
        node->mark = index;
        clones[index++] = clone;
    }
    bool done = true;
    for (node = from->first; node && done; node = node->next) {
        clone = clones[node->mark];
        done = clone_edges(&clone->in, &node->in, clones) &&
               clone_edges(&clone->out, &node->out, clones);
    }
    free(clones);
    return done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- the driver's calls ---- */

/* Looks up the graph and both ends of each edge before anything changes. */
static CUresult check_ends(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                           size_t count)
{
    struct fv_graph *graph;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (count && (!from || !to))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!fv_valid(FV_NODE, from[i]) || !fv_valid(FV_NODE, to[i]) || from[i] == to[i])
            return CUDA_ERROR_INVALID_VALUE;
        if (((struct fv_node *)from[i])->graph != graph ||
            ((struct fv_node *)to[i])->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode *from,
                                      const CUgraphNode *to, const CUgraphEdgeData *data,
                                      size_t count)
{
    CUresult result = check_ends(handle, from, to, count);
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct fv_node *a = (struct fv_node *)from[i], *b = (struct fv_node *)to[i];
        const CUgraphEdgeData *edge = data ? &data[i] : &plain;
        if (edges_find(&b->in, a) || !data_fits(a, b, edge))
            return CUDA_ERROR_INVALID_VALUE;
        result = edge_add(a, b, edge);
    }
    return result;
}

CUresult fv_cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode *from,
                                         const CUgraphNode *to, const CUgraphEdgeData *data,
                                         size_t count)
{
    CUresult result = check_ends(handle, from, to, count);
    if (result == CUDA_SUCCESS && count && ((struct fv_graph *)handle)->has_memory)
        return CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct fv_node *a = (struct fv_node *)from[i], *b = (struct fv_node *)to[i];
        const struct fv_edge *edge = edges_find(&b->in, a);
        if (!edge || !same_data(&edge->data, data ? &data[i] : &plain))
            return CUDA_ERROR_INVALID_VALUE;
        if (a->graph->capture)
            result = fv_capture_release(a->graph->capture, from[i]);
        if (result == CUDA_SUCCESS)
            fv_edge_remove(a, b);
    }
    return result;
}

CUresult fv_cuGraphAddDependencies(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t count)
{
    return fv_cuGraphAddDependencies_v2(handle, from, to, NULL, count);
}

CUresult fv_cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode *from,
                                      const CUgraphNode *to, size_t count)
{
    return fv_cuGraphRemoveDependencies_v2(handle, from, to, NULL, count);
}
