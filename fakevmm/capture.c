/* capture.c: what a capture holds: its graph, the streams that take part and where each stands; how
 * nodes, events and joins change that; how it ends. It must not know which calls are allowed
 * meanwhile (capture_rules.c). */
#include "capture.h"

#include <stdlib.h>
#include <string.h>

struct fv_capture *fv_captures;
static unsigned long long last_id;

/* ---- sets of nodes ---- */

static bool front_reserve(struct fv_front *front, size_t count)
{
    CUgraphNode *nodes;
    CUgraphEdgeData *data;

    if (count <= front->room)
        return true;
    nodes = realloc(front->nodes, count * sizeof *nodes);
    if (!nodes)
        return false;
    front->nodes = nodes;
    data = realloc(front->data, count * sizeof *data);
    if (!data)
        return false;
    front->data = data;
    front->room = count;
    return true;
}

static CUresult front_join(struct fv_front *front, const CUgraphNode *nodes,
                           const CUgraphEdgeData *data, size_t count)
{
    size_t old = front->count;

    if (nodes == front->nodes) /* the application passes what it was shown */
        return CUDA_SUCCESS;
    if (!front_reserve(front, old + count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < front->count && front->nodes[at] != nodes[i])
            at++;
        if (at < front->count)
            continue;
        front->nodes[at] = nodes[i];
        front->data[at] = data ? data[i] : (CUgraphEdgeData){0};
        front->count++;
    }
    return CUDA_SUCCESS;
}

static void front_free(struct fv_front *front)
{
    free(front->nodes);
    free(front->data);
}

/* ---- begin and end ---- */

static CUresult enter(struct fv_capture *capture, struct fv_stream *stream)
{
    struct fv_tail *tail = calloc(1, sizeof *tail);

    if (!tail)
        return CUDA_ERROR_OUT_OF_MEMORY;
    tail->capture = capture;
    tail->stream = stream;
    tail->next = capture->tails;
    capture->tails = stream->tail = tail;
    return CUDA_SUCCESS;
}

/* All but the graph. */
static void dissolve(struct fv_capture *capture)
{
    struct fv_capture **at = &fv_captures;

    while (*at != capture)
        at = &(*at)->next;
    *at = capture->next;
    for (struct fv_tail *tail = capture->tails, *next; tail; tail = next) {
        next = tail->next;
        if (tail->stream)
            tail->stream->tail = NULL;
        front_free(&tail->front);
        free(tail);
    }
    capture->graph->capture = NULL;
    front_free(&capture->released);
    free(capture);
}

/* The graph of an application that named its own stays, with what was captured into it. */
static void abandon(struct fv_capture *capture)
{
    struct fv_graph *graph = capture->owned ? capture->graph : NULL;

    dissolve(capture);
    if (graph)
        fv_graph_free(graph);
}

CUresult fv_capture_begin(struct fv_stream *stream, CUstreamCaptureMode mode,
                          struct fv_graph *graph, const struct fv_front *after)
{
    struct fv_capture *capture = calloc(1, sizeof *capture);
    struct fv_graph *target = graph ? graph : fv_graph_new();
    CUresult result;

