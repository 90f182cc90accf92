/* operands.c: tells core which memory copy and fill nodes name, in a graph, in a setter. Those
 * nodes bind what kind of memory an operand is, so allocations of their sizes stay the driver's.
 * Reads graphs only inside a call in which the application passes them. */
#include <stdlib.h>

#include "shim/hooks.h"

static void note(struct vr_state *state, CUmemorytype type, CUdeviceptr device, const void *host)
{
    if (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED)
        vr_memory_operand(state, device);
    else if (type == CU_MEMORYTYPE_HOST)
        vr_memory_operand(state, (uint64_t)(uintptr_t)host);
}

void vr_note_copy(struct vr_state *state, const CUDA_MEMCPY3D *copy)
{
    if (!copy)
        return;
    note(state, copy->srcMemoryType, copy->srcDevice, copy->srcHost);
    note(state, copy->dstMemoryType, copy->dstDevice, copy->dstHost);
}

void vr_note_fill(struct vr_state *state, const CUDA_MEMSET_NODE_PARAMS_v1 *fill)
{
    if (fill)
        vr_memory_operand(state, fill->dst);
}

void vr_note_node(struct vr_state *state, const CUgraphNodeParams *params)
{
    if (!params)
        return;
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        vr_note_copy(state, &params->memcpy.copyParams);
    else if (params->type == CU_GRAPH_NODE_TYPE_MEMSET)
        vr_memory_operand(state, params->memset.dst);
}

static void note_graph_node(struct vr_state *state, const struct vr_provider *provider,
                            CUgraphNode node)
{
    CUresult (*type_of)(CUgraphNode, CUgraphNodeType *) =
        provider->need[VR_NEED_cuGraphNodeGetType];
    CUresult (*copy_of)(CUgraphNode, CUDA_MEMCPY3D *) =
        provider->need[VR_NEED_cuGraphMemcpyNodeGetParams];
    CUresult (*fill_of)(CUgraphNode, CUDA_MEMSET_NODE_PARAMS_v1 *) =
        provider->need[VR_NEED_cuGraphMemsetNodeGetParams];
    CUresult (*child_of)(CUgraphNode, CUgraph *) =
        provider->need[VR_NEED_cuGraphChildGraphNodeGetGraph];
    CUDA_MEMSET_NODE_PARAMS_v1 fill;
    CUDA_MEMCPY3D copy;
    CUgraphNodeType type;
    CUgraph child;

    if (!type_of || type_of(node, &type) != CUDA_SUCCESS)
        return;
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY && copy_of && copy_of(node, &copy) == CUDA_SUCCESS)
        vr_note_copy(state, &copy);
    else if (type == CU_GRAPH_NODE_TYPE_MEMSET && fill_of && fill_of(node, &fill) == CUDA_SUCCESS)
        vr_note_fill(state, &fill);
    else if (type == CU_GRAPH_NODE_TYPE_GRAPH && child_of && child_of(node, &child) == CUDA_SUCCESS)
        vr_note_graph(state, child);
}

void vr_note_graph(struct vr_state *state, CUgraph graph)
{
    struct vr_provider *provider = atomic_load_explicit(&vr_shim.provider, memory_order_acquire);
    CUresult (*nodes_of)(CUgraph, CUgraphNode *, size_t *) =
        provider->need[VR_NEED_cuGraphGetNodes];
    CUgraphNode *nodes;
    size_t count = 0;

    if (!vr_memory_watched(state) || !graph || !nodes_of ||
        nodes_of(graph, NULL, &count) != CUDA_SUCCESS || !count)
        return;
    nodes = calloc(count, sizeof(*nodes));
    if (nodes && nodes_of(graph, nodes, &count) == CUDA_SUCCESS) {
        for (size_t i = 0; i < count; i++)
            note_graph_node(state, provider, nodes[i]);
    }
    free(nodes);
}
