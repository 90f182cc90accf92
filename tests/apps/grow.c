/* grow: as realloc, but every 50 steps all buffers get larger, as when a batch or a mesh grows. */
#include "tests/apps/buffers.h"

#define BUFFERS    4
#define GROW_EVERY 50 /* steps */

/* No size comes back in a later phase. */
static void choose_sizes(const struct app *a, uint64_t phase, struct buffer *buffers)
{
    for (size_t i = 0; i < BUFFERS; i++)
        buffers[i].bytes =
            (a->options.bytes * (phase + 1) + a->options.bytes / (2 * BUFFERS) * i) / 4 * 4;
}

static void step(struct app *a, uint64_t number)
{
    struct buffer buffers[BUFFERS];

    choose_sizes(a, number / GROW_EVERY, buffers);
    allocate(a, number, buffers, BUFFERS);
    for (uint64_t k = 0; k < a->options.nodes; k++)
        send(a, k, &buffers[k % BUFFERS], &buffers[(k + 1) % BUFFERS], &buffers[(k + 2) % BUFFERS]);
    launch(a);
    for (size_t i = 0; i < BUFFERS; i++)
        read_back(a, &buffers[i]);
    for (size_t i = 0; i < BUFFERS; i++)
        release(a, &buffers[i]);
}

int main(int argc, char **argv)
{
    struct app a = {.options = {.steps = 200, .nodes = 16, .bytes = 65536, .seed = 1}};

    app_start(&a, argc, argv, "reallocates in every step, and every 50 steps all sizes grow");
    for (uint64_t number = 0; number < a.options.steps; number++)
        step(&a, number);
    return app_end(&a);
}
