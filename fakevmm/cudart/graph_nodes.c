/* graph_nodes.c: nodes and their parameters, in graphs and in executable graphs. Each call
 * translates with graph_params.c or copy.c and hands on to the driver. Copy and fill nodes run in
 * the current context. */
#include "runtime.h"

/* ---- kernel nodes ---- */

cudaError_t rt_cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                      const cudaGraphNode_t *after, size_t count,
                                      const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS node;
    cudaError_t error = rt_node_to_driver(params, &node);

    return error == cudaSuccess ? DRIVER(cuGraphAddKernelNode, out, graph, after, count, &node)
                                : error;
}

cudaError_t rt_cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                            struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS from;
    cudaError_t error =
        params ? DRIVER(cuGraphKernelNodeGetParams, node, &from) : cudaErrorInvalidValue;

    return error == cudaSuccess ? rt_node_from_driver(&from, params) : error;
}

cudaError_t rt_cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                            const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS to;
    cudaError_t error = rt_node_to_driver(params, &to);

    return error == cudaSuccess ? DRIVER(cuGraphKernelNodeSetParams, node, &to) : error;
}

cudaError_t rt_cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS to;
    cudaError_t error = rt_node_to_driver(params, &to);

    return error == cudaSuccess ? DRIVER(cuGraphExecKernelNodeSetParams, exec, node, &to) : error;
}

cudaError_t rt_cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t dst, cudaGraphNode_t src)
{
    return DRIVER(cuGraphKernelNodeCopyAttributes, dst, src);
}

cudaError_t rt_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID which,
                                               cudaLaunchAttributeValue *value)
{
    return DRIVER(cuGraphKernelNodeGetAttribute, node, (CUlaunchAttributeID)which,
                  (CUlaunchAttributeValue *)value);
}

cudaError_t rt_cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID which,
                                               const cudaLaunchAttributeValue *value)
{
    return DRIVER(cuGraphKernelNodeSetAttribute, node, (CUlaunchAttributeID)which,
                  (const CUlaunchAttributeValue *)value);
}

/* ---- copy nodes ---- */

/* A copy in the driver's form, and the context it is to run in. */
static cudaError_t prepare_copy(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *copy,
                                CUcontext *context)
{
    cudaError_t error = params ? rt_context(context) : cudaErrorInvalidValue;

    return error == cudaSuccess ? rt_copy_to_driver(params, copy) : error;
}

cudaError_t rt_cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                      const cudaGraphNode_t *after, size_t count,
                                      const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t error = prepare_copy(params, &copy, &context);

    return error == cudaSuccess
               ? DRIVER(cuGraphAddMemcpyNode, out, graph, after, count, &copy, context)
               : error;
}

cudaError_t rt_cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                        const cudaGraphNode_t *after, size_t count, void *dst,
                                        const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms params = rt_copy_1d(dst, src, bytes, kind);

    return rt_cudaGraphAddMemcpyNode(out, graph, after, count, &params);
}

cudaError_t rt_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error =
        params ? DRIVER(cuGraphMemcpyNodeGetParams, node, &copy) : cudaErrorInvalidValue;

    return error == cudaSuccess ? rt_copy_from_driver(&copy, params) : error;
}

cudaError_t rt_cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                            const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = params ? rt_copy_to_driver(params, &copy) : cudaErrorInvalidValue;

    return error == cudaSuccess ? DRIVER(cuGraphMemcpyNodeSetParams, node, &copy) : error;
}

cudaError_t rt_cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                              size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms params = rt_copy_1d(dst, src, bytes, kind);

    return rt_cudaGraphMemcpyNodeSetParams(node, &params);
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    CUcontext context;
    cudaError_t error = prepare_copy(params, &copy, &context);

    return error == cudaSuccess ? DRIVER(cuGraphExecMemcpyNodeSetParams, exec, node, &copy, context)
                                : error;
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  void *dst, const void *src, size_t bytes,
                                                  enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms params = rt_copy_1d(dst, src, bytes, kind);

    return rt_cudaGraphExecMemcpyNodeSetParams(exec, node, &params);
}

/* ---- fill nodes ---- */

static CUDA_MEMSET_NODE_PARAMS fill(const struct cudaMemsetParams *params)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = rt_address(params->dst),
        .pitch = params->pitch,
        .value = params->value,
        .elementSize = params->elementSize,
        .width = params->width,
        .height = params->height,
    };
}

cudaError_t rt_cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                      const cudaGraphNode_t *after, size_t count,
                                      const struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS to;
    CUcontext context;
    cudaError_t error = params ? rt_context(&context) : cudaErrorInvalidValue;

    if (error != cudaSuccess)
        return error;
    to = fill(params);
    return DRIVER(cuGraphAddMemsetNode, out, graph, after, count, &to, context);
}

