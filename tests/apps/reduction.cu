/* reduction: sums, extremes and counts over one array, in the forms programs use: a tree in shared
 * memory whose last block finishes the work, warp shuffles, atomics, block-wide votes. */
#include "tests/apps/cuda_app.h"

static const unsigned block_size = 128, most_blocks = 64;

struct extremes {
    int least, most;
    unsigned long long largest_at; /* magnitude << 32 | index: the atomic maximum of the pair */
    unsigned negatives, positives;
};

/* Tree in dynamic shared memory. The block that finishes last adds the blocks' sums, in their
 * order, so that the result does not depend on who was first. */
__global__ void sum_tree(const float *in, unsigned count, volatile float *partial,
                         unsigned *finished, float *out)
{
    extern __shared__ float tree[];
    __shared__ bool last;
    float sum = 0;

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += in[i];
    tree[threadIdx.x] = sum;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tree[threadIdx.x] += tree[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tree[0];
        __threadfence();
        last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x > 0)
        return;
    sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        sum += partial[b];
    *out = sum;
}

/* Each warp adds its 32 values by shuffles, and its sum to the result by one atomic. */
__global__ void sum_warps(const int *in, unsigned count, long long *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    long long sum = i < count ? in[i] : 0;

    for (unsigned lanes = warpSize / 2; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(~0u, sum, lanes);
    if (threadIdx.x % warpSize == 0)
        atomicAdd((unsigned long long *)out, (unsigned long long)sum);
}

__global__ void find_extremes(const int *in, unsigned count, extremes *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < count ? in[i] : 0;
    unsigned negatives = __syncthreads_count(value < 0);

    if (threadIdx.x == 0)
        atomicAdd(&out->negatives, negatives);
    if (value > 0) {
        /* Whichever threads are here together, the first of them counts for all. */
        unsigned together = __activemask();
        if (threadIdx.x % warpSize == __ffs((int)together) - 1u)
            atomicAdd(&out->positives, __popc(together));
    }
    if (i >= count)
        return;
    atomicMin(&out->least, value);
    atomicMax(&out->most, value);
    atomicMax(&out->largest_at, (unsigned long long)abs(value) << 32 | i);
}

static void check_floats(const float *host, unsigned count, uint64_t *checksum)
{
    unsigned blocks = (count + block_size * 4 - 1) / (block_size * 4);
    float *in = to_device(host, count), *out = device_array<float>(1);
    float *partial = device_array<float>(most_blocks), got;
    unsigned *finished = device_array<unsigned>(1);
    double want = 0;

    for (unsigned i = 0; i < count; i++)
        want += host[i];
    for (int again = 0; again < 2; again++) { /* the counter of blocks wraps to 0 by itself */
        sum_tree<<<blocks, block_size, block_size * sizeof(float)>>>(in, count, partial, finished,
                                                                     out);
        CALL_KERNEL("sum_tree");
        from_device(&got, out, 1);
        double difference = got - want;
        double none = 0;
        expect_close("difference of the float sums", &difference, &none, 1, 1e-2);
        *checksum = app_checksum(*checksum, &got, sizeof got);
    }
    CALL(cudaFree(in));
    CALL(cudaFree(out));
    CALL(cudaFree(partial));
    CALL(cudaFree(finished));
}

static void check_integers(const int *host, unsigned count, uint64_t *checksum)
{
    unsigned blocks = (count + block_size - 1) / block_size;
    extremes want = {host[0], host[0], 0, 0, 0}, got = want;
    long long want_sum = 0, got_sum;
    int *in = to_device(host, count);
    extremes *out = to_device(&got, 1);
    long long *sum = device_array<long long>(1);

    for (unsigned i = 0; i < count; i++) {
        unsigned long long at = (unsigned long long)abs(host[i]) << 32 | i;
        want_sum += host[i];
        want.least = host[i] < want.least ? host[i] : want.least;
        want.most = host[i] > want.most ? host[i] : want.most;
        want.largest_at = at > want.largest_at ? at : want.largest_at;
        want.negatives += host[i] < 0;
        want.positives += host[i] > 0;
    }
    sum_warps<<<blocks, block_size>>>(in, count, sum);
    CALL_KERNEL("sum_warps");
    find_extremes<<<blocks, block_size>>>(in, count, out);
    CALL_KERNEL("find_extremes");
    from_device(&got_sum, sum, 1);
    from_device(&got, out, 1);
    expect_same("sum", got_sum, want_sum);
    expect_same("least", got.least, want.least);
    expect_same("most", got.most, want.most);
    expect_same("largest", got.largest_at, want.largest_at);
    expect_same("negatives", got.negatives, want.negatives);
    expect_same("positives", got.positives, want.positives);
    *checksum = app_checksum(*checksum, &got_sum, sizeof got_sum);
    *checksum = app_checksum(*checksum, &got.largest_at, sizeof got.largest_at);
    CALL(cudaFree(in));
    CALL(cudaFree(out));
    CALL(cudaFree(sum));
}

int main(int argc, char **argv)
{
    app_options options = {};

    options.steps = 3;
    options.bytes = 40000;
    options.seed = 1;
    app_parse(argc, argv, "sums, extremes and counts over an array", &options);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    unsigned count = options.bytes / 4 < most_blocks * block_size * 4
                         ? (unsigned)(options.bytes / 4)
                         : most_blocks * block_size * 4;
    float *floats = (float *)app_alloc(count, sizeof *floats);
    int *integers = (int *)app_alloc(count, sizeof *integers);
    for (uint64_t step = 0; step < options.steps; step++) {
        for (unsigned i = 0; i < count; i++) {
            integers[i] = (int)(app_random(&random) >> 33) - (1 << 30);
            floats[i] = (float)(app_random(&random) >> 40) / (1 << 24);
        }
        check_floats(floats, count, &checksum);
        check_integers(integers, count, &checksum);
    }
    free(floats);
    free(integers);
    return cuda_finish(checksum);
}
