/* Devices, primary and created contexts, the stack of current contexts, by their documentation. */
#include "tests/fake/driver_fixture.h"

#include <pthread.h>

TEST(driver_context, device_questions)
{
    char name[64], bus[16];
    CUuuid first, second;
    CUdevice device;
    int value;

    setenv("FAKEVMM_DEVICES", "2", 1);
    OK(cuInit(0));
    T_EQ(cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
    T_EQ(cuDeviceGet(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGet(&device, 1));
    OK(cuDeviceGetName(name, sizeof name, device));
    T_GT(strlen(name), 0);
    OK(cuDeviceGetName(name, 4, device));
    T_EQ(strlen(name), 3);
    OK(cuDeviceGetUuid_v2(&first, 0));
    OK(cuDeviceGetUuid_v2(&second, 1));
    T_ASSERT(memcmp(&first, &second, sizeof first) != 0);
    T_EQ(cuDeviceGetPCIBusId(bus, 4, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(cuDeviceGetByPCIBusId(&device, bus));
    T_EQ(device, 1);
    T_EQ(cuDeviceGetByPCIBusId(&device, "0000:01:00.0"), CUDA_ERROR_INVALID_DEVICE);
    T_EQ(cuDeviceGetByPCIBusId(&device, "pci"), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1));
    T_EQ(value, 32);
    T_EQ(cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 2), CUDA_ERROR_INVALID_DEVICE);
}

TEST(driver_context, every_attribute_has_an_answer)
{
    OK(cuInit(0));
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++) {
        int value;
        T_ASSERT(cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 0) == CUDA_SUCCESS,
                 "attribute %d", i);
    }
}

