/* stream.c: streams as the application sees them: handles, the two default streams, and
 * questions. It must not know how work is run (worker.c). */
#include "stream.h"
#include "capture.h"
#include "device.h"
#include "event.h"

FV_FITS(struct fv_stream);

static unsigned long long last_id;
static uint64_t last_thread;
static _Thread_local uint64_t this_thread; /* 0 until it is first asked for */

void fv_stream_init(struct fv_stream *stream, struct fv_context *context)
{
    stream->context = context;
    stream->id = ++last_id;
    stream->sync_policy = CU_SYNC_POLICY_AUTO;
    stream->domain_map.remote = 1;
    fv_event_enter_stream(stream);
}

uint64_t fv_thread(void)
{
    if (!this_thread)
        this_thread = ++last_thread;
    return this_thread;
}

/* This thread's default stream in a context; made when first used, ends with the context. */
static CUresult per_thread(struct fv_context *context, struct fv_stream **out)
{
    struct fv_stream *stream;

    for (stream = fv_next(FV_STREAM, NULL); stream; stream = fv_next(FV_STREAM, stream)) {
        if (stream->context == context && stream->thread == fv_thread()) {
            *out = stream;
            return CUDA_SUCCESS;
        }
    }
    stream = fv_new(FV_STREAM);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fv_stream_init(stream, context);
    stream->thread = fv_thread();
    *out = stream;
    return CUDA_SUCCESS;
}

/* The stream that the application made and still owns, or NULL. */
static struct fv_stream *created(CUstream handle)
{
    struct fv_stream *stream = (struct fv_stream *)handle;

    if (!fv_valid(FV_STREAM, stream) || stream->dying || stream->thread ||
        stream == stream->context->legacy || stream->context->closing)
        return NULL;
    return stream;
}

CUresult fv_stream_of(CUstream handle, struct fv_stream **out)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_stream *stream;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        handle = fv_call_is_ptds() ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    if (handle == CU_STREAM_PER_THREAD)
        return per_thread(context, out);
    stream = handle == CU_STREAM_LEGACY ? context->legacy : created(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->context->sticky != CUDA_SUCCESS)
        return stream->context->sticky;
    *out = stream;
    return CUDA_SUCCESS;
}

/* ---- life ---- */

int fv_stream_clamp_priority(int priority)
{
    if (priority > 0)
        return 0;
    return priority < FV_GREATEST_PRIORITY ? FV_GREATEST_PRIORITY : priority;
}

CUresult fv_cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_stream *stream;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || flags & ~CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    stream = fv_new(FV_STREAM);
    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fv_stream_init(stream, context);
    stream->flags = flags;
    stream->priority = fv_stream_clamp_priority(priority);
    *out = (CUstream)stream;
    return CUDA_SUCCESS;
}

CUresult fv_cuStreamCreate(CUstream *out, unsigned flags)
{
    return fv_cuStreamCreateWithPriority(out, flags, 0);
}

/* Returns at once; a stream with work ends after it, and its handle value is not used before. */
CUresult fv_cuStreamDestroy_v2(CUstream handle)
{
    struct fv_stream *stream = created(handle);

    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    fv_capture_drop_stream(stream);
    if (stream->head)
        stream->dying = true;
    else
        fv_delete(FV_STREAM, stream);
    return CUDA_SUCCESS;
}

CUresult fv_cuStreamDestroy(CUstream handle)
{
    return fv_cuStreamDestroy_v2(handle);
}

/* The context's work has drained. */
void fv_stream_drop_context(struct fv_context *context)
{
    for (struct fv_stream *it = fv_next(FV_STREAM, NULL); it; it = fv_next(FV_STREAM, it)) {
        if (it->context != context)
            continue;
        fv_capture_drop_stream(it);
        fv_delete(FV_STREAM, it);
    }
}

/* ---- waiting ---- */

CUresult fv_cuStreamSynchronize(CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_uncaptured(handle, &stream);

    return result == CUDA_SUCCESS ? fv_stream_wait(stream) : result;
}

CUresult fv_cuStreamQuery(CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_uncaptured(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    return fv_stream_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

/* ---- questions ---- */

/* fv_cuStreamGet<what>(stream, out): one property of a stream. */
#define STREAM_GET(what, type, value)                                                              \
    CUresult fv_cuStreamGet##what(CUstream handle, type *out)                                      \
    {                                                                                              \
        struct fv_stream *stream;                                                                  \
        CUresult result = out ? fv_stream_of(handle, &stream) : CUDA_ERROR_INVALID_VALUE;          \
        if (result == CUDA_SUCCESS)                                                                \
            *out = value;                                                                          \
        return result;                                                                             \
    }

STREAM_GET(Flags, unsigned, stream->flags)
STREAM_GET(Priority, int, stream->priority)
STREAM_GET(Id, unsigned long long, stream->id)
STREAM_GET(Ctx, CUcontext, (CUcontext)stream->context)
STREAM_GET(Device, CUdevice, stream->context->device->ordinal)
STREAM_GET(GreenCtx, CUgreenCtx, NULL) /* there are none */

CUresult fv_cuStreamGetCtx_v2(CUstream handle, CUcontext *out, CUgreenCtx *green)
{
    CUresult result = fv_cuStreamGetCtx(handle, out);

    if (result == CUDA_SUCCESS && green)
        *green = NULL;
    return result;
}
