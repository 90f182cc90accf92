/* launch.c: launches in all their forms, and the configuration between `<<<` and `>>>`. A kernel
 * argument called `func` is a host stub or a cudaKernel_t; library.c tells which. */
#include "runtime.h"

#include <limits.h>

/* ---- what cannot be launched ---- */

struct limit {
    CUdevice_attribute most;
    size_t asked;
};

/* The driver calls a bad geometry an invalid value, the runtime an invalid configuration: more
 * threads, blocks or shared memory than the device has, or none at all. */
static bool beyond_device(const CUlaunchConfig *launch, size_t shared_bytes)
{
    const struct limit limits[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, launch->gridDimX},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, launch->gridDimY},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, launch->gridDimZ},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, launch->blockDimX},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, launch->blockDimY},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, launch->blockDimZ},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
         (size_t)launch->blockDimX * launch->blockDimY * launch->blockDimZ},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, shared_bytes + 1},
    };
    int device, most;

    if (rt_device(&device) != cudaSuccess)
        return false;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        bool last = i == sizeof limits / sizeof *limits - 1;
        if (DRIVER(cuDeviceGetAttribute, &most, limits[i].most, device) != cudaSuccess)
            return false;
        if (!limits[i].asked || limits[i].asked > (size_t)most + last)
            return true;
    }
    return false;
}

/* The driver's answer to a launch, as the runtime gives it. */
static cudaError_t launched(cudaError_t error, const CUlaunchConfig *launch, size_t shared_bytes)
{
    return error == cudaErrorInvalidValue && beyond_device(launch, shared_bytes)
               ? cudaErrorInvalidConfiguration
               : error;
}

/* ---- launches ---- */

/* A size that the driver's type cannot hold stays one that no device has. */
static unsigned shared_size(size_t bytes)
{
    return bytes < UINT_MAX ? (unsigned)bytes : UINT_MAX;
}

CUlaunchConfig rt_launch_config(const cudaLaunchConfig_t *config, cudaStream_t stream)
{
    return (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = shared_size(config->dynamicSmemBytes),
        .hStream = stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
}

static CUlaunchConfig geometry(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream)
{
    cudaLaunchConfig_t config = {
        .gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared_bytes};

    return rt_launch_config(&config, stream);
}

cudaError_t rt_cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
                                size_t shared_bytes, cudaStream_t stream)
{
    CUlaunchConfig launch = geometry(grid, block, shared_bytes, stream);
    CUfunction function;
    cudaError_t error = rt_function_of(func, &function);

    if (error != cudaSuccess)
        return error;
    error = DRIVER(cuLaunchKernel, function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                   launch.sharedMemBytes, stream, args, NULL);
    return launched(error, &launch, shared_bytes);
}

cudaError_t rt_cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args,
                                           size_t shared_bytes, cudaStream_t stream)
{
    CUlaunchConfig launch = geometry(grid, block, shared_bytes, stream);
    CUfunction function;
    cudaError_t error = rt_function_of(func, &function);

    if (error != cudaSuccess)
        return error;
    error = DRIVER(cuLaunchCooperativeKernel, function, grid.x, grid.y, grid.z, block.x, block.y,
                   block.z, launch.sharedMemBytes, stream, args);
    return launched(error, &launch, shared_bytes);
}

/* What `<<<>>>` becomes. The handle stays NULL when the kernel could not be looked up. */
cudaError_t rt___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                  size_t shared_bytes, cudaStream_t stream)
{
    return rt_cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

static cudaError_t launch_ex(const cudaLaunchConfig_t *config, cudaStream_t stream,
                             const void *func, void **args)
{
    CUlaunchConfig launch = rt_launch_config(config, stream);
    CUfunction function;
    cudaError_t error = rt_function_of(func, &function);

    if (error != cudaSuccess)
        return error;
    error = DRIVER(cuLaunchKernelEx, &launch, function, args, NULL);
    return launched(error, &launch, config->dynamicSmemBytes);
}

cudaError_t rt_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    return config ? launch_ex(config, config->stream, func, args) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *func,
                                        void **args)
{
    return config ? launch_ex(config, rt_ptsz(config->stream), func, args) : cudaErrorInvalidValue;
}

/* ---- the configuration between `<<<` and `>>>` ---- */

/* The arguments of a launch may launch themselves, so configurations nest. */
#define CONFIGURATIONS_MAX 16

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

static __thread struct configuration configurations[CONFIGURATIONS_MAX];
static __thread unsigned configuration_depth;

unsigned int rt___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                            struct CUstream_st *stream)
{
    if (configuration_depth == CONFIGURATIONS_MAX)
        return cudaErrorMissingConfiguration;
    configurations[configuration_depth++] =
        (struct configuration){grid, block, shared_bytes, stream};
    return cudaSuccess;
}

cudaError_t rt___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                          void *stream)
{
    const struct configuration *top;

    if (!configuration_depth)
        return cudaErrorMissingConfiguration;
    top = &configurations[--configuration_depth];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}
