/* ptx_world.h: what the interpreter's tests share: a piece of "device memory" and short ways to load PTX
 * and run a kernel on it. */
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

static inline bool world_span(void *context, uint64_t address, struct ptx_span *out)
{
    struct world *w = context;

    w->spans++;
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

/* Loads a module whose first kernel takes one address, runs it on the start of the memory, unloads it. */
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

/* One instruction on up to three operands: result of `type` (as "b32") at word 0 of the memory. The
 * operands are registers of the types given; a predicate result is stored as 0 or 1. */
struct one {
    const char *code; /* with %d, %a, %b, %c */
    const char *d, *a, *b, *c;
    uint64_t va, vb, vc, want;
};

static inline uint64_t run_one(const struct one *one)
{
    uint64_t params[] = {WORLD_BASE, one->va, one->vb, one->vc};
    bool pred = strcmp(one->d, "pred") == 0;
    struct ptx_module *module;
    char text[2048];

    snprintf(text, sizeof text,
             PTX_HEAD ".entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c) {\n"
                      ".reg .b64 %%out; .reg .%s %%d; .reg .%s %%a; .reg .%s %%b; .reg .%s %%c;\n"
                      ".reg .b32 %%w;\n"
                      "ld.param.u64 %%out, [out]; ld.param.%s %%a, [a]; ld.param.%s %%b, [b];\n"
                      "ld.param.%s %%c, [c];\n%s\n%s st.global.%s [%%out], %s; ret; }\n",
             one->d, one->a, one->b, one->c, one->a, one->b, one->c, one->code,
             pred ? "selp.b32 %w, 1, 0, %d;" : "", pred ? "u32" : one->d, pred ? "%w" : "%d");
    memset(world.bytes, 0, 8);
    module = load(text);
    if (run(module, 1, 1, params) != PTX_OK)
        T_FAIL("%s: %s", one->code, world_message);
    ptx_unload(module);
    return wide(0);
}

static inline void check_all(const struct one *ones, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t got = run_one(&ones[i]);
        if (got != ones[i].want)
            T_FAIL("%s of 0x%llx, 0x%llx, 0x%llx: 0x%llx, wanted 0x%llx", ones[i].code,
                   (unsigned long long)ones[i].va, (unsigned long long)ones[i].vb,
                   (unsigned long long)ones[i].vc, (unsigned long long)got,
                   (unsigned long long)ones[i].want);
    }
}

#define CHECK_ALL(ones) check_all(ones, sizeof(ones) / sizeof *(ones))

#endif
