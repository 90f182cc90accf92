/* effects.c: every row of shim/entries.h does what its class says (docs/design.md). Each has a test
 * named after its function that fails when the function is left alone, and some have more: the
 * programs tests/shim/progs/effects*.c make the calls and say what must arrive at the driver and
 * what the library must have counted. scripts/mutants leaves each function alone to see it. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#include <stdlib.h>
#include <string.h>

#define SETTINGS 6

/* What each program needs; NULL after the last. */
static const struct program {
    const char *name;
    const char *setting[SETTINGS - 1];
} programs[] = {
    {"effects_code", {"FAKEVMM_DEVICES=2"}},
    {"effects_seen", {NULL}},
    {"effects_exec", {"VAREMAP_PROFILE_LAUNCHES=4"}},
    {"effects_retry", {"VAREMAP_BACKING=eager", "VAREMAP_MIN_SIZE=1"}},
    {"effects_capture", {"VAREMAP_BACKING=eager", "VAREMAP_MIN_SIZE=1"}},
    {"effects_memory", {"VAREMAP_BACKING=eager", "VAREMAP_MIN_SIZE=1", "FAKEVMM_DEVICES=2"}},
};

#define PROGRAMS (sizeof programs / sizeof *programs)

static const struct program *find_program(const char *name)
{
    const struct program *program = programs;

    while (strcmp(program->name, name) != 0)
        program++;
    return program;
}

/* With one setting more, or none. */
static struct t_run run_row(enum t_way way, const char *program, const char *row,
                            const char *setting)
{
    char *path = t_build("tests/progs/%s", program);
    const char *const argv[] = {path, row, NULL};
    const char *env[SETTINGS + 1] = {setting};
    struct t_run run;

    for (int from = 0, to = setting != NULL; from < SETTINGS - 1; from++, to++)
        env[to] = find_program(program)->setting[from];
    run = t_run(way, argv, env);
    T_ASSERT(run.exit_code == 0, "%s, way %d: exit code %d\n%s", row, (int)way, run.exit_code,
             run.err);
    free(path);
    return run;
}

/* The lines "reach FUNCTION CALLS" and "stat PATH NUMBER". */
static void check_numbers(const char *row, const struct t_run *run)
{
    const char *line = run->out;
    char word[16], name[64];
    long long number, found;

    while (line && *line) {
        if (sscanf(line, "%15s %63s %lld", word, name, &number) == 3) {
            if (!strcmp(word, "reach")) {
                found = t_json_get(&run->counts, name, 0);
                T_ASSERT(found == number, "%s: %lld calls of %s arrived, %lld must", row, found,
                         name, number);
            } else if (!strcmp(word, "stat")) {
                found = t_json_get(&run->stats, name, -1);
                T_ASSERT(found == number, "%s: %s is %lld, not %lld", row, name, found, number);
            }
        }
        line = strchr(line, '\n');
        line += line != NULL;
    }
}

static void check_row(const char *program, const char *row, const char *setting)
{
    struct t_run bare = run_row(T_BARE, program, row, setting);
    struct t_run on = run_row(T_ON, program, row, setting);

    T_STR_EQ(on.out, bare.out);
    check_numbers(row, &on);
    t_run_free(&bare);
    t_run_free(&on);
}

/* CUDA_SUCCESS where the driver alone answers CUDA_ERROR_OUT_OF_MEMORY. */
static void check_retry(const char *row, int nth)
{
    char *setting = t_format("FAKEVMM_FAULT=%s:%d:CUDA_ERROR_OUT_OF_MEMORY", row, nth);
    struct t_run bare = run_row(T_BARE, "effects_retry", row, setting);
    struct t_run on = run_row(T_ON, "effects_retry", row, setting);

    T_EQ(t_line_number(bare.out, "answer"), 2);
    T_EQ(t_line_number(on.out, "answer"), 0);
    check_numbers(row, &on);
    t_run_free(&bare);
    t_run_free(&on);
    free(setting);
}

