/* module.c: modules: code loaded into a context, its functions and its variables in device memory.
 * What a function can do is function.c's, libraries are library.c's. */
#include "device.h"
#include "mem.h"
#include "module_parts.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE_STEP 512

FV_FITS(struct fv_module);
FV_FITS(struct fv_function);

static unsigned long long last_id;

unsigned long long fv_module_next_id(void)
{
    return ++last_id;
}

/* ---- variables ---- */

static size_t variable_space(const struct ptx_variable *variable)
{
    size_t align = variable->align > VARIABLE_STEP ? variable->align : VARIABLE_STEP;

    return ((size_t)variable->size + align - 1) / align * align;
}

static CUresult map_variable(struct fv_context *context, const struct ptx_variable *variable,
                             CUdeviceptr base)
{
    struct fv_phys *phys = fv_phys_new(context->device, variable_space(variable));
    uint32_t access = fv_peers_of(context->device);
    CUresult result;

    if (!phys)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (variable->data)
        memcpy(phys->bytes, variable->data, (size_t)variable->size);
    result = fv_va_map(&(struct fv_mapping){.base = base,
                                            .size = phys->size,
                                            .requested = (size_t)variable->size,
                                            .phys = phys,
                                            .readable = access,
                                            .writable = access,
                                            .kind = FV_MEM_MODULE,
                                            .context = context,
                                            .id = fv_mem_next_id()});
    fv_phys_put(phys); /* the mapping holds it now */
    return result;
}

static CUresult place_variable(struct fv_context *context, const struct ptx_variable *variable,
                               uint64_t *address)
{
    size_t space = variable_space(variable);
    CUdeviceptr base;
    CUresult result;

    if (variable->space == PTX_SHARED)
        return CUDA_SUCCESS;
    if (variable->external) {
        fv_say("cannot load code: %s is declared .extern and defined nowhere", variable->name);
        return CUDA_ERROR_INVALID_PTX;
    }
    if (variable->managed) {
        fv_say("cannot load code: %s is managed memory", variable->name);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (space > context->device->memory_bytes - context->device->memory_used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_va_take(space, VARIABLE_STEP, &base);
    if (result != CUDA_SUCCESS)
        return result;
    result = map_variable(context, variable, base);
    if (result == CUDA_SUCCESS)
        *address = base;
    else
        fv_va_give(base, space);
    return result;
}

/* Initial values that are addresses of other variables. */
static CUresult fill_addresses(const struct fv_module *module, unsigned index)
{
    const struct ptx_variable *variable = ptx_variable_at(module->code, index);
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; i < variable->reloc_count && result == CUDA_SUCCESS; i++) {
        const struct ptx_reloc *reloc = &variable->relocs[i];
        uint64_t value = module->addresses[reloc->variable] + (uint64_t)reloc->addend;

        if (!module->addresses[index])
            continue;
        result = fv_va_write(module->addresses[index] + reloc->offset, &value, sizeof value,
                             module->context->device->ordinal);
    }
    return result;
}

static CUresult place_variables(struct fv_module *module)
{
    CUresult result = CUDA_SUCCESS;

    while (ptx_variable_at(module->code, module->variable_count))
        module->variable_count++;
    module->addresses = calloc(module->variable_count + 1u, sizeof *module->addresses);
    if (!module->addresses)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < module->variable_count && result == CUDA_SUCCESS; i++)
        result = place_variable(module->context, ptx_variable_at(module->code, i),
                                &module->addresses[i]);
    for (unsigned i = 0; i < module->variable_count && result == CUDA_SUCCESS; i++)
        result = fill_addresses(module, i);
    return result;
}

static void drop_variables(struct fv_module *module)
{
    for (unsigned i = 0; module->addresses && i < module->variable_count; i++) {
        if (!module->addresses[i])
            continue;
        fv_va_unmap(module->addresses[i]);
        fv_va_give(module->addresses[i], variable_space(ptx_variable_at(module->code, i)));
    }
    free(module->addresses);
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
    drop_variables(module);
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
    result = place_variables(module);
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

void fv_module_drop_context(struct fv_context *context)
{
    struct fv_module *module = NULL;

    while ((module = fv_next(FV_MODULE, module))) {
        if (module->context == context)
            fv_module_delete(module);
    }
}

/* Graphs may run a module's kernels in any context's streams. */
void fv_wait_everywhere(void)
{
    struct fv_context *context = NULL;

    while ((context = fv_next(FV_CONTEXT, context)))
        fv_context_wait(context);
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

/* Waits for the work that may use the module. A library's module goes with its library. */
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

CUresult fv_module_variable(const struct fv_module *module, const char *name, CUdeviceptr *address,
                            size_t *bytes)
{
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = ptx_variable_at(module->code, i);

        if (!module->addresses[i] || strcmp(variable->name, name) != 0)
            continue;
        if (address)
            *address = module->addresses[i];
        if (bytes)
            *bytes = (size_t)variable->size;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult fv_cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle,
                                 const char *name)
{
    const struct fv_module *module = (const struct fv_module *)handle;
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_MODULE, module))
        return CUDA_ERROR_INVALID_HANDLE;
    return fv_module_variable(module, name, address, bytes);
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
