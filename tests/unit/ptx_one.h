/* ptx_one.h: single instructions: operands in, the bits of the result out. */
#ifndef PTX_ONE_H
#define PTX_ONE_H

#include "ptx_world.h"

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
