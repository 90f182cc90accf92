/* graph_params.c: what a node does: checked and copied when it is set, run when a launch comes to
 * it. It does not know graphs, edges or execs. */
#include "graph.h"
#include "hazard.h"
#include "mem.h"
#include "ptx/ptx.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>

static CUresult set_context(struct fv_params *params, CUcontext handle)
{
    CUresult result = fv_context_of(handle, &params->context);
    if (result != CUDA_SUCCESS)
        return result;
    params->context_id = params->context->id;
    params->device = params->context->device->ordinal;
    return CUDA_SUCCESS;
}

/* ---- kernel ---- */

static CUresult find_function(const CUDA_KERNEL_NODE_PARAMS_v3 *set, struct fv_function **out)
{
    if (set->func)
        return fv_function_of(set->func, NULL, out);
    if (set->kern)
        return fv_kernel_function(set->kern, set->ctx, out);
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult set_kernel(struct fv_params *params, const CUDA_KERNEL_NODE_PARAMS_v3 *set)
{
    struct fv_function *function;
    CUresult result = find_function(set, &function);
    if (result == CUDA_SUCCESS)
        result = set_context(params, (CUcontext)function->context);
    if (result != CUDA_SUCCESS)
        return result;
    const unsigned grid[3] = {set->gridDimX, set->gridDimY, set->gridDimZ};
    const unsigned block[3] = {set->blockDimX, set->blockDimY, set->blockDimZ};
    result = fv_check_shape(function, grid, block, set->sharedMemBytes);
    if (result != CUDA_SUCCESS)
        return result;
    result = fv_pack_params(function, set->kernelParams, set->extra, &params->kernel.bytes);
    if (result != CUDA_SUCCESS)
        return result;
    params->kernel.handle = function;
    params->kernel.function = *function;
    params->kernel.size = function->code->param_bytes;
    params->kernel.as_extra = set->extra != NULL;
    params->kernel.set = *set;
    params->kernel.set.kernelParams = params->kernel.set.extra = NULL;
    if (!set->func) /* "current" means the context of now, whenever it is read back */
        params->kernel.set.ctx = (CUcontext)function->context;
    return CUDA_SUCCESS;
}

static CUresult run_kernel(const struct fv_params *params)
{
    const CUDA_KERNEL_NODE_PARAMS_v3 *set = &params->kernel.set;
    const unsigned grid[3] = {set->gridDimX, set->gridDimY, set->gridDimZ};
    const unsigned block[3] = {set->blockDimX, set->blockDimY, set->blockDimZ};
    return fv_run_kernel(&params->kernel.function, grid, block, set->sharedMemBytes,
                         params->kernel.bytes, params->device);
}

/* The array the application reads a node's kernel parameters from; it lives as long as the block.
 */
static void **kernel_list(struct fv_params *params)
{
    const struct ptx_kernel *code = params->kernel.function.code;
    if (params->kernel.list)
        return params->kernel.list;
    void **list = calloc(code->param_count + 5, sizeof *list);
    if (!list)
        return NULL;
    if (params->kernel.as_extra) {
        list[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
        list[1] = params->kernel.bytes;
        list[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
        list[3] = &params->kernel.size;
        list[4] = CU_LAUNCH_PARAM_END;
    } else {
        for (unsigned i = 0; i < code->param_count; i++)
            list[i] = params->kernel.bytes + code->params[i].offset;
    }
    return params->kernel.list = list;
}

CUresult fv_params_show_kernel(struct fv_params *params, CUDA_KERNEL_NODE_PARAMS_v2 *out)
{
    if (!fv_params_alive(params)) /* its parameter layout went with the module */
        return CUDA_ERROR_INVALID_VALUE;
    void **list = kernel_list(params);
    if (!list)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(out, &params->kernel.set, sizeof *out);
    if (params->kernel.as_extra)
        out->extra = list;
    else if (params->kernel.function.code->param_count)
        out->kernelParams = list;
    return CUDA_SUCCESS;
}

/* ---- memcpy ---- */

/* One side of a copy: `at` plus plane and row steps. */
struct side {
    CUmemorytype type;
    uint64_t at;
    size_t x, pitch, height;
};

static struct side source_of(const CUDA_MEMCPY3D *copy)
{
    uint64_t base =
        copy->srcMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy->srcHost : copy->srcDevice;
    uint64_t row = copy->srcZ * copy->srcHeight + copy->srcY;
    return (struct side){copy->srcMemoryType, base + row * copy->srcPitch + copy->srcXInBytes,
                         copy->srcXInBytes, copy->srcPitch, copy->srcHeight};
}

static struct side target_of(const CUDA_MEMCPY3D *copy)
{
    uint64_t base =
        copy->dstMemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)copy->dstHost : copy->dstDevice;
    uint64_t row = copy->dstZ * copy->dstHeight + copy->dstY;
    return (struct side){copy->dstMemoryType, base + row * copy->dstPitch + copy->dstXInBytes,
                         copy->dstXInBytes, copy->dstPitch, copy->dstHeight};
}

static CUresult check_side(const CUDA_MEMCPY3D *copy, struct side side)
{
    if (side.type == CU_MEMORYTYPE_ARRAY)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (side.type != CU_MEMORYTYPE_HOST && side.type != CU_MEMORYTYPE_DEVICE &&
        side.type != CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    if (!copy->WidthInBytes || !copy->Height || !copy->Depth)
        return CUDA_SUCCESS;
    if ((copy->Height > 1 || copy->Depth > 1) && side.pitch < side.x + copy->WidthInBytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (copy->Depth > 1 && side.height < copy->Height)
        return CUDA_ERROR_INVALID_VALUE;
    if (!side.at)
        return CUDA_ERROR_INVALID_VALUE;
    size_t rows = (copy->Depth - 1) * side.height + copy->Height;
    return fv_check_range(side.at, (rows - 1) * side.pitch + copy->WidthInBytes);
}

static CUresult set_copy(struct fv_params *params, const CUDA_MEMCPY_NODE_PARAMS *set)
{
    const CUDA_MEMCPY3D *copy = &set->copyParams;
    if (set->flags || set->reserved || copy->reserved0 || copy->reserved1 || copy->srcLOD ||
        copy->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = set_context(params, set->copyCtx);
    if (result == CUDA_SUCCESS)
        result = check_side(copy, source_of(copy));
    if (result == CUDA_SUCCESS)
        result = check_side(copy, target_of(copy));
    params->copy = *copy;
    return result;
}

static CUresult run_copy(const struct fv_params *params)
{
    const CUDA_MEMCPY3D *copy = &params->copy;
    struct side from = source_of(copy), to = target_of(copy);
    CUresult result = CUDA_SUCCESS;
    for (size_t z = 0; z < copy->Depth; z++)
        for (size_t y = 0; y < copy->Height && result == CUDA_SUCCESS; y++)
            result = fv_copy_any(to.at + (z * to.height + y) * to.pitch,
                                 from.at + (z * from.height + y) * from.pitch, copy->WidthInBytes,
                                 FV_COPY_ON(params->device));
    return result;
}

/* ---- memset ---- */

static CUresult set_memset(struct fv_params *params, const CUDA_MEMSET_NODE_PARAMS_v2 *set)
{
    size_t element = set->elementSize;
    if (element != 1 && element != 2 && element != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (!set->dst || set->dst % element)
        return CUDA_ERROR_INVALID_VALUE;
    if (set->height > 1 && (set->pitch % element || set->pitch / element < set->width))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = set_context(params, set->ctx);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&params->memset, set, sizeof params->memset);
    if (!set->width || !set->height)
        return CUDA_SUCCESS;
    return fv_check_range(set->dst, (set->height - 1) * set->pitch + set->width * element);
}

static CUresult run_memset(const struct fv_params *params)
{
    const CUDA_MEMSET_NODE_PARAMS_v1 *set = &params->memset;
    return fv_fill_any(set->dst, set->pitch, set->value, set->elementSize, set->width, set->height,
                       FV_COPY_ON(params->device));
}

/* ---- blocks ---- */

static CUresult set_any(struct fv_params *params, const CUgraphNodeParams *given)
{
    switch (given->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return set_kernel(params, &given->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return set_copy(params, &given->memcpy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return set_memset(params, &given->memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        params->host = given->host;
        return given->host.fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult fv_params_new(const CUgraphNodeParams *given, struct fv_params **out)
{
    struct fv_params *params = calloc(1, sizeof *params);
    if (!params)
        return CUDA_ERROR_OUT_OF_MEMORY;
    params->type = given->type;
    params->refs = 1;
    CUresult result = set_any(params, given);
    if (result != CUDA_SUCCESS) {
        fv_params_put(params);
        return result;
    }
    *out = params;
    return CUDA_SUCCESS;
}

struct fv_params *fv_params_get(struct fv_params *params)
{
    params->refs++;
    return params;
}

void fv_params_put(struct fv_params *params)
{
    if (--params->refs)
        return;
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        free(params->kernel.bytes);
        free(params->kernel.list);
    }
    free(params);
}

bool fv_params_alive(const struct fv_params *params)
{
    /* A context that is being destroyed still finishes its work. */
    if (params->context &&
        (!fv_valid(FV_CONTEXT, params->context) || params->context->id != params->context_id))
        return false;
    if (params->type != CU_GRAPH_NODE_TYPE_KERNEL)
        return true;
    const struct fv_function *now = params->kernel.handle, *then = &params->kernel.function;
    return fv_valid(FV_FUNCTION, now) && now->module == then->module && now->code == then->code &&
           now->context == then->context && now->code->param_bytes == params->kernel.size;
}

static bool side_overlaps(const CUDA_MEMCPY3D *copy, struct side side, CUdeviceptr base,
                          size_t size)
{
    size_t rows = (copy->Depth - 1) * side.height + copy->Height;
    return fv_overlap(side.at, (rows - 1) * side.pitch + copy->WidthInBytes, base, size);
}

static bool copy_uses(const CUDA_MEMCPY3D *copy, CUdeviceptr base, size_t size)
{
    if (!copy->WidthInBytes || !copy->Height || !copy->Depth)
        return false;
    return side_overlaps(copy, source_of(copy), base, size) ||
           side_overlaps(copy, target_of(copy), base, size);
}

static bool memset_uses(const CUDA_MEMSET_NODE_PARAMS_v1 *set, CUdeviceptr base, size_t size)
{
    if (!set->width || !set->height)
        return false;
    return fv_overlap(set->dst, (set->height - 1) * set->pitch + set->width * set->elementSize,
                      base, size);
}

const char *fv_params_use(const struct fv_params *params, CUdeviceptr base, size_t size)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (!fv_params_alive(params)) /* it will not run */
            return NULL;
        return fv_kernel_names(&params->kernel.function, params->kernel.bytes, base, size);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy_uses(&params->copy, base, size) ? "memcpy node" : NULL;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return memset_uses(&params->memset, base, size) ? "memset node" : NULL;
    default: return NULL;
    }
}

CUresult fv_params_run(const struct fv_params *params)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return run_kernel(params);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return run_copy(params);
    case CU_GRAPH_NODE_TYPE_MEMSET: return run_memset(params);
    case CU_GRAPH_NODE_TYPE_HOST:
        fv_call_host(params->host.fn, params->host.userData);
        return CUDA_SUCCESS;
    default: return CUDA_SUCCESS;
    }
}
