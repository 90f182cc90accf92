/* cudart_kernels.h: device code for the tests of the fake runtime, and the one-line check they
 * share. */
#ifndef CUDART_KERNELS_H
#define CUDART_KERNELS_H

#include "tests/unit/vr_test.h"
#include <cuda_runtime_api.h>

/* add: data[t] += value for each thread t of one block. count: adds 1 to the variable `counter`. */
__attribute__((unused)) static const char cudart_ptx[] =
    ".version 6.4\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 counter = 40;\n"
    ".visible .entry add(.param .u64 data, .param .u32 value)\n"
    "{\n"
    "    .reg .b32 %r<4>;\n"
    "    .reg .b64 %rd<5>;\n"
    "    ld.param.u64 %rd1, [data];\n"
    "    ld.param.u32 %r1, [value];\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    mul.wide.u32 %rd2, %r2, 4;\n"
    "    cvta.to.global.u64 %rd3, %rd1;\n"
    "    add.s64 %rd4, %rd3, %rd2;\n"
    "    ld.global.u32 %r3, [%rd4];\n"
    "    add.s32 %r3, %r3, %r1;\n"
    "    st.global.u32 [%rd4], %r3;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry count()\n"
    "{\n"
    "    .reg .b32 %r<2>;\n"
    "    ld.global.u32 %r1, [counter];\n"
    "    add.s32 %r1, %r1, 1;\n"
    "    st.global.u32 [counter], %r1;\n"
    "    ret;\n"
    "}\n";

#define OK(call) T_EQ(call, cudaSuccess)

/* One block of `threads` threads. */
#define ONE_BLOCK(threads) ((dim3){1, 1, 1}), ((dim3){threads, 1, 1})

#endif
