/* graph_exec.h: executable graphs, as the graph_*.c files share them.
 *
 * An exec is made from a graph once and then lives on its own: it remembers the shape the graph had
 * (steps) and what each node does (actions of a plan). Both are kept with the lock held; a launch
 * that runs reads its plan without it, since nobody changes a plan that somebody else holds. */
#ifndef FAKEVMM_GRAPH_EXEC_H
#define FAKEVMM_GRAPH_EXEC_H

#include "graph.h"
#include "stream.h"

/* What an operand of a copy or fill is tied to; an update must not change it. */
struct fv_binding {
    bool mapped; /* device memory */
    int device;
    struct fv_context *context; /* NULL for host and VMM memory */
};

struct fv_step_edge {
    size_t from; /* place within the level */
    CUgraphEdgeData data;
};

/* One node of an exec: what it was at instantiation. */
struct fv_step {
    unsigned long long node; /* id of the node it was made from */
    CUgraphNodeType type;
    size_t action;       /* its place in the plan */
    size_t first, count; /* the level of its child graph's steps */
    struct fv_step_edge *in;
    size_t in_count;
    struct fv_context *context;
    struct fv_binding source, target;
    bool cooperative;
    int priority;
};

struct fv_action {
    struct fv_params *params;
    bool enabled;
};

/* What a launch does, in the order it does it. Shared by the exec and its queued launches; the exec
 * changes it only while nobody else holds it. */
struct fv_plan {
    unsigned refs;
    size_t count;
    struct fv_action actions[];
};

struct fv_exec {
    unsigned long long graph; /* id */
    unsigned long long flags;
    bool updatable;        /* has a device-updatable node */
    struct fv_step *steps; /* level by level; each level in order of creation, so by rising id */
    size_t count, roots;   /* all steps; those of the top level, which come first */
    struct fv_plan *plan;
    struct fv_line *line; /* launches not finished yet */
};

/* ---- graph_bind.c ---- */

/* What the operands of a memcpy or memset are tied to now; others leave both as they are. */
void fv_params_bind(const struct fv_params *params, struct fv_binding *source,
                    struct fv_binding *target);
/* Whether an exec's node may go from `old` to `new` by a setter, or by an update of the whole exec.
 * The setter's answer covers a kernel's context; an update has a reason of its own for that. */
bool fv_step_takes_setter(const struct fv_step *step, const struct fv_params *old,
                          const struct fv_params *new);
bool fv_step_takes_update(const struct fv_step *step, const struct fv_params *old,
                          const struct fv_params *new);

/* ---- graph_exec.c ---- */

/* CUDA_ERROR_INVALID_VALUE for what is no live handle. */
CUresult fv_exec_of(CUgraphExec handle, struct fv_exec **out);
/* Launches that are queued or running go on. */
void fv_exec_free(struct fv_exec *exec);

/* ---- graph_update.c ---- */

/* Why a graph does not fit an exec. */
struct fv_mismatch {
    CUgraphExecUpdateResult result;
    struct fv_node *node, *from;
};

/* Gives the steps [first, first + count) and those of their child graphs what the graph's nodes do,
 * or changes nothing and says why. CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE when the graph does not
 * fit. */
CUresult fv_exec_adopt(struct fv_exec *exec, size_t first, size_t count, struct fv_graph *graph,
                       struct fv_mismatch *why);

/* ---- graph_embed.c ---- */

/* Launches the exec into the capture of a stream. */
CUresult fv_exec_capture(const struct fv_exec *exec, struct fv_stream *stream);

/* ---- graph_launch.c ---- */

struct fv_plan *fv_plan_new(size_t count);
void fv_plan_put(struct fv_plan *plan);
/* Makes the exec's plan its own, so that it can be changed. */
CUresult fv_plan_own(struct fv_exec *exec);
struct fv_line *fv_line_new(void);
void fv_line_put(struct fv_line *line);
/* Queues a launch, or with run == false an upload, behind the exec's earlier ones. */
CUresult fv_exec_queue(struct fv_exec *exec, struct fv_stream *stream, bool run);

#endif
