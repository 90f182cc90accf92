/* memory_capture.c: allocations and frees while a stream is captured, for each mode of the capture
 * and of the calling thread, on the capturing thread and on another one. It prints what each call
 * answers and what became of the capture. */
#include "tests/shim/progs/warm.h"

#include <pthread.h>

#define MIB ((size_t)1 << 20)

static struct rig rig;
static CUstream stream;

static const size_t sizes[] = {65536, 2 * MIB};

static const struct {
    const char *name;
    CUstreamCaptureMode mode;
} modes[] = {
    {"global", CU_STREAM_CAPTURE_MODE_GLOBAL},
    {"thread-local", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
    {"relaxed", CU_STREAM_CAPTURE_MODE_RELAXED},
};

/* One call under a capture: what it is given and what it answers. */
struct call {
    bool frees; /* `buffer`, which was there before; else it allocates `bytes` */
    CUdeviceptr buffer;
    size_t bytes;
    CUstreamCaptureMode thread; /* exchanged in around the call */
    CUresult result;
};

static void *make_call(void *argument)
{
    struct call *call = (struct call *)argument;
    CUstreamCaptureMode mode = call->thread;

    MUST(cuCtxSetCurrent(rig.context));
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    call->result =
        call->frees ? cuMemFree_v2(call->buffer) : cuMemAlloc_v2(&call->buffer, call->bytes);
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    return NULL;
}

static void make_call_elsewhere(struct call *call)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, make_call, call) || pthread_join(thread, NULL))
        exit(1);
}

/* One kernel is captured, so that a capture that survived has one node. */
static void capture_around(CUstreamCaptureMode mode, struct call *call, bool elsewhere)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUgraph graph = NULL;
    size_t nodes = 0;
    CUresult end;

    MUST(cuStreamBeginCapture_v2(stream, mode));
    MUST(cuLaunchKernel(rig.store, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    if (elsewhere)
        make_call_elsewhere(call);
    else
        make_call(call);
    end = cuStreamEndCapture(stream, &graph);
    if (end == CUDA_SUCCESS && graph) {
        MUST(cuGraphGetNodes(graph, NULL, &nodes));
        MUST(cuGraphDestroy(graph));
    }
    printf(" %s %d, capture %d, nodes %zu", call->frees ? "free" : "alloc", (int)call->result,
           (int)end, nodes);
}

/* What was allocated is used and freed afterwards, what could not be freed is freed now. */
static void try(size_t bytes, CUstreamCaptureMode mode, CUstreamCaptureMode thread, bool elsewhere)
{
    struct call alloc = {.bytes = bytes, .thread = thread};
    struct call release = {.frees = true, .thread = thread};

    capture_around(mode, &alloc, elsewhere);
    if (alloc.result == CUDA_SUCCESS) {
        MUST(cuMemsetD8_v2(alloc.buffer, 1, bytes));
        MUST(cuMemFree_v2(alloc.buffer));
    }
    MUST(cuMemAlloc_v2(&release.buffer, bytes));
    capture_around(mode, &release, elsewhere);
    printf(", afterwards %d\n", (int)cuMemFree_v2(release.buffer));
}

int main(void)
{
    rig_up(&rig);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    warm_up(&rig, sizes, COUNT_OF(sizes));
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (size_t c = 0; c < COUNT_OF(modes); c++)
            for (size_t t = 0; t < COUNT_OF(modes); t++)
                for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
                    printf("%zu bytes, %s capture, %s thread, %s:", sizes[s], modes[c].name,
                           modes[t].name, elsewhere ? "another" : "the same");
                    try(sizes[s], modes[c].mode, modes[t].mode, elsewhere);
                }
    return 0;
}
