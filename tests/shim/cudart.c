/* cudart.c: the CUDA runtime that the toolkit ships, static and shared, on the fake driver. It asks
 * cuGetProcAddress for some 440 functions, then refuses a driver that is not NVIDIA's (by design;
 * it is not tricked). Up to there every answer must have passed the library, and been the right
 * one. */
#include <cuda.h>
#include <unistd.h>

#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

/* What the runtime of CUDA 13.0 asks for that the library is in front of: each becomes a hook of
 * exactly this ABI, once per question. */
struct question {
    const char *name;
    int version, flags;
};

static const struct question questions[] = {
    {"cuGetProcAddress", 11030, 0},
    {"cuGetProcAddress", 12000, 0},
    {"cuDevicePrimaryCtxRelease", 7000, 0},
    {"cuDevicePrimaryCtxReset", 7000, 0},
    {"cuCtxDetach", 2000, 0},
    {"cuCtxSetLimit", 3010, 0},
    {"cuCtxSetCacheConfig", 3020, 0},
    {"cuCtxSetSharedMemConfig", 4020, 0},
    {"cuModuleLoad", 2000, 0},
    {"cuModuleLoadData", 2000, 0},
    {"cuModuleLoadFatBinary", 2000, 0},
    {"cuModuleUnload", 2000, 0},
    {"cuLibraryLoadData", 12000, 0},
    {"cuLibraryLoadFromFile", 12000, 0},
    {"cuLibraryUnload", 12000, 0},
    {"cuKernelSetAttribute", 12000, 0},
    {"cuKernelSetCacheConfig", 12000, 0},
    {"cuMemGetInfo", 3020, 0},
    {"cuMemAllocManaged", 6000, 0},
    {"cuMemAlloc", 3020, 0},
    {"cuMemAllocPitch", 3020, 0},
    {"cuMemFree", 3020, 0},
    {"cuMemGetAddressRange", 3020, 0},
    {"cuPointerGetAttribute", 4000, 0},
    {"cuPointerGetAttributes", 7000, 0},
    {"cuMemAllocAsync", 11020, 0},
    {"cuMemAllocAsync", 11020, 2},
    {"cuMemAllocFromPoolAsync", 11020, 0},
    {"cuMemAllocFromPoolAsync", 11020, 2},
    {"cuMemFreeAsync", 11020, 0},
    {"cuMemFreeAsync", 11020, 2},
    {"cuFuncSetCacheConfig", 3000, 0},
    {"cuFuncSetSharedMemConfig", 4020, 0},
    {"cuFuncSetAttribute", 9000, 0},
    {"cuArrayCreate", 3020, 0},
    {"cuArray3DCreate", 3020, 0},
    {"cuMipmappedArrayCreate", 5000, 0},
    {"cuStreamDestroy", 4000, 0},
    {"cuCtxEnablePeerAccess", 4000, 0},
    {"cuIpcGetMemHandle", 4010, 0},
    {"cuGraphKernelNodeSetParams", 12000, 0},
    {"cuGraphMemcpyNodeSetParams", 10000, 0},
    {"cuGraphMemsetNodeSetParams", 10000, 0},
    {"cuGraphHostNodeSetParams", 10000, 0},
    {"cuGraphEventRecordNodeSetEvent", 11010, 0},
    {"cuGraphEventWaitNodeSetEvent", 11010, 0},
    {"cuGraphExternalSemaphoresSignalNodeSetParams", 11020, 0},
    {"cuGraphExternalSemaphoresWaitNodeSetParams", 11020, 0},
    {"cuGraphExecExternalSemaphoresSignalNodeSetParams", 11020, 0},
    {"cuGraphExecExternalSemaphoresWaitNodeSetParams", 11020, 0},
    {"cuGraphDestroyNode", 10000, 0},
    {"cuGraphInstantiate", 10000, 0},
    {"cuGraphInstantiate", 11000, 0},
    {"cuGraphInstantiateWithFlags", 11040, 0},
    {"cuGraphLaunch", 10000, 0},
    {"cuGraphLaunch", 10000, 2},
    {"cuGraphExecDestroy", 10000, 0},
    {"cuGraphDestroy", 10000, 0},
    {"cuStreamBeginCapture", 10000, 0},
    {"cuStreamBeginCapture", 10000, 2},
    {"cuStreamBeginCapture", 10010, 0},
    {"cuStreamBeginCapture", 10010, 2},
    {"cuStreamBeginCaptureToGraph", 12030, 0},
    {"cuStreamBeginCaptureToGraph", 12030, 2},
    {"cuStreamEndCapture", 10000, 0},
    {"cuStreamEndCapture", 10000, 2},
    {"cuGraphExecKernelNodeSetParams", 12000, 0},
    {"cuGraphExecMemcpyNodeSetParams", 10020, 0},
    {"cuGraphExecMemsetNodeSetParams", 10020, 0},
    {"cuGraphExecHostNodeSetParams", 10020, 0},
    {"cuGraphExecChildGraphNodeSetParams", 11010, 0},
    {"cuGraphExecEventRecordNodeSetEvent", 11010, 0},
    {"cuGraphExecEventWaitNodeSetEvent", 11010, 0},
    {"cuThreadExchangeStreamCaptureMode", 10010, 0},
    {"cuGraphExecUpdate", 12000, 0},
    {"cuGraphKernelNodeCopyAttributes", 11000, 0},
    {"cuGraphKernelNodeSetAttribute", 11000, 0},
    {"cuGraphNodeSetEnabled", 11060, 0},
    {"cuGraphInstantiateWithParams", 12000, 0},
    {"cuGraphInstantiateWithParams", 12000, 2},
    {"cuGraphAddNode", 12020, 0},
    {"cuGraphAddNode", 12030, 0},
    {"cuGraphNodeSetParams", 12020, 0},
    {"cuGraphExecNodeSetParams", 12020, 0},
    {"cuCtxSynchronize", 2000, 0},
    {"cuCtxSynchronize", 13000, 0},
    {"cuMemcpy", 4000, 0},
    {"cuMemcpy", 7000, 2},
    {"cuMemcpyDtoH", 3020, 0},
    {"cuMemcpyDtoH", 7000, 2},
    {"cuEventQuery", 2000, 0},
    {"cuEventSynchronize", 2000, 0},
    {"cuStreamSynchronize", 2000, 0},
    {"cuStreamSynchronize", 7000, 2},
    {"cuStreamQuery", 2000, 0},
    {"cuStreamQuery", 7000, 2},
};

