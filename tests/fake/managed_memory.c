/* Managed memory: one address for host and devices, what can be advised about it and asked. */
#include "tests/fake/vmm_fixture.h"

#define PAGE 4096

static CUdeviceptr managed(size_t size)
{
    CUdeviceptr address = 0;

    OK(cuMemAllocManaged(&address, size, CU_MEM_ATTACH_GLOBAL));
    return address;
}

static CUcontext start_two(void)
{
    setenv("FAKEVMM_DEVICES", "2", 1);
    return start();
}

static int range_value(CUmem_range_attribute attribute, CUdeviceptr base, size_t size)
{
    int value = -77;

    OK(cuMemRangeGetAttribute(&value, sizeof value, attribute, base, size));
    return value;
}

static CUmemLocation on(CUmemLocationType type, int id)
{
    return (CUmemLocation){type, id};
}

/* ---- allocation ---- */

TEST(managed_memory, host_and_device_share_it)
{
    start();
    CUdeviceptr p = managed(3 * PAGE + 5);
    unsigned *words = (unsigned *)p;
    words[1] = 41;
    OK(get(p, p + 4)); /* the device reads what the host has written */
    T_EQ(words[0], 41);
    OK(cuMemsetD8_v2(p, 7, 3 * PAGE + 5));
    OK(cuCtxSynchronize());
    T_EQ(((unsigned char *)p)[3 * PAGE + 4], 7);
    CUdeviceptr q = allocate(64);
    OK(cuMemcpyDtoD_v2(q, p, 64));
    T_EQ(word_at(q), 0x07070707);
    OK(cuMemFree_v2(p));
    T_EQ(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    T_EQ(put(p, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(managed_memory, beyond_its_end)
{
    start();
    CUdeviceptr p = managed(64);
    T_EQ(cuMemsetD8_v2(p, 0, 65), CUDA_ERROR_INVALID_VALUE);
    T_EQ(put(p + 64, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(managed_memory, arguments)
{
    CUdeviceptr p;

    start();
    T_EQ(cuMemAllocManaged(NULL, 64, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocManaged(&p, 64, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_HOST));
    T_EQ(cuMemFreeAsync(p, new_stream(0)), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemFreeHost((void *)p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(p));
}

TEST(managed_memory, the_device_says_it_can)
{
    int value = 0;

    start();
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0));
    T_EQ(value, 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 0));
    T_EQ(value, 1);
}

/* May be larger than the device: only touched pages cost anything. */
TEST(managed_memory, oversubscription)
{
    setenv("FAKEVMM_MEMORY", "16M", 1);
    start();
    CUdeviceptr p = managed((size_t)1 << 32);
    *(unsigned *)(p + ((size_t)1 << 32) - 4) = 6;
    OK(get(p, p + ((size_t)1 << 32) - 4));
    T_EQ(*(unsigned *)p, 6);
    OK(cuMemFree_v2(p));
}

TEST(managed_memory, pointer_attributes)
{
    bool flag = false;
    void *host = NULL;
    CUdeviceptr device = 0;

    start();
    CUdeviceptr p = managed(64);
    OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, p + 8));
    T_ASSERT(flag);
    OK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p + 8));
    T_PTR_EQ(host, (void *)(p + 8));
    OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 8));
    T_EQ(device, p + 8);
    OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, allocate(64)));
    T_ASSERT(!flag);
}

TEST(managed_memory, goes_with_its_context)
{
    CUcontext context = start();
    CUdeviceptr p = managed(64);
    bool flag;

    OK(cuCtxDestroy_v2(context));
    start();
    T_EQ(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, p),
         CUDA_ERROR_INVALID_VALUE);
}

