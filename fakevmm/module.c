/* module.c: modules: code loaded into a context, and its functions. Its variables are
 * module_variables.c's, what a function can do is function.c's, libraries are library.c's. */
#include "device.h"
#include "mem.h"
#include "module_parts.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>

FV_FITS(struct fv_module);
FV_FITS(struct fv_function);

static unsigned long long last_id;

unsigned long long fv_module_next_id(void)
{
    return ++last_id;
}

/* ---- functions ---- */

static void init_function(struct fv_function *function, struct fv_module *module, unsigned index)
{
    function->module = module;
    function->code = ptx_kernel_at(module->code, index);
    function->context = module->context;
    function->tuning =
        module->library ? module->library->kernels[index]->tuning[module->context->device->ordinal]
                        : fv_tuning_default(function->code);
}

static CUresult make_functions(struct fv_module *module)
{
    unsigned count = 0;

    while (ptx_kernel_at(module->code, count))
        count++;
    module->functions = calloc(count + 1u, sizeof *module->functions);
    if (!module->functions)
        return CUDA_ERROR_OUT_OF_MEMORY;
    while (module->function_count < count) {
        struct fv_function *function = fv_new(FV_FUNCTION);

        if (!function)
            return CUDA_ERROR_OUT_OF_MEMORY;
        init_function(function, module, module->function_count);
        module->functions[module->function_count++] = function;
    }
    return CUDA_SUCCESS;
}

/* ---- a module's life ---- */

/* Everything but the code. */
static void dismantle(struct fv_module *module)
{
    while (module->function_count)
        fv_delete(FV_FUNCTION, module->functions[--module->function_count]);
    free(module->functions);
    fv_module_drop_variables(module);
    fv_delete(FV_MODULE, module);
}

CUresult fv_module_new(struct fv_context *context, struct ptx_module *code,
                       struct fv_library *library, struct fv_module **out)
{
    struct fv_module *module = fv_new(FV_MODULE);
    CUresult result;

    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->code = code;
    module->context = context;
    module->library = library;
    module->id = fv_module_next_id();
    result = fv_module_place_variables(module);
    if (result == CUDA_SUCCESS)
        result = make_functions(module);
    if (result == CUDA_SUCCESS)
        *out = module;
    else
        dismantle(module);
    return result;
}

void fv_module_delete(struct fv_module *module)
{
    struct ptx_module *own = module->library ? NULL : module->code;

    dismantle(module);
    ptx_unload(own);
}

/* ---- kernels in graphs ---- */

bool fv_module_enter(struct fv_module *module)
{
    module->running += !module->ending;
    return !module->ending;
}

void fv_module_leave(struct fv_module *module)
{
    if (--module->running == 0 && module->ending)
        fv_changed();
}

bool fv_modules_end(const struct fv_context *context, const struct fv_library *library)
{
    struct fv_module *module = NULL;
    bool running = false;

    while ((module = fv_next(FV_MODULE, module))) {
        if (module->context != context && (!library || module->library != library))
            continue;
        module->ending = true;
        running |= module->running > 0;
    }
    return running;
}

void fv_module_drop_context(struct fv_context *context)
{
    struct fv_module *module = NULL;

    while (fv_modules_end(context, NULL))
        fv_wait();
    while ((module = fv_next(FV_MODULE, module))) {
        if (module->context == context)
            fv_module_delete(module);
    }
}

/* ---- driver calls ---- */

static CUresult load(struct fv_context *context, const void *image, const struct fv_jit_log *log,
                     CUmodule *out)
{
    struct ptx_module *code;
    struct fv_module *module;
    CUresult result = fv_image_load(image, log, &code);

    if (result != CUDA_SUCCESS)
        return result;
    result = fv_module_new(context, code, NULL, &module);
    if (result != CUDA_SUCCESS) {
        ptx_unload(code);
        return result;
    }
    *out = (CUmodule)module;
    return CUDA_SUCCESS;
}

CUresult fv_cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned option_count,
                               CUjit_option *options, void **values)
{
    struct fv_context *context;
    struct fv_jit_log log;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_jit_options(option_count, options, values, &log);
    return result == CUDA_SUCCESS ? load(context, image, &log, out) : result;
}

CUresult fv_cuModuleLoadData(CUmodule *out, const void *image)
{
    return fv_cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

CUresult fv_cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
    return fv_cuModuleLoadDataEx(out, image, 0, NULL, NULL);
}

CUresult fv_cuModuleLoad(CUmodule *out, const char *path)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    char *image;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !path)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_image_read(path, &image);
    if (result != CUDA_SUCCESS)
        return result;
    result = load(context, image, &(struct fv_jit_log){.size = 0}, out);
    free(image);
    return result;
}

/* Waits for the work that may use the module: graphs run its kernels in any context's streams. A
 * library's module goes with its library. */
CUresult fv_cuModuleUnload(CUmodule handle)
{
    struct fv_module *module = (struct fv_module *)handle;
    struct fv_context *context;
    CUresult result = fv_current(&context);
    unsigned long long id;

    if (result != CUDA_SUCCESS)
        return result;
    if (!fv_valid(FV_MODULE, module))
        return CUDA_ERROR_INVALID_VALUE;
    if (module->library)
        return CUDA_ERROR_NOT_PERMITTED;
    id = module->id;
    fv_wait_everywhere();
    while (fv_valid(FV_MODULE, module) && module->id == id && module->running) {
        module->ending = true;
        fv_wait();
    }
    /* The lock was dropped: another thread may have unloaded it. */
    if (!fv_valid(FV_MODULE, module) || module->id != id)
        return CUDA_ERROR_INVALID_VALUE;
    fv_module_delete(module);
    return CUDA_SUCCESS;
}

CUresult fv_cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    const struct fv_module *module = (const struct fv_module *)handle;
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_MODULE, module))
        return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < module->function_count; i++) {
        if (strcmp(module->functions[i]->code->name, name) == 0) {
            *out = (CUfunction)module->functions[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult fv_cuModuleGetFunctionCount(unsigned *count, CUmodule handle)
{
    const struct fv_module *module = (const struct fv_module *)handle;

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_MODULE, module))
        return CUDA_ERROR_INVALID_HANDLE;
    *count = module->function_count;
    return CUDA_SUCCESS;
}

CUresult fv_cuModuleEnumerateFunctions(CUfunction *functions, unsigned count, CUmodule handle)
{
    const struct fv_module *module = (const struct fv_module *)handle;

    if (!functions || !count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_MODULE, module))
        return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < count && i < module->function_count; i++)
        functions[i] = (CUfunction)module->functions[i];
    return CUDA_SUCCESS;
}

CUresult fv_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    const char *wanted = fv_env("CUDA_MODULE_LOADING");

    if (!mode)
        return CUDA_ERROR_INVALID_VALUE;
    *mode =
        wanted && strcmp(wanted, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}
