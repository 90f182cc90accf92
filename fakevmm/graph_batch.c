/* graph_batch.c: nodes that write values to memory or wait for them there: their parameters and the
 * calls of their kind. What the operations do is stream_ops.h's. */
#include "graph_exec.h"
#include "stream_ops.h"

#include <stdlib.h>
#include <string.h>

CUresult fv_params_set_batch(struct fv_params *params, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *set)
{
    CUresult result = fv_params_set_context(params, set->ctx);
    if (result == CUDA_SUCCESS)
        result = fv_batch_ops_check(set->paramArray, set->count, set->flags);
    if (result != CUDA_SUCCESS)
        return result;
    size_t bytes = set->count * sizeof *set->paramArray;
    CUstreamBatchMemOpParams *ops = malloc(bytes + 1);
    if (!ops)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes)
        memcpy(ops, set->paramArray, bytes);
    params->batch = *set;
    params->batch.ctx = (CUcontext)params->context;
    params->batch.paramArray = ops;
    return CUDA_SUCCESS;
}

/* Whether an operation may become the other: by address, value and kind of wait only. */
static bool op_takes(const CUstreamBatchMemOpParams *old, const CUstreamBatchMemOpParams *new)
{
    if (old->operation != new->operation)
        return false;
    switch (old->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return !((old->waitValue.flags ^ new->waitValue.flags) & CU_STREAM_WAIT_VALUE_FLUSH);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return old->writeValue.flags == new->writeValue.flags;
    default: return old->memoryBarrier.flags == new->memoryBarrier.flags;
    }
}

bool fv_batch_takes(const struct fv_params *old, const struct fv_params *new)
{
    if (old->context != new->context || old->batch.count != new->batch.count ||
        old->batch.flags != new->batch.flags)
        return false;
    for (unsigned i = 0; i < old->batch.count; i++)
        if (!op_takes(&old->batch.paramArray[i], &new->batch.paramArray[i]))
            return false;
    return true;
}

/* ---- the driver's calls ---- */

CUresult fv_cuGraphAddBatchMemOpNode(CUgraphNode *out, CUgraph graph,
                                     const CUgraphNode *dependencies, size_t count,
                                     const CUDA_BATCH_MEM_OP_NODE_PARAMS *batch)
{
    if (!batch)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_batch(batch);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphBatchMemOpNodeGetParams(CUgraphNode handle, CUDA_BATCH_MEM_OP_NODE_PARAMS *batch)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!batch)
        return CUDA_ERROR_INVALID_VALUE;
    *batch = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = node->params->batch.ctx,
                                             .count = node->params->batch.count,
                                             .paramArray = node->params->batch.paramArray,
                                             .flags = node->params->batch.flags};
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                           const CUDA_BATCH_MEM_OP_NODE_PARAMS *batch)
{
    if (!batch)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_batch(batch);
    return fv_node_set_given(node, &given);
}

CUresult fv_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_BATCH_MEM_OP_NODE_PARAMS *batch)
{
    if (!batch)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_batch(batch);
    return fv_exec_set_given(exec, node, &given);
}
