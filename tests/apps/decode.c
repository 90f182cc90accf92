/* decode: a language model writes a token per step: 32 layers of 24 kernels, and all 768 nodes are
 * sent again before every launch. Two kernels of each layer write the token's key and value behind
 * those of the step before, one gets the token's position; every 256 steps the cache's shape
 * changes, and with it the grid of one kernel of each layer. All else stays. */
#include "tests/apps/buffers.h"

enum {
    LAYERS = 32,
    KERNELS = 24,
    NODES = LAYERS * KERNELS,
    KEY = 3, /* kernels of each layer */
    VALUE = 4,
    POSITION = 7,
    ATTENTION = 11,
    ROW_BYTES = 128, /* of a token in the cache */
    GROWS_EVERY = 256
};

struct decode {
    struct app app;
    struct buffer weights, state, cache; /* one cache, cut by layer, key and value */
    unsigned grid[LAYERS];
    size_t rows; /* of each part of the cache */
};

static char *row(const struct decode *d, size_t layer, size_t kernel, uint64_t token)
{
    size_t part = 2 * layer + (kernel == VALUE);

    return d->cache.device + (part * d->rows + token % d->rows) * ROW_BYTES;
}

/* What the first step needs; the scalars are the app's random ones. */
static void set_up(struct decode *d)
{
    for (size_t k = 0; k < NODES; k++) {
        struct resend_args *args = &d->app.args[k];

        args->out = (uintptr_t)d->state.device + k % 8 * ROW_BYTES;
        args->in = (uintptr_t)d->state.device + (k + 1) % 8 * ROW_BYTES;
        args->table = (uintptr_t)d->weights.device;
        args->touched = ROW_BYTES / sizeof(uint32_t);
        args->last = args->touched - 1;
    }
    for (size_t layer = 0; layer < LAYERS; layer++)
        d->grid[layer] = RESEND_GRID;
}

static void next_token(struct decode *d, uint64_t token)
{
    for (size_t layer = 0; layer < LAYERS; layer++) {
        struct resend_args *args = &d->app.args[layer * KERNELS];

        args[KEY].out = (uintptr_t)row(d, layer, KEY, token);
        args[VALUE].out = (uintptr_t)row(d, layer, VALUE, token);
        args[POSITION].add = (uint32_t)token;
        d->grid[layer] += token && token % GROWS_EVERY == 0;
    }
}

static void send_all(struct decode *d)
{
    struct app *a = &d->app;
    uint64_t start = app_now();
    void *values[10];

    for (size_t k = 0; k < NODES; k++) {
        struct cudaKernelNodeParams params = app_params(a, &a->args[k], values);

        if (k % KERNELS == ATTENTION)
            params.gridDim.x = d->grid[k / KERNELS];
        a->tally.updates++;
        CALL(cudaGraphExecKernelNodeSetParams(a->exec, a->nodes[k], &params));
    }
    a->tally.host_ns += app_now() - start;
}

static void read_all(struct decode *d)
{
    char *host = (char *)app_alloc(1, d->cache.bytes);
    struct buffer *buffers[] = {&d->state, &d->cache};

    for (size_t i = 0; i < 2; i++) {
        CALL(cudaMemcpy(host, buffers[i]->device, buffers[i]->bytes, cudaMemcpyDeviceToHost));
        d->app.tally.checksum = app_checksum(d->app.tally.checksum, host, buffers[i]->bytes);
    }
    free(host);
}

static void make_buffer(struct decode *d, struct buffer *b, size_t bytes)
{
    b->bytes = bytes;
    allocate(&d->app, 0, b, 1);
    CALL(cudaMemset(b->device, 1, bytes));
}

int main(int argc, char **argv)
{
    struct decode d = {.app.options = {.steps = 64, .seed = 1}};
    struct app *a = &d.app;

    a->options.nodes = NODES;
    app_start(a, argc, argv, "writes a token per step and sends all 768 nodes for it");
    if (a->options.nodes != NODES)
        app_misuse("--nodes", "this program has 768");
    d.rows = a->options.steps < 512 ? a->options.steps + 1 : 512;
    make_buffer(&d, &d.weights, 4096);
    make_buffer(&d, &d.state, 8 * ROW_BYTES);
    make_buffer(&d, &d.cache, 2 * LAYERS * d.rows * ROW_BYTES);
    set_up(&d);
    for (uint64_t token = 0; token < a->options.steps; token++) {
        next_token(&d, token);
        send_all(&d);
        launch(a);
    }
    read_all(&d);
    release(a, &d.weights);
    release(a, &d.state);
    release(a, &d.cache);
    return app_end(a);
}
