/* worker.c: the queues of streams and the threads that empty them. Work has a number in the
 * order of submission, over all streams, and waits only for work with lower numbers, so nothing
 * waits in a circle. It must not know what the work does. */
#include "device.h"
#include "door.h"
#include "kernel_host.h"
#include "mempool.h"
#include "stream.h"
#include "va.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS 64
#define MAX_RUNNING 8 /* outside functions of the application */
#define NAP_NS      50000
#define EXIT_NS     1000000000 /* what running work gets to end in */

struct worker {
    pthread_t thread;
    bool left;    /* about to end, needs the lock no more */
    bool in_host; /* inside a function of the application, which may last */
};

static struct {
    struct worker workers[MAX_WORKERS];
    int count;
    int running; /* workers that run something */
    int idle;
    bool stopping;
    _Atomic uint64_t deadline; /* of running work, once it is */
    int resting;               /* callers of fv_workers_rest(): nothing new starts */
    uint64_t sequence;         /* of the newest work */
    bool must_poll;            /* found by pick(): work that has to be asked again soon */
    bool napping;              /* a worker will ask it */
} pool;

/* A function of the application that belongs to no stream. */
struct chore {
    CUhostFn function;
    void *data;
    struct chore *next;
};

static struct {
    struct chore *first, **last;
} chores = {.last = &chores.first};

static _Thread_local struct worker *self;

/* ---- which work may run ---- */

static bool waits_for(const struct fv_stream *stream, const struct fv_stream *other)
{
    return other->head && other->head->sequence < stream->head->sequence;
}

/* The legacy stream's order with the blocking streams of its context, both ways. */
static bool legacy_order_allows(const struct fv_stream *stream)
{
    const struct fv_stream *legacy = stream->context->legacy;

    if (!fv_stream_blocks(stream))
        return true;
    if (stream != legacy)
        return !waits_for(stream, legacy);
    for (struct fv_stream *it = fv_next(FV_STREAM, NULL); it; it = fv_next(FV_STREAM, it))
        if (it != legacy && it->context == stream->context && fv_stream_blocks(it) &&
            waits_for(legacy, it))
            return false;
    return true;
}

/* Work that an earlier error will drop waits for nothing but its turn. */
static bool is_dropped(const struct fv_work *work)
{
    return work->context->sticky != CUDA_SUCCESS && !work->always;
}

/* Work that has begun and comes in pieces takes more workers, or one to end it. */
static bool may_join(struct fv_work *work)
{
    enum fv_pieces left = work->pieces ? work->pieces(work) : FV_PIECES_WAIT;

    pool.must_poll |= left == FV_PIECES_WAIT && work->polls;
    return left == FV_PIECES_READY || (left == FV_PIECES_DONE && !work->workers);
}

static bool may_run(const struct fv_stream *stream)
{
    struct fv_work *work = stream->head;

    if (!work)
        return false;
    if (stream->busy)
        return may_join(work);
    if (!legacy_order_allows(stream))
        return false;
    if (is_dropped(work) || !work->ready || work->ready(work))
        return true;
    pool.must_poll |= work->polls;
    return false;
}

static bool comes_first(const struct fv_stream *stream, const struct fv_stream *other)
{
    if (stream->priority != other->priority)
        return stream->priority < other->priority;
    return stream->head->sequence < other->head->sequence;
}

static struct fv_stream *pick(void)
{
    struct fv_stream *best = NULL;

    pool.must_poll = false;
    for (struct fv_stream *it = fv_next(FV_STREAM, NULL); it; it = fv_next(FV_STREAM, it))
        if (may_run(it) && (!best || comes_first(it, best)))
            best = it;
    return best;
}

/* ---- running it ---- */

static void run(struct fv_work *work)
{
    CUresult result = CUDA_SUCCESS;

    if (!work->run)
        return;
    work->workers++;
    fv_unlock();
    result = work->run(work);
    fv_lock();
    work->workers--;
    if (result != CUDA_SUCCESS)
        fv_context_poison(work->context, result);
}

/* Of work that this worker has left: another may be in it, or pieces may wait for something. */
static bool has_ended(struct fv_work *work)
{
    return !work->pieces || (!work->workers && work->pieces(work) == FV_PIECES_DONE);
}

static void finish(struct fv_stream *stream)
{
    struct fv_work *work = stream->head;

    stream->done = work->sequence;
    stream->head = work->next;
    if (!stream->head)
        stream->last = NULL;
    stream->busy = false;
    work->retire(work);
    if (stream->dying && !stream->head)
        fv_delete(FV_STREAM, stream);
}

/* Lock held, as everywhere but inside the work. */
static void run_head(struct fv_stream *stream)
{
    struct fv_work *work = stream->head;
    bool first = !stream->busy, dropped = first && is_dropped(work);

    stream->busy = true;
    pool.running++;
    if (first && !dropped && work->begin)
        work->begin(work);
    /* What this worker leaves runnable is another's; one wakes the next. */
    if (pool.idle && (pick() || pool.must_poll))
        fv_work_added();
    if (!dropped)
        run(work);
    if (dropped || has_ended(work))
        finish(stream);
    if (--pool.running == 0)
        fv_phys_reap();
    fv_work_done();
}

/* Until there may be work. Memory that a stream waits for is looked at by one idle worker. */
static void idle(void)
{
    pool.idle++;
    if (pool.must_poll && !pool.napping) {
        pool.napping = true;
        fv_unlock();
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        fv_lock();
        pool.napping = false;
    } else {
        fv_wait_for_work();
    }
    pool.idle--;
}

