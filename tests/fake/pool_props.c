/* Memory pools themselves: creation, what can be set, who has access, which one a device uses. */
#include "tests/fake/vmm_fixture.h"

static CUmemPoolProps props_on(int device)
{
    return (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static CUmemoryPool pool_on(int device)
{
    CUmemPoolProps props = props_on(device);
    CUmemoryPool pool = NULL;

    OK(cuMemPoolCreate(&pool, &props));
    return pool;
}

static CUcontext start_two(void)
{
    setenv("FAKEVMM_DEVICES", "2", 1);
    return start();
}

static CUmemoryPool current(int device)
{
    CUmemoryPool pool = NULL;

    OK(cuDeviceGetMemPool(&pool, device));
    return pool;
}

static CUmemoryPool original(int device)
{
    CUmemoryPool pool = NULL;

    OK(cuDeviceGetDefaultMemPool(&pool, device));
    return pool;
}

/* ---- creation ---- */

TEST(pool_props, creation_arguments)
{
    CUmemPoolProps good = props_on(0), bad;
    CUmemoryPool pool;

    start();
    T_EQ(cuMemPoolCreate(NULL, &good), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolCreate(&pool, NULL), CUDA_ERROR_INVALID_VALUE);
    bad = good, bad.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    T_EQ(cuMemPoolCreate(&pool, &bad), CUDA_ERROR_INVALID_VALUE);
    bad = good, bad.location.id = 7;
    T_EQ(cuMemPoolCreate(&pool, &bad), CUDA_ERROR_INVALID_VALUE);
    bad = good, bad.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    T_EQ(cuMemPoolCreate(&pool, &bad), CUDA_ERROR_INVALID_VALUE);
    bad = good, bad.location.type = CU_MEM_LOCATION_TYPE_HOST;
    bad.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    T_EQ(cuMemPoolCreate(&pool, &bad), CUDA_ERROR_INVALID_VALUE);
    bad = good, bad.reserved[53] = 1;
    T_EQ(cuMemPoolCreate(&pool, &bad), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemPoolCreate(&pool, &good));
    OK(cuMemPoolDestroy(pool));
    T_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolDestroy(NULL), CUDA_ERROR_INVALID_VALUE);
}

/* A destroyed pool lives on for its allocations, though nobody can name it. */
TEST(pool_props, destroyed_with_allocations)
{
    cuuint64_t value;
    CUdeviceptr p;

    start();
    size_t before = free_memory();
    CUmemoryPool pool = pool_on(0);
    CUstream stream = new_stream(0);
    OK(cuMemAllocFromPoolAsync(&p, 64, pool, stream));
    OK(cuMemPoolDestroy(pool));
    T_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocFromPoolAsync(&p, 64, pool, stream), CUDA_ERROR_INVALID_VALUE);
    set_word(p, 3);
    T_EQ(word_at(p), 3);
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(free_memory(), before);
}

/* ---- attributes ---- */

TEST(pool_props, attributes)
{
    cuuint64_t big = 1;
    int flag = -1;

    start();
    CUmemoryPool pool = pool_on(0);
    for (CUmemPool_attribute it = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
         it <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES; it++) {
        OK(cuMemPoolGetAttribute(pool, it, &flag));
        T_EQ(flag, 1); /* enabled by default */
        flag = 0;
        OK(cuMemPoolSetAttribute(pool, it, &flag));
        flag = -1;
        OK(cuMemPoolGetAttribute(pool, it, &flag));
        T_EQ(flag, 0);
    }
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &big));
    T_EQ(big, 0);
    T_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &big),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &big),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)0, &big), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)99, &big), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, NULL),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolGetAttribute(NULL, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &big),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolTrimTo(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

/* A watermark can only be set to zero, and says then what is in use since. */
TEST(pool_props, high_watermarks)
{
    cuuint64_t one = 1, zero = 0, high = 0;
    CUdeviceptr p, q;

    start();
    CUmemoryPool pool = pool_on(0);
    CUstream stream = new_stream(0);
    OK(cuMemAllocFromPoolAsync(&p, 8 * MIB, pool, stream));
    OK(cuMemAllocFromPoolAsync(&q, 2 * MIB, pool, stream));
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one),
         CUDA_ERROR_INVALID_VALUE);
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
    T_EQ(high, 10 * MIB);
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
    T_EQ(high, 2 * MIB);
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &high));
    T_LT(high, 10 * MIB);
}

