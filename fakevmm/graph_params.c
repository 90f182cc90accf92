/* graph_params.c: what a node does: checked and copied when it is set, run when a launch comes to
 * it. It does not know graphs, edges or execs. */
#include "graph.h"
#include "hazard.h"
#include "mem.h"
#include "ptx/ptx.h"
#include "stream.h"
#include "stream_ops.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>

CUresult fv_params_set_context(struct fv_params *params, CUcontext handle)
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
        result = fv_params_set_context(params, (CUcontext)function->context);
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

static struct fv_shape shape_of(const struct fv_params *params, const struct fv_company *company)
{
    const CUDA_KERNEL_NODE_PARAMS_v3 *set = &params->kernel.set;
    return (struct fv_shape){
        .grid = {set->gridDimX, set->gridDimY, set->gridDimZ},
        .block = {set->blockDimX, set->blockDimY, set->blockDimZ},
        .shared_bytes = set->sharedMemBytes,
        .cluster = {company->cluster[0], company->cluster[1], company->cluster[2]},
        .cooperative = company->cooperative,
    };
}

static CUresult run_kernel(const struct fv_params *params, const struct fv_company *company)
{
    const struct fv_shape shape = shape_of(params, company);
    struct fv_module *module = params->kernel.function.module;
    CUresult result;
    fv_lock();
    bool there = fv_params_alive(params) && fv_module_enter(module);
    fv_unlock();
    if (!there) {
        fv_say("a graph launch comes to a kernel whose module or context is gone");
        return CUDA_ERROR_INVALID_PC;
    }
    result = fv_run_kernel(&params->kernel.function, &shape, params->kernel.bytes, params->device);
    fv_lock();
    fv_module_leave(module);
    fv_unlock();
    return result;
}

CUresult fv_params_check_company(const struct fv_params *params, const struct fv_company *company)
{
    const struct fv_shape shape = shape_of(params, company);
    return fv_check_company(&params->kernel.function, &shape);
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

static CUresult set_copy(struct fv_params *params, const CUDA_MEMCPY_NODE_PARAMS *set)
{
    if (set->flags || set->reserved)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_params_set_context(params, set->copyCtx);
    if (result == CUDA_SUCCESS)
        result = fv_copy3d_plan(&set->copyParams, &params->copy_plan);
    params->copy = set->copyParams;
    return result;
}

/* ---- memset ---- */

/* From the first byte to behind the last; false when that is no number. */
static bool memset_extent(const CUDA_MEMSET_NODE_PARAMS_v2 *set, size_t *bytes)
{
    size_t rows, row;
    return !__builtin_mul_overflow(set->height - 1, set->height > 1 ? set->pitch : 0, &rows) &&
           !__builtin_mul_overflow(set->width, set->elementSize, &row) &&
           !__builtin_add_overflow(rows, row, bytes);
}

static CUresult set_memset(struct fv_params *params, const CUDA_MEMSET_NODE_PARAMS_v2 *set)
{
    size_t element = set->elementSize, bytes;
    if (element != 1 && element != 2 && element != 4)
        return CUDA_ERROR_INVALID_VALUE;
    if (!set->dst || set->dst % element)
        return CUDA_ERROR_INVALID_VALUE;
    if (set->height > 1 && (set->pitch % element || set->pitch / element < set->width))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fv_params_set_context(params, set->ctx);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&params->memset, set, sizeof params->memset);
    if (!set->width || !set->height)
        return CUDA_SUCCESS;
    return memset_extent(set, &bytes) ? fv_check_device_range(set->dst, bytes)
                                      : CUDA_ERROR_INVALID_VALUE;
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
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return fv_params_set_event(params, given->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return fv_params_set_event(params, given->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return fv_params_set_batch(params, &given->memOp);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return fv_params_set_alloc(params, &given->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return fv_params_set_free(params, &given->free);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return fv_params_set_condition(params, &given->conditional);
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
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        free(params->kernel.bytes);
        free(params->kernel.list);
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: free(params->batch.paramArray); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE: fv_params_drop_memory(params); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: fv_condition_put(params->conditional.condition); break;
    default: break;
    }
    free(params);
}

uint64_t fv_params_generation(void)
{
    return fv_deletions(FV_CONTEXT) + fv_deletions(FV_FUNCTION);
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
        return fv_copy3d_uses(&params->copy_plan, base, size) ? "memcpy node" : NULL;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return memset_uses(&params->memset, base, size) ? "memset node" : NULL;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return fv_batch_ops_use(params->batch.paramArray, params->batch.count, base, size)
                   ? "batch-mem-op node"
                   : NULL;
    default: return NULL;
    }
}

CUresult fv_params_run(const struct fv_params *params, const struct fv_company *company)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return run_kernel(params, company);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return fv_copy3d_run(&params->copy_plan, FV_COPY_ON(params->device));
    case CU_GRAPH_NODE_TYPE_MEMSET: return run_memset(params);
    case CU_GRAPH_NODE_TYPE_HOST:
        fv_call_host(params->host.fn, params->host.userData);
        return CUDA_SUCCESS;
    default: return CUDA_SUCCESS;
    }
}
