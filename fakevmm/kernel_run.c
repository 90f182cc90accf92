/* kernel_run.c: a kernel's arguments, its shape, and its run on the interpreter. It must not know
 * streams or graphs: they call it when the time has come. */
#include "cost.h"
#include "device.h"
#include "hazard.h"
#include "kernel_host.h"
#include "module_parts.h"
#include "va.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

/* CU_LAUNCH_PARAM_* pairs up to CU_LAUNCH_PARAM_END: a buffer and its size. */
static CUresult find_buffer(void *const *extra, const void **buffer, size_t *size)
{
    *buffer = NULL;
    *size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            *size = *(const size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult pack_buffer(const struct ptx_kernel *code, void *const *extra, unsigned char *bytes)
{
    const void *buffer;
    size_t size;
    CUresult result = find_buffer(extra, &buffer, &size);

    if (result != CUDA_SUCCESS)
        return result;
    if (!buffer || size < code->param_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(bytes, buffer, code->param_bytes);
    return CUDA_SUCCESS;
}

static CUresult pack_each(const struct ptx_kernel *code, void *const *values, unsigned char *bytes)
{
    for (unsigned i = 0; i < code->param_count; i++) {
        if (!values[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy(bytes + code->params[i].offset, values[i], code->params[i].size);
    }
    return CUDA_SUCCESS;
}

CUresult fv_pack_params(const struct fv_function *function, void *const *kernelParams,
                        void *const *extra, unsigned char **out)
{
    const struct ptx_kernel *code = function->code;
    unsigned char *bytes;
    CUresult result;

    if ((kernelParams && extra) || (code->param_count && !kernelParams && !extra))
        return CUDA_ERROR_INVALID_VALUE;
    if (!code->param_bytes) {
        *out = NULL;
        return CUDA_SUCCESS;
    }
    bytes = calloc(1, code->param_bytes);
    if (!bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = extra ? pack_buffer(code, extra, bytes) : pack_each(code, kernelParams, bytes);
    if (result == CUDA_SUCCESS)
        *out = bytes;
    else
        free(bytes);
    return result;
}

/* ---- shape ---- */

static bool fits(const struct fv_context *context, unsigned extent, CUdevice_attribute attribute)
{
    return extent && extent <= (unsigned)fv_device_attribute(context->device, attribute);
}

CUresult fv_check_shape(const struct fv_function *function, const unsigned grid[3],
                        const unsigned block[3], unsigned shared_bytes)
{
    const struct fv_context *context = function->context;

    for (unsigned i = 0; i < 3; i++) {
        /* X, Y and Z follow each other in the enum */
        if (!fits(context, block[i],
                  (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i)) ||
            !fits(context, grid[i], (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i)))
            return CUDA_ERROR_INVALID_VALUE;
    }
    if ((uint64_t)block[0] * block[1] * block[2] > function->code->max_threads ||
        shared_bytes > (unsigned)function->tuning.max_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* H100: what every kernel may use without asking for more, and what one that has asked may. */
enum { CLUSTER_BLOCKS = 8, LARGE_CLUSTER_BLOCKS = 16 };

unsigned fv_largest_cluster(const struct fv_function *function)
{
    unsigned most = function->tuning.large_clusters ? LARGE_CLUSTER_BLOCKS : CLUSTER_BLOCKS;
    unsigned own = function->code->max_cluster;

    return own && own < most ? own : most;
}

/* The clusters of a launch: the function's, where the launch names none. */
static void find_cluster(const struct fv_function *function, const struct fv_shape *shape,
                         unsigned cluster[3])
{
    bool named = shape->cluster[0] || shape->cluster[1] || shape->cluster[2];

    for (unsigned i = 0; i < 3; i++)
        cluster[i] = named ? shape->cluster[i] : function->tuning.cluster[i];
}

static bool is_required(const struct fv_function *function, const unsigned cluster[3])
{
    const uint16_t *required = function->tuning.cluster;

    return (!required[0] && !required[1] && !required[2]) ||
           (required[0] == cluster[0] && required[1] == cluster[1] && required[2] == cluster[2]);
}

static CUresult check_cluster(const struct fv_function *function, const struct fv_shape *shape)
{
    /* what the launch names is an argument, what the function has is not */
    CUresult misfit =
        shape->cluster[0] ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CLUSTER_SIZE;
    unsigned cluster[3];
    uint64_t blocks = 1;

    find_cluster(function, shape, cluster);
    if (!cluster[0] && !cluster[1] && !cluster[2])
        return function->code->explicit_cluster ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    if (!fv_device_attribute(function->context->device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!is_required(function, cluster))
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    for (unsigned i = 0; i < 3; i++) {
        if (!cluster[i] || shape->grid[i] % cluster[i])
            return misfit;
        blocks *= cluster[i] < UINT16_MAX ? cluster[i] : UINT16_MAX;
    }
    return blocks <= fv_largest_cluster(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

static CUresult check_cooperative(const struct fv_function *function, const struct fv_shape *shape)
{
    const unsigned *block = shape->block, *grid = shape->grid;
    int multiprocessors =
        fv_device_attribute(function->context->device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    int each =
        fv_blocks_per_multiprocessor(function, block[0] * block[1] * block[2], shape->shared_bytes);

    return (uint64_t)grid[0] * grid[1] * grid[2] <= (uint64_t)each * (uint64_t)multiprocessors
               ? CUDA_SUCCESS
               : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult fv_check_company(const struct fv_function *function, const struct fv_shape *shape)
{
    CUresult result = check_cluster(function, shape);

    if (result == CUDA_SUCCESS && shape->cooperative)
        result = check_cooperative(function, shape);
    return result;
}

/* ---- the run ---- */

const char *fv_kernel_names(const struct fv_function *function, const unsigned char *params,
                            CUdeviceptr base, size_t size)
{
    const struct ptx_kernel *code = function->code;
    CUdeviceptr word;

    for (size_t at = 0; at + sizeof word <= code->param_bytes; at += sizeof word) {
        memcpy(&word, params + at, sizeof word);
        if (fv_overlap(word, 1, base, size))
            return code->name;
    }
    return NULL;
}

struct run {
    int device;
    struct fv_watch watch;
};

static bool find_span(void *context, uint64_t address, unsigned bytes, bool write,
                      struct ptx_span *out)
{
    struct run *run = context;
    struct fv_span span;

    if (!fv_va_span(address, run->device, &span))
        return false;
    fv_watch_note(&run->watch, &span, address, bytes, write);
    *out = (struct ptx_span){span.base, span.end, span.host, span.writable};
    return true;
}

static uint64_t generation(void *context)
{
    return fv_va_generation();
}

static CUresult error_of(enum ptx_result result)
{
    switch (result) {
    case PTX_OK: return CUDA_SUCCESS;
    case PTX_ILLEGAL_ADDRESS: return CUDA_ERROR_ILLEGAL_ADDRESS;
    case PTX_MISALIGNED: return CUDA_ERROR_MISALIGNED_ADDRESS;
    case PTX_UNSUPPORTED: return CUDA_ERROR_NOT_SUPPORTED;
    case PTX_ASSERT: return CUDA_ERROR_ASSERT;
    case PTX_STACK_OVERFLOW: return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case PTX_BAD_CALL: return CUDA_ERROR_INVALID_PC;
    case PTX_DEADLOCK: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PTX_NO_MEMORY: return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    default: return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* Never 0. */
static uint64_t next_id(void)
{
    static uint64_t id;

    return __atomic_add_fetch(&id, 1, __ATOMIC_RELAXED);
}

CUresult fv_run_kernel(const struct fv_function *function, const struct fv_shape *shape,
                       const unsigned char *params, int device)
{
    const unsigned *grid = shape->grid, *block = shape->block;
    struct run run = {.device = device};
    struct ptx_launch launch = {
        .grid = {grid[0], grid[1], grid[2]},
        .block = {block[0], block[1], block[2]},
        .cooperative = shape->cooperative,
        .dynamic_shared = shape->shared_bytes,
        .id = next_id(),
        .params = params,
        .addresses = function->module->addresses,
        .memory = {find_span, generation, &run},
        .host = fv_kernel_host(function->context),
    };
    char message[512];
    enum ptx_result result;

    find_cluster(function, shape, launch.cluster);
    fv_watch_start(&run.watch, function->code->name);
    fv_cost_kernel();
    result = ptx_run(function->code, &launch, message, sizeof message);
    fv_watch_end(&run.watch);

    if (result != PTX_OK)
        fv_print_flush(); /* after an error nobody waits any more */
    if (result == PTX_ASSERT)
        fprintf(stderr, "%s\n", message);
    else if (result != PTX_OK)
        fv_say("%s", message);
    return error_of(result);
}
