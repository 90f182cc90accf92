/* capture_rules.c: what may be called while streams are being captured, by whom, and which captures
 * a call that may not be made invalidates. It must not know what a capture holds. */
#include "capture.h"
#include "door.h"
#include "hazard.h"
#include "settings.h"

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

enum class { SAFE, UNSAFE, UNSAFE_ON_LEGACY };

static const unsigned char classes[FV_ROWS] = {
#define UNSAFE(symbol) [FV_ROW_##symbol] = UNSAFE,
#define COPY(symbol)   [FV_ROW_##symbol] = UNSAFE_ON_LEGACY, [FV_ROW_##symbol##_ptds] = UNSAFE,
#include "capture_unsafe.def"
#undef UNSAFE
#undef COPY
};

/* ---- by thread ---- */

CUresult fv_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = thread_mode;

    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* True if an unsafe call by the calling thread would endanger the capture. */
static bool forbids(const struct fv_capture *capture)
{
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == fv_thread())
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult fv_capture_permits(const char *function)
{
    CUresult result = CUDA_SUCCESS;

    for (struct fv_capture *it = fv_captures; it; it = it->next) {
        if (!forbids(it))
            continue;
        fv_capture_invalidate(it);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (result != CUDA_SUCCESS)
        fv_hazard("%s while a stream is being captured", function);
    return result;
}

/* ---- by stream and context ---- */

static bool takes_part(const struct fv_capture *capture, const struct fv_context *context,
                       bool blocking_only)
{
    for (const struct fv_tail *tail = capture->tails; tail; tail = tail->next)
        if (tail->stream && tail->stream->context == context &&
            (!blocking_only || fv_stream_blocks(tail->stream)))
            return true;
    return false;
}

bool fv_capture_blocks_legacy(const struct fv_context *context)
{
    for (const struct fv_capture *it = fv_captures; it; it = it->next)
        if (takes_part(it, context, true))
            return true;
    return false;
}

/* For what uses the legacy stream rather than asks for its state. */
static CUresult permits_legacy(const struct fv_context *context)
{
    CUresult result = CUDA_SUCCESS;

    for (struct fv_capture *it = fv_captures; it; it = it->next) {
        if (!takes_part(it, context, true))
            continue;
        fv_capture_invalidate(it);
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return result;
}

CUresult fv_capture_permits_wait(const struct fv_context *context)
{
    CUresult result = CUDA_SUCCESS;

    for (struct fv_capture *it = fv_captures; it; it = it->next) {
        if (!takes_part(it, context, false) ||
            (it->thread != fv_thread() && !fv_settings()->peersync_breaks))
            continue;
        fv_capture_invalidate(it);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

CUresult fv_capture_permits_context(const struct fv_context *context)
{
    CUresult result = CUDA_SUCCESS;

    for (struct fv_capture *it = fv_captures; it; it = it->next) {
        if (!takes_part(it, context, false))
            continue;
        fv_capture_invalidate(it);
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return result;
}

CUresult fv_capture_refuse(struct fv_stream *stream, CUresult error)
{
    if (stream->tail)
        fv_capture_invalidate(stream->tail->capture);
    return error;
}

CUresult fv_stream_for_work(CUstream handle, struct fv_stream **out)
{
    CUresult result = fv_stream_of(handle, out);

    if (result != CUDA_SUCCESS || !fv_captures)
        return result;
    if (*out == (*out)->context->legacy)
        return permits_legacy((*out)->context);
    return (*out)->tail && (*out)->tail->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                                          : CUDA_SUCCESS;
}

CUresult fv_stream_uncaptured(CUstream handle, struct fv_stream **out)
{
    CUresult result = fv_stream_for_work(handle, out);

    if (result != CUDA_SUCCESS || !(*out)->tail)
        return result;
    return fv_capture_refuse(*out, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

/* ---- by function ---- */

/* Without a current context the function itself finds out. */
CUresult fv_capture_permits_call(enum fv_row row)
{
    struct fv_context *context;
    CUresult result = CUDA_SUCCESS;

    if (classes[row] == UNSAFE_ON_LEGACY && fv_current(&context) == CUDA_SUCCESS)
        result = permits_legacy(context);
    if (result == CUDA_SUCCESS && classes[row] != SAFE)
        result = fv_capture_permits(fv_symbols[row].symbol);
    return result;
}
