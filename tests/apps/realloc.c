/* realloc: a simulation loop that owns nothing between steps: every step it allocates its inputs
 * and outputs, all of one size, points every kernel node at them, launches, reads the results and
 * frees everything. */
#include "tests/apps/buffers.h"

#define INPUTS  3
#define OUTPUTS 2

static void step(struct app *a, uint64_t number)
{
    struct buffer buffers[INPUTS + OUTPUTS];
    const struct buffer *in = buffers, *out = buffers + INPUTS;

    for (size_t i = 0; i < INPUTS + OUTPUTS; i++)
        buffers[i].bytes = a->options.bytes / 4 * 4;
    allocate(a, number, buffers, INPUTS + OUTPUTS);
    for (uint64_t k = 0; k < a->options.nodes; k++)
        send(a, k, &out[k % OUTPUTS], &in[k % INPUTS], &in[(k + 1) % INPUTS]);
    launch(a);
    for (size_t i = 0; i < OUTPUTS; i++)
        read_back(a, &out[i]);
    for (size_t i = 0; i < INPUTS + OUTPUTS; i++)
        release(a, &buffers[i]);
}

int main(int argc, char **argv)
{
    struct app a = {.options = {.steps = 100, .nodes = 16, .bytes = 65536, .seed = 1}};

    app_start(&a, argc, argv, "allocates the buffers of its graph in every step and frees them");
    for (uint64_t number = 0; number < a.options.steps; number++)
        step(&a, number);
    return app_end(&a);
}
