/* apart.c: a library with a graph of its own, opened with RTLD_DEEPBIND: its calls go to the driver
 * it is linked to, past everything that is preloaded. */
#include "tests/shim/progs/rig.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned long long apart_result(unsigned long long b);

/* The sum that its kernels store with `b`, all parameters sent anew. */
unsigned long long apart_result(unsigned long long b)
{
    static struct rig rig;
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    unsigned long long result = 0;

    if (!rig.exec)
        rig_up(&rig);
    rig.b = b;
    params = rig_params(rig.store, args);
    for (int node = 0; node < 2; node++)
        MUST(cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[node], &params));
    MUST(cuGraphLaunch(rig.exec, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH_v2(&result, rig.buffer, sizeof(result)));
    return result;
}
