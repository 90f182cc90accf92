/* graph.c: graphs, the nodes in them and the edges between them: made, cloned, joined, destroyed.
 * It does not know what a node does (graph_params.c) nor how a graph runs (graph_launch.c). */
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

/* ---- edges ---- */

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

static void edge_remove(struct fv_node *from, struct fv_node *to)
{
    edges_remove(&from->out, to);
    edges_remove(&to->in, from);
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

/* The node only; its edges and its place in the graph are the caller's. */
static void node_free(struct fv_node *node)
{
    if (node->child)
        fv_graph_free(node->child);
    if (node->params)
        fv_params_put(node->params);
    free(node->in.at);
    free(node->out.at);
    free(node->attribute);
    fv_delete(FV_NODE, node);
}

static void node_remove(struct fv_node *node)
{
    while (node->in.count)
        edge_remove(node->in.at[node->in.count - 1].node, node);
    while (node->out.count)
        edge_remove(node, node->out.at[node->out.count - 1].node);
    unlink_node(node);
    node_free(node);
}

/* Before the node exists: it may get the handle value of a destroyed one. Marks show an entry that
 * comes twice. */
static CUresult check_dependencies(const struct fv_graph *graph, const CUgraphNode *dependencies,
                                   size_t count)
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

static CUresult depend_on(struct fv_node *node, const CUgraphNode *dependencies,
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

CUresult fv_node_add(struct fv_graph *graph, const CUgraphNode *dependencies,
                     const CUgraphEdgeData *data, size_t count, struct fv_params *params,
                     struct fv_graph *child, CUgraphNode *out)
{
    if (!out || (count && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_dependencies(graph, dependencies, count);
    if (result != CUDA_SUCCESS)
        return result;
    struct fv_node *node = fv_new(FV_NODE);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->id = new_id();
    node->params = params;
    node->child = child;
    link_node(graph, node);
    result = depend_on(node, dependencies, data, count);
    if (result != CUDA_SUCCESS) {
        node->params = NULL; /* still the caller's */
        node->child = NULL;
        node_remove(node);
        return result;
    }
    if (child)
        child->owner = node;
    *out = (CUgraphNode)node;
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
    if (result != CUDA_SUCCESS || !from->child)
        return result;
    result = fv_graph_clone(from->child, &node->child);
    if (result == CUDA_SUCCESS)
        node->child->owner = node;
    return result;
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

static CUresult clone_all_edges(const struct fv_graph *from, struct fv_graph *graph)
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

CUresult fv_graph_clone(const struct fv_graph *from, struct fv_graph **out)
{
    struct fv_graph *graph = fv_graph_new();
    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph->origin = from->id;
    CUresult result = CUDA_SUCCESS;
    for (const struct fv_node *node = from->first; node && result == CUDA_SUCCESS;
         node = node->next)
        result = clone_node(node, graph);
    if (result == CUDA_SUCCESS)
        result = clone_all_edges(from, graph);
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
    if (fv_node_updatable(node) || node->graph->capture)
        return CUDA_ERROR_INVALID_VALUE;
    node_remove(node);
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
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct fv_node *a = (struct fv_node *)from[i], *b = (struct fv_node *)to[i];
        const struct fv_edge *edge = edges_find(&b->in, a);
        if (!edge || !same_data(&edge->data, data ? &data[i] : &plain))
            return CUDA_ERROR_INVALID_VALUE;
        if (a->graph->capture)
            result = fv_capture_release(a->graph->capture, from[i]);
        if (result == CUDA_SUCCESS)
            edge_remove(a, b);
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
