/* realloc_mixed: as realloc, with buffers of many sizes, from 4 bytes to --bytes. The sizes are
 * drawn once per run; each step frees in another order. */
#include "tests/apps/buffers.h"

#define BUFFERS 12

/* The smallest, the largest, two of a kind, and sizes of all magnitudes in between. */
static void choose_sizes(struct app *a, struct buffer *buffers)
{
    uint64_t most = a->options.bytes / 4 * 4;

    for (size_t i = 0; i < BUFFERS; i++) {
        uint64_t draw = app_random(&a->random), room = most >> draw % 25;
        uint64_t bytes = room < 8 ? 4 : (room / 2 + (draw >> 8) % (room / 2)) / 4 * 4;
        buffers[i].bytes = bytes < 4 ? 4 : bytes;
    }
    buffers[0].bytes = most;
    buffers[1].bytes = 4;
    buffers[3].bytes = buffers[2].bytes;
}

static void shuffle(struct app *a, size_t *order)
{
    for (size_t i = 0; i < BUFFERS; i++)
        order[i] = i;
    for (size_t i = BUFFERS - 1; i > 0; i--) {
        size_t j = app_random(&a->random) % (i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static void step(struct app *a, uint64_t number, struct buffer *buffers)
{
    size_t order[BUFFERS];

    allocate(a, number, buffers, BUFFERS);
    for (uint64_t k = 0; k < a->options.nodes; k++)
        send(a, k, &buffers[k % BUFFERS], &buffers[(k + 1) % BUFFERS], &buffers[(k + 5) % BUFFERS]);
    launch(a);
    for (size_t i = 0; i < BUFFERS; i++)
        read_back(a, &buffers[i]);
    shuffle(a, order);
    for (size_t i = 0; i < BUFFERS; i++)
        release(a, &buffers[order[i]]);
}

int main(int argc, char **argv)
{
    struct app a = {.options = {.steps = 100, .nodes = 16, .bytes = 64 << 20, .seed = 1}};
    struct buffer buffers[BUFFERS];

    app_start(&a, argc, argv,
              "allocates buffers of many sizes in every step and frees them in any order");
    choose_sizes(&a, buffers);
    for (uint64_t number = 0; number < a.options.steps; number++)
        step(&a, number, buffers);
    return app_end(&a);
}
