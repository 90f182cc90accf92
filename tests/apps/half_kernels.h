/* half_kernels.h: arithmetic, comparison and conversion in half precision, scalar and in pairs, for
 * either type of it (H; H2 a pair). The numbers are chosen so that the exact result fits into a
 * double: the CPU computes it there and rounds once, as the hardware does. A program includes the
 * CUDA header of its type first and defines round_to(double, H). */
#ifndef HALF_KERNELS_H
#define HALF_KERNELS_H

#include "tests/apps/cuda_app.h"

static const unsigned count = 512, block_size = 64;

/* What each kernel leaves for each element. */
enum { SUM, DIFFERENCE, PRODUCT, FUSED, LARGER, LESS, NEGATED, ROUNDED, RESULTS };

template <typename H, typename H2>
__global__ void compute(const H *a, const H *b, const H *c, H *out, H2 *pairs)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    out[SUM * count + i] = __hadd(a[i], b[i]);
    out[DIFFERENCE * count + i] = __hsub(a[i], b[i]);
    out[PRODUCT * count + i] = __hmul(a[i], b[i]);
    out[FUSED * count + i] = __hfma(a[i], b[i], c[i]);
    out[LARGER * count + i] = __hmax(a[i], b[i]);
    out[LESS * count + i] = __hlt(a[i], b[i]) ? a[i] : c[i];
    out[NEGATED * count + i] = __hneg(a[i]);
    out[ROUNDED * count + i] = H((float)a[i] * (float)b[i] + (float)c[i] / 3.0f);
    if (i % 2 == 0) {
        H2 a2 = *(const H2 *)&a[i], b2 = *(const H2 *)&b[i], c2 = *(const H2 *)&c[i];
        pairs[i / 2] = __hfma2(__hadd2(a2, b2), c2, __hmul2(a2, b2));
    }
}

/* Multiples of 1/16 below 8 in magnitude: few enough bits for both types. */
template <typename H> static void fill(H *numbers, uint64_t *random)
{
    for (unsigned i = 0; i < count; i++)
        numbers[i] = H((float)((int)(app_random(random) >> 56) - 128) / 16.0f);
}

template <typename H> static void expect(H *want, const H *a, const H *b, const H *c)
{
    for (unsigned i = 0; i < count; i++) {
        double x = (float)a[i], y = (float)b[i], z = (float)c[i];
        want[SUM * count + i] = round_to(x + y, H());
        want[DIFFERENCE * count + i] = round_to(x - y, H());
        want[PRODUCT * count + i] = round_to(x * y, H());
        want[FUSED * count + i] = round_to(x * y + z, H());
        want[LARGER * count + i] = x > y ? a[i] : b[i];
        want[LESS * count + i] = x < y ? a[i] : c[i];
        want[NEGATED * count + i] = round_to(-x, H());
        want[ROUNDED * count + i] = H(fmaf((float)x, (float)y, (float)z / 3.0f));
    }
}

template <typename H>
static void expect_pairs(const H *got, const H *a, const H *b, const H *c, const char *what)
{
    for (unsigned i = 0; i < count; i++) {
        double x = (float)a[i], y = (float)b[i];
        double sum = (float)round_to(x + y, H()), product = (float)round_to(x * y, H());
        H want = round_to(sum * (float)c[i] + product, H());
        expect_same(what, (float)got[i], (float)want);
    }
}

template <typename H, typename H2>
static void check(const char *what, uint64_t *random, uint64_t *checksum)
{
    static H host[3][count], got[RESULTS * count], want[RESULTS * count], pairs[count];
    H *in[3], *out = device_array<H>(RESULTS * count);
    H2 *out2 = device_array<H2>(count / 2);

    for (int i = 0; i < 3; i++) {
        fill(host[i], random);
        in[i] = to_device(host[i], count);
    }
    expect(want, host[0], host[1], host[2]);
    compute<H, H2><<<count / block_size, block_size>>>(in[0], in[1], in[2], out, out2);
    CALL_KERNEL("compute");
    from_device(got, out, RESULTS * count);
    for (unsigned i = 0; i < RESULTS * count; i++)
        if (!((float)got[i] == (float)want[i]))
            app_differs(what, i, (float)got[i], (float)want[i]);
    from_device(pairs, (const H *)out2, count);
    expect_pairs(pairs, host[0], host[1], host[2], what);
    *checksum = app_checksum(*checksum, got, sizeof got);
    CALL(cudaFree(out));
    CALL(cudaFree(out2));
    for (int i = 0; i < 3; i++)
        CALL(cudaFree(in[i]));
}

#endif