cudaError_t rt_cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS from;
    cudaError_t error =
        params ? DRIVER(cuGraphMemsetNodeGetParams, node, &from) : cudaErrorInvalidValue;

    if (error == cudaSuccess) {
        *params = (struct cudaMemsetParams){
            .dst = (void *)from.dst,
            .pitch = from.pitch,
            .value = from.value,
            .elementSize = from.elementSize,
            .width = from.width,
            .height = from.height,
        };
    }
    return error;
}

cudaError_t rt_cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                            const struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS to;

    if (!params)
        return cudaErrorInvalidValue;
    to = fill(params);
    return DRIVER(cuGraphMemsetNodeSetParams, node, &to);
}

cudaError_t rt_cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                const struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS to;
    CUcontext context;
    cudaError_t error = params ? rt_context(&context) : cudaErrorInvalidValue;

    if (error != cudaSuccess)
        return error;
    to = fill(params);
    return DRIVER(cuGraphExecMemsetNodeSetParams, exec, node, &to, context);
}

/* ---- host, child, empty and event nodes: one layout in both forms ---- */

FORWARD(cudaGraphAddHostNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
         const struct cudaHostNodeParams *params),
        cuGraphAddHostNode, out, graph, after, count, (const CUDA_HOST_NODE_PARAMS *)params)
FORWARD(cudaGraphHostNodeGetParams, (cudaGraphNode_t node, struct cudaHostNodeParams *params),
        cuGraphHostNodeGetParams, node, (CUDA_HOST_NODE_PARAMS *)params)
FORWARD(cudaGraphHostNodeSetParams, (cudaGraphNode_t node, const struct cudaHostNodeParams *params),
        cuGraphHostNodeSetParams, node, (const CUDA_HOST_NODE_PARAMS *)params)
FORWARD(cudaGraphExecHostNodeSetParams,
        (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *params),
        cuGraphExecHostNodeSetParams, exec, node, (const CUDA_HOST_NODE_PARAMS *)params)
FORWARD(cudaGraphAddChildGraphNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
         cudaGraph_t child),
        cuGraphAddChildGraphNode, out, graph, after, count, child)
FORWARD(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *out),
        cuGraphChildGraphNodeGetGraph, node, out)
FORWARD(cudaGraphExecChildGraphNodeSetParams,
        (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child),
        cuGraphExecChildGraphNodeSetParams, exec, node, child)
FORWARD(cudaGraphAddEmptyNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count),
        cuGraphAddEmptyNode, out, graph, after, count)
FORWARD(cudaGraphAddEventRecordNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
         cudaEvent_t event),
        cuGraphAddEventRecordNode, out, graph, after, count, event)
FORWARD(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *out),
        cuGraphEventRecordNodeGetEvent, node, out)
FORWARD(cudaGraphEventRecordNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        cuGraphEventRecordNodeSetEvent, node, event)
FORWARD(cudaGraphExecEventRecordNodeSetEvent,
        (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
        cuGraphExecEventRecordNodeSetEvent, exec, node, event)
FORWARD(cudaGraphAddEventWaitNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
         cudaEvent_t event),
        cuGraphAddEventWaitNode, out, graph, after, count, event)
FORWARD(cudaGraphEventWaitNodeGetEvent, (cudaGraphNode_t node, cudaEvent_t *out),
        cuGraphEventWaitNodeGetEvent, node, out)
FORWARD(cudaGraphEventWaitNodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event),
        cuGraphEventWaitNodeSetEvent, node, event)
FORWARD(cudaGraphExecEventWaitNodeSetEvent,
        (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event),
        cuGraphExecEventWaitNodeSetEvent, exec, node, event)

/* ---- any type of node ---- */

cudaError_t rt_cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                const cudaGraphNode_t *after, const cudaGraphEdgeData *data,
                                size_t count, struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams to;
    cudaError_t error = rt_params_to_driver(params, &to);

    if (error == cudaSuccess)
        error =
            DRIVER(cuGraphAddNode, out, graph, after, (const CUgraphEdgeData *)data, count, &to);
    if (error == cudaSuccess)
        rt_params_outputs(&to, params);
    return error;
}

cudaError_t rt_cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams to;
    cudaError_t error = rt_params_to_driver(params, &to);

    return error == cudaSuccess ? DRIVER(cuGraphNodeSetParams, node, &to) : error;
}

cudaError_t rt_cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                          struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams to;
    cudaError_t error = rt_params_to_driver(params, &to);

    return error == cudaSuccess ? DRIVER(cuGraphExecNodeSetParams, exec, node, &to) : error;
}
