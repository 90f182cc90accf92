/* graph.c: graphs and executable graphs as a whole, and what belongs to a graph (user objects,
 * handles of conditional nodes): the driver's calls under their runtime names. What is inside a
 * node is graph_nodes.c's. Nothing here keeps state. */
#include "runtime.h"

/* ---- structure ---- */

FORWARD(cudaGraphCreate, (cudaGraph_t * out, unsigned int flags), cuGraphCreate, out, flags)
FORWARD(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy, graph)
FORWARD(cudaGraphClone, (cudaGraph_t * out, cudaGraph_t graph), cuGraphClone, out, graph)
FORWARD(cudaGraphNodeFindInClone, (cudaGraphNode_t * out, cudaGraphNode_t node, cudaGraph_t clone),
        cuGraphNodeFindInClone, out, node, clone)
FORWARD(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *out),
        cuGraphNodeGetType, node, (CUgraphNodeType *)out)
FORWARD(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
        cuGraphGetNodes, graph, nodes, count)
FORWARD(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
        cuGraphGetRootNodes, graph, nodes, count)
FORWARD(cudaGraphGetEdges,
        (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *data,
         size_t *count),
        cuGraphGetEdges, graph, from, to, (CUgraphEdgeData *)data, count)
FORWARD(cudaGraphNodeGetDependencies,
        (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count),
        cuGraphNodeGetDependencies, node, nodes, (CUgraphEdgeData *)data, count)
FORWARD(cudaGraphNodeGetDependentNodes,
        (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *data, size_t *count),
        cuGraphNodeGetDependentNodes, node, nodes, (CUgraphEdgeData *)data, count)
FORWARD(cudaGraphAddDependencies,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
         const cudaGraphEdgeData *data, size_t count),
        cuGraphAddDependencies, graph, from, to, (const CUgraphEdgeData *)data, count)
FORWARD(cudaGraphRemoveDependencies,
        (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
         const cudaGraphEdgeData *data, size_t count),
        cuGraphRemoveDependencies, graph, from, to, (const CUgraphEdgeData *)data, count)
FORWARD(cudaGraphDestroyNode, (cudaGraphNode_t node), cuGraphDestroyNode, node)
FORWARD(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned int flags),
        cuGraphDebugDotPrint, graph, path, flags)

/* ---- what belongs to a graph ---- */

FORWARD(cudaUserObjectCreate,
        (cudaUserObject_t * out, void *pointer, cudaHostFn_t destroy, unsigned int references,
         unsigned int flags),
        cuUserObjectCreate, out, pointer, destroy, references, flags)
FORWARD(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count), cuUserObjectRetain,
        object, count)
FORWARD(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count), cuUserObjectRelease,
        object, count)
FORWARD(cudaGraphRetainUserObject,
        (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),
        cuGraphRetainUserObject, graph, object, count, flags)
FORWARD(cudaGraphReleaseUserObject,
        (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), cuGraphReleaseUserObject,
        graph, object, count)

/* The driver wants the context, too, in which kernels will set the value. */
cudaError_t rt_cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t graph,
                                                unsigned int initial, unsigned int flags)
{
    CUcontext context;
    cudaError_t error = rt_context(&context);

    return error == cudaSuccess
               ? DRIVER(cuGraphConditionalHandleCreate, (CUgraphConditionalHandle *)out, graph,
                        context, initial, flags)
               : error;
}

/* ---- executable graphs ---- */

FORWARD(cudaGraphInstantiate, (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags, out, graph, flags)
FORWARD(cudaGraphInstantiateWithFlags,
        (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
        cuGraphInstantiateWithFlags, out, graph, flags)
FORWARD(cudaGraphExecUpdate,
        (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info),
        cuGraphExecUpdate, exec, graph, (CUgraphExecUpdateResultInfo *)info)
FORWARD(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled),
        cuGraphNodeSetEnabled, exec, node, enabled)
FORWARD(cudaGraphNodeGetEnabled,
        (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *enabled), cuGraphNodeGetEnabled,
        exec, node, enabled)
FORWARD(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), cuGraphUpload, exec, stream)
FORWARD(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), cuGraphLaunch, exec, stream)
FORWARD(cudaGraphExecDestroy, (cudaGraphExec_t exec), cuGraphExecDestroy, exec)

/* The driver counts flags in its own 64-bit type. */
cudaError_t rt_cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *out)
{
    cuuint64_t flags = 0;
    cudaError_t error = out ? DRIVER(cuGraphExecGetFlags, exec, &flags) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        *out = flags;
    return error;
}

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                               cudaGraphInstantiateParams *params, cudaStream_t stream)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS given = {.flags = params->flags, .hUploadStream = stream};
    cudaError_t error = DRIVER(cuGraphInstantiateWithParams, out, graph, &given);

    params->errNode_out = given.hErrNode_out;
    params->result_out = (cudaGraphInstantiateResult)given.result_out;
    return error;
}

cudaError_t rt_cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph,
                                              cudaGraphInstantiateParams *params)
{
    return params ? instantiate(out, graph, params, params->uploadStream) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *out, cudaGraph_t graph,
                                                   cudaGraphInstantiateParams *params)
{
    return params ? instantiate(out, graph, params, rt_ptsz(params->uploadStream))
                  : cudaErrorInvalidValue;
}
