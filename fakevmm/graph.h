/* graph.h: graphs, their nodes and edges, and what nodes do, as the graph*.c files share them. What
 * is instantiated from a graph is graph_exec.h's.
 *
 * A graph is a description: nodes in the order they were added, edges between them. Parameters are
 * immutable blocks with counted references, so that a graph, its clones, its execs and their queued
 * launches share them. Nodes and graphs have ids that never come back, because their handle values
 * do. The lock is held throughout, but for running a block's work. */
#ifndef FAKEVMM_GRAPH_H
#define FAKEVMM_GRAPH_H

#include "device.h"
#include "fakevmm.h"
#include "module.h"

struct fv_node;

/* What a node does. */
struct fv_params {
    CUgraphNodeType type;
    unsigned refs;
    struct fv_context *context; /* where it runs; NULL for a host, empty or child graph node */
    unsigned long long context_id;
    int device; /* ordinal of that context's device */
    union {
        struct {
            struct fv_function *handle;
            struct fv_function function;    /* as it was then; the handle may go */
            CUDA_KERNEL_NODE_PARAMS_v3 set; /* without kernelParams and extra */
            unsigned char *bytes;           /* the packed parameters */
            size_t size;
            bool as_extra; /* they came through `extra` and are returned that way */
            void **list;   /* what the getter returns, made when first asked for */
        } kernel;
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS_v1 memset;
        CUDA_HOST_NODE_PARAMS_v2 host;
    };
};

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
    struct fv_graph *child;            /* owned; for CU_GRAPH_NODE_TYPE_GRAPH only */
    CUlaunchAttributeValue *attribute; /* CU_LAUNCH_ATTRIBUTE_MAX of them, NULL: all default */
    size_t mark;                       /* scratch of whoever walks the graph */
};

struct fv_graph {
    unsigned long long id;
    unsigned long long origin; /* id of the graph it was cloned from, 0: none */
    struct fv_node *owner;     /* the child graph node it belongs to, or NULL */
    struct fv_node *first, *last;
    size_t count;
    struct fv_node *found;      /* the node cuGraphNodeFindInClone answered last */
    struct fv_capture *capture; /* that adds nodes to it now (capture.h), or NULL */
};

/* ---- graph.c ---- */

/* CUDA_ERROR_INVALID_VALUE for what is no live handle. */
CUresult fv_graph_of(CUgraph handle, struct fv_graph **out);
CUresult fv_node_of(CUgraphNode handle, struct fv_node **out);
/* An empty one, or NULL when memory is out. */
struct fv_graph *fv_graph_new(void);
CUresult fv_graph_clone(const struct fv_graph *from, struct fv_graph **out);
void fv_graph_free(struct fv_graph *graph);
/* Adds a node. Takes over `params` and `child`, on success only. */
CUresult fv_node_add(struct fv_graph *graph, const CUgraphNode *dependencies,
                     const CUgraphEdgeData *data, size_t count, struct fv_params *params,
                     struct fv_graph *child, CUgraphNode *out);

/* ---- graph_nodes.c ---- */

/* Adds a node that does what these parameters say. */
CUresult fv_node_add_given(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *data, size_t count,
                           const CUgraphNodeParams *given);

/* ---- graph_params.c ---- */

/* A block with one reference from a node's parameters, checked and copied. NULL contexts mean the
 * current one. The child graph of a CU_GRAPH_NODE_TYPE_GRAPH is not part of it. */
CUresult fv_params_new(const CUgraphNodeParams *given, struct fv_params **out);
struct fv_params *fv_params_get(struct fv_params *params);
void fv_params_put(struct fv_params *params);
/* False once the function's module or the context is gone. */
bool fv_params_alive(const struct fv_params *params);
/* Does the work; any thread, no lock. */
CUresult fv_params_run(const struct fv_params *params);
/* What names an address in [base, base + size), in words, or NULL. */
const char *fv_params_use(const struct fv_params *params, CUdeviceptr base, size_t size);
/* A kernel's parameters as they were set; the array in them lives as long as the block. */
CUresult fv_params_show_kernel(struct fv_params *params, CUDA_KERNEL_NODE_PARAMS_v2 *out);

/* ---- graph_attribute.c ---- */

/* The value of an attribute a kernel node may have, or its default. */
const CUlaunchAttributeValue *fv_node_attribute(const struct fv_node *node, CUlaunchAttributeID id);
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
/* Checks the type and that every byte its kind of node does not use is zero. */
CUresult fv_given_check(const CUgraphNodeParams *given);
/* The child graph these parameters name, to be cloned. */
CUresult fv_given_graph(const CUgraphNodeParams *given, struct fv_graph **out);

#endif
