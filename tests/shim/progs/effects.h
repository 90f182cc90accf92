/* effects.h: what the programs share that go through the rows of shim/entries.h, one row of theirs
 * for each function and named after it. On reports.h, whose line "reach" says what must arrive. */
#ifndef EFFECTS_H
#define EFFECTS_H

#include "tests/shim/progs/reports.h"

/* What the driver answered: the same with the library and without it. */
static inline void answer(CUresult result)
{
    printf("answer %d\n", (int)result);
}

/* A number of the library's statistics. */
static inline void counted(const char *path, unsigned number)
{
    printf("stat %s %u\n", path, number);
}

/* A row of a table made from a list of X(symbol, ...). */
#define EFFECT_ROW(symbol, ...) {#symbol, run_##symbol},

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- things to pass ---- */

static inline const CUDA_KERNEL_NODE_PARAMS_v2 *kernel_params(struct rig *rig, CUfunction function)
{
    static void *args[3];
    static CUDA_KERNEL_NODE_PARAMS_v2 params;

    args[0] = &rig->p;
    args[1] = &rig->a;
    args[2] = &rig->b;
    params = rig_params(function, args);
    return &params;
}

/* The same for a setter or an add of any kind of node. */
static inline CUgraphNodeParams *node_params(struct rig *rig, CUfunction function)
{
    static CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};

    memcpy(&params.kernel, kernel_params(rig, function), sizeof params.kernel);
    return &params;
}

static inline CUDA_GRAPH_INSTANTIATE_PARAMS *with_flags(unsigned long long flags)
{
    static CUDA_GRAPH_INSTANTIATE_PARAMS params;

    params = (CUDA_GRAPH_INSTANTIATE_PARAMS){.flags = flags};
    return &params;
}

/* Its primary context is nobody's. */
static inline CUdevice second_device(void)
{
    CUdevice device;

    MUST(cuDeviceGet(&device, 1));
    return device;
}

static inline CUevent new_event(void)
{
    CUevent event;

    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

/* What a batch node does: one word is written. */
static inline const CUDA_BATCH_MEM_OP_NODE_PARAMS *batch(const struct rig *rig)
{
    static CUstreamBatchMemOpParams operation;
    static CUDA_BATCH_MEM_OP_NODE_PARAMS params;

    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = rig->buffer;
    params.ctx = rig->context;
    params.count = 1;
    params.paramArray = &operation;
    return &params;
}

/* Nodes in the rig's graph. */
static inline CUgraphNode record_node(struct rig *rig)
{
    CUgraphNode node;

    MUST(cuGraphAddEventRecordNode(&node, rig->graph, NULL, 0, new_event()));
    return node;
}

static inline CUgraphNode wait_node(struct rig *rig)
{
    CUgraphNode node;

    MUST(cuGraphAddEventWaitNode(&node, rig->graph, NULL, 0, new_event()));
    return node;
}

static inline CUgraphNode batch_node(struct rig *rig)
{
    CUgraphNode node;

    MUST(cuGraphAddBatchMemOpNode(&node, rig->graph, NULL, 0, batch(rig)));
    return node;
}

/* The setter of a kernel node, with the rig's arguments. */
static inline CUresult set_kernel(struct rig *rig, CUgraphExec exec, CUgraphNode node)
{
    return cuGraphExecKernelNodeSetParams_v2(exec, node, kernel_params(rig, rig->store));
}

#endif
