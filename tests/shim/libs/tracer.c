/* tracer.c: a preloaded library that counts launches and goes on to the next definition, as tracers
 * do. Compiled as it is, it also wraps instantiate, so that it defines more than one driver
 * function. Prints "traced N M" at exit. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

static int launches, instantiations;

EXPORT CUresult cuGraphLaunch(CUgraphExec a, CUstream b)
{
    CUresult (*next)(CUgraphExec, CUstream) = dlsym(RTLD_NEXT, "cuGraphLaunch");

    launches++;
    return next ? next(a, b) : CUDA_ERROR_NOT_INITIALIZED;
}

EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *a, CUgraph b, unsigned long long c)
{
    CUresult (*next)(CUgraphExec *, CUgraph, unsigned long long) =
        dlsym(RTLD_NEXT, "cuGraphInstantiateWithFlags");

    instantiations++;
    return next ? next(a, b, c) : CUDA_ERROR_NOT_INITIALIZED;
}

__attribute__((destructor)) static void report(void)
{
    if (launches)
        printf("traced %d %d\n", launches, instantiations);
}
