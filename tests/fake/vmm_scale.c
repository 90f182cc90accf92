/* Sizes beyond the usual: very many allocations at once, addresses that come and go in every order
 * and size, and devices whose granularity is not 2 MiB. */
#include "tests/fake/vmm_fixture.h"

#define MANY 100000

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Quadratic time would not end here. */
static void many_allocations(const char *order)
{
    static CUdeviceptr p[MANY];
    unsigned state = 1;
    size_t size = 0;

    setenv("FAKEVMM_VA", order, 1);
    start();
    for (int i = 0; i < MANY; i++)
        OK(cuMemAlloc_v2(&p[i], 64));
    for (int i = 0; i < MANY; i++) { /* a shuffle */
        int other = (int)(next_random(&state) % MANY);
        CUdeviceptr kept = p[i];
        p[i] = p[other];
        p[other] = kept;
    }
    for (int i = 0; i < MANY; i += 2) {
        OK(cuMemFree_v2(p[i]));
        OK(cuMemAlloc_v2(&p[i], 64));
    }
    for (int i = 0; i < MANY; i++) {
        CUdeviceptr base = 0;
        OK(cuMemGetAddressRange_v2(&base, &size, p[i] + 63));
        T_EQ(base, p[i]);
        T_EQ(size, 64);
    }
    for (int i = 0; i < MANY; i++)
        OK(cuMemFree_v2(p[i]));
    T_EQ(cuMemGetAddressRange_v2(NULL, NULL, p[0]), CUDA_ERROR_NOT_FOUND);
}

TEST(vmm_scale, many_allocations_churn)
{
    many_allocations("churn");
}

TEST(vmm_scale, many_allocations_lifo)
{
    many_allocations("lifo");
}

/* Sizes from 1 byte to 5 MiB; no two live allocations share an address. */
static void mixed(const char *order)
{
    enum { SLOTS = 300 };
    struct {
        CUdeviceptr base;
        size_t size;
    } live[SLOTS] = {{0}};
    unsigned state = 7;

    setenv("FAKEVMM_VA", order, 1);
    start();
    for (int step = 0; step < 6000; step++) {
        unsigned i = next_random(&state) % SLOTS, shift = next_random(&state) % 22;
        if (live[i].base)
            OK(cuMemFree_v2(live[i].base));
        live[i].size = 1 + next_random(&state) % ((size_t)5 << (shift > 20 ? 20 : shift));
        OK(cuMemAlloc_v2(&live[i].base, live[i].size));
        for (int j = 0; j < SLOTS; j++) {
            bool apart = !live[j].base || (unsigned)j == i ||
                         live[j].base >= live[i].base + live[i].size ||
                         live[i].base >= live[j].base + live[j].size;
            T_ASSERT(apart, "step %d: %u and %d", step, i, j);
        }
    }
}

TEST(vmm_scale, mixed_sizes_churn)
{
    mixed("churn");
}

TEST(vmm_scale, mixed_sizes_lifo)
{
    mixed("lifo");
}

/* A piece that was freed is used for less; the rest of it comes next. */
TEST(vmm_scale, lifo_splits_what_was_freed_last)
{
    setenv("FAKEVMM_VA", "lifo", 1);
    start();
    CUdeviceptr small = allocate(512), large = allocate(4096);
    OK(cuMemFree_v2(small));
    OK(cuMemFree_v2(large));
    T_EQ(allocate(512), large);
    T_EQ(allocate(512), large + 512);
    T_EQ(allocate(3072), large + 1024);
    T_EQ(allocate(512), small);
}

/* Workers find addresses while the page table changes under them. */
TEST(vmm_scale, work_runs_while_allocations_come_and_go)
{
    enum { ROUNDS = 300 };

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUfunction function = kernel("get");
    CUdeviceptr from = allocate(64), to = allocate(64), kept[ROUNDS], word = 0;
    set_word(from, 99);
    for (int i = 0; i < ROUNDS; i++) {
        kept[i] = allocate(512);
        launch(function, stream, (void *[]){&kept[i], &from});
        OK(cuMemcpyDtoDAsync_v2(to, kept[i], 4, stream));
        OK(cuMemAllocAsync(&word, 64, stream));
        OK(cuMemFreeAsync(word, stream));
    }
    OK(cuStreamSynchronize(stream));
    T_EQ(word_at(to), 99);
    for (int i = 0; i < ROUNDS; i++)
        OK(cuMemFree_v2(kept[i]));
}

/* ---- reservations and handles ---- */

TEST(vmm_scale, thousands_of_reservations_in_any_order)
{
    enum { COUNT = 20000 };
    static CUdeviceptr base[COUNT];
    unsigned state = 3;

    setenv("FAKEVMM_VA", "lifo", 1);
    start();
    for (int i = 0; i < COUNT; i++)
        base[i] = reserve(GRANULE);
    for (int i = 0; i < COUNT; i++) {
        int other = (int)(next_random(&state) % COUNT);
        OK(cuMemAddressFree(base[other], GRANULE));
        base[other] = reserve(GRANULE);
    }
    for (int i = 0; i < COUNT; i++)
        OK(cuMemAddressFree(base[i], GRANULE));
}

/* ---- granularity ---- */

static size_t granularity(CUmemAllocationGranularity_flags which)
{
    CUmemAllocationProp prop = prop_on(0);
    size_t size = 0;

    OK(cuMemGetAllocationGranularity(&size, &prop, which));
    return size;
}

/* Maps two handles side by side, uses, changes and unmaps both in one call each. */
static void with_granularity(const char *device, size_t expected)
{
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle handle;

    setenv("FAKEVMM_DEVICE", device, 1);
    start();
    T_EQ(granularity(CU_MEM_ALLOC_GRANULARITY_MINIMUM), expected);
    T_EQ(granularity(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) % expected, 0);
    T_EQ(cuMemCreate(&handle, expected / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr base = reserve(2 * expected);
    T_EQ(base % expected, 0);
    CUmemGenericAllocationHandle first = create_on(0, expected), second = create_on(0, expected);
    T_EQ(cuMemMap(base + expected / 2, expected, 0, first, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemMap(base, expected / 2, 0, first, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemMap(base, expected, 0, first, 0));
    OK(cuMemMap(base + expected, expected, 0, second, 0));
    allow(base, 2 * expected, 0);
    OK(put(base + expected - 4, 1));
    OK(put(base + expected, 2));
    T_EQ(word_at(base + expected - 4), 1);
    T_EQ(cuMemUnmap(base, expected + expected / 2), CUDA_ERROR_INVALID_VALUE);
    T_EQ(set_access(base + expected / 2, expected, 0, CU_MEM_ACCESS_FLAGS_PROT_READ),
         CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(base, 2 * expected));
    OK(cuMemAddressFree(base, 2 * expected));
    OK(cuMemRelease(first));
    OK(cuMemRelease(second));
}

TEST(vmm_scale, granularity_of_64_KiB)
{
    with_granularity("gran64k", (size_t)64 << 10);
}

TEST(vmm_scale, granularity_of_2_MiB)
{
    with_granularity("h100", 2 * MIB);
}

TEST(vmm_scale, granularity_of_512_MiB)
{
    with_granularity("gran512m", 512 * MIB);
}
