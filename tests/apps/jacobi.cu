/* jacobi: solves A x = b, one sweep per step, as a graph of a memset, a kernel and a copy. The two
 * vectors of unknowns take turns, so that the kernel's arguments change in every step: mode
 * `setters` sends them to the kernel node, mode `capture` captures the step again and updates the
 * whole graph. */
#include "tests/apps/cuda_app.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

static const unsigned unknowns = 96, block_size = 128, rows_per_block = 12;
static const char *const modes[] = {"setters", "capture", NULL};

/* One sweep: each tile of 32 threads takes a row at a time; x stays in shared memory. The sum of
 * all changes is added to *change. */
__global__ void sweep(const float *a, const double *b, const double *x, double *x_new,
                      double *change)
{
    __shared__ double x_shared[unknowns], changes[block_size / 32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    double tile_change = 0;

    for (unsigned i = block.thread_rank(); i < unknowns; i += block.size())
        x_shared[i] = x[i];
    block.sync();
    for (unsigned r = tile.meta_group_rank(); r < rows_per_block; r += tile.meta_group_size()) {
        unsigned row = blockIdx.x * rows_per_block + r;
        double sum = 0;
        for (unsigned i = tile.thread_rank(); i < unknowns; i += tile.size())
            sum += (double)a[row * unknowns + i] * x_shared[i];
        sum = cg::reduce(tile, sum, cg::plus<double>());
        double step = (b[row] - sum) / a[row * unknowns + row];
        if (tile.thread_rank() == 0)
            x_new[row] = x_shared[row] + step;
        tile_change += fabs(step);
    }
    if (tile.thread_rank() == 0)
        changes[tile.meta_group_rank()] = tile_change;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        double sum = tile.thread_rank() < block_size / 32 ? changes[tile.thread_rank()] : 0;
        for (unsigned width = tile.size() / 2; width > 0; width /= 2)
            sum += tile.shfl_down(sum, width);
        if (tile.thread_rank() == 0)
            atomicAdd(change, sum);
    }
}

struct jacobi_app {
    struct app_options options;
    struct app_tally tally;
    float host_a[unknowns * unknowns];
    double host_b[unknowns], host_x[unknowns], reference[unknowns];
    float *a;
    double *b, *x[2], *change; /* x[step % 2] is read, the other written */
    double *host_change;       /* pinned */
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphNode_t kernel;
    cudaGraphExec_t exec;
};

/* A strong diagonal, so that the sweeps converge. */
static void make_system(jacobi_app *j)
{
    uint64_t random = j->options.seed;

    for (unsigned i = 0; i < unknowns * unknowns; i++)
        j->host_a[i] = (float)(app_random(&random) % 1000) / 1000.0f;
    for (unsigned i = 0; i < unknowns; i++) {
        j->host_a[i * unknowns + i] += unknowns;
        j->host_b[i] = (double)(app_random(&random) % 1000) - 500;
    }
    j->a = to_device(j->host_a, unknowns * unknowns);
    j->b = to_device(j->host_b, unknowns);
    for (int i = 0; i < 2; i++)
        j->x[i] = device_array<double>(unknowns);
    j->change = device_array<double>(1);
    CALL(cudaMallocHost(&j->host_change, sizeof(double)));
}

/* `values` gets the addresses of the arguments; the answer is good as long as both live. */
static cudaKernelNodeParams kernel_params(jacobi_app *j, uint64_t step, void *values[5])
{
    cudaKernelNodeParams params = {};

    values[0] = &j->a;
    values[1] = &j->b;
    values[2] = &j->x[step % 2];
    values[3] = &j->x[(step + 1) % 2];
    values[4] = &j->change;
    params.func = (void *)sweep;
    params.gridDim = dim3(unknowns / rows_per_block);
    params.blockDim = dim3(block_size);
    params.kernelParams = values;
    return params;
}

static void build_graph(jacobi_app *j)
{
    cudaGraphNode_t clear, copy;
    void *values[5];
    cudaKernelNodeParams params = kernel_params(j, 0, values);
    cudaMemsetParams zero = {};

    zero.dst = j->change;
    zero.elementSize = 4;
    zero.width = sizeof(double) / 4;
    zero.height = 1;
    CALL(cudaGraphCreate(&j->graph, 0));
    CALL(cudaGraphAddMemsetNode(&clear, j->graph, NULL, 0, &zero));
    CALL(cudaGraphAddKernelNode(&j->kernel, j->graph, &clear, 1, &params));
    CALL(cudaGraphAddMemcpyNode1D(&copy, j->graph, &j->kernel, 1, j->host_change, j->change,
                                  sizeof(double), cudaMemcpyDeviceToHost));
}

