/* symbols: variables of the device: constants that the host sets, arrays it reads back by name or
 * by address, initialised ones, and copies to and from them as nodes of a graph. */
#include "tests/apps/cuda_app.h"

static const unsigned count = 64, terms = 6;

struct table {
    int offset;
    double weights[terms];
};

__constant__ table polynomial = {7, {1, 2, 3, 4, 5, 6}};
__device__ double results[count];
__device__ unsigned calls = 40;
__device__ unsigned short pairs[3][2] = {{1, 2}, {3, 4}, {5, 6}};
__device__ unsigned short *middle = pairs[1]; /* the address of one variable in another */

__global__ void evaluate(double scale)
{
    double x = scale * threadIdx.x, sum = 0;

    for (int i = terms - 1; i >= 0; i--)
        sum = fma(sum, x, polynomial.weights[i]);
    results[threadIdx.x] = sum + polynomial.offset;
    if (threadIdx.x == 0)
        calls++;
    if (threadIdx.x < 2)
        middle[threadIdx.x] += threadIdx.x + 1;
}

static void evaluate_on_cpu(const table *t, double scale, double *out)
{
    for (unsigned i = 0; i < count; i++) {
        double x = scale * i, sum = 0;
        for (int k = terms - 1; k >= 0; k--)
            sum = fma(sum, x, t->weights[k]);
        out[i] = sum + t->offset;
    }
}

static void check_names(unsigned launches)
{
    unsigned got_calls;
    unsigned short got[3][2];
    size_t bytes;
    void *address;

    CALL(cudaMemcpyFromSymbol(&got_calls, calls, sizeof got_calls));
    expect_same("calls", got_calls, 40 + launches);
    CALL(cudaGetSymbolSize(&bytes, pairs));
    expect_same("size of a symbol", bytes, sizeof got);
    CALL(cudaGetSymbolAddress(&address, pairs));
    CALL(cudaMemcpy(got, address, sizeof got, cudaMemcpyDeviceToHost));
    unsigned short want[3][2] = {
        {1, 2}, {(unsigned short)(3 + launches), (unsigned short)(4 + 2 * launches)}, {5, 6}};
    expect_same("pairs", &got[0][0], &want[0][0], 6);
}

/* In: the table, out: the results, both through nodes that name the variable. */
static cudaGraphExec_t build(const table *in, double *out)
{
    cudaGraphNode_t nodes[3];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    double scale = 0.5;
    void *arguments[] = {&scale};
    cudaKernelNodeParams kernel = {};

    kernel.func = (void *)evaluate;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(count);
    kernel.kernelParams = arguments;
    CALL(cudaGraphCreate(&graph, 0));
    CALL(cudaGraphAddMemcpyNodeToSymbol(&nodes[0], graph, NULL, 0, polynomial, in, sizeof *in, 0,
                                        cudaMemcpyHostToDevice));
    CALL(cudaGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &kernel));
    CALL(cudaGraphAddMemcpyNodeFromSymbol(&nodes[2], graph, &nodes[1], 1, out, results,
                                          count * sizeof *out, 0, cudaMemcpyDeviceToHost));
    CALL(cudaGraphInstantiate(&exec, graph, 0));
    CALL(cudaGraphDestroy(graph));
    return exec;
}

static double random_weight(uint64_t *random)
{
    return (double)(int64_t)app_random(random) / (double)(1ll << 62);
}

int main(int argc, char **argv)
{
    app_options options = {};
    table host = {7, {1, 2, 3, 4, 5, 6}};
    double want[count], got[count];
    unsigned launches = 0;
    cudaStream_t stream;

    options.steps = 3;
    options.seed = 1;
    app_parse(argc, argv, "variables of the device", &options);
    CALL(cudaStreamCreate(&stream));
    cudaGraphExec_t exec = build(&host, got);

    uint64_t random = options.seed, checksum = APP_CHECKSUM_START;
    for (uint64_t step = 0; step < options.steps; step++) {
        evaluate<<<1, count, 0, stream>>>(0.25); /* at first with the values of the source text */
        CALL_KERNEL("evaluate");
        CALL(
            cudaMemcpyFromSymbolAsync(got, results, sizeof got, 0, cudaMemcpyDeviceToHost, stream));
        CALL(cudaStreamSynchronize(stream));
        evaluate_on_cpu(&host, 0.25, want);
        expect_same("results", got, want, count);
        check_names(++launches);

        double weight = random_weight(&random);
        host.weights[2] = weight;
        CALL(cudaMemcpyToSymbol(polynomial, &weight, sizeof weight, offsetof(table, weights[2])));
        evaluate<<<1, count, 0, stream>>>(1);
        CALL_KERNEL("evaluate");
        CALL(cudaStreamSynchronize(stream));
        CALL(cudaMemcpyFromSymbol(got, results, sizeof got / 2, sizeof got / 2));
        evaluate_on_cpu(&host, 1, want);
        expect_same("second half of the results", got, want + count / 2, count / 2);
        check_names(++launches);

        host.offset = (int)step;
        for (double &w : host.weights)
            w = random_weight(&random);
        CALL(cudaGraphLaunch(exec, stream));
        CALL(cudaStreamSynchronize(stream));
        evaluate_on_cpu(&host, 0.5, want);
        expect_same("results of the graph", got, want, count);
        check_names(++launches);
        checksum = app_checksum(checksum, got, sizeof got);
    }
    CALL(cudaGraphExecDestroy(exec));
    CALL(cudaStreamDestroy(stream));
    return cuda_finish(checksum);
}
