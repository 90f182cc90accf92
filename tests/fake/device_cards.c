/* FAKEVMM_DEVICE: the cards that can be played, and the variables that are refused. Figures are
 * those of the CUDA programming guide's table of compute capabilities and of the cards' data
 * sheets. */
#include <time.h>

#include "tests/fake/vmm_fixture.h"

static struct expected {
    const char *name;
    int major, minor, processors, threads, blocks;
    int shared, shared_optin; /* KiB: of a multiprocessor, of a block that asks */
    int memory;               /* GiB */
} const expected[] = {
    {"v100", 7, 0, 80, 2048, 32, 96, 96, 32},    {"t4", 7, 5, 40, 1024, 16, 64, 64, 16},
    {"a100", 8, 0, 108, 2048, 32, 164, 163, 80}, {"l4", 8, 9, 58, 1536, 24, 100, 99, 24},
    {"h100", 9, 0, 132, 2048, 32, 228, 227, 80}, {"h200", 9, 0, 132, 2048, 32, 228, 227, 141},
};

static const struct expected *now;

static int attribute(CUdevice_attribute attribute)
{
    int value = -1;

    OK(cuDeviceGetAttribute(&value, attribute, 0));
    return value;
}

static void check_card(void)
{
    int major, minor;
    size_t bytes;

    start();
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    T_EQ(major, now->major);
    T_EQ(minor, now->minor);
    T_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), now->major);
    T_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), now->processors);
    T_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR), now->threads);
    T_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), now->blocks);
    T_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), now->shared << 10);
    T_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), now->shared_optin << 10);
    T_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), 48 << 10);
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    T_EQ(bytes, (size_t)now->memory << 30);
    if (now->major * 10 + now->minor >= 75) /* what the PTX is written for */
        OK(put(allocate(4), 1));
    child_say("done");
}

TEST(device_cards, figures)
{
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct child child;
        now = &expected[i];
        setenv("FAKEVMM_DEVICE", now->name, 1);
        child = in_child(check_card);
        T_STR_EQ(child.err, "");
        T_STR_EQ(child.said, "done");
    }
}

static size_t granule;

static void check_granularity(void)
{
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base = 0;
    size_t got = 0;

    start();
    OK(cuMemGetAllocationGranularity(&got, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    T_EQ(got, granule);
    OK(cuMemGetAllocationGranularity(&got, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    T_EQ(got % granule, 0);
    T_EQ(cuMemCreate(&handle, granule / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    handle = create_on(0, granule);
    OK(cuMemAddressReserve(&base, 2 * granule, granule, 0, 0));
    T_EQ(base % granule, 0);
    T_EQ(cuMemMap(base + granule / 2, granule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemMap(base + granule, granule, 0, handle, 0));
    allow(base + granule, granule, 0);
    OK(put(base + 2 * granule - 4, 9));
    T_EQ(word_at(base + 2 * granule - 4), 9);
    OK(cuMemUnmap(base + granule, granule));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(base, 2 * granule));
    child_say("done");
}

TEST(device_cards, granularities)
{
    static const struct {
        const char *name;
        size_t granule;
    } cards[] = {{"gran64k", 64 << 10}, {"a100", 2 << 20}, {"gran512m", 512 << 20}};

    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        granule = cards[i].granule;
        setenv("FAKEVMM_DEVICE", cards[i].name, 1);
        T_STR_EQ(in_child(check_granularity).said, "done");
    }
}

static void check_memory(void)
{
    size_t bytes;

    start();
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    T_EQ(bytes, (size_t)1 << 30);
    child_say("done");
}

TEST(device_cards, memory_can_be_less)
{
    setenv("FAKEVMM_DEVICE", "t4", 1);
    setenv("FAKEVMM_MEMORY", "1G", 1);
    T_STR_EQ(in_child(check_memory).said, "done");
}

/* ---- what is refused ---- */

static void init(void)
{
    cuInit(0);
}

static void refused(const char *name, const char *value, const char *remedy)
{
    struct child child;

    setenv(name, value, 1);
    child = in_child(init);
    unsetenv(name);
    T_EQ(child.exit_code, 2);
    T_STR_HAS(child.err, name);
    T_STR_HAS(child.err, value);
    T_STR_HAS(child.err, remedy);
}

TEST(device_cards, settings_that_are_refused)
{
    refused("FAKEVMM_DEVICE", "gtx", "use one of v100 t4 a100 l4 h100 h200 gran64k gran512m");
    refused("FAKEVMM_COST", "yes", "use model");
    refused("FAKEVMM_DELAY_US", "-1", "use microseconds");
    refused("FAKEVMM_DELAY_US", "1ms", "use microseconds");
    refused("FAKEVMM_DEVICES", "17", "use a number from 0 to 16");
    refused("FAKEVMM_MEMORY", "lots", "use a number of bytes");
    refused("FAKEVMM_VA", "random", "use churn or lifo");
    refused("FAKEVMM_DRIVER", "9", "use 11080, 12000, 12040 or 13000");
    refused("FAKEVMM_FAULT", "cuNothing:1", "no such exported function");
    refused("FAKEVMM_LEAKS", "2", "use 1 or 0");
}

/* ---- time ---- */

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Two kernels of a stream one after the other: at least twice the time. */
static void two_kernels(void)
{
    unsigned v = 1;
    double before;

    start();
    CUdeviceptr p = allocate(4);
    CUfunction function = kernel("put");
    before = seconds();
    launch(function, NULL, (void *[]){&p, &v});
    launch(function, NULL, (void *[]){&p, &v});
    OK(cuCtxSynchronize());
    child_say("%d", seconds() - before >= 0.1);
}

TEST(device_cards, kernels_can_take_longer)
{
    setenv("FAKEVMM_DELAY_US", "50000", 1);
    T_STR_EQ(in_child(two_kernels).said, "1");
}

/* 29 us and 23 us are published for the A100: 50 pairs take 2.6 ms at the very least. */
static void fifty_creations(void)
{
    double before;

    start();
    before = seconds();
    for (int i = 0; i < 50; i++)
        OK(cuMemRelease(create_on(0, GRANULE)));
    child_say("%d", seconds() - before >= 0.0026);
}

TEST(device_cards, calls_can_cost_what_they_do)
{
    setenv("FAKEVMM_DEVICE", "a100", 1);
    setenv("FAKEVMM_COST", "model", 1);
    T_STR_EQ(in_child(fifty_creations).said, "1");
}
