/* sched.c: runs the threads of one block. Those of a kernel that never waits run one after the
 * other in one frame; otherwise each has its own and they take turns at barriers, warp instructions
 * and pauses. */
#include "exec.h"

static enum ptx_result failure(const struct ptx_block *block, enum ptx_stop stop)
{
    switch (stop) {
    case PTX_STOP_FAULT: return block->fault.result;
    case PTX_STOP_UNSUPPORTED: return PTX_UNSUPPORTED;
    case PTX_STOP_TRAP: return PTX_TRAP;
    default: return PTX_OK;
    }
}

static enum ptx_result run_alone(struct ptx_block *block, const struct ptx_thread **culprit)
{
    struct ptx_thread *thread = &block->threads[0];

    for (unsigned i = 0; i < block->thread_count; i++) {
        enum ptx_stop stop;

        ptx_start(block, thread, i);
        do {
            stop = ptx_step(block, thread);
        } while (stop == PTX_STOP_PAUSE);
        if (stop != PTX_STOP_EXIT) {
            *culprit = thread;
            return failure(block, stop);
        }
    }
    return PTX_OK;
}

static unsigned barrier_id(const struct ptx_thread *thread)
{
    return thread->frame[thread->ip->a].u32 % PTX_BARRIERS;
}

static void reach_barrier(struct ptx_block *block, struct ptx_thread *thread)
{
    unsigned id = barrier_id(thread);

    if (thread->ip->op == PTX_OP_bar_arrive) {
        block->arrived[id]++;
        thread->ip++;
        return;
    }
    block->waiting[id]++;
    thread->state = PTX_AT_BARRIER;
}

/* What a reducing barrier tells every thread: of those waiting, how many came with a true
 * predicate. */
static void pass_barrier(struct ptx_thread *thread, unsigned trues, unsigned waiting)
{
    const struct ptx_insn *ip = thread->ip;
    union ptx_slot *d = &thread->frame[ip->d];

    if (ip->op == PTX_OP_bar_popc)
        d->u64 = trues;
    else if (ip->op == PTX_OP_bar_and)
        d->u32 = trues == waiting;
    else if (ip->op == PTX_OP_bar_or)
        d->u32 = trues != 0;
    thread->ip++;
    thread->state = PTX_READY;
}

static void open_barrier(struct ptx_block *block, unsigned id)
{
    unsigned trues = 0;

    for (unsigned i = 0; i < block->thread_count; i++) {
        const struct ptx_thread *thread = &block->threads[i];
        if (thread->state == PTX_AT_BARRIER && barrier_id(thread) == id)
            trues += thread->frame[thread->ip->c].u32 != 0;
    }
    for (unsigned i = 0; i < block->thread_count; i++) {
        struct ptx_thread *thread = &block->threads[i];
        if (thread->state == PTX_AT_BARRIER && barrier_id(thread) == id)
            pass_barrier(thread, trues, block->waiting[id]);
    }
    block->waiting[id] = block->arrived[id] = 0;
}

/* A barrier without a count is for the whole block; threads that have exited count as arrived. */
static bool barrier_full(const struct ptx_block *block, unsigned id)
{
    unsigned there = block->waiting[id] + block->arrived[id], wanted = 0;

    for (unsigned i = 0; i < block->thread_count && !wanted; i++) {
        const struct ptx_thread *thread = &block->threads[i];
        if (thread->state == PTX_AT_BARRIER && barrier_id(thread) == id && thread->ip->b)
            wanted = thread->frame[thread->ip->b].u32;
        else if (thread->state == PTX_AT_BARRIER && barrier_id(thread) == id)
            break;
    }
    return wanted ? there >= wanted : there + block->exited >= block->thread_count;
}

static bool open_barriers(struct ptx_block *block)
{
    bool any = false;

    for (unsigned id = 0; id < PTX_BARRIERS; id++) {
        if (block->waiting[id] && barrier_full(block, id)) {
            open_barrier(block, id);
            any = true;
        }
    }
    if (any)
        ptx_refresh(block);
    return any;
}

/* Runs a thread to its next stop. */
static enum ptx_result run_turn(struct ptx_block *block, struct ptx_thread *thread)
{
    enum ptx_stop stop = ptx_step(block, thread);

    switch (stop) {
    case PTX_STOP_EXIT:
        thread->state = PTX_EXITED;
        block->exited++;
        return PTX_OK;
    case PTX_STOP_BARRIER: reach_barrier(block, thread); return PTX_OK;
    case PTX_STOP_WARP: thread->state = PTX_AT_WARP; return PTX_OK;
    default: return failure(block, stop);
    }
}

static enum ptx_result run_warp(struct ptx_block *block, unsigned first, bool *progress,
                                const struct ptx_thread **culprit)
{
    unsigned left = block->thread_count - first, count = left < PTX_WARP ? left : PTX_WARP;

    for (unsigned i = first; i < first + count; i++) {
        enum ptx_result result;

        if (block->threads[i].state != PTX_READY)
            continue;
        *progress = true;
        result = run_turn(block, &block->threads[i]);
        if (result) {
            *culprit = &block->threads[i];
            return result;
        }
    }
    *progress |= ptx_release_warp(&block->threads[first], count);
    return PTX_OK;
}

static enum ptx_result run_together(struct ptx_block *block, const struct ptx_thread **culprit)
{
    bool progress = true;

    block->exited = 0;
    for (unsigned id = 0; id < PTX_BARRIERS; id++)
        block->waiting[id] = block->arrived[id] = 0;
    for (unsigned i = 0; i < block->thread_count; i++)
        ptx_start(block, &block->threads[i], i);
    while (progress) {
        progress = false;
        for (unsigned i = 0; i < block->thread_count; i += PTX_WARP) {
            enum ptx_result result = run_warp(block, i, &progress, culprit);
            if (result)
                return result;
        }
        if (block->exited == block->thread_count)
            return PTX_OK;
        progress |= open_barriers(block);
    }
    for (unsigned i = 0; i < block->thread_count; i++) {
        if (block->threads[i].state != PTX_EXITED)
            *culprit = &block->threads[i];
    }
    return PTX_DEADLOCK;
}

enum ptx_result ptx_run_block(struct ptx_block *block, const struct ptx_thread **culprit)
{
    ptx_refresh(block);
    return block->function->together ? run_together(block, culprit) : run_alone(block, culprit);
}
