/* graph_memory.c: nodes that allocate and free memory, the memory that graphs of a device hold, and
 * copy nodes with a device variable at one end. */
#include "runtime.h"

/* ---- allocation ---- */

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
               "one layout");

FORWARD(cudaGraphAddMemAllocNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
         struct cudaMemAllocNodeParams *params),
        cuGraphAddMemAllocNode, out, graph, after, count, (CUDA_MEM_ALLOC_NODE_PARAMS *)params)
FORWARD(cudaGraphMemAllocNodeGetParams,
        (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params), cuGraphMemAllocNodeGetParams,
        node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params)
FORWARD(cudaGraphAddMemFreeNode,
        (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
         void *pointer),
        cuGraphAddMemFreeNode, out, graph, after, count, rt_address(pointer))
FORWARD(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *out),
        cuGraphMemFreeNodeGetParams, node, out)

FORWARD(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim, device)
FORWARD(cudaDeviceGetGraphMemAttribute,
        (int device, enum cudaGraphMemAttributeType which, void *value),
        cuDeviceGetGraphMemAttribute, device, (CUgraphMem_attribute)which, value)
FORWARD(cudaDeviceSetGraphMemAttribute,
        (int device, enum cudaGraphMemAttributeType which, void *value),
        cuDeviceSetGraphMemAttribute, device, (CUgraphMem_attribute)which, value)

/* ---- copies to and from device variables ---- */

cudaError_t rt_cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                              const cudaGraphNode_t *after, size_t count,
                                              const void *symbol, const void *src, size_t bytes,
                                              size_t offset, enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_to(symbol, offset, bytes, kind, &at);

    return error == cudaSuccess
               ? rt_cudaGraphAddMemcpyNode1D(out, graph, after, count, at, src, bytes, kind)
               : error;
}

cudaError_t rt_cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                                const cudaGraphNode_t *after, size_t count,
                                                void *dst, const void *symbol, size_t bytes,
                                                size_t offset, enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_from(symbol, offset, bytes, kind, &at);

    return error == cudaSuccess
               ? rt_cudaGraphAddMemcpyNode1D(out, graph, after, count, dst, at, bytes, kind)
               : error;
}

cudaError_t rt_cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                    const void *src, size_t bytes, size_t offset,
                                                    enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_to(symbol, offset, bytes, kind, &at);

    return error == cudaSuccess ? rt_cudaGraphMemcpyNodeSetParams1D(node, at, src, bytes, kind)
                                : error;
}

cudaError_t rt_cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                      const void *symbol, size_t bytes,
                                                      size_t offset, enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_from(symbol, offset, bytes, kind, &at);

    return error == cudaSuccess ? rt_cudaGraphMemcpyNodeSetParams1D(node, dst, at, bytes, kind)
                                : error;
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        const void *symbol, const void *src,
                                                        size_t bytes, size_t offset,
                                                        enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_to(symbol, offset, bytes, kind, &at);

    return error == cudaSuccess
               ? rt_cudaGraphExecMemcpyNodeSetParams1D(exec, node, at, src, bytes, kind)
               : error;
}

cudaError_t rt_cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                          cudaGraphNode_t node, void *dst,
                                                          const void *symbol, size_t bytes,
                                                          size_t offset, enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = rt_range_from(symbol, offset, bytes, kind, &at);

    return error == cudaSuccess
               ? rt_cudaGraphExecMemcpyNodeSetParams1D(exec, node, dst, at, bytes, kind)
               : error;
}
