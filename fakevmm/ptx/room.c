/* room.c: the memory a block needs while it runs. It is made once and used for one block after the
 * other, so a block finds in its shared memory what another has left there, as on a GPU. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

/* Threads that never wait for each other run one after the other, in the room of one. */
static bool make_threads(struct ptx_block *block)
{
    unsigned count = block->function->together ? block->thread_count : 1;
    size_t local = (block->local_bytes + 15) / 16 * 16;
    unsigned depth = block->frame_slots > block->function->code.slots ? PTX_DEPTH : 0;
    union ptx_slot *frames = zeroed((size_t)count * block->frame_slots, sizeof(*frames));
    unsigned char *locals = zeroed(count, local);
    struct ptx_return *returns = zeroed((size_t)count * depth, sizeof(*returns));

    block->threads = zeroed(count, sizeof(*block->threads));
    if (!frames || !locals || !returns || !block->threads) {
        free(frames);
        free(locals);
        free(returns);
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        block->threads[i].frames = frames + (size_t)i * block->frame_slots;
        block->threads[i].locals = locals + i * local;
        block->threads[i].returns = returns + (size_t)i * depth;
    }
    return true;
}

void ptx_free_block(struct ptx_block *block)
{
    if (block->threads && block->threads[0].frames) {
        free(block->threads[0].frames);
        free(block->threads[0].locals);
        free(block->threads[0].returns);
    }
    free(block->threads);
    free(block->fresh);
    free(block->shared);
    free(block->sites);
    free(block);
}

/* The sites of device functions follow the kernel's own numbering: one array fits all. */
static bool furnish(struct ptx_block *block)
{
    const struct ptx_code *code = &block->function->code;

    block->sites = zeroed(block->site_count, sizeof(*block->sites));
    block->shared = zeroed(block->shared_bytes, 1);
    block->fresh = zeroed(code->slots, sizeof(*block->fresh));
    if (!block->sites || !block->shared || !block->fresh || !make_threads(block))
        return false;
    memcpy(block->fresh, code->frame, code->slots * sizeof(*block->fresh));
    ptx_fill(block, NULL, code, block->fresh, 0, code->block_fills);
    return true;
}

struct ptx_block *ptx_make_block(struct ptx_run *run)
{
    const struct ptx_launch *launch = run->launch;
    struct ptx_block *block = calloc(1, sizeof(*block));

    if (!block)
        return NULL;
    block->run = run;
    block->kernel = run->kernel;
    block->function = run->function;
    block->launch = launch;
    block->params = run->params;
    block->thread_count = launch->block[0] * launch->block[1] * launch->block[2];
    block->shared_bytes = run->kernel->static_shared + launch->dynamic_shared;
    block->param_bytes = run->kernel->param_bytes;
    block->local_bytes = run->function->depth_local;
    block->frame_slots = run->function->depth_slots;
    block->site_count = run->function->module->site_count;
    block->generation = launch->memory.generation(launch->memory.context);
    if (furnish(block))
        return block;
    ptx_free_block(block);
    return NULL;
}

void ptx_place_block(struct ptx_block *block, uint64_t number)
{
    const struct ptx_code *code = &block->function->code;

    block->number = number;
    ptx_coordinates(block->run, number, block->ctaid);
    ptx_fill(block, NULL, code, block->fresh, code->block_fills, code->thread_fills);
}
