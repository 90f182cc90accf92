/* capture_fixture.h: what the tests of stream capture share, on top of the tests of graphs: short
 * forms of the calls, what is in a captured graph, and calls from another thread. */
#ifndef CAPTURE_FIXTURE_H
#define CAPTURE_FIXTURE_H

#include <pthread.h>

#include "tests/fake/graph_fixture.h"

#define GLOBAL       CU_STREAM_CAPTURE_MODE_GLOBAL
#define THREAD_LOCAL CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define RELAXED      CU_STREAM_CAPTURE_MODE_RELAXED

#define ACTIVE      CU_STREAM_CAPTURE_STATUS_ACTIVE
#define INVALIDATED CU_STREAM_CAPTURE_STATUS_INVALIDATED
#define NONE        CU_STREAM_CAPTURE_STATUS_NONE

static inline CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static inline CUevent new_event(void)
{
    CUevent event = NULL;
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static inline CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    OK(cuStreamIsCapturing(stream, &status));
    return status;
}

static inline void begin(CUstream stream, CUstreamCaptureMode mode)
{
    OK(cuStreamBeginCapture_v2(stream, mode));
    T_EQ(status_of(stream), ACTIVE);
}

/* Ends a capture that is expected to have worked. */
static inline CUgraph end(CUstream stream)
{
    CUgraph graph = NULL;
    OK(cuStreamEndCapture(stream, &graph));
    T_NOT_NULL(graph);
    T_EQ(status_of(stream), NONE);
    return graph;
}

/* Ends a capture that is expected to have failed. */
static inline void end_fails(CUstream stream, CUresult error)
{
    CUgraph graph = (CUgraph)&graph;
    T_EQ(cuStreamEndCapture(stream, &graph), error);
    T_NULL(graph);
    T_EQ(status_of(stream), NONE);
}

/* The capture has just been invalidated. */
static inline void end_broken(CUstream stream)
{
    T_EQ(status_of(stream), INVALIDATED);
    end_fails(stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* One thread of mix or put. */
static inline CUresult launch(CUfunction function, CUstream stream, CUdeviceptr p, unsigned a,
                              unsigned b)
{
    void *params[] = {&p, &a, &b};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

/* `to` waits for everything in `from` now. */
static inline void join(CUstream to, CUstream from)
{
    CUevent event = new_event();
    OK(cuEventRecord(event, from));
    OK(cuStreamWaitEvent(to, event, 0));
    OK(cuEventDestroy_v2(event));
}

static inline size_t node_count(CUgraph graph)
{
    size_t count = 0;
    OK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

/* The i-th node added. */
static inline CUgraphNode node_at(CUgraph graph, size_t index)
{
    CUgraphNode nodes[32];
    size_t count = 32;
    OK(cuGraphGetNodes(graph, nodes, &count));
    T_LT(index, count);
    return nodes[index];
}

static inline CUgraphNodeType type_at(CUgraph graph, size_t index)
{
    CUgraphNodeType type = (CUgraphNodeType)99;
    OK(cuGraphNodeGetType(node_at(graph, index), &type));
    return type;
}

/* The graph has exactly these edges, given as pairs of places in the order of creation. */
static inline void expect_edges(CUgraph graph, size_t count, const size_t (*edges)[2])
{
    CUgraphNode from[32], to[32];
    size_t found = 32;
    OK(cuGraphGetEdges(graph, from, to, &found));
    T_EQ(found, count);
    for (size_t i = 0; i < count; i++) {
        CUgraphNode a = node_at(graph, edges[i][0]), b = node_at(graph, edges[i][1]);
        size_t at = 0;
        while (at < found && (from[at] != a || to[at] != b))
            at++;
        T_ASSERT(at < found, "edge %zu -> %zu", edges[i][0], edges[i][1]);
    }
}

/* ---- another thread ---- */

typedef CUresult (*any_call)(void *data);

struct elsewhere {
    CUcontext context;
    CUstreamCaptureMode mode;
    any_call call;
    void *data;
    CUresult result;
};

static inline void *run_elsewhere(void *data)
{
    struct elsewhere *there = data;
    CUstreamCaptureMode mode = there->mode;
    there->result = cuCtxSetCurrent(there->context);
    if (there->result == CUDA_SUCCESS)
        there->result = cuThreadExchangeStreamCaptureMode(&mode);
    if (there->result == CUDA_SUCCESS)
        there->result = there->call(there->data);
    return NULL;
}

/* The answer a call gets in a new thread with this mode. */
static inline CUresult elsewhere(CUcontext context, CUstreamCaptureMode mode, any_call call,
                                 void *data)
{
    struct elsewhere there = {context, mode, call, data, CUDA_ERROR_UNKNOWN};
    pthread_t thread;
    T_EQ(pthread_create(&thread, NULL, run_elsewhere, &there), 0);
    pthread_join(thread, NULL);
    return there.result;
}

/* The answer it gets in this thread with this mode. */
static inline CUresult here(CUstreamCaptureMode mode, any_call call, void *data)
{
    CUstreamCaptureMode before = mode;
    OK(cuThreadExchangeStreamCaptureMode(&before));
    CUresult result = call(data);
    OK(cuThreadExchangeStreamCaptureMode(&before));
    return result;
}

#endif
