/* library.c: libraries: code that belongs to no context until somebody asks for a kernel of it
 * there. A context's share of a library is a module (module.c). */
#include "device.h"
#include "module_parts.h"
#include "stream.h"

#include <stdlib.h>
#include <string.h>

FV_FITS(struct fv_library);
FV_FITS(struct fv_kernel);

/* ---- a library's life ---- */

static void delete_library(struct fv_library *library)
{
    struct fv_module *module = NULL;

    while ((module = fv_next(FV_MODULE, module))) {
        if (module->library == library)
            fv_module_delete(module);
    }
    while (library->kernel_count)
        fv_delete(FV_KERNEL, library->kernels[--library->kernel_count]);
    free(library->kernels);
    ptx_unload(library->code);
    fv_delete(FV_LIBRARY, library);
}

/* Like functions, kernels come in file order and go in reverse order. */
static CUresult make_kernels(struct fv_library *library)
{
    unsigned count = 0;

    while (ptx_kernel_at(library->code, count))
        count++;
    library->kernels = calloc(count + 1u, sizeof *library->kernels);
    if (!library->kernels)
        return CUDA_ERROR_OUT_OF_MEMORY;
    while (library->kernel_count < count) {
        struct fv_kernel *kernel = fv_new(FV_KERNEL);

        if (!kernel)
            return CUDA_ERROR_OUT_OF_MEMORY;
        kernel->library = library;
        kernel->index = library->kernel_count;
        for (unsigned i = 0; i < FV_MODULE_DEVICES; i++)
            kernel->tuning[i] = fv_tuning_default(ptx_kernel_at(library->code, kernel->index));
        library->kernels[library->kernel_count++] = kernel;
    }
    return CUDA_SUCCESS;
}

static CUresult load(const void *image, const struct fv_jit_log *log, CUlibrary *out)
{
    struct fv_library *library;
    struct ptx_module *code;
    CUresult result = fv_image_load(image, log, &code);

    if (result != CUDA_SUCCESS)
        return result;
    library = fv_new(FV_LIBRARY);
    if (!library) {
        ptx_unload(code);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->code = code;
    library->id = fv_module_next_id();
    result = make_kernels(library);
    if (result == CUDA_SUCCESS)
        *out = (CUlibrary)library;
    else
        delete_library(library);
    return result;
}

CUresult fv_library_module(struct fv_library *library, struct fv_context *context,
                           struct fv_module **out)
{
    struct fv_module *module = NULL;

    while ((module = fv_next(FV_MODULE, module))) {
        if (module->library == library && module->context == context) {
            *out = module;
            return CUDA_SUCCESS;
        }
    }
    return fv_module_new(context, library->code, library, out);
}

/* ---- driver calls: libraries ---- */

static CUresult check_library_options(CUlibraryOption *options, void **values, unsigned count)
{
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] != CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE &&
            options[i] != CU_LIBRARY_BINARY_IS_PRESERVED)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult fv_cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit_options,
                              void **jit_values, unsigned jit_count, CUlibraryOption *options,
                              void **values, unsigned count)
{
    struct fv_jit_log log;
    CUresult result;

    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_jit_options(jit_count, jit_options, jit_values, &log);
    if (result == CUDA_SUCCESS)
        result = check_library_options(options, values, count);
    return result == CUDA_SUCCESS ? load(image, &log, out) : result;
}

CUresult fv_cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit_options,
                                  void **jit_values, unsigned jit_count, CUlibraryOption *options,
                                  void **values, unsigned count)
{
    CUresult result;
    char *image;

    if (!out || !path)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_image_read(path, &image);
    if (result != CUDA_SUCCESS)
        return result;
    result = fv_cuLibraryLoadData(out, image, jit_options, jit_values, jit_count, options, values,
                                  count);
    free(image);
    return result;
}

CUresult fv_cuLibraryUnload(CUlibrary handle)
{
    struct fv_library *library = (struct fv_library *)handle;
    unsigned long long id;

    if (!fv_valid(FV_LIBRARY, library))
        return CUDA_ERROR_INVALID_VALUE;
    id = library->id;
    fv_wait_everywhere();
    while (fv_valid(FV_LIBRARY, library) && library->id == id && fv_modules_end(NULL, library))
        fv_wait();
    /* The lock was dropped: another thread may have unloaded it. */
    if (!fv_valid(FV_LIBRARY, library) || library->id != id)
        return CUDA_ERROR_INVALID_VALUE;
    delete_library(library);
    return CUDA_SUCCESS;
}

CUresult fv_cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
    const struct fv_library *library = (const struct fv_library *)handle;

    if (!out || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_LIBRARY, library))
        return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < library->kernel_count; i++) {
        if (strcmp(ptx_kernel_at(library->code, i)->name, name) == 0) {
            *out = (CUkernel)library->kernels[i];
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult fv_cuLibraryGetKernelCount(unsigned *count, CUlibrary handle)
{
    const struct fv_library *library = (const struct fv_library *)handle;

    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_LIBRARY, library))
        return CUDA_ERROR_INVALID_HANDLE;
    *count = library->kernel_count;
    return CUDA_SUCCESS;
}

CUresult fv_cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count, CUlibrary handle)
{
    const struct fv_library *library = (const struct fv_library *)handle;

    if (!kernels || !count)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_LIBRARY, library))
        return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < count && i < library->kernel_count; i++)
        kernels[i] = (CUkernel)library->kernels[i];
    return CUDA_SUCCESS;
}

