/* module_variables.c: the variables of modules, in device memory or in managed memory. Managed ones
 * of a library are one for all its modules. */
#include "device.h"
#include "managed.h"
#include "mem.h"
#include "module_parts.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>

#define VARIABLE_STEP 512

/* ---- memory ---- */

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

static CUresult place_device(struct fv_context *context, const struct ptx_variable *variable,
                             uint64_t *address)
{
    size_t space = variable_space(variable);
    CUdeviceptr base;
    CUresult result;

    if (!fv_mem_charge(context->device, space))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_va_take(space, VARIABLE_STEP, &base);
    if (result == CUDA_SUCCESS) {
        result = map_variable(context, variable, base);
        if (result != CUDA_SUCCESS)
            fv_va_give(base, space);
    }
    if (result == CUDA_SUCCESS)
        *address = base;
    else
        fv_mem_refund(context->device, space);
    return result;
}

static CUresult place_managed(struct fv_context *context, const struct ptx_variable *variable,
                              uint64_t *address)
{
    CUdeviceptr base;
    CUresult result = fv_managed_new(context, (size_t)variable->size, NULL, &base);

    if (result != CUDA_SUCCESS)
        return result;
    if (variable->data)
        memcpy((void *)base, variable->data, (size_t)variable->size);
    *address = base;
    return CUDA_SUCCESS;
}

/* Another module of the same library, which has the same managed variables. */
static struct fv_module *sibling(const struct fv_module *module)
{
    struct fv_module *it = NULL;

    while (module->library && (it = fv_next(FV_MODULE, it)))
        if (it != module && it->library == module->library && it->addresses)
            return it;
    return NULL;
}

static CUresult place_variable(struct fv_module *module, unsigned index)
{
    const struct ptx_variable *variable = ptx_variable_at(module->code, index);
    const struct fv_module *other = variable->managed ? sibling(module) : NULL;
    uint64_t *address = &module->addresses[index];

    if (variable->space == PTX_SHARED)
        return CUDA_SUCCESS;
    if (variable->external) {
        fv_say("cannot load code: %s is declared .extern and defined nowhere", variable->name);
        return CUDA_ERROR_INVALID_PTX;
    }
    if (other)
        return *address = other->addresses[index], CUDA_SUCCESS;
    return variable->managed ? place_managed(module->context, variable, address)
                             : place_device(module->context, variable, address);
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

CUresult fv_module_place_variables(struct fv_module *module)
{
    CUresult result = CUDA_SUCCESS;

    while (ptx_variable_at(module->code, module->variable_count))
        module->variable_count++;
    module->addresses = calloc(module->variable_count + 1u, sizeof *module->addresses);
    if (!module->addresses)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < module->variable_count && result == CUDA_SUCCESS; i++)
        result = place_variable(module, i);
    for (unsigned i = 0; i < module->variable_count && result == CUDA_SUCCESS; i++)
        result = fill_addresses(module, i);
    return result;
}

/* Managed memory goes with the last module that has it, and belongs to the context of one of them
 * until then. */
static void drop_managed(const struct fv_module *module, CUdeviceptr base)
{
    struct fv_mapping *mapping = fv_va_find(base);
    const struct fv_module *other = sibling(module);

    if (other)
        mapping->context = other->context;
    else
        fv_managed_end(mapping);
}

static void drop_device(struct fv_device *device, const struct ptx_variable *variable,
                        CUdeviceptr base)
{
    size_t space = variable_space(variable);

    fv_va_unmap(base);
    fv_va_give(base, space);
    fv_mem_refund(device, space);
}

void fv_module_drop_variables(struct fv_module *module)
{
    for (unsigned i = 0; module->addresses && i < module->variable_count; i++) {
        const struct ptx_variable *variable = ptx_variable_at(module->code, i);

        if (module->addresses[i] && variable->managed)
            drop_managed(module, module->addresses[i]);
        else if (module->addresses[i])
            drop_device(module->context->device, variable, module->addresses[i]);
    }
    free(module->addresses);
    module->addresses = NULL;
}

/* ---- questions ---- */

CUresult fv_module_variable(const struct fv_module *module, const char *name, bool managed_only,
                            CUdeviceptr *address, size_t *bytes)
{
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = ptx_variable_at(module->code, i);

        if (!module->addresses[i] || strcmp(variable->name, name) != 0 ||
            (managed_only && !variable->managed))
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
    return fv_module_variable(module, name, false, address, bytes);
}

/* Addresses of a 64-bit process do not fit into the first version's result. */
CUresult fv_cuModuleGetGlobal(CUdeviceptr_v1 *address, unsigned *bytes, CUmodule module,
                              const char *name)
{
    size_t size;
    CUresult result = fv_cuModuleGetGlobal_v2(NULL, &size, module, name);

    if (result != CUDA_SUCCESS || (!address && !bytes))
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    if (address)
        return CUDA_ERROR_NOT_SUPPORTED;
    *bytes = (unsigned)size;
    return CUDA_SUCCESS;
}
