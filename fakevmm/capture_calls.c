/* capture_calls.c: the driver's calls that begin and end captures, show them and change where a
 * stream stands in one. */
#include "capture.h"

#include <string.h>

/* ---- begin and end ---- */

static CUresult begin(CUstream handle, CUstreamCaptureMode mode, struct fv_graph *graph,
                      const struct fv_front *after)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_of(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == stream->context->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->tail)
        return CUDA_ERROR_ILLEGAL_STATE;
    return fv_capture_begin(stream, mode, graph, after);
}

CUresult fv_cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    return begin(stream, mode, NULL, &(struct fv_front){0});
}

/* From before there were modes. */
CUresult fv_cuStreamBeginCapture(CUstream stream)
{
    return fv_cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

/* All of them are nodes of the graph. */
static CUresult check_nodes(const struct fv_graph *graph, const CUgraphNode *nodes, size_t count)
{
    if (count && !nodes)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!fv_valid(FV_NODE, nodes[i]) || ((struct fv_node *)nodes[i])->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* One capture at a time: the end of one would give away the graph of the other. */
CUresult fv_cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode *nodes,
                                        const CUgraphEdgeData *data, size_t count,
                                        CUstreamCaptureMode mode)
{
    struct fv_graph *graph;
    CUresult result = fv_graph_of(handle, &graph);

    if (result == CUDA_SUCCESS)
        result = graph->capture ? CUDA_ERROR_INVALID_VALUE : check_nodes(graph, nodes, count);
    if (result != CUDA_SUCCESS)
        return result;
    return begin(stream, mode, graph,
                 &(struct fv_front){.nodes = (CUgraphNode *)nodes,
                                    .data = (CUgraphEdgeData *)data,
                                    .count = count});
}

/* Who may end it. */
static CUresult check_end(const struct fv_tail *tail)
{
    const struct fv_capture *capture = tail->capture;

    if (tail != capture->origin)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != fv_thread())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    return CUDA_SUCCESS;
}

CUresult fv_cuStreamEndCapture(CUstream handle, CUgraph *out)
{
    struct fv_stream *stream;
    struct fv_graph *graph;
    CUresult result = fv_stream_of(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!stream->tail)
        return CUDA_ERROR_ILLEGAL_STATE;
    /* Who captures into a graph of their own need not be told which. */
    if (!out && stream->tail->capture->owned)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_end(stream->tail);
    if (result != CUDA_SUCCESS)
        return fv_capture_refuse(stream, result);
    result = fv_capture_end(stream->tail->capture, &graph);
    if (out)
        *out = (CUgraph)graph;
    return result;
}

/* ---- questions ---- */

/* Asking for the legacy stream's state fails too while it cannot be used, but breaks nothing. */
static CUresult look(CUstream handle, struct fv_stream **out)
{
    CUresult result = fv_stream_of(handle, out);

    if (result != CUDA_SUCCESS || *out != (*out)->context->legacy)
        return result;
    return fv_capture_blocks_legacy((*out)->context) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                                     : CUDA_SUCCESS;
}

static CUstreamCaptureStatus status_of(const struct fv_stream *stream)
{
    if (!stream->tail)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->tail->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                          : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult fv_cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *out)
{
    struct fv_stream *stream;
    CUresult result = out ? look(handle, &stream) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = status_of(stream);
    return result;
}

static bool has_data(const struct fv_front *front)
{
    static const CUgraphEdgeData plain;

    for (size_t i = 0; i < front->count; i++)
        if (memcmp(&front->data[i], &plain, sizeof plain))
            return true;
    return false;
}

CUresult fv_cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status,
                                      cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                      const CUgraphEdgeData **data, size_t *count)
{
    struct fv_stream *stream;
    const struct fv_front *front;
    CUresult result = status && (nodes || !data) ? look(handle, &stream) : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        return result;
    *status = status_of(stream);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    front = &stream->tail->front;
    if (nodes && !data && has_data(front))
        return CUDA_ERROR_LOSSY_QUERY;
    if (id)
        *id = stream->tail->capture->id;
    if (graph)
        *graph = (CUgraph)stream->tail->capture->graph;
    if (nodes)
        *nodes = front->nodes;
    if (data)
        *data = front->data;
    if (count)
        *count = front->count;
    return CUDA_SUCCESS;
}

CUresult fv_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                      cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                      size_t *count)
{
    return fv_cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, NULL, count);
}

CUresult fv_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    return fv_cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

/* ---- changing what comes next ---- */

CUresult fv_cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *nodes,
                                                 const CUgraphEdgeData *data, size_t count,
                                                 unsigned flags)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_of(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!stream->tail)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (stream->tail->capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    result = check_nodes(stream->tail->capture->graph, nodes, count);
    if (result != CUDA_SUCCESS || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return CUDA_ERROR_INVALID_VALUE;
    return flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES
               ? fv_tail_set(stream->tail, nodes, data, count)
               : fv_tail_join(stream->tail, nodes, data, count);
}

CUresult fv_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count,
                                              unsigned flags)
{
    return fv_cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, count, flags);
}
