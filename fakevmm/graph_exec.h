/* graph_exec.h: executable graphs, as the graph_*.c files share them.
 *
 * An exec is made from a graph once and then lives on its own: it remembers the shape the graph had
 * (steps), the order that follows from it (a schedule), and what each node does (actions of a
 * plan). All are kept with the lock held; a launch that runs reads its plan and schedule without
 * it, since nobody changes what somebody else holds. */
#ifndef FAKEVMM_GRAPH_EXEC_H
#define FAKEVMM_GRAPH_EXEC_H

#include "graph.h"
#include "stream.h"

struct fv_schedule;

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

/* The steps of one graph: the top one, or one inside a node. */
struct fv_level {
    size_t first, count;
    size_t begin, end; /* the places in the plan of its nodes and of those inside them */
};

/* One node of an exec: what it was at instantiation. */
struct fv_step {
    unsigned long long node; /* id of the node it was made from */
    CUgraphNodeType type;
    size_t action;             /* its place in the plan */
    size_t level, level_count; /* the levels of the graphs inside it */
    struct fv_step_edge *in;
    size_t in_count;
    struct fv_context *context;
    struct fv_binding source, target;
    struct fv_company company;
    int priority;
};

struct fv_action {
    struct fv_params *params;
    struct fv_company company;
    bool enabled;
    size_t slot; /* of what launches keep for this node: its place among schedule->calls */
};

/* What a launch does, in an order it may be done in. Shared by the exec and its queued launches;
 * the exec changes it only while nobody else holds it. */
struct fv_plan {
    unsigned refs;
    uint64_t generation; /* all parameters were alive when fv_params_generation() was this */
    struct fv_objects **objects; /* one entry for each level */
    size_t level_count;
    size_t count;
    struct fv_action actions[];
};

struct fv_exec {
    unsigned long long graph; /* id */
    unsigned long long flags;
    bool updatable;        /* has a device-updatable node */
    bool unique;           /* allocates or frees memory */
    struct fv_step *steps; /* level by level; each level in order of creation, so by rising id */
    size_t count;
    struct fv_level *levels; /* the top level first */
    size_t level_count;
    struct fv_plan *plan;
    struct fv_schedule *schedule;
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
/* Sets what a node of the exec does. */
CUresult fv_exec_set_given(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams *given);

/* ---- graph_update.c ---- */

/* Why a graph does not fit an exec. */
struct fv_mismatch {
    CUgraphExecUpdateResult result;
    struct fv_node *node, *from;
};

/* Gives the steps of a level and of those inside it what the graph's nodes do, or changes nothing
 * and says why. CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE when the graph does not fit. */
CUresult fv_exec_adopt(struct fv_exec *exec, size_t level, struct fv_graph *graph,
                       struct fv_mismatch *why);

/* ---- graph_embed.c ---- */

/* Launches the exec into the capture of a stream. */
CUresult fv_exec_capture(const struct fv_exec *exec, struct fv_stream *stream);

/* ---- graph_plan.c ---- */

/* With one reference; its actions and objects are the caller's to fill. */
struct fv_plan *fv_plan_new(size_t count, size_t level_count);
void fv_plan_put(struct fv_plan *plan);
/* Makes the exec's plan its own, so that it can be changed. */
CUresult fv_plan_own(struct fv_exec *exec);
/* The place of the first enabled action whose function or context is gone, or the plan's count. */
size_t fv_plan_check(struct fv_plan *plan);

/* ---- graph_launch.c ---- */

struct fv_line *fv_line_new(void);
void fv_line_put(struct fv_line *line);
/* Queues a launch, or with run == false an upload, behind the exec's earlier ones. */
CUresult fv_exec_queue(struct fv_exec *exec, struct fv_stream *stream, bool run);

#endif
