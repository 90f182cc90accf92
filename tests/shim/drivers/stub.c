/* stub.c: a driver library that stands before another one, as in WSL and in some containers: every
 * function calls the one of the library that STUB_REAL names. Built as libcuda.so.1 in a folder of
 * its own. Environment:
 *
 *   STUB_REAL=FILE   the driver behind this one
 *   STUB_EARLY=1     the constructor opens it and looks everything up; else the first call does
 *   STUB_NEWER=BASE  cuGetProcAddress has a newer ABI for BASE from version 13010 on, which no
 * table knows STUB_NULL=BASE   cuGetProcAddress answers success and NULL for BASE
 *
 * cuInit and cuGetProcAddress also look up functions of this library by dlsym and cuGetProcAddress:
 * a driver may, and dlsym must answer its own. What it answers instead is told on stderr. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cudaProfiler.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define FV(symbol, base, since, ptds, impl, params, args) ROW_##symbol,
enum row {
#include "fakevmm/entries.def"
    ROWS
};
#undef FV

static void *behind(enum row row);

/* A twin passes its stream on as it is. */
#define fv_ptds(stream) stream

/* These three are written out below. */
#define cuInit              forward_cuInit
#define cuGetProcAddress    forward_cuGetProcAddress
#define cuGetProcAddress_v2 forward_cuGetProcAddress_v2
#define FV(symbol, base, since, ptds, impl, params, args)                                          \
    EXPORT CUresult symbol params;                                                                 \
    CUresult symbol params                                                                         \
    {                                                                                              \
        CUresult(*next) params = (CUresult(*) params)behind(ROW_##symbol);                         \
        return next ? next args : CUDA_ERROR_NOT_FOUND;                                            \
    }
#include "fakevmm/entries.def"
#undef FV
#undef cuInit
#undef cuGetProcAddress
#undef cuGetProcAddress_v2

static struct {
    const char *symbol;
    void *own, *behind;
} table[ROWS] = {
#define FV(symbol, base, since, ptds, impl, params, args) {#symbol, (void *)symbol, NULL},
#include "fakevmm/entries.def"
#undef FV
};

static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void look_everything_up(void)
{
    void *real = dlopen(getenv("STUB_REAL"), RTLD_NOW | RTLD_LOCAL);

    for (int row = 0; real && row < ROWS; row++)
        table[row].behind = dlsym(real, table[row].symbol);
}

static void *behind(enum row row)
{
    pthread_once(&opened, look_everything_up);
    return table[row].behind;
}

__attribute__((constructor)) static void loaded(void)
{
    if (getenv("STUB_EARLY"))
        pthread_once(&opened, look_everything_up);
}

static void look_myself_up(void)
{
    static const enum row asked[] = {ROW_cuMemAlloc_v2, ROW_cuGraphLaunch, ROW_cuGetProcAddress_v2};
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

    for (size_t i = 0; self && i < sizeof(asked) / sizeof(*asked); i++) {
        if (dlsym(self, table[asked[i]].symbol) != table[asked[i]].own)
            fprintf(stderr, "stub: %s is another's\n", table[asked[i]].symbol);
    }
    if (self)
        dlclose(self);
}

EXPORT CUresult cuInit(unsigned flags)
{
    void *answer;

    look_myself_up();
    cuGetProcAddress_v2("cuGraphLaunch", &answer, 10000, 0, NULL);
    return forward_cuInit(flags);
}

static CUresult newer(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* The driver behind knows versions up to 13000 only. */
static int known(int version)
{
    return version > 13000 ? 13000 : version;
}

/* The answer of the driver behind, as this library's own function. */
static CUresult answer_own(const char *base, void **answer, int version, CUresult result)
{
    const char *new_abi = getenv("STUB_NEWER"), *null = getenv("STUB_NULL");

    look_myself_up();
    for (int row = 0; result == CUDA_SUCCESS && row < ROWS; row++) {
        if (table[row].behind == *answer) {
            *answer = table[row].own;
            break;
        }
    }
    if (result == CUDA_SUCCESS && new_abi && version > 13000 && !strcmp(base, new_abi))
        *answer = (void *)newer;
    if (result == CUDA_SUCCESS && null && !strcmp(base, null))
        *answer = NULL;
    return result;
}

EXPORT CUresult cuGetProcAddress(const char *base, void **answer, int version, cuuint64_t flags)
{
    return answer_own(base, answer, version,
                      forward_cuGetProcAddress(base, answer, known(version), flags));
}

EXPORT CUresult cuGetProcAddress_v2(const char *base, void **answer, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status)
{
    return answer_own(base, answer, version,
                      forward_cuGetProcAddress_v2(base, answer, known(version), flags, status));
}
