/* Copies of two and three dimensions, by cuMemcpy2D's and cuMemcpy3D's documentation: which bytes
 * they move between host, device and unified addresses, and what they refuse. */
#include "tests/fake/driver_fixture.h"

enum { PITCH = 64, ROWS = 8, SLICES = 4, BYTES = PITCH * ROWS * SLICES };

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + i / 251);
}

/* Device memory that holds the pattern. */
static CUdeviceptr filled(void)
{
    unsigned char bytes[BYTES];
    CUdeviceptr address = allocate(BYTES);

    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = pattern(i);
    OK(cuMemcpyHtoD_v2(address, bytes, BYTES));
    return address;
}

static void zero(CUdeviceptr address)
{
    OK(cuMemsetD8_v2(address, 0, BYTES));
}

/* A rectangle of 10 x 3 bytes, from (5, 2) to (3, 1). */
static CUDA_MEMCPY2D rectangle(void)
{
    return (CUDA_MEMCPY2D){.srcXInBytes = 5,
                           .srcY = 2,
                           .srcPitch = PITCH,
                           .dstXInBytes = 3,
                           .dstY = 1,
                           .dstPitch = PITCH,
                           .WidthInBytes = 10,
                           .Height = 3};
}

static bool in_rectangle(size_t i)
{
    size_t x = i % PITCH, y = i / PITCH;

    return x >= 3 && x < 13 && y >= 1 && y < 4;
}

/* The rectangle's bytes came over, and nothing else. */
static void check_rectangle(const unsigned char *bytes)
{
    for (size_t i = 0; i < BYTES; i++)
        T_EQ(bytes[i], in_rectangle(i) ? pattern(i + PITCH + 2) : 0);
}

static void check_device(CUdeviceptr address)
{
    unsigned char bytes[BYTES];

    OK(cuMemcpyDtoH_v2(bytes, address, BYTES));
    check_rectangle(bytes);
}

TEST(copy_box, two_dimensions_between_devices)
{
    start();
    CUdeviceptr from = filled(), to = allocate(BYTES);
    CUDA_MEMCPY2D copy = rectangle();

    zero(to);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    OK(cuMemcpy2D_v2(&copy));
    check_device(to);
    zero(to);
    OK(cuMemcpy2DUnaligned_v2(&copy));
    check_device(to);
    zero(to);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    OK(cuMemcpy2D_v2(&copy));
    check_device(to);
}

TEST(copy_box, two_dimensions_from_and_to_the_host)
{
    unsigned char bytes[BYTES], result[BYTES] = {0};

    start();
    CUdeviceptr device = allocate(BYTES);
    CUDA_MEMCPY2D copy = rectangle();

    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = pattern(i);
    zero(device);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = bytes;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device;
    OK(cuMemcpy2D_v2(&copy));
    check_device(device);

    device = filled();
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = device;
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = (CUdeviceptr)(uintptr_t)result;
    OK(cuMemcpy2D_v2(&copy));
    check_rectangle(result);
}

/* The stream comes first: what was queued before is copied. */
TEST(copy_box, two_dimensions_follow_the_stream)
{
    atomic_bool open;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr from = allocate(BYTES), source = filled(), to = allocate(BYTES);
    CUDA_MEMCPY2D copy = rectangle();

    zero(from);
    zero(to);
    OK(cuCtxSynchronize());
    close_gate(stream, &open);
    OK(cuMemcpyDtoDAsync_v2(from, source, BYTES, stream));
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    OK(cuMemcpy2DAsync_v2(&copy, stream));
    T_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    check_device(to);
}

/* Pageable memory may change as soon as the call has returned. */
TEST(copy_box, pageable_rows_are_taken_at_the_call)
{
    unsigned char bytes[BYTES];
    atomic_bool open;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr to = allocate(BYTES);
    CUDA_MEMCPY2D copy = rectangle();

    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = pattern(i);
    zero(to);
    OK(cuCtxSynchronize());
    close_gate(stream, &open);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = bytes;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    OK(cuMemcpy2DAsync_v2(&copy, stream));
    memset(bytes, 0xee, sizeof bytes);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    check_device(to);
}

static CUDA_MEMCPY3D box(CUdeviceptr from, CUdeviceptr to)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .srcXInBytes = 2,
                           .srcY = 1,
                           .srcZ = 1,
                           .srcPitch = PITCH,
                           .srcHeight = ROWS,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = 16,
                           .dstHeight = 4,
                           .WidthInBytes = 9,
                           .Height = 4,
                           .Depth = 3};
}

