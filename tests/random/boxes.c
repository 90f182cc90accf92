/* boxes.c: fills and copies in two and three dimensions, pitched memory, arrays. What is read was
 * written before, all of it; the padding of a row is never looked at. */
#include "tests/random/lane.h"

#define SIDE       8 /* the most in each dimension */
#define PLAIN_BOX  (SIDE * SIDE * SIDE * 4)
#define ROW_BYTES  256
#define PLAIN_AREA (SIDE * ROW_BYTES)

static size_t some(struct lane *lane)
{
    return 1 + lane_draw(lane, SIDE - 1);
}

/* ---- two dimensions ---- */

static void fill_rows(struct lane *lane, CUdeviceptr at, size_t pitch, size_t width, size_t height)
{
    unsigned value = (unsigned)lane_draw(lane, 200);

    switch (lane_draw(lane, 4)) {
    case 0:
        lane_answer(
            lane, cuMemsetD2D8Async(at, pitch, (unsigned char)value, width, height, lane->stream));
        break;
    case 1:
        lane_answer(lane, cuMemsetD2D16Async(at, pitch, (unsigned short)value, width / 2, height,
                                             lane->stream));
        break;
    case 2:
        lane_answer(lane, cuMemsetD2D32Async(at, pitch, value, width / 4, height, lane->stream));
        break;
    default: /* a width of more than the pitch */
        lane_answer(lane, cuMemsetD2D8Async(at, 16, 1, 17, 2, lane->stream));
        break;
    }
}

/* Rows of pitched memory to rows of plain memory, then these to the host, or the first at once. */
static void rows_play(struct lane *lane)
{
    size_t width = 4 * (1 + lane_draw(lane, ROW_BYTES / 4)), height = some(lane), pitch = 0;
    CUdeviceptr rows, plain = scratch_new(lane, PLAIN_AREA, 8), nothing = 0;
    char host[PLAIN_AREA] = {0};

    MUST(cuMemAllocPitch_v2(&rows, &pitch, width, height, 4u << lane_draw(lane, 3)));
    lane_count(lane, pitch);
    lane_answer(lane, cuMemAllocPitch_v2(&nothing, &pitch, width, height, 3));
    lane_answer(lane, cuMemsetD2D8Async(rows, pitch, 7, width, height, lane->stream));
    fill_rows(lane, rows, pitch, 1 + lane_draw(lane, width), some(lane) % height + 1);
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = rows,
        .srcPitch = pitch,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = plain,
        .dstPitch = ROW_BYTES,
        .WidthInBytes = width,
        .Height = height,
    };
    lane_answer(lane, cuMemcpy2DAsync_v2(&copy, lane->stream));
    scratch_see(lane, plain, PLAIN_AREA);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host;
    switch (lane_draw(lane, 3)) {
    case 0: lane_answer(lane, cuMemcpy2D_v2(&copy)); break;
    case 1: lane_answer(lane, cuMemcpy2DUnaligned_v2(&copy)); break;
    default: lane_answer(lane, cuMemcpy2DAsync_v2(&copy, lane->stream)); break;
    }
    MUST(cuStreamSynchronize(lane->stream));
    lane_observe(lane, host, sizeof host);
    copy.dstPitch = width - 1;
    if (height > 1)
        lane_answer(lane, cuMemcpy2DAsync_v2(&copy, lane->stream));
    lane_answer(lane, cuMemFree_v2(rows));
    scratch_free(lane, plain);
}

/* ---- three dimensions ---- */

/* A box anywhere in both, in any of the memories that hold a cube of SIDE words in each direction.
 */
static CUDA_MEMCPY3D draw_box(struct lane *lane)
{
    size_t x = some(lane), y = some(lane), z = some(lane);

    return (CUDA_MEMCPY3D){
        .srcXInBytes = 4 * lane_draw(lane, SIDE - x + 1),
        .srcY = lane_draw(lane, SIDE - y + 1),
        .srcZ = lane_draw(lane, SIDE - z + 1),
        .srcPitch = SIDE * 4,
        .srcHeight = SIDE,
        .dstXInBytes = 4 * lane_draw(lane, SIDE - x + 1),
        .dstY = lane_draw(lane, SIDE - y + 1),
        .dstZ = lane_draw(lane, SIDE - z + 1),
        .dstPitch = SIDE * 4,
        .dstHeight = SIDE,
        .WidthInBytes = 4 * x,
        .Height = y,
        .Depth = z,
    };
}

static CUarray new_cube(struct lane *lane)
{
    CUDA_ARRAY3D_DESCRIPTOR wanted = {.Width = SIDE,
                                      .Height = SIDE,
                                      .Depth = SIDE,
                                      .Format = CU_AD_FORMAT_UNSIGNED_INT32,
                                      .NumChannels = 1},
                            got = {0};
    CUarray array, nothing = NULL;

    MUST(cuArray3DCreate_v2(&array, &wanted));
    lane_answer(lane, cuArray3DGetDescriptor_v2(&got, array));
    lane_count(lane, got.Width + 16 * got.Height + 256 * got.Depth);
    wanted.NumChannels = 3;
    lane_answer(lane, cuArray3DCreate_v2(&nothing, &wanted));
    return array;
}

