/* door.c: the exported functions, generated from entries.def. Each makes ready what its row asks
 * for, calls the implementation if there is one, and records the answer as the thread's last error.
 * It owns the last error; what a call does is no business of this file. */
#include "fault.h"

#include <stdatomic.h>
#include <stdio.h>

enum need { NEED_NONE, NEED_DRIVER, NEED_CONTEXT };

static __thread cudaError_t last_error;

/* Says once per export that nobody has implemented it. */
static void say_missing(const char *symbol, atomic_flag *said)
{
    if (!atomic_flag_test_and_set(said))
        fprintf(stderr, "fakevmm: %s is not supported by the fake runtime\n", symbol);
}

static cudaError_t prepare(enum need need)
{
    cudaError_t error = cudaSuccess;

    if (need >= NEED_DRIVER)
        error = rt_driver_load();
    if (error == cudaSuccess && need >= NEED_CONTEXT)
        error = rt_context(NULL);
    return error;
}

/* "Not ready" is an answer of the queries, not an error, and is documented as never recorded. */
static cudaError_t record(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

#define RT(need, symbol, impl, params, args)                                                       \
    __attribute__((visibility("default"))) cudaError_t symbol params;                              \
    cudaError_t symbol params                                                                      \
    {                                                                                              \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                \
        static atomic_ulong calls;                                                                 \
        cudaError_t error = rt_fault_of(#symbol, &calls);                                          \
        if (error != cudaSuccess)                                                                  \
            return record(error);                                                                  \
        if (!rt_##impl) {                                                                          \
            say_missing(#symbol, &said);                                                           \
            return record(cudaErrorNotSupported);                                                  \
        }                                                                                          \
        error = prepare(NEED_##need);                                                              \
        return record(error == cudaSuccess ? rt_##impl args : error);                              \
    }
#define RT_PLAIN(type, fallback, symbol, params, args)                                             \
    __attribute__((visibility("default"))) type symbol params;                                     \
    type symbol params                                                                             \
    {                                                                                              \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                \
        if (!rt_##symbol) {                                                                        \
            say_missing(#symbol, &said);                                                           \
            return fallback;                                                                       \
        }                                                                                          \
        return rt_##symbol args;                                                                   \
    }
#include "entries.def"
#undef RT
#undef RT_PLAIN

cudaError_t rt_cudaGetLastError(void)
{
    cudaError_t error = last_error;

    last_error = cudaSuccess;
    return error;
}

cudaError_t rt_cudaPeekAtLastError(void)
{
    return last_error;
}
