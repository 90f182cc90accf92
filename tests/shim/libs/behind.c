/* behind.c: a library that comes after ours in the search order and reaches the driver with
 * RTLD_NEXT: its setters pass us unseen. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT CUresult behind_set(CUgraphExec exec, CUgraphNode node,
                           const CUDA_KERNEL_NODE_PARAMS_v2 *params);

EXPORT CUresult behind_set(CUgraphExec exec, CUgraphNode node,
                           const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    CUresult (*set)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *) =
        dlsym(RTLD_NEXT, "cuGraphExecKernelNodeSetParams_v2");

    int version;

    /* Linked to the driver itself: only what a library is linked to can be next for it. */
    if (cuDriverGetVersion(&version) != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_INITIALIZED;
    return set ? set(exec, node, params) : CUDA_ERROR_NOT_INITIALIZED;
}
