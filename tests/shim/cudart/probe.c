/* cudart_probe.c: starts the CUDA runtime it is linked with and prints its answer. Built against
 * the toolkit's own runtime, static and shared, to see which driver functions that asks for. */
#include <cuda_runtime_api.h>
#include <stdio.h>

int main(void)
{
    int devices = 0;

    printf("error %d\n", (int)cudaGetDeviceCount(&devices));
    return 0;
}
