/* Device and pinned memory, copies, fills and questions about addresses, by their documentation. */
#include <signal.h>

#include "tests/fake/driver_fixture.h"

#define MIB ((size_t)1 << 20)

static unsigned char at(CUdeviceptr address)
{
    unsigned char byte = 0;

    OK(cuMemcpyDtoH_v2(&byte, address, 1));
    return byte;
}

/* ---- allocation ---- */

TEST(driver_memory, allocate_and_free)
{
    size_t before, during, after, total;
    CUdeviceptr address;

    start();
    OK(cuMemGetInfo_v2(&before, &total));
    T_LE(before, total);
    T_EQ(cuMemAlloc_v2(&address, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAlloc_v2(NULL, 64), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAlloc_v2(&address, 3 * MIB));
    T_EQ(address % 512, 0);
    OK(cuMemGetInfo_v2(&during, &total));
    T_LE(during, before - 3 * MIB);
    T_EQ(cuMemFree_v2(address + 512), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(address));
    T_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemGetInfo_v2(&after, &total));
    T_EQ(after, before);
    OK(cuMemFree_v2(0));
    T_EQ(cuMemFree_v2((CUdeviceptr)&address), CUDA_ERROR_INVALID_VALUE);
}

TEST(driver_memory, runs_out)
{
    CUdeviceptr first, second;

    setenv("FAKEVMM_MEMORY", "16M", 1);
    start();
    T_EQ(cuMemAlloc_v2(&first, 17 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemAlloc_v2(&first, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc_v2(&first, 12 * MIB));
    T_EQ(cuMemAlloc_v2(&second, 6 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree_v2(first));
    OK(cuMemAlloc_v2(&second, 16 * MIB));
}

/* A device may be larger than the host: pages appear when touched. */
TEST(driver_memory, large_allocations_cost_nothing_untouched)
{
    start();
    CUdeviceptr address = allocate((size_t)64 << 30);
    OK(cuMemsetD8_v2(address + ((size_t)64 << 30) - 1, 7, 1));
    T_EQ(at(address + ((size_t)64 << 30) - 1), 7);
    OK(cuMemFree_v2(address));
}

TEST(driver_memory, lifo_addresses_come_back_at_once)
{
    setenv("FAKEVMM_VA", "lifo", 1);
    start();
    CUdeviceptr a = allocate(4096), b = allocate(4096), big = allocate(4 * MIB);
    OK(cuMemFree_v2(a));
    OK(cuMemFree_v2(b));
    T_EQ(allocate(4096), b);
    T_EQ(allocate(4096), a);
    OK(cuMemFree_v2(big));
    T_EQ(allocate(4 * MIB), big);
}

TEST(driver_memory, churn_addresses_do_not_come_back_soon)
{
    CUdeviceptr seen[100];

    start();
    for (int i = 0; i < 100; i++) {
        seen[i] = allocate(4096);
        OK(cuMemFree_v2(seen[i]));
        for (int j = 0; j < i; j++)
            T_NE(seen[i], seen[j]);
    }
}

TEST(driver_memory, allocations_do_not_overlap)
{
    CUdeviceptr address[64];

    setenv("FAKEVMM_VA", "lifo", 1);
    start();
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 64; i++) {
            address[i] = allocate((size_t)(i * 700 + round * 300 + 1));
            OK(cuMemsetD8_v2(address[i], (unsigned char)i, (size_t)(i * 700 + round * 300 + 1)));
        }
        for (int i = 0; i < 64; i++) {
            T_EQ(at(address[i]), i);
            T_EQ(at(address[i] + (size_t)(i * 700 + round * 300)), i);
            OK(cuMemFree_v2(address[i]));
        }
    }
}

TEST(driver_memory, pitched)
{
    CUdeviceptr address;
    size_t pitch = 0, size = 0;

    start();
    OK(cuMemAllocPitch_v2(&address, &pitch, 1000, 5, 4));
    T_GE(pitch, 1000);
    T_EQ(pitch % 32, 0); /* the device's texture pitch alignment */
    OK(cuMemGetAddressRange_v2(NULL, &size, address));
    T_GE(size, 5 * pitch);
    T_EQ(cuMemAllocPitch_v2(&address, &pitch, 1000, 5, 3), CUDA_ERROR_INVALID_VALUE);
}

/* ---- copies ---- */

TEST(driver_memory, copies)
{
    unsigned char in[300], out[300] = {0};

    start();
    CUdeviceptr a = allocate(sizeof in), b = allocate(sizeof in);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7);
    OK(cuMemcpyHtoD_v2(a, in, sizeof in));
    OK(cuMemcpyDtoD_v2(b + 10, a, sizeof in - 10));
    OK(cuMemcpyDtoH_v2(out, b + 10, sizeof in - 10));
    T_MEM_EQ(in, out, sizeof in - 10);
    OK(cuMemcpyHtoD_v2(a, NULL, 0));
}

