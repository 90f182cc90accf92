/* CUDA arrays, by the documentation of cuArrayCreate, cuArray3DCreate, cuMipmappedArrayCreate and
 * the copies from and to arrays. */
#include "tests/fake/driver_fixture.h"

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

static CUDA_ARRAY3D_DESCRIPTOR floats(size_t width, size_t height, size_t depth)
{
    return (CUDA_ARRAY3D_DESCRIPTOR){.Width = width,
                                     .Height = height,
                                     .Depth = depth,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1};
}

static CUarray new_array(size_t width, size_t height, size_t depth)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = floats(width, height, depth);
    CUarray array = NULL;

    OK(cuArray3DCreate_v2(&array, &shape));
    return array;
}

/* ---- life and shape ---- */

TEST(array_plain, keeps_its_descriptor)
{
    CUDA_ARRAY_DESCRIPTOR flat;
    CUDA_ARRAY_DESCRIPTOR_v1 flat_v1;
    CUDA_ARRAY3D_DESCRIPTOR deep;
    CUDA_ARRAY3D_DESCRIPTOR_v1 deep_v1;
    CUarray array;

    start();
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 5, .Height = 3, .Format = CU_AD_FORMAT_HALF, .NumChannels = 4};
    OK(cuArrayCreate_v2(&array, &shape));
    OK(cuArrayGetDescriptor_v2(&flat, array));
    T_EQ(flat.Width, 5);
    T_EQ(flat.Height, 3);
    T_EQ(flat.Format, CU_AD_FORMAT_HALF);
    T_EQ(flat.NumChannels, 4);
    OK(cuArrayGetDescriptor(&flat_v1, array));
    T_EQ(flat_v1.Height, 3);
    OK(cuArray3DGetDescriptor_v2(&deep, array)); /* may be called for 1D and 2D arrays */
    T_EQ(deep.Depth, 0);
    OK(cuArrayDestroy(array));
    T_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuArrayGetDescriptor_v2(&flat, array), CUDA_ERROR_INVALID_HANDLE);

    CUDA_ARRAY3D_DESCRIPTOR_v1 layered = {.Width = 8,
                                          .Height = 8,
                                          .Depth = 6,
                                          .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                          .NumChannels = 2,
                                          .Flags = CUDA_ARRAY3D_CUBEMAP};
    OK(cuArray3DCreate(&array, &layered));
    OK(cuArray3DGetDescriptor(&deep_v1, array));
    T_EQ(deep_v1.Depth, 6);
    T_EQ(deep_v1.Flags, CUDA_ARRAY3D_CUBEMAP);
    OK(cuArrayDestroy(array));
    CUDA_ARRAY_DESCRIPTOR_v1 line = {
        .Width = 100, .Format = CU_AD_FORMAT_SIGNED_INT32, .NumChannels = 1};
    OK(cuArrayCreate(&array, &line));
    OK(cuArrayDestroy(array));
}

TEST(array_plain, shapes_that_exist)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = floats(4, 4, 4);
    CUarray array;

    start();
    REFUSED(cuArray3DCreate_v2(NULL, &shape));
    REFUSED(cuArray3DCreate_v2(&array, NULL));
    shape.NumChannels = 3;
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape = floats(0, 4, 4);
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape = floats(4, 0, 4); /* a depth without a height is for layers */
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape.Flags = CUDA_ARRAY3D_LAYERED;
    OK(cuArray3DCreate_v2(&array, &shape));
    OK(cuArrayDestroy(array));
    shape = floats(4, 5, 6), shape.Flags = CUDA_ARRAY3D_CUBEMAP; /* not square */
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape = floats(4, 4, 5), shape.Flags = CUDA_ARRAY3D_CUBEMAP; /* not six faces */
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape = floats(4, 4, 12), shape.Flags = CUDA_ARRAY3D_CUBEMAP;
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape.Flags |= CUDA_ARRAY3D_LAYERED;
    OK(cuArray3DCreate_v2(&array, &shape));
    OK(cuArrayDestroy(array));
    shape = floats(4, 4, 4), shape.Flags = CUDA_ARRAY3D_TEXTURE_GATHER; /* 2D arrays only */
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape = floats(4, 4, 4), shape.Flags = 0x8000;
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape = floats(4, 4, 4), shape.Format = (CUarray_format)0x77;
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    int most;
    OK(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 0));
    shape = floats((size_t)most + 1, 0, 0);
    REFUSED(cuArray3DCreate_v2(&array, &shape));
    shape.Width--;
    OK(cuArray3DCreate_v2(&array, &shape));
    OK(cuArrayDestroy(array));
}

