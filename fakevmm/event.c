/* event.c: events. What an event stands for is its latest record, an object of its own: waits
 * and queued records hold it, so events may be recorded again or destroyed meanwhile. A record in a
 * capture is never done; it stands for nodes. It must not know how streams run. */
#include "capture.h"
#include "device.h"
#include "stream.h"

#include <stdlib.h>
#include <time.h>

struct record {
    unsigned refs;
    bool done;
    struct timespec at;
    struct fv_mark mark; /* where a capture stood */
};

struct fv_event {
    struct fv_context *context;
    unsigned flags;
    struct record *record; /* NULL: never recorded, an empty set of work */
};

FV_FITS(struct fv_event);

/* A queued record or wait. */
struct event_work {
    struct fv_work work;
    struct record *record;
};

static void put(struct record *record)
{
    if (!record || --record->refs)
        return;
    fv_mark_free(&record->mark);
    free(record);
}

/* Events of a context in error answer with its error. */
static CUresult event_of(CUevent handle, struct fv_event **out)
{
    struct fv_event *event = (struct fv_event *)handle;

    if (!fv_valid(FV_EVENT, event) || event->context->closing)
        return CUDA_ERROR_INVALID_HANDLE;
    *out = event;
    return event->context->sticky;
}

/* ---- life ---- */

CUresult fv_cuEventCreate(CUevent *out, unsigned flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_event *event;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags & ~known ||
        (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    event = fv_new(FV_EVENT);
    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->context = context;
    event->flags = flags;
    *out = (CUevent)event;
    return CUDA_SUCCESS;
}

static void destroy(struct fv_event *event)
{
    put(event->record);
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
    for (struct fv_event *it = fv_next(FV_EVENT, NULL); it; it = fv_next(FV_EVENT, it))
        if (it->context == context)
            destroy(it);
}

/* ---- record and wait ---- */

static void retire_record(struct fv_work *work)
{
    struct record *record = ((struct event_work *)work)->record;

    clock_gettime(CLOCK_MONOTONIC, &record->at);
    record->done = true;
    put(record);
    free(work);
}

static bool wait_is_over(struct fv_work *work)
{
    return ((struct event_work *)work)->record->done;
}

static void retire_wait(struct fv_work *work)
{
    put(((struct event_work *)work)->record);
    free(work);
}

static CUresult record_event(struct fv_event *event, struct fv_stream *stream)
{
    struct record *record = calloc(1, sizeof *record);
    struct event_work *work = calloc(1, sizeof *work);

    if (!record || !work) {
        free(record);
        free(work);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    put(event->record);
    event->record = record;
    record->refs = 2; /* the event's and the work's */
    *work = (struct event_work){.work = {.retire = retire_record}, .record = record};
    fv_submit(stream, &work->work);
    return CUDA_SUCCESS;
}

/* Nothing is added to the graph: the event stands for what the stream's next node depends on. */
static CUresult capture_record(struct fv_event *event, struct fv_stream *stream)
{
    struct record *record = calloc(1, sizeof *record);
    CUresult result = record ? fv_capture_record(stream, &record->mark) : CUDA_ERROR_OUT_OF_MEMORY;

    if (record)
        record->refs = 1;
    if (result != CUDA_SUCCESS) {
        put(record);
        return fv_capture_refuse(stream, result);
    }
    put(event->record);
    event->record = record;
    return CUDA_SUCCESS;
}

/* Flags that only a capture may have ask for a node of a kind that graphs here lack. */
static CUresult check_flags(unsigned flags, unsigned external, struct fv_stream *stream)
{
    if (flags == external && stream->tail)
        return fv_capture_refuse(stream, CUDA_ERROR_NOT_SUPPORTED);
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult fv_cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(stream_handle, &stream);
    struct fv_event *event;

    if (result == CUDA_SUCCESS)
        result = event_of(handle, &event);
    if (result == CUDA_SUCCESS)
        result = check_flags(flags, CU_EVENT_RECORD_EXTERNAL, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    return stream->tail ? capture_record(event, stream) : record_event(event, stream);
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
    struct event_work *work;

    if (result == CUDA_SUCCESS)
        result = event_of(handle, &event);
    if (result == CUDA_SUCCESS)
        result = check_flags(flags, CU_EVENT_WAIT_EXTERNAL, stream);
    if (result != CUDA_SUCCESS || !event->record)
        return result;
    if (stream->tail || event->record->mark.capture)
        return fv_capture_wait(stream, &event->record->mark);
    if (event->record->done)
        return CUDA_SUCCESS;
    work = malloc(sizeof *work);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *work = (struct event_work){.work = {.ready = wait_is_over, .retire = retire_wait},
                                .record = event->record};
    event->record->refs++;
    fv_submit(stream, &work->work);
    return CUDA_SUCCESS;
}

/* ---- questions ---- */

/* An event that may be asked whether it is done: not one of a capture, and not while a capture
 * forbids this (capture_unsafe.def). */
static CUresult event_to_ask(CUevent handle, const char *call, struct fv_event **out)
{
    CUresult result = event_of(handle, out);

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
    return !event->record || event->record->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult fv_cuEventSynchronize(CUevent handle)
{
    struct fv_event *event;
    CUresult result = event_to_ask(handle, "cuEventSynchronize", &event);
    struct fv_context *context;
    struct record *record;
    unsigned long long id;

    if (result != CUDA_SUCCESS || !event->record)
        return result;
    context = event->context;
    id = context->id;
    record = event->record;
    record->refs++;
    while (!record->done)
        fv_wait();
    put(record);
    return fv_context_lives(context, id) ? context->sticky : CUDA_SUCCESS;
}

static float milliseconds(const struct timespec *from, const struct timespec *to)
{
    return (float)((double)(to->tv_sec - from->tv_sec) * 1e3 +
                   (double)(to->tv_nsec - from->tv_nsec) / 1e6);
}

CUresult fv_cuEventElapsedTime_v2(float *out, CUevent start_handle, CUevent end_handle)
{
    struct fv_event *start, *end;
    CUresult result = event_of(start_handle, &start);

    if (result == CUDA_SUCCESS)
        result = event_of(end_handle, &end);
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
