/* run.c: a launch: makes room for a block's threads, runs block after block, and words failures. */
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory of a run ---- */

static void *zeroed(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

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

static void free_block(struct ptx_block *block, unsigned char *params)
{
    if (block->threads) {
        free(block->threads[0].frames);
        free(block->threads[0].locals);
        free(block->threads[0].returns);
    }
    free(block->threads);
    free(block->fresh);
    free(block->shared);
    free(block->sites);
    free(params);
}

static unsigned char *copy_params(const struct ptx_launch *launch, uint32_t bytes)
{
    unsigned char *copy = zeroed(bytes, 1);

    if (copy && bytes)
        memcpy(copy, launch->params, bytes);
    return copy;
}

/* The sites of device functions follow the kernel's own numbering: one array fits all. */
static bool make_block(struct ptx_block *block, const unsigned char *params)
{
    const struct ptx_code *code = &block->function->code;

    block->params = params;
    block->sites = zeroed(block->site_count, sizeof(*block->sites));
    block->shared = zeroed(block->shared_bytes, 1);
    block->fresh = zeroed(code->slots, sizeof(*block->fresh));
    if (!params || !block->sites || !block->shared || !block->fresh || !make_threads(block))
        return false;
    memcpy(block->fresh, code->frame, code->slots * sizeof(*block->fresh));
    ptx_fill(block, NULL, code, block->fresh, 0, code->block_fills);
    return true;
}

/* ---- failures ---- */

static void copy_source_line(const char *text, unsigned line, char *out, size_t size)
{
    size_t length;

    while (--line && text)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    text = text ? text + strspn(text, " \t") : "";
    length = strcspn(text, "\r\n");
    snprintf(out, size, "%.*s", (int)length, text);
}

static void describe(const struct ptx_block *block, const struct ptx_thread *thread,
                     enum ptx_result result, const char *text, char *message, size_t size)
{
    const struct ptx_code *code = &thread->function->code;
    unsigned line = code->lines[thread->ip - code->insns];
    char source[120], what[160];

    copy_source_line(text, line, source, sizeof(source));
    if (result == PTX_ILLEGAL_ADDRESS || result == PTX_MISALIGNED)
        snprintf(what, sizeof(what), "%s %s of %u bytes at 0x%llx",
                 result == PTX_MISALIGNED ? "misaligned" : "illegal", block->fault.what,
                 block->fault.bytes, (unsigned long long)block->fault.address);
    else if (result == PTX_UNSUPPORTED)
        snprintf(what, sizeof(what), "the interpreter lacks %s", code->notes[thread->ip->imm]);
    else if (result == PTX_TRAP)
        snprintf(what, sizeof(what), "trap");
    else
        snprintf(what, sizeof(what), "waits for threads that never come");
    snprintf(message, size, "kernel %s, PTX line %u (%s): %s, block %u,%u,%u thread %u,%u,%u",
             block->kernel->name, line, source, what, block->ctaid[0], block->ctaid[1],
             block->ctaid[2], thread->tid[0], thread->tid[1], thread->tid[2]);
}

/* ---- the launch ---- */

static enum ptx_result run_grid(struct ptx_block *block, const char *text, char *message,
                                size_t size)
{
    const unsigned *grid = block->launch->grid;
    const struct ptx_code *code = &block->function->code;
    uint64_t count = (uint64_t)grid[0] * grid[1] * grid[2];

    for (uint64_t i = 0; i < count; i++) {
        const struct ptx_thread *culprit = NULL;
        enum ptx_result result;

        block->ctaid[0] = (unsigned)(i % grid[0]);
        block->ctaid[1] = (unsigned)(i / grid[0] % grid[1]);
        block->ctaid[2] = (unsigned)(i / grid[0] / grid[1]);
        ptx_fill(block, NULL, code, block->fresh, code->block_fills, code->thread_fills);
        result = ptx_run_block(block, &culprit);
        if (result) {
            describe(block, culprit, result, text, message, size);
            return result;
        }
    }
    return PTX_OK;
}

enum ptx_result ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
                        char *message, size_t message_size)
{
    const struct ptx_function *function = kernel->function;
    struct ptx_block block = {
        .kernel = kernel,
        .function = function,
        .launch = launch,
        .thread_count = launch->block[0] * launch->block[1] * launch->block[2],
        .shared_bytes = kernel->static_shared + launch->dynamic_shared,
        .param_bytes = kernel->param_bytes,
        .local_bytes = function->depth_local,
        .frame_slots = function->depth_slots,
        .site_count = function->module->site_count,
        .generation = launch->memory.generation(launch->memory.context),
    };
    unsigned char *params = copy_params(launch, kernel->param_bytes);
    enum ptx_result result = PTX_NO_MEMORY;

    if (make_block(&block, params))
        result = run_grid(&block, function->module->text, message, message_size);
    else
        snprintf(message, message_size, "kernel %s: out of host memory", kernel->name);
    free_block(&block, params);
    return result;
}
