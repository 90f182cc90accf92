/* effects_code.c: calls after which a handle may mean something else: classes ADD, CODE, CONTEXT,
 * PRIMARY, DETACH and GRAPH of shim/effects.h. A row sends a setter, makes the call, sends the same
 * setter again: whatever the driver answered the call, the second one must arrive. */
#include "tests/shim/progs/effects.h"

static struct rig rig;

/* ---- arguments ---- */

static CUmodule new_module(void)
{
    CUmodule module;

    MUST(cuModuleLoadData(&module, rig_ptx));
    return module;
}

static CUlibrary new_library(void)
{
    CUlibrary library;

    MUST(cuLibraryLoadData(&library, rig_ptx, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static CUkernel new_kernel(void)
{
    CUkernel kernel;

    MUST(cuLibraryGetKernel(&kernel, new_library(), "store"));
    return kernel;
}

static CUcontext new_context(void)
{
    CUcontext context;

    MUST(cuCtxCreate_v2(&context, 0, rig.device));
    MUST(cuCtxSetCurrent(rig.context));
    return context;
}

/* A node for a graph that moves into the one that it is added to. */
static CUgraphNodeParams *moving_child(void)
{
    static CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};

    MUST(cuGraphCreate(&params.graph.graph, 0));
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    return &params;
}

/* ---- rows ---- */

#define CALLS(X)                                                                                   \
    X(cuGraphDestroy, rig.graph)                                                                   \
    X(cuGraphAddNode, &(CUgraphNode){NULL}, rig.graph, NULL, 0, moving_child())                    \
    X(cuGraphAddNode_v2, &(CUgraphNode){NULL}, rig.graph, NULL, NULL, 0, moving_child())           \
    X(cuGraphDestroyNode, rig.empty)                                                               \
    X(cuGraphKernelNodeSetParams, rig.kernel[0],                                                   \
      (const CUDA_KERNEL_NODE_PARAMS_v1 *)kernel_params(&rig, rig.other))                          \
    X(cuGraphKernelNodeSetParams_v2, rig.kernel[0], kernel_params(&rig, rig.other))                \
    X(cuGraphNodeSetParams, rig.kernel[0], node_params(&rig, rig.other))                           \
    X(cuGraphMemcpyNodeSetParams, rig.memcpy, &rig.copy)                                           \
    X(cuGraphMemsetNodeSetParams, rig.memset, &rig.fill)                                           \
    X(cuGraphHostNodeSetParams, rig.host, &rig.call)                                               \
    X(cuGraphEventRecordNodeSetEvent, record_node(&rig), new_event())                              \
    X(cuGraphEventWaitNodeSetEvent, wait_node(&rig), new_event())                                  \
    X(cuGraphExternalSemaphoresSignalNodeSetParams, rig.host,                                      \
      &(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS){NULL})                                                    \
    X(cuGraphExternalSemaphoresWaitNodeSetParams, rig.host,                                        \
      &(CUDA_EXT_SEM_WAIT_NODE_PARAMS){NULL})                                                      \
    X(cuGraphBatchMemOpNodeSetParams, batch_node(&rig), batch(&rig))                               \
    X(cuGraphKernelNodeSetAttribute, rig.kernel[0], CU_KERNEL_NODE_ATTRIBUTE_PRIORITY,             \
      &(CUkernelNodeAttrValue){.priority = 0})                                                     \
    X(cuGraphKernelNodeCopyAttributes, rig.kernel[0], rig.kernel[1])                               \
    X(cuModuleUnload, new_module())                                                                \
    X(cuLibraryUnload, new_library())                                                              \
    X(cuFuncSetAttribute, rig.store, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)        \
    X(cuFuncSetCacheConfig, rig.store, CU_FUNC_CACHE_PREFER_L1)                                    \
    X(cuFuncSetSharedMemConfig, rig.store, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE)                 \
    X(cuCtxSetLimit, CU_LIMIT_STACK_SIZE, 2048)                                                    \
    X(cuCtxSetCacheConfig, CU_FUNC_CACHE_PREFER_L1)                                                \
    X(cuCtxSetSharedMemConfig, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE)                             \
    X(cuKernelSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, new_kernel(),   \
      rig.device)                                                                                  \
    X(cuKernelSetCacheConfig, new_kernel(), CU_FUNC_CACHE_PREFER_L1, rig.device)                   \
    X(cuCtxDestroy, new_context())                                                                 \
    X(cuCtxDestroy_v2, new_context())                                                              \
    X(cuCtxDetach, new_context())                                                                  \
    X(cuGreenCtxDestroy, NULL)                                                                     \
    X(cuDevicePrimaryCtxReset, second_device())                                                    \
    X(cuDevicePrimaryCtxReset_v2, second_device())                                                 \
    X(cuDevicePrimaryCtxRelease, second_device())                                                  \
    X(cuDevicePrimaryCtxRelease_v2, second_device())

#define X(symbol, ...)                                                                             \
    static void run_##symbol(void)                                                                 \
    {                                                                                              \
        MUST(rig_setter(&rig));                                                                    \
        answer(symbol(__VA_ARGS__));                                                               \
        answer(rig_setter(&rig));                                                                  \
        reach("cuGraphExecKernelNodeSetParams_v2", 2);                                             \
        reach(#symbol, 1);                                                                         \
    }
CALLS(X)
#undef X

/* The control: nothing in between. */
static void run_control(void)
{
    MUST(rig_setter(&rig));
    MUST(rig_setter(&rig));
    reach("cuGraphExecKernelNodeSetParams_v2", 1);
}

static const struct row rows[] = {EFFECT_ROW(control) CALLS(EFFECT_ROW)};

int main(int argc, char **argv)
{
    return run_row(rows, COUNT_OF(rows), &rig, argc, argv);
}
