/* scalar: every node is sent before each launch, and each time something in it has changed that a
 * result depends on: a seed, or a time. Some of these numbers look like addresses inside buffers
 * that are alive. */
#include "tests/apps/buffers.h"

enum { BUFFERS = 4 };

/* Every node gets a new seed. Odd ones have one thread, whose element does not depend on the
 * stride: that is a time, which walks through the addresses of a buffer. */
static void change(struct app *a, uint64_t k, uint64_t number, const struct buffer *buffers)
{
    struct resend_args *args = &a->args[k];

    args->add = (uint32_t)app_random(&a->random);
    if (k % 2 == 0)
        return;
    args->touched = 1;
    args->last = 0;
    args->stride = (uintptr_t)buffers[k % BUFFERS].device + 8 * (number % 8);
}

static void send_node(struct app *a, uint64_t k)
{
    void *values[10];
    struct cudaKernelNodeParams params = app_params(a, &a->args[k], values);
    uint64_t start = app_now();

    a->tally.updates++;
    CALL(cudaGraphExecKernelNodeSetParams(a->exec, a->nodes[k], &params));
    a->tally.host_ns += app_now() - start;
}

int main(int argc, char **argv)
{
    struct app a = {.options = {.steps = 100, .nodes = 16, .bytes = 65536, .seed = 1}};
    struct buffer buffers[BUFFERS];

    app_start(&a, argc, argv, "sends every node before each launch; a scalar of each has changed");
    for (size_t i = 0; i < BUFFERS; i++)
        buffers[i].bytes = a.options.bytes < WINDOW ? WINDOW : a.options.bytes / 4 * 4;
    allocate(&a, 0, buffers, BUFFERS);
    for (uint64_t k = 0; k < a.options.nodes; k++)
        send(&a, k, &buffers[k % BUFFERS], &buffers[(k + 1) % BUFFERS],
             &buffers[(k + 2) % BUFFERS]);
    for (uint64_t number = 0; number < a.options.steps; number++) {
        for (uint64_t k = 0; k < a.options.nodes; k++) {
            change(&a, k, number, buffers);
            send_node(&a, k);
        }
        launch(&a);
        read_back(&a, &buffers[number % BUFFERS]);
    }
    for (size_t i = 0; i < BUFFERS; i++)
        release(&a, &buffers[i]);
    return app_end(&a);
}
