/* fill.c: fills of one, two and three dimensions. The driver has none of three: they are done slice
 * by slice. */
#include "runtime.h"

cudaError_t rt_cudaMemset(void *dst, int value, size_t count)
{
    return DRIVER(cuMemsetD8, rt_address(dst), (unsigned char)value, count);
}

cudaError_t rt_cudaMemset_ptds(void *dst, int value, size_t count)
{
    return DRIVER(cuMemsetD8_ptds, rt_address(dst), (unsigned char)value, count);
}

cudaError_t rt_cudaMemsetAsync(void *dst, int value, size_t count, cudaStream_t stream)
{
    return DRIVER(cuMemsetD8Async, rt_address(dst), (unsigned char)value, count, stream);
}

cudaError_t rt_cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    return DRIVER(cuMemsetD2D8, rt_address(dst), pitch, (unsigned char)value, width, height);
}

cudaError_t rt_cudaMemset2D_ptds(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    return DRIVER(cuMemsetD2D8_ptds, rt_address(dst), pitch, (unsigned char)value, width, height);
}

cudaError_t rt_cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
                                 cudaStream_t stream)
{
    return DRIVER(cuMemsetD2D8Async, rt_address(dst), pitch, (unsigned char)value, width, height,
                  stream);
}

/* ---- three dimensions ---- */

/* The slice of a box; with one slice and one row the pitch does not count. */
static CUdeviceptr slice(struct cudaPitchedPtr box, size_t z)
{
    return rt_address(box.ptr) + z * box.pitch * box.ysize;
}

/* How many calls it takes; when there is nothing to fill, one looks at the rest. */
static size_t slices(struct cudaExtent extent)
{
    return extent.width && extent.height ? extent.depth : extent.depth > 0;
}

static cudaError_t check(struct cudaPitchedPtr box, struct cudaExtent extent)
{
    bool flat = slices(extent) <= 1;

    return flat || (box.pitch && box.ysize) ? cudaSuccess : cudaErrorInvalidValue;
}

#define FILL_3D(name, params, driver, ...)                                                         \
    cudaError_t rt_##name params                                                                   \
    {                                                                                              \
        cudaError_t error = check(box, extent);                                                    \
        for (size_t z = 0; z < slices(extent) && error == cudaSuccess; z++)                        \
            error = DRIVER(driver, slice(box, z), box.pitch, (unsigned char)value, extent.width,   \
                           extent.height, ##__VA_ARGS__);                                          \
        return error;                                                                              \
    }

FILL_3D(cudaMemset3D, (struct cudaPitchedPtr box, int value, struct cudaExtent extent),
        cuMemsetD2D8)
FILL_3D(cudaMemset3D_ptds, (struct cudaPitchedPtr box, int value, struct cudaExtent extent),
        cuMemsetD2D8_ptds)
FILL_3D(cudaMemset3DAsync,
        (struct cudaPitchedPtr box, int value, struct cudaExtent extent, cudaStream_t stream),
        cuMemsetD2D8Async, stream)
