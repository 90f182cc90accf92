/* pool.c: memory pools, of devices and of the application's own, and allocation from them. The
 * structures have one layout in the runtime and in the driver. Nothing here keeps state. */
#include "runtime.h"

_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "one layout");
_Static_assert(sizeof(struct cudaMemLocation) == sizeof(CUmemLocation), "one layout");
_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "one layout");
_Static_assert(sizeof(struct cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData),
               "one layout");

/* ---- which pool a device allocates from ---- */

FORWARD(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * out, int device), cuDeviceGetDefaultMemPool,
        out, device)
FORWARD(cudaDeviceGetMemPool, (cudaMemPool_t * out, int device), cuDeviceGetMemPool, out, device)
FORWARD(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), cuDeviceSetMemPool, device, pool)
FORWARD(cudaMemGetDefaultMemPool,
        (cudaMemPool_t * out, struct cudaMemLocation *location, enum cudaMemAllocationType type),
        cuMemGetDefaultMemPool, out, (CUmemLocation *)location, (CUmemAllocationType)type)
FORWARD(cudaMemGetMemPool,
        (cudaMemPool_t * out, struct cudaMemLocation *location, enum cudaMemAllocationType type),
        cuMemGetMemPool, out, (CUmemLocation *)location, (CUmemAllocationType)type)
FORWARD(cudaMemSetMemPool,
        (struct cudaMemLocation * location, enum cudaMemAllocationType type, cudaMemPool_t pool),
        cuMemSetMemPool, (CUmemLocation *)location, (CUmemAllocationType)type, pool)

/* ---- pools ---- */

FORWARD(cudaMemPoolCreate, (cudaMemPool_t * out, const struct cudaMemPoolProps *props),
        cuMemPoolCreate, out, (const CUmemPoolProps *)props)
FORWARD(cudaMemPoolDestroy, (cudaMemPool_t pool), cuMemPoolDestroy, pool)
FORWARD(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), cuMemPoolTrimTo, pool, keep)
FORWARD(cudaMemPoolSetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value),
        cuMemPoolSetAttribute, pool, (CUmemPool_attribute)which, value)
FORWARD(cudaMemPoolGetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value),
        cuMemPoolGetAttribute, pool, (CUmemPool_attribute)which, value)
FORWARD(cudaMemPoolSetAccess,
        (cudaMemPool_t pool, const struct cudaMemAccessDesc *access, size_t count),
        cuMemPoolSetAccess, pool, (const CUmemAccessDesc *)access, count)
FORWARD(cudaMemPoolGetAccess,
        (enum cudaMemAccessFlags * out, cudaMemPool_t pool, struct cudaMemLocation *location),
        cuMemPoolGetAccess, (CUmemAccess_flags *)out, pool, (CUmemLocation *)location)
FORWARD(cudaMemPoolExportToShareableHandle,
        (void *out, cudaMemPool_t pool, enum cudaMemAllocationHandleType type, unsigned int flags),
        cuMemPoolExportToShareableHandle, out, pool, (CUmemAllocationHandleType)type, flags)
FORWARD(cudaMemPoolImportFromShareableHandle,
        (cudaMemPool_t * out, void *handle, enum cudaMemAllocationHandleType type,
         unsigned int flags),
        cuMemPoolImportFromShareableHandle, out, handle, (CUmemAllocationHandleType)type, flags)
FORWARD(cudaMemPoolExportPointer, (struct cudaMemPoolPtrExportData * out, void *pointer),
        cuMemPoolExportPointer, (CUmemPoolPtrExportData *)out, rt_address(pointer))
FORWARD(cudaMemPoolImportPointer,
        (void **out, cudaMemPool_t pool, struct cudaMemPoolPtrExportData *data),
        cuMemPoolImportPointer, (CUdeviceptr *)out, pool, (CUmemPoolPtrExportData *)data)

/* ---- stream-ordered allocation ---- */

FORWARD(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream), cuMemAllocAsync,
        (CUdeviceptr *)out, bytes, stream)
FORWARD(cudaMallocFromPoolAsync,
        (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
        cuMemAllocFromPoolAsync, (CUdeviceptr *)out, bytes, pool, stream)
FORWARD(cudaFreeAsync, (void *pointer, cudaStream_t stream), cuMemFreeAsync, rt_address(pointer),
        stream)
