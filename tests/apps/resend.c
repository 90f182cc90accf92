/* resend: a simulation loop on the CUDA runtime that re-sends every kernel node's parameters before
 * each launch, because that is simpler than to remember which of them changed. It knows nothing of
 * libvaremap or the fake GPU. */
#include "tests/apps/resend.h"
#include <cuda_runtime_api.h>

struct resend {
    struct app_options options;
    struct app_reach reach;
    struct app_tally tally;
    uint64_t random;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t *nodes;
    struct resend_args *args;
    uint64_t *buffers; /* device addresses */
};

#define CALL(call) check(#call, call)

static void check(const char *call, cudaError_t error)
{
    if (error != cudaSuccess)
        app_fail(call, cudaGetErrorName(error));
}

static void load_kernel(struct resend *r)
{
    CALL(cudaLibraryLoadData(&r->library, resend_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cudaLibraryGetKernel(&r->kernel, r->library, "resend_step"));
    CALL(cudaStreamCreate(&r->stream));
}

static void make_buffers(struct resend *r)
{
    uint64_t count = resend_buffers(r->options.nodes);
    size_t piece = r->reach.piece_bytes;
    char *host = app_alloc(r->reach.pieces, piece);

    r->buffers = app_alloc(count, sizeof *r->buffers);
    for (uint64_t b = 0; b < count; b++) {
        void *device;

        CALL(cudaMalloc(&device, r->options.bytes));
        r->buffers[b] = (uintptr_t)device;
        resend_fill(host, r->reach.pieces * piece, &r->random);
        for (size_t i = 0; i < r->reach.pieces; i++)
            CALL(cudaMemcpy((char *)device + app_piece(&r->reach, i), host + i * piece, piece,
                            cudaMemcpyHostToDevice));
    }
    free(host);
}

/* `values` gets the addresses of the parameters; the answer is good as long as both live. */
static struct cudaKernelNodeParams node_params(const struct resend *r, struct resend_args *args,
                                               void *values[10])
{
    void *list[10] = {&args->out,    &args->in,   &args->table, &args->touched, &args->mult,
                      &args->stride, &args->last, &args->bias,  &args->add,     &args->salt};
    struct cudaKernelNodeParams params = {
        .func = (void *)r->kernel,
        .gridDim = {RESEND_GRID, 1, 1},
        .blockDim = {RESEND_BLOCK, 1, 1},
        .kernelParams = values,
    };

    memcpy(values, list, sizeof list);
    return params;
}

static void make_graph(struct resend *r)
{
    uint64_t count = r->options.nodes;
    void *values[10];

    r->nodes = app_alloc(count, sizeof *r->nodes);
    r->args = app_alloc(count, sizeof *r->args);
    CALL(cudaGraphCreate(&r->graph, 0));
    for (uint64_t k = 0; k < count; k++) {
        resend_start(&r->args[k], k, r->buffers, &r->reach, &r->random);
        struct cudaKernelNodeParams params = node_params(r, &r->args[k], values);
        CALL(cudaGraphAddKernelNode(&r->nodes[k], r->graph, k ? &r->nodes[k - 1] : NULL, k ? 1 : 0,
                                    &params));
    }
    CALL(cudaGraphInstantiate(&r->exec, r->graph, 0));
}

static void step(struct resend *r, uint64_t number)
{
    void *values[10];

    resend_change(r->args, r->options.nodes, number, &r->random);
    uint64_t start = app_now();
    for (uint64_t k = 0; k < r->options.nodes; k++) {
        struct cudaKernelNodeParams params = node_params(r, &r->args[k], values);
        r->tally.updates++;
        CALL(cudaGraphExecKernelNodeSetParams(r->exec, r->nodes[k], &params));
    }
    r->tally.launches++;
    CALL(cudaGraphLaunch(r->exec, r->stream));
    r->tally.host_ns += app_now() - start;
    CALL(cudaStreamSynchronize(r->stream));
}

static void read_buffers(struct resend *r)
{
    size_t piece = r->reach.piece_bytes;
    char *host = app_alloc(1, piece);

    r->tally.checksum = APP_CHECKSUM_START;
    for (uint64_t b = 0; b < resend_buffers(r->options.nodes); b++) {
        const char *device = (const char *)(uintptr_t)r->buffers[b];
        for (size_t i = 0; i < r->reach.pieces; i++) {
            CALL(cudaMemcpy(host, device + app_piece(&r->reach, i), piece, cudaMemcpyDeviceToHost));
            r->tally.checksum = app_checksum(r->tally.checksum, host, piece);
        }
    }
    free(host);
}

static void clean_up(struct resend *r)
{
    CALL(cudaGraphExecDestroy(r->exec));
    CALL(cudaGraphDestroy(r->graph));
    for (uint64_t b = 0; b < resend_buffers(r->options.nodes); b++)
        CALL(cudaFree((void *)(uintptr_t)r->buffers[b]));
    CALL(cudaStreamDestroy(r->stream));
    CALL(cudaLibraryUnload(r->library));
    free(r->buffers);
    free(r->args);
    free(r->nodes);
}

int main(int argc, char **argv)
{
    struct resend r = {.options = resend_defaults};

    app_parse(argc, argv, resend_about, &r.options);
    r.reach = app_reach(r.options.bytes, sizeof(uint32_t));
    r.random = r.options.seed;
    load_kernel(&r);
    make_buffers(&r);
    make_graph(&r);
    for (uint64_t number = 0; number < r.options.steps; number++)
        step(&r, number);
    read_buffers(&r);
    clean_up(&r);
    return app_finish(&r.options, &r.tally);
}
