/* graph_given.c: the many forms in which node parameters come in, turned into the generic one. A
 * caller of a first version has a shorter struct: it is never read past its end. */
#include "graph.h"

#include <string.h>

CUgraphNodeParams fv_given_kernel_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *kernel)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&given.kernel, kernel, sizeof *kernel); /* the first 56 bytes are the same */
    return given;
}

CUgraphNodeParams fv_given_kernel(const CUDA_KERNEL_NODE_PARAMS_v2 *kernel)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&given.kernel, kernel, sizeof *kernel);
    return given;
}

CUgraphNodeParams fv_given_copy(const CUDA_MEMCPY3D *copy, CUcontext context)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    given.memcpy.copyCtx = context;
    given.memcpy.copyParams = *copy;
    return given;
}

CUgraphNodeParams fv_given_memset(const CUDA_MEMSET_NODE_PARAMS_v1 *memset, CUcontext context)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    memcpy(&given.memset, memset, sizeof *memset);
    given.memset.ctx = context;
    return given;
}

CUgraphNodeParams fv_given_host(const CUDA_HOST_NODE_PARAMS_v1 *host)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_HOST};
    given.host.fn = host->fn;
    given.host.userData = host->userData;
    return given;
}

CUgraphNodeParams fv_given_child(CUgraph child)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    given.graph.graph = child;
    return given;
}

CUgraphNodeParams fv_given_event(CUgraphNodeType type, CUevent event)
{
    CUgraphNodeParams given = {.type = type};
    given.eventRecord.event = event; /* the first and only member of both kinds */
    return given;
}

CUgraphNodeParams fv_given_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v1 *batch)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    given.memOp.ctx = batch->ctx;
    given.memOp.count = batch->count;
    given.memOp.paramArray = batch->paramArray;
    given.memOp.flags = batch->flags;
    return given;
}

CUgraphNodeParams fv_given_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS_v1 *alloc)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    given.alloc.poolProps = alloc->poolProps;
    given.alloc.accessDescs = alloc->accessDescs;
    given.alloc.accessDescCount = alloc->accessDescCount;
    given.alloc.bytesize = alloc->bytesize;
    return given;
}

CUgraphNodeParams fv_given_free(CUdeviceptr address)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    given.free.dptr = address;
    return given;
}

static bool all_zero(const CUgraphNodeParams *given, size_t from, size_t to)
{
    const unsigned char *bytes = (const unsigned char *)given;
    while (from < to && !bytes[from])
        from++;
    return from == to;
}

CUresult fv_given_check(const CUgraphNodeParams *given)
{
    size_t used;
    switch (given->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: used = sizeof given->kernel; break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: used = sizeof given->memcpy; break;
    case CU_GRAPH_NODE_TYPE_MEMSET: used = sizeof given->memset; break;
    case CU_GRAPH_NODE_TYPE_HOST: used = sizeof given->host; break;
    case CU_GRAPH_NODE_TYPE_GRAPH: used = sizeof given->graph; break;
    case CU_GRAPH_NODE_TYPE_EMPTY: used = 0; break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: used = sizeof given->eventWait; break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: used = sizeof given->eventRecord; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: used = sizeof given->alloc; break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: used = sizeof given->free; break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: used = sizeof given->memOp; break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: used = sizeof given->conditional; break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    size_t begin = offsetof(CUgraphNodeParams, reserved1);
    return all_zero(given, offsetof(CUgraphNodeParams, reserved0), begin) &&
                   all_zero(given, begin + used, sizeof *given)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_given_settable(const CUgraphNodeParams *given)
{
    switch (given->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return CUDA_ERROR_NOT_SUPPORTED;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return given->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
                   ? CUDA_ERROR_NOT_SUPPORTED
                   : CUDA_SUCCESS;
    default: return CUDA_SUCCESS;
    }
}

CUresult fv_given_graph(const CUgraphNodeParams *given, struct fv_graph **out)
{
    if (given->graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE &&
        given->graph.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    return fv_graph_of(given->graph.graph, out);
}
