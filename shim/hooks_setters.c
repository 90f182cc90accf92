/* hooks_setters.c: the hooks on setters of single nodes that may be answered: kernel, memcpy and
 * memset nodes, by their own functions and by the generic one. Each turns the driver's struct into
 * core's, asks, calls, tells. It must not decide what is equal or remember anything.
 */
#include <string.h>

#include "shim/around.h"

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

/* The forms differ in the struct they take, and in nothing else. */
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

/* ---- memcpy-node and memset-node setters ---- */

_Static_assert(sizeof(CUDA_MEMCPY3D) <= VR_TRANSFER_BYTES, "a descriptor fits into its record");

/* What a memory type does not use is not looked at by the driver (cuda.h, cuMemcpy3D), and left out
 * here. The type stays: an address may be given as DEVICE or UNIFIED, but a later ExecUpdate tells
 * the two apart. True if it is device memory by its type. */
static bool normal_end(CUmemorytype type, const void **host, CUarray *array)
{
    *host = NULL;
    *array = NULL;
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED;
}

static void add_operand(struct vr_transfer *transfer, CUdeviceptr address, size_t offset,
                        size_t bytes)
{
    struct vr_operand *operand = &transfer->operand[transfer->operands++];

    transfer->opaque |= __builtin_add_overflow(address, offset, &operand->address);
    operand->bytes = bytes;
}

/* The driver takes only copies and fills of one dimension here: others are its own to refuse. */
static void read_copy(struct vr_transfer *transfer, CUDA_MEMCPY3D *normal,
                      const CUDA_MEMCPY3D *copy)
{
    bool device;

    if (!copy || copy->Height > 1 || copy->Depth > 1 || copy->srcY || copy->srcZ || copy->dstY ||
        copy->dstZ)
        return;
    *normal = *copy;
    device = normal_end(normal->srcMemoryType, &normal->srcHost, &normal->srcArray);
    device &= normal_end(normal->dstMemoryType, (const void **)&normal->dstHost, &normal->dstArray);
    transfer->said = normal;
    transfer->bytes = sizeof *normal;
    transfer->opaque = !device;
    add_operand(transfer, copy->srcDevice, copy->srcXInBytes, copy->WidthInBytes);
    add_operand(transfer, copy->dstDevice, copy->dstXInBytes, copy->WidthInBytes);
}

static void read_fill(struct vr_transfer *transfer, CUDA_MEMSET_NODE_PARAMS_v1 *normal,
                      const CUDA_MEMSET_NODE_PARAMS_v1 *fill)
{
    size_t bytes;

    if (!fill || fill->height != 1 ||
        __builtin_mul_overflow(fill->width, fill->elementSize, &bytes))
        return;
    /* Field by field: padding, if there is any, says nothing. */
    normal->dst = fill->dst;
    normal->pitch = fill->pitch;
    normal->value = fill->value;
    normal->elementSize = fill->elementSize;
    normal->width = fill->width;
    normal->height = fill->height;
    transfer->said = normal;
    transfer->bytes = sizeof *normal;
    transfer->opaque = false;
    add_operand(transfer, fill->dst, 0, bytes);
}

/* A descriptor's normal form, and the transfer that points at it. */
union normal {
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS_v1 fill;
};

static struct vr_transfer transfer_of(CUgraphExec exec, CUgraphNode node, CUcontext context)
{
    return (struct vr_transfer){
        .exec = (vr_handle)exec,
        .node = (vr_handle)node,
        .context = (vr_handle)context,
        .opaque = true,
    };
}

#define VR_TRANSFER_SETTER(symbol, params_type, member, read, note)                                \
    CUresult vr_hook_##symbol(                                                                     \
        struct vr_state *state,                                                                    \
        CUresult (*real)(CUgraphExec, CUgraphNode, const params_type *, CUcontext), CUgraphExec a, \
        CUgraphNode b, const params_type *c, CUcontext d)                                          \
    {                                                                                              \
        struct vr_transfer transfer = transfer_of(a, b, d);                                        \
        union normal normal = {0};                                                                 \
        struct vr_ticket ticket;                                                                   \
        CUresult result;                                                                           \
                                                                                                   \
        read(&transfer, &normal.member, c);                                                        \
        note(state, c);                                                                            \
        if (vr_transfer_ask(state, &transfer, &ticket) == VR_ANSWERED)                             \
            return CUDA_SUCCESS;                                                                   \
        result = real(a, b, c, d);                                                                 \
        vr_result_seen(state, result);                                                             \
        vr_transfer_told(state, &transfer, &ticket, result == CUDA_SUCCESS);                       \
        return result;                                                                             \
    }

VR_TRANSFER_SETTER(cuGraphExecMemcpyNodeSetParams, CUDA_MEMCPY3D, copy, read_copy, vr_note_copy)
VR_TRANSFER_SETTER(cuGraphExecMemsetNodeSetParams, CUDA_MEMSET_NODE_PARAMS_v1, fill, read_fill,
                   vr_note_fill)

