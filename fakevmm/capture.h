/* capture.h: stream captures, as the files of the fake driver share them. Owned by capture.c (what
 * a capture holds), capture_rules.c (what may be called meanwhile) and capture_calls.c.
 *
 * A capture belongs to the stream and the thread that began it. Each stream that takes part has a
 * tail: the nodes its next node will depend on. An event recorded in a capture stands for a copy of
 * its stream's tail; waiting for it joins that set to the waiting stream's. The lock is held
 * throughout. */
#ifndef FAKEVMM_CAPTURE_H
#define FAKEVMM_CAPTURE_H

#include "graph.h"
#include "stream.h"

/* A set of nodes, and the data of the edges that will leave them. The application is shown the
 * arrays themselves. */
struct fv_front {
    CUgraphNode *nodes;
    CUgraphEdgeData *data;
    size_t count, room;
};

/* A stream's place in a capture. */
struct fv_tail {
    struct fv_capture *capture;
    struct fv_stream
        *stream;          /* NULL once it was destroyed; what it captured is still to be joined */
    struct fv_tail *next; /* of the same capture */
    struct fv_front front;
};

struct fv_capture {
    unsigned long long id;
    CUstreamCaptureMode mode;
    uint64_t thread;        /* that began it */
    struct fv_graph *graph; /* captured into */
    bool owned;             /* the graph was made for this capture */
    bool invalid;
    struct fv_tail *origin, *tails;
    struct fv_front released; /* nodes the application itself has cut off: they need no join */
    struct fv_capture *next;
};

/* What an event recorded in a capture stands for. */
struct fv_mark {
    unsigned long long capture; /* its id, 0: not recorded in a capture */
    struct fv_front front;
};

/* ---- capture.c ---- */

/* All captures not ended yet. While there is none, nothing of this costs more than this test. */
extern struct fv_capture *fv_captures;

/* Begins a capture on a stream that is in none, into a new graph (graph == NULL) or behind `after`
 * of a given one. */
CUresult fv_capture_begin(struct fv_stream *stream, CUstreamCaptureMode mode,
                          struct fv_graph *graph, const struct fv_front *after);
/* Ends a capture and takes its streams out of it. Returns its graph; NULL, and the graph is gone if
 * it was the capture's own, unless everything captured was valid and is joined. */
CUresult fv_capture_end(struct fv_capture *capture, struct fv_graph **out);
/* From now on uses of the capture's streams and events fail, until its end. NULL: nothing. */
void fv_capture_invalidate(struct fv_capture *capture);
/* A stream is about to be destroyed: the capture it began ends with it. */
void fv_capture_drop_stream(struct fv_stream *stream);
/* A graph is about to be freed, as the child of another one: a capture into it ends with it. */
void fv_capture_drop_graph(struct fv_graph *graph);

/* Adds a node behind the stream's tail and makes it the tail. For streams in a valid capture. */
CUresult fv_capture_node(struct fv_stream *stream, const CUgraphNodeParams *given,
                         CUgraphNode *out);
/* Records the tail of a stream in a valid capture in a zeroed mark. */
CUresult fv_capture_record(const struct fv_stream *stream, struct fv_mark *mark);
/* The stream, capturing or not, waits for an event with this mark. One of both is of a capture. */
CUresult fv_capture_wait(struct fv_stream *stream, const struct fv_mark *mark);
/* The event is asked whether it is done, which it never will be: CUDA_ERROR_CAPTURED_EVENT. */
CUresult fv_capture_ask(const struct fv_mark *mark);
void fv_mark_free(struct fv_mark *mark);

/* Joins nodes to a tail's set, or makes them the set. data == NULL: plain edges. The nodes are of
 * the capture's graph. */
CUresult fv_tail_join(struct fv_tail *tail, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                      size_t count);
CUresult fv_tail_set(struct fv_tail *tail, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                     size_t count);
/* The application takes away an edge that leaves this node of the capture's graph. */
CUresult fv_capture_release(struct fv_capture *capture, CUgraphNode node);

/* ---- capture_rules.c ---- */

/* CUDA_SUCCESS, or the error of a function of the class that cuda.h calls potentially unsafe while
 * captures live (cuThreadExchangeStreamCaptureMode); the captures it endangers are invalid then. */
CUresult fv_capture_permits(const char *function);
/* A wait for everything in a context: refused if that covers a stream in a capture of this
 * thread's. Whether it also breaks those of other threads is a switch of FAKEVMM_MODEL. */
CUresult fv_capture_permits_wait(const struct fv_context *context);
/* For an operation on all streams of a context: refused while any of them is in a capture. */
CUresult fv_capture_permits_context(const struct fv_context *context);
/* True if use of the context's legacy stream would depend on a capture. */
bool fv_capture_blocks_legacy(const struct fv_context *context);
/* An operation on a capturing stream that cannot be captured: makes the capture invalid, gives back
 * the error. */
CUresult fv_capture_refuse(struct fv_stream *stream, CUresult error);

#endif
