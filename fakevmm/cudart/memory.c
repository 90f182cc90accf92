/* memory.c: allocation of device and pinned host memory, and what a pointer is. Pools are pool.c's,
 * managed memory is managed.c's. It keeps no list of its own: the driver knows every allocation. */
#include "runtime.h"

/* The driver refuses a size of zero; the runtime answers it with a null pointer. */
cudaError_t rt_cudaMalloc(void **out, size_t bytes)
{
    CUdeviceptr address = 0;
    cudaError_t error = cudaSuccess;

    if (!out)
        return cudaErrorInvalidValue;
    if (bytes)
        error = DRIVER(cuMemAlloc, &address, bytes);
    if (error == cudaSuccess)
        *out = (void *)address;
    return error;
}

cudaError_t rt_cudaFree(void *pointer)
{
    return pointer ? DRIVER(cuMemFree, rt_address(pointer)) : cudaSuccess;
}

cudaError_t rt_cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr address = 0;
    cudaError_t error = cudaSuccess;

    if (!out || !pitch)
        return cudaErrorInvalidValue;
    if (width && height)
        error = DRIVER(cuMemAllocPitch, &address, pitch, width, height, 4);
    if (error == cudaSuccess)
        *out = (void *)address;
    return error;
}

/* The depth is a matter of rows, too. */
cudaError_t rt_cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    void *pointer = NULL;
    size_t pitch = 0, rows = extent.height * extent.depth;
    cudaError_t error;

    if (!out || (extent.depth && rows / extent.depth != extent.height))
        return cudaErrorInvalidValue;
    error = rt_cudaMallocPitch(&pointer, &pitch, extent.width, rows);
    if (error == cudaSuccess)
        *out = (struct cudaPitchedPtr){pointer, pitch, extent.width, extent.height};
    return error;
}

/* The flags of cudaHostAlloc and cuMemHostAlloc, and of the two register calls, have the same bits.
 */
cudaError_t rt_cudaHostAlloc(void **out, size_t bytes, unsigned int flags)
{
    if (!out)
        return cudaErrorInvalidValue;
    if (bytes)
        return DRIVER(cuMemHostAlloc, out, bytes, flags);
    *out = NULL;
    return cudaSuccess;
}

cudaError_t rt_cudaMallocHost(void **out, size_t bytes)
{
    return rt_cudaHostAlloc(out, bytes, cudaHostAllocDefault);
}

cudaError_t rt_cudaFreeHost(void *pointer)
{
    return pointer ? DRIVER(cuMemFreeHost, pointer) : cudaSuccess;
}

cudaError_t rt_cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    return DRIVER(cuMemHostRegister, pointer, bytes, flags);
}

cudaError_t rt_cudaHostUnregister(void *pointer)
{
    return DRIVER(cuMemHostUnregister, pointer);
}

cudaError_t rt_cudaHostGetDevicePointer(void **out, void *pointer, unsigned int flags)
{
    CUdeviceptr address = 0;
    cudaError_t error;

    if (!out)
        return cudaErrorInvalidValue;
    error = DRIVER(cuMemHostGetDevicePointer, &address, pointer, flags);
    if (error == cudaSuccess)
        *out = (void *)address;
    return error;
}

cudaError_t rt_cudaHostGetFlags(unsigned int *out, void *pointer)
{
    return DRIVER(cuMemHostGetFlags, out, pointer);
}

cudaError_t rt_cudaMemGetInfo(size_t *available, size_t *total)
{
    return DRIVER(cuMemGetInfo, available, total);
}

static enum cudaMemoryType memory_type(unsigned driver_type, unsigned managed)
{
    if (managed)
        return cudaMemoryTypeManaged;
    switch (driver_type) {
    case CU_MEMORYTYPE_HOST: return cudaMemoryTypeHost;
    case CU_MEMORYTYPE_DEVICE: return cudaMemoryTypeDevice;
    default: return cudaMemoryTypeUnregistered;
    }
}

/* The plural form answers default values for an address the driver does not know, no error. */
cudaError_t rt_cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer)
{
    unsigned type = 0, managed = 0;
    int device = CU_DEVICE_INVALID;
    void *on_device = NULL, *on_host = NULL;
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,
    };
    void *values[] = {&type, &managed, &device, &on_device, &on_host};
    cudaError_t error;

    if (!out)
        return cudaErrorInvalidValue;
    error = DRIVER(cuPointerGetAttributes, sizeof which / sizeof *which, which, values,
                   rt_address(pointer));
    if (error != cudaSuccess)
        return error;
    *out = (struct cudaPointerAttributes){
        .type = memory_type(type, managed),
        .device = device,
        .devicePointer = on_device,
        .hostPointer = on_host,
    };
    if (out->type == cudaMemoryTypeUnregistered) {
        out->device = CU_DEVICE_INVALID;
        out->hostPointer = (void *)(uintptr_t)pointer;
    }
    return cudaSuccess;
}
