/* copies: rectangles and boxes copied between host memory, pitched device memory and an array, with
 * offsets, by plain calls and by nodes of a graph. A kernel changes the box in between. */
#include "tests/apps/cuda_app.h"

static const unsigned width = 21, height = 13, depth = 5; /* of the box, in elements */
static const unsigned volume = width * height * depth;

__global__ void change(cudaPitchedPtr box, unsigned factor)
{
    unsigned x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    char *row = (char *)box.ptr + (z * height + y) * box.pitch;

    ((unsigned *)row)[x] = ((unsigned *)row)[x] * factor + (z << 16 | y << 8 | x);
}

static void change_model(unsigned *box, unsigned factor)
{
    for (unsigned i = 0; i < volume; i++)
        box[i] =
            box[i] * factor + (i / (width * height) << 16 | i / width % height << 8 | i % width);
}

static cudaPitchedPtr in_host(unsigned *data)
{
    return make_cudaPitchedPtr(data, width * sizeof *data, width, height);
}

/* A part of `from` to the same place of `to`; in bytes, rows and slices. */
static cudaMemcpy3DParms part(cudaPitchedPtr from, cudaPitchedPtr to, cudaPos at, cudaExtent extent,
                              cudaMemcpyKind kind)
{
    cudaMemcpy3DParms params = {};

    params.srcPtr = from;
    params.dstPtr = to;
    params.srcPos = at;
    params.dstPos = at;
    params.extent = extent;
    params.kind = kind;
    return params;
}

static const cudaExtent whole = {width * sizeof(unsigned), height, depth};

/* The whole box there and back; then a part of the middle alone goes back into the cleared host. */
static void check_boxes(cudaPitchedPtr box, unsigned *model, unsigned *got, unsigned factor)
{
    static unsigned want[volume];
    cudaPos corner = {4 * sizeof(unsigned), 3, 1}, origin = {0, 0, 0};
    cudaExtent middle = {9 * sizeof(unsigned), 6, 3};
    cudaMemcpy3DParms in = part(in_host(model), box, origin, whole, cudaMemcpyHostToDevice);
    cudaMemcpy3DParms out = part(box, in_host(got), corner, middle, cudaMemcpyDeviceToHost);

    CALL(cudaMemcpy3D(&in));
    change<<<dim3(height, depth), width>>>(box, factor);
    CALL_KERNEL("change");
    change_model(model, factor);
    memset(got, 0, volume * sizeof *got);
    memset(want, 0, sizeof want);
    for (unsigned z = 1; z < 4; z++)
        for (unsigned y = 3; y < 9; y++)
            memcpy(want + (z * height + y) * width + 4, model + (z * height + y) * width + 4,
                   middle.width);
    CALL(cudaMemcpy3D(&out));
    expect_same("middle of the box", got, want, volume);
}

/* Slices of the box as rectangles, one filled by memset and one copied inside the device. */
static void check_rectangles(cudaPitchedPtr box, unsigned *model, unsigned *got)
{
    const size_t row = width * sizeof *got;
    char *slice[3];

    for (unsigned z = 0; z < 3; z++)
        slice[z] = (char *)box.ptr + z * height * box.pitch;
    CALL(cudaMemset2D(slice[0] + 8, box.pitch, 0x5a, 20, height - 2));
    for (unsigned y = 0; y < height - 2; y++)
        memset((char *)(model + y * width) + 8, 0x5a, 20);
    CALL(cudaMemcpy2D(slice[1], box.pitch, slice[2] + box.pitch, box.pitch, row, height - 1,
                      cudaMemcpyDeviceToDevice));
    memcpy(model + height * width, model + (2 * height + 1) * width, row * (height - 1));
    CALL(cudaMemcpy2D(got, row, box.ptr, box.pitch, row, height * depth, cudaMemcpyDeviceToHost));
    expect_same("slices", got, model, volume);
}

/* Through a two-dimensional array and back, the second row first. */
static void check_array(cudaArray_t array, const unsigned *model, unsigned *got)
{
    const size_t row = width * sizeof *got;

    CALL(cudaMemcpy2DToArray(array, 0, 0, model, row, row, height, cudaMemcpyHostToDevice));
    memset(got, 0, height * row);
    CALL(cudaMemcpy2DFromArray(got, row, array, 8, 1, row - 8, height - 1, cudaMemcpyDeviceToHost));
    for (unsigned y = 0; y + 1 < height; y++) {
        expect_same("row of the array", got + y * width, model + (y + 1) * width + 2, width - 2);
        expect_same("what the copy leaves alone", got[y * width + width - 1], 0u);
    }
}

/* A graph that copies the box in, changes it and copies it out. A copy of more than one dimension
 * can only be changed before the graph is instantiated. */
static void check_graph(cudaPitchedPtr box, unsigned *model, unsigned *got, unsigned factor)
{
    static unsigned other[volume];
    cudaPos origin = {0, 0, 0};
    cudaMemcpy3DParms in = part(in_host(model), box, origin, whole, cudaMemcpyHostToDevice);
    cudaMemcpy3DParms out = part(box, in_host(got), origin, whole, cudaMemcpyDeviceToHost);
    cudaMemcpy3DParms elsewhere = part(box, in_host(other), origin, whole, cudaMemcpyDeviceToHost);
    cudaKernelNodeParams kernel = {};
    void *arguments[] = {&box, &factor};
    cudaGraphNode_t nodes[3];
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    kernel.func = (void *)change;
    kernel.gridDim = dim3(height, depth);
    kernel.blockDim = dim3(width);
    kernel.kernelParams = arguments;
    CALL(cudaGraphCreate(&graph, 0));
    CALL(cudaGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &in));
    CALL(cudaGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel));
    CALL(cudaGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &out));
    CALL(cudaGraphInstantiate(&exec, graph, 0));
    CALL(cudaGraphLaunch(exec, 0));
    CALL(cudaStreamSynchronize(0));
    CALL(cudaGraphExecDestroy(exec));
    CALL(cudaGraphMemcpyNodeSetParams(nodes[2], &elsewhere));
    CALL(cudaGraphInstantiate(&exec, graph, 0));
    CALL(cudaGraphLaunch(exec, 0));
    CALL(cudaStreamSynchronize(0));
    change_model(model, factor);
    expect_same("box of the graph", got, model, volume);
    expect_same("box of the graph, elsewhere", other, model, volume);
    CALL(cudaGraphExecDestroy(exec));
    CALL(cudaGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    app_options options = {};
    static unsigned model[volume], got[volume];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    cudaPitchedPtr box;
    cudaArray_t array;

    options.steps = 3;
    options.seed = 1;
    app_parse(argc, argv, "copies of rectangles and boxes", &options);
    CALL(cudaMalloc3D(&box, whole));
    if (box.pitch < whole.width)
        app_fail("cudaMalloc3D", "the pitch is less than a row");
    CALL(cudaMallocArray(&array, &format, width, height));

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        for (unsigned &value : model)
            value = (unsigned)app_random(&random);
        check_boxes(box, model, got, 3);
        check_rectangles(box, model, got);
        check_array(array, model, got);
        check_graph(box, model, got, 5);
        checksum = app_checksum(checksum, got, sizeof got);
    }
    CALL(cudaFreeArray(array));
    CALL(cudaFree(box.ptr));
    return cuda_finish(checksum);
}
