/* converter.c: a preloaded library that answers the first form of the kernel setter by the second,
 * by its global name, as libraries that serve programs of an older CUDA do. Prints "converted N" at
 * exit. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int converted;

__attribute__((visibility("default"))) CUresult
cuGraphExecKernelNodeSetParams(CUgraphExec a, CUgraphNode b, const CUDA_KERNEL_NODE_PARAMS_v1 *c)
{
    CUresult (*second)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *) =
        (CUresult(*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *))dlsym(
            RTLD_DEFAULT, "cuGraphExecKernelNodeSetParams_v2");
    CUDA_KERNEL_NODE_PARAMS_v2 params = {0};

    converted++;
    memcpy(&params, c, sizeof *c);
    return second ? second(a, b, &params) : CUDA_ERROR_NOT_INITIALIZED;
}

__attribute__((destructor)) static void report(void)
{
    if (converted)
        printf("converted %d\n", converted);
}