TEST(managed_memory, attach)
{
    start();
    CUstream stream = new_stream(0);
    CUdeviceptr p = managed(1000);
    OK(cuStreamAttachMemAsync(stream, p, 0, CU_MEM_ATTACH_SINGLE));
    OK(cuStreamAttachMemAsync(stream, p, 1000, CU_MEM_ATTACH_HOST));
    OK(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_GLOBAL));
    T_NE(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_SINGLE), CUDA_SUCCESS);
    T_NE(cuStreamAttachMemAsync(stream, p, 999, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    T_NE(cuStreamAttachMemAsync(stream, p, 0, 8), CUDA_SUCCESS);
    T_NE(cuStreamAttachMemAsync(stream, allocate(64), 0, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
}

/* ---- advice ---- */

TEST(managed_memory, nothing_is_advised_at_first)
{
    int devices[2] = {0, 0};

    start();
    CUdeviceptr p = managed(8 * PAGE);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 8 * PAGE), 0);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 8 * PAGE), CU_DEVICE_INVALID);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 1), CU_DEVICE_INVALID);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, 1),
         CU_MEM_LOCATION_TYPE_INVALID);
    OK(cuMemRangeGetAttribute(devices, sizeof devices, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 1));
    T_EQ(devices[0], CU_DEVICE_INVALID);
    T_EQ(devices[1], CU_DEVICE_INVALID);
}

/* An answer is about all pages of the range; advice covers whole pages. */
TEST(managed_memory, advice_for_part)
{
    start();
    CUdeviceptr p = managed(8 * PAGE);
    OK(cuMemAdvise(p + 2 * PAGE + 5, 2 * PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 2 * PAGE, 3 * PAGE), 1);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 2 * PAGE - 1, PAGE), 0);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4 * PAGE, PAGE + 1), 0);
    OK(cuMemAdvise(p, 3 * PAGE, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 2 * PAGE, PAGE), 0);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 3 * PAGE, 2 * PAGE), 1);
}

TEST(managed_memory, preferred_location)
{
    start_two();
    CUdeviceptr p = managed(4 * PAGE);
    OK(cuMemAdvise(p, 4 * PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 1));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 4 * PAGE), 1);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, 4 * PAGE),
         CU_MEM_LOCATION_TYPE_DEVICE);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, 4 * PAGE), 1);
    OK(cuMemAdvise_v2(p, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                      on(CU_MEM_LOCATION_TYPE_HOST, 55)));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, PAGE), CU_DEVICE_CPU);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 2 * PAGE), CU_DEVICE_INVALID);
    OK(cuMemAdvise_v2(p, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                      on(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, PAGE),
         CU_MEM_LOCATION_TYPE_HOST_NUMA);
    OK(cuMemAdvise(p, 4 * PAGE, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 4 * PAGE), CU_DEVICE_INVALID);
}

