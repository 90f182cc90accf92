/* capture.c: which stream captures live, so that an allocation or a free knows whether this thread
 * may do what cuda.h calls potentially unsafe (cuThreadExchangeStreamCaptureMode). It keeps the
 * begin and the end of each capture; it must not know what is captured, nor ask the driver about a
 * stream. */
#include <pthread.h>
#include <string.h>

#include "shim/hooks.h"

/* The calling thread's mode; every thread starts global. */
static _Thread_local unsigned char thread_mode __attribute__((tls_model("initial-exec"))) =
    CU_STREAM_CAPTURE_MODE_GLOBAL;

static struct vr_captures *captures(void)
{
    return &atomic_load_explicit(&vr_shim.process, memory_order_acquire)->captures;
}

/* Per-thread default streams of two threads share a handle value. */
static bool same_stream(const struct vr_capture_entry *entry, CUstream stream)
{
    return entry->stream == stream &&
           (stream != CU_STREAM_PER_THREAD || pthread_equal(entry->thread, pthread_self()));
}

static void begun(CUstream stream, CUstreamCaptureMode mode)
{
    struct vr_captures *all = captures();

    pthread_mutex_lock(&all->lock);
    if (all->count < VR_CAPTURES_MAX)
        all->entry[all->count++] = (struct vr_capture_entry){stream, mode, pthread_self()};
    else
        all->lost = true;
    atomic_store_explicit(&all->alive, true, memory_order_release);
    pthread_mutex_unlock(&all->lock);
}

/* The one that was noted last, if there are two: it is a begin that the driver has refused. */
static void ended(CUstream stream)
{
    struct vr_captures *all = captures();

    pthread_mutex_lock(&all->lock);
    for (unsigned i = all->count; i-- > 0;) {
        if (same_stream(&all->entry[i], stream)) {
            all->count--;
            memmove(&all->entry[i], &all->entry[i + 1],
                    (all->count - i) * sizeof(struct vr_capture_entry));
            break;
        }
    }
    atomic_store_explicit(&all->alive, all->count > 0 || all->lost, memory_order_release);
    pthread_mutex_unlock(&all->lock);
}

/* Whether a capture forbids unsafe calls to this thread, which is in `mode`. */
static bool forbids(const struct vr_capture_entry *entry, CUstreamCaptureMode mode)
{
    bool own = pthread_equal(entry->thread, pthread_self());

    if (mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (own)
        return entry->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && entry->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

enum vr_capture vr_capture_now(void)
{
    struct vr_captures *all = captures();
    enum vr_capture now = VR_CAPTURE_PERMITS;

    if (!atomic_load_explicit(&all->alive, memory_order_acquire))
        return VR_CAPTURE_NONE;
    pthread_mutex_lock(&all->lock);
    for (unsigned i = 0; i < all->count; i++) {
        if (forbids(&all->entry[i], thread_mode))
            now = VR_CAPTURE_FORBIDS;
    }
    pthread_mutex_unlock(&all->lock);
    return now;
}

/* ---- hooks ---- */

/* A capture is noted before the driver begins it, so that no free of another thread waits
 * meanwhile, and taken back when the driver does not. */
static CUresult answered(struct vr_state *state, CUresult result, CUstream stream)
{
    vr_result_seen(state, result);
    if (result != CUDA_SUCCESS)
        ended(stream);
    return result;
}

static CUresult end(struct vr_state *state, CUresult result, CUstream stream)
{
    vr_result_seen(state, result);
    /* Any other answer may leave the capture as it was; to believe that it lives is the safe side.
     */
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
        result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
        ended(stream);
    return result;
}

static CUstream per_thread(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

CUresult vr_hook_cuStreamBeginCapture(struct vr_state *state, CUresult (*real)(CUstream),
                                      CUstream a)
{
    begun(a, CU_STREAM_CAPTURE_MODE_GLOBAL);
    return answered(state, real(a), a);
}

CUresult vr_hook_cuStreamBeginCapture_ptsz(struct vr_state *state, CUresult (*real)(CUstream),
                                           CUstream a)
{
    begun(per_thread(a), CU_STREAM_CAPTURE_MODE_GLOBAL);
    return answered(state, real(a), per_thread(a));
}

CUresult vr_hook_cuStreamBeginCapture_v2(struct vr_state *state,
                                         CUresult (*real)(CUstream, CUstreamCaptureMode),
                                         CUstream a, CUstreamCaptureMode b)
{
    begun(a, b);
    return answered(state, real(a, b), a);
}

CUresult vr_hook_cuStreamBeginCapture_v2_ptsz(struct vr_state *state,
                                              CUresult (*real)(CUstream, CUstreamCaptureMode),
                                              CUstream a, CUstreamCaptureMode b)
{
    begun(per_thread(a), b);
    return answered(state, real(a, b), per_thread(a));
}

CUresult vr_hook_cuStreamBeginCaptureToGraph(
    struct vr_state *state,
    CUresult (*real)(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
                     CUstreamCaptureMode),
    CUstream a, CUgraph b, const CUgraphNode *c, const CUgraphEdgeData *d, size_t e,
    CUstreamCaptureMode f)
{
    begun(a, f);
    return answered(state, real(a, b, c, d, e, f), a);
}

CUresult vr_hook_cuStreamBeginCaptureToGraph_ptsz(
    struct vr_state *state,
    CUresult (*real)(CUstream, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t,
                     CUstreamCaptureMode),
    CUstream a, CUgraph b, const CUgraphNode *c, const CUgraphEdgeData *d, size_t e,
    CUstreamCaptureMode f)
{
    begun(per_thread(a), f);
    return answered(state, real(a, b, c, d, e, f), per_thread(a));
}

CUresult vr_hook_cuStreamEndCapture(struct vr_state *state, CUresult (*real)(CUstream, CUgraph *),
                                    CUstream a, CUgraph *b)
{
    return end(state, real(a, b), a);
}

CUresult vr_hook_cuStreamEndCapture_ptsz(struct vr_state *state,
                                         CUresult (*real)(CUstream, CUgraph *), CUstream a,
                                         CUgraph *b)
{
    return end(state, real(a, b), per_thread(a));
}

/* The end of a stream is the end of its capture. */
static CUresult destroy(struct vr_state *state, CUresult (*real)(CUstream), CUstream stream)
{
    CUresult result = real(stream);

    vr_result_seen(state, result);
    if (result == CUDA_SUCCESS && atomic_load_explicit(&captures()->alive, memory_order_acquire))
        ended(stream);
    return result;
}

CUresult vr_hook_cuStreamDestroy(struct vr_state *state, CUresult (*real)(CUstream), CUstream a)
{
    return destroy(state, real, a);
}

CUresult vr_hook_cuStreamDestroy_v2(struct vr_state *state, CUresult (*real)(CUstream), CUstream a)
{
    return destroy(state, real, a);
}

/* The driver swaps the two modes; what was asked for becomes the thread's. */
CUresult vr_hook_cuThreadExchangeStreamCaptureMode(struct vr_state *state,
                                                   CUresult (*real)(CUstreamCaptureMode *),
                                                   CUstreamCaptureMode *a)
{
    CUstreamCaptureMode wanted = a ? *a : CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUresult result = real(a);

    vr_result_seen(state, result);
    if (result == CUDA_SUCCESS)
        thread_mode = (unsigned char)wanted;
    return result;
}