TEST(driver_context, calls_need_a_current_context)
{
    CUdeviceptr address;
    CUstream stream;
    CUcontext context;

    OK(cuInit(0));
    OK(cuCtxGetCurrent(&context));
    T_NULL(context);
    T_EQ(cuMemAlloc_v2(&address, 4096), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(cuCtxPopCurrent_v2(&context), CUDA_ERROR_INVALID_CONTEXT);
}

static void expect_current(CUcontext expected)
{
    CUcontext context = NULL;

    OK(cuCtxGetCurrent(&context));
    T_PTR_EQ(context, expected);
}

TEST(driver_context, the_stack)
{
    CUcontext first = start(), second, popped;

    OK(cuCtxCreate_v2(&second, 0, 0));
    expect_current(second);
    OK(cuCtxPopCurrent_v2(&popped));
    T_PTR_EQ(popped, second);
    expect_current(first);
    OK(cuCtxPushCurrent_v2(second));
    OK(cuCtxSetCurrent(first)); /* replaces the top */
    OK(cuCtxPopCurrent_v2(NULL));
    expect_current(first);
    OK(cuCtxSetCurrent(NULL)); /* as a pop */
    expect_current(NULL);
    OK(cuCtxSetCurrent(NULL)); /* nothing to pop: no error */
    T_EQ(cuCtxPushCurrent_v2((CUcontext)&second), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(cuCtxSetCurrent((CUcontext)&second), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(driver_context, destroy_pops_the_current_one)
{
    CUcontext first = start(), second;

    OK(cuCtxCreate_v2(&second, 0, 0));
    OK(cuCtxDestroy_v2(second));
    expect_current(first);
    T_EQ(cuCtxDestroy_v2(second), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy_v2(first));
    expect_current(NULL);
}

static void *use_destroyed(void *context)
{
    CUdeviceptr address;

    if (cuCtxSetCurrent(context) != CUDA_SUCCESS || cuCtxDestroy_v2(context) != CUDA_SUCCESS)
        return "set-up";
    return cuMemAlloc_v2(&address, 1) == CUDA_ERROR_INVALID_CONTEXT ? NULL : "popped";
}

TEST(driver_context, a_destroyed_context_stays_current_elsewhere)
{
    CUcontext context = start(), next;
    CUdeviceptr address;
    pthread_t thread;
    void *wrong;

    T_EQ(pthread_create(&thread, NULL, use_destroyed, context), 0);
    pthread_join(thread, &wrong);
    T_STR_EQ((const char *)wrong, NULL);
    T_EQ(cuMemAlloc_v2(&address, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    /* The handle value comes back with the next context, which this thread's entry is not. */
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuCtxCreate_v2(&next, 0, 0));
    T_PTR_EQ(next, context);
}

TEST(driver_context, a_stale_entry_is_not_the_next_context)
{
    CUcontext context = start(), next;
    CUdeviceptr address;

    OK(cuCtxPushCurrent_v2(context));
    OK(cuCtxDestroy_v2(context)); /* pops one of two entries */
    T_EQ(cuMemAlloc_v2(&address, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxCreate_v2(&next, 0, 0));
    T_PTR_EQ(next, context);
    OK(cuMemAlloc_v2(&address, 1));
    OK(cuCtxPopCurrent_v2(NULL));
    T_EQ(cuMemAlloc_v2(&address, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST(driver_context, destroy_ends_what_the_context_owns)
{
    CUcontext first = start(), second;
    size_t before, after, total;
    void *pinned;

    OK(cuMemGetInfo_v2(&before, &total));
    OK(cuCtxCreate_v2(&second, 0, 0));
    CUdeviceptr address = allocate(1 << 20);
    CUstream stream = new_stream(0);
    CUevent event = new_event(0);
    OK(cuMemHostAlloc(&pinned, 4096, 0));
    OK(cuMemsetD8Async(address, 1, 1 << 20, stream)); /* finishes first */
    OK(cuCtxDestroy_v2(second));
    expect_current(first);
    OK(cuMemGetInfo_v2(&after, &total));
    T_EQ(before, after);
    T_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
}

TEST(driver_context, flags)
{
    CUcontext context;
    unsigned flags = 0;

    OK(cuInit(0));
    T_EQ(cuCtxCreate_v2(&context, 0x1000, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuCtxCreate_v2(&context, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, 0),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuCtxCreate_v2(&context, 0, 1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuCtxCreate_v2(&context, CU_CTX_SCHED_BLOCKING_SYNC, 0));
    OK(cuCtxGetFlags(&flags));
    T_EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
    OK(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
    OK(cuCtxGetFlags(&flags));
    T_EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
}

TEST(driver_context, create_forms)
{
    CUctxCreateParams params = {0};
    CUexecAffinityParam affinity = {0};
    CUcontext context;

    OK(cuInit(0));
    OK(cuCtxCreate(&context, 0, 0));
    OK(cuCtxCreate_v3(&context, NULL, 0, 0, 0));
    OK(cuCtxCreate_v4(&context, NULL, 0, 0));
    OK(cuCtxCreate_v4(&context, &params, 0, 0));
    T_EQ(cuCtxCreate_v3(&context, &affinity, 1, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
}

TEST(driver_context, questions)
{
    CUcontext first = start(), second;
    unsigned long long first_id = 0, second_id = 0, third_id = 0;
    unsigned version = 0;
    CUdevice device = -1;

    OK(cuCtxGetId(NULL, &first_id));
    OK(cuCtxCreate_v2(&second, 0, 0));
    OK(cuCtxGetId(second, &second_id));
    T_NE(first_id, second_id);
    OK(cuCtxDestroy_v2(second));
    OK(cuCtxCreate_v2(&second, 0, 0));
    OK(cuCtxGetId(second, &third_id));
    T_NE(third_id, second_id); /* unlike the handle */
    OK(cuCtxGetApiVersion(first, &version));
    T_GT(version, 0);
    OK(cuCtxGetDevice(&device));
    T_EQ(device, 0);
    OK(cuCtxGetDevice_v2(&device, first));
    T_EQ(cuCtxGetDevice_v2(&device, (CUcontext)&device), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSynchronize_v2(first));
}

TEST(driver_context, limits_and_priorities)
{
    int least = 1, greatest = 1;
    size_t value;

    start();
    OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    T_EQ(value, 4096);
    T_EQ(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_INVALID_VALUE);
    /* The documentation bars it from devices of compute capability 9.0 and above. */
    T_EQ(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2), CUDA_ERROR_UNSUPPORTED_LIMIT);
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    T_EQ(least, 0);
    T_LT(greatest, least);
    OK(cuCtxGetStreamPriorityRange(NULL, NULL));
}

/* ---- primary contexts ---- */

static int is_active(void)
{
    unsigned flags;
    int active = -1;

    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    return active;
}

TEST(driver_context, primary_is_counted)
{
    CUcontext first, second;

    OK(cuInit(0));
    T_EQ(is_active(), 0);
    T_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 0));
    T_PTR_EQ(first, second);
    expect_current(NULL); /* retaining makes nothing current */
    T_EQ(is_active(), 1);
    OK(cuCtxSetCurrent(first));
    CUdeviceptr address = allocate(4096);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuMemsetD8_v2(address, 0, 1));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    T_EQ(is_active(), 0);
    expect_current(first); /* and releasing pops nothing */
    T_EQ(cuMemAlloc_v2(&address, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    T_EQ(cuCtxDestroy_v2(first), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(driver_context, primary_is_not_destroyed_like_others)
{
    CUcontext primary;

    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    T_EQ(cuCtxDestroy_v2(primary), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(is_active(), 1);
}

TEST(driver_context, reset_does_not_release)
{
    CUcontext context;
    size_t before, after, total;

    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemGetInfo_v2(&before, &total));
    allocate(1 << 20);
    OK(cuDevicePrimaryCtxReset(0));
    T_EQ(is_active(), 0);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemGetInfo_v2(&after, &total));
    T_EQ(before, after);
    OK(cuDevicePrimaryCtxRelease(0));
    T_EQ(is_active(), 1); /* the first retain is still owed a release */
    OK(cuDevicePrimaryCtxRelease(0));
    T_EQ(is_active(), 0);
}

TEST(driver_context, primary_flags)
{
    CUcontext context;
    unsigned flags = 0;
    int active;

    OK(cuInit(0));
    OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    T_EQ(flags, CU_CTX_SCHED_SPIN);
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    T_EQ(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD), CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
    OK(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_YIELD));
    T_EQ(cuDevicePrimaryCtxSetFlags_v2(0, 0x1000), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuDevicePrimaryCtxSetFlags_v2(7, 0), CUDA_ERROR_INVALID_DEVICE);
}

/* ---- peers ---- */

TEST(driver_context, peer_access)
{
    CUcontext first, second;
    int can = -1;

    setenv("FAKEVMM_DEVICES", "2", 1);
    first = start();
    OK(cuCtxCreate_v2(&second, 0, 1));
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    T_EQ(can, 1);
    OK(cuDeviceCanAccessPeer(&can, 1, 1));
    T_EQ(can, 0);
    T_EQ(cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(cuCtxEnablePeerAccess(first, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuCtxDisablePeerAccess(first), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    OK(cuCtxEnablePeerAccess(first, 0));
    T_EQ(cuCtxEnablePeerAccess(first, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuCtxDisablePeerAccess(first));
}

static CUmemAccess_flags access_of(CUdeviceptr address)
{
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_MAX;

    OK(cuPointerGetAttribute(&flags, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, address));
    return flags;
}

TEST(driver_context, peer_access_is_for_past_and_future_memory)
{
    CUcontext first, second;

    setenv("FAKEVMM_DEVICES", "2", 1);
    first = start();
    CUdeviceptr past = allocate(4096);
    OK(cuCtxCreate_v2(&second, 0, 1));
    T_EQ(access_of(past), CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(cuCtxEnablePeerAccess(first, 0));
    T_EQ(access_of(past), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuCtxPushCurrent_v2(first));
    CUdeviceptr future = allocate(4096);
    OK(cuCtxPopCurrent_v2(NULL));
    T_EQ(access_of(future), CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuCtxDisablePeerAccess(first));
    T_EQ(access_of(future), CU_MEM_ACCESS_FLAGS_PROT_NONE);
}
