/* occupancy.c: how many blocks of a kernel a multiprocessor has room for: by threads, blocks,
 * shared memory and registers, whatever is scarcest. It must not know how kernels run. */
#include "device.h"
#include "door.h"
#include "module_parts.h"

enum { WARP = 32, MAX_WARPS = 32, LEAST_REGISTERS = 16 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t limit(const struct fv_function *function, CUdevice_attribute attribute)
{
    return (size_t)fv_device_attribute(function->context->device, attribute);
}

static size_t registers(const struct fv_function *function)
{
    int count = 0;

    fv_attribute(function->module->code, function->code, function->context->device,
                 &function->tuning, CU_FUNC_ATTRIBUTE_NUM_REGS, &count);
    return count > LEAST_REGISTERS ? (size_t)count : LEAST_REGISTERS;
}

/* Shared memory that each block takes, its dynamic part apart. */
static size_t fixed_shared(const struct fv_function *function)
{
    return function->code->static_shared +
           limit(function, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
}

int fv_blocks_per_multiprocessor(const struct fv_function *function, unsigned block, size_t dynamic)
{
    size_t threads = ((size_t)block + WARP - 1) / WARP * WARP;
    size_t blocks = limit(function, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);

    if (!block || block > function->code->max_threads ||
        dynamic > (size_t)function->tuning.max_dynamic_shared)
        return 0;
    blocks = least(blocks,
                   limit(function, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / threads);
    blocks = least(blocks, limit(function, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) /
                               (registers(function) * threads));
    return (int)least(blocks,
                      limit(function, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) /
                          (fixed_shared(function) + dynamic));
}

static bool good_flags(unsigned flags)
{
    return !(flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE);
}

/* ---- blocks per multiprocessor ---- */

CUresult fv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle,
                                                                 int block, size_t dynamic,
                                                                 unsigned flags)
{
    struct fv_function *function;
    CUresult result;

    if (!blocks || block <= 0 || !good_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_function_of(handle, NULL, &function);
    if (result == CUDA_SUCCESS)
        *blocks = fv_blocks_per_multiprocessor(function, (unsigned)block, dynamic);
    return result;
}

CUresult fv_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int block,
                                                        size_t dynamic)
{
    return fv_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, block, dynamic,
                                                                   0);
}

CUresult fv_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, CUfunction handle, int blocks,
                                                    int block)
{
    struct fv_function *function;
    CUresult result;
    size_t room;

    if (!dynamic || blocks <= 0 || block <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_function_of(handle, NULL, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (blocks > fv_blocks_per_multiprocessor(function, (unsigned)block, 0))
        return CUDA_ERROR_INVALID_VALUE;
    room =
        limit(function, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / (size_t)blocks -
        fixed_shared(function);
    *dynamic = least(room, (size_t)function->tuning.max_dynamic_shared);
    return CUDA_SUCCESS;
}

/* ---- the best block size ---- */

/* The dynamic shared memory of each block size, in warps; the application's function is called
 * without the lock, so that it may make driver calls. */
static void ask_sizes(CUoccupancyB2DSize size_of, size_t given, size_t sizes[MAX_WARPS + 1])
{
    if (size_of)
        fv_unlock();
    for (int warps = 1; warps <= MAX_WARPS; warps++)
        sizes[warps] = size_of ? size_of(warps * WARP) : given;
    if (size_of)
        fv_lock();
}

/* The largest block size of those that fill a multiprocessor most. */
static void find_best(const struct fv_function *function, const size_t sizes[MAX_WARPS + 1],
                      unsigned most, int *blocks, int *block)
{
    int best = 0;

    *blocks = *block = 0;
    for (unsigned warps = MAX_WARPS; warps; warps--) {
        unsigned threads = warps * WARP;
        int count =
            threads <= most ? fv_blocks_per_multiprocessor(function, threads, sizes[warps]) : 0;
        if (count * (int)threads <= best)
            continue;
        best = count * (int)threads;
        *blocks = count;
        *block = (int)threads;
    }
}

CUresult fv_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction handle,
                                                      CUoccupancyB2DSize size_of, size_t dynamic,
                                                      int most, unsigned flags)
{
    struct fv_function *function;
    size_t sizes[MAX_WARPS + 1];
    CUresult result;
    int blocks;

    if (!grid || !block || most < 0 || !good_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    ask_sizes(size_of, dynamic, sizes);
    result = fv_function_of(handle, NULL, &function);
    if (result != CUDA_SUCCESS)
        return result;
    find_best(function, sizes, most ? (unsigned)most : MAX_WARPS * WARP, &blocks, block);
    *grid = blocks * (int)limit(function, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    return *block ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                             CUoccupancyB2DSize size_of, size_t dynamic, int most)
{
    return fv_cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, size_of, dynamic,
                                                        most, 0);
}

/* ---- clusters ---- */

/* Blocks of the clusters that the function requires; 0: it does not. */
static size_t required_blocks(const struct fv_function *function)
{
    const uint16_t *cluster = function->tuning.cluster;

    return (size_t)cluster[0] * cluster[1] * cluster[2];
}

/* The cluster size of a launch, in blocks; 0: none, or not the one that the function requires. */
static size_t cluster_blocks(const struct fv_function *function, const CUlaunchConfig *config)
{
    const uint16_t *required = function->tuning.cluster;

    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;
        if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            continue;
        if (required_blocks(function) &&
            (required[0] != value->clusterDim.x || required[1] != value->clusterDim.y ||
             required[2] != value->clusterDim.z))
            return 0;
        return (size_t)value->clusterDim.x * value->clusterDim.y * value->clusterDim.z;
    }
    return required_blocks(function);
}

static CUresult check_config(const CUlaunchConfig *config, CUfunction handle,
                             struct fv_function **out)
{
    CUresult result;

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_function_of(handle, NULL, out);
    if (result == CUDA_SUCCESS && !limit(*out, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH))
        result = CUDA_ERROR_NOT_SUPPORTED;
    return result;
}

static size_t blocks_of(const struct fv_function *function, const CUlaunchConfig *config)
{
    size_t threads = (size_t)config->blockDimX * config->blockDimY * config->blockDimZ;

    return threads > MAX_WARPS * WARP ? 0
                                      : (size_t)fv_blocks_per_multiprocessor(
                                            function, (unsigned)threads, config->sharedMemBytes);
}

CUresult fv_cuOccupancyMaxPotentialClusterSize(int *size, CUfunction handle,
                                               const CUlaunchConfig *config)
{
    struct fv_function *function;
    CUresult result = size ? check_config(config, handle, &function) : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        return result;
    if (required_blocks(function))
        *size = (int)required_blocks(function);
    else
        *size = blocks_of(function, config) ? (int)fv_largest_cluster(function) : 0;
    return result;
}

CUresult fv_cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle,
                                         const CUlaunchConfig *config)
{
    struct fv_function *function;
    CUresult result = clusters ? check_config(config, handle, &function) : CUDA_ERROR_INVALID_VALUE;
    size_t size;

    if (result != CUDA_SUCCESS)
        return result;
    size = cluster_blocks(function, config);
    if (!size || size > fv_largest_cluster(function))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *clusters = (int)(blocks_of(function, config) *
                      limit(function, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) / size);
    return CUDA_SUCCESS;
}
