/* buffers.h: the parts of a step of the programs that reallocate (realloc.h): allocate, fill, point
 * a node at buffers, launch, read, free. Header-only. */
#ifndef APP_BUFFERS_H
#define APP_BUFFERS_H

#include "tests/apps/realloc.h"

static inline size_t window_of(const struct buffer *b)
{
    return b->bytes < WINDOW ? b->bytes : WINDOW;
}

static inline char *tail_of(const struct buffer *b)
{
    return b->device + b->bytes - window_of(b);
}

/* Allocates `count` buffers, whose sizes are set, and fills them from the host. */
static inline void allocate(struct app *a, uint64_t step, struct buffer *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct buffer *b = &buffers[i];
        uint64_t start = app_now();

        a->tally.allocs++;
        CALL(cudaMalloc((void **)&b->device, b->bytes));
        a->tally.host_ns += app_now() - start;
        if (a->options.pointers)
            printf("ptr %" PRIu64 " %zu %p\n", step, i, (void *)b->device);
    }
    for (size_t i = 0; i < count; i++) {
        const struct buffer *b = &buffers[i];
        uint32_t host[2][APP_TOUCHED];

        resend_fill(host, sizeof host, &a->random);
        CALL(cudaMemcpy(b->device, host[0], window_of(b), cudaMemcpyHostToDevice));
        CALL(cudaMemcpy(tail_of(b), host[1], window_of(b), cudaMemcpyHostToDevice));
    }
}

/* Points node k at the first window of `out` and `table` and at the last one of `in`. */
static inline void send(struct app *a, uint64_t k, const struct buffer *out,
                        const struct buffer *in, const struct buffer *table)
{
    size_t window = window_of(out) < window_of(in) ? window_of(out) : window_of(in);
    struct resend_args *args = &a->args[k];
    void *values[10];

    if (window_of(table) < window)
        window = window_of(table);
    args->out = (uintptr_t)out->device;
    args->in = (uintptr_t)tail_of(in);
    args->table = (uintptr_t)table->device;
    args->touched = (uint32_t)(window / sizeof(uint32_t));
    args->last = args->touched - 1;
    struct cudaKernelNodeParams params = app_params(a, args, values);
    uint64_t start = app_now();
    a->tally.updates++;
    CALL(cudaGraphExecKernelNodeSetParams(a->exec, a->nodes[k], &params));
    a->tally.host_ns += app_now() - start;
}

static inline void launch(struct app *a)
{
    uint64_t start = app_now();

    a->tally.launches++;
    CALL(cudaGraphLaunch(a->exec, a->stream));
    a->tally.host_ns += app_now() - start;
    CALL(cudaStreamSynchronize(a->stream));
}

/* Adds what a buffer holds to the checksum. */
static inline void read_back(struct app *a, const struct buffer *b)
{
    uint32_t host[APP_TOUCHED];

    CALL(cudaMemcpy(host, b->device, window_of(b), cudaMemcpyDeviceToHost));
    a->tally.checksum = app_checksum(a->tally.checksum, host, window_of(b));
    CALL(cudaMemcpy(host, tail_of(b), window_of(b), cudaMemcpyDeviceToHost));
    a->tally.checksum = app_checksum(a->tally.checksum, host, window_of(b));
}

static inline void release(struct app *a, const struct buffer *b)
{
    uint64_t start = app_now();

    a->tally.frees++;
    CALL(cudaFree(b->device));
    a->tally.host_ns += app_now() - start;
}

#endif
