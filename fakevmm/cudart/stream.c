/* stream.c: streams, events, host callbacks and stream capture: nearly all of it the driver's calls
 * under their runtime names, hence the table. Nothing here keeps state. */
#include "runtime.h"

_Static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue), "one layout");

FORWARD(cudaStreamCreate, (cudaStream_t * out), cuStreamCreate, out, CU_STREAM_DEFAULT)
FORWARD(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned int flags), cuStreamCreate, out,
        flags)
FORWARD(cudaStreamCreateWithPriority, (cudaStream_t * out, unsigned int flags, int priority),
        cuStreamCreateWithPriority, out, flags, priority)
FORWARD(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy, stream)
FORWARD(cudaStreamSynchronize, (cudaStream_t stream), cuStreamSynchronize, stream)
FORWARD(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery, stream)
FORWARD(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
        cuStreamWaitEvent, stream, event, flags)
FORWARD(cudaStreamGetPriority, (cudaStream_t stream, int *out), cuStreamGetPriority, stream, out)
FORWARD(cudaStreamGetFlags, (cudaStream_t stream, unsigned int *out), cuStreamGetFlags, stream, out)
FORWARD(cudaStreamGetDevice, (cudaStream_t stream, int *out), cuStreamGetDevice, stream, out)
FORWARD(cudaStreamCopyAttributes, (cudaStream_t dst, cudaStream_t src), cuStreamCopyAttributes, dst,
        src)
FORWARD(cudaStreamGetAttribute,
        (cudaStream_t stream, cudaLaunchAttributeID which, cudaLaunchAttributeValue *out),
        cuStreamGetAttribute, stream, (CUstreamAttrID)which, (CUstreamAttrValue *)out)
FORWARD(cudaStreamSetAttribute,
        (cudaStream_t stream, cudaLaunchAttributeID which, const cudaLaunchAttributeValue *value),
        cuStreamSetAttribute, stream, (CUstreamAttrID)which, (const CUstreamAttrValue *)value)
FORWARD(cudaStreamGetId, (cudaStream_t stream, unsigned long long *out), cuStreamGetId, stream, out)
/* The callback types differ in the name of the error type only. */
FORWARD(cudaStreamAddCallback,
        (cudaStream_t stream, cudaStreamCallback_t function, void *data, unsigned int flags),
        cuStreamAddCallback, stream, (CUstreamCallback)(void (*)(void))function, data, flags)
FORWARD(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void *data),
        cuLaunchHostFunc, stream, function, data)

FORWARD(cudaEventCreate, (cudaEvent_t * out), cuEventCreate, out, CU_EVENT_DEFAULT)
FORWARD(cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned int flags), cuEventCreate, out,
        flags)
FORWARD(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), cuEventRecord, event, stream)
FORWARD(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags),
        cuEventRecordWithFlags, event, stream, flags)
FORWARD(cudaEventQuery, (cudaEvent_t event), cuEventQuery, event)
FORWARD(cudaEventSynchronize, (cudaEvent_t event), cuEventSynchronize, event)
FORWARD(cudaEventDestroy, (cudaEvent_t event), cuEventDestroy, event)
FORWARD(cudaEventElapsedTime, (float *out, cudaEvent_t start, cudaEvent_t end), cuEventElapsedTime,
        out, start, end)

FORWARD(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
        cuStreamBeginCapture, stream, (CUstreamCaptureMode)mode)
FORWARD(cudaStreamBeginCaptureToGraph,
        (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
         const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
        cuStreamBeginCaptureToGraph, stream, graph, nodes, (const CUgraphEdgeData *)edges, count,
        (CUstreamCaptureMode)mode)
FORWARD(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *out), cuStreamEndCapture, stream,
        out)
FORWARD(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *out),
        cuStreamIsCapturing, stream, (CUstreamCaptureStatus *)out)
FORWARD(cudaStreamGetCaptureInfo,
        (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
         cudaGraph_t *graph, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges,
         size_t *count),
        cuStreamGetCaptureInfo, stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id, graph,
        nodes, (const CUgraphEdgeData **)edges, count)
FORWARD(cudaStreamUpdateCaptureDependencies,
        (cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *edges, size_t count,
         unsigned int flags),
        cuStreamUpdateCaptureDependencies, stream, nodes, (const CUgraphEdgeData *)edges, count,
        flags)
FORWARD(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
        cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *)mode)
