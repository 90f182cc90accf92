/* graph_schedule.h: in what order an exec's actions run, as graph_schedule.c finds it and
 * graph_run.c follows it. Immutable once made. */
#ifndef FAKEVMM_GRAPH_SCHEDULE_H
#define FAKEVMM_GRAPH_SCHEDULE_H

#include "graph_exec.h"

/* Actions that nothing but their own order ties together: one worker does them one by one. Only the
 * first may have to wait for something beside its dependencies. */
struct fv_segment {
    size_t first, count;   /* in `order` */
    size_t waits;          /* segments it depends on */
    size_t out, out_count; /* in `out`: those that depend on it */
};

/* What a conditional node chooses from. */
struct fv_choice {
    size_t action;
    size_t body, count; /* in `bodies` */
};

struct fv_range {
    size_t begin, end; /* actions, in an order they may run in */
};

struct fv_schedule {
    unsigned refs;
    struct fv_segment *segments;
    size_t segment_count;
    size_t *order; /* actions, segment by segment; those inside conditional nodes are not there */
    size_t *out;   /* segments */
    size_t *roots; /* segments that wait for none */
    size_t root_count;
    size_t *calls; /* actions that a launch prepares as it is queued: events, memory, batches */
    size_t call_count;
    struct fv_choice *choices; /* the conditional nodes, by rising action */
    size_t choice_count;
    struct fv_range *bodies;
    bool polls; /* has a batch, which may wait for memory */
};

/* From an exec's steps and levels; gives its actions their slots. NULL when memory is out. */
struct fv_schedule *fv_schedule_new(struct fv_exec *exec);
void fv_schedule_put(struct fv_schedule *schedule);
const struct fv_choice *fv_schedule_choice(const struct fv_schedule *schedule, size_t action);

#endif
