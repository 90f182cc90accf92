/* bench.h: what the measured programs share: the driver found through dlsym, and a measured
 * stretch. Includers define DRIVER(X) with the driver functions they use first. */
#ifndef BENCH_H
#define BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

/* What every program needs. */
#define BENCH_DRIVER(X)                                                                            \
    X(cuInit)                                                                                      \
    X(cuDeviceGet)                                                                                 \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)

#define X(name) static __typeof__(name) *p_##name;
BENCH_DRIVER(X)
DRIVER(X)
#undef X

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != CUDA_SUCCESS) {                                                              \
            fprintf(stderr, "%s failed\n", #call);                                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline void *bench_symbol(void *driver, const char *name)
{
    void *found = dlsym(driver, name);

    if (!found) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(1);
    }
    return found;
}

/* Opens the driver and makes device 0's primary context current. The library's handle. */
static inline void *bench_open(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CUdevice device;
    CUcontext context;

    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define X(name) p_##name = (__typeof__(name) *)bench_symbol(driver, #name);
    BENCH_DRIVER(X)
    DRIVER(X)
#undef X
    MUST(p_cuInit(0));
    MUST(p_cuDeviceGet(&device, 0));
    MUST(p_cuDevicePrimaryCtxRetain(&context, device));
    MUST(p_cuCtxSetCurrent(context));
    return driver;
}

/* A measured stretch; under callgrind only what lies between is counted. */
static inline struct timespec bench_begin(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_TOGGLE_COLLECT;
    return now;
}

/* Prints "ns X" per call and "calls N". */
static inline void bench_end(struct timespec begin, size_t calls)
{
    struct timespec end;

    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_STOP_INSTRUMENTATION;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("ns %.1f\ncalls %zu\n",
           ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
               (double)calls,
           calls);
}

#endif
