/* fork_join: a step of work on three streams, forked and joined by events, captured into a graph.
 * Inside the capture a child graph is hung between two captured nodes; the whole graph is then the
 * child of another one. Every step captures anew with other arguments and updates the exec, in one
 * step of three through the child node's setter alone. */
#include "tests/apps/cuda_app.h"

static const unsigned elements = 1000, block_size = 128, lanes = 3;

__global__ void mix(unsigned *to, const unsigned *from, unsigned factor, unsigned salt)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        to[i] = to[i] * factor + from[i] + salt;
}

static const unsigned grid_size = (elements + block_size - 1) / block_size;

struct fork_app {
    app_options options;
    app_tally tally;
    unsigned *data[lanes + 1];           /* the last is the common one */
    unsigned model[lanes + 1][elements]; /* what the device memory must hold */
    unsigned got[elements];
    cudaStream_t streams[lanes];
    cudaEvent_t forked, joined[lanes];
    cudaGraph_t small; /* the child inside the capture */
    cudaGraph_t graph; /* whose only node is the captured graph */
    cudaGraphNode_t child;
    cudaGraphExec_t exec;
};

static void build_small(fork_app *f)
{
    unsigned factor = 3, salt = 5;
    void *arguments[] = {&f->data[lanes], &f->data[0], &factor, &salt};
    cudaKernelNodeParams params = {};
    cudaGraphNode_t nodes[2];

    params.func = (void *)mix;
    params.gridDim = dim3(grid_size);
    params.blockDim = dim3(block_size);
    params.kernelParams = arguments;
    CALL(cudaGraphCreate(&f->small, 0));
    CALL(cudaGraphAddKernelNode(&nodes[0], f->small, NULL, 0, &params));
    CALL(cudaGraphAddKernelNode(&nodes[1], f->small, &nodes[0], 1, &params));
}

/* Hangs the small graph behind what the stream has captured so far. */
static void capture_child(fork_app *f, cudaStream_t stream)
{
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *behind;
    cudaGraphNode_t node;
    cudaGraph_t graph;
    size_t count;

    CALL(cudaStreamGetCaptureInfo(stream, &status, NULL, &graph, &behind, NULL, &count));
    expect_same("capture status", (int)status, (int)cudaStreamCaptureStatusActive);
    CALL(cudaGraphAddChildGraphNode(&node, graph, behind, count, f->small));
    CALL(cudaStreamUpdateCaptureDependencies(stream, &node, NULL, 1,
                                             cudaStreamSetCaptureDependencies));
}

