/* effects_capture.c: calls by which a stream capture begins or ends (class CAPTURE of
 * shim/effects.h). While one lives that forbids it, an allocation is the driver's to refuse; before
 * and after, it comes from memory that the library keeps. */
#include "tests/shim/progs/effects.h"

#define BYTES 4096

static struct rig rig;
static CUstream stream;
static CUgraph graph;

#define GLOBAL CU_STREAM_CAPTURE_MODE_GLOBAL
#define LOCAL  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

static CUgraph new_graph(void)
{
    MUST(cuGraphCreate(&graph, 0));
    return graph;
}

static void allocate_and_free(void)
{
    CUdeviceptr buffer;

    MUST(cuMemAlloc_v2(&buffer, BYTES));
    MUST(cuMemFree_v2(buffer));
}

static void allocate_refused(void)
{
    CUdeviceptr buffer;

    if (cuMemAlloc_v2(&buffer, BYTES) == CUDA_SUCCESS)
        printf("an allocation that is not permitted was made\n");
}

/* Each way to begin with a way to end. To the _ptsz forms the null stream is the thread's own. */
#define CAPTURES(X)                                                                                \
    X(cuStreamBeginCapture, cuStreamBeginCapture(stream), cuStreamEndCapture(stream, &graph))      \
    X(cuStreamBeginCapture_ptsz, cuStreamBeginCapture_ptsz(NULL),                                  \
      cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph))                                            \
    X(cuStreamBeginCapture_v2, cuStreamBeginCapture_v2(stream, LOCAL),                             \
      cuStreamEndCapture(stream, &graph))                                                          \
    X(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2_ptsz(NULL, LOCAL),                     \
      cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph))                                            \
    X(cuStreamBeginCaptureToGraph,                                                                 \
      cuStreamBeginCaptureToGraph(stream, new_graph(), NULL, NULL, 0, GLOBAL),                     \
      cuStreamEndCapture(stream, &graph))                                                          \
    X(cuStreamBeginCaptureToGraph_ptsz,                                                            \
      cuStreamBeginCaptureToGraph_ptsz(NULL, new_graph(), NULL, NULL, 0, GLOBAL),                  \
      cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph))                                            \
    X(cuStreamEndCapture, cuStreamBeginCapture_v2(stream, GLOBAL),                                 \
      cuStreamEndCapture(stream, &graph))                                                          \
    X(cuStreamEndCapture_ptsz, cuStreamBeginCapture_v2(CU_STREAM_PER_THREAD, GLOBAL),              \
      cuStreamEndCapture_ptsz(NULL, &graph))                                                       \
    X(cuStreamDestroy, cuStreamBeginCapture_v2(stream, GLOBAL), cuStreamDestroy(stream))           \
    X(cuStreamDestroy_v2, cuStreamBeginCapture_v2(stream, GLOBAL), cuStreamDestroy_v2(stream))

#define X(symbol, begin, end)                                                                      \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));                                     \
        allocate_and_free();                                                                       \
        MUST(begin);                                                                               \
        allocate_refused();                                                                        \
        answer(end);                                                                               \
        allocate_and_free();                                                                       \
        reach("cuMemAlloc_v2", 1);                                                                 \
        reach("cuMemFree_v2", 0);                                                                  \
    }
CAPTURES(X)
#undef X

/* A relaxed thread may allocate and free under any capture; a global one under none. */
static void run_cuThreadExchangeStreamCaptureMode(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    allocate_and_free();
    MUST(cuStreamBeginCapture_v2(stream, GLOBAL));
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    allocate_and_free();
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    allocate_refused();
    answer(cuStreamEndCapture(stream, &graph));
    reach("cuMemAlloc_v2", 1);
    reach("cuMemFree_v2", 0);
}

static const struct row rows[] = {CAPTURES(EFFECT_ROW)
                                      EFFECT_ROW(cuThreadExchangeStreamCaptureMode)};

int main(int argc, char **argv)
{
    return run_row(rows, COUNT_OF(rows), &rig, argc, argv);
}
