/* event.c: events. What an event stands for is its latest record, an object of its own: waits
 * and queued records hold it, so events may be recorded again or destroyed meanwhile. A record in a
 * capture is never done; it stands for nodes. It must not know how streams run. */
#include "capture.h"
#include "device.h"
#include "event.h"
#include "event_ipc.h"
#include "kernel_host.h"
#include "mempool.h"
#include "stream.h"

#include <stdlib.h>
#include <time.h>

struct fv_record {
    unsigned refs;
    bool done;
    struct timespec at;
    struct fv_mark mark; /* where a capture stood */
    struct fv_shared_event *shared;
    uint64_t number; /* among the records of a shared event */
};

struct fv_event {
    struct fv_context *context;
    unsigned long long id; /* never reused; handles are */
    unsigned flags;
    struct fv_record *record;       /* NULL: never recorded, an empty set of work */
    struct fv_shared_event *shared; /* with other processes, NULL: not made for it */
};

FV_FITS(struct fv_event);

#define POLL_NS 50000 /* between two looks at what another process does */

static unsigned long long last_id;

/* A queued record or wait. */
struct event_work {
    struct fv_work work;
    struct fv_record *record;
};

void fv_record_put(struct fv_record *record)
{
    if (!record || --record->refs)
        return;
    fv_mark_free(&record->mark);
    fv_shared_put(record->shared);
    free(record);
}

/* Another process may have recorded a shared event since: the latest record is its. */
static void look_for_records(struct fv_event *event)
{
    uint64_t latest = event->shared ? fv_shared_latest(event->shared) : 0;
    struct fv_record *record;

    if (!latest || (event->record && event->record->number >= latest) ||
        (event->record && event->record->mark.capture))
        return;
    record = calloc(1, sizeof *record);
    if (!record)
        return;
    record->refs = 1;
    record->shared = fv_shared_get(event->shared);
    record->number = latest;
    fv_record_put(event->record);
    event->record = record;
}

/* Events of a context in error answer with its error. */
CUresult fv_event_of(CUevent handle, struct fv_event **out)
{
    struct fv_event *event = (struct fv_event *)handle;

    if (!fv_valid(FV_EVENT, event) || event->context->closing)
        return CUDA_ERROR_INVALID_HANDLE;
    look_for_records(event);
    *out = event;
    return event->context->sticky;
}

/* ---- life ---- */

CUresult fv_event_make(struct fv_context *context, unsigned flags, struct fv_shared_event *shared,
                       CUevent *out)
{
    struct fv_event *event = fv_new(FV_EVENT);

    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->context = context;
    event->id = ++last_id;
    event->flags = flags;
    event->shared = shared;
    *out = (CUevent)event;
    return CUDA_SUCCESS;
}

CUresult fv_cuEventCreate(CUevent *out, unsigned flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    struct fv_shared_event *shared = NULL;
    struct fv_context *context;
    CUresult result = fv_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags & ~known ||
        (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_EVENT_INTERPROCESS && !(shared = fv_shared_new()))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_event_make(context, flags, shared, out);
    if (result != CUDA_SUCCESS)
        fv_shared_put(shared);
    return result;
}

static void destroy(struct fv_event *event)
{
    fv_record_put(event->record);
    fv_shared_put(event->shared);
    fv_delete(FV_EVENT, event);
}

CUresult fv_cuEventDestroy_v2(CUevent handle)
{
    struct fv_event *event = (struct fv_event *)handle;

    if (!fv_valid(FV_EVENT, event))
        return CUDA_ERROR_INVALID_HANDLE;
    destroy(event);
    return CUDA_SUCCESS;
}

CUresult fv_cuEventDestroy(CUevent handle)
{
    return fv_cuEventDestroy_v2(handle);
}

void fv_event_drop_context(struct fv_context *context)
{
    fv_event_leave_context(context);
    for (struct fv_event *it = fv_next(FV_EVENT, NULL); it; it = fv_next(FV_EVENT, it))
        if (it->context == context)
            destroy(it);
}

/* ---- for graphs ---- */

struct fv_shared_event *fv_event_shared(const struct fv_event *event)
{
    return event->shared;
}

struct fv_context *fv_event_context(const struct fv_event *event)
{
    return event->context;
}

