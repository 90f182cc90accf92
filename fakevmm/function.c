/* function.c: what can be asked about functions and kernels, and set. It must not know how code is
 * loaded or run. */
#include "device.h"
#include "module_parts.h"

#include <string.h>

enum {
    DEFAULT_SHARED = 48 * 1024, /* static and dynamic, unless an attribute raises it */
    WARP = 32,
    REGISTERS = 64 /* what a compiler would keep to: 1,024 threads then fit a multiprocessor */
};

struct fv_tuning fv_tuning_default(const struct ptx_kernel *code)
{
    int room = DEFAULT_SHARED - (int)code->static_shared;

    return (struct fv_tuning){.max_dynamic_shared = room > 0 ? room : 0,
                              .shared_carveout = -1,
                              .cluster = {code->cluster[0], code->cluster[1], code->cluster[2]}};
}

/* ---- attributes ---- */

static int constant_bytes(const struct ptx_module *code)
{
    const struct ptx_variable *variable;
    uint64_t bytes = 0;

    for (unsigned i = 0; (variable = ptx_variable_at(code, i)); i++)
        bytes += variable->space == PTX_CONST ? variable->size : 0;
    return (int)bytes;
}

static int registers(const struct ptx_kernel *code)
{
    return code->registers < REGISTERS ? (int)code->registers : REGISTERS;
}

CUresult fv_attribute(const struct ptx_module *module, const struct ptx_kernel *code,
                      const struct fv_device *device, const struct fv_tuning *tuning,
                      CUfunction_attribute attribute, int *value)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)code->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)code->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = constant_bytes(module); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)code->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = registers(code); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)ptx_target(module); break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 10 * fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                 fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = tuning->max_dynamic_shared;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = tuning->shared_carveout;
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = code->explicit_cluster; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = tuning->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = tuning->large_clusters;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = tuning->cluster_policy;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static bool within(int value, CUfunction_attribute attribute, int room)
{
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return value >= 0 && value <= room;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return value >= -1 && value <= 100;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return value >= 0 && value <= UINT16_MAX;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return value == 0 || value == 1;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return value >= 0 && value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING;
    default: return false;
    }
}

CUresult fv_set_attribute(struct fv_tuning *tuning, const struct ptx_kernel *code,
                          const struct fv_device *device, CUfunction_attribute attribute, int value)
{
    int room = fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
               (int)code->static_shared;

    if (!within(value, attribute, room))
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: tuning->max_dynamic_shared = value; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        tuning->shared_carveout = (int8_t)value;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        if (code->cluster[0])
            return CUDA_ERROR_NOT_PERMITTED;
        tuning->cluster[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = (uint16_t)value;
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: tuning->large_clusters = value; break;
    default: tuning->cluster_policy = value & 3;
    }
    return CUDA_SUCCESS;
}

CUresult fv_cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    struct fv_function *function;
    CUresult result;

    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_function_of(handle, NULL, &function);
    if (result != CUDA_SUCCESS)
        return result;
    return fv_attribute(function->module->code, function->code, function->context->device,
                        &function->tuning, attribute, value);
}

CUresult fv_cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    struct fv_function *function;
    CUresult result = fv_function_of(handle, NULL, &function);

    if (result != CUDA_SUCCESS)
        return result;
    return fv_set_attribute(&function->tuning, function->code, function->context->device, attribute,
                            value);
}

/* ---- preferences, which change nothing here ---- */

CUresult fv_check_cache_config(CUfunc_cache config)
{
    return (unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    struct fv_function *function;
    CUresult result = fv_function_of(handle, NULL, &function);

    if (result != CUDA_SUCCESS)
        return result;
    return fv_check_cache_config(config);
}

CUresult fv_cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config)
{
    struct fv_function *function;
    CUresult result = fv_function_of(handle, NULL, &function);

    if (result != CUDA_SUCCESS)
        return result;
    return (unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? CUDA_SUCCESS
                                                                         : CUDA_ERROR_INVALID_VALUE;
}

/* ---- questions ---- */

CUresult fv_param_info(const struct ptx_kernel *code, size_t index, size_t *offset, size_t *size)
{
    if (!offset || index >= code->param_count)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = code->params[index].offset;
    if (size)
        *size = code->params[index].size;
    return CUDA_SUCCESS;
}

CUresult fv_cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    const struct fv_function *function = (const struct fv_function *)handle;

    return fv_valid(FV_FUNCTION, function) ? fv_param_info(function->code, index, offset, size)
                                           : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuFuncGetName(const char **name, CUfunction handle)
{
    const struct fv_function *function = (const struct fv_function *)handle;

    if (!name || !fv_valid(FV_FUNCTION, function))
        return CUDA_ERROR_INVALID_VALUE;
    *name = function->code->name;
    return CUDA_SUCCESS;
}

CUresult fv_cuFuncGetModule(CUmodule *out, CUfunction handle)
{
    const struct fv_function *function = (const struct fv_function *)handle;

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_FUNCTION, function))
        return CUDA_ERROR_INVALID_HANDLE;
    *out = (CUmodule)function->module;
    return CUDA_SUCCESS;
}

CUresult fv_cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_FUNCTION, handle))
        return CUDA_ERROR_INVALID_HANDLE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult fv_cuFuncLoad(CUfunction handle)
{
    return fv_valid(FV_FUNCTION, handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
