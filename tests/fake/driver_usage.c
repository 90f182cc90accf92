/* Older and rarer calls about contexts and devices, by their documentation. */
#include "tests/fake/driver_fixture.h"

#include <cudaProfiler.h>
#include <limits.h>

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

TEST(driver_usage, attached_contexts_are_counted)
{
    CUcontext attached, current;

    CUcontext context = start();
    REFUSED(cuCtxAttach(NULL, 0));
    REFUSED(cuCtxAttach(&attached, 1));
    OK(cuCtxAttach(&attached, 0));
    T_PTR_EQ(attached, context);
    OK(cuCtxDetach(context));
    OK(cuCtxGetCurrent(&current));
    T_PTR_EQ(current, context);
    OK(cuCtxDetach(context)); /* the last one destroys it */
    OK(cuCtxGetCurrent(&current));
    T_NULL(current);
    T_EQ(cuCtxDetach(context), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(cuCtxAttach(&attached, 0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(driver_usage, detach_wants_the_current_context)
{
    CUcontext first = start(), second = start();

    T_EQ(cuCtxDetach(first), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDetach(second));
    OK(cuCtxDetach(first));
}

TEST(driver_usage, a_primary_context_outlives_its_attachments)
{
    CUcontext primary, attached;

    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    T_EQ(cuCtxDetach(primary), CUDA_ERROR_INVALID_CONTEXT); /* not from cuCtxCreate or Attach */
    OK(cuCtxAttach(&attached, 0));
    OK(cuCtxDetach(primary));
    OK(cuCtxSynchronize());
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

TEST(driver_usage, hints)
{
    CUsharedconfig config;
    CUexecAffinityParam affinity;
    size_t limit;

    T_EQ(cuInit(0), CUDA_SUCCESS);
    T_EQ(cuCtxGetSharedMemConfig(&config), CUDA_ERROR_INVALID_CONTEXT);
    start();
    OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    OK(cuCtxGetSharedMemConfig(&config)); /* nothing happens where the size is fixed */
    T_EQ(config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    REFUSED(cuCtxSetSharedMemConfig((CUsharedconfig)3));
    REFUSED(cuCtxGetSharedMemConfig(NULL));
    OK(cuCtxResetPersistingL2Cache());
    REFUSED(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_MAX));
    T_EQ(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
         CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    OK(cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 1000)); /* 0 to 128: clamped */
    OK(cuCtxGetLimit(&limit, CU_LIMIT_MAX_L2_FETCH_GRANULARITY));
    T_EQ(limit, 128);
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 << 20));
    OK(cuCtxGetLimit(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
    T_GE(limit, 32 << 20);
    OK(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                  CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
    REFUSED(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                       (CUflushGPUDirectRDMAWritesScope)7));
}

TEST(driver_usage, profiler)
{
    OK(cuInit(0));
    T_EQ(cuProfilerStart(), CUDA_ERROR_INVALID_CONTEXT);
    start();
    OK(cuProfilerStart());
    OK(cuProfilerStart());
    OK(cuProfilerStop());
    T_EQ(cuProfilerInitialize("in", "out", CU_OUT_CSV), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(driver_usage, devices)
{
    CUatomicOperation operations[2] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
    unsigned capabilities[2] = {9, 9}, bytes, mask;
    size_t all, width;
    char luid[8];
    int native;

    setenv("FAKEVMM_DEVICES", "2", 1);
    setenv("FAKEVMM_MEMORY", "8G", 1);
    OK(cuInit(0));
    OK(cuDeviceTotalMem_v2(&all, 0));
    OK(cuDeviceTotalMem(&bytes, 0));
    T_EQ(bytes, all < UINT_MAX ? all : UINT_MAX);
    T_EQ(cuDeviceTotalMem(&bytes, 2), CUDA_ERROR_INVALID_DEVICE);
    REFUSED(cuDeviceTotalMem(NULL, 0));
    T_EQ(cuDeviceGetLuid(luid, &mask, 2), CUDA_ERROR_INVALID_DEVICE);
    REFUSED(cuDeviceGetLuid(NULL, &mask, 0));
    OK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 4, 0));
    T_GT(width, 0);
    REFUSED(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 3, 0));
    REFUSED(cuDeviceGetTexture1DLinearMaxWidth(NULL, CU_AD_FORMAT_FLOAT, 1, 0));

    OK(cuDeviceGetAttribute(&native, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 0));
    OK(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
    T_EQ(capabilities[1] != 0, native);
    REFUSED(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 0, 0));
    REFUSED(cuDeviceGetHostAtomicCapabilities(NULL, operations, 1, 0));
    operations[1] = CU_ATOMIC_OPERATION_MAX;
    REFUSED(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
    T_EQ(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 1, 5),
         CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetP2PAttribute(&native, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 0, 1));
    OK(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 1, 0, 1));
    T_EQ(capabilities[0] != 0, native);
    T_EQ(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 1, 1, 1),
         CUDA_ERROR_INVALID_DEVICE);
}

TEST(driver_usage, core_dump_settings)
{
    bool flag = true;
    char name[1024];
    size_t size = sizeof flag;
    int flags;

    start();
    OK(cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &flag, &size));
    T_EQ(flag, false);
    OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_TRIGGER_HOST, &flag, &size));
    T_EQ(flag, true);
    OK(cuCoredumpGetAttribute(CU_COREDUMP_FILE, NULL, &size)); /* asks for the size */
    T_GT(size, 0);
    size = sizeof name;
    OK(cuCoredumpGetAttribute(CU_COREDUMP_FILE, name, &size));
    T_EQ(strncmp(name, "core.cuda.", 10), 0);
    size = 4;
    OK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, (char[]){"out"}, &size));
    size = sizeof name;
    OK(cuCoredumpGetAttribute(CU_COREDUMP_FILE, name, &size));
    T_EQ(strcmp(name, "out"), 0);

    size = sizeof flag;
    flag = true; /* for this context alone */
    OK(cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &flag, &size));
    OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &flag, &size));
    T_EQ(flag, false);
    OK(cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &flag, &size));
    T_EQ(flag, true);
    size = sizeof flags, flags = CU_COREDUMP_LIGHTWEIGHT_FLAGS;
    OK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    flags = 1 << 20;
    REFUSED(cuCoredumpSetAttributeGlobal(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    REFUSED(cuCoredumpGetAttribute(CU_COREDUMP_MAX, NULL, &size));
    REFUSED(cuCoredumpGetAttribute(CU_COREDUMP_FILE, NULL, NULL));
}
