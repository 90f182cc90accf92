/* What must not be done with streams, events and the legacy stream of a capture, with the
 * documented error, and what becomes of the capture. */
#include "tests/fake/capture_fixture.h"

/* ---- begin and end ---- */

TEST(capture_rules, begin)
{
    struct fixture f = fixture_begin();
    T_EQ(cuStreamBeginCapture_v2(CU_STREAM_LEGACY, GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    T_EQ(cuStreamBeginCapture_v2(NULL, RELAXED), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    T_EQ(cuStreamBeginCapture_v2(f.stream, (CUstreamCaptureMode)3), CUDA_ERROR_INVALID_VALUE);
    begin(f.stream, GLOBAL);
    T_EQ(cuStreamBeginCapture_v2(f.stream, GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
    OK(cuGraphDestroy(end(f.stream)));
    fixture_end(&f);
}

TEST(capture_rules, end_without_begin)
{
    struct fixture f = fixture_begin();
    CUgraph graph;
    T_EQ(cuStreamEndCapture(f.stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    T_EQ(cuStreamEndCapture(NULL, &graph), CUDA_ERROR_ILLEGAL_STATE);
    fixture_end(&f);
}

static CUresult end_there(void *stream)
{
    CUgraph graph = NULL;
    CUresult result = cuStreamEndCapture(stream, &graph);
    return result == CUDA_SUCCESS ? cuGraphDestroy(graph) : result;
}

TEST(capture_rules, who_may_end)
{
    struct fixture f = fixture_begin();
    begin(f.stream, GLOBAL);
    T_EQ(elsewhere(f.context, GLOBAL, end_there, f.stream), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    end_broken(f.stream);
    begin(f.stream, THREAD_LOCAL);
    T_EQ(elsewhere(f.context, RELAXED, end_there, f.stream),
         CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    end_broken(f.stream);
    begin(f.stream, RELAXED);
    OK(elsewhere(f.context, GLOBAL, end_there, f.stream));
    T_EQ(status_of(f.stream), NONE);
    fixture_end(&f);
}

TEST(capture_rules, only_the_stream_that_began_ends)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(0);
    CUgraph graph = NULL;
    begin(f.stream, GLOBAL);
    join(side, f.stream);
    T_EQ(cuStreamEndCapture(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    T_EQ(status_of(side), INVALIDATED);
    end_broken(f.stream);
    T_EQ(status_of(side), NONE);
    fixture_end(&f);
}

TEST(capture_rules, forks_must_be_joined)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(0);
    begin(f.stream, GLOBAL);
    join(side, f.stream);
    OK(launch(f.put, side, f.data, 1, 0));
    join(f.stream, side);
    OK(launch(f.put, side, f.data, 2, 0)); /* after the join */
    end_fails(f.stream, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    T_EQ(status_of(side), NONE);
    OK(launch(f.put, side, f.data, 3, 0));
    OK(cuStreamSynchronize(side));
    T_EQ(word_at(f.data), 3); /* what was captured has not run, what came after has */
    fixture_end(&f);
}

/* ---- what a capturing stream cannot do ---- */

static void CUDA_CB callback(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status, (void)data;
}

static CUgraphExec exec;

#define CALLS(CALL)                                                                                \
    CALL(synchronize, cuStreamSynchronize(stream))                                                 \
    CALL(query, cuStreamQuery(stream))                                                             \
    CALL(add_callback, cuStreamAddCallback(stream, callback, NULL, 0))                             \
    CALL(upload, cuGraphUpload(exec, stream))

#define DEFINE(name, call)                                                                         \
    static CUresult name(void *stream)                                                             \
    {                                                                                              \
        return call;                                                                               \
    }
CALLS(DEFINE)

/* Whatever the modes: they conflict with the capture itself. */
TEST(capture_rules, operations_that_cannot_be_captured)
{
#define ENTRY(name, call) name,
    static const any_call calls[] = {CALLS(ENTRY)};
    struct fixture f = fixture_begin();
    exec = instantiate(f.graph);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        begin(f.stream, RELAXED);
        T_EQ(here(RELAXED, calls[i], f.stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_broken(f.stream);
        begin(f.stream, THREAD_LOCAL);
        T_EQ(elsewhere(f.context, RELAXED, calls[i], f.stream),
             CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        end_broken(f.stream);
    }
    OK(cuStreamSynchronize(f.stream));
    fixture_end(&f);
}

/* A stream that only joined is as little there to be waited for. */
TEST(capture_rules, a_fork_cannot_be_waited_for)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(CU_STREAM_NON_BLOCKING);
    begin(f.stream, GLOBAL);
    join(side, f.stream);
    T_EQ(cuStreamSynchronize(side), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_broken(f.stream);
    OK(cuStreamSynchronize(side));
    fixture_end(&f);
}

/* Until the end, further use fails and nothing runs. */
TEST(capture_rules, a_broken_capture_stays_broken)
{
    struct fixture f = fixture_begin();
    CUstream side = new_stream(CU_STREAM_NON_BLOCKING), other = new_stream(0);
    CUevent event = new_event();
    CUstreamCaptureStatus status = NONE;
    begin(f.stream, RELAXED);
    join(side, f.stream);
    OK(cuEventRecord(event, f.stream));
    T_EQ(cuStreamQuery(side), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    T_EQ(launch(f.put, f.stream, f.data, 1, 0), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    T_EQ(launch(f.put, side, f.data, 1, 0), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    T_EQ(cuMemsetD8Async(f.data, 1, 1, f.stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    T_EQ(cuEventRecord(event, side), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    T_EQ(cuStreamWaitEvent(other, event, 0), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    T_EQ(status_of(other), NONE);
    OK(cuStreamGetCaptureInfo(side, &status, NULL));
    T_EQ(status, INVALIDATED);
    end_broken(f.stream);
    OK(launch(f.put, f.stream, f.data, 4, 0));
    OK(cuStreamSynchronize(f.stream));
    T_EQ(word_at(f.data), 4);
    fixture_end(&f);
}

/* ---- events ---- */

TEST(capture_rules, a_captured_event_is_never_done)
{
    struct fixture f = fixture_begin();
    CUevent event = new_event(), first, second;
    float elapsed;
    OK(cuEventCreate(&first, 0));
    OK(cuEventCreate(&second, 0));
    begin(f.stream, RELAXED);
    OK(cuEventRecord(event, f.stream));
    T_EQ(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
    end_broken(f.stream);
    begin(f.stream, GLOBAL);
    OK(cuEventRecord(event, f.stream));
    T_EQ(cuEventSynchronize(event), CUDA_ERROR_CAPTURED_EVENT);
    end_broken(f.stream);
    begin(f.stream, GLOBAL);
    OK(cuEventRecord(first, f.stream));
    OK(cuEventRecord(second, f.stream));
    T_EQ(cuEventElapsedTime(&elapsed, first, second), CUDA_ERROR_CAPTURED_EVENT);
    end_broken(f.stream);
    T_EQ(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT); /* it was last recorded in a capture */
    T_EQ(cuStreamWaitEvent(f.stream, event, 0), CUDA_ERROR_CAPTURED_EVENT);
    OK(cuEventRecord(event, f.stream));
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    fixture_end(&f);
}

/* A capture cannot wait for what is outside, even if it is done already. */
TEST(capture_rules, a_capture_is_isolated)
{
    struct fixture f = fixture_begin();
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event(), fresh = new_event();
    OK(cuEventRecord(event, other));
    OK(cuStreamSynchronize(other));
    begin(f.stream, RELAXED);
    OK(cuStreamWaitEvent(f.stream, fresh, 0)); /* never recorded: nothing to wait for */
    T_EQ(cuStreamWaitEvent(f.stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    end_broken(f.stream);
    fixture_end(&f);
}

/* The legacy stream can't become part of a capture. */
TEST(capture_rules, the_legacy_stream_cannot_join)
{
    struct fixture f = fixture_begin();
    CUevent event = new_event();
    begin(f.stream, RELAXED);
    OK(cuEventRecord(event, f.stream));
    T_EQ(cuStreamWaitEvent(NULL, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    end_broken(f.stream);
    fixture_end(&f);
}

TEST(capture_rules, captures_cannot_merge)
{
    struct fixture f = fixture_begin();
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    begin(f.stream, GLOBAL);
    begin(other, GLOBAL);
    OK(cuEventRecord(event, other));
    T_EQ(cuStreamWaitEvent(f.stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    end_broken(f.stream);
    end_broken(other);
    fixture_end(&f);
}

TEST(capture_rules, two_captures_beside_each_other)
{
    struct fixture f = fixture_begin();
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    begin(f.stream, GLOBAL);
    begin(other, THREAD_LOCAL);
    OK(launch(f.put, f.stream, f.data, 1, 0));
    OK(launch(f.put, other, f.data + 4, 2, 0));
    T_EQ(node_count(end(f.stream)), 1);
    T_EQ(node_count(end(other)), 1);
    fixture_end(&f);
}

/* The flags that ask for event nodes mean nothing outside of a capture. */
TEST(capture_rules, external_event_nodes_need_a_capture)
{
    struct fixture f = fixture_begin();
    CUevent event = new_event();
    T_EQ(cuStreamWaitEvent(f.stream, event, CU_EVENT_WAIT_EXTERNAL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuEventRecordWithFlags(event, f.stream, CU_EVENT_RECORD_EXTERNAL),
         CUDA_ERROR_INVALID_VALUE);
    begin(f.stream, GLOBAL);
    T_EQ(cuEventRecordWithFlags(event, f.stream, 2), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuStreamWaitEvent(f.stream, event, 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(end(f.stream)));
    fixture_end(&f);
}

/* ---- the legacy stream ---- */

static CUresult legacy_copy(void *data)
{
    return cuMemcpyHtoD_v2(*(CUdeviceptr *)data, "abcd", 4);
}

static CUresult legacy_launch(void *data)
{
    return cuMemsetD8Async(*(CUdeviceptr *)data, 0, 1, NULL);
}

static CUresult legacy_wait(void *data)
{
    (void)data;
    return cuStreamSynchronize(CU_STREAM_LEGACY);
}

/* A blocking stream's capture would become a dependency of whatever the legacy stream does. */
TEST(capture_rules, the_legacy_stream_depends_on_blocking_captures)
{
    static const any_call calls[] = {legacy_copy, legacy_launch, legacy_wait};
    struct fixture f = fixture_begin();
    CUstream blocking = new_stream(CU_STREAM_DEFAULT);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        begin(blocking, GLOBAL);
        T_EQ(calls[i](&f.data), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        end_broken(blocking);
        begin(blocking, RELAXED);
        T_EQ(elsewhere(f.context, RELAXED, calls[i], &f.data), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        end_broken(blocking);
        OK(calls[i](&f.data));
    }
    fixture_end(&f);
}

/* A blocking stream that only joined counts as well. */
TEST(capture_rules, the_legacy_stream_depends_on_blocking_forks)
{
    struct fixture f = fixture_begin();
    CUstream blocking = new_stream(CU_STREAM_DEFAULT);
    begin(f.stream, RELAXED);
    OK(legacy_launch(&f.data)); /* a non-blocking stream is none of its business */
    OK(legacy_wait(NULL));
    join(blocking, f.stream);
    T_EQ(legacy_launch(&f.data), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    end_broken(f.stream);
    fixture_end(&f);
}

/* To ask is an error too, but breaks nothing. */
TEST(capture_rules, asking_the_legacy_stream_breaks_nothing)
{
    struct fixture f = fixture_begin();
    CUstream blocking = new_stream(CU_STREAM_DEFAULT);
    CUstreamCaptureStatus status;
    CUcontext other;
    begin(blocking, GLOBAL);
    T_EQ(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    T_EQ(cuStreamGetCaptureInfo(CU_STREAM_LEGACY, &status, NULL),
         CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    T_EQ(status_of(blocking), ACTIVE);
    OK(cuCtxCreate_v2(&other, 0, f.device)); /* another context's legacy stream */
    T_EQ(status_of(NULL), NONE);
    OK(cuMemsetD8Async(f.data, 0, 1, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuCtxSetCurrent(f.context));
    T_EQ(status_of(blocking), ACTIVE);
    OK(cuGraphDestroy(end(blocking)));
    fixture_end(&f);
}

/* ---- destroyed streams ---- */

TEST(capture_rules, a_destroyed_stream_ends_its_capture)
{
    struct fixture f = fixture_begin();
    CUstream origin = new_stream(CU_STREAM_NON_BLOCKING), side = new_stream(0);
    CUevent event = new_event();
    begin(origin, GLOBAL);
    OK(launch(f.put, origin, f.data, 1, 0));
    OK(cuEventRecord(event, origin));
    join(side, origin);
    OK(cuStreamDestroy_v2(origin));
    T_EQ(status_of(side), NONE);
    OK(launch(f.put, side, f.data, 2, 0));
    OK(cuStreamSynchronize(side));
    T_EQ(cuStreamWaitEvent(side, event, 0), CUDA_ERROR_CAPTURED_EVENT);
    T_EQ(word_at(f.data), 2); /* nothing is forbidden any more */
    fixture_end(&f);
}

TEST(capture_rules, a_destroyed_fork_still_has_to_be_joined)
{
    struct fixture f = fixture_begin();
    CUevent event = new_event();
    for (int joined = 0; joined <= 1; joined++) {
        CUstream side = new_stream(0);
        begin(f.stream, GLOBAL);
        join(side, f.stream);
        OK(launch(f.put, side, f.data, 1, 0));
        OK(cuEventRecord(event, side));
        OK(cuStreamDestroy_v2(side));
        if (joined) {
            OK(cuStreamWaitEvent(f.stream, event, 0));
            T_EQ(node_count(end(f.stream)), 1);
        } else {
            end_fails(f.stream, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        }
    }
    fixture_end(&f);
}

TEST(capture_rules, a_context_ends_its_captures)
{
    struct fixture f = fixture_begin();
    CUcontext other;
    OK(cuCtxCreate_v2(&other, 0, f.device));
    begin(new_stream(0), GLOBAL);
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxSetCurrent(f.context));
    CUdeviceptr address;
    OK(cuMemAlloc_v2(&address, 4));
    fixture_end(&f);
}

/* ---- threads ---- */

#define THREADS 4

struct share {
    const struct fixture *fixture;
    CUdeviceptr words; /* of its own, 4 of them */
};

/* Captures, launches and ends again and again, beside others that do the same. */
static CUresult capture_often(void *data)
{
    const struct share *share = data;
    CUdeviceptr word = share->words;
    CUstream stream;
    CUgraph graph;
    CUgraphExec made;
    CUresult result = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 50 && result == CUDA_SUCCESS; i++) {
        result = cuStreamBeginCapture_v2(stream, THREAD_LOCAL);
        if (result == CUDA_SUCCESS)
            result = cuMemsetD32Async(word, 1, 4, stream);
        if (result == CUDA_SUCCESS)
            result = launch(share->fixture->mix, stream, word, 3, 4);
        if (result == CUDA_SUCCESS)
            result = cuStreamEndCapture(stream, &graph);
        if (result == CUDA_SUCCESS)
            result = cuGraphInstantiateWithFlags(&made, graph, 0);
        if (result == CUDA_SUCCESS)
            result = cuGraphLaunch(made, stream);
        if (result == CUDA_SUCCESS)
            result = cuStreamSynchronize(stream);
        if (result == CUDA_SUCCESS)
            result = cuGraphExecDestroy(made);
        if (result == CUDA_SUCCESS)
            result = cuGraphDestroy(graph);
    }
    return result == CUDA_SUCCESS ? cuStreamDestroy_v2(stream) : result;
}

TEST(capture_rules, threads_capture_beside_each_other)
{
    struct fixture f = fixture_begin();
    struct elsewhere there[THREADS];
    struct share share[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        share[i] = (struct share){&f, f.data + 16 * (CUdeviceptr)i};
        there[i] =
            (struct elsewhere){f.context, GLOBAL, capture_often, &share[i], CUDA_ERROR_UNKNOWN};
        T_EQ(pthread_create(&thread[i], NULL, run_elsewhere, &there[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        OK(there[i].result);
        T_EQ(word_at(share[i].words), 1 * 3 + 4);
        T_EQ(word_at(share[i].words + 4), 1);
    }
    fixture_end(&f);
}
