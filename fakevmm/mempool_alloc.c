/* mempool_alloc.c: allocation in stream order. The address is known at the call; devices may access
 * it once the stream has come to the allocation, and no longer once one has come to its free
 * (mem_free.c). It must not know what a pool holds. */
#include "capture.h"
#include "mempool.h"
#include "stream.h"

#include <stdlib.h>

#define MAX_DEVICES 16

struct alloc_work {
    struct fv_work work;
    CUdeviceptr address;
    unsigned long long id;
};

/* The memory may have been freed without a stream by then. */
static void retire_alloc(struct fv_work *work)
{
    const struct alloc_work *request = (const struct alloc_work *)work;
    struct fv_mapping *mapping = fv_va_find(request->address);

    if (mapping && mapping->id == request->id)
        fv_pool_grant(mapping);
    free(work);
}

static CUresult submit(struct fv_stream *stream, struct fv_mempool *pool, size_t size,
                       CUdeviceptr *out)
{
    struct alloc_work *work = malloc(sizeof *work);
    CUresult result = work ? fv_pool_take(pool, size, out) : CUDA_ERROR_OUT_OF_MEMORY;

    if (result != CUDA_SUCCESS) {
        free(work);
        return result;
    }
    *work = (struct alloc_work){
        .work = {.retire = retire_alloc}, .address = *out, .id = fv_va_find(*out)->id};
    fv_submit(stream, &work->work);
    return CUDA_SUCCESS;
}

/* The rights of all devices but the pool's own, which it has anyway. */
static size_t list_access(const struct fv_mempool *pool, CUmemAccessDesc *list)
{
    size_t count = 0;

    for (int i = 0; i < fv_device_count(); i++) {
        CUmemAccess_flags flags = fv_pool_access(pool, i);
        if (i != pool->device->ordinal && flags != CU_MEM_ACCESS_FLAGS_PROT_NONE)
            list[count++] = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, i}, flags};
    }
    return count;
}

/* The graph allocates the memory, with the pool's properties. */
static CUresult capture(struct fv_stream *stream, const struct fv_mempool *pool, size_t size,
                        CUdeviceptr *out)
{
    CUmemAccessDesc access[MAX_DEVICES];
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUDA_MEM_ALLOC_NODE_PARAMS made;
    CUgraphNode node;
    CUresult result;

    given.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    given.alloc.poolProps.location =
        (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, pool->device->ordinal};
    given.alloc.accessDescs = access;
    given.alloc.accessDescCount = list_access(pool, access);
    given.alloc.bytesize = size;
    result = fv_capture_node(stream, &given, &node);
    if (result == CUDA_SUCCESS)
        result = fv_cuGraphMemAllocNodeGetParams(node, &made);
    if (result == CUDA_SUCCESS)
        *out = made.dptr;
    return result;
}

static CUresult allocate(struct fv_stream *stream, struct fv_mempool *pool, size_t size,
                         CUdeviceptr *out)
{
    if (!out || !size || !pool)
        return CUDA_ERROR_INVALID_VALUE;
    return stream->tail ? capture(stream, pool, size, out) : submit(stream, pool, size, out);
}

CUresult fv_cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    return allocate(stream, fv_pool_current(stream->context->device), size, out);
}

CUresult fv_cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool pool,
                                    CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(handle, &stream);

    return result == CUDA_SUCCESS ? allocate(stream, fv_pool_of(pool), size, out) : result;
}
