/* Which calls a capture forbids, to whom: cuda.h on cuThreadExchangeStreamCaptureMode. Each mode of
 * the capture, each mode of the calling thread, the capture's own thread and another one. */
#include "tests/fake/capture_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

static CUresult allocate(void *data)
{
    CUdeviceptr address;
    (void)data;
    CUresult result = cuMemAlloc_v2(&address, 512);
    return result == CUDA_SUCCESS ? cuMemFree_v2(address) : result;
}

/* By mode of the thread, then by mode of the capture: is an unsafe call forbidden? */
static const bool forbidden_here[3][3] = {
    [GLOBAL] = {[GLOBAL] = true, [THREAD_LOCAL] = true, [RELAXED] = false},
    [THREAD_LOCAL] = {[GLOBAL] = true, [THREAD_LOCAL] = true, [RELAXED] = false},
    [RELAXED] = {false, false, false},
};
static const bool forbidden_elsewhere[3][3] = {
    [GLOBAL] = {[GLOBAL] = true, [THREAD_LOCAL] = false, [RELAXED] = false},
    [THREAD_LOCAL] = {false, false, false},
    [RELAXED] = {false, false, false},
};

static void check_answer(CUstream stream, bool forbidden, CUresult answer)
{
    T_EQ(answer, forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
    if (forbidden)
        end_broken(stream);
    else
        OK(cuGraphDestroy(end(stream)));
}

TEST(capture_modes, an_unsafe_call_by_mode_and_thread)
{
    struct fixture f = fixture_begin();
    for (int thread = GLOBAL; thread <= RELAXED; thread++) {
        for (int capture = GLOBAL; capture <= RELAXED; capture++) {
            begin(f.stream, (CUstreamCaptureMode)capture);
            check_answer(f.stream, forbidden_here[thread][capture],
                         here((CUstreamCaptureMode)thread, allocate, NULL));
            begin(f.stream, (CUstreamCaptureMode)capture);
            check_answer(f.stream, forbidden_elsewhere[thread][capture],
                         elsewhere(f.context, (CUstreamCaptureMode)thread, allocate, NULL));
        }
    }
    fixture_end(&f);
}

/* A thread's mode is its own, and the exchange gives back the one before. */
TEST(capture_modes, the_mode_belongs_to_the_thread)
{
    struct fixture f = fixture_begin();
    CUstreamCaptureMode mode = RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    T_EQ(mode, GLOBAL);
    begin(f.stream, GLOBAL);
    OK(allocate(NULL));
    mode = (CUstreamCaptureMode)3;
    T_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuThreadExchangeStreamCaptureMode(NULL), CUDA_ERROR_INVALID_VALUE);
    mode = GLOBAL;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    T_EQ(mode, RELAXED);
    T_EQ(allocate(NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_broken(f.stream);
    fixture_end(&f);
}

/* The first form had no modes. */
TEST(capture_modes, the_first_form_is_global)
{
    struct fixture f = fixture_begin();
    OK(cuStreamBeginCapture(f.stream));
    T_EQ(elsewhere(f.context, GLOBAL, allocate, NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_broken(f.stream);
    fixture_end(&f);
}

/* Only the captures that forbid the call break. */
TEST(capture_modes, a_call_breaks_the_captures_that_forbid_it)
{
    struct fixture f = fixture_begin();
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    begin(f.stream, GLOBAL);
    begin(other, RELAXED);
    T_EQ(allocate(NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    T_EQ(status_of(other), ACTIVE);
    end_broken(f.stream);
    OK(allocate(NULL));
    OK(cuGraphDestroy(end(other)));
    fixture_end(&f);
}

/* ---- the class ---- */

static struct fixture *now; /* of the calls below */
static CUdeviceptr reserved;
static CUmemGenericAllocationHandle handle;
static CUevent recorded;
static void *pinned;
static char host[4096];

/* One line for each call: its arguments are right, so only the capture can be why it fails. */
#define CALLS(CALL)                                                                                \
    CALL(alloc_pitch, cuMemAllocPitch_v2(&(CUdeviceptr){0}, &(size_t){0}, 64, 4, 4))               \
    CALL(alloc_managed, cuMemAllocManaged(&(CUdeviceptr){0}, 64, CU_MEM_ATTACH_GLOBAL))            \
    CALL(free_device, cuMemFree_v2(now->data))                                                     \
    CALL(alloc_host, cuMemAllocHost_v2(&(void *){NULL}, 64))                                       \
    CALL(host_alloc, cuMemHostAlloc(&(void *){NULL}, 64, 0))                                       \
    CALL(free_host, cuMemFreeHost(pinned))                                                         \
    CALL(host_register, cuMemHostRegister_v2(host, sizeof host, 0))                                \
    CALL(reserve, cuMemAddressReserve(&(CUdeviceptr){0}, 2 << 20, 0, 0, 0))                        \
    CALL(address_free, cuMemAddressFree(reserved, 2 << 20))                                        \
    CALL(map, cuMemMap(reserved, 2 << 20, 0, handle, 0))                                           \
    CALL(release, cuMemRelease(handle))                                                            \
    CALL(module_load, cuModuleLoadData(&(CUmodule){NULL}, graph_ptx))                              \
    CALL(module_unload, cuModuleUnload(now->module))                                               \
    CALL(synchronize, cuCtxSynchronize())                                                          \
    CALL(copy_in, cuMemcpyHtoD_v2(now->data, host, 64))                                            \
    CALL(copy_out, cuMemcpyDtoH_v2(host, now->data, 64))                                           \
    CALL(copy_box, cuMemcpy2D_v2(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST,             \
                                                  .srcHost = host,                                 \
                                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,           \
                                                  .dstDevice = now->data,                          \
                                                  .WidthInBytes = 8,                               \
                                                  .Height = 1}))                                   \
    CALL(array, cuArrayCreate_v2(&(CUarray){NULL},                                                 \
                                 &(CUDA_ARRAY_DESCRIPTOR){4, 4, CU_AD_FORMAT_FLOAT, 1}))           \
    CALL(copy_own, cuMemcpy_ptds(now->data, now->data + 64, 64))                                   \
    CALL(fill, cuMemsetD32_v2(now->data, 0, 16))                                                   \
    CALL(event_query, cuEventQuery(recorded))                                                      \
    CALL(event_wait, cuEventSynchronize(recorded))

#define DEFINE(name, call)                                                                         \
    static CUresult name(void *unused)                                                             \
    {                                                                                              \
        (void)unused;                                                                              \
        return call;                                                                               \
    }
CALLS(DEFINE)

static const struct {
    const char *name;
    any_call call;
} unsafe_calls[] = {
#define ENTRY(name, call) {#name, name},
    CALLS(ENTRY)};

static void prepare(struct fixture *f)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    now = f;
    OK(cuMemAddressReserve(&reserved, 2 << 20, 0, 0, 0));
    OK(cuMemCreate(&handle, 2 << 20, &prop, 0));
    OK(cuMemHostAlloc(&pinned, 64, 0));
    recorded = new_event();
    OK(cuEventRecord(recorded, f->stream));
    OK(cuStreamSynchronize(f->stream));
}

TEST(capture_modes, every_unsafe_call_is_forbidden)
{
    struct fixture f = fixture_begin();
    prepare(&f);
    for (size_t i = 0; i < sizeof unsafe_calls / sizeof unsafe_calls[0]; i++) {
        begin(f.stream, THREAD_LOCAL);
        T_ASSERT(unsafe_calls[i].call(NULL) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%s",
                 unsafe_calls[i].name);
        T_ASSERT(status_of(f.stream) == INVALIDATED, "%s", unsafe_calls[i].name);
        end_broken(f.stream);
    }
    /* None of them has done anything. */
    OK(cuMemMap(reserved, 2 << 20, 0, handle, 0));
    OK(cuMemFreeHost(pinned));
    fixture_end(&f);
}

/* A capture on a stream that the legacy one does not wait for leaves the legacy stream usable. */
TEST(capture_modes, none_of_them_is_forbidden_to_a_relaxed_thread)
{
    struct fixture f = fixture_begin();
    prepare(&f);
    begin(f.stream, GLOBAL);
    for (size_t i = 0; i < sizeof unsafe_calls / sizeof unsafe_calls[0]; i++) {
        any_call call = unsafe_calls[i].call;
        if (call == alloc_managed) /* there is no managed memory here */
            continue;
        if (call == address_free || call == synchronize || call == free_device ||
            call == module_unload || call == release)
            continue; /* would work, and take something away that others need */
        T_ASSERT(here(RELAXED, call, NULL) == CUDA_SUCCESS, "%s", unsafe_calls[i].name);
    }
    OK(here(RELAXED, module_unload, NULL));
    OK(cuGraphDestroy(end(f.stream)));
}

TEST(capture_modes, other_calls_are_allowed)
{
    struct fixture f = fixture_begin();
    CUgraph graph;
    size_t available, total;
    unsigned value = 0;
    add_kernel(f.graph, NULL, f.put, f.data, 7, 0);
    begin(f.stream, GLOBAL);
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    OK(cuMemGetInfo_v2(&available, &total));
    OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, f.data));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphLaunch(instantiate(f.graph), other));
    OK(cuEventRecord(event, other));
    OK(launch(f.mix, other, f.data, 2, 1));
    OK(cuStreamSynchronize(other)); /* a stream that does not capture */
    OK(cuStreamQuery(other));
    OK(cuStreamDestroy_v2(other));
    T_EQ(status_of(f.stream), ACTIVE);
    T_EQ(node_count(end(f.stream)), 0);
    T_EQ(word_at(f.data), 7 * 2 + 1);
    fixture_end(&f);
}

/* ---- waiting for a whole context ---- */

static CUresult wait_for_context(void *unused)
{
    (void)unused;
    return cuCtxSynchronize();
}

/* It covers the capturing stream, so relaxing the thread does not help. */
TEST(capture_modes, the_own_context_cannot_be_waited_for)
{
    struct fixture f = fixture_begin();
    begin(f.stream, RELAXED);
    T_EQ(here(RELAXED, wait_for_context, NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    end_broken(f.stream);
    CUcontext other;
    begin(f.stream, RELAXED);
    OK(cuCtxCreate_v2(&other, 0, f.device));
    OK(cuCtxSynchronize()); /* there is no capture in that one */
    OK(cuCtxDestroy_v2(other));
    OK(cuCtxSetCurrent(f.context));
    OK(cuGraphDestroy(end(f.stream)));
    fixture_end(&f);
}

/* What happens then is not documented; FAKEVMM_MODEL has both answers. */
static void check_peer_wait(CUstreamCaptureMode thread, CUstreamCaptureMode capture, bool breaks)
{
    struct fixture f = fixture_begin();
    begin(f.stream, capture);
    check_answer(f.stream, breaks, elsewhere(f.context, thread, wait_for_context, NULL));
    fixture_end(&f);
}

TEST(capture_modes, another_threads_wait_is_safe)
{
    check_peer_wait(GLOBAL, THREAD_LOCAL, false);
    check_peer_wait(RELAXED, GLOBAL, false);
    check_peer_wait(GLOBAL, RELAXED, false);
    check_peer_wait(GLOBAL, GLOBAL, true); /* an unsafe call like others */
}

TEST(capture_modes, another_threads_wait_breaks)
{
    setenv("FAKEVMM_MODEL", "peersync=breaks", 1);
    check_peer_wait(GLOBAL, THREAD_LOCAL, true);
    check_peer_wait(RELAXED, GLOBAL, true);
    check_peer_wait(GLOBAL, RELAXED, true);
}

/* ---- hazards ---- */

static int exit_of(void (*program)(void))
{
    int status = 0;
    pid_t child = fork();
    T_GE(child, 0);
    if (child == 0) {
        program();
        exit(0);
    }
    T_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void allocate_in_capture(void)
{
    struct fixture f = fixture_begin();
    begin(f.stream, GLOBAL);
    allocate(NULL);
    end_broken(f.stream);
}

static void allocate_beside_capture(void)
{
    struct fixture f = fixture_begin();
    begin(f.stream, GLOBAL);
    OK(here(RELAXED, allocate, NULL));
    OK(cuGraphDestroy(end(f.stream)));
    OK(allocate(NULL));
}

TEST(capture_modes, an_unsafe_call_is_a_hazard)
{
    setenv("FAKEVMM_STRICT", "1", 1);
    T_EQ(exit_of(allocate_in_capture), 97);
    T_EQ(exit_of(allocate_beside_capture), 0);
}
