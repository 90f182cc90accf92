/* double_buffer: every step allocates the next state, computes it from the last one, and only then
 * frees the last one: no step can get the addresses that the step before it had. */
#include "tests/apps/buffers.h"

#define BUFFERS 3

static void step(struct app *a, uint64_t number, const struct buffer *last, struct buffer *next)
{
    const struct buffer *from = number ? last : next;

    for (size_t i = 0; i < BUFFERS; i++)
        next[i].bytes = a->options.bytes / 4 * 4;
    allocate(a, number, next, BUFFERS);
    for (uint64_t k = 0; k < a->options.nodes; k++)
        send(a, k, &next[k % BUFFERS], &from[k % BUFFERS], &from[(k + 1) % BUFFERS]);
    launch(a);
    for (size_t i = 0; i < BUFFERS; i++)
        read_back(a, &next[i]);
    for (size_t i = 0; i < BUFFERS && number; i++)
        release(a, &last[i]);
}

int main(int argc, char **argv)
{
    struct app a = {.options = {.steps = 100, .nodes = 16, .bytes = 65536, .seed = 1}};
    struct buffer state[2][BUFFERS];

    app_start(&a, argc, argv, "frees the buffers of a step after it has allocated the next one's");
    for (uint64_t number = 0; number < a.options.steps; number++)
        step(&a, number, state[(number + 1) % 2], state[number % 2]);
    for (size_t i = 0; i < BUFFERS && a.options.steps; i++)
        release(&a, &state[(a.options.steps + 1) % 2][i]);
    return app_end(&a);
}
