/* graph.h: graphs, their nodes and edges, as the graph*.c files share them. What nodes do is
 * graph_params.h's, what is instantiated from a graph graph_exec.h's.
 *
 * A graph is a description: nodes in the order they were added, edges between them. Nodes and
 * graphs have ids that never come back, because their handle values do. The lock is held
 * throughout. */
#ifndef FAKEVMM_GRAPH_H
#define FAKEVMM_GRAPH_H

#include "graph_params.h"

/* The other end of an edge, with the edge's data. */
struct fv_edge {
    struct fv_node *node;
    CUgraphEdgeData data;
};

struct fv_edges {
    struct fv_edge *at;
    size_t count, room;
};

struct fv_node {
    unsigned long long id;
    unsigned long long origin; /* id of the node it was cloned from, 0: none */
    struct fv_graph *graph;
    struct fv_node *next, *previous; /* in order of creation */
    struct fv_edges in, out;         /* dependencies and dependents, in order of creation */
    struct fv_params *params;
    CUgraph *inner; /* owned: a child graph node's graph, the bodies of a conditional node */
    size_t inner_count;
    CUlaunchAttributeValue *attribute; /* CU_LAUNCH_ATTRIBUTE_MAX of them, NULL: all default */
    size_t mark;                       /* scratch of whoever walks the graph */
};

struct fv_graph {
    unsigned long long id;
    unsigned long long origin; /* id of the graph it was cloned from, 0: none */
    struct fv_node *owner;     /* the node it belongs to, or NULL */
    bool moved;                /* into that node, by the application */
    bool has_memory;           /* nodes that allocate or free, it or a graph in it */
    struct fv_node *first, *last;
    size_t count;
    struct fv_node *found;           /* the node cuGraphNodeFindInClone answered last */
    struct fv_capture *capture;      /* that adds nodes to it now (capture.h), or NULL */
    struct fv_condition *conditions; /* handles made for it */
    struct fv_objects *objects;      /* user objects it keeps */
};

/* A graph inside a node. */
static inline struct fv_graph *fv_node_inner(const struct fv_node *node, size_t index)
{
    return (struct fv_graph *)node->inner[index];
}

/* ---- graph.c ---- */

/* CUDA_ERROR_INVALID_VALUE for what is no live handle. */
CUresult fv_graph_of(CUgraph handle, struct fv_graph **out);
CUresult fv_node_of(CUgraphNode handle, struct fv_node **out);
/* An empty one, or NULL when memory is out. */
struct fv_graph *fv_graph_new(void);
CUresult fv_graph_clone(const struct fv_graph *from, struct fv_graph **out);
void fv_graph_free(struct fv_graph *graph);
/* Adds a node. Takes over `params`, on success only. */
CUresult fv_node_add(struct fv_graph *graph, const CUgraphNode *dependencies,
                     const CUgraphEdgeData *data, size_t count, struct fv_params *params,
                     CUgraphNode *out);
/* Gives a node that has none `count` graphs inside: `graph`, which it takes over, or new ones. */
CUresult fv_node_give_inner(struct fv_node *node, struct fv_graph *graph, size_t count);
/* Takes a node and its edges out of its graph, and frees it. */
void fv_node_remove(struct fv_node *node);

/* ---- graph_edges.c ---- */

/* CUDA_ERROR_INVALID_VALUE unless these are different nodes of the graph. */
CUresult fv_edges_check(const struct fv_graph *graph, const CUgraphNode *dependencies,
                        size_t count);
/* Edges from nodes that were checked into another one. data == NULL: plain ones. */
CUresult fv_edges_into(struct fv_node *node, const CUgraphNode *dependencies,
                       const CUgraphEdgeData *data, size_t count);
void fv_edge_remove(struct fv_node *from, struct fv_node *to);
/* The edges of a graph for another one with the same nodes. */
CUresult fv_edges_clone(const struct fv_graph *from, struct fv_graph *graph);

/* ---- graph_rules.c ---- */

/* True if the graph, or one inside it, has a node of that kind. */
bool fv_graph_contains(const struct fv_graph *graph, CUgraphNodeType type);
/* CUDA_ERROR_NOT_SUPPORTED for a graph that cannot be cloned. */
CUresult fv_graph_check_clone(const struct fv_graph *graph);
/* Whether a graph may become the child of a node that is added to another one. */
CUresult fv_graph_check_move(const struct fv_graph *graph, const struct fv_graph *into);
/* Whether a node with these parameters, and a child graph (else NULL), may be added. */
CUresult fv_graph_check_node(const struct fv_graph *graph, const struct fv_params *params,
                             const struct fv_graph *child);

/* ---- graph_nodes.c ---- */

/* Adds a node that does what these parameters say. */
CUresult fv_node_add_given(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *data, size_t count,
                           const CUgraphNodeParams *given);
CUresult fv_node_set_given(CUgraphNode node, const CUgraphNodeParams *given);
/* A node of that kind, or CUDA_ERROR_INVALID_VALUE. */
CUresult fv_node_of_type(CUgraphNode handle, CUgraphNodeType type, struct fv_node **out);

/* ---- graph_object.c ---- */

/* References to user objects, as a graph, an exec and its launches share them; NULL: none. */
struct fv_objects *fv_objects_get(struct fv_objects *objects);
void fv_objects_put(struct fv_objects *objects);

/* ---- graph_attribute.c ---- */

/* The value of an attribute a kernel node may have, or its default. */
const CUlaunchAttributeValue *fv_node_attribute(const struct fv_node *node, CUlaunchAttributeID id);
struct fv_company fv_node_company(const struct fv_node *node);
bool fv_node_updatable(const struct fv_node *node);
CUresult fv_node_copy_attributes(struct fv_node *to, const struct fv_node *from);

/* ---- graph_given.c ---- */

/* What the setters of one kind take, as the generic ones take it. */
CUgraphNodeParams fv_given_kernel_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *kernel);
CUgraphNodeParams fv_given_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *kernel);
CUgraphNodeParams fv_given_copy(const CUDA_MEMCPY3D *copy, CUcontext context);
CUgraphNodeParams fv_given_memset(const CUDA_MEMSET_NODE_PARAMS_v1 *memset, CUcontext context);
CUgraphNodeParams fv_given_host(const CUDA_HOST_NODE_PARAMS_v1 *host);
CUgraphNodeParams fv_given_child(CUgraph child);
CUgraphNodeParams fv_given_event(CUgraphNodeType type, CUevent event);
CUgraphNodeParams fv_given_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 *batch);
CUgraphNodeParams fv_given_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS_v1 *alloc);
CUgraphNodeParams fv_given_free(CUdeviceptr address);
/* Checks the type and that every byte its kind of node does not use is zero. */
CUresult fv_given_check(const CUgraphNodeParams *given);
/* CUDA_ERROR_NOT_SUPPORTED for what can only be given when a node is added. */
CUresult fv_given_settable(const CUgraphNodeParams *given);
/* The child graph these parameters name. */
CUresult fv_given_graph(const CUgraphNodeParams *given, struct fv_graph **out);

#endif
