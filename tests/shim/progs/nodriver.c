/* nodriver.c: a program that uses the driver if it is there, through weak references, as optional
 * CUDA support does; it is not linked with any driver. Prints "absent", or the answers of two
 * calls. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <stdio.h>

extern CUresult cuGraphLaunch(CUgraphExec, CUstream) __attribute__((weak));
extern CUresult cuModuleUnload(CUmodule) __attribute__((weak));

int main(void)
{
    if (!cuGraphLaunch || !cuModuleUnload) {
        puts("absent");
        return 0;
    }
    printf("%d %d\n", (int)cuGraphLaunch(NULL, NULL), (int)cuModuleUnload(NULL));
    return 0;
}
