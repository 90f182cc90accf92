/* ptx.c: how fast the fake GPU runs kernels, for scripts/bench: one block, which one core runs.
 *
 *   ptx
 *
 * Prints lines of `name value unit`, in millions of PTX instructions of one thread per second:
 *   ptx_arithmetic   a loop of multiplications and additions, threads on their own
 *   ptx_memory       a loop that loads, adds and stores global memory
 *   ptx_barrier      shared memory and a barrier in each round */
#define DRIVER(X)                                                                                  \
    X(cuMemAlloc_v2)                                                                               \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleGetFunction)                                                                         \
    X(cuLaunchKernel)
#include "tests/bench/bench.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
#define ENTRY(name)                                                                                \
    ".visible .entry " name "(.param .u64 out, .param .u32 rounds) {\n"                            \
    ".reg .b64 %out, %at; .reg .b32 %n, %t, %x, %y, %s; .reg .f32 %f<4>; .reg .pred %p;\n"         \
    "ld.param.u64 %out, [out]; ld.param.u32 %n, [rounds]; mov.u32 %t, %tid.x;\n"                   \
    "mul.wide.u32 %at, %t, 4; add.u64 %at, %out, %at; mov.u32 %x, %t; mov.f32 %f0, 0f3f800000;\n"

static const char text[] = HEAD ENTRY(
    "arithmetic") "L: mad.lo.u32 %x, %x, 1664525, %t; add.u32 %y, %x, %t;\n"
                  "xor.b32 %x, %x, %y; shr.u32 %y, %x, 3; fma.rn.f32 %f0, %f0, %f0, %f0;\n"
                  "add.u32 %x, %x, %y; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n"
                  "@%p bra L; st.global.u32 [%at], %x; ret; }\n" ENTRY(
                      "memory") "L: ld.global.f32 %f1, [%at]; add.f32 %f1, %f1, %f0; st.global.f32 "
                                "[%at], %f1;\n"
                                "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra L; ret; "
                                "}\n" ENTRY("barrier") ".shared .b32 s[256]; shl.b32 %s, %t, 2; "
                                                       "mov.u32 %y, s; add.u32 %s, %s, %y;\n"
                                                       "L: st.shared.u32 [%s], %x; bar.sync 0; "
                                                       "xor.b32 %y, %s, 4;\n"
                                                       "ld.shared.u32 %y, [%y]; add.u32 %x, %x, "
                                                       "%y; mad.lo.u32 %x, %x, 5, %t;\n"
                                                       "bar.sync 0; sub.u32 %n, %n, 1; setp.ne.u32 "
                                                       "%p, %n, 0; @%p bra L;\n"
                                                       "st.global.u32 [%at], %x; ret; }\n";

enum { THREADS = 256, TRIES = 3 };

/* Of the processor: one thread of the host works, the other waits. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The best of a few runs; `length` instructions per round. */
static void measure(CUmodule module, CUdeviceptr out, const char *name, unsigned rounds,
                    unsigned length)
{
    void *params[] = {&out, &rounds};
    CUfunction function;
    double best = 0;

    MUST(p_cuModuleGetFunction(&function, module, name));
    for (int i = 0; i < TRIES; i++) {
        double begin = seconds(), rate;

        MUST(p_cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
        MUST(p_cuCtxSynchronize());
        rate = (double)THREADS * rounds * length / (seconds() - begin) * 1e-6;
        best = rate > best ? rate : best;
    }
    printf("ptx_%s %.0f million_instructions/s\n", name, best);
}

int main(void)
{
    CUdeviceptr out;
    CUmodule module;

    bench_open();
    MUST(p_cuMemAlloc_v2(&out, THREADS * 4));
    MUST(p_cuModuleLoadData(&module, text));
    measure(module, out, "arithmetic", 100000, 9);
    measure(module, out, "memory", 100000, 6);
    measure(module, out, "barrier", 20000, 10);
    return 0;
}
