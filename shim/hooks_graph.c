/* hooks_graph.c: the hooks on the life, the update and the launch of execs. Each turns the driver's
 * structs into core's, asks, calls, tells. It must not decide what is equal or remember anything.
 */
#include <string.h>

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

/* ---- kernel-node setters ---- */

/* On the path of every setter, hence inline. */

/* Reads the list that `extra` is (cuda.h, CU_LAUNCH_PARAM_*). False if it holds anything else. */
static bool read_extra(struct vr_update *update, void **extra)
{
    bool sized = false;

    for (int i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            update->packed = extra[i + 1];
        } else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1]) {
            update->packed_bytes = *(const size_t *)extra[i + 1];
            sized = true;
        } else {
            return false;
        }
    }
    return sized && update->packed;
}

static inline __attribute__((always_inline)) void
read_params_v1(struct vr_update *update, CUgraphExec exec, CUgraphNode node,
               const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    update->exec = (vr_handle)exec;
    update->node = (vr_handle)node;
    update->context = 0;
    update->packed = NULL;
    update->packed_bytes = 0;
    /* Of a call that the driver refuses for its handles nothing may be read that it would not read.
     */
    update->malformed =
        !exec || !node || !params || (params->extra && !read_extra(update, params->extra));
    if (!params)
        return;
    update->code = (struct vr_code){(vr_handle)params->func, VR_CODE_FUNCTION};
    memcpy(&update->geometry, &params->gridDimX, sizeof(update->geometry));
    update->params = params->kernelParams;
}

/* The second struct begins with the first (cuda.h); `kern` counts only when `func` is NULL. */
static inline __attribute__((always_inline)) void
read_params_v2(struct vr_update *update, CUgraphExec exec, CUgraphNode node,
               const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    read_params_v1(update, exec, node, (const CUDA_KERNEL_NODE_PARAMS_v1 *)params);
    if (params && !params->func) {
        update->code = (struct vr_code){(vr_handle)params->kern, VR_CODE_KERNEL};
        update->context = (vr_handle)params->ctx;
    }
}

_Static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes) -
                       offsetof(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX) ==
                   offsetof(struct vr_geometry, shared_bytes),
               "the geometry must lie in the driver's struct as in core's");
_Static_assert(offsetof(CUDA_KERNEL_NODE_PARAMS_v2, extra) ==
                   offsetof(CUDA_KERNEL_NODE_PARAMS_v1, extra),
               "the second struct must begin with the first");

/* The two ABIs differ in the struct they take, and in nothing else. */
#define VR_KERNEL_SETTER(symbol, params_type, read_params)                                         \
    CUresult vr_hook_##symbol(struct vr_state *state,                                              \
                              CUresult (*real)(CUgraphExec, CUgraphNode, const params_type *),     \
                              CUgraphExec a, CUgraphNode b, const params_type *c)                  \
    {                                                                                              \
        struct vr_update update;                                                                   \
        struct vr_ticket ticket;                                                                   \
        CUresult result;                                                                           \
                                                                                                   \
        read_params(&update, a, b, c);                                                             \
        if (vr_update_ask(state, &update, &ticket) == VR_ANSWERED)                                 \
            return CUDA_SUCCESS;                                                                   \
        result = real(a, b, c);                                                                    \
        vr_result_seen(state, result);                                                             \
        vr_update_told(state, &update, &ticket, result == CUDA_SUCCESS);                           \
        return result;                                                                             \
    }

VR_KERNEL_SETTER(cuGraphExecKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, read_params_v1)
VR_KERNEL_SETTER(cuGraphExecKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS_v2, read_params_v2)

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
