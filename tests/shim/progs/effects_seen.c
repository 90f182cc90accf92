/* effects_seen.c: rows of class SEEN. A kernel loses the context, the call is the first to say so,
 * and from then on an equal setter gets the driver's answer. */
#include <stdatomic.h>
#include <unistd.h>

#include "tests/shim/progs/effects.h"

static struct rig rig;
static unsigned word;

static atomic_bool all_is_queued;

static void wait_until_queued(void *data)
{
    while (!atomic_load(&all_is_queued))
        usleep(100);
}

static void lose_the_context(CUevent event)
{
    CUdeviceptr nowhere = 8;
    void *args[] = {&nowhere, &rig.a, &rig.b};

    MUST(cuLaunchHostFunc(NULL, wait_until_queued, NULL));
    MUST(cuLaunchKernel(rig.store, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    MUST(cuEventRecord(event, NULL));
    atomic_store(&all_is_queued, true);
}

/* The calls wait or ask: in the end they tell. */
#define ROWS(X)                                                                                    \
    X(cuCtxSynchronize, )                                                                          \
    X(cuCtxSynchronize_v2, rig.context)                                                            \
    X(cuStreamSynchronize, NULL)                                                                   \
    X(cuStreamSynchronize_ptsz, CU_STREAM_LEGACY)                                                  \
    X(cuStreamQuery, NULL)                                                                         \
    X(cuStreamQuery_ptsz, CU_STREAM_LEGACY)                                                        \
    X(cuEventSynchronize, event)                                                                   \
    X(cuEventQuery, event)                                                                         \
    X(cuMemcpy, (CUdeviceptr)(uintptr_t)&word, rig.buffer, sizeof word)                            \
    X(cuMemcpy_ptds, (CUdeviceptr)(uintptr_t)&word, rig.buffer, sizeof word)                       \
    X(cuMemcpyDtoH_v2, &word, rig.buffer, sizeof word)                                             \
    X(cuMemcpyDtoH_v2_ptds, &word, rig.buffer, sizeof word)

#define X(symbol, ...)                                                                             \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        CUevent event = new_event();                                                               \
        CUresult result;                                                                           \
                                                                                                   \
        (void)event;                                                                               \
        MUST(set_kernel(&rig, rig.exec, rig.kernel[0]));                                           \
        MUST(set_kernel(&rig, rig.exec, rig.kernel[0])); /* answered */                            \
        lose_the_context(event);                                                                   \
        while ((result = symbol(__VA_ARGS__)) == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)   \
            usleep(1000);                                                                          \
        answer(result);                                                                            \
        answer(set_kernel(&rig, rig.exec, rig.kernel[0]));                                         \
        reach("cuGraphExecKernelNodeSetParams_v2", 2);                                             \
    }
ROWS(X)
#undef X

static const struct row rows[] = {ROWS(EFFECT_ROW)};

int main(int argc, char **argv)
{
    return run_row(rows, COUNT_OF(rows), &rig, argc, argv);
}
