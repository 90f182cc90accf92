/* launch_legacy.c: launches as they were before cuLaunchKernel: the shape and the parameters are
 * set on the function first (cuda.h, "Execution Control [DEPRECATED]"). It only keeps what was set;
 * the launch itself is launch.c's. */
#include "device.h"
#include "module_parts.h"

#include <stdlib.h>
#include <string.h>

enum { PARAM_BYTES = 4096 };

/* What has been set on functions. One that is unloaded leaves its entry to whoever gets its handle;
 * the module's number tells them apart. */
struct setting {
    struct fv_function *function;
    unsigned long long module;
    unsigned block[3], shared_bytes, param_bytes;
    unsigned char params[PARAM_BYTES];
    struct setting *next;
};

static struct setting *settings;

static struct setting *find(struct fv_function *function)
{
    struct setting *it = settings;

    while (it && it->function != function)
        it = it->next;
    if (!it) {
        it = calloc(1, sizeof *it);
        if (!it)
            return NULL;
        it->next = settings;
        settings = it;
    }
    if (it->function != function || it->module != function->module->id)
        *it = (struct setting){function, function->module->id, {1, 1, 1}, .next = it->next};
    return it;
}

static CUresult setting_of(CUfunction handle, struct setting **out)
{
    struct fv_function *function;
    CUresult result = fv_function_of(handle, NULL, &function);

    if (result != CUDA_SUCCESS)
        return result;
    *out = find(function);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- what is set ---- */

CUresult fv_cuFuncSetBlockShape(CUfunction handle, int x, int y, int z)
{
    struct setting *setting;
    CUresult result = setting_of(handle, &setting);

    if (result != CUDA_SUCCESS)
        return result;
    if (x <= 0 || y <= 0 || z <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    setting->block[0] = (unsigned)x;
    setting->block[1] = (unsigned)y;
    setting->block[2] = (unsigned)z;
    return CUDA_SUCCESS;
}

CUresult fv_cuFuncSetSharedSize(CUfunction handle, unsigned bytes)
{
    struct setting *setting;
    CUresult result = setting_of(handle, &setting);

    if (result == CUDA_SUCCESS)
        setting->shared_bytes = bytes;
    return result;
}

CUresult fv_cuParamSetSize(CUfunction handle, unsigned bytes)
{
    struct setting *setting;
    CUresult result = setting_of(handle, &setting);

    if (result != CUDA_SUCCESS)
        return result;
    if (bytes > PARAM_BYTES)
        return CUDA_ERROR_INVALID_VALUE;
    setting->param_bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult fv_cuParamSetv(CUfunction handle, int offset, void *bytes, unsigned size)
{
    struct setting *setting;
    CUresult result = setting_of(handle, &setting);

    if (result != CUDA_SUCCESS)
        return result;
    if (offset < 0 || (size && !bytes) || size > PARAM_BYTES ||
        (unsigned)offset > PARAM_BYTES - size)
        return CUDA_ERROR_INVALID_VALUE;
    if (size)
        memcpy(setting->params + offset, bytes, size);
    return CUDA_SUCCESS;
}

CUresult fv_cuParamSeti(CUfunction handle, int offset, unsigned value)
{
    return fv_cuParamSetv(handle, offset, &value, sizeof value);
}

CUresult fv_cuParamSetf(CUfunction handle, int offset, float value)
{
    return fv_cuParamSetv(handle, offset, &value, sizeof value);
}

/* ---- launches ---- */

CUresult fv_cuLaunchGridAsync(CUfunction handle, int width, int height, CUstream stream)
{
    struct setting *setting;
    CUresult result = setting_of(handle, &setting);
    size_t size;

    if (result != CUDA_SUCCESS)
        return result;
    if (width <= 0 || height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    size = setting->param_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, setting->params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &size, CU_LAUNCH_PARAM_END};
    return fv_cuLaunchKernel(handle, (unsigned)width, (unsigned)height, 1, setting->block[0],
                             setting->block[1], setting->block[2], setting->shared_bytes, stream,
                             NULL, extra);
}

CUresult fv_cuLaunchGrid(CUfunction handle, int width, int height)
{
    return fv_cuLaunchGridAsync(handle, width, height, NULL);
}

CUresult fv_cuLaunch(CUfunction handle)
{
    return fv_cuLaunchGrid(handle, 1, 1);
}