static void check_box(CUdeviceptr to)
{
    unsigned char bytes[BYTES];

    OK(cuMemcpyDtoH_v2(bytes, to, BYTES));
    for (size_t i = 0; i < BYTES; i++) {
        size_t x = i % 16, y = i / 16 % 4, z = i / 64;
        bool inside = x < 9 && z < 3;
        T_EQ(bytes[i], inside ? pattern(((z + 1) * ROWS + y + 1) * PITCH + x + 2) : 0);
    }
}

TEST(copy_box, three_dimensions)
{
    CUcontext context = start();
    CUdeviceptr from = filled(), to = allocate(BYTES);
    CUDA_MEMCPY3D copy = box(from, to);
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = copy.srcMemoryType,
                               .srcDevice = from,
                               .srcContext = context,
                               .srcXInBytes = copy.srcXInBytes,
                               .srcY = copy.srcY,
                               .srcZ = copy.srcZ,
                               .srcPitch = copy.srcPitch,
                               .srcHeight = copy.srcHeight,
                               .dstMemoryType = copy.dstMemoryType,
                               .dstDevice = to,
                               .dstContext = context,
                               .dstPitch = copy.dstPitch,
                               .dstHeight = copy.dstHeight,
                               .WidthInBytes = copy.WidthInBytes,
                               .Height = copy.Height,
                               .Depth = copy.Depth};

    zero(to);
    OK(cuMemcpy3D_v2(&copy));
    check_box(to);
    zero(to);
    OK(cuMemcpy3DAsync_v2(&copy, NULL));
    check_box(to);
    zero(to);
    OK(cuMemcpy3DPeer(&peer));
    check_box(to);
    zero(to);
    OK(cuMemcpy3DPeerAsync(&peer, NULL));
    check_box(to);
    peer.srcContext = (CUcontext)&copy;
    T_EQ(cuMemcpy3DPeer(&peer), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(copy_box, between_two_devices)
{
    CUcontext here, there;
    CUdeviceptr from, to;

    setenv("FAKEVMM_DEVICES", "2", 1);
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&here, 0, 0));
    from = filled();
    OK(cuCtxCreate_v2(&there, 0, 1));
    to = allocate(BYTES);
    zero(to);
    OK(cuCtxSynchronize());
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                               .srcDevice = from,
                               .srcContext = here,
                               .srcXInBytes = 2,
                               .srcY = 1,
                               .srcZ = 1,
                               .srcPitch = PITCH,
                               .srcHeight = ROWS,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = to,
                               .dstContext = there,
                               .dstPitch = 16,
                               .dstHeight = 4,
                               .WidthInBytes = 9,
                               .Height = 4,
                               .Depth = 3};
    OK(cuMemcpy3DPeer(&peer));
    check_box(to);
}

/* ---- refusals ---- */

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

