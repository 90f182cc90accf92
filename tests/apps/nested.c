/* nested: everything that can come between two updates of one node: further updates before the
 * launch, the node switched off and on, a child graph set anew, the source graph destroyed, the
 * exec destroyed while it runs. Prints every answer that is not a success. */
#include "tests/apps/buffers.h"

enum { BUFFERS = 4, INNER = 2 };
enum variant { SEVERAL, ENABLED, CHILD, SOURCE_DESTROYED, EXEC_DESTROYED };

struct nested {
    struct app app;
    struct buffer buffers[BUFFERS];
    cudaGraph_t inner; /* what the child node is made from, and set from */
    cudaGraphNode_t child, inner_node[INNER], embedded_node[INNER];
    struct resend_args inner_args[INNER];
};

static void say(const char *what, cudaError_t error)
{
    if (error != cudaSuccess)
        printf("%s: %s, last error %s\n", what, cudaGetErrorName(error),
               cudaGetErrorName(cudaGetLastError()));
}

static void aim(const struct nested *n, struct resend_args *args, size_t k)
{
    args->out = (uintptr_t)n->buffers[k % BUFFERS].device;
    args->in = (uintptr_t)n->buffers[(k + 1) % BUFFERS].device;
    args->table = (uintptr_t)n->buffers[(k + 2) % BUFFERS].device;
    args->touched = APP_TOUCHED;
    args->last = APP_TOUCHED - 1;
}

static cudaError_t set(struct nested *n, cudaGraphNode_t node, struct resend_args *args)
{
    void *values[10];
    struct cudaKernelNodeParams params = app_params(&n->app, args, values);

    n->app.tally.updates++;
    return cudaGraphExecKernelNodeSetParams(n->app.exec, node, &params);
}

static void set_all(struct nested *n)
{
    for (uint64_t k = 0; k < n->app.options.nodes; k++)
        CALL(set(n, n->app.nodes[k], &n->app.args[k]));
}

/* A child graph of two kernels behind the chain. */
static void add_child(struct nested *n)
{
    struct app *a = &n->app;
    cudaGraph_t embedded;
    size_t count = INNER;
    void *values[10];

    CALL(cudaGraphCreate(&n->inner, 0));
    for (size_t i = 0; i < INNER; i++) {
        n->inner_args[i] = a->args[0];
        aim(n, &n->inner_args[i], i + 1);
        struct cudaKernelNodeParams params = app_params(a, &n->inner_args[i], values);
        CALL(cudaGraphAddKernelNode(&n->inner_node[i], n->inner, n->inner_node, i, &params));
    }
    CALL(cudaGraphAddChildGraphNode(&n->child, a->graph, &a->nodes[a->options.nodes - 1], 1,
                                    n->inner));
    CALL(cudaGraphChildGraphNodeGetGraph(n->child, &embedded));
    CALL(cudaGraphGetNodes(embedded, n->embedded_node, &count));
    CALL(cudaGraphExecDestroy(a->exec));
    CALL(cudaGraphInstantiate(&a->exec, a->graph, 0));
}

/* The last of several updates counts. */
static void several(struct nested *n, uint64_t number)
{
    struct resend_args first = n->app.args[0];

    set_all(n);
    for (int i = 0; i < 3; i++) {
        n->app.args[0].add = (uint32_t)number + (uint32_t)i;
        CALL(set(n, n->app.nodes[0], &n->app.args[0]));
    }
    if (number % 2)
        CALL(set(n, n->app.nodes[0], &first)); /* and back */
    n->app.args[0] = first;
    launch(&n->app);
}

static void enable(struct nested *n, uint64_t k, unsigned on)
{
    n->app.tally.updates++;
    CALL(cudaGraphNodeSetEnabled(n->app.exec, n->app.nodes[k], on));
}

/* An update of a node that is off counts once it is on again. */
static void enabled(struct nested *n, uint64_t number)
{
    uint64_t k = number % n->app.options.nodes;

    set_all(n);
    enable(n, k, 0);
    set_all(n);
    launch(&n->app);
    n->app.args[k].add++;
    set_all(n);
    launch(&n->app);
    enable(n, k, 1);
    set_all(n);
    launch(&n->app);
}

/* The content of the inner graph changes under the same handle; setting the child node takes it
 * over, whatever the nested nodes were set to before. */
static void child(struct nested *n, uint64_t number)
{
    struct app *a = &n->app;
    void *values[10];

    set_all(n);
    CALL(set(n, n->embedded_node[0], &n->inner_args[0]));
    launch(a);
    n->inner_args[1].add = (uint32_t)number;
    struct cudaKernelNodeParams params = app_params(a, &n->inner_args[1], values);
    CALL(cudaGraphKernelNodeSetParams(n->inner_node[1], &params));
    a->tally.updates++;
    CALL(cudaGraphExecChildGraphNodeSetParams(a->exec, n->child, n->inner));
    set_all(n);
    launch(a);
    CALL(set(n, n->embedded_node[0], &n->inner_args[0]));
    launch(a);
}

/* The nodes' handles mean nothing any more: the driver says what it thinks of them. */
static void source_destroyed(struct nested *n, uint64_t number)
{
    set_all(n);
    if (number == n->app.options.steps / 2) {
        CALL(cudaGraphDestroy(n->app.graph));
        n->app.graph = NULL;
        say("a setter without the graph", set(n, n->app.nodes[0], &n->app.args[0]));
        n->app.options.steps = number + 1;
    }
    launch(&n->app);
}

/* What was launched runs to its end. */
static void exec_destroyed(struct nested *n, uint64_t number)
{
    struct app *a = &n->app;

    n->app.args[0].add = (uint32_t)number;
    set_all(n);
    a->tally.launches++;
    CALL(cudaGraphLaunch(a->exec, a->stream));
    CALL(cudaGraphExecDestroy(a->exec));
    CALL(cudaGraphInstantiate(&a->exec, a->graph, 0));
    set_all(n);
    launch(a);
}

int main(int argc, char **argv)
{
    static const char *const variants[] = {"several",          "enabled",        "child",
                                           "source-destroyed", "exec-destroyed", NULL};
    static void (*const steps[])(struct nested *, uint64_t) = {several, enabled, child,
                                                               source_destroyed, exec_destroyed};
    struct nested n = {.app.options = {.steps = 40,
                                       .nodes = 8,
                                       .bytes = 65536,
                                       .seed = 1,
                                       .modes = variants,
                                       .mode_option = "--variant"}};
    struct app *a = &n.app;

    app_start(a, argc, argv, "does everything that can come between two updates of one node");
    for (size_t i = 0; i < BUFFERS; i++)
        n.buffers[i].bytes = a->options.bytes < WINDOW ? WINDOW : a->options.bytes / 4 * 4;
    allocate(a, 0, n.buffers, BUFFERS);
    for (uint64_t k = 0; k < a->options.nodes; k++)
        aim(&n, &a->args[k], k);
    if (a->options.mode == CHILD)
        add_child(&n);
    for (uint64_t number = 0; number < a->options.steps; number++) {
        steps[a->options.mode](&n, number);
        read_back(a, &n.buffers[number % BUFFERS]);
    }
    for (size_t i = 0; i < BUFFERS; i++) {
        read_back(a, &n.buffers[i]);
        release(a, &n.buffers[i]);
    }
    if (n.inner)
        CALL(cudaGraphDestroy(n.inner));
    if (!a->graph)
        CALL(cudaGraphCreate(&a->graph, 0));
    return app_end(a);
}
