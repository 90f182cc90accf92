/* realloc.h: what the programs have in common that allocate their buffers anew in every step, point
 * every kernel node of a graph at them, launch it, and free them. On the CUDA runtime; the graph
 * holds kernel nodes only. It knows nothing of libvaremap or the fake GPU, and no result depends on
 * an address. Header-only. */
#ifndef APP_REALLOC_H
#define APP_REALLOC_H

#include "tests/apps/resend.h"
#include <cuda_runtime_api.h>

#define CALL(call) check(#call, call)

static inline void check(const char *call, cudaError_t error)
{
    if (error != cudaSuccess)
        app_fail(call, cudaGetErrorName(error));
}

/* Sizes are multiples of 4. Only a window at either end of a buffer is filled, used and read. */
#define WINDOW ((size_t)APP_TOUCHED * sizeof(uint32_t))

struct buffer {
    char *device;
    size_t bytes;
};

struct app {
    struct app_options options;
    struct app_tally tally;
    uint64_t random;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t *nodes;
    struct resend_args *args; /* of each node; buffers differ in every step, the rest stays */
};

/* `values` gets the addresses of the parameters; the answer is good as long as both live. */
static inline struct cudaKernelNodeParams app_params(const struct app *a, struct resend_args *args,
                                                     void *values[10])
{
    void *list[10] = {&args->out,    &args->in,   &args->table, &args->touched, &args->mult,
                      &args->stride, &args->last, &args->bias,  &args->add,     &args->salt};
    struct cudaKernelNodeParams params = {
        .func = (void *)a->kernel,
        .gridDim = {RESEND_GRID, 1, 1},
        .blockDim = {RESEND_BLOCK, 1, 1},
        .kernelParams = values,
    };

    memcpy(values, list, sizeof list);
    return params;
}

/* A chain of nodes, each with scalars of its own; their buffers come with the steps. */
static inline void app_start(struct app *a, int argc, char **argv, const char *about)
{
    const struct app_reach nothing = {.stride = 1};
    const uint64_t no_buffers[3] = {0};
    void *values[10];

    a->options.allocates = true;
    app_parse(argc, argv, about, &a->options);
    a->random = a->options.seed;
    a->tally.checksum = APP_CHECKSUM_START;
    a->nodes = (cudaGraphNode_t *)app_alloc(a->options.nodes, sizeof *a->nodes);
    a->args = (struct resend_args *)app_alloc(a->options.nodes, sizeof *a->args);
    CALL(cudaLibraryLoadData(&a->library, resend_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cudaLibraryGetKernel(&a->kernel, a->library, "resend_step"));
    CALL(cudaStreamCreate(&a->stream));
    CALL(cudaGraphCreate(&a->graph, 0));
    for (uint64_t k = 0; k < a->options.nodes; k++) {
        resend_start(&a->args[k], 0, no_buffers, &nothing, &a->random);
        struct cudaKernelNodeParams params = app_params(a, &a->args[k], values);
        CALL(cudaGraphAddKernelNode(&a->nodes[k], a->graph, k ? &a->nodes[k - 1] : NULL, k ? 1 : 0,
                                    &params));
    }
    CALL(cudaGraphInstantiate(&a->exec, a->graph, 0));
}

static inline int app_end(struct app *a)
{
    CALL(cudaGraphExecDestroy(a->exec));
    CALL(cudaGraphDestroy(a->graph));
    CALL(cudaStreamDestroy(a->stream));
    CALL(cudaLibraryUnload(a->library));
    free(a->args);
    free(a->nodes);
    return app_finish(&a->options, &a->tally);
}

#endif
