/* Memory pools, stream-ordered allocation and managed memory through the fake runtime, by their
 * documentation. */
#include "tests/fake/cudart_kernels.h"

static struct cudaMemPoolProps on_device(int device)
{
    return (struct cudaMemPoolProps){
        .allocType = cudaMemAllocationTypePinned,
        .location = {.type = cudaMemLocationTypeDevice, .id = device},
    };
}

/* ---- pools ---- */

TEST(cudart_pool, a_device_has_a_pool)
{
    cudaMemPool_t first = NULL, current = NULL, own = NULL;
    struct cudaMemPoolProps props = on_device(0);

    OK(cudaDeviceGetDefaultMemPool(&first, 0));
    T_NOT_NULL(first);
    OK(cudaDeviceGetMemPool(&current, 0));
    T_PTR_EQ(current, first);
    OK(cudaMemPoolCreate(&own, &props));
    OK(cudaDeviceSetMemPool(0, own));
    OK(cudaDeviceGetMemPool(&current, 0));
    T_PTR_EQ(current, own);
    OK(cudaDeviceGetDefaultMemPool(&current, 0));
    T_PTR_EQ(current, first);
    OK(cudaDeviceSetMemPool(0, first));
    OK(cudaMemPoolDestroy(own));
    T_EQ(cudaDeviceGetDefaultMemPool(&first, 999), cudaErrorInvalidDevice);
}

TEST(cudart_pool, memory_comes_from_the_pool_that_is_asked)
{
    cudaMemPool_t pool = NULL;
    struct cudaMemPoolProps props = on_device(0);
    cudaStream_t stream;
    void *memory = NULL;
    uint64_t used = 99;
    unsigned char out[16] = {0};

    OK(cudaStreamCreate(&stream));
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMallocFromPoolAsync(&memory, 4096, pool, stream));
    T_NOT_NULL(memory);
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    T_GE(used, 4096);
    OK(cudaMemsetAsync(memory, 0x5a, 4096, stream));
    OK(cudaMemcpyAsync(out, memory, sizeof out, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(memory, stream));
    OK(cudaStreamSynchronize(stream));
    T_EQ(out[15], 0x5a);
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    T_EQ(used, 0);
    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaMemPoolDestroy(pool));
    OK(cudaStreamDestroy(stream));
}

TEST(cudart_pool, attributes_and_access_can_be_set)
{
    cudaMemPool_t pool = NULL;
    struct cudaMemPoolProps props = on_device(0);
    struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0};
    struct cudaMemAccessDesc access = {.location = {.type = cudaMemLocationTypeDevice, .id = 1},
                                       .flags = cudaMemAccessFlagsProtReadWrite};
    enum cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    uint64_t threshold = 1 << 20;

    setenv("FAKEVMM_DEVICES", "2", 1);
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    threshold = 0;
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    T_EQ(threshold, 1 << 20);
    OK(cudaMemPoolGetAccess(&flags, pool, &here));
    T_EQ(flags, cudaMemAccessFlagsProtReadWrite);
    OK(cudaMemPoolSetAccess(pool, &access, 1));
    OK(cudaMemPoolGetAccess(&flags, pool, &access.location));
    T_EQ(flags, cudaMemAccessFlagsProtReadWrite);
    OK(cudaMemPoolDestroy(pool));
    T_EQ(cudaMemPoolCreate(&pool, NULL), cudaErrorInvalidValue);
}

TEST(cudart_pool, a_location_has_a_pool)
{
    struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0};
    cudaMemPool_t first = NULL, found = NULL, own = NULL;
    struct cudaMemPoolProps props = on_device(0);

    OK(cudaDeviceGetDefaultMemPool(&first, 0));
    OK(cudaMemGetDefaultMemPool(&found, &here, cudaMemAllocationTypePinned));
    T_PTR_EQ(found, first);
    OK(cudaMemPoolCreate(&own, &props));
    OK(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, own));
    OK(cudaMemGetMemPool(&found, &here, cudaMemAllocationTypePinned));
    T_PTR_EQ(found, own);
    OK(cudaMemPoolDestroy(own));
    OK(cudaMemGetMemPool(&found, &here, cudaMemAllocationTypePinned));
    T_PTR_EQ(found, first); /* the pool that is gone is replaced by the default one */
}

/* ---- managed memory ---- */