TEST(array_plain, takes_memory_and_gives_it_back)
{
    size_t before, during, after, total;
    CUDA_ARRAY3D_DESCRIPTOR huge = floats(16384, 16384, 64);
    CUarray array;

    setenv("FAKEVMM_MEMORY", "64M", 1);
    start();
    OK(cuMemGetInfo_v2(&before, &total));
    array = new_array(1024, 1024, 0);
    OK(cuMemGetInfo_v2(&during, &total));
    T_LE(during, before - 1024 * 1024 * sizeof(float));
    OK(cuArrayDestroy(array));
    OK(cuMemGetInfo_v2(&after, &total));
    T_EQ(after, before);
    T_EQ(cuArray3DCreate_v2(&array, &huge), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(array_plain, ends_with_its_context)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = floats(8, 8, 0);
    CUmipmappedArray mipmap;

    CUcontext context = start();
    CUarray array = new_array(8, 8, 0);
    OK(cuMipmappedArrayCreate(&mipmap, &shape, 3));
    OK(cuCtxDestroy_v2(context));
    start();
    T_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
}

/* ---- copies of one dimension ---- */

TEST(array_plain, lines)
{
    float in[32], out[32] = {0};

    start();
    CUarray array = new_array(32, 0, 0), other = new_array(32, 0, 0);
    CUdeviceptr device = allocate(sizeof in);

    for (int i = 0; i < 32; i++)
        in[i] = (float)i;
    OK(cuMemcpyHtoA_v2(array, 0, in, sizeof in));
    OK(cuMemcpyAtoA_v2(other, 16, array, 8, 64)); /* elements 4 to 5, of the second from 2 */
    OK(cuMemcpyAtoD_v2(device, other, 16, 64));
    OK(cuMemcpyDtoA_v2(array, 0, device, 64));
    OK(cuMemcpyAtoH_v2(out, array, 0, sizeof out));
    for (int i = 0; i < 32; i++)
        T_EQ((int)out[i], i < 16 ? i + 2 : i);
    REFUSED(cuMemcpyHtoA_v2(array, 2, in, 8)); /* inside an element */
    REFUSED(cuMemcpyHtoA_v2(array, 0, in, 6));
    REFUSED(cuMemcpyHtoA_v2(array, 64, in, 128)); /* behind the end */
    REFUSED(cuMemcpyAtoH_v2(out, (CUarray)out, 0, 8));
    REFUSED(cuMemcpyAtoH_v2(NULL, array, 0, 8));
    REFUSED(cuMemcpyAtoD_v2(0, array, 0, 8));
}

TEST(array_plain, lines_follow_the_stream)
{
    float *in, *out;
    atomic_bool open;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUarray array = new_array(4, 0, 0);

    OK(cuMemAllocHost_v2((void **)&in, 16));
    OK(cuMemAllocHost_v2((void **)&out, 16));
    close_gate(stream, &open);
    OK(cuMemcpyHtoAAsync_v2(array, 0, in, 16, stream));
    OK(cuMemcpyAtoHAsync_v2(out, array, 0, 16, stream));
    for (int i = 0; i < 4; i++)
        in[i] = (float)i + 1; /* pinned memory is read in stream order */
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 4; i++)
        T_EQ((int)out[i], i + 1);
}

TEST(array_plain, first_versions)
{
    float in[4] = {1, 2, 3, 4}, out[4] = {0};

    start();
    CUarray array = new_array(4, 0, 0), other = new_array(4, 0, 0);

    OK(cuMemcpyHtoA(array, 0, in, 16));
    OK(cuMemcpyAtoA(other, 0, array, 0, 16));
    OK(cuMemcpyAtoH(out, other, 4, 8));
    T_EQ((int)out[0], 2);
    T_EQ((int)out[1], 3);
    OK(cuMemcpyHtoAAsync(array, 8, in, 8, NULL));
    OK(cuMemcpyAtoHAsync(out, array, 8, 8, NULL));
    T_EQ((int)out[1], 2);
    REFUSED(cuMemcpyAtoD(4096, array, 0, 4));
    REFUSED(cuMemcpyDtoA(array, 0, 4096, 4));
}

TEST(array_plain, elements_of_two_arrays_must_be_of_one_size)
{
    CUarray bytes, floats = NULL;

    start();
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 16, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    OK(cuArrayCreate_v2(&bytes, &shape));
    shape.NumChannels = 4; /* not the same format, but the same size */
    CUarray quads;
    OK(cuArrayCreate_v2(&quads, &shape));
    floats = new_array(16, 0, 0);
    REFUSED(cuMemcpyAtoA_v2(floats, 0, bytes, 0, 16));
    OK(cuMemcpyAtoA_v2(floats, 0, quads, 0, 16));
}

/* ---- copies of more dimensions ---- */

