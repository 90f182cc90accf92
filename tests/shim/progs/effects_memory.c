/* effects_memory.c: calls that concern device memory which the library has placed: classes ALLOC,
 * FREE, QUERY, PIN, PEER, CONTEXT, DETACH and PRIMARY of shim/effects.h, and what others learn of
 * memory (the rows named after a class and a function). */
#include "tests/shim/progs/effects.h"

#include <unistd.h>

#define BYTES ((size_t)100000) /* no whole granule */
#define MIB   ((size_t)1 << 20)

static struct rig rig;

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr buffer;

    MUST(cuMemAlloc_v2(&buffer, bytes));
    return buffer;
}

static size_t available(void)
{
    size_t left, total;

    MUST(cuMemGetInfo_v2(&left, &total));
    return left;
}

/* ---- allocate and free ---- */

static void step(CUresult (*release)(CUdeviceptr))
{
    for (int i = 0; i < 3; i++) {
        CUdeviceptr buffer = allocate(BYTES);

        MUST(cuMemsetD8_v2(buffer, 1, BYTES));
        answer(release(buffer));
    }
    reach("cuMemAlloc_v2", 0);
}

static void run_cuMemAlloc_v2(void)
{
    step(cuMemFree_v2);
}

static void run_cuMemFree_v2(void)
{
    step(cuMemFree_v2);
    reach("cuMemFree_v2", 0);
}

static CUresult free_async(CUdeviceptr buffer)
{
    return cuMemFreeAsync(buffer, NULL);
}

static void run_cuMemFreeAsync(void)
{
    step(free_async);
    reach("cuMemFreeAsync", 0);
}

static CUresult free_async_ptsz(CUdeviceptr buffer)
{
    return cuMemFreeAsync_ptsz(buffer, NULL);
}

static void run_cuMemFreeAsync_ptsz(void)
{
    step(free_async_ptsz);
    reach("cuMemFreeAsync_ptsz", 0);
}

/* With FAKEVMM_MEMORY=64M: what the library keeps stands in the way, and is given back. */
static void run_cuMemCreate(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle;

    MUST(cuMemFree_v2(allocate(32 * MIB)));
    answer(cuMemCreate(&handle, 48 * MIB, &prop, 0));
}

/* ---- questions ---- */

static void run_cuMemGetInfo_v2(void)
{
    size_t before = available();

    MUST(cuMemFree_v2(allocate(8 * MIB)));
    printf("all is back %d\n", available() == before);
}

static void run_cuMemGetAddressRange_v2(void)
{
    CUdeviceptr buffer = allocate(BYTES), start = 0;
    size_t bytes = 0;

    answer(cuMemGetAddressRange_v2(&start, &bytes, buffer + 8));
    printf("its own %d, %zu bytes\n", start == buffer, bytes);
    MUST(cuMemFree_v2(buffer));
    answer(cuMemGetAddressRange_v2(&start, &bytes, buffer));
}

static void run_cuMemGetAccess(void)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    unsigned long long access = 0;

    answer(cuMemGetAccess(&access, &here, allocate(BYTES)));
}

static void run_cuPointerGetAttribute(void)
{
    CUdeviceptr buffer = allocate(BYTES);
    CUcontext context = NULL;
    size_t bytes = 0;

    answer(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, buffer));
    answer(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, buffer));
    printf("%zu bytes, context %d\n", bytes, context == rig.context);
}

static void run_cuPointerGetAttributes(void)
{
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_CONTEXT};
    CUcontext context = NULL;
    size_t bytes = 0;
    void *places[] = {&bytes, &context};

    answer(cuPointerGetAttributes(2, which, places, allocate(BYTES)));
    printf("%zu bytes, context %d\n", bytes, context == rig.context);
}

/* ---- what mapped memory cannot do, or must not do again ---- */

/* After the first request, which may be refused, memory of that size is the driver's. */
static void ask_twice(CUresult (*request)(CUdeviceptr), size_t bytes)
{
    CUdeviceptr buffer = allocate(bytes);

    request(buffer);
    MUST(cuMemFree_v2(buffer));
    answer(request(allocate(bytes)));
    reach("cuMemAlloc_v2", 1);
}

