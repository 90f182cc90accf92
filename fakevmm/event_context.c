/* event_context.c: events of a whole context: one that stands for all its work, and one that all
 * its future work waits for. Neither is a stream's, so a record gets a stream of its own, which
 * ends with it. */
#include "capture.h"
#include "device.h"
#include "event.h"
#include "stream.h"

#include <stdlib.h>

/* ---- recording ---- */

struct mark {
    struct fv_work work;
    struct fv_record *record;
};

static bool mark_ready(struct fv_work *work)
{
    return fv_context_done_before(work->context, work->sequence);
}

static void mark_retire(struct fv_work *work)
{
    fv_record_end(((struct mark *)work)->record);
    free(work);
}

static CUresult record_context(struct fv_context *context, struct fv_event *event)
{
    struct fv_stream *stream = fv_new(FV_STREAM);
    struct mark *mark = malloc(sizeof *mark);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (stream && mark) {
        *mark = (struct mark){.work = {.ready = mark_ready, .retire = mark_retire}};
        result = fv_event_begin(event, &mark->record);
    }
    if (result != CUDA_SUCCESS) {
        free(mark);
        fv_delete(FV_STREAM, stream);
        return result;
    }
    stream->context = context;
    stream->flags = CU_STREAM_NON_BLOCKING;
    stream->dying = true; /* it ends with its work */
    fv_submit(stream, &mark->work);
    return CUDA_SUCCESS;
}

CUresult fv_cuCtxRecordEvent(CUcontext handle, CUevent event_handle)
{
    struct fv_context *context;
    CUresult result = fv_context_of(handle, &context);
    struct fv_event *event;

    if (result == CUDA_SUCCESS)
        result = fv_event_of(event_handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (fv_event_context(event) != context)
        return CUDA_ERROR_INVALID_HANDLE;
    result = fv_capture_permits_context(context);
    return result == CUDA_SUCCESS ? record_context(context, event) : result;
}

/* ---- waiting ---- */

/* What streams of a context that are yet to be made will wait for. */
struct gate {
    const struct fv_context *context;
    struct fv_record *record;
    struct gate *next;
};

static struct gate *gates;

static void drop_gate(struct gate **at)
{
    struct gate *gate = *at;

    *at = gate->next;
    fv_record_put(gate->record);
    free(gate);
}

static void drop_open_gates(void)
{
    for (struct gate **at = &gates; *at;) {
        if (fv_record_done((*at)->record))
            drop_gate(at);
        else
            at = &(*at)->next;
    }
}

void fv_event_enter_stream(struct fv_stream *stream)
{
    for (struct gate *gate = gates; gate; gate = gate->next)
        if (gate->context == stream->context)
            fv_record_await(fv_record_get(gate->record), stream);
}

void fv_event_leave_context(const struct fv_context *context)
{
    for (struct gate **at = &gates; *at;) {
        if ((*at)->context == context)
            drop_gate(at);
        else
            at = &(*at)->next;
    }
}

/* Takes over the record. */
static CUresult add_gate(struct fv_context *context, struct fv_record *record)
{
    struct gate *gate = malloc(sizeof *gate);
    CUresult result = CUDA_SUCCESS;

    if (!gate) {
        fv_record_put(record);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *gate = (struct gate){context, record, gates};
    gates = gate;
    for (struct fv_stream *it = fv_next(FV_STREAM, NULL); it; it = fv_next(FV_STREAM, it))
        if (it->context == context && !it->dying && result == CUDA_SUCCESS)
            result = fv_record_await(fv_record_get(record), it);
    return result;
}

CUresult fv_cuCtxWaitEvent(CUcontext handle, CUevent event_handle)
{
    struct fv_context *context;
    CUresult result = fv_context_of(handle, &context);
    struct fv_record *record;
    struct fv_event *event;

    if (result == CUDA_SUCCESS)
        result = fv_event_of(event_handle, &event);
    if (result == CUDA_SUCCESS)
        result = fv_capture_permits_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    if (fv_event_latest(event, &record) != CUDA_SUCCESS) {
        fv_event_refuse(event);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    drop_open_gates();
    if (!record || fv_record_done(record)) {
        fv_record_put(record);
        return CUDA_SUCCESS;
    }
    return add_gate(context, record);
}
