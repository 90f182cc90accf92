/* recapture: captures its stream anew for every step and updates the exec from the captured graph
 * as a whole, as programs do that cannot name single nodes. Variants: the graph is kept until the
 * next step or destroyed at once, nobody asks why an update failed, and one whose shape changes so
 * that the update fails and the exec is made anew. Prints every error, and the last error after it.
 */
#include "tests/apps/buffers.h"

enum { BUFFERS = 3, RESHAPED_EVERY = 7 };
enum variant { KEEP, DESTROY, NULL_INFO, FALLBACK };

struct recapture {
    struct app app;
    struct buffer buffers[BUFFERS];
    cudaGraph_t kept;
};

/* Kernels of the chain, one fewer in every seventh step of the variant whose shape changes. */
static uint64_t length(const struct recapture *r, uint64_t number)
{
    bool shorter = r->app.options.mode == FALLBACK && number % RESHAPED_EVERY == 0;

    return r->app.options.nodes - (shorter && r->app.options.nodes > 1);
}

static cudaGraph_t capture(struct recapture *r, uint64_t number)
{
    struct app *a = &r->app;
    cudaGraph_t graph;
    void *values[10];

    CALL(cudaStreamBeginCapture(a->stream, cudaStreamCaptureModeThreadLocal));
    for (uint64_t k = 0; k < length(r, number); k++) {
        struct resend_args *args = &a->args[k];

        args->out = (uintptr_t)r->buffers[(k + number) % BUFFERS].device;
        args->in = (uintptr_t)r->buffers[(k + number + 1) % BUFFERS].device;
        args->table = (uintptr_t)r->buffers[(k + number + 2) % BUFFERS].device;
        args->touched = APP_TOUCHED;
        args->last = APP_TOUCHED - 1;
        struct cudaKernelNodeParams params = app_params(a, args, values);
        CALL(cudaLaunchKernel(params.func, params.gridDim, params.blockDim, values, 0, a->stream));
    }
    CALL(cudaStreamEndCapture(a->stream, &graph));
    return graph;
}

static cudaError_t update(struct recapture *r, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateSuccess, NULL, NULL};
    bool ask = r->app.options.mode != NULL_INFO;
    cudaError_t error = cudaGraphExecUpdate(r->app.exec, graph, ask ? &info : NULL);

    r->app.tally.updates++;
    if (ask && error != cudaSuccess)
        printf("update: %s because %d, last error %s", cudaGetErrorName(error), (int)info.result,
               cudaGetErrorName(cudaPeekAtLastError()));
    return error;
}

/* 910 is normal flow here: the error is cleared and the exec made anew. */
static void take_over(struct recapture *r, cudaGraph_t graph)
{
    struct app *a = &r->app;

    if (update(r, graph) == cudaSuccess)
        return;
    cudaGetLastError();
    printf(", then %s\n", cudaGetErrorName(cudaPeekAtLastError()));
    CALL(cudaGraphExecDestroy(a->exec));
    CALL(cudaGraphInstantiate(&a->exec, graph, 0));
}

static void step(struct recapture *r, uint64_t number)
{
    struct app *a = &r->app;
    uint64_t start = app_now();
    cudaGraph_t graph = capture(r, number);

    take_over(r, graph);
    a->tally.host_ns += app_now() - start;
    if (r->kept)
        CALL(cudaGraphDestroy(r->kept));
    r->kept = graph;
    if (a->options.mode != KEEP) {
        CALL(cudaGraphDestroy(graph));
        r->kept = NULL;
    }
    launch(a);
    read_back(a, &r->buffers[number % BUFFERS]);
}

int main(int argc, char **argv)
{
    static const char *const variants[] = {"keep", "destroy", "null-info", "fallback", NULL};
    struct recapture r = {.app.options = {.steps = 40,
                                          .nodes = 8,
                                          .bytes = 65536,
                                          .seed = 1,
                                          .modes = variants,
                                          .mode_option = "--variant"}};
    struct app *a = &r.app;

    app_start(a, argc, argv, "captures its stream anew for every step and updates the whole exec");
    for (size_t i = 0; i < BUFFERS; i++)
        r.buffers[i].bytes = a->options.bytes < WINDOW ? WINDOW : a->options.bytes / 4 * 4;
    allocate(a, 0, r.buffers, BUFFERS);
    for (uint64_t number = 0; number < a->options.steps; number++)
        step(&r, number);
    if (r.kept)
        CALL(cudaGraphDestroy(r.kept));
    for (size_t i = 0; i < BUFFERS; i++) {
        read_back(a, &r.buffers[i]);
        release(a, &r.buffers[i]);
    }
    return app_end(a);
}
