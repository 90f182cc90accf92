/* The fake runtime's device group, its errors and the last error, by their documentation. */
#include "tests/fake/cudart_kernels.h"

#include <cuda_profiler_api.h>

TEST(cudart_device, versions_are_13_0)
{
    int version = 0;

    OK(cudaRuntimeGetVersion(&version));
    T_EQ(version, 13000);
    OK(cudaDriverGetVersion(&version));
    T_GE(version, 13000);
    T_EQ(cudaRuntimeGetVersion(NULL), cudaErrorInvalidValue);
}

TEST(cudart_device, counts_and_chooses)
{
    int count = 0, device = -1;

    OK(cudaGetDeviceCount(&count));
    T_GE(count, 1);
    OK(cudaGetDevice(&device));
    T_EQ(device, 0);
    OK(cudaSetDevice(count - 1));
    OK(cudaGetDevice(&device));
    T_EQ(device, count - 1);
    T_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
    T_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    OK(cudaGetDevice(&device));
    T_EQ(device, count - 1);
}

TEST(cudart_device, devices_of_the_environment)
{
    int count = 0, device = -1;

    setenv("FAKEVMM_DEVICES", "3", 1);
    OK(cudaGetDeviceCount(&count));
    T_EQ(count, 3);
    OK(cudaSetDevice(2));
    OK(cudaGetDevice(&device));
    T_EQ(device, 2);
}

TEST(cudart_device, properties_agree_with_attributes)
{
    struct cudaDeviceProp prop;
    size_t available = 0, total = 0;
    int value = 0;

    OK(cudaGetDeviceProperties(&prop, 0));
    T_ASSERT(prop.name[0] != '\0');
    T_EQ(prop.warpSize, 32);
    T_EQ(prop.unifiedAddressing, 1);
    T_GE(prop.maxThreadsPerBlock, 1);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    T_EQ(prop.multiProcessorCount, value);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    T_EQ(prop.major, value);
    OK(cudaMemGetInfo(&available, &total));
    T_EQ(prop.totalGlobalMem, total);
    T_LE(available, total);
    T_EQ(cudaGetDeviceProperties(&prop, 999), cudaErrorInvalidDevice);
    T_EQ(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
}

TEST(cudart_device, peers_are_devices)
{
    int can = -1;

    setenv("FAKEVMM_DEVICES", "2", 1);
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    T_ASSERT(can == 0 || can == 1);
    T_EQ(cudaDeviceCanAccessPeer(&can, 0, 2), cudaErrorInvalidDevice);
}

TEST(cudart_device, limits_can_be_set)
{
    size_t value = 0;

    OK(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
    OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    T_GE(value, 2048);
}

TEST(cudart_device, reset_starts_over)
{
    void *memory = NULL;
    struct cudaPointerAttributes attributes;

    OK(cudaMalloc(&memory, 4096));
    OK(cudaDeviceReset());
    OK(cudaPointerGetAttributes(&attributes, memory));
    T_EQ(attributes.type, cudaMemoryTypeUnregistered);
    OK(cudaMalloc(&memory, 4096));
    OK(cudaFree(memory));
    OK(cudaDeviceReset());
    OK(cudaDeviceReset());
}

TEST(cudart_device, the_last_error_is_kept_until_asked_for)
{
    OK(cudaGetLastError());
    T_EQ(cudaSetDevice(999), cudaErrorInvalidDevice);
    OK(cudaDeviceSynchronize()); /* a success does not clear it */
    T_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    T_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    OK(cudaPeekAtLastError());
    OK(cudaGetLastError());
}

TEST(cudart_device, errors_have_names)
{
    T_STR_EQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    T_STR_EQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    T_STR_EQ(cudaGetErrorName(cudaErrorGraphExecUpdateFailure), "cudaErrorGraphExecUpdateFailure");
    T_STR_EQ(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    T_STR_EQ(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
    T_STR_EQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

TEST(cudart_device, what_concerns_the_whole_device_succeeds)
{
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
    OK(cudaCtxResetPersistingL2Cache());
}