/* Each with one more setting, or none. */
#define ROWS(X)                                                                                    \
    X(effects_code, control, NULL)                                                                 \
    X(effects_code, cuGraphDestroy, NULL)                                                          \
    X(effects_code, cuGraphAddNode, NULL)                                                          \
    X(effects_code, cuGraphAddNode_v2, NULL)                                                       \
    X(effects_code, cuGraphDestroyNode, NULL)                                                      \
    X(effects_code, cuGraphKernelNodeSetParams, NULL)                                              \
    X(effects_code, cuGraphKernelNodeSetParams_v2, NULL)                                           \
    X(effects_code, cuGraphNodeSetParams, NULL)                                                    \
    X(effects_code, cuGraphMemcpyNodeSetParams, NULL)                                              \
    X(effects_code, cuGraphMemsetNodeSetParams, NULL)                                              \
    X(effects_code, cuGraphHostNodeSetParams, NULL)                                                \
    X(effects_code, cuGraphEventRecordNodeSetEvent, NULL)                                          \
    X(effects_code, cuGraphEventWaitNodeSetEvent, NULL)                                            \
    X(effects_code, cuGraphExternalSemaphoresSignalNodeSetParams, NULL)                            \
    X(effects_code, cuGraphExternalSemaphoresWaitNodeSetParams, NULL)                              \
    X(effects_code, cuGraphBatchMemOpNodeSetParams, NULL)                                          \
    X(effects_code, cuGraphKernelNodeSetAttribute, NULL)                                           \
    X(effects_code, cuGraphKernelNodeCopyAttributes, NULL)                                         \
    X(effects_code, cuModuleUnload, NULL)                                                          \
    X(effects_code, cuLibraryUnload, NULL)                                                         \
    X(effects_code, cuFuncSetAttribute, NULL)                                                      \
    X(effects_code, cuFuncSetCacheConfig, NULL)                                                    \
    X(effects_code, cuFuncSetSharedMemConfig, NULL)                                                \
    X(effects_code, cuCtxSetLimit, NULL)                                                           \
    X(effects_code, cuCtxSetCacheConfig, NULL)                                                     \
    X(effects_code, cuCtxSetSharedMemConfig, NULL)                                                 \
    X(effects_code, cuKernelSetAttribute, NULL)                                                    \
    X(effects_code, cuKernelSetCacheConfig, NULL)                                                  \
    X(effects_code, cuCtxDestroy, NULL)                                                            \
    X(effects_code, cuCtxDestroy_v2, NULL)                                                         \
    X(effects_code, cuCtxDetach, NULL)                                                             \
    X(effects_code, cuGreenCtxDestroy, NULL)                                                       \
    X(effects_code, cuDevicePrimaryCtxReset, NULL)                                                 \
    X(effects_code, cuDevicePrimaryCtxReset_v2, NULL)                                              \
    X(effects_code, cuDevicePrimaryCtxRelease, NULL)                                               \
    X(effects_code, cuDevicePrimaryCtxRelease_v2, NULL)                                            \
    X(effects_seen, cuCtxSynchronize, NULL)                                                        \
    X(effects_seen, cuCtxSynchronize_v2, NULL)                                                     \
    X(effects_seen, cuStreamSynchronize, NULL)                                                     \
    X(effects_seen, cuStreamSynchronize_ptsz, NULL)                                                \
    X(effects_seen, cuStreamQuery, NULL)                                                           \
    X(effects_seen, cuStreamQuery_ptsz, NULL)                                                      \
    X(effects_seen, cuEventSynchronize, NULL)                                                      \
    X(effects_seen, cuEventQuery, NULL)                                                            \
    X(effects_seen, cuMemcpy, NULL)                                                                \
    X(effects_seen, cuMemcpy_ptds, NULL)                                                           \
    X(effects_seen, cuMemcpyDtoH_v2, NULL)                                                         \
    X(effects_seen, cuMemcpyDtoH_v2_ptds, NULL)                                                    \
    X(effects_exec, cuGetProcAddress, NULL)                                                        \
    X(effects_exec, cuGetProcAddress_v2, NULL)                                                     \
    X(effects_exec, cuGraphInstantiate, NULL)                                                      \
    X(effects_exec, cuGraphInstantiate_v2, NULL)                                                   \
    X(effects_exec, cuGraphInstantiateWithFlags, NULL)                                             \
    X(effects_exec, cuGraphInstantiateWithParams, NULL)                                            \
    X(effects_exec, cuGraphInstantiateWithParams_ptsz, NULL)                                       \
    X(effects_exec, device_launch_flags, NULL)                                                     \
    X(effects_exec, device_launch_params, NULL)                                                    \
    X(effects_exec, device_launch_params_ptsz, NULL)                                               \
    X(effects_exec, cuGraphExecKernelNodeSetParams, NULL)                                          \
    X(effects_exec, cuGraphExecKernelNodeSetParams_v2, NULL)                                       \
    X(effects_exec, cuGraphExecNodeSetParams, NULL)                                                \
    X(effects_exec, cuGraphExecMemcpyNodeSetParams, NULL)                                          \
    X(effects_exec, cuGraphExecMemsetNodeSetParams, NULL)                                          \
    X(effects_exec, cuGraphExecHostNodeSetParams, NULL)                                            \
    X(effects_exec, cuGraphExecChildGraphNodeSetParams, NULL)                                      \
    X(effects_exec, cuGraphExecEventRecordNodeSetEvent, NULL)                                      \
    X(effects_exec, cuGraphExecEventWaitNodeSetEvent, NULL)                                        \
    X(effects_exec, cuGraphExecExternalSemaphoresSignalNodeSetParams, NULL)                        \
    X(effects_exec, cuGraphExecExternalSemaphoresWaitNodeSetParams, NULL)                          \
    X(effects_exec, cuGraphExecBatchMemOpNodeSetParams, NULL)                                      \
    X(effects_exec, cuGraphNodeSetEnabled, NULL)                                                   \
    X(effects_exec, cuGraphExecUpdate, NULL)                                                       \
    X(effects_exec, cuGraphExecUpdate_v2, NULL)                                                    \
    X(effects_exec, suspended_cuGraphExecUpdate, NULL)                                             \
    X(effects_exec, suspended_cuGraphExecUpdate_v2, NULL)                                          \
    X(effects_exec, cuGraphLaunch, NULL)                                                           \
    X(effects_exec, cuGraphLaunch_ptsz, NULL)                                                      \
    X(effects_exec, cuGraphExecDestroy, NULL)                                                      \
    X(effects_exec, destroy_refused, "FAKEVMM_FAULT=cuGraphExecDestroy:1")                         \
    X(effects_capture, cuStreamBeginCapture, NULL)                                                 \
    X(effects_capture, cuStreamBeginCapture_ptsz, NULL)                                            \
    X(effects_capture, cuStreamBeginCapture_v2, NULL)                                              \
    X(effects_capture, cuStreamBeginCapture_v2_ptsz, NULL)                                         \
    X(effects_capture, cuStreamBeginCaptureToGraph, NULL)                                          \
    X(effects_capture, cuStreamBeginCaptureToGraph_ptsz, NULL)                                     \
    X(effects_capture, cuStreamEndCapture, NULL)                                                   \
    X(effects_capture, cuStreamEndCapture_ptsz, NULL)                                              \
    X(effects_capture, cuStreamDestroy, NULL)                                                      \
    X(effects_capture, cuStreamDestroy_v2, NULL)                                                   \
    X(effects_capture, cuThreadExchangeStreamCaptureMode, NULL)                                    \
    X(effects_memory, cuMemAlloc_v2, NULL)                                                         \
    X(effects_memory, cuMemFree_v2, NULL)                                                          \
    X(effects_memory, cuMemFreeAsync, NULL)                                                        \
    X(effects_memory, cuMemFreeAsync_ptsz, NULL)                                                   \
    X(effects_memory, cuMemCreate, "FAKEVMM_MEMORY=64M")                                           \
    X(effects_memory, cuMemGetInfo_v2, NULL)                                                       \
    X(effects_memory, cuMemGetAddressRange_v2, NULL)                                               \
    X(effects_memory, cuMemGetAccess, NULL)                                                        \
    X(effects_memory, cuPointerGetAttribute, NULL)                                                 \
    X(effects_memory, cuPointerGetAttributes, NULL)                                                \
    X(effects_memory, cuPointerSetAttribute, NULL)                                                 \
    X(effects_memory, cuIpcGetMemHandle, NULL)                                                     \
    X(effects_memory, cuMemGetHandleForAddressRange, NULL)                                         \
    X(effects_memory, cuMemRetainAllocationHandle, NULL)                                           \
    X(effects_memory, cuCtxEnablePeerAccess, "FAKEVMM_DELAY_US=100000")                            \
    X(effects_memory, cuCtxDestroy, NULL)                                                          \
    X(effects_memory, cuCtxDestroy_v2, NULL)                                                       \
    X(effects_memory, cuCtxDetach, NULL)                                                           \
    X(effects_memory, cuDevicePrimaryCtxReset, NULL)                                               \
    X(effects_memory, cuDevicePrimaryCtxReset_v2, NULL)                                            \
    X(effects_memory, cuDevicePrimaryCtxRelease, NULL)                                             \
    X(effects_memory, cuDevicePrimaryCtxRelease_v2, NULL)                                          \
    X(effects_memory, birth_cuGraphInstantiate, NULL)                                              \
    X(effects_memory, birth_cuGraphInstantiate_v2, NULL)                                           \
    X(effects_memory, birth_cuGraphInstantiateWithFlags, NULL)                                     \
    X(effects_memory, birth_cuGraphInstantiateWithParams, NULL)                                    \
    X(effects_memory, birth_cuGraphInstantiateWithParams_ptsz, NULL)                               \
    X(effects_memory, update_cuGraphExecUpdate, NULL)                                              \
    X(effects_memory, update_cuGraphExecUpdate_v2, NULL)                                           \
    X(effects_memory, setter_cuGraphExecMemcpyNodeSetParams, NULL)                                 \
    X(effects_memory, setter_cuGraphExecMemsetNodeSetParams, NULL)                                 \
    X(effects_memory, setter_cuGraphExecNodeSetParams, NULL)