unsigned long long fv_event_id(const struct fv_event *event)
{
    return event->id;
}

bool fv_event_is_plain(const struct fv_event *event)
{
    return event->flags & CU_EVENT_DISABLE_TIMING && !event->shared;
}

CUresult fv_event_begin(struct fv_event *event, struct fv_record **out)
{
    struct fv_record *record = calloc(1, sizeof *record);

    if (!record)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fv_record_put(event->record);
    event->record = record;
    record->refs = 2; /* the event's and the caller's */
    record->shared = fv_shared_get(event->shared);
    if (record->shared)
        record->number = fv_shared_queue(record->shared);
    *out = record;
    return CUDA_SUCCESS;
}

CUresult fv_event_latest(struct fv_event *event, struct fv_record **out)
{
    if (event->record && event->record->mark.capture)
        return CUDA_ERROR_CAPTURED_EVENT;
    *out = event->record;
    if (*out)
        (*out)->refs++;
    return CUDA_SUCCESS;
}

void fv_event_refuse(const struct fv_event *event)
{
    fv_capture_ask(&event->record->mark);
}

struct fv_record *fv_record_get(struct fv_record *record)
{
    record->refs++;
    return record;
}

bool fv_record_done(const struct fv_record *record)
{
    return !record || record->done ||
           (record->shared && fv_shared_reached(record->shared, record->number));
}

bool fv_record_polls(const struct fv_record *record)
{
    return record->shared != NULL;
}

/* ---- record and wait ---- */

void fv_record_end(struct fv_record *record)
{
    clock_gettime(CLOCK_MONOTONIC, &record->at);
    record->done = true;
    if (record->shared)
        fv_shared_reach(record->shared, record->number);
    fv_record_put(record);
}

static void retire_record(struct fv_work *work)
{
    fv_record_end(((struct event_work *)work)->record);
    free(work);
}

static bool wait_is_over(struct fv_work *work)
{
    return fv_record_done(((struct event_work *)work)->record);
}

static void retire_wait(struct fv_work *work)
{
    fv_record_put(((struct event_work *)work)->record);
    free(work);
}

