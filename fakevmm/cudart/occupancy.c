/* occupancy.c: how many blocks and clusters of a kernel fit. A kernel argument called `func` is a
 * host stub or a cudaKernel_t; library.c tells which. */
#include "runtime.h"

ON_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
            (int *out, const void *func, int threads, size_t shared_bytes),
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, function, threads,
            shared_bytes, CU_OCCUPANCY_DEFAULT)
ON_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int *out, const void *func, int threads, size_t shared_bytes, unsigned int flags),
            cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, function, threads,
            shared_bytes, flags)
ON_FUNCTION(cudaOccupancyAvailableDynamicSMemPerBlock,
            (size_t * out, const void *func, int blocks, int threads),
            cuOccupancyAvailableDynamicSMemPerBlock, out, function, blocks, threads)

/* ---- clusters ---- */

#define ON_CLUSTERS(name, driver)                                                                  \
    cudaError_t rt_##name(int *out, const void *func, const cudaLaunchConfig_t *config)            \
    {                                                                                              \
        CUlaunchConfig launch;                                                                     \
        CUfunction function;                                                                       \
        cudaError_t error = config ? rt_function_of(func, &function) : cudaErrorInvalidValue;      \
        if (error != cudaSuccess)                                                                  \
            return error;                                                                          \
        launch = rt_launch_config(config, config->stream);                                         \
        return DRIVER(driver, out, function, &launch);                                             \
    }

ON_CLUSTERS(cudaOccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize)
ON_CLUSTERS(cudaOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters)
