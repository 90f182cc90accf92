/* Pinned and registered host memory, pitched memory, and the 32-bit forms of CUDA 2: what is
 * refused, what the flags do, what remains. */
#include "tests/fake/vmm_fixture.h"

#include <sys/mman.h>

#define PAGE ((size_t)4096)

static unsigned char *pages(size_t count)
{
    void *bytes =
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    T_ASSERT(bytes != MAP_FAILED);
    return bytes;
}

/* ---- registered ---- */

TEST(host_memory, registered_ranges_do_not_overlap)
{
    start();
    unsigned char *bytes = pages(4);
    OK(cuMemHostRegister_v2(bytes + PAGE, 2 * PAGE, 0));
    T_EQ(cuMemHostRegister_v2(bytes + PAGE, 2 * PAGE, 0),
         CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    T_EQ(cuMemHostRegister_v2(bytes, 2 * PAGE, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    T_EQ(cuMemHostRegister_v2(bytes + 2 * PAGE, 2 * PAGE, 0),
         CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostRegister_v2(bytes, PAGE, 0));
    OK(cuMemHostRegister_v2(bytes + 3 * PAGE, PAGE, 0));
    T_EQ(cuMemHostUnregister(bytes + 2 * PAGE), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemHostUnregister(bytes + PAGE));
    OK(cuMemHostRegister_v2(bytes + PAGE, PAGE, 0));
}

TEST(host_memory, what_cannot_be_registered)
{
    const unsigned unknown = 0x40;

    start();
    unsigned char *bytes = pages(2);
    T_EQ(cuMemHostRegister_v2(NULL, PAGE, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostRegister_v2(bytes, 0, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostRegister_v2(bytes, SIZE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostRegister_v2(bytes, PAGE, unknown), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostRegister_v2(bytes, PAGE, CU_MEMHOSTREGISTER_IOMEMORY), CUDA_ERROR_NOT_SUPPORTED);
    T_EQ(cuMemHostRegister_v2((void *)allocate(PAGE), PAGE, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(munmap(bytes + PAGE, PAGE), 0);
    T_EQ(cuMemHostRegister_v2(bytes, 2 * PAGE, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostUnregister(bytes), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemHostRegister_v2(bytes, PAGE, 0));
}

/* A device may read what was registered read-only, nothing more. */
TEST(host_memory, registered_read_only)
{
    start();
    unsigned char *bytes = pages(1);
    CUdeviceptr p = 0, q = allocate(64);
    bytes[8] = 77;
    OK(cuMemHostRegister_v2(bytes, PAGE,
                            CU_MEMHOSTREGISTER_READ_ONLY | CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer_v2(&p, bytes, 0));
    OK(get(q, p + 8));
    T_EQ(word_at(q), 77);
    T_EQ(put(p, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(host_memory, registered_for_all_contexts)
{
    CUcontext second;
    CUdeviceptr p = 0;

    setenv("FAKEVMM_DEVICES", "2", 1);
    start();
    unsigned *words = (unsigned *)pages(1);
    OK(cuMemHostRegister_v2(words, PAGE,
                            CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuCtxCreate_v2(&second, 0, 1));
    OK(cuMemHostGetDevicePointer_v2(&p, words, 0));
    OK(put(p, 5));
    T_EQ(words[0], 5);
    OK(cuMemHostUnregister(words));
    T_EQ(cuMemHostGetDevicePointer_v2(&p, words, 0), CUDA_ERROR_INVALID_VALUE);
}

/* ---- allocated ---- */

TEST(host_memory, flags_of_an_allocation)
{
    const unsigned all =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    void *bytes = NULL;
    unsigned flags = 0;

    start();
    OK(cuMemHostAlloc(&bytes, 100, all));
    OK(cuMemHostGetFlags(&flags, (char *)bytes + 99));
    T_EQ(flags, all);
    T_EQ(cuMemHostGetFlags(&flags, (char *)bytes + 100), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostGetFlags(NULL, bytes), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostAlloc(&bytes, 100, 8), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostAlloc(&bytes, 0, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostAlloc(NULL, 100, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemHostUnregister(bytes), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    OK(cuMemFreeHost(bytes));
    T_EQ(cuMemFreeHost(bytes), CUDA_ERROR_INVALID_VALUE);
    unsigned char *own = pages(1);
    OK(cuMemHostRegister_v2(own, PAGE, 0));
    T_EQ(cuMemHostGetFlags(&flags, own), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemFreeHost(own), CUDA_ERROR_INVALID_VALUE);
}

/* ---- exhaustion ---- */

TEST(host_memory, device_memory_runs_out_exactly)
{
    CUdeviceptr p[17];

    setenv("FAKEVMM_MEMORY", "32M", 1);
    start();
    for (int i = 0; i < 16; i++)
        OK(cuMemAlloc_v2(&p[i], 2 * MIB));
    T_EQ(free_memory(), 0);
    T_EQ(cuMemAlloc_v2(&p[16], 1), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree_v2(p[3]));
    T_EQ(free_memory(), 2 * MIB);
    OK(cuMemAlloc_v2(&p[3], 2 * MIB));
}

/* ---- pitched memory ---- */

TEST(host_memory, pitched_arguments)
{
    CUdeviceptr p;
    size_t pitch;

    start();
    T_EQ(cuMemAllocPitch_v2(NULL, &pitch, 100, 10, 4), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocPitch_v2(&p, NULL, 100, 10, 4), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocPitch_v2(&p, &pitch, 0, 10, 4), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocPitch_v2(&p, &pitch, 100, 0, 4), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocPitch_v2(&p, &pitch, SIZE_MAX, 1, 4), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemAllocPitch_v2(&p, &pitch, (size_t)1 << 40, (size_t)1 << 40, 4),
         CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAllocPitch_v2(&p, &pitch, 100, 10, 16));
    T_GE(pitch, 100);
    OK(cuMemsetD2D8_v2(p, pitch, 3, 100, 10));
    OK(cuMemFree_v2(p));
}

/* ---- 32-bit forms ---- */

/* Symbols of old programs, which cuda.h no longer declares. */
CUresult cuMemAlloc(CUdeviceptr_v1 *out, unsigned size);
CUresult cuMemAllocPitch(CUdeviceptr_v1 *out, unsigned *pitch, unsigned width, unsigned height,
                         unsigned element);
CUresult cuMemFree(CUdeviceptr_v1 address);
CUresult cuMemGetInfo(unsigned *available, unsigned *total);
CUresult cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned *size, CUdeviceptr_v1 address);
CUresult cuMemAllocHost(void **out, unsigned size);
CUresult cuMemHostGetDevicePointer(CUdeviceptr_v1 *out, void *bytes, unsigned flags);

/* Device addresses have more than 32 bits here: none can be given out. */
TEST(host_memory, small_addresses_are_exhausted)
{
    CUdeviceptr_v1 p = 0;
    unsigned pitch = 0;

    start();
    size_t before = free_memory();
    T_EQ(cuMemAlloc(&p, 64), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemAlloc(NULL, 64), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocPitch(&p, &pitch, 64, 2, 4), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemAllocPitch(&p, NULL, 64, 2, 4), CUDA_ERROR_INVALID_VALUE);
    T_EQ(free_memory(), before);
    OK(cuMemFree(0));
    T_EQ(cuMemFree(512), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemGetAddressRange(NULL, NULL, 512), CUDA_ERROR_NOT_FOUND);
}

TEST(host_memory, sizes_in_32_bits)
{
    unsigned available = 0, total = 0;

    setenv("FAKEVMM_MEMORY", "64M", 1);
    start();
    allocate(4 * MIB);
    OK(cuMemGetInfo(&available, &total));
    T_EQ(total, 64 * MIB);
    T_EQ(available, 60 * MIB);
    T_EQ(cuMemGetInfo(NULL, &total), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemGetInfo(&available, NULL), CUDA_ERROR_INVALID_VALUE);
}

TEST(host_memory, pinned_by_the_first_form)
{
    CUdeviceptr_v1 p;
    void *bytes = NULL;

    start();
    OK(cuMemAllocHost(&bytes, 100));
    memset(bytes, 1, 100);
    T_EQ(cuMemAllocHost(NULL, 100), CUDA_ERROR_INVALID_VALUE);
    if ((uintptr_t)bytes > UINT32_MAX)
        T_NE(cuMemHostGetDevicePointer(&p, bytes, 0), CUDA_SUCCESS);
    T_EQ(cuMemHostGetDevicePointer(NULL, bytes, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(bytes));
}

/* Every context may use it, so a free waits for all of them. */
TEST(host_memory, freed_after_the_work_of_all_contexts)
{
    const size_t size = (size_t)1 << 20;
    atomic_bool open;
    CUcontext second;
    void *bytes;

    start();
    OK(cuMemHostAlloc(&bytes, size, CU_MEMHOSTALLOC_PORTABLE));
    OK(cuCtxCreate_v2(&second, 0, 0));
    CUdeviceptr p = allocate(size);
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    close_gate(stream, &open);
    for (unsigned i = 0; i < 100; i++)
        OK(cuMemcpyDtoHAsync_v2(bytes, p, size, stream));
    atomic_store(&open, true);
    OK(cuMemFreeHost(bytes));
    OK(cuStreamQuery(stream));
}