TEST(managed_memory, accessed_by)
{
    int devices[4];

    start_two();
    CUdeviceptr p = managed(2 * PAGE);
    OK(cuMemAdvise(p, 2 * PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, 1));
    OK(cuMemAdvise(p, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, 0));
    OK(cuMemRangeGetAttribute(devices, 12, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 2 * PAGE));
    T_EQ(devices[0], 1);
    T_EQ(devices[1], CU_DEVICE_INVALID);
    T_EQ(devices[2], CU_DEVICE_INVALID);
    OK(cuMemAdvise(p, PAGE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, 1));
    OK(cuMemAdvise(p, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
    OK(cuMemRangeGetAttribute(devices, 16, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, PAGE));
    T_ASSERT((devices[0] == 0 && devices[1] == CU_DEVICE_CPU) ||
             (devices[1] == 0 && devices[0] == CU_DEVICE_CPU));
    T_EQ(devices[2], CU_DEVICE_INVALID);
    T_EQ(cuMemRangeGetAttribute(devices, 6, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, PAGE),
         CUDA_ERROR_INVALID_VALUE);
}

TEST(managed_memory, advice_arguments)
{
    start();
    CUdeviceptr p = managed(PAGE), plain = allocate(64);
    int value, stack = 0;

    T_EQ(cuMemAdvise(plain, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAdvise((CUdeviceptr)&stack, 4, CU_MEM_ADVISE_SET_READ_MOSTLY, 0),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAdvise(p, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAdvise(p, PAGE + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAdvise(p, PAGE, (CUmem_advise)77, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAdvise(p, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 5), CUDA_ERROR_INVALID_DEVICE);
    OK(cuMemAdvise(p, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, 5)); /* ignored for this advice */
    T_EQ(cuMemAdvise_v2(p, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY,
                        on(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0)),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemRangeGetAttribute(&value, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, PAGE),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, PAGE),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemRangeGetAttribute(&value, 4, (CUmem_range_attribute)9, p, PAGE),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, 64),
         CUDA_ERROR_INVALID_VALUE);
}

TEST(managed_memory, several_attributes)
{
    CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                     CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION};
    int first = -77, second = -77;
    void *out[] = {&first, &second};
    size_t sizes[] = {4, 4};

    start();
    CUdeviceptr p = managed(PAGE);
    OK(cuMemPrefetchAsync(p, PAGE, 0, NULL));
    OK(cuMemRangeGetAttributes(out, sizes, which, 2, p, PAGE));
    T_EQ(first, 0);
    T_EQ(second, 0);
    sizes[1] = 2;
    T_EQ(cuMemRangeGetAttributes(out, sizes, which, 2, p, PAGE), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemRangeGetAttributes(NULL, sizes, which, 2, p, PAGE), CUDA_ERROR_INVALID_VALUE);
}

/* ---- prefetching and discarding ---- */

TEST(managed_memory, prefetch)
{
    start();
    CUstream stream = new_stream(0);
    CUdeviceptr p = managed(4 * PAGE);
    *(unsigned *)p = 5;
    OK(cuMemPrefetchAsync(p, 4 * PAGE, 0, stream));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 4 * PAGE), 0);
    OK(cuMemPrefetchAsync_v2(p, PAGE, on(CU_MEM_LOCATION_TYPE_HOST, 0), 0, stream));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, PAGE), CU_DEVICE_CPU);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 2 * PAGE),
         CU_DEVICE_INVALID);
    OK(cuStreamSynchronize(stream));
    T_EQ(*(unsigned *)p, 5);
    T_EQ(cuMemPrefetchAsync(p, PAGE, 5, stream), CUDA_ERROR_INVALID_DEVICE);
    T_EQ(cuMemPrefetchAsync(allocate(64), 64, 0, stream), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPrefetchAsync_v2(p, PAGE, on(CU_MEM_LOCATION_TYPE_DEVICE, 0), 1, stream),
         CUDA_ERROR_INVALID_VALUE);
}

TEST(managed_memory, prefetch_batch)
{
    CUmemLocation where[] = {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, {CU_MEM_LOCATION_TYPE_HOST, 0}};
    size_t sizes[] = {PAGE, PAGE, PAGE}, first[] = {0, 2}, wrong[] = {1, 2};

    start_two();
    CUstream stream = new_stream(0);
    CUdeviceptr p = managed(PAGE), q = managed(PAGE), r = managed(PAGE), all[] = {p, q, r};
    OK(cuMemPrefetchBatchAsync(all, sizes, 3, where, first, 2, 0, stream));
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, PAGE), 1);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, q, PAGE), 1);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, r, PAGE), CU_DEVICE_CPU);
    T_EQ(cuMemPrefetchBatchAsync(all, sizes, 3, where, wrong, 2, 0, stream),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPrefetchBatchAsync(all, sizes, 1, where, first, 2, 0, stream),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPrefetchBatchAsync(all, sizes, 3, where, first, 2, 1, stream),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPrefetchBatchAsync(all, sizes, 3, where, first, 2, 0, NULL),
         CUDA_ERROR_INVALID_VALUE);
}

/* The old contents are gone in stream order; what is written afterwards stays. */
TEST(managed_memory, discard)
{
    size_t size = PAGE, first = 0;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};

    start();
    CUstream stream = new_stream(0);
    CUdeviceptr p = managed(PAGE), plain = allocate(64);
    *(unsigned *)p = 5;
    OK(cuMemDiscardBatchAsync(&p, &size, 1, 0, stream));
    OK(cuStreamSynchronize(stream));
    T_NE(*(unsigned *)p, 5);
    OK(cuMemDiscardAndPrefetchBatchAsync(&p, &size, 1, &here, &first, 1, 0, stream));
    OK(cuMemsetD32Async(p, 8, 1, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(*(unsigned *)p, 8);
    T_EQ(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, PAGE), 0);
    size = 64;
    T_EQ(cuMemDiscardBatchAsync(&plain, &size, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemDiscardBatchAsync(&p, &size, 1, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemDiscardBatchAsync(NULL, &size, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
}