/* ---- access ---- */

static CUresult set_pool_access(CUmemoryPool pool, int device, CUmemAccess_flags flags)
{
    CUmemAccessDesc access = access_of(device, flags);

    return cuMemPoolSetAccess(pool, &access, 1);
}

static CUmemAccess_flags pool_access(CUmemoryPool pool, int device)
{
    CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_MAX;

    OK(cuMemPoolGetAccess(&flags, pool, &location));
    return flags;
}

TEST(pool_props, access_of_another_device)
{
    CUcontext second;
    CUdeviceptr p;

    start_two();
    CUmemoryPool pool = pool_on(0);
    CUstream stream = new_stream(0);
    T_EQ(pool_access(pool, 0), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    T_EQ(pool_access(pool, 1), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(cuMemAllocFromPoolAsync(&p, 64, pool, stream));
    OK(cuStreamSynchronize(stream));
    OK(set_pool_access(pool, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    T_EQ(pool_access(pool, 1), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuCtxCreate_v2(&second, 0, 1));
    OK(put(p, 11)); /* on device 1, to memory that was there before */
    T_EQ(word_at(p), 11);
    OK(set_pool_access(pool, 1, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    T_EQ(put(p, 12), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* A pool may be another device's than the stream's. */
TEST(pool_props, pool_of_another_device)
{
    CUdeviceptr p;
    int ordinal = -1;

    start_two();
    CUstream stream = new_stream(0);
    CUmemoryPool pool = pool_on(1);
    OK(cuMemAllocFromPoolAsync(&p, 64, pool, stream));
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    T_EQ(ordinal, 1);
    OK(set_pool_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuMemsetD32Async(p, 4, 1, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(word_at(p), 4);
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
}

TEST(pool_props, access_arguments)
{
    CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, 9};
    CUmemAccess_flags flags;

    start_two();
    CUmemoryPool pool = pool_on(0);
    T_EQ(set_pool_access(NULL, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE), CUDA_ERROR_INVALID_VALUE);
    T_EQ(set_pool_access(pool, 9, CU_MEM_ACCESS_FLAGS_PROT_READWRITE), CUDA_ERROR_INVALID_VALUE);
    T_EQ(set_pool_access(pool, 1, (CUmemAccess_flags)2), CUDA_ERROR_INVALID_VALUE);
    T_EQ(set_pool_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolSetAccess(pool, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolGetAccess(&flags, pool, &location), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolGetAccess(NULL, pool, &location), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemPoolGetAccess(&flags, pool, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* ---- which one ---- */

TEST(pool_props, of_a_device)
{
    CUmemoryPool pool, of_memory = NULL;
    CUdeviceptr p;

    start_two();
    T_PTR_EQ(current(0), original(0));
    T_ASSERT(original(0) != original(1));
    T_EQ(cuMemPoolDestroy(original(0)), CUDA_ERROR_INVALID_VALUE);
    pool = pool_on(0);
    T_EQ(cuDeviceSetMemPool(1, pool), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuDeviceSetMemPool(0, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceSetMemPool(0, pool));
    T_PTR_EQ(current(0), pool);
    OK(cuMemAllocAsync(&p, 64, NULL));
    OK(cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    T_PTR_EQ(of_memory, pool);
    OK(cuMemPoolDestroy(pool));
    T_PTR_EQ(current(0), original(0));
    T_EQ(cuDeviceGetMemPool(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuDeviceGetDefaultMemPool(&pool, 7), CUDA_ERROR_INVALID_DEVICE);
}

TEST(pool_props, of_a_location)
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0},
                  current_node = {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0}, none = {0, 0};
    CUmemoryPool pool = NULL, other;

    start();
    OK(cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    T_PTR_EQ(pool, original(0));
    other = pool_on(0);
    OK(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, other));
    T_PTR_EQ(current(0), other);
    OK(cuMemGetMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    T_PTR_EQ(pool, other);
    T_EQ(cuMemGetMemPool(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemGetMemPool(&pool, &current_node, CU_MEM_ALLOCATION_TYPE_PINNED),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemGetMemPool(&pool, &none, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemGetMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_INVALID), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemGetMemPool(&pool, NULL, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_ERROR_INVALID_VALUE);
}
