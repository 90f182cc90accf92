/* saxpy_graph: y = a * x + y over many buffers, as one explicit graph of nvcc-compiled kernels.
 * Every step re-sends the parameters of all nodes, launches and synchronises; in every tenth step
 * the scalar of one node changes and keeps its new value. It knows nothing of libvaremap or the
 * fake GPU. */
#include "tests/apps/app.h"
#include <cuda_runtime.h>

static const unsigned block_size = 16;
static const uint64_t change_every = 10; /* steps from one change to the next */

/* Thread t works on element t * stride, the last thread on the last element. */
__global__ void saxpy(float a, const float *x, float *y, unsigned touched, uint64_t stride,
                      uint64_t last)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t >= touched)
        return;
    uint64_t i = t + 1 == touched ? last : t * stride;
    y[i] = a * x[i] + y[i];
}

struct saxpy_app {
    struct app_options options;
    struct app_reach reach;
    struct app_tally tally;
    uint64_t random;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t *nodes;
    float *a;  /* the scalar of each node */
    float *x;  /* device memory all nodes read */
    float **y; /* device memory of each node */
};

#define CALL(call) check(#call, call)

static void check(const char *call, cudaError_t error)
{
    if (error != cudaSuccess)
        app_fail(call, cudaGetErrorName(error));
}

/* In (-1, 1), a multiple of 2^-11. */
static float random_float(uint64_t *random)
{
    return (float)((int)(app_random(random) >> 52) - 2048) / 2048.0f;
}

static unsigned grid_size(const saxpy_app *s)
{
    return (s->reach.touched + block_size - 1) / block_size;
}

static float *new_buffer(saxpy_app *s)
{
    size_t piece = s->reach.piece_bytes;
    float *host = (float *)app_alloc(1, piece);
    char *device;

    CALL(cudaMalloc(&device, s->options.bytes));
    for (size_t i = 0; i < s->reach.pieces; i++) {
        for (size_t e = 0; e < piece / sizeof *host; e++)
            host[e] = random_float(&s->random);
        CALL(cudaMemcpy(device + app_piece(&s->reach, i), host, piece, cudaMemcpyHostToDevice));
    }
    free(host);
    return (float *)device;
}

/* One plain launch for each node before there is a graph: the usual warm-up. */
static void make_buffers(saxpy_app *s)
{
    s->a = (float *)app_alloc(s->options.nodes, sizeof *s->a);
    s->y = (float **)app_alloc(s->options.nodes, sizeof *s->y);
    s->x = new_buffer(s);
    for (uint64_t k = 0; k < s->options.nodes; k++) {
        s->a[k] = random_float(&s->random);
        s->y[k] = new_buffer(s);
        saxpy<<<grid_size(s), block_size, 0, s->stream>>>(s->a[k], s->x, s->y[k], s->reach.touched,
                                                          s->reach.stride, s->reach.last);
        CALL(cudaGetLastError());
    }
}

/* `values` gets the addresses of the parameters; the answer is good as long as both live. */
static cudaKernelNodeParams node_params(saxpy_app *s, uint64_t k, void *values[6])
{
    cudaKernelNodeParams params = {};

    values[0] = &s->a[k];
    values[1] = &s->x;
    values[2] = &s->y[k];
    values[3] = &s->reach.touched;
    values[4] = &s->reach.stride;
    values[5] = &s->reach.last;
    params.func = (void *)saxpy;
    params.gridDim = dim3(grid_size(s));
    params.blockDim = dim3(block_size);
    params.kernelParams = values;
    return params;
}

static void make_graph(saxpy_app *s)
{
    void *values[6];

    s->nodes = (cudaGraphNode_t *)app_alloc(s->options.nodes, sizeof *s->nodes);
    CALL(cudaGraphCreate(&s->graph, 0));
    for (uint64_t k = 0; k < s->options.nodes; k++) {
        cudaKernelNodeParams params = node_params(s, k, values);
        CALL(cudaGraphAddKernelNode(&s->nodes[k], s->graph, k ? &s->nodes[k - 1] : NULL, k ? 1 : 0,
                                    &params));
    }
    CALL(cudaGraphInstantiate(&s->exec, s->graph, 0));
}

static void step(saxpy_app *s, uint64_t number)
{
    void *values[6];

    if (number % change_every == change_every - 1)
        s->a[number / change_every % s->options.nodes] = random_float(&s->random);
    uint64_t start = app_now();
    for (uint64_t k = 0; k < s->options.nodes; k++) {
        cudaKernelNodeParams params = node_params(s, k, values);
        s->tally.updates++;
        CALL(cudaGraphExecKernelNodeSetParams(s->exec, s->nodes[k], &params));
    }
    s->tally.launches++;
    CALL(cudaGraphLaunch(s->exec, s->stream));
    s->tally.host_ns += app_now() - start;
    CALL(cudaStreamSynchronize(s->stream));
}

static void read_buffers(saxpy_app *s)
{
    size_t piece = s->reach.piece_bytes;
    void *host = app_alloc(1, piece);

    s->tally.checksum = APP_CHECKSUM_START;
    for (uint64_t k = 0; k < s->options.nodes; k++) {
        const char *device = (const char *)s->y[k];
        for (size_t i = 0; i < s->reach.pieces; i++) {
            CALL(cudaMemcpy(host, device + app_piece(&s->reach, i), piece, cudaMemcpyDeviceToHost));
            s->tally.checksum = app_checksum(s->tally.checksum, host, piece);
        }
    }
    free(host);
}

static void clean_up(saxpy_app *s)
{
    CALL(cudaGraphExecDestroy(s->exec));
    CALL(cudaGraphDestroy(s->graph));
    for (uint64_t k = 0; k < s->options.nodes; k++)
        CALL(cudaFree(s->y[k]));
    CALL(cudaFree(s->x));
    CALL(cudaStreamDestroy(s->stream));
    free(s->nodes);
    free(s->y);
    free(s->a);
}

int main(int argc, char **argv)
{
    saxpy_app s = {};

    s.options.steps = 100;
    s.options.nodes = 16;
    s.options.bytes = 65536;
    s.options.seed = 1;
    app_parse(argc, argv, "saxpy kernels in a graph whose parameters are sent before each launch",
              &s.options);
    s.reach = app_reach(s.options.bytes, sizeof(float));
    s.random = s.options.seed;
    CALL(cudaStreamCreate(&s.stream));
    make_buffers(&s);
    make_graph(&s);
    CALL(cudaStreamSynchronize(s.stream));
    for (uint64_t number = 0; number < s.options.steps; number++)
        step(&s, number);
    read_buffers(&s);
    clean_up(&s);
    return app_finish(&s.options, &s.tally);
}
