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
    default:
        return (unsigned)given->type <= CU_GRAPH_NODE_TYPE_CONDITIONAL ? CUDA_ERROR_NOT_SUPPORTED
                                                                       : CUDA_ERROR_INVALID_VALUE;
    }
    const unsigned char *bytes = (const unsigned char *)given;
    for (size_t i = offsetof(CUgraphNodeParams, reserved0);
         i < offsetof(CUgraphNodeParams, reserved1); i++)
        if (bytes[i])
            return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = offsetof(CUgraphNodeParams, reserved1) + used; i < sizeof *given; i++)
        if (bytes[i])
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult fv_given_graph(const CUgraphNodeParams *given, struct fv_graph **out)
{
    switch (given->graph.ownership) {
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE: return fv_graph_of(given->graph.graph, out);
    case CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}