static cudaGraph_t capture(fork_app *f, unsigned salt)
{
    cudaStream_t first = f->streams[0];
    cudaGraph_t captured;

    CALL(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    mix<<<grid_size, block_size, 0, first>>>(f->data[lanes], f->data[0], 7, salt);
    CALL_KERNEL("mix");
    CALL(cudaEventRecord(f->forked, first));
    for (unsigned i = 0; i < lanes; i++) {
        if (i > 0)
            CALL(cudaStreamWaitEvent(f->streams[i], f->forked, 0));
        mix<<<grid_size, block_size, 0, f->streams[i]>>>(f->data[i], f->data[lanes], 2 * i + 1,
                                                         salt + i);
        CALL_KERNEL("mix");
        if (i == 1)
            CALL(cudaMemsetAsync(f->data[i], (int)(salt & 255), elements / 2, f->streams[i]));
        CALL(cudaEventRecord(f->joined[i], f->streams[i]));
        if (i > 0)
            CALL(cudaStreamWaitEvent(first, f->joined[i], 0));
    }
    capture_child(f, first);
    CALL(cudaMemcpyAsync(f->data[2], f->data[lanes], elements * sizeof(unsigned),
                         cudaMemcpyDeviceToDevice, first));
    CALL(cudaStreamEndCapture(first, &captured));
    return captured;
}

static void mix_model(unsigned *to, const unsigned *from, unsigned factor, unsigned salt)
{
    for (unsigned i = 0; i < elements; i++)
        to[i] = to[i] * factor + from[i] + salt;
}

static void step_model(fork_app *f, unsigned salt)
{
    unsigned *common = f->model[lanes];

    mix_model(common, f->model[0], 7, salt);
    for (unsigned i = 0; i < lanes; i++)
        mix_model(f->model[i], common, 2 * i + 1, salt + i);
    memset(f->model[1], (int)(salt & 255), elements / 2);
    mix_model(common, f->model[0], 3, 5);
    mix_model(common, f->model[0], 3, 5);
    memcpy(f->model[2], common, sizeof f->model[2]);
}

/* The captured graph, all of it, as the only node of a new graph. */
static cudaGraph_t wrap(cudaGraph_t captured, cudaGraphNode_t *child)
{
    cudaGraph_t graph;

    CALL(cudaGraphCreate(&graph, 0));
    CALL(cudaGraphAddChildGraphNode(child, graph, NULL, 0, captured));
    return graph;
}

/* The exec takes the arguments of a new capture. */
static void update(fork_app *f, uint64_t number, unsigned salt)
{
    cudaGraph_t captured = capture(f, salt);
    cudaGraphExecUpdateResultInfo info = {};

    if (number % 3 == 2) {
        CALL(cudaGraphExecChildGraphNodeSetParams(f->exec, f->child, captured));
    } else {
        cudaGraphNode_t child;
        cudaGraph_t next = wrap(captured, &child);
        CALL(cudaGraphExecUpdate(f->exec, next, &info));
        CALL(cudaGraphDestroy(next));
    }
    CALL(cudaGraphDestroy(captured));
    f->tally.updates++;
}

static void check(fork_app *f)
{
    for (unsigned i = 0; i <= lanes; i++) {
        from_device(f->got, f->data[i], elements);
        expect_same(i < lanes ? "lane" : "common", f->got, f->model[i], elements);
        f->tally.checksum = app_checksum(f->tally.checksum, f->got, sizeof f->got);
    }
}

static void start(fork_app *f)
{
    for (unsigned i = 0; i <= lanes; i++) {
        for (unsigned e = 0; e < elements; e++)
            f->model[i][e] = e * (i + 1);
        f->data[i] = to_device(f->model[i], elements);
    }
    for (unsigned i = 0; i < lanes; i++) {
        CALL(cudaStreamCreateWithFlags(&f->streams[i], cudaStreamNonBlocking));
        CALL(cudaEventCreateWithFlags(&f->joined[i], cudaEventDisableTiming));
    }
    CALL(cudaEventCreateWithFlags(&f->forked, cudaEventDisableTiming));
    build_small(f);
    cudaGraph_t captured = capture(f, 0);
    f->graph = wrap(captured, &f->child);
    CALL(cudaGraphDestroy(captured));
    CALL(cudaGraphInstantiate(&f->exec, f->graph, 0));
    f->tally.checksum = APP_CHECKSUM_START;
}

static void clean_up(fork_app *f)
{
    CALL(cudaGraphExecDestroy(f->exec));
    CALL(cudaGraphDestroy(f->graph));
    CALL(cudaGraphDestroy(f->small));
    CALL(cudaEventDestroy(f->forked));
    for (unsigned i = 0; i < lanes; i++) {
        CALL(cudaEventDestroy(f->joined[i]));
        CALL(cudaStreamDestroy(f->streams[i]));
    }
    for (unsigned i = 0; i <= lanes; i++)
        CALL(cudaFree(f->data[i]));
    CALL(cudaDeviceReset());
}

int main(int argc, char **argv)
{
    static fork_app f;

    f.options.steps = 12;
    f.options.seed = 1;
    app_parse(argc, argv, "work on three streams captured in every step, with child graphs",
              &f.options);
    uint64_t random = f.options.seed;
    start(&f);
    for (uint64_t number = 0; number < f.options.steps; number++) {
        unsigned salt = (unsigned)app_random(&random);
        update(&f, number, salt);
        CALL(cudaGraphLaunch(f.exec, f.streams[0]));
        f.tally.launches++;
        CALL(cudaStreamSynchronize(f.streams[0]));
        step_model(&f, salt);
        check(&f);
    }
    clean_up(&f);
    return app_finish(&f.options, &f.tally);
}