/* ---- the generic setter ---- */

typedef CUresult generic_setter(CUgraphExec, CUgraphNode, CUgraphNodeParams *);

/* Everything that a type of node does not use must be zero (cuda.h, CUgraphNodeParams); what is not
 * is the driver's to refuse. */
static bool rest_is_zero(const CUgraphNodeParams *params, size_t used)
{
    static const long long zero[sizeof params->reserved1 / sizeof(long long)];
    const char *rest = (const char *)params->reserved1 + used;

    return !params->reserved0[0] && !params->reserved0[1] && !params->reserved0[2] &&
           !params->reserved2 && memcmp(rest, zero, sizeof params->reserved1 - used) == 0;
}

static CUresult set_kernel(struct vr_state *state, generic_setter *real, CUgraphExec exec,
                           CUgraphNode node, CUgraphNodeParams *params)
{
    struct vr_update update;
    struct vr_ticket ticket;
    CUresult result;

    read_params_v2(&update, exec, node, (const CUDA_KERNEL_NODE_PARAMS_v2 *)&params->kernel);
    update.malformed |= !rest_is_zero(params, sizeof params->kernel);
    if (vr_update_ask(state, &update, &ticket) == VR_ANSWERED)
        return CUDA_SUCCESS;
    result = real(exec, node, params);
    vr_result_seen(state, result);
    vr_update_told(state, &update, &ticket, result == CUDA_SUCCESS);
    return result;
}

_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v3) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2) &&
                   offsetof(CUDA_KERNEL_NODE_PARAMS_v3, ctx) ==
                       offsetof(CUDA_KERNEL_NODE_PARAMS_v2, ctx),
               "the third struct must be the second");

static CUresult set_transfer(struct vr_state *state, generic_setter *real,
                             struct vr_transfer *transfer, CUgraphNodeParams *params)
{
    CUgraphExec exec = (CUgraphExec)transfer->exec;
    CUgraphNode node = (CUgraphNode)transfer->node;
    struct vr_ticket ticket;
    CUresult result;

    vr_note_node(state, params);
    if (vr_transfer_ask(state, transfer, &ticket) == VR_ANSWERED)
        return CUDA_SUCCESS;
    result = real(exec, node, params);
    vr_result_seen(state, result);
    vr_transfer_told(state, transfer, &ticket, result == CUDA_SUCCESS);
    return result;
}

static CUresult set_copy(struct vr_state *state, generic_setter *real, CUgraphExec exec,
                         CUgraphNode node, CUgraphNodeParams *params)
{
    struct vr_transfer transfer = transfer_of(exec, node, params->memcpy.copyCtx);
    CUDA_MEMCPY3D normal;

    read_copy(&transfer, &normal, &params->memcpy.copyParams);
    transfer.opaque |= params->memcpy.flags || params->memcpy.reserved ||
                       !rest_is_zero(params, sizeof params->memcpy);
    return set_transfer(state, real, &transfer, params);
}

static CUresult set_fill(struct vr_state *state, generic_setter *real, CUgraphExec exec,
                         CUgraphNode node, CUgraphNodeParams *params)
{
    struct vr_transfer transfer = transfer_of(exec, node, params->memset.ctx);
    CUDA_MEMSET_NODE_PARAMS_v1 normal = {0};

    read_fill(&transfer, &normal, (const CUDA_MEMSET_NODE_PARAMS_v1 *)&params->memset);
    transfer.opaque |= !rest_is_zero(params, sizeof params->memset);
    return set_transfer(state, real, &transfer, params);
}

_Static_assert(offsetof(CUDA_MEMSET_NODE_PARAMS_v2, ctx) == sizeof(CUDA_MEMSET_NODE_PARAMS_v1),
               "the second struct must begin with the first");

/* Nodes of other types have no records; their child graphs' nodes may. */
static CUresult set_other(struct vr_state *state, generic_setter *real, CUgraphExec exec,
                          CUgraphNode node, CUgraphNodeParams *params)
{
    CUresult result = real(exec, node, params);

    vr_result_seen(state, result);
    vr_nested_changed(state, exec, node, result == CUDA_SUCCESS);
    return result;
}

CUresult vr_hook_cuGraphExecNodeSetParams(struct vr_state *state, generic_setter *real,
                                          CUgraphExec a, CUgraphNode b, CUgraphNodeParams *c)
{
    switch (c ? c->type : CU_GRAPH_NODE_TYPE_EMPTY) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return set_kernel(state, real, a, b, c);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return set_copy(state, real, a, b, c);
    case CU_GRAPH_NODE_TYPE_MEMSET: return set_fill(state, real, a, b, c);
    default: return set_other(state, real, a, b, c);
    }
}
