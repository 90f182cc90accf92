/* while_graph: how many steps numbers need to reach 1 by halving and tripling, as a graph that
 * repeats itself: a while node whose body's kernel decides whether there is another turn, then an
 * if-else node. Every launch starts from other numbers, by a setter of the first kernel. */
#include "tests/apps/cuda_app.h"

static const unsigned count = 64;

struct walkers {
    unsigned long long at[count];
    unsigned steps[count];
    unsigned turns;  /* of the while node's body */
    unsigned parity; /* 1 or 2: which side of the if-else node ran */
};

__global__ void start(walkers *w, unsigned long long first)
{
    unsigned t = threadIdx.x;

    w->at[t] = first + t;
    w->steps[t] = 0;
    if (t == 0) {
        w->turns = 0;
        w->parity = 0;
    }
}

__global__ void walk(walkers *w, cudaGraphConditionalHandle again)
{
    unsigned t = threadIdx.x;
    unsigned long long at = w->at[t];

    if (at > 1) {
        at = at % 2 ? 3 * at + 1 : at / 2;
        w->at[t] = at;
        w->steps[t]++;
    }
    int more = __syncthreads_or(at > 1);
    if (t == 0) {
        w->turns++;
        cudaGraphSetConditional(again, more != 0);
    }
}

__global__ void choose(const walkers *w, cudaGraphConditionalHandle odd)
{
    cudaGraphSetConditional(odd, w->turns % 2);
}

__global__ void mark(walkers *w, unsigned parity)
{
    w->parity = parity;
}

struct while_app {
    app_options options;
    app_tally tally;
    walkers *device;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphNode_t first;
    cudaGraphConditionalHandle again, odd;
    cudaGraphExec_t exec;
};

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t *after, void *kernel,
                                  unsigned threads, void **arguments)
{
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node;

    params.func = kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(threads);
    params.kernelParams = arguments;
    CALL(cudaGraphAddKernelNode(&node, graph, after, after ? 1 : 0, &params));
    return node;
}

/* The bodies of the node are graphs for the caller to fill. */
static cudaGraphNode_t add_conditional(cudaGraph_t graph, cudaGraphNode_t *after,
                                       cudaGraphConditionalHandle handle,
                                       cudaGraphConditionalNodeType type, unsigned size,
                                       cudaGraph_t *bodies)
{
    cudaGraphNodeParams params = {};
    cudaGraphNode_t node;

    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    CALL(cudaGraphAddNode(&node, graph, after, NULL, 1, &params));
    for (unsigned i = 0; i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

static void build(while_app *w)
{
    cudaGraph_t loop, sides[2];
    unsigned long long first = 1;
    unsigned parity[2] = {1, 2}; /* the condition is not zero, zero */

    CALL(cudaGraphCreate(&w->graph, 0));
    /* The first turn needs no kernel's word: the default of each launch is 1. */
    CALL(cudaGraphConditionalHandleCreate(&w->again, w->graph, 1, cudaGraphCondAssignDefault));
    CALL(cudaGraphConditionalHandleCreate(&w->odd, w->graph, 0, cudaGraphCondAssignDefault));
    void *start_arguments[] = {&w->device, &first};
    w->first = add_kernel(w->graph, NULL, (void *)start, count, start_arguments);
    cudaGraphNode_t node =
        add_conditional(w->graph, &w->first, w->again, cudaGraphCondTypeWhile, 1, &loop);
    void *choose_arguments[] = {&w->device, &w->odd};
    node = add_kernel(w->graph, &node, (void *)choose, 1, choose_arguments);
    add_conditional(w->graph, &node, w->odd, cudaGraphCondTypeIf, 2, sides);
    for (int i = 0; i < 2; i++) {
        void *arguments[] = {&w->device, &parity[i]};
        add_kernel(sides[i], NULL, (void *)mark, 1, arguments);
    }
    CALL(
        cudaStreamBeginCaptureToGraph(w->stream, loop, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    walk<<<1, count, 0, w->stream>>>(w->device, w->again);
    CALL_KERNEL("walk");
    CALL(cudaStreamEndCapture(w->stream, NULL));
    CALL(cudaGraphInstantiate(&w->exec, w->graph, 0));
}

static void set_first(while_app *w, unsigned long long first)
{
    void *arguments[] = {&w->device, &first};
    cudaKernelNodeParams params = {};

    params.func = (void *)start;
    params.gridDim = dim3(1);
    params.blockDim = dim3(count);
    params.kernelParams = arguments;
    CALL(cudaGraphExecKernelNodeSetParams(w->exec, w->first, &params));
    w->tally.updates++;
}

static void check(while_app *w, unsigned long long first)
{
    walkers got;
    unsigned most = 0;

    from_device(&got, w->device, 1);
    for (unsigned t = 0; t < count; t++) {
        unsigned steps = 0;
        for (unsigned long long at = first + t; at > 1; steps++)
            at = at % 2 ? 3 * at + 1 : at / 2;
        expect_same("steps", got.steps[t], steps);
        most = steps > most ? steps : most;
    }
    expect_same("turns", got.turns, most);
    expect_same("side of the if-else node", got.parity, most % 2 ? 1u : 2u);
    w->tally.checksum = app_checksum(w->tally.checksum, &got, sizeof got);
}

int main(int argc, char **argv)
{
    while_app w = {};

    w.options.steps = 4;
    w.options.seed = 1;
    app_parse(argc, argv, "a graph that repeats a kernel as long as the kernel says so",
              &w.options);
    uint64_t random = w.options.seed;
    w.tally.checksum = APP_CHECKSUM_START;
    w.device = device_array<walkers>(1);
    CALL(cudaStreamCreate(&w.stream));
    build(&w);
    for (uint64_t step = 0; step < w.options.steps; step++) {
        unsigned long long first = 1 + app_random(&random) % 1000;
        set_first(&w, first);
        CALL(cudaGraphLaunch(w.exec, w.stream));
        w.tally.launches++;
        CALL(cudaStreamSynchronize(w.stream));
        check(&w, first);
    }
    CALL(cudaGraphExecDestroy(w.exec));
    CALL(cudaGraphDestroy(w.graph));
    CALL(cudaStreamDestroy(w.stream));
    CALL(cudaFree(w.device));
    CALL(cudaDeviceReset());
    return app_finish(&w.options, &w.tally);
}
