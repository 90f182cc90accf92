/* mixed.h: the part of a lane that has a graph of every kind of node: kernels, fills, copies, a
 * host function, a child graph, event nodes, in one chain, two execs of it, and cells of memory
 * that they work on. Values are drawn from few, so that updates often say what was said before. */
#ifndef RANDOM_MIXED_H
#define RANDOM_MIXED_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include "tests/apps/resend.h"
#include <cuda.h>

#define CELLS      4
#define CELL_BYTES 1536 /* a size that no other buffer has */
#define EXECS      2

enum mixed_kind {
    MIXED_KERNEL,
    MIXED_FILL,
    MIXED_COPY,
    MIXED_HOST,
    MIXED_CHILD,
    MIXED_RECORD,
    MIXED_WAIT,
    MIXED_SECOND, /* kernel */
    MIXED_KINDS
};

struct mixed {
    CUdeviceptr cell[CELLS];
    uint64_t total; /* what host nodes have added; the stream's, until it is waited for */
    uint64_t step;  /* that they add */
    CUevent event[2];
    CUgraph source, inner; /* `inner` is what the child node is made and set from */
    CUgraphNode node[MIXED_KINDS], inner_node[2], embedded_node[2];
    CUgraphExec exec[EXECS];
};

struct lane;

void mixed_begin(struct lane *lane);
void mixed_end(struct lane *lane);

/* ---- values for nodes (mixed_values.c) ---- */

/* `values` gets the addresses of the arguments; the answer is good as long as both live. */
CUDA_KERNEL_NODE_PARAMS_v2 mixed_draw_kernel(struct lane *lane, struct resend_args *args,
                                             void *values[10]);
CUDA_MEMSET_NODE_PARAMS_v1 mixed_draw_fill(struct lane *lane);
CUDA_MEMCPY3D mixed_draw_copy(struct lane *lane);
CUDA_HOST_NODE_PARAMS_v1 mixed_draw_host(struct lane *lane);
CUevent mixed_any_event(struct lane *lane);
/* Any of them as the generic functions take it. */
CUgraphNodeParams mixed_draw_any(struct lane *lane, enum mixed_kind kind, struct resend_args *args,
                                 void *values[10]);

/* ---- operations ---- */

/* One node of an exec, by any of the functions that can set it. */
void mixed_set(struct lane *lane);
/* A node inside the child graph of an exec. */
void mixed_set_nested(struct lane *lane);
void mixed_enable(struct lane *lane);
/* A node of the graph itself, which execs made or updated from it later will have. */
void mixed_edit(struct lane *lane);
/* An exec as a whole, from the graph or a clone of it. */
void mixed_update(struct lane *lane);
/* An exec goes and comes back, made in any of the ways. */
void mixed_renew(struct lane *lane);
/* The cells move: everything that names them is told, in one of the ways there are. */
void mixed_move(struct lane *lane);
/* Launches an exec, and reads the cells. */
void mixed_launch(struct lane *lane);
/* What the driver refuses. */
void mixed_mistake(struct lane *lane);

#endif
