/* Reservations, handles and mappings: what each call of cuda.h's virtual memory management does and
 * which misuse it refuses. */
#include "tests/fake/vmm_fixture.h"

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

/* ---- granularity and properties ---- */

TEST(vmm_calls, supported)
{
    int value = 0;

    start();
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    T_EQ(value, 1);
}

TEST(vmm_calls, granularity)
{
    CUmemAllocationProp prop = prop_on(0);
    size_t minimum = 0, recommended = 0;

    start();
    OK(cuMemGetAllocationGranularity(&minimum, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    OK(cuMemGetAllocationGranularity(&recommended, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    T_EQ(minimum, GRANULE);
    T_EQ(recommended % minimum, 0);
    REFUSED(cuMemGetAllocationGranularity(NULL, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    REFUSED(cuMemGetAllocationGranularity(&minimum, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    REFUSED(cuMemGetAllocationGranularity(&minimum, &prop, (CUmemAllocationGranularity_flags)2));
    prop.location.id = 1;
    REFUSED(cuMemGetAllocationGranularity(&minimum, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

TEST(vmm_calls, properties)
{
    CUmemAllocationProp prop = prop_on(0), found;
    CUmemGenericAllocationHandle handle;

    start();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.allocFlags.gpuDirectRDMACapable = 1;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    memset(&found, 0xff, sizeof found);
    OK(cuMemGetAllocationPropertiesFromHandle(&found, handle));
    T_EQ(found.type, CU_MEM_ALLOCATION_TYPE_PINNED);
    T_EQ(found.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
    T_EQ(found.location.id, 0);
    T_EQ(found.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    T_EQ(found.allocFlags.gpuDirectRDMACapable, 1); /* the device attribute says so */
    REFUSED(cuMemGetAllocationPropertiesFromHandle(NULL, handle));
    REFUSED(cuMemGetAllocationPropertiesFromHandle(&found, handle + 12345));
    OK(cuMemRelease(handle));
    REFUSED(cuMemGetAllocationPropertiesFromHandle(&found, handle));
    /* Compression is a hint; whether it was taken is seen here. */
    prop = prop_on(0);
    prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    OK(cuMemGetAllocationPropertiesFromHandle(&found, handle));
    int compresses = 1;
    OK(cuDeviceGetAttribute(&compresses, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0));
    T_EQ(found.allocFlags.compressionType, compresses);
    T_EQ(found.allocFlags.gpuDirectRDMACapable, 0); /* not asked for */
}

/* ---- handles ---- */

TEST(vmm_calls, create_refuses)
{
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle handle;

    start();
    REFUSED(cuMemCreate(NULL, GRANULE, &prop, 0));
    REFUSED(cuMemCreate(&handle, GRANULE, NULL, 0));
    REFUSED(cuMemCreate(&handle, GRANULE, &prop, 1));
    REFUSED(cuMemCreate(&handle, 0, &prop, 0));
    REFUSED(cuMemCreate(&handle, GRANULE - 4096, &prop, 0));
    REFUSED(cuMemCreate(&handle, GRANULE + 1, &prop, 0));
    prop.location.id = 1;
    T_EQ(cuMemCreate(&handle, GRANULE, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
    prop.location.id = -1;
    T_EQ(cuMemCreate(&handle, GRANULE, &prop, 0), CUDA_ERROR_INVALID_DEVICE);
    prop = prop_on(0);
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    REFUSED(cuMemCreate(&handle, GRANULE, &prop, 0));
    prop = prop_on(0);
    prop.win32HandleMetaData = &prop; /* required to be zero without the Windows handle type */
    REFUSED(cuMemCreate(&handle, GRANULE, &prop, 0));
    prop = prop_on(0);
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    REFUSED(cuMemCreate(&handle, GRANULE, &prop, 0));
    prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    REFUSED(cuMemCreate(&handle, GRANULE, &prop, 0));
}

/* What the device's attributes deny. */
TEST(vmm_calls, create_of_what_is_not_supported)
{
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle handle;

    start();
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    T_EQ(cuMemCreate(&handle, GRANULE, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
    prop = prop_on(0);
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    T_EQ(cuMemCreate(&handle, GRANULE, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
    prop = prop_on(0);
    prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
    T_EQ(cuMemCreate(&handle, GRANULE, &prop, 0), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(vmm_calls, before_init)
{
    CUdeviceptr base;

    T_EQ(cuMemAddressReserve(&base, GRANULE, 0, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
}

/* None of these calls lists CUDA_ERROR_INVALID_CONTEXT. */
TEST(vmm_calls, need_no_context)
{
    OK(cuInit(0));
    CUdeviceptr base = map_new(GRANULE);
    OK(cuMemUnmap(base, GRANULE));
    OK(cuMemAddressFree(base, GRANULE));
}

TEST(vmm_calls, release)
{
    CUmemGenericAllocationHandle handle;

    start();
    handle = create_on(0, GRANULE);
    OK(cuMemRelease(handle));
    REFUSED(cuMemRelease(handle));
    REFUSED(cuMemRelease(0));
}

TEST(vmm_calls, handle_values_are_not_used_again)
{
    CUmemGenericAllocationHandle before = 0;

    start();
    for (int i = 0; i < 100; i++) {
        CUmemGenericAllocationHandle handle = create_on(0, GRANULE);
        T_GT(handle, before);
        before = handle;
        OK(cuMemRelease(handle));
    }
}

/* Handles bring no context and die with none. */
TEST(vmm_calls, handles_outlive_contexts)
{
    CUcontext context = start();
    CUdeviceptr base = map_new(GRANULE);

    OK(cuCtxDestroy_v2(context));
    OK(cuCtxCreate_v2(&context, 0, 0));
    set_word(base, 5);
    T_EQ(word_at(base), 5);
}

/* ---- the device's memory ---- */

TEST(vmm_calls, one_limit_for_all_memory)
{
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle handle, more;
    CUdeviceptr address;

    setenv("FAKEVMM_MEMORY", "16M", 1);
    start();
    T_EQ(free_memory(), 16 * MIB);
    OK(cuMemCreate(&handle, 12 * MIB, &prop, 0));
    T_EQ(free_memory(), 4 * MIB);
    T_EQ(cuMemCreate(&more, 6 * MIB, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemAlloc_v2(&address, 6 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc_v2(&address, 4 * MIB));
    T_EQ(cuMemCreate(&more, GRANULE, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree_v2(address));
    OK(cuMemCreate(&more, 4 * MIB, &prop, 0));
    T_EQ(free_memory(), 0);
    OK(cuMemRelease(handle));
    T_EQ(free_memory(), 12 * MIB);
    T_EQ(cuMemCreate(&more, 1 * MIB << 40, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

/* A reservation takes addresses only; memory goes with the last handle and the last mapping. */
TEST(vmm_calls, memory_lives_while_anything_holds_it)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base, second;
    size_t before;

    start();
    before = free_memory();
    base = reserve(64 * MIB);
    second = reserve(64 * MIB);
    T_EQ(free_memory(), before);
    handle = create_on(0, GRANULE);
    T_EQ(free_memory(), before - GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    OK(cuMemMap(second, GRANULE, 0, handle, 0));
    T_EQ(free_memory(), before - GRANULE);
    OK(cuMemRelease(handle)); /* allowed while it is mapped */
    T_EQ(free_memory(), before - GRANULE);
    OK(cuMemUnmap(base, GRANULE));
    T_EQ(free_memory(), before - GRANULE);
    OK(cuMemUnmap(second, GRANULE));
    T_EQ(free_memory(), before);
    handle = create_on(0, GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    OK(cuMemUnmap(base, GRANULE));
    T_EQ(free_memory(), before - GRANULE);
    OK(cuMemRelease(handle));
    T_EQ(free_memory(), before);
}

/* ---- retain ---- */

TEST(vmm_calls, retain)
{
    CUmemGenericAllocationHandle handle, found = 0;
    CUmemAllocationProp prop;
    CUdeviceptr base, plain;
    size_t before;

    start();
    plain = allocate(GRANULE);
    before = free_memory();
    base = reserve(2 * GRANULE);
    handle = create_on(0, GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    OK(cuMemRetainAllocationHandle(&found, (void *)(base + GRANULE - 1)));
    T_EQ(found, handle);
    REFUSED(cuMemRetainAllocationHandle(&found, (void *)(base + GRANULE)));
    REFUSED(cuMemRetainAllocationHandle(&found, (void *)plain));
    REFUSED(cuMemRetainAllocationHandle(&found, NULL));
    REFUSED(cuMemRetainAllocationHandle(&found, &found));
    REFUSED(cuMemRetainAllocationHandle(NULL, (void *)base));
    OK(cuMemUnmap(base, GRANULE));
    OK(cuMemRelease(handle));
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, handle)); /* one reference is left */
    T_EQ(free_memory(), before - GRANULE);
    OK(cuMemRelease(handle));
    T_EQ(free_memory(), before);
    REFUSED(cuMemRelease(handle));
}

TEST(vmm_calls, retain_after_release)
{
    CUmemGenericAllocationHandle handle, found = 0;
    CUdeviceptr base;

    start();
    base = reserve(GRANULE);
    handle = create_on(0, GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    OK(cuMemRelease(handle));
    REFUSED(cuMemRelease(handle));
    OK(cuMemRetainAllocationHandle(&found, (void *)base));
    T_EQ(found, handle);
    OK(cuMemRelease(found));
}

/* ---- reservations ---- */

TEST(vmm_calls, reserve_refuses)
{
    CUdeviceptr base;

    start();
    REFUSED(cuMemAddressReserve(NULL, GRANULE, 0, 0, 0));
    REFUSED(cuMemAddressReserve(&base, 0, 0, 0, 0));
    REFUSED(cuMemAddressReserve(&base, GRANULE + 1, 0, 0, 0));
    REFUSED(cuMemAddressReserve(&base, GRANULE, 3 * MIB, 0, 0));
    REFUSED(cuMemAddressReserve(&base, GRANULE, 0, 12345, 0));
    REFUSED(cuMemAddressReserve(&base, GRANULE, 0, 0, 1));
    T_EQ(cuMemAddressReserve(&base, SIZE_MAX / 4096 * 4096, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(vmm_calls, reserve_and_free)
{
    CUdeviceptr base, aligned = 0, hinted = 0;

    start();
    base = reserve(3 * GRANULE);
    T_EQ(base % GRANULE, 0);
    OK(cuMemAddressReserve(&aligned, GRANULE, 64 * MIB, 0, 0));
    T_EQ(aligned % (64 * MIB), 0);
    OK(cuMemAddressReserve(&hinted, GRANULE, 0, base, 0)); /* taken already: only a hint */
    T_ASSERT(hinted >= base + 3 * GRANULE || hinted + GRANULE <= base);
    REFUSED(cuMemAddressFree(base, GRANULE));
    REFUSED(cuMemAddressFree(base + GRANULE, 2 * GRANULE));
    REFUSED(cuMemAddressFree(base + 1, 3 * GRANULE));
    OK(cuMemAddressFree(base, 3 * GRANULE));
    REFUSED(cuMemAddressFree(base, 3 * GRANULE));
    REFUSED(cuMemAddressFree(0, GRANULE));
}

TEST(vmm_calls, a_mapped_reservation_stays)
{
    CUdeviceptr base;
    CUmemGenericAllocationHandle handle;

    start();
    base = reserve(4 * GRANULE);
    handle = create_on(0, GRANULE);
    OK(cuMemMap(base + 2 * GRANULE, GRANULE, 0, handle, 0));
    REFUSED(cuMemAddressFree(base, 4 * GRANULE));
    OK(cuMemUnmap(base + 2 * GRANULE, GRANULE));
    OK(cuMemAddressFree(base, 4 * GRANULE));
}

TEST(vmm_calls, reservations_do_not_overlap_allocations)
{
    CUdeviceptr base[50], plain[50];

    setenv("FAKEVMM_VA", "lifo", 1);
    start();
    for (int i = 0; i < 50; i++) {
        base[i] = reserve(GRANULE);
        plain[i] = allocate(4096);
        OK(cuMemAddressFree(base[i], GRANULE));
        base[i] = map_new(GRANULE);
        OK(cuMemsetD32_v2(plain[i], (unsigned)i, 1024));
        OK(cuMemsetD32_v2(base[i], (unsigned)(i + 100), GRANULE / 4));
    }
    for (int i = 0; i < 50; i++) {
        T_EQ(word_at(plain[i] + 4092), i);
        T_EQ(word_at(base[i]), i + 100);
        T_EQ(word_at(base[i] + GRANULE - 4), i + 100);
    }
}

/* ---- map ---- */

TEST(vmm_calls, map_refuses)
{
    CUmemGenericAllocationHandle handle, gone;
    CUdeviceptr base, plain;

    start();
    base = reserve(4 * GRANULE);
    plain = allocate(GRANULE);
    handle = create_on(0, 2 * GRANULE);
    gone = create_on(0, GRANULE);
    OK(cuMemRelease(gone));
    REFUSED(cuMemMap(base, 0, 0, handle, 0));
    REFUSED(cuMemMap(base, GRANULE - 4096, 0, handle, 0));
    REFUSED(cuMemMap(base + 4096, GRANULE, 0, handle, 0));
    REFUSED(cuMemMap(base, GRANULE, GRANULE, handle, 0)); /* "currently must be zero" */
    REFUSED(cuMemMap(base, 3 * GRANULE, 0, handle, 0));
    REFUSED(cuMemMap(base, GRANULE, 0, handle, 1));
    REFUSED(cuMemMap(base, GRANULE, 0, gone, 0));
    REFUSED(cuMemMap(base, GRANULE, 0, 0, 0));
    REFUSED(cuMemMap(plain, GRANULE, 0, handle, 0)); /* not reserved */
    REFUSED(cuMemMap(0, GRANULE, 0, handle, 0));
    REFUSED(cuMemMap(base + 3 * GRANULE, 2 * GRANULE, 0, handle, 0)); /* over the end */
    OK(cuMemMap(base, 2 * GRANULE, 0, handle, 0));
    REFUSED(cuMemMap(base, GRANULE, 0, handle, 0)); /* mapped already */
    REFUSED(cuMemMap(base + GRANULE, 2 * GRANULE, 0, handle, 0));
    OK(cuMemMap(base + 2 * GRANULE, GRANULE, 0, handle, 0)); /* the first part of a handle */
    OK(cuMemUnmap(base, 2 * GRANULE));
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
}

TEST(vmm_calls, map_after_the_reservation_was_freed)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;

    start();
    base = reserve(GRANULE);
    handle = create_on(0, GRANULE);
    OK(cuMemAddressFree(base, GRANULE));
    REFUSED(cuMemMap(base, GRANULE, 0, handle, 0));
}

/* ---- unmap ---- */

TEST(vmm_calls, unmap_takes_whole_mappings)
{
    CUmemGenericAllocationHandle one, two;
    CUdeviceptr base, plain;

    start();
    plain = allocate(GRANULE);
    base = reserve(8 * GRANULE);
    one = create_on(0, GRANULE);
    two = create_on(0, 2 * GRANULE);
    OK(cuMemMap(base, 2 * GRANULE, 0, two, 0));
    OK(cuMemMap(base + 2 * GRANULE, GRANULE, 0, one, 0));
    OK(cuMemMap(base + 4 * GRANULE, GRANULE, 0, one, 0));
    REFUSED(cuMemUnmap(base, 0));
    REFUSED(cuMemUnmap(base, GRANULE));                    /* a part */
    REFUSED(cuMemUnmap(base + GRANULE, GRANULE));          /* a part */
    REFUSED(cuMemUnmap(base + GRANULE, 2 * GRANULE));      /* a part and a whole one */
    REFUSED(cuMemUnmap(base + 2 * GRANULE, 3 * GRANULE));  /* a gap */
    REFUSED(cuMemUnmap(base + 4 * GRANULE, 2 * GRANULE));  /* over the end */
    REFUSED(cuMemUnmap(base + 5 * GRANULE, GRANULE));      /* not mapped */
    REFUSED(cuMemUnmap(plain, GRANULE));                   /* cuMemAlloc memory */
    REFUSED(cuMemUnmap(base + 2 * GRANULE, SIZE_MAX - 4)); /* wraps around */
    OK(cuMemUnmap(base, 3 * GRANULE));                     /* several whole ones */
    REFUSED(cuMemUnmap(base, 2 * GRANULE));
    OK(cuMemUnmap(base + 4 * GRANULE, GRANULE));
    OK(cuMemMap(base, 2 * GRANULE, 0, two, 0)); /* reserved still */
    OK(cuMemFree_v2(plain));
}

TEST(vmm_calls, free_refuses_mappings)
{
    start();
    REFUSED(cuMemFree_v2(map_new(GRANULE)));
    REFUSED(cuMemFree_v2(reserve(GRANULE)));
}

/* ---- contents ---- */

TEST(vmm_calls, two_mappings_of_one_handle_are_one_memory)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr a, b;

    start();
    a = reserve(GRANULE);
    b = reserve(2 * GRANULE) + GRANULE;
    handle = create_on(0, GRANULE);
    OK(cuMemMap(a, GRANULE, 0, handle, 0));
    OK(cuMemMap(b, GRANULE, 0, handle, 0));
    allow(a, GRANULE, 0);
    allow(b, GRANULE, 0);
    set_word(a + 4096, 1234);
    T_EQ(word_at(b + 4096), 1234);
    OK(put(b + GRANULE - 4, 77)); /* a kernel's write too */
    T_EQ(word_at(a + GRANULE - 4), 77);
    OK(cuMemUnmap(a, GRANULE));
    T_EQ(word_at(b + 4096), 1234);
}

/* Bytes belong to the handle, whatever address it is at. */
TEST(vmm_calls, remapping_moves_no_bytes)
{
    CUmemGenericAllocationHandle handle[2];
    CUdeviceptr base;

    start();
    base = reserve(GRANULE);
    for (unsigned i = 0; i < 2; i++) {
        handle[i] = create_on(0, GRANULE);
        OK(cuMemMap(base, GRANULE, 0, handle[i], 0));
        allow(base, GRANULE, 0);
        set_word(base, 10 + i);
        OK(cuMemUnmap(base, GRANULE));
    }
    for (unsigned i = 0; i < 2; i++) {
        OK(cuMemMap(base, GRANULE, 0, handle[i], 0));
        allow(base, GRANULE, 0);
        T_EQ(word_at(base), 10 + i);
        OK(cuMemUnmap(base, GRANULE));
    }
}

TEST(vmm_calls, copies_cross_mappings)
{
    unsigned char in[8192], out[8192] = {0};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;

    start();
    base = reserve(2 * GRANULE);
    for (int i = 0; i < 2; i++) {
        handle = create_on(0, GRANULE);
        OK(cuMemMap(base + (size_t)i * GRANULE, GRANULE, 0, handle, 0));
    }
    allow(base, 2 * GRANULE, 0); /* one call for both */
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 31 + i / 256);
    OK(cuMemcpyHtoD_v2(base + GRANULE - 4096, in, sizeof in));
    OK(cuMemcpyDtoH_v2(out, base + GRANULE - 4096, sizeof out));
    T_MEM_EQ(in, out, sizeof in);
}

/* ---- many ---- */

TEST(vmm_calls, thousands_of_handles)
{
    enum { COUNT = 4000 };
    static CUmemGenericAllocationHandle handles[COUNT];
    CUmemGenericAllocationHandle found = 0;
    CUdeviceptr base;
    size_t before;

    start();
    before = free_memory();
    base = reserve(COUNT * GRANULE);
    for (size_t i = 0; i < COUNT; i++) {
        handles[i] = create_on(0, GRANULE);
        OK(cuMemMap(base + (i * 7 % COUNT) * GRANULE, GRANULE, 0, handles[i], 0));
    }
    T_EQ(free_memory(), before - COUNT * GRANULE);
    for (size_t i = 0; i < COUNT; i++) {
        OK(cuMemRetainAllocationHandle(&found, (void *)(base + (i * 7 % COUNT) * GRANULE + i)));
        T_EQ(found, handles[i]);
        OK(cuMemRelease(found));
        OK(cuMemRelease(handles[i]));
    }
    OK(cuMemUnmap(base, COUNT * GRANULE));
    T_EQ(free_memory(), before);
}
