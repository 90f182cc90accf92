/* managed.c: managed memory: allocation, and what a program tells the driver about its use. Nothing
 * here keeps state. */
#include "runtime.h"

static CUmemLocation location_of(struct cudaMemLocation from)
{
    CUmemLocation to = {.type = (CUmemLocationType)from.type, .id = from.id};

    return to;
}

FORWARD(cudaMallocManaged, (void **out, size_t bytes, unsigned int flags), cuMemAllocManaged,
        (CUdeviceptr *)out, bytes, flags)
FORWARD(cudaStreamAttachMemAsync,
        (cudaStream_t stream, void *pointer, size_t bytes, unsigned int flags),
        cuStreamAttachMemAsync, stream, rt_address(pointer), bytes, flags)

FORWARD(cudaMemAdvise,
        (const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
         struct cudaMemLocation location),
        cuMemAdvise, rt_address(pointer), bytes, (CUmem_advise)advice, location_of(location))
FORWARD(cudaMemPrefetchAsync,
        (const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned int flags,
         cudaStream_t stream),
        cuMemPrefetchAsync, rt_address(pointer), bytes, location_of(location), flags, stream)
FORWARD(cudaMemPrefetchBatchAsync,
        (void **pointers, size_t *sizes, size_t count, struct cudaMemLocation *locations,
         size_t *indices, size_t location_count, unsigned long long flags, cudaStream_t stream),
        cuMemPrefetchBatchAsync, (CUdeviceptr *)pointers, sizes, count, (CUmemLocation *)locations,
        indices, location_count, flags, stream)
FORWARD(cudaMemDiscardBatchAsync,
        (void **pointers, size_t *sizes, size_t count, unsigned long long flags,
         cudaStream_t stream),
        cuMemDiscardBatchAsync, (CUdeviceptr *)pointers, sizes, count, flags, stream)
FORWARD(cudaMemDiscardAndPrefetchBatchAsync,
        (void **pointers, size_t *sizes, size_t count, struct cudaMemLocation *locations,
         size_t *indices, size_t location_count, unsigned long long flags, cudaStream_t stream),
        cuMemDiscardAndPrefetchBatchAsync, (CUdeviceptr *)pointers, sizes, count,
        (CUmemLocation *)locations, indices, location_count, flags, stream)

FORWARD(cudaMemRangeGetAttribute,
        (void *out, size_t out_bytes, enum cudaMemRangeAttribute which, const void *pointer,
         size_t bytes),
        cuMemRangeGetAttribute, out, out_bytes, (CUmem_range_attribute)which, rt_address(pointer),
        bytes)
FORWARD(cudaMemRangeGetAttributes,
        (void **out, size_t *out_bytes, enum cudaMemRangeAttribute *which, size_t count,
         const void *pointer, size_t bytes),
        cuMemRangeGetAttributes, out, out_bytes, (CUmem_range_attribute *)which, count,
        rt_address(pointer), bytes)