static void run_chore(void)
{
    struct chore *chore = chores.first;

    chores.first = chore->next;
    if (!chores.first)
        chores.last = &chores.first;
    pool.running++;
    fv_unlock();
    fv_call_host(chore->function, chore->data);
    free(chore);
    fv_lock();
    pool.running--;
    fv_work_done();
}

static void *work_loop(void *worker)
{
    self = worker;
    fv_lock();
    while (!pool.stopping) {
        struct fv_stream *stream = pool.resting ? NULL : pick();
        if (stream)
            run_head(stream);
        else if (chores.first)
            run_chore();
        else
            idle();
    }
    self->left = true;
    fv_work_done();
    fv_unlock();
    return NULL;
}

static int in_host_calls(void)
{
    int count = 0;

    for (int i = 0; i < pool.count; i++)
        count += pool.workers[i].in_host;
    return count;
}

/* As many as there are cores, and those that functions of the application hold up. Signals are the
 * application's threads' business. */
static void start_workers(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = cores < 1 ? 1 : cores > MAX_RUNNING ? MAX_RUNNING : (int)cores;
    sigset_t all, before;

    wanted += in_host_calls();
    if (wanted > MAX_WORKERS)
        wanted = MAX_WORKERS;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.count < wanted) {
        struct worker *worker = &pool.workers[pool.count];
        if (pthread_create(&worker->thread, NULL, work_loop, worker))
            break;
        pool.count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pool.count)
        return;
    fv_say("cannot start a thread to run work on; raise the limit on threads");
    fv_unlock();
    exit(2);
}

void fv_submit(struct fv_stream *stream, struct fv_work *work)
{
    work->stream = stream;
    work->context = stream->context;
    work->sequence = ++pool.sequence;
    work->next = NULL;
    if (stream->last)
        stream->last->next = work;
    else
        stream->head = work;
    stream->last = work;
    stream->queued = work->sequence;
    if (!pool.count)
        start_workers();
    if (pool.idle)
        fv_work_added();
}

bool fv_workers_running(void)
{
    return pool.running > 0;
}

/* True if a worker may be reading or writing memory. */
static bool at_memory(void)
{
    return pool.running > in_host_calls();
}

void fv_workers_rest(void)
{
    pool.resting++;
    while (at_memory())
        fv_wait();
    pool.resting--;
    fv_work_added();
}

/* ---- waiting for it ---- */

/* Memory pools give back what they need not keep. */
static CUresult end_wait(struct fv_context *context, unsigned long long id)
{
    fv_print_flush();
    if (!fv_context_lives(context, id))
        return CUDA_SUCCESS;
    fv_pools_trim(context->device);
    return context->sticky;
}

bool fv_stream_idle(const struct fv_stream *stream)
{
    return stream->done == stream->queued;
}

/* A stream or context may be destroyed, and its slot used again, while the lock is dropped. */
CUresult fv_stream_wait(struct fv_stream *stream)
{
    struct fv_context *context = stream->context;
    unsigned long long id = stream->id, context_id = context->id;
    uint64_t target = stream->queued;

    while (fv_valid(FV_STREAM, stream) && stream->id == id && stream->done < target)
        fv_wait();
    return end_wait(context, context_id);
}

static bool has_work_until(const struct fv_context *context, uint64_t target)
{
    for (struct fv_stream *it = fv_next(FV_STREAM, NULL); it; it = fv_next(FV_STREAM, it))
        if (it->context == context && it->head && it->head->sequence <= target)
            return true;
    return false;
}

bool fv_context_done_before(const struct fv_context *context, uint64_t sequence)
{
    return !has_work_until(context, sequence - 1);
}

CUresult fv_context_wait(struct fv_context *context)
{
    unsigned long long id = context->id;
    uint64_t target = pool.sequence;

    while (fv_valid(FV_CONTEXT, context) && context->id == id && has_work_until(context, target))
        fv_wait();
    return end_wait(context, id);
}

void fv_wait_everywhere(void)
{
    struct fv_context *context = NULL;

    while ((context = fv_next(FV_CONTEXT, context)))
        fv_context_wait(context);
}

/* ---- functions of the application ---- */

static void set_in_host(bool in_host)
{
    fv_lock();
    self->in_host = in_host;
    if (in_host && !pool.idle && !pool.stopping)
        start_workers();
    fv_work_done();
    fv_unlock();
}

void fv_call_host(CUhostFn function, void *data)
{
    set_in_host(true);
    function(data);
    set_in_host(false);
}

bool fv_call_host_later(CUhostFn function, void *data)
{
    struct chore *chore = malloc(sizeof *chore);

    if (!chore)
        return false;
    *chore = (struct chore){function, data, NULL};
    *chores.last = chore;
    chores.last = &chore->next;
    if (!pool.count)
        start_workers();
    fv_work_added();
    return true;
}

bool fv_in_host_call(void)
{
    return self && self->in_host;
}

/* ---- the end ---- */

bool fv_workers_stopping(void)
{
    return pool.stopping;
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

bool fv_workers_overdue(void)
{
    uint64_t deadline = atomic_load_explicit(&pool.deadline, memory_order_relaxed);

    return deadline && now() > deadline;
}

/* A worker inside the application's function is left alone: it may be the one that exits. */
void fv_workers_stop(void)
{
    pool.stopping = true;
    atomic_store(&pool.deadline, now() + EXIT_NS);
    for (int i = 0; i < pool.count; i++)
        fv_work_added();
    for (int i = 0; i < pool.count; i++) {
        struct worker *worker = &pool.workers[i];
        while (!worker->left && !worker->in_host)
            fv_wait();
        if (worker->left)
            pthread_join(worker->thread, NULL);
        else
            pthread_detach(worker->thread);
    }
}
