/* warm.h: makes sizes known to the library as those of buffers that are allocated in every step of
 * a graph: with learned backing, what is allocated of these sizes from then on is placed. On rig.h.
 */
#ifndef WARM_H
#define WARM_H

#include "tests/shim/progs/rig.h"

#define WARM_ROUNDS 6 /* more than a profile takes */
#define WARM_MOST   16

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* At most WARM_MOST sizes, each of 8 or more bytes. */
static inline void warm_up(struct rig *rig, const size_t *sizes, size_t count)
{
    CUgraphNode nodes[WARM_MOST];
    CUdeviceptr buffers[WARM_MOST];
    void *args[] = {&rig->p, &rig->a, &rig->b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig->store, args);
    CUgraphExec exec;
    CUgraph graph;

    MUST(cuGraphCreate(&graph, 0));
    for (size_t i = 0; i < count; i++)
        MUST(cuGraphAddKernelNode_v2(&nodes[i], graph, NULL, 0, &params));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int round = 0; round < WARM_ROUNDS; round++) {
        for (size_t i = 0; i < count; i++) {
            MUST(cuMemAlloc_v2(&buffers[i], sizes[i]));
            args[0] = &buffers[i];
            MUST(cuGraphExecKernelNodeSetParams_v2(exec, nodes[i], &params));
        }
        MUST(cuGraphLaunch(exec, NULL));
        MUST(cuCtxSynchronize());
        for (size_t i = 0; i < count; i++)
            MUST(cuMemFree_v2(buffers[i]));
    }
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
}

#endif
