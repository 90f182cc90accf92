/* effects_retry.c: calls that need device memory, made while the library keeps some. The driver
 * finds none (FAKEVMM_FAULT): what is kept is given back and the call is made once more, so that
 * the application sees it succeed; alone it would see CUDA_ERROR_OUT_OF_MEMORY. */
#include "tests/shim/progs/effects.h"

#include <unistd.h>

static struct rig rig;

/* ---- arguments and results ---- */

static CUdeviceptr buffer;
static size_t pitch;
static CUmodule module;
static CUlibrary library;
static CUgraphExec exec;

static CUmemoryPool pool(void)
{
    CUmemoryPool pool;

    MUST(cuDeviceGetDefaultMemPool(&pool, rig.device));
    return pool;
}

static const CUDA_ARRAY3D_DESCRIPTOR *box(void)
{
    static const CUDA_ARRAY3D_DESCRIPTOR box = {
        .Width = 16,
        .Height = 4,
        .Format = CU_AD_FORMAT_UNSIGNED_INT8,
        .NumChannels = 1,
    };

    return &box;
}

static const CUDA_ARRAY_DESCRIPTOR *plane(void)
{
    static const CUDA_ARRAY_DESCRIPTOR plane = {
        .Width = 16,
        .Height = 4,
        .Format = CU_AD_FORMAT_UNSIGNED_INT8,
        .NumChannels = 1,
    };

    return &plane;
}

/* A file with the rig's code, in the folder for temporary files. */
static const char *code_file(void)
{
    static char path[4096];
    const char *folder = getenv("TMPDIR");
    int file;

    snprintf(path, sizeof path, "%s/effects_XXXXXX", folder ? folder : "/tmp");
    file = mkstemp(path);
    if (file < 0 || write(file, rig_ptx, sizeof rig_ptx) != sizeof rig_ptx)
        exit(1);
    close(file);
    return path;
}

/* ---- rows ---- */

/* The call, and how often the rig has made it before. */
#define CALLS(X)                                                                                   \
    X(cuMemAllocPitch_v2, 0, &buffer, &pitch, 100, 4, 4)                                           \
    X(cuMemAllocManaged, 0, &buffer, 4096, CU_MEM_ATTACH_GLOBAL)                                   \
    X(cuMemAllocAsync, 0, &buffer, 4096, NULL)                                                     \
    X(cuMemAllocAsync_ptsz, 0, &buffer, 4096, NULL)                                                \
    X(cuMemAllocFromPoolAsync, 0, &buffer, 4096, pool(), NULL)                                     \
    X(cuMemAllocFromPoolAsync_ptsz, 0, &buffer, 4096, pool(), NULL)                                \
    X(cuArrayCreate_v2, 0, &(CUarray){NULL}, plane())                                              \
    X(cuArray3DCreate_v2, 0, &(CUarray){NULL}, box())                                              \
    X(cuMipmappedArrayCreate, 0, &(CUmipmappedArray){NULL}, box(), 1)                              \
    X(cuModuleLoad, 0, &module, code_file())                                                       \
    X(cuModuleLoadData, 1, &module, rig_ptx)                                                       \
    X(cuModuleLoadDataEx, 0, &module, rig_ptx, 0, NULL, NULL)                                      \
    X(cuModuleLoadFatBinary, 0, &module, rig_ptx)                                                  \
    X(cuLibraryLoadData, 0, &library, rig_ptx, NULL, NULL, 0, NULL, NULL, 0)                       \
    X(cuLibraryLoadFromFile, 0, &library, code_file(), NULL, NULL, 0, NULL, NULL, 0)               \
    X(cuGraphInstantiate, 0, &exec, rig.graph, NULL, NULL, 0)                                      \
    X(cuGraphInstantiate_v2, 0, &exec, rig.graph, NULL, NULL, 0)                                   \
    X(cuGraphInstantiateWithFlags, 1, &exec, rig.graph, 0)                                         \
    X(cuGraphInstantiateWithParams, 0, &exec, rig.graph, with_flags(0))                            \
    X(cuGraphInstantiateWithParams_ptsz, 0, &exec, rig.graph, with_flags(0))                       \
    X(cuGraphLaunch, 0, rig.exec, NULL)                                                            \
    X(cuGraphLaunch_ptsz, 0, rig.exec, NULL)

#define X(symbol, before, ...)                                                                     \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        CUdeviceptr kept;                                                                          \
                                                                                                   \
        MUST(cuMemAlloc_v2(&kept, (size_t)4 << 20));                                               \
        MUST(cuMemFree_v2(kept));                                                                  \
        answer(symbol(__VA_ARGS__));                                                               \
        reach(#symbol, (before) + 2);                                                              \
    }
CALLS(X)
#undef X

static const struct row rows[] = {CALLS(EFFECT_ROW)};

int main(int argc, char **argv)
{
    return run_row(rows, COUNT_OF(rows), &rig, argc, argv);
}
