/* worker.c: what one thread of the host does for a launch: it runs blocks, one after the other as a
 * rule, several in turn when they may wait for each other. Blocks are begun in grid order, so that
 * one may wait for those before it. */
#include "run.h"

#include <stdlib.h>

enum {
    PATIENCE = 64,   /* rounds in which no block ends before another is begun beside them */
    LATE_ROUNDS = 64 /* for blocks before one that has failed, to fail or end too */
};

struct worker {
    struct ptx_run *run;
    struct ptx_block *running, **last, *spare;
    unsigned quiet; /* rounds in which no block has ended */
    bool dry;       /* no block is left to begin, or no memory for one */
};

static struct ptx_block *take_room(struct worker *worker)
{
    struct ptx_block *block = worker->spare;

    if (!block)
        return ptx_make_block(worker->run);
    worker->spare = block->next;
    return block;
}

static void put_back(struct worker *worker, struct ptx_block *blocks)
{
    while (blocks) {
        struct ptx_block *next = blocks->next;
        blocks->next = worker->spare;
        worker->spare = blocks;
        blocks = next;
    }
}

/* Room for all blocks of a unit, or NULL. */
static struct ptx_block *take_unit(struct worker *worker)
{
    struct ptx_block *blocks = NULL;

    for (unsigned i = 0; i < worker->run->unit; i++) {
        struct ptx_block *block = take_room(worker);
        if (!block) {
            put_back(worker, blocks);
            return NULL;
        }
        block->next = blocks;
        blocks = block;
    }
    return blocks;
}

static struct ptx_cluster *new_cluster(const struct ptx_run *run, const struct ptx_block *block)
{
    struct ptx_cluster *cluster =
        calloc(1, sizeof(*cluster) + run->unit * sizeof(cluster->members[0]));

    if (!cluster)
        return NULL;
    cluster->blocks = run->unit;
    cluster->alive = run->unit * block->thread_count;
    return cluster;
}

/* Where the next unit starts; block_count when all have been begun or one has failed. */
static uint64_t next_unit(struct ptx_run *run)
{
    uint64_t first = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED) * run->unit;

    if (first > run->block_count || __atomic_load_n(&run->failed, __ATOMIC_ACQUIRE) < first)
        return run->block_count;
    return first;
}

/* Begins the next unit; there is room for it before it is taken. */
static void begin_unit(struct worker *worker)
{
    struct ptx_run *run = worker->run;
    struct ptx_block *blocks = take_unit(worker), *next;
    struct ptx_cluster *cluster = blocks ? new_cluster(run, blocks) : NULL;
    uint64_t number = cluster ? next_unit(run) : run->block_count;

    if (number == run->block_count) {
        put_back(worker, blocks);
        free(cluster);
        worker->dry = true;
        return;
    }
    for (; blocks; blocks = next) {
        next = blocks->next;
        ptx_place_block(blocks, number);
        blocks->cluster = cluster;
        cluster->members[number++ % run->unit] = blocks;
        ptx_begin_block(blocks);
        blocks->next = NULL;
        *worker->last = blocks;
        worker->last = &blocks->next;
    }
}

/* Takes the block at `at` off the running ones. */
static void end_block(struct worker *worker, struct ptx_block **at)
{
    struct ptx_block *block = *at;

    *at = block->next;
    if (!*at)
        worker->last = at;
    block->cluster->members[block->number % worker->run->unit] = NULL;
    if (--block->cluster->blocks == 0)
        free(block->cluster);
    block->next = NULL;
    put_back(worker, block);
}

/* A launch that is stopped begins no other blocks. */
static bool is_stopped(struct ptx_run *run)
{
    const struct ptx_host *host = &run->launch->host;
    bool stopped = host->stopped && host->stopped(host->context);

    if (stopped)
        __atomic_store_n(&run->failed, 0, __ATOMIC_RELEASE);
    return stopped;
}

/* After a failure: blocks behind it end at once, those before it soon, for they may wait for it. */
static bool is_lost(struct ptx_block *block)
{
    uint64_t failed = __atomic_load_n(&block->run->failed, __ATOMIC_ACQUIRE);

    return failed != UINT64_MAX && (failed < block->number || block->late++ >= LATE_ROUNDS);
}

static void run_all(struct worker *worker)
{
    struct ptx_block **at = &worker->running;

    worker->quiet++;
    while (*at) {
        enum ptx_progress progress =
            is_stopped(worker->run) || is_lost(*at) ? PTX_FINISHED : ptx_run_turns(*at);

        if (progress == PTX_FAILED)
            ptx_fail(*at);
        if (progress == PTX_GOING) {
            at = &(*at)->next;
            continue;
        }
        end_block(worker, at);
        worker->quiet = 0;
    }
}

bool ptx_work(struct ptx_run *run)
{
    struct worker worker = {.run = run};
    unsigned patience = run->launch->cooperative ? 0 : PATIENCE;
    bool ran = false;

    worker.last = &worker.running;
    for (;;) {
        if (!worker.dry && (!worker.running || worker.quiet >= patience)) {
            begin_unit(&worker);
            worker.quiet = 0;
        }
        if (!worker.running)
            break;
        ran = true;
        run_all(&worker);
        ptx_help(run);
    }
    while (worker.spare) {
        struct ptx_block *next = worker.spare->next;
        ptx_free_block(worker.spare);
        worker.spare = next;
    }
    return ran;
}
