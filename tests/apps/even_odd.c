/* even_odd: keeps two execs of its own, one for each direction between two buffers, and launches
 * them by turns. It never updates one: whoever saves updates has nothing to do here. */
#include "tests/apps/buffers.h"

struct even_odd {
    struct app app; /* its graph and exec go from buffer 0 to buffer 1 */
    struct buffer buffers[3];
    cudaGraph_t back;
    cudaGraphExec_t back_exec;
};

/* A chain of the app's kernel nodes, in turn from `from` to `to` and on within `to`. */
static cudaGraphExec_t build(struct even_odd *e, cudaGraph_t graph, const struct buffer *from,
                             const struct buffer *to)
{
    struct app *a = &e->app;
    cudaGraphExec_t exec;
    void *values[10];

    for (uint64_t k = 0; k < a->options.nodes; k++) {
        struct resend_args *args = &a->args[k];

        args->out = (uintptr_t)to->device;
        args->in = (uintptr_t)(k ? to : from)->device;
        args->table = (uintptr_t)e->buffers[2].device;
        args->touched = APP_TOUCHED;
        args->last = APP_TOUCHED - 1;
        struct cudaKernelNodeParams params = app_params(a, args, values);
        CALL(cudaGraphAddKernelNode(&a->nodes[k], graph, k ? &a->nodes[k - 1] : NULL, k ? 1 : 0,
                                    &params));
    }
    CALL(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void print_memory(const char *when)
{
    size_t free_bytes, total;

    CALL(cudaMemGetInfo(&free_bytes, &total));
    printf("%s %zu\n", when, free_bytes);
}

int main(int argc, char **argv)
{
    struct even_odd e = {.app.options = {.steps = 100, .nodes = 16, .bytes = 65536, .seed = 1}};
    struct app *a = &e.app;

    app_start(a, argc, argv, "launches two execs of its own by turns, and updates none");
    for (size_t i = 0; i < 3; i++)
        e.buffers[i].bytes = a->options.bytes < WINDOW ? WINDOW : a->options.bytes / 4 * 4;
    allocate(a, 0, e.buffers, 3);
    CALL(cudaGraphExecDestroy(a->exec));
    CALL(cudaGraphDestroy(a->graph));
    CALL(cudaGraphCreate(&a->graph, 0));
    CALL(cudaGraphCreate(&e.back, 0));
    a->exec = build(&e, a->graph, &e.buffers[0], &e.buffers[1]);
    e.back_exec = build(&e, e.back, &e.buffers[1], &e.buffers[0]);
    print_memory("free_before");
    for (uint64_t number = 0; number < a->options.steps; number++) {
        a->tally.launches++;
        CALL(cudaGraphLaunch(number % 2 ? e.back_exec : a->exec, a->stream));
    }
    CALL(cudaStreamSynchronize(a->stream));
    print_memory("free_after");
    for (size_t i = 0; i < 3; i++) {
        read_back(a, &e.buffers[i]);
        release(a, &e.buffers[i]);
    }
    CALL(cudaGraphExecDestroy(e.back_exec));
    CALL(cudaGraphDestroy(e.back));
    return app_end(a);
}
