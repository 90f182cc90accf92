/* graph_launch.h: a launch of an exec, as graph_launch.c queues it and graph_run.c runs it. */
#ifndef FAKEVMM_GRAPH_LAUNCH_H
#define FAKEVMM_GRAPH_LAUNCH_H

#include "graph_schedule.h"

/* What a launch has prepared for one of schedule->calls. */
struct fv_call_state {
    struct fv_record *record; /* of an event node; the launch's until the node has run */
    unsigned next;            /* of a batch: the operation to go on with */
    CUresult error;           /* of a batch */
    bool coming;              /* of a memory node: it is queued, and its turn has not come */
};

/* A segment's state. */
struct fv_piece {
    size_t arrived; /* of the segments it waits for */
    size_t next;    /* in the list it is on */
};

#define FV_NO_PIECE SIZE_MAX

struct fv_launch {
    struct fv_work work;
    struct fv_plan *plan; /* NULL: an upload */
    struct fv_schedule *schedule;
    struct fv_line *line;
    struct fv_launch *next; /* in line */
    struct fv_call_state *calls;
    struct fv_piece *pieces;
    size_t next_root;      /* of schedule->roots, to be started */
    size_t ready, blocked; /* lists of pieces: to be run; waiting for an event or a value */
    size_t finished;       /* pieces */
    bool failed;
};

/* ---- graph_run.c: the callbacks of struct fv_work ---- */

void fv_launch_begin(struct fv_work *work);
CUresult fv_launch_run(struct fv_work *work);
enum fv_pieces fv_launch_pieces(struct fv_work *work);

#endif
