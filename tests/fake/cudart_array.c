/* CUDA arrays through the fake runtime: what they are asked to be, and copies that have one at an
 * end or at both, by their documentation. */
#include "tests/fake/cudart_kernels.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the copies without a width */

#define WIDTH  8 /* elements */
#define HEIGHT 4

static const struct cudaChannelFormatDesc numbers = {32, 0, 0, 0, cudaChannelFormatKindSigned};
static const struct cudaChannelFormatDesc bytes4 = {8, 8, 8, 8, cudaChannelFormatKindUnsigned};

static cudaArray_t plane(void)
{
    cudaArray_t array = NULL;

    OK(cudaMallocArray(&array, &numbers, WIDTH, HEIGHT, cudaArrayDefault));
    T_NOT_NULL(array);
    return array;
}

static void count_from(int *out, int count, int first)
{
    for (int i = 0; i < count; i++)
        out[i] = first + i;
}

TEST(cudart_array, an_array_knows_what_it_is)
{
    cudaArray_t array = plane(), box = NULL;
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent;
    unsigned flags = 99;

    OK(cudaArrayGetInfo(&desc, &extent, &flags, array));
    T_MEM_EQ(&desc, &numbers, sizeof desc);
    T_EQ(extent.width, WIDTH);
    T_EQ(extent.height, HEIGHT);
    T_EQ(extent.depth, 0);
    T_EQ(flags, cudaArrayDefault);
    OK(cudaMalloc3DArray(&box, &bytes4, (struct cudaExtent){6, 5, 4}, cudaArrayDefault));
    OK(cudaArrayGetInfo(NULL, &extent, NULL, box));
    T_EQ(extent.depth, 4);
    OK(cudaGetChannelDesc(&desc, box));
    T_MEM_EQ(&desc, &bytes4, sizeof desc);
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(box));
    OK(cudaFreeArray(NULL));
}

