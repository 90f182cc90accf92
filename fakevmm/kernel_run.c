/* kernel_run.c: a kernel's arguments, its shape, and its run on the interpreter. It must not know
 * streams or graphs: they call it when the time has come. */
#include "device.h"
#include "hazard.h"
#include "module_parts.h"
#include "va.h"

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

static bool find_span(void *context, uint64_t address, struct ptx_span *out)
{
    struct run *run = context;
    struct fv_span span;

    if (!fv_va_span(address, run->device, &span))
        return false;
    fv_watch_note(&run->watch, span.base, span.end);
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
    case PTX_DEADLOCK: return CUDA_ERROR_LAUNCH_TIMEOUT;
    case PTX_NO_MEMORY: return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    default: return CUDA_ERROR_LAUNCH_FAILED;
    }
}

CUresult fv_run_kernel(const struct fv_function *function, const unsigned grid[3],
                       const unsigned block[3], unsigned shared_bytes, const unsigned char *params,
                       int device)
{
    struct run run = {.device = device};
    const struct ptx_launch launch = {
        .grid = {grid[0], grid[1], grid[2]},
        .block = {block[0], block[1], block[2]},
        .dynamic_shared = shared_bytes,
        .params = params,
        .addresses = function->module->addresses,
        .memory = {find_span, generation, &run},
    };
    char message[512];
    enum ptx_result result;

    fv_watch_start(&run.watch, function->code->name);
    result = ptx_run(function->code, &launch, message, sizeof message);
    fv_watch_end(&run.watch);

    if (result != PTX_OK)
        fv_say("%s", message);
    return error_of(result);
}