TEST(copy_box, pitches_and_heights_must_hold_the_rows)
{
    start();
    CUdeviceptr from = filled(), to = allocate(BYTES);
    const CUDA_MEMCPY3D good = box(from, to);
    CUDA_MEMCPY3D copy = good;

    OK(cuMemcpy3D_v2(&copy));
    copy.dstPitch = 8; /* less than WidthInBytes + dstXInBytes */
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcPitch = 10;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcHeight = 4; /* less than Height + srcY */
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.dstHeight = 3;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.dstHeight = 0; /* may be 0 if Depth is 1 */
    REFUSED(cuMemcpy3D_v2(&copy));
    copy.Depth = 1;
    OK(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcPitch = (size_t)1 << 31; /* more than CU_DEVICE_ATTRIBUTE_MAX_PITCH */
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcLOD = 1;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.reserved1 = &copy;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcMemoryType = (CUmemorytype)0;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.dstMemoryType = (CUmemorytype)5;
    REFUSED(cuMemcpy3D_v2(&copy));
}

TEST(copy_box, memory_must_be_there)
{
    unsigned char bytes[64];

    start();
    CUdeviceptr from = filled(), to = allocate(BYTES);
    const CUDA_MEMCPY3D good = box(from, to);
    CUDA_MEMCPY3D copy = good;

    copy.srcZ = 100000; /* far behind all allocations */
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.dstDevice = 0;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.dstDevice = (CUdeviceptr)(uintptr_t)bytes; /* a device never reaches it */
    copy.Depth = 1;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = NULL;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcMemoryType = CU_MEMORYTYPE_ARRAY, copy.srcArray = (CUarray)bytes;
    REFUSED(cuMemcpy3D_v2(&copy));
    copy = good, copy.srcZ = SIZE_MAX / 2; /* no number of bytes */
    REFUSED(cuMemcpy3D_v2(&copy));
    /* a range goes on behind the last address */
    REFUSED(cuMemcpyDtoH_v2((void *)(UINTPTR_MAX - 15), from, 64));
    REFUSED(cuMemcpy((CUdeviceptr)(uintptr_t)bytes, (CUdeviceptr)(uintptr_t)bytes, SIZE_MAX - 7));
    REFUSED(cuMemcpy3D_v2(NULL));
    REFUSED(cuMemcpy2D_v2(NULL));
    REFUSED(cuMemcpy2DAsync_v2(NULL, NULL));
    REFUSED(cuMemcpy3DAsync_v2(NULL, NULL));
    REFUSED(cuMemcpy3DPeer(NULL));
    T_EQ(cuMemcpy3DAsync_v2(&good, (CUstream)bytes), CUDA_ERROR_INVALID_HANDLE);
}

TEST(copy_box, nothing_to_copy_is_no_error)
{
    start();
    CUdeviceptr from = filled(), to = allocate(BYTES);
    CUDA_MEMCPY3D copy = box(from, to);

    zero(to);
    copy.Height = 0;
    OK(cuMemcpy3D_v2(&copy));
    copy = box(from, to), copy.WidthInBytes = 0;
    OK(cuMemcpy3D_v2(&copy));
    unsigned char bytes[BYTES];
    OK(cuMemcpyDtoH_v2(bytes, to, BYTES));
    for (size_t i = 0; i < BYTES; i++)
        T_EQ(bytes[i], 0);
}

/* The first forms have 32-bit device addresses: good for host memory and arrays alone. */
TEST(copy_box, first_versions)
{
    unsigned char from[64], to[64] = {0};
    CUdeviceptr_v1 low = 4096;

    start();
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = pattern(i);
    CUDA_MEMCPY2D_v1 flat = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = from,
                             .srcPitch = 16,
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = to,
                             .dstPitch = 8,
                             .WidthInBytes = 8,
                             .Height = 2};
    OK(cuMemcpy2D(&flat));
    T_EQ(memcmp(to, from, 8), 0);
    T_EQ(memcmp(to + 8, from + 16, 8), 0);
    memset(to, 0, sizeof to);
    OK(cuMemcpy2DUnaligned(&flat));
    T_EQ(memcmp(to + 8, from + 16, 8), 0);
    OK(cuMemcpy2DAsync(&flat, NULL));
    flat.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    flat.srcDevice = low;
    REFUSED(cuMemcpy2D(&flat));
    CUDA_MEMCPY3D_v1 deep = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                             .srcHost = from,
                             .srcPitch = 8,
                             .srcHeight = 2,
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = to,
                             .dstPitch = 4,
                             .dstHeight = 2,
                             .WidthInBytes = 4,
                             .Height = 2,
                             .Depth = 2};
    OK(cuMemcpy3D(&deep));
    T_EQ(memcmp(to + 8, from + 16, 4), 0);
    OK(cuMemcpy3DAsync(&deep, NULL));
    REFUSED(cuMemcpyHtoD(low, from, 8));
    REFUSED(cuMemcpyDtoH(to, low, 8));
    REFUSED(cuMemcpyDtoD(low, low, 8));
    REFUSED(cuMemcpyHtoDAsync(low, from, 8, NULL));
    REFUSED(cuMemcpyDtoHAsync(to, low, 8, NULL));
    REFUSED(cuMemcpyDtoDAsync(low, low, 8, NULL));
    REFUSED(cuMemsetD8(low, 1, 8));
    REFUSED(cuMemsetD16(low, 1, 8));
    REFUSED(cuMemsetD32(low, 1, 8));
    REFUSED(cuMemsetD2D8(low, 8, 1, 8, 2));
    REFUSED(cuMemsetD2D16(low, 8, 1, 4, 2));
    REFUSED(cuMemsetD2D32(low, 8, 1, 2, 2));
}

/* Fills of all widths in two dimensions. */
TEST(copy_box, memsets_of_two_dimensions)
{
    unsigned short halves[3 * 8];
    unsigned words[3 * 4];

    start();
    CUdeviceptr to = allocate(64);

    zero(allocate(BYTES));
    OK(cuMemsetD8_v2(to, 0, 48));
    OK(cuMemsetD2D16_v2(to, 16, 0x1234, 3, 2));
    OK(cuMemcpyDtoH_v2(halves, to, sizeof halves));
    for (size_t i = 0; i < 24; i++)
        T_EQ(halves[i], i < 16 && i % 8 < 3 ? 0x1234 : 0);
    OK(cuMemsetD8_v2(to, 0, 48));
    OK(cuMemsetD2D32Async(to, 16, 0x12345678, 2, 3, NULL));
    OK(cuMemcpyDtoH_v2(words, to, sizeof words));
    for (size_t i = 0; i < 12; i++)
        T_EQ(words[i], i % 4 < 2 ? 0x12345678 : 0);
    REFUSED(cuMemsetD2D32_v2(to, 6, 1, 1, 2)); /* rows that are not aligned */
    REFUSED(cuMemsetD16_v2(to + 1, 1, 2));
}