CUresult fv_record_await(struct fv_record *record, struct fv_stream *stream)
{
    struct event_work *work = fv_record_done(record) ? NULL : malloc(sizeof *work);

    if (!work) {
        bool done = fv_record_done(record);

        fv_record_put(record);
        return done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    *work = (struct event_work){
        .work = {.ready = wait_is_over, .retire = retire_wait, .polls = fv_record_polls(record)},
        .record = record};
    fv_submit(stream, &work->work);
    return CUDA_SUCCESS;
}

static CUresult record_event(struct fv_event *event, struct fv_stream *stream)
{
    struct event_work *work = calloc(1, sizeof *work);
    CUresult result = work ? fv_event_begin(event, &work->record) : CUDA_ERROR_OUT_OF_MEMORY;

    if (result != CUDA_SUCCESS) {
        free(work);
        return result;
    }
    work->work.retire = retire_record;
    fv_submit(stream, &work->work);
    return CUDA_SUCCESS;
}

/* Nothing is added to the graph: the event stands for what the stream's next node depends on. */
static CUresult capture_record(struct fv_event *event, struct fv_stream *stream)
{
    struct fv_record *record = calloc(1, sizeof *record);
    CUresult result = record ? fv_capture_record(stream, &record->mark) : CUDA_ERROR_OUT_OF_MEMORY;

    if (record)
        record->refs = 1;
    if (result != CUDA_SUCCESS) {
        fv_record_put(record);
        return fv_capture_refuse(stream, result);
    }
    fv_record_put(event->record);
    event->record = record;
    return CUDA_SUCCESS;
}

CUresult fv_event_record(struct fv_event *event, struct fv_stream *stream)
{
    return stream->tail ? capture_record(event, stream) : record_event(event, stream);
}

/* The flag that only a capture may have asks for a node, instead of a place in the graph. */
static CUresult check_flags(unsigned flags, unsigned external, const struct fv_stream *stream)
{
    return !flags || (flags == external && stream->tail) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult capture_node(struct fv_stream *stream, CUgraphNodeType type, CUevent event)
{
    CUgraphNodeParams given = {.type = type};
    CUgraphNode node;

    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        given.eventRecord.event = event;
    else
        given.eventWait.event = event;
    return fv_capture_node(stream, &given, &node);
}

CUresult fv_cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(stream_handle, &stream);
    struct fv_event *event;

    if (result == CUDA_SUCCESS)
        result = fv_event_of(handle, &event);
    if (result == CUDA_SUCCESS)
        result = check_flags(flags, CU_EVENT_RECORD_EXTERNAL, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags)
        return capture_node(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, handle);
    return fv_event_record(event, stream);
}

CUresult fv_cuEventRecord(CUevent handle, CUstream stream)
{
    return fv_cuEventRecordWithFlags(handle, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult fv_cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(stream_handle, &stream);
    struct fv_event *event;

    if (result == CUDA_SUCCESS)
        result = fv_event_of(handle, &event);
    if (result == CUDA_SUCCESS)
        result = check_flags(flags, CU_EVENT_WAIT_EXTERNAL, stream);
    if (result == CUDA_SUCCESS && flags)
        return capture_node(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, handle);
    if (result != CUDA_SUCCESS || !event->record)
        return result;
    if (stream->tail || event->record->mark.capture)
        return fv_capture_wait(stream, &event->record->mark);
    event->record->refs++;
    return fv_record_await(event->record, stream);
}

/* ---- questions ---- */

/* An event that may be asked whether it is done: not one of a capture, and not while a capture
 * forbids this (capture_unsafe.def). */
static CUresult event_to_ask(CUevent handle, const char *call, struct fv_event **out)
{
    CUresult result = fv_event_of(handle, out);

    if (result != CUDA_SUCCESS)
        return result;
    if ((*out)->record && (*out)->record->mark.capture)
        return fv_capture_ask(&(*out)->record->mark);
    return fv_capture_permits(call);
}

CUresult fv_cuEventQuery(CUevent handle)
{
    struct fv_event *event;
    CUresult result = event_to_ask(handle, "cuEventQuery", &event);

    if (result != CUDA_SUCCESS)
        return result;
    return fv_record_done(event->record) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* Sleeps until it is worth looking again. Drops the lock. */
static void wait_for(const struct fv_record *record)
{
    if (!fv_record_polls(record)) {
        fv_wait();
        return;
    }
    fv_unlock();
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    fv_lock();
}

CUresult fv_cuEventSynchronize(CUevent handle)
{
    struct fv_event *event;
    CUresult result = event_to_ask(handle, "cuEventSynchronize", &event);
    struct fv_context *context;
    struct fv_record *record;
    unsigned long long id;

    if (result != CUDA_SUCCESS || !event->record)
        return result;
    context = event->context;
    id = context->id;
    record = event->record;
    record->refs++;
    while (!fv_record_done(record))
        wait_for(record);
    fv_record_put(record);
    fv_print_flush();
    if (!fv_context_lives(context, id))
        return CUDA_SUCCESS;
    fv_pools_trim(context->device);
    return context->sticky;
}

static float milliseconds(const struct timespec *from, const struct timespec *to)
{
    return (float)((double)(to->tv_sec - from->tv_sec) * 1e3 +
                   (double)(to->tv_nsec - from->tv_nsec) / 1e6);
}

CUresult fv_cuEventElapsedTime_v2(float *out, CUevent start_handle, CUevent end_handle)
{
    struct fv_event *start, *end;
    CUresult result = fv_event_of(start_handle, &start);

    if (result == CUDA_SUCCESS)
        result = fv_event_of(end_handle, &end);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!start->record || !end->record || (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
        return CUDA_ERROR_INVALID_HANDLE;
    if (start->record->mark.capture || end->record->mark.capture)
        return fv_capture_ask(start->record->mark.capture ? &start->record->mark
                                                          : &end->record->mark);
    if (!start->record->done || !end->record->done)
        return CUDA_ERROR_NOT_READY;
    *out = milliseconds(&start->record->at, &end->record->at);
    return CUDA_SUCCESS;
}

CUresult fv_cuEventElapsedTime(float *out, CUevent start, CUevent end)
{
    return fv_cuEventElapsedTime_v2(out, start, end);
}