/* Each address says whose it is. */
TEST(driver_memory, unified_copies)
{
    unsigned char in[64], out[64] = {0}, host[64] = {0};

    start();
    CUdeviceptr a = allocate(64), b = allocate(64);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i + 1);
    OK(cuMemcpy(a, (CUdeviceptr)in, 64));
    OK(cuMemcpy(b, a, 64));
    OK(cuMemcpy((CUdeviceptr)out, b, 64));
    T_MEM_EQ(in, out, 64);
    OK(cuMemcpy((CUdeviceptr)host, (CUdeviceptr)in, 64));
    T_MEM_EQ(in, host, 64);
    memset(out, 0, sizeof out);
    OK(cuMemcpyAsync((CUdeviceptr)out, b, 64, NULL));
    OK(cuStreamSynchronize(NULL));
    T_MEM_EQ(in, out, 64);
}

TEST(driver_memory, copies_refuse_what_is_not_mapped)
{
    unsigned char bytes[1024] = {0};

    start();
    CUdeviceptr a = allocate(512);
    T_EQ(cuMemcpyHtoD_v2(a, bytes, 1024), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemcpyDtoH_v2(bytes, a + 512, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemcpyDtoH_v2(bytes, 64, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemcpyHtoD_v2((CUdeviceptr)bytes, bytes + 512, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree_v2(a));
    T_EQ(cuMemcpyHtoD_v2(a, bytes, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize()); /* refused calls are not sticky */
}

TEST(driver_memory, pageable_source_is_free_after_the_call)
{
    unsigned char bytes[4] = {1, 2, 3, 4};
    atomic_bool open;

    start();
    CUdeviceptr a = allocate(4);
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    close_gate(stream, &open);
    OK(cuMemcpyHtoDAsync_v2(a, bytes, 4, stream));
    memset(bytes, 9, sizeof bytes);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    T_EQ(at(a), 1);
}

/* Pinned memory is read when the copy runs. */
TEST(driver_memory, pinned_source_is_read_in_stream_order)
{
    unsigned char *bytes;
    atomic_bool open;

    start();
    OK(cuMemHostAlloc((void **)&bytes, 4096, 0));
    CUdeviceptr a = allocate(4);
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    bytes[0] = 1;
    close_gate(stream, &open);
    OK(cuMemcpyHtoDAsync_v2(a, bytes, 4, stream));
    bytes[0] = 2;
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    T_EQ(at(a), 2);
    OK(cuMemFreeHost(bytes));
}

TEST(driver_memory, copy_to_pageable_memory_has_happened)
{
    unsigned char byte = 0;

    start();
    CUdeviceptr a = allocate(1);
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD8Async(a, 5, 1, stream));
    OK(cuMemcpyDtoHAsync_v2(&byte, a, 1, stream));
    T_EQ(byte, 5);
}

TEST(driver_memory, peer_copies)
{
    CUcontext first, second;
    unsigned char byte = 0;

    setenv("FAKEVMM_DEVICES", "2", 1);
    first = start();
    CUdeviceptr a = allocate(16);
    OK(cuMemsetD8_v2(a, 3, 16));
    OK(cuCtxCreate_v2(&second, 0, 1));
    CUdeviceptr b = allocate(16);
    OK(cuMemcpyPeer(b, second, a, first, 16)); /* needs no peer access */
    OK(cuMemcpyDtoH_v2(&byte, b, 1));
    T_EQ(byte, 3);
    OK(cuMemsetD8_v2(b, 4, 16));
    OK(cuMemcpyPeerAsync(a, first, b, second, 16, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(&byte, a, 1));
    T_EQ(byte, 4);
    T_EQ(cuMemcpyPeer(b, (CUcontext)&byte, a, first, 16), CUDA_ERROR_INVALID_CONTEXT);
}

/* ---- fills ---- */

TEST(driver_memory, fills)
{
    unsigned char bytes[64];
    unsigned words[4];

    start();
    CUdeviceptr a = allocate(64);
    OK(cuMemsetD8_v2(a, 0xee, 64));
    OK(cuMemsetD16_v2(a + 2, 0x1234, 2));
    OK(cuMemsetD32_v2(a + 16, 0xdeadbeef, 4));
    OK(cuMemcpyDtoH_v2(bytes, a, 64));
    T_EQ(bytes[1], 0xee);
    T_EQ(bytes[2], 0x34);
    T_EQ(bytes[3], 0x12);
    T_EQ(bytes[5], 0x12);
    T_EQ(bytes[6], 0xee);
    memcpy(words, bytes + 16, 16);
    T_EQ(words[0], 0xdeadbeef);
    T_EQ(words[3], 0xdeadbeef);
    T_EQ(bytes[32], 0xee);
    T_EQ(cuMemsetD32_v2(a + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemsetD16_v2(a + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemsetD8_v2(a, 0, 513), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemsetD32_v2(a, 0, 0));
}

TEST(driver_memory, fills_in_two_dimensions)
{
    unsigned short words[4][8];

    start();
    CUdeviceptr a = allocate(sizeof words);
    OK(cuMemsetD8_v2(a, 0, sizeof words));
    OK(cuMemsetD2D16_v2(a + 2, 16, 7, 3, 4));
    OK(cuMemcpyDtoH_v2(words, a, sizeof words));
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 8; column++)
            T_EQ(words[row][column], column >= 1 && column < 4 ? 7 : 0);
    OK(cuMemsetD2D32Async(a, 1, 9, 1, 1, NULL)); /* one row: the pitch does not matter */
    T_EQ(cuMemsetD2D32_v2(a, 2, 9, 1, 2), CUDA_ERROR_INVALID_VALUE);
}

/* ---- pinned memory ---- */

TEST(driver_memory, pinned)
{
    unsigned flags = 0;
    CUdeviceptr address = 0;
    unsigned char *bytes = NULL;

    start();
    OK(cuMemHostAlloc((void **)&bytes, 10000, CU_MEMHOSTALLOC_PORTABLE));
    memset(bytes, 1, 10000);
    OK(cuMemHostGetFlags(&flags, bytes + 5));
    T_EQ(flags & CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
    OK(cuMemHostGetDevicePointer_v2(&address, bytes, 0));
    OK(cuMemsetD8_v2(address + 100, 2, 100)); /* the host sees it: the call has waited */
    T_EQ(bytes[99], 1);
    T_EQ(bytes[100], 2);
    T_EQ(cuMemHostGetDevicePointer_v2(&address, bytes, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostAlloc((void **)&bytes, 1, 0x100), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemFree_v2((CUdeviceptr)bytes), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(bytes));
    T_EQ(cuMemFreeHost(bytes), CUDA_ERROR_INVALID_VALUE);
}

TEST(driver_memory, registered)
{
    static unsigned char bytes[8192];
    CUdeviceptr address;
    unsigned flags;

    start();
    T_EQ(cuMemHostGetDevicePointer_v2(&address, bytes, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostRegister_v2(bytes, sizeof bytes, 0));
    T_EQ(cuMemHostRegister_v2(bytes + 4096, 1, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostGetDevicePointer_v2(&address, bytes + 10, 0));
    OK(cuMemsetD8_v2(address, 3, 1));
    T_EQ(bytes[10], 3);
    T_EQ(cuMemHostGetFlags(&flags, bytes), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostUnregister(bytes + 1), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemHostUnregister(bytes));
    T_EQ(cuMemHostUnregister(bytes), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* ---- questions ---- */

#define GET(out, attribute, address)                                                               \
    OK(cuPointerGetAttribute(&(out), CU_POINTER_ATTRIBUTE_##attribute, address))

TEST(driver_memory, attributes_of_device_memory)
{
    CUcontext context = start(), owner = NULL;
    CUdeviceptr base = allocate(1000), address = 0, start_of = 0;
    unsigned type = 0;
    int ordinal = -1;
    size_t size = 0;
    bool mapped = false, managed = true;
    void *host;

    GET(owner, CONTEXT, base + 5);
    T_PTR_EQ(owner, context);
    GET(type, MEMORY_TYPE, base);
    T_EQ(type, CU_MEMORYTYPE_DEVICE);
    GET(address, DEVICE_POINTER, base + 5);
    T_EQ(address, base + 5);
    GET(ordinal, DEVICE_ORDINAL, base);
    T_EQ(ordinal, 0);
    GET(start_of, RANGE_START_ADDR, base + 999);
    T_EQ(start_of, base);
    GET(size, RANGE_SIZE, base);
    T_EQ(size, 1000);
    GET(mapped, MAPPED, base);
    T_EQ(mapped, true);
    GET(managed, IS_MANAGED, base);
    T_EQ(managed, false);
    T_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, base),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&type),
         CUDA_ERROR_INVALID_VALUE);
}

TEST(driver_memory, buffer_ids_are_never_used_again)
{
    unsigned long long first = 0, second = 0;

    setenv("FAKEVMM_VA", "lifo", 1);
    start();
    CUdeviceptr address = allocate(512);
    GET(first, BUFFER_ID, address);
    OK(cuMemFree_v2(address));
    T_EQ(allocate(512), address);
    GET(second, BUFFER_ID, address);
    T_NE(first, second);
}

TEST(driver_memory, attributes_of_pinned_memory)
{
    unsigned type = 0;
    void *bytes, *host = NULL;

    start();
    OK(cuMemAllocHost_v2(&bytes, 4096));
    GET(type, MEMORY_TYPE, (CUdeviceptr)bytes);
    T_EQ(type, CU_MEMORYTYPE_HOST);
    GET(host, HOST_POINTER, (CUdeviceptr)bytes + 7);
    T_PTR_EQ(host, (char *)bytes + 7);
    OK(cuMemFreeHost(bytes));
}

TEST(driver_memory, many_attributes_at_once)
{
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 77;
    void *host = &type;
    int ordinal = 77;
    void *out[] = {&type, &host, &ordinal};

    start();
    OK(cuPointerGetAttributes(3, attributes, out, allocate(512)));
    T_EQ(type, CU_MEMORYTYPE_DEVICE);
    T_NULL(host);
    T_EQ(ordinal, 0);
    /* No CUDA memory: no error, but zeros. */
    type = 77;
    ordinal = 77;
    OK(cuPointerGetAttributes(3, attributes, out, (CUdeviceptr)out));
    T_EQ(type, 0);
    T_EQ(ordinal, 0);
}

TEST(driver_memory, address_range)
{
    CUdeviceptr base = 0, found = 0;
    size_t size = 0;

    start();
    base = allocate(5 * MIB + 3);
    OK(cuMemGetAddressRange_v2(&found, &size, base + 3 * MIB));
    T_EQ(found, base);
    T_EQ(size, 5 * MIB + 3);
    OK(cuMemGetAddressRange_v2(NULL, NULL, base));
    OK(cuMemFree_v2(base));
    T_EQ(cuMemGetAddressRange_v2(&found, &size, base), CUDA_ERROR_NOT_FOUND);
}

static void touch_device_memory(void)
{
    start();
    CUdeviceptr address = allocate(4096);
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would report it as a bug of ours */
    *(volatile char *)address = 1;
}

TEST(driver_memory, the_host_cannot_touch_device_memory)
{
    T_EQ(in_child(touch_device_memory).exit_code, 128 + SIGSEGV);
}
