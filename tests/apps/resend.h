/* resend.h: the work that resend and resend_drv have in common: a chain of kernel nodes whose
 * parameters are sent before every launch although they rarely change. Knows nothing of either API.
 */
#ifndef APP_RESEND_H
#define APP_RESEND_H

#include "tests/apps/app.h"
#include "tests/apps/kernels.h"

/* The parameters of resend_step, laid out as the kernel packs them: no padding anywhere. */
struct resend_args {
    uint64_t out, in, table;
    uint32_t touched, mult;
    uint64_t stride, last, bias;
    uint32_t add, salt;
};

#define RESEND_BLOCK 16u
#define RESEND_GRID  ((APP_TOUCHED + RESEND_BLOCK - 1) / RESEND_BLOCK)
#define RESEND_EVERY 10u /* steps from one change to the next */

static const char resend_about[] = "sends the parameters of every kernel node before each launch; "
                                   "each tenth step one scalar changes";
static const struct app_options resend_defaults = {
    .steps = 100, .nodes = 16, .bytes = 65536, .seed = 1};

/* Buffer 0 is a table all nodes read, buffer 1 what the first node reads, buffer 2 + k is node k's:
 * the next node reads it. */
static inline uint64_t resend_buffers(uint64_t nodes)
{
    return nodes + 2;
}

/* The first parameters of node k. */
static inline void resend_start(struct resend_args *args, uint64_t k, const uint64_t *buffers,
                                const struct app_reach *reach, uint64_t *random)
{
    args->out = buffers[2 + k];
    args->in = buffers[1 + k];
    args->table = buffers[0];
    args->touched = reach->touched;
    args->mult = (uint32_t)app_random(random) | 1;
    args->stride = reach->stride;
    args->last = reach->last;
    args->bias = app_random(random);
    args->add = (uint32_t)app_random(random);
    args->salt = (uint32_t)app_random(random) | 1;
}

/* In every tenth step one scalar of one node gets another value, which it keeps: by turns one of
 * eight bytes and one of four. */
static inline void resend_change(struct resend_args *args, uint64_t nodes, uint64_t step,
                                 uint64_t *random)
{
    uint64_t turn = step / RESEND_EVERY;

    if (step % RESEND_EVERY != RESEND_EVERY - 1)
        return;
    if (turn % 2)
        args[turn % nodes].add += (uint32_t)app_random(random) | 1;
    else
        args[turn % nodes].bias += app_random(random) | 1;
}

/* What a buffer holds at first. */
static inline void resend_fill(void *host, size_t bytes, uint64_t *random)
{
    uint32_t *element = (uint32_t *)host;

    for (size_t i = 0; i < bytes / sizeof *element; i++)
        element[i] = (uint32_t)app_random(random);
}

#endif
