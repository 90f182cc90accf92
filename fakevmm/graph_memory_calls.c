/* graph_memory_calls.c: how much of each device's memory graphs hold, and the driver's calls about
 * memory nodes. It does not know single allocations. */
#include "graph_memory.h"
#include "mem.h"

#define MAX_DEVICES 32 /* rights are bits */

static struct account {
    uint64_t used, used_high;
    uint64_t reserved, reserved_high;
} accounts[MAX_DEVICES];

/* ---- accounts ---- */

/* Memory is taken of the device in its granularity. */
static size_t space_of(const struct fv_device *device, size_t size)
{
    return (size + device->granularity - 1) / device->granularity * device->granularity;
}

bool fv_graph_memory_back(struct fv_device *device, size_t size)
{
    struct account *account = &accounts[device->ordinal];
    size_t space = space_of(device, size);
    if (!fv_mem_charge(device, space))
        return false;
    account->reserved += space;
    if (account->reserved > account->reserved_high)
        account->reserved_high = account->reserved;
    return true;
}

void fv_graph_memory_unback(struct fv_device *device, size_t size)
{
    size_t space = space_of(device, size);
    fv_mem_refund(device, space);
    accounts[device->ordinal].reserved -= space;
}

void fv_graph_memory_use(const struct fv_device *device, int64_t bytes)
{
    struct account *account = &accounts[device->ordinal];
    account->used += (uint64_t)bytes;
    if (account->used > account->used_high)
        account->used_high = account->used;
}

/* ---- the driver's calls: devices ---- */

CUresult fv_cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                         void *value)
{
    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    const struct account *account = &accounts[ordinal];
    cuuint64_t *out = value;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: *out = account->used; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: *out = account->used_high; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: *out = account->reserved; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: *out = account->reserved_high; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* The highest since the reset is what there is now. */
CUresult fv_cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                         void *value)
{
    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    struct account *account = &accounts[ordinal];
    if (!value || *(const cuuint64_t *)value)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: account->used_high = account->used; return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
        account->reserved_high = account->reserved;
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult fv_cuDeviceGraphMemTrim(CUdevice ordinal)
{
    const struct fv_device *device = fv_device(ordinal);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    fv_graph_memory_trim_all(device);
    return CUDA_SUCCESS;
}

/* ---- the driver's calls: nodes ---- */

CUresult fv_cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *alloc)
{
    if (!alloc)
        return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams given = fv_given_alloc(alloc);
    CUresult result = fv_node_add_given(out, graph, dependencies, NULL, count, &given);
    if (result == CUDA_SUCCESS)
        alloc->dptr = ((const struct fv_node *)*out)->params->alloc.set.dptr;
    return result;
}

CUresult fv_cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *alloc)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!alloc)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *set = &node->params->alloc.set;
    *alloc = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = set->poolProps,
                                          .accessDescs = set->accessDescs,
                                          .accessDescCount = set->accessDescCount,
                                          .bytesize = set->bytesize,
                                          .dptr = set->dptr};
    return CUDA_SUCCESS;
}

CUresult fv_cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t count, CUdeviceptr address)
{
    CUgraphNodeParams given = fv_given_free(address);
    return fv_node_add_given(out, graph, dependencies, NULL, count, &given);
}

CUresult fv_cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *out)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, CU_GRAPH_NODE_TYPE_MEM_FREE, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = node->params->free.address;
    return CUDA_SUCCESS;
}