static void capture_graph(jacobi_app *j, uint64_t step)
{
    CALL(cudaStreamBeginCapture(j->stream, cudaStreamCaptureModeGlobal));
    CALL(cudaMemsetAsync(j->change, 0, sizeof(double), j->stream));
    sweep<<<unknowns / rows_per_block, block_size, 0, j->stream>>>(j->a, j->b, j->x[step % 2],
                                                                   j->x[(step + 1) % 2], j->change);
    CALL_KERNEL("sweep");
    CALL(cudaMemcpyAsync(j->host_change, j->change, sizeof(double), cudaMemcpyDeviceToHost,
                         j->stream));
    CALL(cudaStreamEndCapture(j->stream, &j->graph));
}

static void update_by_setter(jacobi_app *j, uint64_t step)
{
    void *values[5];
    cudaKernelNodeParams params = kernel_params(j, step, values);

    CALL(cudaGraphExecKernelNodeSetParams(j->exec, j->kernel, &params));
}

static void update_by_capture(jacobi_app *j, uint64_t step)
{
    cudaGraphExecUpdateResultInfo info = {};

    CALL(cudaGraphDestroy(j->graph));
    capture_graph(j, step);
    CALL(cudaGraphExecUpdate(j->exec, j->graph, &info));
    expect_same("update result", (int)info.result, (int)cudaGraphExecUpdateSuccess);
}

/* The same sweep on the CPU; returns the sum of all changes. */
static double reference_sweep(jacobi_app *j)
{
    double x[unknowns], change = 0;

    memcpy(x, j->reference, sizeof x);
    for (unsigned row = 0; row < unknowns; row++) {
        double sum = 0;
        for (unsigned i = 0; i < unknowns; i++)
            sum += (double)j->host_a[row * unknowns + i] * x[i];
        double step = (j->host_b[row] - sum) / j->host_a[row * unknowns + row];
        j->reference[row] = x[row] + step;
        change += fabs(step);
    }
    return change;
}

static void step(jacobi_app *j, uint64_t number)
{
    uint64_t start = app_now();

    if (j->options.mode == 0)
        update_by_setter(j, number);
    else
        update_by_capture(j, number);
    j->tally.updates++;
    CALL(cudaGraphLaunch(j->exec, j->stream));
    j->tally.launches++;
    j->tally.host_ns += app_now() - start;
    CALL(cudaStreamSynchronize(j->stream));
    double change = reference_sweep(j);
    expect_close("change", j->host_change, &change, 1, 1e-9);
}

static void clean_up(jacobi_app *j)
{
    CALL(cudaGraphExecDestroy(j->exec));
    CALL(cudaGraphDestroy(j->graph));
    CALL(cudaStreamDestroy(j->stream));
    CALL(cudaFreeHost(j->host_change));
    CALL(cudaFree(j->change));
    CALL(cudaFree(j->x[0]));
    CALL(cudaFree(j->x[1]));
    CALL(cudaFree(j->b));
    CALL(cudaFree(j->a));
    CALL(cudaDeviceReset());
}

int main(int argc, char **argv)
{
    static jacobi_app j;

    j.options.steps = 50;
    j.options.seed = 1;
    j.options.modes = modes;
    app_parse(argc, argv, "solves a linear system by Jacobi's method, a graph launch per sweep",
              &j.options);
    make_system(&j);
    CALL(cudaStreamCreate(&j.stream));
    if (j.options.mode == 0)
        build_graph(&j);
    else
        capture_graph(&j, 0);
    CALL(cudaGraphInstantiate(&j.exec, j.graph, 0));
    for (uint64_t number = 0; number < j.options.steps; number++)
        step(&j, number);
    from_device(j.host_x, j.x[j.options.steps % 2], unknowns);
    expect_close("x", j.host_x, j.reference, unknowns, 1e-9);
    j.tally.checksum = app_checksum(APP_CHECKSUM_START, j.host_x, sizeof j.host_x);
    clean_up(&j);
    return app_finish(&j.options, &j.tally);
}
