/* staged: a library that stages its callers' buffers: for every call it points ten copy nodes at
 * what the caller passed, five in and five out, around kernels that work on buffers of its own. The
 * caller passes the same buffers each time, two sets by turns, or fresh ones. */
#include "tests/apps/buffers.h"

enum { ENDS = 5, COPIES = 2 * ENDS };
enum pointers { SAME, ALTERNATE, FRESH };

struct staged {
    struct app app;
    struct buffer outer[2][COPIES], inner[COPIES];
    cudaGraphNode_t copy[COPIES];
};

static void copy_ends(const struct staged *s, size_t set, size_t i, void **to, const void **from)
{
    *to = i < ENDS ? s->inner[i].device : s->outer[set][i].device;
    *from = i < ENDS ? s->outer[set][i].device : s->inner[i].device;
}

/* Copies in, the chain of kernels, copies out. */
static void build(struct staged *s)
{
    struct app *a = &s->app;
    cudaGraphNode_t *last = &a->nodes[a->options.nodes - 1];
    const void *from;
    void *to;

    for (size_t i = 0; i < COPIES; i++) {
        copy_ends(s, 0, i, &to, &from);
        CALL(cudaGraphAddMemcpyNode1D(&s->copy[i], a->graph, i < ENDS ? NULL : last,
                                      i < ENDS ? 0 : 1, to, from, s->inner[i].bytes,
                                      cudaMemcpyDeviceToDevice));
        if (i < ENDS)
            CALL(cudaGraphAddDependencies(a->graph, &s->copy[i], &a->nodes[0], NULL, 1));
    }
    CALL(cudaGraphExecDestroy(a->exec));
    CALL(cudaGraphInstantiate(&a->exec, a->graph, 0));
    for (uint64_t k = 0; k < a->options.nodes; k++)
        send(a, k, &s->inner[ENDS + k % ENDS], &s->inner[k % ENDS], &s->inner[(k + 1) % ENDS]);
}

static void stage(struct staged *s, size_t set)
{
    struct app *a = &s->app;
    uint64_t start = app_now();
    const void *from;
    void *to;

    for (size_t i = 0; i < COPIES; i++) {
        copy_ends(s, set, i, &to, &from);
        a->tally.updates++;
        CALL(cudaGraphExecMemcpyNodeSetParams1D(a->exec, s->copy[i], to, from, s->inner[i].bytes,
                                                cudaMemcpyDeviceToDevice));
    }
    a->tally.host_ns += app_now() - start;
}

static void renew(struct staged *s, uint64_t number, size_t set)
{
    for (size_t i = 0; i < COPIES; i++)
        release(&s->app, &s->outer[set][i]);
    allocate(&s->app, number, s->outer[set], COPIES);
}

static void step(struct staged *s, uint64_t number)
{
    enum pointers pointers = (enum pointers)s->app.options.mode;
    size_t set = pointers == ALTERNATE ? number % 2 : 0;

    if (pointers == FRESH && number)
        renew(s, number, set);
    stage(s, set);
    launch(&s->app);
    for (size_t i = ENDS; i < COPIES; i++)
        read_back(&s->app, &s->outer[set][i]);
}

int main(int argc, char **argv)
{
    static const char *const pointers[] = {"same", "alternate", "fresh", NULL};
    struct staged s = {.app.options = {.steps = 100,
                                       .nodes = 4,
                                       .bytes = 65536,
                                       .seed = 1,
                                       .modes = pointers,
                                       .mode_option = "--pointers"}};
    struct buffer *sets[] = {s.outer[0], s.outer[1], s.inner};

    app_start(&s.app, argc, argv, "stages its caller's buffers by ten copy nodes");
    for (size_t i = 0; i < 3; i++) {
        for (size_t b = 0; b < COPIES; b++)
            sets[i][b].bytes = s.app.options.bytes / 4 * 4;
        allocate(&s.app, 0, sets[i], COPIES);
    }
    build(&s);
    for (uint64_t number = 0; number < s.app.options.steps; number++)
        step(&s, number);
    for (size_t i = 0; i < 3; i++)
        for (size_t b = 0; b < COPIES; b++)
            release(&s.app, &sets[i][b]);
    return app_end(&s.app);
}
