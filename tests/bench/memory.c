/* memory.c: cuMemAlloc and cuMemFree in a loop, for scripts/bench.
 *
 *   memory MODE LIVE ROUNDS
 *
 * LIVE allocations of 4 MiB live meanwhile. MODE:
 *   pair     an allocation of 4 MiB and its free
 *   calls    the driver calls that such a pair makes below the library: the wait of the free, three
 *            times the current context and once its device
 *   shuffle  the free of one of the live ones, in shuffled order, and a new one */
#define DRIVER(X)                                                                                  \
    X(cuMemAlloc_v2)                                                                               \
    X(cuMemFree_v2)                                                                                \
    X(cuCtxGetCurrent)                                                                             \
    X(cuCtxGetDevice)
#include "tests/bench/bench.h"

#define SIZE ((size_t)4 << 20)

static CUdeviceptr *live;

static void pair(void)
{
    CUdeviceptr address;

    if (p_cuMemAlloc_v2(&address, SIZE) != CUDA_SUCCESS || p_cuMemFree_v2(address) != CUDA_SUCCESS)
        exit(1);
}

static void calls(void)
{
    CUcontext context;
    CUdevice device;

    for (int i = 0; i < 3; i++)
        p_cuCtxGetCurrent(&context);
    p_cuCtxGetDevice(&device);
    p_cuCtxSynchronize();
}

static void one_round(const char *mode, size_t count, size_t round)
{
    size_t i = round * 7919 % count;

    if (!strcmp(mode, "calls")) {
        calls();
    } else if (!strcmp(mode, "pair")) {
        pair();
    } else if (p_cuMemFree_v2(live[i]) != CUDA_SUCCESS ||
               p_cuMemAlloc_v2(&live[i], SIZE) != CUDA_SUCCESS) {
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct timespec begin;
    size_t count, rounds;

    if (argc != 4)
        return fprintf(stderr, "usage: memory MODE LIVE ROUNDS\n"), 2;
    count = strtoull(argv[2], NULL, 10);
    rounds = strtoull(argv[3], NULL, 10);
    bench_open();
    live = calloc(count, sizeof(*live));
    for (size_t i = 0; i < count; i++)
        MUST(p_cuMemAlloc_v2(&live[i], SIZE));
    pair();
    begin = bench_begin();
    for (size_t i = 0; i < rounds; i++)
        one_round(argv[1], count, i);
    bench_end(begin, rounds);
    return 0;
}
