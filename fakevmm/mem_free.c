/* mem_free.c: cuMemFree and cuMemFreeAsync, whatever they free: each kind of memory brings its own
 * end (fv_mapping.release). It must not know accounts or pools. */
#include "capture.h"
#include "hazard.h"
#include "mem.h"
#include "settings.h"
#include "stream.h"

#include <stdlib.h>

/* The driver may wait for whoever can be using the memory: its context and those with access to its
 * device's memory. */
static CUresult wait_for_users(struct fv_context *owner)
{
    uint32_t device = 1u << owner->device->ordinal;
    CUresult result = fv_context_wait(owner);

    for (struct fv_context *it = fv_next(FV_CONTEXT, NULL); it; it = fv_next(FV_CONTEXT, it))
        if (it->peers & device)
            fv_context_wait(it);
    return result;
}

/* The allocation that starts at an address, or NULL. */
static struct fv_mapping *find_allocation(CUdeviceptr address)
{
    struct fv_mapping *mapping = fv_va_find(address);

    return mapping && mapping->base == address && mapping->release && !mapping->freed ? mapping
                                                                                      : NULL;
}

/* Memory allocated in stream order has no owner to wait for: the caller has to. */
CUresult fv_cuMemFree_v2(CUdeviceptr address)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_mapping *mapping;
    unsigned long long id;

    if (result != CUDA_SUCCESS || !address)
        return result;
    mapping = find_allocation(address);
    if (!mapping)
        return CUDA_ERROR_INVALID_VALUE;
    id = mapping->id;
    if (mapping->context && !fv_settings()->free_async)
        result = wait_for_users(mapping->context);
    if (result != CUDA_SUCCESS)
        return result;
    /* The lock was dropped: another thread may have freed it. */
    mapping = find_allocation(address);
    if (!mapping || mapping->id != id)
        return CUDA_ERROR_INVALID_VALUE;
    fv_hazard_if_used("cuMemFree", mapping->base, mapping->requested);
    mapping->release(mapping);
    return CUDA_SUCCESS;
}

/* ---- frees in stream order ---- */

struct free_work {
    struct fv_work work;
    CUdeviceptr address;
    unsigned long long id;
};

/* Work that still names the memory is in no order with the free, or behind it; unless a launch will
 * allocate it anew before. */
static void retire_free(struct fv_work *work)
{
    const struct free_work *request = (const struct free_work *)work;
    struct fv_mapping *mapping = fv_va_find(request->address);

    if (mapping && mapping->id == request->id && mapping->release) {
        if (!mapping->coming)
            fv_hazard_if_used("cuMemFreeAsync", mapping->base, mapping->requested);
        mapping->release(mapping);
    }
    free(work);
}

/* A capture frees what a graph has allocated, nothing else; the node sees to that. */
static CUresult capture(struct fv_stream *stream, CUdeviceptr address)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {address}};
    CUgraphNode node;

    return fv_capture_node(stream, &given, &node);
}

/* cuMemAlloc memory may be freed in stream order too; managed memory may not. */
static bool freeable(const struct fv_mapping *mapping)
{
    return mapping && mapping->kind != FV_MEM_MANAGED;
}

CUresult fv_cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(handle, &stream);
    struct fv_mapping *mapping;
    struct free_work *work;

    if (result != CUDA_SUCCESS)
        return result;
    if (stream->tail)
        return capture(stream, address);
    mapping = find_allocation(address);
    if (!freeable(mapping))
        return CUDA_ERROR_INVALID_VALUE;
    work = malloc(sizeof *work);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *work =
        (struct free_work){.work = {.retire = retire_free}, .address = address, .id = mapping->id};
    mapping->freed = true;
    fv_submit(stream, &work->work);
    return CUDA_SUCCESS;
}
