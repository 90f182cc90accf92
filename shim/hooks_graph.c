/* hooks_graph.c: the hooks on the life and the launch of execs, and what errors mean. Updates are
 * hooks_setters.c's and around.c's. */
#include "shim/hooks.h"

void vr_error_seen(struct vr_state *state, CUresult result)
{
    switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
        vr_trouble_seen(state, VR_TROUBLE_ENDED);
        vr_process_end();
        break;
    /* The errors after which cuda.h says the context (or process) must be given up. */
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_EXTERNAL_DEVICE: vr_trouble_seen(state, VR_TROUBLE_STICKY); break;
    default: break;
    }
}

/* ---- instantiate and destroy ---- */

static CUresult born(struct vr_state *state, CUresult result, CUgraphExec *exec, CUgraph graph,
                     unsigned long long flags)
{
    struct vr_exec_origin origin = {
        .graph = (vr_handle)graph,
        .device_launch = flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
    };

    vr_result_seen(state, result);
    if (result != CUDA_SUCCESS || !exec || !*exec)
        return result;
    vr_note_driver_version();
    vr_exec_born(state, (vr_handle)*exec, &origin);
    vr_note_graph(state, graph);
    return result;
}

CUresult vr_hook_cuGraphInstantiate(struct vr_state *state,
                                    CUresult (*real)(CUgraphExec *, CUgraph, CUgraphNode *, char *,
                                                     size_t),
                                    CUgraphExec *a, CUgraph b, CUgraphNode *c, char *d, size_t e)
{
    CUresult result = real(a, b, c, d, e);

    if (vr_retry(state, result))
        result = real(a, b, c, d, e);
    return born(state, result, a, b, 0);
}

CUresult vr_hook_cuGraphInstantiate_v2(struct vr_state *state,
                                       CUresult (*real)(CUgraphExec *, CUgraph, CUgraphNode *,
                                                        char *, size_t),
                                       CUgraphExec *a, CUgraph b, CUgraphNode *c, char *d, size_t e)
{
    CUresult result = real(a, b, c, d, e);

    if (vr_retry(state, result))
        result = real(a, b, c, d, e);
    return born(state, result, a, b, 0);
}

CUresult vr_hook_cuGraphInstantiateWithFlags(struct vr_state *state,
                                             CUresult (*real)(CUgraphExec *, CUgraph,
                                                              unsigned long long),
                                             CUgraphExec *a, CUgraph b, unsigned long long c)
{
    CUresult result = real(a, b, c);

    if (vr_retry(state, result))
        result = real(a, b, c);
    return born(state, result, a, b, c);
}

CUresult vr_hook_cuGraphInstantiateWithParams(struct vr_state *state,
                                              CUresult (*real)(CUgraphExec *, CUgraph,
                                                               CUDA_GRAPH_INSTANTIATE_PARAMS *),
                                              CUgraphExec *a, CUgraph b,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS *c)
{
    CUresult result = real(a, b, c);

    if (vr_retry(state, result))
        result = real(a, b, c);
    return born(state, result, a, b, result == CUDA_SUCCESS && c ? c->flags : 0);
}

CUresult vr_hook_cuGraphExecDestroy(struct vr_state *state, CUresult (*real)(CUgraphExec),
                                    CUgraphExec a)
{
    struct vr_exec *retired = vr_exec_retire(state, (vr_handle)a);
    CUresult result = real(a);

    vr_result_seen(state, result);
    if (result == CUDA_SUCCESS)
        vr_exec_bury(state, retired);
    else
        vr_exec_restore(state, retired);
    return result;
}

/* ---- a graph becomes part of another ---- */

/* Its nodes end with the other from now on, which names neither. */
static CUresult added(struct vr_state *state, CUresult result, const CUgraphNodeParams *params)
{
    vr_result_seen(state, result);
    if (result == CUDA_SUCCESS && params && params->type == CU_GRAPH_NODE_TYPE_GRAPH &&
        params->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
        vr_graph_moved(state);
    return result;
}

CUresult vr_hook_cuGraphAddNode(struct vr_state *state,
                                CUresult (*real)(CUgraphNode *, CUgraph, const CUgraphNode *,
                                                 size_t, CUgraphNodeParams *),
                                CUgraphNode *a, CUgraph b, const CUgraphNode *c, size_t d,
                                CUgraphNodeParams *e)
{
    return added(state, real(a, b, c, d, e), e);
}

CUresult vr_hook_cuGraphAddNode_v2(struct vr_state *state,
                                   CUresult (*real)(CUgraphNode *, CUgraph, const CUgraphNode *,
                                                    const CUgraphEdgeData *, size_t,
                                                    CUgraphNodeParams *),
                                   CUgraphNode *a, CUgraph b, const CUgraphNode *c,
                                   const CUgraphEdgeData *d, size_t e, CUgraphNodeParams *f)
{
    return added(state, real(a, b, c, d, e, f), f);
}

/* ---- launch ---- */

CUresult vr_hook_cuGraphLaunch(struct vr_state *state, CUresult (*real)(CUgraphExec, CUstream),
                               CUgraphExec a, CUstream b)
{
    struct vr_process *process = atomic_load_explicit(&vr_shim.process, memory_order_relaxed);
    CUresult result = real(a, b);

    if (vr_retry(state, result))
        result = real(a, b);
    vr_result_seen(state, result);
    vr_launch_told(state, (vr_handle)a, result == CUDA_SUCCESS);
    if (__builtin_expect(atomic_load_explicit(&process->stats_due, memory_order_relaxed), 0))
        vr_process_stats_due(process, state);
    return result;
}