TEST(cudart_array, elements_that_no_array_has_are_refused)
{
    struct cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindSigned};
    struct cudaChannelFormatDesc uneven = {8, 16, 0, 0, cudaChannelFormatKindUnsigned};
    struct cudaChannelFormatDesc gap = {8, 0, 8, 0, cudaChannelFormatKindUnsigned};
    struct cudaChannelFormatDesc tiny = {8, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t array = NULL;

    T_EQ(cudaMallocArray(&array, &three, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
    T_EQ(cudaMallocArray(&array, &uneven, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
    T_EQ(cudaMallocArray(&array, &gap, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
    T_EQ(cudaMallocArray(&array, &tiny, 4, 4, 0), cudaErrorInvalidChannelDescriptor);
    T_EQ(cudaMallocArray(&array, NULL, 4, 4, 0), cudaErrorInvalidValue);
    T_EQ(cudaMallocArray(&array, &numbers, 0, 0, 0), cudaErrorInvalidValue);
    T_EQ(cudaMallocArray(NULL, &numbers, 4, 4, 0), cudaErrorInvalidValue);
    T_NULL(array);
}

TEST(cudart_array, a_channel_descriptor_is_what_was_asked_for)
{
    struct cudaChannelFormatDesc desc =
        cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindSigned);

    T_EQ(desc.x, 16);
    T_EQ(desc.y, 16);
    T_EQ(desc.z, 0);
    T_EQ(desc.w, 0);
    T_EQ(desc.f, cudaChannelFormatKindSigned);
}

TEST(cudart_array, rectangles_go_in_and_out)
{
    cudaArray_t array = plane(), other = plane();
    int in[WIDTH * HEIGHT], out[WIDTH * HEIGHT] = {0}, part[4] = {0};
    size_t row = WIDTH * sizeof(int);
    cudaStream_t stream;

    count_from(in, WIDTH * HEIGHT, 1);
    OK(cudaMemcpy2DToArray(array, 0, 0, in, row, row, HEIGHT, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, row, HEIGHT, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DFromArray(out, row, other, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost));
    T_MEM_EQ(in, out, sizeof in);
    OK(cudaMemcpy2DFromArray(part, 8, array, 12, 2, 8, 2, cudaMemcpyDefault));
    T_EQ(part[0], in[2 * WIDTH + 3]);
    T_EQ(part[3], in[3 * WIDTH + 4]);
    OK(cudaStreamCreate(&stream));
    OK(cudaMemcpy2DToArrayAsync(array, 4, 1, in, 8, 8, 1, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpy2DFromArrayAsync(out, row, array, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost,
                                  stream));
    OK(cudaStreamSynchronize(stream));
    T_EQ(out[WIDTH], in[WIDTH]);
    T_EQ(out[WIDTH + 1], in[0]);
    T_EQ(out[WIDTH + 2], in[1]);
    T_EQ(out[WIDTH + 3], in[WIDTH + 3]);
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(other));
}

TEST(cudart_array, rectangles_that_do_not_fit_are_refused)
{
    cudaArray_t array = plane();
    int memory[WIDTH * HEIGHT] = {0};
    size_t row = WIDTH * sizeof(int);

    T_EQ(cudaMemcpy2DToArray(array, 0, 0, memory, row - 4, row, 1, cudaMemcpyHostToDevice),
         cudaErrorInvalidPitchValue);
    T_EQ(cudaMemcpy2DToArray(array, 4, 0, memory, row, row, 1, cudaMemcpyHostToDevice),
         cudaErrorInvalidValue);
    T_EQ(cudaMemcpy2DFromArray(memory, row, array, 0, 1, row, HEIGHT, cudaMemcpyDeviceToHost),
         cudaErrorInvalidValue);
    T_EQ(cudaMemcpy2DToArray(array, 0, 0, memory, row, row, 1, (enum cudaMemcpyKind)9),
         cudaErrorInvalidMemcpyDirection);
    OK(cudaFreeArray(array));
}

/* Twenty elements from the sixth of row 0 on: a rest of a row, two rows, a part of a row. */
TEST(cudart_array, runs_of_bytes_go_on_in_the_next_row)
{
    cudaArray_t array = plane(), other = plane();
    int in[20], out[20] = {0}, corner = 0;

    count_from(in, 20, 100);
    OK(cudaMemcpyToArray(array, 5 * sizeof(int), 0, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DFromArray(&corner, 4, array, 0, 1, 4, 1, cudaMemcpyDeviceToHost));
    T_EQ(corner, in[3]);
    OK(cudaMemcpyArrayToArray(other, 0, 0, array, 5 * sizeof(int), 0, sizeof in,
                              cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArray(out, other, 0, 0, sizeof out, cudaMemcpyDeviceToHost));
    T_MEM_EQ(in, out, sizeof in);
    T_EQ(cudaMemcpyToArray(array, 0, HEIGHT - 2, in, sizeof in, cudaMemcpyHostToDevice),
         cudaErrorInvalidValue); /* 16 elements are left */
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(other));
}

/* Extents and positions in an array are in its elements, in memory in bytes. */
TEST(cudart_array, boxes_are_measured_in_elements)
{
    struct cudaExtent size = {WIDTH, HEIGHT, 2};
    int in[WIDTH * HEIGHT * 2], out[2] = {0};
    struct cudaMemcpy3DParms to = {.extent = size, .kind = cudaMemcpyHostToDevice}, from = {0};
    cudaArray_t box = NULL;

    count_from(in, WIDTH * HEIGHT * 2, 0);
    OK(cudaMalloc3DArray(&box, &numbers, size, cudaArrayDefault));
    to.srcPtr = (struct cudaPitchedPtr){in, WIDTH * sizeof(int), WIDTH, HEIGHT};
    to.dstArray = box;
    OK(cudaMemcpy3D(&to));
    from.srcArray = box;
    from.srcPos = (struct cudaPos){3, 2, 1};
    from.dstPtr = (struct cudaPitchedPtr){out, sizeof out, sizeof out, 1};
    from.extent = (struct cudaExtent){2, 1, 1};
    from.kind = cudaMemcpyHostToHost; /* an array is on the device all the same */
    OK(cudaMemcpy3D(&from));
    T_EQ(out[0], in[(1 * HEIGHT + 2) * WIDTH + 3]);
    T_EQ(out[1], in[(1 * HEIGHT + 2) * WIDTH + 4]);
    OK(cudaFreeArray(box));
}

TEST(cudart_array, a_box_has_one_place_and_arrays_agree)
{
    cudaArray_t array = plane(), bytes = NULL;
    struct cudaChannelFormatDesc desc = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    int memory[WIDTH];
    struct cudaMemcpy3DParms copy = {
        .dstArray = array, .extent = {WIDTH, 1, 1}, .kind = cudaMemcpyDefault};

    T_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); /* no source */
    OK(cudaMallocArray(&bytes, &desc, WIDTH, HEIGHT, 0));
    copy.srcArray = bytes;
    T_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); /* elements of 1 and of 4 bytes */
    copy.srcArray = array;
    copy.srcPtr = (struct cudaPitchedPtr){memory, sizeof memory, sizeof memory, 1};
    T_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue); /* two sources */
    T_EQ(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(bytes));
}

TEST(cudart_array, levels_halve)
{
    struct cudaExtent size = {16, 8, 0}, extent;
    cudaMipmappedArray_t mipmap = NULL;
    cudaArray_t level = NULL;

    OK(cudaMallocMipmappedArray(&mipmap, &numbers, size, 99, 0)); /* clamped to 1 + log2(16) */
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
    OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
    T_EQ(extent.width, 8);
    T_EQ(extent.height, 4);
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 4));
    OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
    T_EQ(extent.width, 1);
    T_EQ(extent.height, 1);
    T_EQ(cudaGetMipmappedArrayLevel(&level, mipmap, 5), cudaErrorInvalidValue);
    T_EQ(cudaGetMipmappedArrayLevel(&level, NULL, 0), cudaErrorInvalidResourceHandle);
    OK(cudaFreeMipmappedArray(mipmap));
    OK(cudaFreeMipmappedArray(NULL));
}

/* A copy node keeps its arrays, and its parameters read as they were set. */
TEST(cudart_array, copy_nodes_take_arrays)
{
    cudaArray_t array = plane();
    int in[WIDTH] = {0}, out[WIDTH] = {0};
    struct cudaMemcpy3DParms copy = {.dstArray = array,
                                     .dstPos = {0, 1, 0},
                                     .extent = {WIDTH, 1, 1},
                                     .kind = cudaMemcpyHostToDevice},
                             back;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;

    count_from(in, WIDTH, 50);
    copy.srcPtr = (struct cudaPitchedPtr){in, sizeof in, sizeof in, 1};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &copy));
    OK(cudaGraphMemcpyNodeGetParams(node, &back));
    T_PTR_EQ(back.dstArray, array);
    T_PTR_EQ(back.srcPtr.ptr, in);
    T_EQ(back.dstPos.y, 1);
    T_EQ(back.extent.width, WIDTH);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaStreamSynchronize(NULL));
    OK(cudaMemcpy2DFromArray(out, sizeof out, array, 0, 1, sizeof out, 1, cudaMemcpyDeviceToHost));
    T_MEM_EQ(in, out, sizeof in);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeArray(array));
}
