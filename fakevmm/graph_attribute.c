/* graph_attribute.c: attributes of kernel nodes: kept, given back, copied. They belong to the
 * graph's node; an exec takes over the ones that matter to it when it is made. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* What cuda.h calls valid for graph nodes. */
static bool known(CUlaunchAttributeID id)
{
    switch ((int)id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: return true;
    default: return false;
    }
}

const CUlaunchAttributeValue *fv_node_attribute(const struct fv_node *node, CUlaunchAttributeID id)
{
    static const CUlaunchAttributeValue zero;
    static const CUlaunchAttributeValue map = {.memSyncDomainMap = {.default_ = 0, .remote = 1}};
    if (node->attribute)
        return &node->attribute[id];
    return id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ? &map : &zero;
}

struct fv_company fv_node_company(const struct fv_node *node)
{
    const CUlaunchAttributeValue *cluster =
        fv_node_attribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    return (struct fv_company){
        .cluster = {cluster->clusterDim.x, cluster->clusterDim.y, cluster->clusterDim.z},
        .cooperative = fv_node_attribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE)->cooperative};
}

bool fv_node_updatable(const struct fv_node *node)
{
    return fv_node_attribute(node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
        ->deviceUpdatableKernelNode.deviceUpdatable;
}

/* Gives the node attributes of its own, with their defaults. */
static bool own_attributes(struct fv_node *node)
{
    if (node->attribute)
        return true;
    CUlaunchAttributeValue *values = calloc(CU_LAUNCH_ATTRIBUTE_MAX, sizeof *values);
    if (!values)
        return false;
    for (int id = 0; id < CU_LAUNCH_ATTRIBUTE_MAX; id++)
        values[id] = *fv_node_attribute(node, id);
    node->attribute = values;
    return true;
}

CUresult fv_node_copy_attributes(struct fv_node *to, const struct fv_node *from)
{
    if (!from->attribute) {
        free(to->attribute);
        to->attribute = NULL;
        return CUDA_SUCCESS;
    }
    if (!own_attributes(to))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(to->attribute, from->attribute, CU_LAUNCH_ATTRIBUTE_MAX * sizeof *to->attribute);
    return CUDA_SUCCESS;
}

static CUresult kernel_node_of(CUgraphNode handle, struct fv_node **out)
{
    CUresult result = fv_node_of(handle, out);
    if (result != CUDA_SUCCESS)
        return result;
    return (*out)->params->type == CU_GRAPH_NODE_TYPE_KERNEL ? CUDA_SUCCESS
                                                             : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                          CUkernelNodeAttrValue *value)
{
    struct fv_node *node;
    CUresult result = kernel_node_of(handle, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || !known(id))
        return CUDA_ERROR_INVALID_VALUE;
    *value = *fv_node_attribute(node, id);
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE && fv_node_updatable(node))
        value->deviceUpdatableKernelNode.devNode = (CUgraphDeviceNode)node;
    return CUDA_SUCCESS;
}

/* What the call must refuse. */
static bool may_set(const struct fv_node *node, CUlaunchAttributeID id,
                    const CUlaunchAttributeValue *value)
{
    if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        return !value->cooperative || !node->params->kernel.as_extra;
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) {
        int wanted = value->deviceUpdatableKernelNode.deviceUpdatable;
        return wanted == 1 || (wanted == 0 && !fv_node_updatable(node));
    }
    return true;
}

CUresult fv_cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                          const CUkernelNodeAttrValue *value)
{
    struct fv_node *node;
    CUresult result = kernel_node_of(handle, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!value || !known(id) || !may_set(node, id, value))
        return CUDA_ERROR_INVALID_VALUE;
    if (!own_attributes(node))
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->attribute[id] = *value;
    /* The one attribute that answers: cuda.h returns the handle through the const value. */
    if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE && fv_node_updatable(node))
        ((CUkernelNodeAttrValue *)value)->deviceUpdatableKernelNode.devNode =
            (CUgraphDeviceNode)node;
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphKernelNodeCopyAttributes(CUgraphNode to_handle, CUgraphNode from_handle)
{
    struct fv_node *to, *from;
    CUresult result = kernel_node_of(to_handle, &to);
    if (result == CUDA_SUCCESS)
        result = kernel_node_of(from_handle, &from);
    if (result != CUDA_SUCCESS)
        return result;
    if (to->params->context != from->params->context || fv_node_updatable(to) ||
        fv_node_updatable(from))
        return CUDA_ERROR_INVALID_VALUE;
    return to == from ? CUDA_SUCCESS : fv_node_copy_attributes(to, from);
}
