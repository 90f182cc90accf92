/* ptx.c: fuzzes the reader of PTX text. What it accepts must be whole: names, offsets and sizes. */
#include "fakevmm/ptx/ptx.h"
#include "tests/fuzz/fuzz.h"

static void walk(const struct ptx_module *module)
{
    const struct ptx_kernel *kernel;
    const struct ptx_variable *variable;

    for (unsigned i = 0; (kernel = ptx_kernel_at(module, i)); i++) {
        FUZZ_CHECK(ptx_find(module, kernel->name));
        for (unsigned p = 0; p < kernel->param_count; p++)
            FUZZ_CHECK((uint64_t)kernel->params[p].offset + kernel->params[p].size <=
                       kernel->param_bytes);
    }
    for (unsigned i = 0; (variable = ptx_variable_at(module, i)); i++)
        for (unsigned r = 0; r < variable->reloc_count; r++)
            FUZZ_CHECK((uint64_t)variable->relocs[r].offset + 8 <= variable->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char message[128] = "";
    struct ptx_module *module = ptx_load((const char *)data, size, message, sizeof message);

    FUZZ_CHECK(module || *message);
    if (module) {
        walk(module);
        ptx_unload(module);
    }
    return 0;
}
