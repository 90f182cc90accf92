/* f16_kernels: arithmetic in IEEE half precision, a dot product of it that adds in float, and the
 * functions that the hardware approximates. */
#include <cuda_fp16.h>

static __half round_to(double value, __half)
{
    return __double2half(value);
}

#include "tests/apps/half_kernels.h"

__global__ void dot(const __half2 *a, const __half2 *b, float *out)
{
    float sum = 0;

    for (unsigned i = threadIdx.x; i < count / 2; i += warpSize) {
        float2 x = __half22float2(a[i]), y = __half22float2(b[i]);
        sum += x.x * y.x + x.y * y.y;
    }
    for (unsigned lanes = warpSize / 2; lanes > 0; lanes /= 2)
        sum += __shfl_down_sync(~0u, sum, lanes);
    if (threadIdx.x == 0)
        *out = sum;
}

/* Functions that the hardware computes approximately: close, not equal. */
__global__ void curves(const __half *a, float *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    __half positive = __hadd(__habs(a[i]), __float2half(0.25f));

    out[4 * i] = __half2float(hsqrt(positive));
    out[4 * i + 1] = __half2float(hexp(a[i]));
    out[4 * i + 2] = __half2float(hlog2(positive));
    out[4 * i + 3] = __half2float(hrcp(positive));
}

static void check_floats(uint64_t *random, uint64_t *checksum)
{
    static __half host[2][count];
    static float got[4 * count], want[4 * count];
    float sum = 0, got_sum, *out = device_array<float>(4 * count);
    __half *in[2];

    for (int i = 0; i < 2; i++) {
        fill(host[i], random);
        in[i] = to_device(host[i], count);
    }
    dot<<<1, 32>>>((__half2 *)in[0], (__half2 *)in[1], out);
    CALL_KERNEL("dot");
    from_device(&got_sum, out, 1);
    curves<<<count / block_size, block_size>>>(in[0], out);
    CALL_KERNEL("curves");
    from_device(got, out, 4 * count);
    for (unsigned i = 0; i < count; i++) {
        float x = __half2float(host[0][i]), positive = fabsf(x) + 0.25f;
        sum += x * __half2float(host[1][i]); /* exact in any order: multiples of 1/256 */
        want[4 * i] = sqrtf(positive);
        want[4 * i + 1] = expf(x);
        want[4 * i + 2] = log2f(positive);
        want[4 * i + 3] = 1 / positive;
    }
    expect_same("dot product", got_sum, sum);
    expect_close("curves", got, want, 4 * count, 2e-3);
    *checksum = app_checksum(*checksum, &got_sum, sizeof got_sum);
    CALL(cudaFree(out));
    CALL(cudaFree(in[0]));
    CALL(cudaFree(in[1]));
}

int main(int argc, char **argv)
{
    app_options options = {};

    options.steps = 2;
    options.seed = 1;
    app_parse(argc, argv, "arithmetic in half precision, f16", &options);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        check<__half, __half2>("f16", &random, &checksum);
        check_floats(&random, &checksum);
    }
    return cuda_finish(checksum);
}