TEST(array_plain, boxes)
{
    float in[2][3][4], out[2][2][2] = {0};

    start();
    CUarray array = new_array(4, 3, 2);
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = sizeof in[0][0],
                          .srcHeight = 3,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof in[0][0],
                          .Height = 3,
                          .Depth = 2};

    for (int i = 0; i < 24; i++)
        ((float *)in)[i] = (float)i;
    OK(cuMemcpy3D_v2(&copy));
    copy = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .srcXInBytes = 2 * sizeof(float),
                           .srcY = 1,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = out,
                           .dstPitch = sizeof out[0][0],
                           .dstHeight = 2,
                           .WidthInBytes = sizeof out[0][0],
                           .Height = 2,
                           .Depth = 2};
    OK(cuMemcpy3D_v2(&copy));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 2; x++)
                T_EQ((int)out[z][y][x], (int)in[z][y + 1][x + 2]);
    copy.srcZ = 1; /* two slices from the second of two */
    REFUSED(cuMemcpy3D_v2(&copy));
    copy.srcZ = 0, copy.srcXInBytes = 3 * sizeof(float);
    REFUSED(cuMemcpy3D_v2(&copy));
    copy.srcXInBytes = 2;
    REFUSED(cuMemcpy3D_v2(&copy));
}

/* A memcpy node of a graph copies what the call copies. */
TEST(array_plain, a_graph_copies_from_an_array)
{
    float in[3][4], out[2][2] = {0};
    CUDA_MEMCPY3D shown;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;

    CUcontext context = start();
    CUarray array = new_array(4, 3, 0);
    for (int i = 0; i < 12; i++)
        ((float *)in)[i] = (float)i;
    OK(cuMemcpy2D_v2(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,
                                      .srcHost = in,
                                      .srcPitch = sizeof in[0],
                                      .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                      .dstArray = array,
                                      .WidthInBytes = sizeof in[0],
                                      .Height = 3}));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                          .srcArray = array,
                          .srcXInBytes = sizeof(float),
                          .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = sizeof out[0],
                          .WidthInBytes = sizeof out[0],
                          .Height = 2,
                          .Depth = 1};
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    OK(cuGraphMemcpyNodeGetParams(node, &shown));
    T_EQ(memcmp(&shown, &copy, sizeof copy), 0);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++)
            T_EQ((int)out[y][x], (int)in[y + 1][x + 1]);
    copy.srcY = 2;
    REFUSED(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* ---- mipmapped arrays ---- */

TEST(array_plain, levels_halve_their_extents)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = floats(8, 4, 0), level;
    CUmipmappedArray mipmap;
    CUarray array, again;

    start();
    OK(cuMipmappedArrayCreate(&mipmap, &shape, 100)); /* clamped to 1 + floor(log2(8)) */
    for (unsigned i = 0; i < 4; i++) {
        OK(cuMipmappedArrayGetLevel(&array, mipmap, i));
        OK(cuArray3DGetDescriptor_v2(&level, array));
        T_EQ(level.Width, 8 >> i);
        T_EQ(level.Height, 4 >> i ? 4 >> i : 1);
        T_EQ(level.Depth, 0);
    }
    REFUSED(cuMipmappedArrayGetLevel(&array, mipmap, 4));
    OK(cuMipmappedArrayGetLevel(&array, mipmap, 1));
    OK(cuMipmappedArrayGetLevel(&again, mipmap, 1));
    T_PTR_EQ(array, again);

    float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = 16,
                          .Height = 2};
    OK(cuMemcpy2D_v2(&copy));
    copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = out,
                           .dstPitch = 16,
                           .WidthInBytes = 16,
                           .Height = 2};
    OK(cuMemcpy2D_v2(&copy));
    T_EQ(memcmp(in, out, sizeof in), 0);
    T_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE); /* goes with the whole */
    OK(cuMipmappedArrayDestroy(mipmap));
    T_EQ(cuMipmappedArrayDestroy(mipmap), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuMipmappedArrayGetLevel(&array, mipmap, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST(array_plain, layers_keep_their_number)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = floats(4, 4, 5), level;
    CUmipmappedArray mipmap;
    CUarray array;

    start();
    shape.Flags = CUDA_ARRAY3D_LAYERED;
    OK(cuMipmappedArrayCreate(&mipmap, &shape, 3));
    OK(cuMipmappedArrayGetLevel(&array, mipmap, 2));
    OK(cuArray3DGetDescriptor_v2(&level, array));
    T_EQ(level.Width, 1);
    T_EQ(level.Depth, 5);
    OK(cuMipmappedArrayDestroy(mipmap));
}

/* What is documented for arrays that are not sparse, not mapped later, not of several planes. */
TEST(array_plain, questions_for_other_arrays)
{
    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUarray plane;

    start();
    CUarray array = new_array(8, 8, 0);
    REFUSED(cuArrayGetSparseProperties(&sparse, array));
    REFUSED(cuArrayGetMemoryRequirements(&requirements, array, 0));
    REFUSED(cuArrayGetPlane(&plane, array, 0));
}