static CUresult synchronous(CUdeviceptr buffer)
{
    unsigned on = 1;

    return cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, buffer);
}

static void run_cuPointerSetAttribute(void)
{
    ask_twice(synchronous, BYTES);
}

static CUresult legacy_handle(CUdeviceptr buffer)
{
    CUipcMemHandle handle;

    return cuIpcGetMemHandle(&handle, buffer);
}

static void run_cuIpcGetMemHandle(void)
{
    ask_twice(legacy_handle, BYTES);
}

#define EXPORTED (4 * MIB) /* whole pages: cuda.h asks for that */

static CUresult export(CUdeviceptr buffer)
{
    int file = -1;
    CUresult result = cuMemGetHandleForAddressRange(&file, buffer, EXPORTED,
                                                    CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);

    if (file >= 0)
        close(file);
    return result;
}

static void run_cuMemGetHandleForAddressRange(void)
{
    ask_twice(export, EXPORTED);
}

/* cuda.h: memory that does not come from cuMemCreate is no valid value. */
static void run_cuMemRetainAllocationHandle(void)
{
    CUmemGenericAllocationHandle handle;

    answer(cuMemRetainAllocationHandle(&handle, (void *)allocate(BYTES)));
}

/* ---- peers ---- */

/* A free waits for the work of a peer that may be using the memory (FAKEVMM_DELAY_US). */
static void run_cuCtxEnablePeerAccess(void)
{
    CUdeviceptr buffer = allocate(BYTES), next;
    struct rig peer = {.device = 0};
    unsigned long long word = 0;
    void *args[] = {&buffer, &rig.a, &rig.b};

    MUST(cuDeviceGet(&peer.device, 1));
    MUST(cuDevicePrimaryCtxRetain(&peer.context, peer.device));
    MUST(cuCtxSetCurrent(peer.context));
    rig_load(&peer);
    MUST(cuCtxEnablePeerAccess(rig.context, 0));
    MUST(cuLaunchKernel(peer.store, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    MUST(cuCtxSetCurrent(rig.context));
    MUST(cuMemFree_v2(buffer));
    next = allocate(BYTES);
    MUST(cuMemsetD32_v2(next, 7, 2));
    MUST(cuCtxSetCurrent(peer.context));
    MUST(cuCtxSynchronize());
    MUST(cuCtxSetCurrent(rig.context));
    MUST(cuMemcpyDtoH_v2(&word, next, 8));
    printf("word %llx\n", word);
}

/* ---- the end of a context ---- */

static CUcontext owner; /* a context that has memory */

/* Its memory is gone: nobody answers for it, and it is free. */
static void ended(CUresult (*end)(void))
{
    size_t before = available();
    CUdeviceptr buffer, start;
    size_t bytes;

    MUST(cuCtxSetCurrent(owner));
    buffer = allocate(BYTES);
    answer(end());
    MUST(cuCtxSetCurrent(rig.context));
    answer(cuMemGetAddressRange_v2(&start, &bytes, buffer));
    answer(cuMemFree_v2(buffer));
    printf("all is back %d\n", available() >= before);
    reach("cuMemAlloc_v2", 0);
}

#define ENDS(X)                                                                                    \
    X(cuCtxDestroy, cuCtxCreate_v2(&owner, 0, rig.device), owner)                                  \
    X(cuCtxDestroy_v2, cuCtxCreate_v2(&owner, 0, rig.device), owner)                               \
    X(cuCtxDetach, cuCtxCreate_v2(&owner, 0, rig.device), owner)                                   \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxRetain(&owner, second_device()), second_device()) \
    X(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxRetain(&owner, second_device()),               \
      second_device())                                                                             \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRetain(&owner, second_device()),                \
      second_device())                                                                             \
    X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRetain(&owner, second_device()),             \
      second_device())

#define X(symbol, make, end)                                                                       \
    static CUresult end_##symbol(void)                                                             \
    {                                                                                              \
        return symbol(end);                                                                        \
    }                                                                                              \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        MUST(make);                                                                                \
        MUST(cuCtxSetCurrent(rig.context));                                                        \
        ended(end_##symbol);                                                                       \
    }