#define QUESTIONS (long long)(sizeof(questions) / sizeof(*questions))

static struct t_run probe(enum t_way way, const char *kind)
{
    char *program = t_build("tests/progs/cudart_%s", kind);
    const char *const argv[] = {program, NULL};
    struct t_run run;

#ifdef __SANITIZE_THREAD__
    T_SKIP("NVIDIA's runtime does not start under ThreadSanitizer");
#endif
    if (access(program, X_OK) != 0)
        T_SKIP("the toolkit's %s runtime is not installed", kind);
    run = t_run(way, argv, NULL);
    T_ASSERT(run.exit_code == 0, "%s: exit code %d\n%s", kind, run.exit_code, run.err);
    free(program);
    return run;
}

static long long lookups(const struct t_run *run)
{
    return t_json_get(&run->counts, "cuGetProcAddress", 0) +
           t_json_get(&run->counts, "cuGetProcAddress_v2", 0);
}

static void check(const char *kind)
{
    struct t_run bare = probe(T_BARE, kind), with = probe(T_ON, kind), off = probe(T_OFF, kind);

    T_STR_EQ(with.out, bare.out);
    T_STR_EQ(off.out, bare.out);
    T_GE(lookups(&bare), 440);
    T_EQ(lookups(&with), lookups(&bare));
    T_EQ(lookups(&off), lookups(&bare));
    T_EQ(t_json_get(&with.stats, "doors.dlsym", -1), 1); /* cuGetProcAddress_v2, the only one */
    if (CUDA_VERSION == 13000)
        T_EQ(t_json_get(&with.stats, "doors.procaddress", -1), QUESTIONS);
    t_run_free(&bare);
    t_run_free(&with);
    t_run_free(&off);
}

TEST(cudart, static_runtime)
{
    check("static");
}

TEST(cudart, shared_runtime)
{
    check("shared");
}

/* Every one of the questions, asked as the runtime asks them, is answered with the hook of its ABI.
 */
TEST(cudart, each_question)
{
    char *program = t_build("tests/progs/resolver");
    const char *const argv[] = {program, NULL};
    struct t_run run = t_run(T_ON, argv, NULL);

    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        char *line = t_format("procaddress2 %s %d %d libvaremap.so %s", questions[i].name,
                              questions[i].version, questions[i].flags, questions[i].name);

        T_STR_HAS(run.out, line);
        free(line);
    }
    t_run_free(&run);
    free(program);
}