#define X(program, row, setting)                                                                   \
    TEST(program, row)                                                                             \
    {                                                                                              \
        check_row(#program, #row, setting);                                                        \
    }
ROWS(X)
#undef X

/* Each with which of the driver's calls of it finds no memory: the row's own. */
#define RETRIED(X)                                                                                 \
    X(cuMemAllocPitch_v2, 1)                                                                       \
    X(cuMemAllocManaged, 1)                                                                        \
    X(cuMemAllocAsync, 1)                                                                          \
    X(cuMemAllocAsync_ptsz, 1)                                                                     \
    X(cuMemAllocFromPoolAsync, 1)                                                                  \
    X(cuMemAllocFromPoolAsync_ptsz, 1)                                                             \
    X(cuArrayCreate_v2, 1)                                                                         \
    X(cuArray3DCreate_v2, 1)                                                                       \
    X(cuMipmappedArrayCreate, 1)                                                                   \
    X(cuModuleLoad, 1)                                                                             \
    X(cuModuleLoadData, 2)                                                                         \
    X(cuModuleLoadDataEx, 1)                                                                       \
    X(cuModuleLoadFatBinary, 1)                                                                    \
    X(cuLibraryLoadData, 1)                                                                        \
    X(cuLibraryLoadFromFile, 1)                                                                    \
    X(cuGraphInstantiate, 1)                                                                       \
    X(cuGraphInstantiate_v2, 1)                                                                    \
    X(cuGraphInstantiateWithFlags, 2)                                                              \
    X(cuGraphInstantiateWithParams, 1)                                                             \
    X(cuGraphInstantiateWithParams_ptsz, 1)                                                        \
    X(cuGraphLaunch, 1)                                                                            \
    X(cuGraphLaunch_ptsz, 1)

#define X(row, nth)                                                                                \
    TEST(effects_retry, row)                                                                       \
    {                                                                                              \
        check_retry(#row, nth);                                                                    \
    }
RETRIED(X)
#undef X

/* ---- completeness ---- */

/* A line for each test. */
#define LINE(program, row, setting) #program " " #row "\n"
#define RETRY_LINE(row, nth)        "effects_retry " #row "\n"
static const char tested[] = ROWS(LINE) RETRIED(RETRY_LINE);

TEST(effects, every_row_of_the_programs_has_a_test)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        struct t_run run = run_row(T_BARE, programs[i].name, "--rows", NULL);
        char *place;

        T_GT(strlen(run.out), 0);
        for (char *row = strtok_r(run.out, "\n", &place); row; row = strtok_r(NULL, "\n", &place)) {
            char *line = t_format("%s %s\n", programs[i].name, row);

            T_STR_HAS(tested, line);
            free(line);
        }
        t_run_free(&run);
    }
}

static const char *const functions[] = {
#define VR_ENTRY(body, class, symbol, base, since, ptds, params, args) #symbol,
#include "shim/entries.h"
};

TEST(effects, every_function_has_a_test)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char *name = t_format(" %s\n", functions[i]);

        T_STR_HAS(tested, name);
        free(name);
    }
}