ENDS(X)
#undef X

/* ---- memory that copies and fills name ---- */

static CUgraphExec exec;
static CUgraphNode node;
static CUgraphExecUpdateResult why;
static CUgraphExecUpdateResultInfo info;

static CUgraphNodeParams *fill_params(void)
{
    static CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};

    memcpy(&params.memset, &rig.fill, sizeof rig.fill);
    params.memset.ctx = rig.context;
    return &params;
}

/* The source graph or a setter names a buffer: its size is not taken any more. */
static void named(bool in_graph, CUresult (*call)(void))
{
    CUdeviceptr buffer = allocate(BYTES);

    rig.fill.dst = rig.copy.dstDevice = buffer;
    if (in_graph)
        MUST(cuGraphMemsetNodeSetParams(rig.memset, &rig.fill));
    MUST(call());
    MUST(cuMemFree_v2(buffer));
    MUST(cuMemFree_v2(allocate(BYTES)));
    reach("cuMemAlloc_v2", 1);
    reach("cuMemFree_v2", 1);
}

#define NAMING(X)                                                                                  \
    X(birth_cuGraphInstantiate, true, cuGraphInstantiate(&exec, rig.graph, NULL, NULL, 0))         \
    X(birth_cuGraphInstantiate_v2, true, cuGraphInstantiate_v2(&exec, rig.graph, NULL, NULL, 0))   \
    X(birth_cuGraphInstantiateWithFlags, true, cuGraphInstantiateWithFlags(&exec, rig.graph, 0))   \
    X(birth_cuGraphInstantiateWithParams, true,                                                    \
      cuGraphInstantiateWithParams(&exec, rig.graph, with_flags(0)))                               \
    X(birth_cuGraphInstantiateWithParams_ptsz, true,                                               \
      cuGraphInstantiateWithParams_ptsz(&exec, rig.graph, with_flags(0)))                          \
    X(update_cuGraphExecUpdate, true, cuGraphExecUpdate(rig.exec, rig.graph, &node, &why))         \
    X(update_cuGraphExecUpdate_v2, true, cuGraphExecUpdate_v2(rig.exec, rig.graph, &info))         \
    X(setter_cuGraphExecMemcpyNodeSetParams, false,                                                \
      cuGraphExecMemcpyNodeSetParams(rig.exec, rig.memcpy, &rig.copy, rig.context))                \
    X(setter_cuGraphExecMemsetNodeSetParams, false,                                                \
      cuGraphExecMemsetNodeSetParams(rig.exec, rig.memset, &rig.fill, rig.context))                \
    X(setter_cuGraphExecNodeSetParams, false,                                                      \
      cuGraphExecNodeSetParams(rig.exec, rig.memset, fill_params()))

#define X(symbol, in_graph, call)                                                                  \
    static CUresult call_##symbol(void)                                                            \
    {                                                                                              \
        return call;                                                                               \
    }                                                                                              \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        named(in_graph, call_##symbol);                                                            \
    }
NAMING(X)
#undef X

#define OTHERS(X)                                                                                  \
    X(cuMemAlloc_v2)                                                                               \
    X(cuMemFree_v2)                                                                                \
    X(cuMemFreeAsync)                                                                              \
    X(cuMemFreeAsync_ptsz)                                                                         \
    X(cuMemCreate)                                                                                 \
    X(cuMemGetInfo_v2)                                                                             \
    X(cuMemGetAddressRange_v2)                                                                     \
    X(cuMemGetAccess)                                                                              \
    X(cuPointerGetAttribute)                                                                       \
    X(cuPointerGetAttributes)                                                                      \
    X(cuPointerSetAttribute)                                                                       \
    X(cuIpcGetMemHandle)                                                                           \
    X(cuMemGetHandleForAddressRange)                                                               \
    X(cuMemRetainAllocationHandle)                                                                 \
    X(cuCtxEnablePeerAccess)

static const struct row rows[] = {OTHERS(EFFECT_ROW) ENDS(EFFECT_ROW) NAMING(EFFECT_ROW)};

int main(int argc, char **argv)
{
    return run_row(rows, COUNT_OF(rows), &rig, argc, argv);
}
