/* host_call.c: functions of the application that run in stream order, on a worker. It must not know
 * how streams run. */
#include "capture.h"
#include "device.h"
#include "stream.h"

#include <stdlib.h>

struct host_call {
    struct fv_work work;
    CUhostFn function;
    void *data;
    /* The older form: gets its stream and the context's error, and is called in spite of one. */
    CUstreamCallback callback;
    CUstream stream;
    CUresult status;
};

static CUresult run_function(struct fv_work *work)
{
    const struct host_call *call = (const struct host_call *)work;

    fv_call_host(call->function, call->data);
    return CUDA_SUCCESS;
}

static void retire_call(struct fv_work *work)
{
    free(work);
}

static void begin_callback(struct fv_work *work)
{
    ((struct host_call *)work)->status = work->context->sticky;
}

static void call_back(void *data)
{
    const struct host_call *call = data;

    call->callback(call->stream, call->status, call->data);
}

static CUresult run_callback(struct fv_work *work)
{
    fv_call_host(call_back, work);
    return CUDA_SUCCESS;
}

static CUresult submit(struct fv_stream *stream, const struct host_call *call)
{
    struct host_call *copy = malloc(sizeof *copy);

    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *copy = *call;
    fv_submit(stream, &copy->work);
    return CUDA_SUCCESS;
}

static CUresult capture(struct fv_stream *stream, CUhostFn function, void *data)
{
    CUgraphNodeParams given =
        fv_given_host(&(CUDA_HOST_NODE_PARAMS_v1){.fn = function, .userData = data});
    CUgraphNode node;

    return fv_capture_node(stream, &given, &node);
}

CUresult fv_cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->tail)
        return capture(stream, function, data);
    return submit(stream, &(struct host_call){.work = {.run = run_function, .retire = retire_call},
                                              .function = function,
                                              .data = data});
}

CUresult fv_cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *data,
                                unsigned flags)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_uncaptured(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!callback || flags)
        return CUDA_ERROR_INVALID_VALUE;
    return submit(stream, &(struct host_call){.work = {.run = run_callback,
                                                       .begin = begin_callback,
                                                       .retire = retire_call,
                                                       .always = true},
                                              .callback = callback,
                                              .stream = handle,
                                              .data = data});
}
