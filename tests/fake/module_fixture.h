/* module_fixture.h: code that the tests of modules and libraries load, and short ways to run it. */
#ifndef MODULE_FIXTURE_H
#define MODULE_FIXTURE_H

#include "driver_fixture.h"

#define PTX(text) ".version 8.0\n.target sm_75\n.address_size 64\n" text

/* scale: out[i] = in[i] * factor + offset, an offset in constant memory; count: counts in a
 * variable; big: parameters of many sizes; shape: nothing, but 128 threads at most, and shared
 * memory. */
static const char code[] = PTX(
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".const .align 4 .f32 offset = 1.0;\n"
    ".visible .global .align 8 .u64 pointer = counter;\n"
    ".visible .entry scale(.param .u32 n, .param .f32 factor, .param .u64 in, .param .u64 out) {\n"
    ".reg .b32 %n, %i, %c, %d; .reg .f32 %f<4>; .reg .b64 %a, %b, %o; .reg .pred %p;\n"
    "ld.param.u32 %n, [n]; ld.param.f32 %f0, [factor]; ld.param.u64 %a, [in];\n"
    "ld.param.u64 %b, [out];\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %c, %ntid.x; mov.u32 %d, %tid.x;\n"
    "mad.lo.u32 %i, %i, %c, %d; setp.ge.u32 %p, %i, %n; @%p ret;\n"
    "mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o; add.u64 %b, %b, %o;\n"
    "ld.const.f32 %f1, [offset]; ld.global.f32 %f2, [%a];\n"
    "fma.rn.f32 %f3, %f2, %f0, %f1; st.global.f32 [%b], %f3; ret; }\n"
    ".visible .entry count() { red.global.add.u32 [counter], 1; ret; }\n"
    ".visible .entry big(.param .u8 a, .param .align 4 .b8 b[12], .param .u64 c, .param .u16 d) {\n"
    "ret; }\n"
    ".visible .entry shape() .maxntid 128, 1, 1 { .shared .align 16 .b8 s[1024];\n"
    ".local .align 8 .b8 l[32]; bar.sync 0; ret; }\n");

static inline CUmodule load_module(const char *text)
{
    CUmodule module = NULL;

    OK(cuModuleLoadData(&module, text));
    return module;
}

static inline CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function = NULL;

    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline CUlibrary load_library(const char *text)
{
    CUlibrary library = NULL;

    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static inline CUkernel kernel_of(CUlibrary library, const char *name)
{
    CUkernel kernel = NULL;

    OK(cuLibraryGetKernel(&kernel, library, name));
    return kernel;
}

/* One block of `threads`, no shared memory, on the legacy stream. */
static inline CUresult launch(CUfunction function, unsigned threads, void **params)
{
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, params, NULL);
}

static inline uint32_t read_u32(CUdeviceptr address)
{
    uint32_t value = 0;

    OK(cuMemcpyDtoH_v2(&value, address, sizeof value));
    return value;
}

#endif
