/* ptx_world.h: what the interpreter's tests share: a piece of "device memory" and short ways to
 * load PTX and run a kernel on it. */
#ifndef PTX_WORLD_H
#define PTX_WORLD_H

#include "fakevmm/ptx/ptx.h"
#include "vr_test.h"

#define PTX_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

enum { WORLD_BYTES = 1 << 16 };
#define WORLD_BASE UINT64_C(0x700000000000)

/* Device memory [WORLD_BASE, WORLD_BASE + size) for the kernels of a test. */
struct world {
    _Alignas(64) unsigned char bytes[WORLD_BYTES];
    uint64_t size;
    bool read_only;
    uint64_t generation;
    unsigned spans; /* how often a span was asked for */
};

static struct world world = {.size = WORLD_BYTES};

static inline bool world_span(void *context, uint64_t address, unsigned bytes, bool write,
                              struct ptx_span *out)
{
    struct world *w = context;

    __atomic_fetch_add(&w->spans, 1, __ATOMIC_RELAXED); /* asked from several threads */
    if (address < WORLD_BASE || address >= WORLD_BASE + w->size)
        return false;
    *out = (struct ptx_span){WORLD_BASE, WORLD_BASE + w->size, w->bytes, !w->read_only};
    return true;
}

static inline uint64_t world_generation(void *context)
{
    return ((struct world *)context)->generation;
}

static inline uint64_t at(unsigned offset)
{
    return WORLD_BASE + offset;
}

static inline uint32_t word(unsigned index)
{
    uint32_t value;

    memcpy(&value, world.bytes + 4 * index, sizeof value);
    return value;
}

static inline uint64_t wide(unsigned index)
{
    uint64_t value;

    memcpy(&value, world.bytes + 8 * index, sizeof value);
    return value;
}

static inline struct ptx_module *load(const char *text)
{
    char message[512];
    struct ptx_module *module = ptx_load(text, strlen(text), message, sizeof message);

    if (!module)
        T_FAIL("%s", message);
    return module;
}

/* The reason why a module does not load. */
static inline const char *refusal(const char *text)
{
    static char message[512];
    struct ptx_module *module = ptx_load(text, strlen(text), message, sizeof message);

    if (module)
        T_FAIL("it loads");
    return message;
}

static char world_message[512];

/* Runs the module's first kernel. `params` are its packed parameters. */
static inline enum ptx_result run(const struct ptx_module *module, unsigned grid, unsigned block,
                                  const void *params)
{
    const struct ptx_kernel *kernel = ptx_kernel_at(module, 0);
    const struct ptx_launch launch = {.grid = {grid, 1, 1},
                                      .block = {block, 1, 1},
                                      .params = params,
                                      .memory = {world_span, world_generation, &world}};

    T_NOT_NULL(kernel);
    world_message[0] = '\0';
    return ptx_run(kernel, &launch, world_message, sizeof world_message);
}

/* Loads a module whose first kernel takes one address, runs it on the start of the memory, unloads
 * it. */
static inline enum ptx_result run_text(const char *text, unsigned grid, unsigned block)
{
    struct ptx_module *module = load(text);
    uint64_t params[] = {WORLD_BASE};
    enum ptx_result result = run(module, grid, block, params);

    ptx_unload(module);
    return result;
}

/* A kernel with one address parameter, loaded into %out. */
#define KERNEL(body)                                                                               \
    PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n.reg .b64 %out;\n"                            \
             "ld.param.u64 %out, [out];\n" body "\nret;\n}\n"

#endif
