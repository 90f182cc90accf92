/* histogram: counts the bytes of an array, by atomics on shared memory and by one global atomic for
 * all threads of a warp that hold the same byte. */
#include "tests/apps/cuda_app.h"

static const unsigned block_size = 128, bins = 256;

__global__ void count_shared(const uchar4 *in, unsigned words, unsigned *histogram)
{
    __shared__ unsigned local[bins];
    unsigned stride = gridDim.x * blockDim.x;

    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x)
        local[bin] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) {
        uchar4 four = in[i];
        atomicAdd(&local[four.x], 1);
        atomicAdd(&local[four.y], 1);
        atomicAdd(&local[four.z], 1);
        atomicAdd(&local[four.w], 1);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (local[bin])
            atomicAdd(&histogram[bin], local[bin]);
}

/* The lowest of the threads that hold the same byte counts for all of them. */
__global__ void count_matches(const unsigned char *in, unsigned bytes, unsigned *histogram)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned present = __ballot_sync(~0u, i < bytes);

    if (i >= bytes)
        return;
    unsigned same = __match_any_sync(present, in[i]);
    if (threadIdx.x % warpSize == __ffs((int)same) - 1u)
        atomicAdd(&histogram[in[i]], __popc(same));
}

int main(int argc, char **argv)
{
    app_options options = {};
    unsigned want[bins], got[bins];

    options.steps = 3;
    options.bytes = 20000;
    options.seed = 1;
    app_parse(argc, argv, "counts the bytes of an array", &options);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    unsigned bytes = options.bytes < 1 << 20 ? (unsigned)options.bytes & ~3u : 1u << 20;
    unsigned blocks = (bytes + block_size - 1) / block_size;
    unsigned char *host = (unsigned char *)app_alloc(bytes, 1);
    unsigned *histogram = device_array<unsigned>(bins);
    for (uint64_t step = 0; step < options.steps; step++) {
        memset(want, 0, sizeof want);
        for (unsigned i = 0; i < bytes; i++) {
            host[i] = (unsigned char)(app_random(&random) & app_random(&random)); /* not even */
            want[host[i]]++;
        }
        unsigned char *in = to_device(host, bytes);
        count_shared<<<8, block_size>>>((const uchar4 *)in, bytes / 4, histogram);
        CALL_KERNEL("count_shared");
        from_device(got, histogram, bins);
        expect_same("bins, shared", got, want, bins);
        CALL(cudaMemset(histogram, 0, sizeof got));
        count_matches<<<blocks, block_size>>>(in, bytes, histogram);
        CALL_KERNEL("count_matches");
        from_device(got, histogram, bins);
        expect_same("bins, matched", got, want, bins);
        CALL(cudaMemset(histogram, 0, sizeof got));
        checksum = app_checksum(checksum, got, sizeof got);
        CALL(cudaFree(in));
    }
    CALL(cudaDeviceSynchronize());
    CALL(cudaFree(histogram));
    free(host);
    return cuda_finish(checksum);
}