/* From device memory, the host or an array to device memory or an array. */
static void copy_box(struct lane *lane, const CUdeviceptr cube[2], CUarray array, const void *host)
{
    CUDA_MEMCPY3D copy = draw_box(lane);

    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = cube[0];
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = cube[1];
    switch (lane_draw(lane, 5)) {
    case 0:
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = host;
        break;
    case 1:
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = array;
        break;
    case 2:
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array;
        break;
    case 3: copy.dstPitch = 4; break; /* refused, unless a word is all it takes */
    default: break;
    }
    lane_answer(lane, cuMemcpy3DAsync_v2(&copy, lane->stream));
}

static void cubes_play(struct lane *lane)
{
    CUDA_MEMCPY3D all = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcPitch = SIDE * 4,
        .srcHeight = SIDE,
        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
        .WidthInBytes = SIDE * 4,
        .Height = SIDE,
        .Depth = SIDE,
    };
    CUdeviceptr cube[2] = {scratch_new(lane, PLAIN_BOX, 1), scratch_new(lane, PLAIN_BOX, 2)};
    CUarray array = new_cube(lane);
    uint32_t host[PLAIN_BOX / 4];

    for (unsigned i = 0; i < PLAIN_BOX / 4; i++)
        host[i] = i * 77;
    all.srcDevice = cube[0];
    all.dstArray = array;
    lane_answer(lane, cuMemcpy3DAsync_v2(&all, lane->stream));
    scratch_launch(lane, lane->stream, cube[0], cube[1]);
    for (uint64_t i = 1 + lane_draw(lane, 4); i-- > 0;)
        copy_box(lane, cube, array, host);
    scratch_see(lane, cube[1], PLAIN_BOX);
    lane_answer(lane, cuArrayDestroy(array));
    scratch_free(lane, cube[0]);
    scratch_free(lane, cube[1]);
}

/* ---- lines ---- */

/* Copies that take no stream follow each other; the last one is waited for. */
static void line_copies(struct lane *lane, CUarray line, CUdeviceptr at)
{
    uint32_t host[64] = {0};
    size_t offset = 4 * lane_draw(lane, 16), bytes = 4 * (1 + lane_draw(lane, 16));

    MUST(cuStreamSynchronize(lane->stream));
    lane_answer(lane, cuMemcpyDtoA_v2(line, offset, at, bytes));
    lane_answer(lane, cuMemcpyAtoD_v2(at + 256, line, 0, 128));
    lane_answer(lane, cuMemcpyAtoA_v2(line, 128, line, offset, bytes));
    lane_answer(lane, cuMemcpyAtoD_v2(at, line, 250, 64)); /* ends behind the end */
    lane_answer(lane, cuMemcpyAtoH_v2(host, line, 0, sizeof host));
    lane_observe(lane, host, sizeof host);
    lane_answer(lane, cuMemcpyHtoA_v2(line, 64, host, bytes));
    MUST(cuMemcpyDtoH_v2(host, at + 256, 128));
    lane_observe(lane, host, sizeof host);
    lane_answer(lane, cuMemcpyHtoAAsync_v2(line, 0, host, 64, lane->stream));
    lane_answer(lane, cuMemcpyAtoHAsync_v2(host, line, offset, 64, lane->stream));
    MUST(cuStreamSynchronize(lane->stream));
    lane_observe(lane, host, sizeof host);
}

static void lines_play(struct lane *lane)
{
    CUDA_ARRAY_DESCRIPTOR wanted = {
        .Width = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    CUdeviceptr at = scratch_new(lane, 1024, 6);
    CUarray line;
    uint32_t zero[64] = {0};

    MUST(cuArrayCreate_v2(&line, &wanted));
    MUST(cuMemcpyHtoA_v2(line, 0, zero, sizeof zero));
    scratch_launch(lane, lane->stream, at, at + 512);
    line_copies(lane, line, at);
    lane_answer(lane, cuArrayDestroy(line));
    scratch_free(lane, at);
}

static void levels_play(struct lane *lane)
{
    CUDA_ARRAY3D_DESCRIPTOR wanted = {.Width = SIDE,
                                      .Height = SIDE,
                                      .Format = CU_AD_FORMAT_FLOAT,
                                      .NumChannels = 1u << lane_draw(lane, 3)},
                            got = {0};
    CUmipmappedArray levels;
    CUarray level = NULL;

    MUST(cuMipmappedArrayCreate(&levels, &wanted, 3));
    lane_answer(lane, cuMipmappedArrayGetLevel(&level, levels, 3));
    MUST(cuMipmappedArrayGetLevel(&level, levels, (unsigned)lane_draw(lane, 3)));
    lane_answer(lane, cuArray3DGetDescriptor_v2(&got, level));
    lane_count(lane, got.Width * 100 + got.Height * 10 + got.NumChannels);
    lane_answer(lane, cuMipmappedArrayDestroy(levels));
}

void boxes_play(struct lane *lane)
{
    switch (lane_draw(lane, 6)) {
    case 0: lines_play(lane); break;
    case 1: levels_play(lane); break;
    case 2:
    case 3: cubes_play(lane); break;
    default: rows_play(lane); break;
    }
}
