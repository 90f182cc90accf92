/* sched.c: the threads of one block. Those of a kernel in which nobody waits run one after the
 * other, in one frame. Otherwise they take turns: a thread runs to a barrier or a warp instruction
 * or until its turn is over. The order of warps and lanes and the length of turns vary, the same
 * way in each run: a barrier that is missing shows. */
#include "run.h"

#include <string.h>

/* in jumps */
enum { LEAST_TURN = 64, TURN_VARIES = 128, ALONE_TURN = 1 << 20 };

static enum ptx_progress fail(struct ptx_block *block, const struct ptx_thread *thread,
                              enum ptx_stop stop)
{
    block->culprit = thread;
    if (stop == PTX_STOP_UNSUPPORTED)
        block->fault.result = PTX_UNSUPPORTED;
    else if (stop == PTX_STOP_TRAP)
        block->fault.result = PTX_TRAP;
    return PTX_FAILED;
}

/* xorshift */
static uint32_t draw(struct ptx_block *block)
{
    uint32_t x = block->chance;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return block->chance = x;
}

/* ---- barriers ---- */

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

/* Opens the cluster's barrier when all of its threads that have not exited are there. */
static void settle_cluster(struct ptx_cluster *cluster)
{
    if (!cluster->arrived || cluster->arrived < cluster->alive)
        return;
    cluster->arrived = 0;
    cluster->phase++;
}

static void reach_cluster(struct ptx_cluster *cluster, struct ptx_thread *thread)
{
    thread->phase = cluster->phase;
    cluster->arrived++;
    thread->ip++;
    settle_cluster(cluster);
}

/* ---- turns ---- */

static void leave(struct ptx_block *block, struct ptx_thread *thread)
{
    thread->state = PTX_EXITED;
    block->exited++;
    block->cluster->alive--;
    settle_cluster(block->cluster);
}

/* Runs a thread to its next stop. */
static enum ptx_progress run_turn(struct ptx_block *block, struct ptx_thread *thread)
{
    enum ptx_stop stop = ptx_step(block, thread);

    switch (stop) {
    case PTX_STOP_TURN: break;
    case PTX_STOP_EXIT: leave(block, thread); break;
    case PTX_STOP_BARRIER: reach_barrier(block, thread); break;
    case PTX_STOP_WARP: thread->state = PTX_AT_WARP; break;
    case PTX_STOP_CLUSTER: reach_cluster(block->cluster, thread); break;
    default: return fail(block, thread, stop);
    }
    return PTX_GOING;
}

/* The threads of a warp have turns of one length: those that do the same stay together. */
static enum ptx_progress run_warp(struct ptx_block *block, unsigned first, bool *any)
{
    unsigned left = block->thread_count - first, count = left < PTX_WARP ? left : PTX_WARP;
    uint32_t chance = draw(block);
    unsigned lane = chance % PTX_WARP, step = (chance >> 5) % PTX_WARP | 1;

    block->turn = LEAST_TURN + (chance >> 16) % TURN_VARIES;
    for (unsigned i = 0; i < PTX_WARP; i++, lane = (lane + step) % PTX_WARP) {
        struct ptx_thread *thread = &block->threads[first + lane];

        if (lane >= count || thread->state != PTX_READY)
            continue;
        *any = true;
        if (run_turn(block, thread) == PTX_FAILED)
            return PTX_FAILED;
    }
    *any |= ptx_release_warp(&block->threads[first], count);
    return PTX_GOING;
}

static enum ptx_progress stuck(struct ptx_block *block)
{
    unsigned i = block->thread_count - 1;

    while (block->threads[i].state == PTX_EXITED)
        i--;
    block->fault.result = PTX_DEADLOCK;
    block->culprit = &block->threads[i];
    return PTX_FAILED;
}

static enum ptx_progress run_together(struct ptx_block *block)
{
    unsigned warps = (block->thread_count + PTX_WARP - 1) / PTX_WARP;
    uint32_t chance = draw(block);
    unsigned warp = chance % warps, step = chance >> 31 ? 1 : warps - 1;
    bool any = false;

    for (unsigned i = 0; i < warps; i++, warp = (warp + step) % warps) {
        if (run_warp(block, warp * PTX_WARP, &any) == PTX_FAILED)
            return PTX_FAILED;
    }
    if (block->exited == block->thread_count)
        return PTX_FINISHED;
    any |= open_barriers(block);
    return any ? PTX_GOING : stuck(block);
}

/* One thread after the other, until one's turn is over. */
static enum ptx_progress run_alone(struct ptx_block *block)
{
    struct ptx_thread *thread = &block->threads[0];

    for (;;) {
        enum ptx_stop stop = ptx_step(block, thread);

        if (stop == PTX_STOP_TURN)
            return PTX_GOING;
        if (stop != PTX_STOP_EXIT)
            return fail(block, thread, stop);
        if (thread->index + 1 == block->thread_count)
            return PTX_FINISHED;
        ptx_start(block, thread, thread->index + 1);
    }
}

enum ptx_progress ptx_run_turns(struct ptx_block *block)
{
    return block->function->together ? run_together(block) : run_alone(block);
}

void ptx_begin_block(struct ptx_block *block)
{
    unsigned count = block->function->together ? block->thread_count : 1;

    ptx_refresh(block);
    memset(block->waiting, 0, sizeof(block->waiting));
    memset(block->arrived, 0, sizeof(block->arrived));
    block->exited = 0;
    block->late = 0;
    block->turn = ALONE_TURN;
    block->chance = 2463534242u ^ (uint32_t)block->number * 2654435761u;
    if (!block->chance)
        block->chance = 1;
    for (unsigned i = 0; i < count; i++)
        ptx_start(block, &block->threads[i], i);
}
