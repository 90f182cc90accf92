/* cuda_app.h: what the sample programs compiled by nvcc share: checked calls, device memory filled
 * from the host, and the comparison of what the device computed with what the CPU did. Header-only,
 * C++; knows nothing of libvaremap or the fake GPU. */
#ifndef CUDA_APP_H
#define CUDA_APP_H

#include "tests/apps/app.h"
#include <cuda_runtime.h>
#include <math.h>

#define CALL(call) cuda_check(#call, call)

static inline void cuda_check(const char *call, cudaError_t error)
{
    if (error != cudaSuccess)
        app_fail(call, cudaGetErrorName(error));
}

/* For a kernel launched with <<<>>>: the launch itself has no answer. */
#define CALL_KERNEL(name) cuda_check(name, cudaGetLastError())

/* Device memory for `count` things, all bytes zero. */
template <typename T> static T *device_array(size_t count)
{
    T *device;

    CALL(cudaMalloc(&device, count * sizeof(T)));
    CALL(cudaMemset(device, 0, count * sizeof(T)));
    return device;
}

template <typename T> static T *to_device(const T *host, size_t count)
{
    T *device;

    CALL(cudaMalloc(&device, count * sizeof(T)));
    CALL(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

/* Waits for earlier work of the default stream. */
template <typename T> static void from_device(T *host, const T *device, size_t count)
{
    CALL(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
}

/* The device and the CPU disagree: names what, and ends with status 1. */
__attribute__((noreturn)) static inline void app_differs(const char *what, size_t index,
                                                         long double got, long double want)
{
    fprintf(stderr, "%s: %s[%zu]: the device says %.20Lg, the CPU %.20Lg\n",
            program_invocation_short_name, what, index, got, want);
    exit(1);
}

/* All `count` things equal, or the program ends. */
template <typename T>
static void expect_same(const char *what, const T *got, const T *want, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(got[i] == want[i]))
            app_differs(what, i, (long double)got[i], (long double)want[i]);
}

template <typename T> static void expect_same(const char *what, T got, T want)
{
    expect_same(what, &got, &want, 1);
}

/* All within `tolerance`, relative for values above 1, or the program ends. */
template <typename T>
static void expect_close(const char *what, const T *got, const T *want, size_t count,
                         double tolerance)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * fmax(1, fabs((double)want[i]))))
            app_differs(what, i, (long double)got[i], (long double)want[i]);
}

/* A call's answer is the one that was due, or the program ends. */
static inline void expect_error(const char *what, cudaError_t got, cudaError_t want)
{
    if (got == want)
        return;
    fprintf(stderr, "%s: %s: got %s, not %s\n", program_invocation_short_name, what,
            cudaGetErrorName(got), cudaGetErrorName(want));
    exit(1);
}

/* Gives back what the runtime holds and ends with the line of the checksum; for main to return. */
static inline int cuda_finish(uint64_t checksum)
{
    CALL(cudaDeviceReset());
    return app_checksum_line(checksum);
}

#endif