TEST(cudart_pool, managed_memory_is_both_sides)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t add = NULL;
    struct cudaPointerAttributes attributes;
    unsigned *data = NULL, value = 5;
    void *args[] = {&data, &value};

    OK(cudaMallocManaged((void **)&data, 2 * sizeof *data, cudaMemAttachGlobal));
    data[0] = 1;
    data[1] = 2;
    OK(cudaLibraryLoadData(&library, cudart_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&add, library, "add"));
    OK(cudaLaunchKernel((void *)add, ONE_BLOCK(2), args, 0, NULL));
    OK(cudaDeviceSynchronize());
    T_EQ(data[0], 6);
    T_EQ(data[1], 7);
    OK(cudaPointerGetAttributes(&attributes, data));
    T_EQ(attributes.type, cudaMemoryTypeManaged);
    T_PTR_EQ(attributes.devicePointer, data);
    T_PTR_EQ(attributes.hostPointer, data);
    OK(cudaFree(data));
    OK(cudaLibraryUnload(library));
}

TEST(cudart_pool, managed_memory_needs_a_size_and_an_association)
{
    void *memory = NULL;

    T_EQ(cudaMallocManaged(&memory, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
    T_EQ(cudaMallocManaged(NULL, 16, cudaMemAttachGlobal), cudaErrorInvalidValue);
    T_EQ(cudaMallocManaged(&memory, 16, cudaMemAttachSingle), cudaErrorInvalidValue);
    T_EQ(cudaMallocManaged(&memory, 16, 0), cudaErrorInvalidValue);
    OK(cudaMallocManaged(&memory, 16, cudaMemAttachHost));
    OK(cudaFree(memory));
}

TEST(cudart_pool, advice_is_remembered)
{
    struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice, .id = 0};
    void *memory = NULL;
    int mostly = -1;

    OK(cudaMallocManaged(&memory, 1 << 16, cudaMemAttachGlobal));
    OK(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, memory,
                                1 << 16));
    T_EQ(mostly, 0);
    OK(cudaMemAdvise(memory, 1 << 16, cudaMemAdviseSetReadMostly, device));
    OK(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, memory,
                                1 << 16));
    T_EQ(mostly, 1);
    OK(cudaMemPrefetchAsync(memory, 1 << 16, device, 0, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(memory));
}

TEST(cudart_pool, managed_memory_can_be_attached_to_a_stream)
{
    cudaStream_t stream;
    void *memory = NULL;

    OK(cudaStreamCreate(&stream));
    OK(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal));
    OK(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
    OK(cudaStreamAttachMemAsync(stream, memory, 4096, cudaMemAttachGlobal));
    OK(cudaStreamSynchronize(stream));
    T_EQ(cudaStreamAttachMemAsync(NULL, memory, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
    OK(cudaFree(memory));
    OK(cudaStreamDestroy(stream));
}

TEST(cudart_pool, ranges_are_prefetched_and_discarded_in_batches)
{
    struct cudaMemLocation device = {.type = cudaMemLocationTypeDevice, .id = 0};
    void *memory[2] = {NULL, NULL}, *answers[2];
    size_t sizes[2] = {1 << 16, 1 << 16}, first = 0, bytes[2] = {sizeof(int), sizeof(int)};
    int where = -3, mostly = -3;
    enum cudaMemRangeAttribute which[2] = {cudaMemRangeAttributeLastPrefetchLocation,
                                           cudaMemRangeAttributeReadMostly};
    cudaStream_t stream;

    OK(cudaStreamCreate(&stream));
    OK(cudaMallocManaged(&memory[0], sizes[0], cudaMemAttachGlobal));
    OK(cudaMallocManaged(&memory[1], sizes[1], cudaMemAttachGlobal));
    OK(cudaMemPrefetchBatchAsync(memory, sizes, 2, &device, &first, 1, 0, stream));
    OK(cudaStreamSynchronize(stream));
    answers[0] = &where;
    answers[1] = &mostly;
    OK(cudaMemRangeGetAttributes(answers, bytes, which, 2, memory[1], sizes[1]));
    T_EQ(where, 0);
    T_EQ(mostly, 0);
    OK(cudaMemDiscardBatchAsync(memory, sizes, 2, 0, stream));
    OK(cudaMemDiscardAndPrefetchBatchAsync(memory, sizes, 2, &device, &first, 1, 0, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaFree(memory[0]));
    OK(cudaFree(memory[1]));
    OK(cudaStreamDestroy(stream));
}
