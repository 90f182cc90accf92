/* bitonic_sort: four groups of threads sort a part of a block's elements each, kept in step by a
 * named barrier of their own, before the whole block merges. A second kernel hands tiles from warps
 * that produce to warps that consume, by barriers at which the one side only arrives. */
#include "tests/apps/cuda_app.h"

static const unsigned threads = 256, groups = 4, elements = 2 * threads; /* of a block */

__device__ void group_barrier(unsigned id, unsigned count)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

__device__ void group_arrive(unsigned id, unsigned count)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(count) : "memory");
}

/* Puts the pair of elements that thread `t` has at this distance into order. */
__device__ void compare(unsigned long long *data, unsigned t, unsigned distance, bool up)
{
    unsigned low = 2 * t - (t & (distance - 1)), high = low + distance;

    if ((data[low] > data[high]) == up) {
        unsigned long long kept = data[low];
        data[low] = data[high];
        data[high] = kept;
    }
}

__global__ void sort_block(unsigned long long *out)
{
    __shared__ unsigned long long data[elements];
    unsigned long long *mine = out + blockIdx.x * elements;
    unsigned t = threadIdx.x, group = t / (threads / groups);

    data[2 * t] = mine[2 * t];
    data[2 * t + 1] = mine[2 * t + 1];
    for (unsigned width = 2; width <= elements / groups; width *= 2)
        for (unsigned distance = width / 2; distance > 0; distance /= 2) {
            group_barrier(1 + group, threads / groups);
            compare(data, t, distance, ((2 * t) & width) == 0);
        }
    for (unsigned width = 2 * elements / groups; width <= elements; width *= 2)
        for (unsigned distance = width / 2; distance > 0; distance /= 2) {
            __syncthreads();
            compare(data, t, distance, ((2 * t) & width) == 0);
        }
    __syncthreads();
    mine[2 * t] = data[2 * t];
    mine[2 * t + 1] = data[2 * t + 1];
}

/* The first half of the threads writes products into one of two tiles, the second half reads the
 * other. Barriers 1 and 2 say that a tile is full, 3 and 4 that it is empty again. */
__global__ void hand_over(unsigned rounds, unsigned *out)
{
    __shared__ unsigned tiles[2][threads / 2];
    unsigned t = threadIdx.x % (threads / 2);

    if (threadIdx.x < threads / 2) {
        for (unsigned r = 0; r < rounds; r++) {
            if (r >= 2)
                group_barrier(3 + r % 2, threads);
            tiles[r % 2][t] = (r + 1) * (t + 1);
            __threadfence_block();
            group_arrive(1 + r % 2, threads);
        }
        return;
    }
    for (unsigned r = 0; r < rounds; r++) {
        group_barrier(1 + r % 2, threads);
        out[r * (threads / 2) + t] = tiles[r % 2][threads / 2 - 1 - t];
        if (r + 2 < rounds)
            group_arrive(3 + r % 2, threads);
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void check_sort(uint64_t *random, uint64_t *checksum)
{
    const unsigned blocks = 5;
    static unsigned long long host[blocks * elements], got[blocks * elements];

    for (unsigned long long &value : host)
        value = app_random(random) % 3 ? app_random(random) : app_random(random) % 8;
    unsigned long long *data = to_device(host, blocks * elements);
    for (unsigned b = 0; b < blocks; b++)
        qsort(host + b * elements, elements, sizeof *host, by_value);
    sort_block<<<blocks, threads>>>(data);
    CALL_KERNEL("sort_block");
    from_device(got, data, blocks * elements);
    expect_same("sorted", got, host, blocks * elements);
    *checksum = app_checksum(*checksum, got, sizeof got);
    CALL(cudaFree(data));
}

static void check_hand_over(uint64_t *checksum)
{
    const unsigned rounds = 7, count = rounds * (threads / 2);
    unsigned want[count], got[count];
    unsigned *out = device_array<unsigned>(count);

    for (unsigned i = 0; i < count; i++)
        want[i] = (i / (threads / 2) + 1) * (threads / 2 - i % (threads / 2));
    hand_over<<<1, threads>>>(rounds, out);
    CALL_KERNEL("hand_over");
    from_device(got, out, count);
    expect_same("handed over", got, want, count);
    *checksum = app_checksum(*checksum, got, sizeof got);
    CALL(cudaFree(out));
}

int main(int argc, char **argv)
{
    app_options options = {};

    options.steps = 3;
    options.seed = 1;
    app_parse(argc, argv, "sorts with a named barrier for each group of threads", &options);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        check_sort(&random, &checksum);
        check_hand_over(&checksum);
    }
    return cuda_finish(checksum);
}
