/* event.c: events. What an event stands for is its latest record, an object of its own: waits
 * and queued records hold it, so events may be recorded again or destroyed meanwhile. It must
 * not know how streams run. */
#include "device.h"
#include "stream.h"

#include <stdlib.h>
#include <time.h>

struct record {
    unsigned refs;
    bool done;
    struct timespec at;
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
    if (record && --record->refs == 0)
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

CUresult fv_cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_of(stream_handle, &stream);
    struct fv_event *event;

    if (result == CUDA_SUCCESS)
        result = event_of(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    /* The external flag is for captures. */
    if (flags != CU_EVENT_RECORD_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    if (event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    return record_event(event, stream);
}

CUresult fv_cuEventRecord(CUevent handle, CUstream stream)
{
    return fv_cuEventRecordWithFlags(handle, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult fv_cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_of(stream_handle, &stream);
    struct fv_event *event;
    struct event_work *work;

    if (result == CUDA_SUCCESS)
        result = event_of(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags != CU_EVENT_WAIT_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    if (!event->record || event->record->done)
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

CUresult fv_cuEventQuery(CUevent handle)
{
    struct fv_event *event;
    CUresult result = event_of(handle, &event);

    if (result != CUDA_SUCCESS)
        return result;
    return !event->record || event->record->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult fv_cuEventSynchronize(CUevent handle)
{
    struct fv_event *event;
    CUresult result = event_of(handle, &event);
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
    if (!start->record->done || !end->record->done)
        return CUDA_ERROR_NOT_READY;
    *out = milliseconds(&start->record->at, &end->record->at);
    return CUDA_SUCCESS;
}

CUresult fv_cuEventElapsedTime(float *out, CUevent start, CUevent end)
{
    return fv_cuEventElapsedTime_v2(out, start, end);
}