    if (!capture || !target) {
        free(capture);
        if (target && !graph)
            fv_graph_free(target);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *capture = (struct fv_capture){.id = ++last_id,
                                   .mode = mode,
                                   .thread = fv_thread(),
                                   .graph = target,
                                   .owned = !graph,
                                   .next = fv_captures};
    fv_captures = target->capture = capture;
    result = enter(capture, stream);
    if (result == CUDA_SUCCESS)
        result = front_join(&stream->tail->front, after->nodes, after->data, after->count);
    if (result != CUDA_SUCCESS) {
        abandon(capture);
        return result;
    }
    capture->origin = stream->tail;
    return CUDA_SUCCESS;
}

static void mark_front(const struct fv_front *front)
{
    for (size_t i = 0; i < front->count; i++)
        ((struct fv_node *)front->nodes[i])->mark = 1;
}

/* Marks what the original stream's tail depends on, directly or not. Edges mostly lead from older
 * nodes to younger ones, so the second pass seldom finds anything. */
static void mark_joined(const struct fv_capture *capture)
{
    struct fv_node *node;
    bool found = true;

    for (node = capture->graph->first; node; node = node->next)
        node->mark = 0;
    mark_front(&capture->origin->front);
    mark_front(&capture->released);
    while (found) {
        found = false;
        for (node = capture->graph->last; node; node = node->previous) {
            for (size_t i = 0; node->mark && i < node->in.count; i++) {
                found |= !node->in.at[i].node->mark;
                node->in.at[i].node->mark = 1;
            }
        }
    }
}

static bool all_joined(const struct fv_capture *capture)
{
    mark_joined(capture);
    for (const struct fv_tail *tail = capture->tails; tail; tail = tail->next)
        for (size_t i = 0; i < tail->front.count; i++)
            if (!((const struct fv_node *)tail->front.nodes[i])->mark)
                return false;
    return true;
}

CUresult fv_capture_end(struct fv_capture *capture, struct fv_graph **out)
{
    CUresult result = CUDA_SUCCESS;

    if (capture->invalid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!all_joined(capture))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *out = result == CUDA_SUCCESS ? capture->graph : NULL;
    if (result == CUDA_SUCCESS)
        dissolve(capture);
    else
        abandon(capture);
    return result;
}

void fv_capture_invalidate(struct fv_capture *capture)
{
    if (capture)
        capture->invalid = true;
}

void fv_capture_drop_stream(struct fv_stream *stream)
{
    struct fv_tail *tail = stream->tail;

    if (!tail)
        return;
    tail->stream = NULL;
    stream->tail = NULL;
    if (tail == tail->capture->origin)
        abandon(tail->capture);
}

void fv_capture_drop_graph(struct fv_graph *graph)
{
    if (graph->capture)
        dissolve(graph->capture);
}

/* ---- what happens in a capture ---- */

CUresult fv_capture_node(struct fv_stream *stream, const CUgraphNodeParams *given, CUgraphNode *out)
{
    struct fv_tail *tail = stream->tail;
    struct fv_front *front = &tail->front;
    CUresult result;

    if (!front_reserve(front, 1))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_node_add_given(out, (CUgraph)tail->capture->graph, front->nodes, front->data,
                               front->count, given);
    if (result != CUDA_SUCCESS)
        return result;
    front->nodes[0] = *out;
    front->data[0] = (CUgraphEdgeData){0};
    front->count = 1;
    return CUDA_SUCCESS;
}

CUresult fv_tail_join(struct fv_tail *tail, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                      size_t count)
{
    return front_join(&tail->front, nodes, data, count);
}

/* The new set first: the caller may pass the arrays it was shown, which are the old one's. */
CUresult fv_tail_set(struct fv_tail *tail, const CUgraphNode *nodes, const CUgraphEdgeData *data,
                     size_t count)
{
    struct fv_front old = tail->front, new = {0};
    CUresult result = front_join(&new, nodes, data, count);

    if (result == CUDA_SUCCESS)
        result = front_join(&tail->capture->released, old.nodes, NULL, old.count);
    if (result == CUDA_SUCCESS)
        tail->front = new;
    front_free(result == CUDA_SUCCESS ? &old : &new);
    return result;
}

CUresult fv_capture_release(struct fv_capture *capture, CUgraphNode node)
{
    return front_join(&capture->released, &node, NULL, 1);
}

/* ---- events ---- */

void fv_mark_free(struct fv_mark *mark)
{
    front_free(&mark->front);
}

/* The capture of an event, or NULL when it has ended. */
static struct fv_capture *capture_of(const struct fv_mark *mark)
{
    struct fv_capture *capture = fv_captures;

    while (capture && capture->id != mark->capture)
        capture = capture->next;
    return capture;
}

CUresult fv_capture_record(const struct fv_stream *stream, struct fv_mark *mark)
{
    const struct fv_front *front = &stream->tail->front;

    mark->capture = stream->tail->capture->id;
    return front_join(&mark->front, front->nodes, front->data, front->count);
}

/* Why a stream in `mine` (NULL: in no capture) may not wait for an event of `theirs` (NULL: of a
 * capture that has ended, or of none). */
static CUresult check_wait(const struct fv_stream *stream, const struct fv_mark *mark,
                           const struct fv_capture *mine, const struct fv_capture *theirs)
{
    if (!mark->capture)
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    if (!theirs)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (theirs->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (mine && mine != theirs)
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (stream == stream->context->legacy) /* it can't take part */
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    return CUDA_SUCCESS;
}

CUresult fv_capture_wait(struct fv_stream *stream, const struct fv_mark *mark)
{
    struct fv_capture *mine = stream->tail ? stream->tail->capture : NULL;
    struct fv_capture *theirs = capture_of(mark);
    CUresult result = check_wait(stream, mark, mine, theirs);

    if (result == CUDA_SUCCESS && !mine)
        result = enter(theirs, stream);
    if (result == CUDA_SUCCESS)
        result = front_join(&stream->tail->front, mark->front.nodes, mark->front.data,
                            mark->front.count);
    if (result != CUDA_SUCCESS) {
        fv_capture_invalidate(mine);
        fv_capture_invalidate(theirs);
    }
    return result;
}

CUresult fv_capture_ask(const struct fv_mark *mark)
{
    fv_capture_invalidate(capture_of(mark));
    return CUDA_ERROR_CAPTURED_EVENT;
}