/* The library's module in the current context. */
static CUresult current_module(CUlibrary handle, struct fv_module **out)
{
    struct fv_library *library = (struct fv_library *)handle;
    struct fv_context *context;
    CUresult result;

    if (!fv_valid(FV_LIBRARY, library))
        return CUDA_ERROR_INVALID_HANDLE;
    result = fv_current(&context);
    return result == CUDA_SUCCESS ? fv_library_module(library, context, out) : result;
}

CUresult fv_cuLibraryGetModule(CUmodule *out, CUlibrary handle)
{
    struct fv_module *module;
    CUresult result;

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    result = current_module(handle, &module);
    if (result == CUDA_SUCCESS)
        *out = (CUmodule)module;
    return result;
}

CUresult fv_cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary handle,
                               const char *name)
{
    struct fv_module *module;
    CUresult result;

    if (!name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    result = current_module(handle, &module);
    return result == CUDA_SUCCESS ? fv_module_variable(module, name, false, address, bytes)
                                  : result;
}

/* One for all contexts that the library is loaded in. */
CUresult fv_cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary handle,
                                const char *name)
{
    struct fv_module *module = NULL;
    CUresult result = CUDA_SUCCESS;

    if (!name || (!address && !bytes))
        return CUDA_ERROR_INVALID_VALUE;
    while ((module = fv_next(FV_MODULE, module)) && module->library != (struct fv_library *)handle)
        ;
    if (!module)
        result = current_module(handle, &module);
    return result == CUDA_SUCCESS ? fv_module_variable(module, name, true, address, bytes) : result;
}

/* CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS is 0 on all devices: there are none. */
CUresult fv_cuLibraryGetUnifiedFunction(void **out, CUlibrary handle, const char *symbol)
{
    if (!out || !symbol)
        return CUDA_ERROR_INVALID_VALUE;
    return fv_valid(FV_LIBRARY, handle) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- driver calls: kernels ---- */

static const struct ptx_kernel *code_of(const struct fv_kernel *kernel)
{
    return ptx_kernel_at(kernel->library->code, kernel->index);
}

CUresult fv_kernel_function(CUkernel handle, CUcontext wanted, struct fv_function **out)
{
    const struct fv_kernel *kernel = (const struct fv_kernel *)handle;
    struct fv_context *context;
    struct fv_module *module;
    CUresult result;

    if (!fv_valid(FV_KERNEL, kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    result = fv_context_of(wanted, &context);
    if (result == CUDA_SUCCESS)
        result = fv_library_module(kernel->library, context, &module);
    if (result == CUDA_SUCCESS)
        *out = module->functions[kernel->index];
    return result;
}

CUresult fv_function_of(CUfunction handle, CUcontext context, struct fv_function **out)
{
    if (!fv_valid(FV_FUNCTION, handle))
        return fv_kernel_function((CUkernel)handle, context, out);
    *out = (struct fv_function *)handle;
    return CUDA_SUCCESS;
}

CUresult fv_cuKernelGetFunction(CUfunction *out, CUkernel handle)
{
    struct fv_function *function;
    CUresult result;

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    result = fv_kernel_function(handle, NULL, &function);
    if (result == CUDA_SUCCESS)
        *out = (CUfunction)function;
    return result;
}

CUresult fv_cuKernelGetLibrary(CUlibrary *out, CUkernel handle)
{
    const struct fv_kernel *kernel = (const struct fv_kernel *)handle;

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_KERNEL, kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    *out = (CUlibrary)kernel->library;
    return CUDA_SUCCESS;
}

CUresult fv_cuKernelGetName(const char **name, CUkernel handle)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_KERNEL, handle))
        return CUDA_ERROR_INVALID_HANDLE;
    *name = code_of((const struct fv_kernel *)handle)->name;
    return CUDA_SUCCESS;
}

CUresult fv_cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size)
{
    if (!fv_valid(FV_KERNEL, handle))
        return CUDA_ERROR_INVALID_VALUE;
    return fv_param_info(code_of((const struct fv_kernel *)handle), index, offset, size);
}

CUresult fv_cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle,
                                 CUdevice ordinal)
{
    const struct fv_kernel *kernel = (const struct fv_kernel *)handle;
    const struct fv_device *device = fv_device(ordinal);

    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!fv_valid(FV_KERNEL, kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    return fv_attribute(kernel->library->code, code_of(kernel), device, &kernel->tuning[ordinal],
                        attribute, value);
}

/* Reaches the functions that contexts of the device have already, and those they will have. */
CUresult fv_cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                                 CUdevice ordinal)
{
    struct fv_kernel *kernel = (struct fv_kernel *)handle;
    const struct fv_device *device = fv_device(ordinal);
    struct fv_module *module = NULL;
    CUresult result;

    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!fv_valid(FV_KERNEL, kernel))
        return CUDA_ERROR_INVALID_HANDLE;
    result = fv_set_attribute(&kernel->tuning[ordinal], code_of(kernel), device, attribute, value);
    if (result != CUDA_SUCCESS)
        return result;
    while ((module = fv_next(FV_MODULE, module))) {
        if (module->library == kernel->library && module->context->device == device)
            module->functions[kernel->index]->tuning = kernel->tuning[ordinal];
    }
    return CUDA_SUCCESS;
}

CUresult fv_cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    if (!fv_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    return fv_valid(FV_KERNEL, kernel) ? fv_check_cache_config(config) : CUDA_ERROR_INVALID_HANDLE;
}
