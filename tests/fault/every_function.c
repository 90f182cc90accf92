/* every_function.c: FAKEVMM_FAULT reaches every function the driver exports, and a program that
 * goes on after each error it gets, as careless ones do, never makes the fake crash or hang. */
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "tests/fake/vmm_fixture.h"
#include "tests/helpers.h"

#define LIMIT_SECONDS 60

static const struct {
    const char *name;
} rows[] = {
#define FV(symbol, base, since, ptds, impl, params, args) {#symbol},
#include "fakevmm/entries.def"
#undef FV
};

#define ROWS (sizeof rows / sizeof rows[0])

/* ---- each function by itself ---- */

typedef CUresult (*function)(void *, void *, void *, void *, void *, void *, void *, void *, void *,
                             void *, void *, void *, void *, void *, void *, void *);

/* With nothing for arguments: whatever they are, they are null or zero. */
static CUresult call(const char *name)
{
    function f = (function)dlsym(RTLD_DEFAULT, name);

    T_ASSERT(f, "%s is not exported", name);
    return f(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static const char *chosen;

static void call_with_fault(void)
{
    alarm(LIMIT_SECONDS);
    child_say("%d", (int)call(chosen));
    child_say(" %d", (int)call(chosen));
}

/* The call fails before the function sees its arguments. */
TEST(every_function, is_reached)
{
    for (size_t i = 0; i < ROWS; i++) {
        char *setting = t_format("%s:1:CUDA_ERROR_ECC_UNCORRECTABLE:persistent", rows[i].name);
        struct child child;

        chosen = rows[i].name;
        setenv("FAKEVMM_FAULT", setting, 1);
        child = in_child(call_with_fault);
        T_ASSERT(child.exit_code == 0 && !strcmp(child.said, "214 214"),
                 "%s: exit code %d, answers %s", setting, child.exit_code, child.said);
        free(setting);
    }
    unsetenv("FAKEVMM_FAULT");
}

/* ---- a program that never looks at a result ---- */

static CUcontext context;
static CUmodule module;
static CUfunction put_kernel, get_kernel;
static CUdeviceptr plain, spare;
static CUstream stream, second;
static CUevent event, later;

static void nothing(void *unused)
{
}

static void begin(void)
{
    int value;
    size_t size;
    char text[64];
    CUdevice device;
    CUuuid uuid;
    const char *name;
    void *entry;

    cuInit(0);
    cuDriverGetVersion(&value);
    cuDeviceGetCount(&value);
    cuDeviceGet(&device, 0);
    cuDeviceGetName(text, sizeof text, 0);
    cuDeviceGetUuid_v2(&uuid, 0);
    cuDeviceTotalMem_v2(&size, 0);
    cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);
    cuDeviceCanAccessPeer(&value, 0, 0);
    cuGetErrorName(CUDA_ERROR_UNKNOWN, &name);
    cuGetErrorString(CUDA_ERROR_UNKNOWN, &name);
    cuGetProcAddress_v2("cuMemAlloc", &entry, 12000, 0, NULL);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuCtxGetCurrent(&context);
    cuCtxGetDevice(&device);
    cuCtxGetLimit(&size, CU_LIMIT_STACK_SIZE);
    cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048);
    cuCtxGetStreamPriorityRange(&value, &value);
}

static void load(void)
{
    CUlibrary library = NULL;
    CUkernel kernels = NULL;
    int value;
    size_t offset, size;

    cuModuleLoadData(&module, vmm_ptx);
    cuModuleGetFunction(&put_kernel, module, "put");
    cuModuleGetFunction(&get_kernel, module, "get");
    cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, put_kernel);
    cuFuncSetAttribute(put_kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50);
    cuFuncGetParamInfo(put_kernel, 1, &offset, &size);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, put_kernel, 64, 0);
    cuLibraryLoadData(&library, vmm_ptx, NULL, NULL, 0, NULL, NULL, 0);
    cuLibraryGetKernel(&kernels, library, "put");
    cuLibraryGetKernelCount((unsigned *)&value, library);
    cuKernelGetFunction(&put_kernel, kernels);
    cuLibraryUnload(library);
    cuModuleGetFunction(&put_kernel, module, "put");
}

static void use_streams(void)
{
    float milliseconds;
    unsigned long long id;
    int priority;

    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuStreamCreateWithPriority(&second, CU_STREAM_NON_BLOCKING, -1);
    cuStreamGetPriority(second, &priority);
    cuStreamGetId(second, &id);
    cuEventCreate(&event, CU_EVENT_DEFAULT);
    cuEventCreate(&later, CU_EVENT_DEFAULT);
    cuEventRecord(event, stream);
    cuLaunchHostFunc(stream, nothing, NULL);
    cuEventRecordWithFlags(later, stream, 0);
    cuStreamWaitEvent(second, later, 0);
    cuStreamQuery(second);
    cuStreamSynchronize(second);
    cuEventQuery(later);
    cuEventSynchronize(later);
    cuEventElapsedTime_v2(&milliseconds, event, later);
}

static void use_memory(void)
{
    unsigned number = 1;
    size_t size, pitch;
    void *host = NULL;
    CUdeviceptr pitched = 0, pooled = 0, base;
    CUmemoryPool pool = NULL;

    cuMemGetInfo_v2(&size, &size);
    cuMemAlloc_v2(&plain, 4096);
    cuMemAlloc_v2(&spare, 4096);
    cuMemAllocPitch_v2(&pitched, &pitch, 100, 4, 4);
    cuMemHostAlloc(&host, 4096, 0);
    cuMemHostGetDevicePointer_v2(&base, host, 0);
    cuMemGetAddressRange_v2(&base, &size, plain);
    cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, plain);
    cuMemcpyHtoD_v2(plain, &number, sizeof number);
    cuMemcpyDtoD_v2(spare, plain, sizeof number);
    cuMemcpyDtoH_v2(&number, spare, sizeof number);
    cuMemcpyHtoDAsync_v2(plain, &number, sizeof number, stream);
    cuMemcpyDtoDAsync_v2(spare, plain, sizeof number, stream);
    cuMemcpyDtoHAsync_v2(&number, spare, sizeof number, stream);
    cuMemcpyAsync(spare, plain, sizeof number, stream);
    cuMemsetD8_v2(plain, 1, 64);
    cuMemsetD16_v2(plain, 1, 32);
    cuMemsetD32_v2(plain, 1, 16);
    cuMemsetD8Async(plain, 1, 64, stream);
    cuMemsetD32Async(plain, 1, 16, stream);
    cuMemsetD2D8_v2(pitched, pitch, 1, 100, 4);
    cuMemAllocAsync(&pooled, 4096, stream);
    cuDeviceGetDefaultMemPool(&pool, 0);
    cuMemPoolTrimTo(pool, 0);
    cuMemFreeAsync(pooled, stream);
    cuStreamSynchronize(stream);
    cuMemFree_v2(pitched);
    cuMemFreeHost(host);
}

static void use_mappings(void)
{
    CUmemAllocationProp prop = prop_on(0), granted;
    CUmemAccessDesc access = access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemGenericAllocationHandle handle = 0, again = 0;
    CUdeviceptr base = 0;
    size_t granule;
    unsigned long long flags;

    cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    cuMemAddressReserve(&base, GRANULE, 0, 0, 0);
    cuMemCreate(&handle, GRANULE, &prop, 0);
    cuMemMap(base, GRANULE, 0, handle, 0);
    cuMemSetAccess(base, GRANULE, &access, 1);
    cuMemGetAccess(&flags, &access.location, base);
    cuMemRetainAllocationHandle(&again, (void *)base);
    cuMemGetAllocationPropertiesFromHandle(&granted, handle);
    cuMemRelease(again);
    cuMemsetD8_v2(base, 1, 4096);
    cuCtxSynchronize(); /* unmapping does not wait */
    cuMemUnmap(base, GRANULE);
    cuMemRelease(handle);
    cuMemAddressFree(base, GRANULE);
}

static void use_arrays(void)
{
    CUDA_ARRAY_DESCRIPTOR shape = {16, 16, CU_AD_FORMAT_UNSIGNED_INT32, 1};
    CUarray array = NULL;
    unsigned bytes[16 * 16] = {0};

    cuArrayCreate_v2(&array, &shape);
    cuArrayGetDescriptor_v2(&shape, array);
    cuMemcpyHtoA_v2(array, 0, bytes, 64);
    cuMemcpyAtoH_v2(bytes, array, 0, 64);
    cuArrayDestroy(array);
}

static void launch_kernels(void)
{
    unsigned number = 2;
    void *params[] = {&plain, &number}, *both[] = {&plain, &spare};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, stream, NULL, 0};

    cuLaunchKernel(put_kernel, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
    cuLaunchKernelEx(&config, get_kernel, both, NULL);
    cuLaunchCooperativeKernel(put_kernel, 1, 1, 1, 1, 1, 1, 0, stream, params);
    cuStreamSynchronize(stream);
}

static CUDA_KERNEL_NODE_PARAMS kernel_node(void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){put_kernel, 1, 1, 1, 1, 1, 1, 0, params, NULL, NULL, NULL};
}

static void use_graphs(void)
{
    unsigned number = 3;
    CUDA_KERNEL_NODE_PARAMS kernel_params = kernel_node((void *[]){&plain, &number}), got;
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = plain, .elementSize = 1, .width = 64, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = plain,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = spare,
                          .WidthInBytes = 64,
                          .Height = 1,
                          .Depth = 1};
    CUDA_HOST_NODE_PARAMS host = {nothing, NULL};
    CUgraph graph = NULL, clone = NULL;
    CUgraphNode nodes[5] = {NULL}, found = NULL;
    CUgraphNodeType type;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    size_t count = 0;
    unsigned enabled;

    cuGraphCreate(&graph, 0);
    cuGraphAddKernelNode_v2(&nodes[0], graph, NULL, 0, &kernel_params);
    cuGraphAddMemsetNode(&nodes[1], graph, nodes, 1, &fill, context);
    cuGraphAddMemcpyNode(&nodes[2], graph, nodes, 2, &copy, context);
    cuGraphAddHostNode(&nodes[3], graph, nodes, 1, &host);
    cuGraphAddEmptyNode(&nodes[4], graph, NULL, 0);
    cuGraphAddDependencies(graph, &nodes[3], &nodes[4], 1);
    cuGraphGetNodes(graph, NULL, &count);
    cuGraphGetEdges(graph, NULL, NULL, &count);
    cuGraphGetRootNodes(graph, NULL, &count);
    cuGraphNodeGetDependencies(nodes[2], NULL, &count);
    cuGraphNodeGetType(nodes[0], &type);
    cuGraphKernelNodeGetParams_v2(nodes[0], &got);
    cuGraphKernelNodeSetParams_v2(nodes[0], &kernel_params);
    cuGraphClone(&clone, graph);
    cuGraphNodeFindInClone(&found, nodes[0], clone);
    cuGraphInstantiateWithFlags(&exec, graph, 0);
    cuGraphUpload(exec, stream);
    cuGraphLaunch(exec, stream);
    cuGraphExecKernelNodeSetParams_v2(exec, nodes[0], &kernel_params);
    cuGraphExecMemsetNodeSetParams(exec, nodes[1], &fill, context);
    cuGraphExecMemcpyNodeSetParams(exec, nodes[2], &copy, context);
    cuGraphExecHostNodeSetParams(exec, nodes[3], &host);
    cuGraphNodeSetEnabled(exec, nodes[0], 0);
    cuGraphNodeGetEnabled(exec, nodes[0], &enabled);
    cuGraphExecUpdate_v2(exec, clone, &info);
    cuGraphLaunch(exec, stream);
    cuStreamSynchronize(stream);
    cuGraphExecDestroy(exec);
    cuGraphDestroyNode(nodes[4]);
    cuGraphDestroy(clone);
    cuGraphDestroy(graph);
}

static void capture(void)
{
    unsigned number = 4;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    cuThreadExchangeStreamCaptureMode(&mode);
    cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    cuStreamIsCapturing(stream, &status);
    cuLaunchKernel(put_kernel, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&plain, &number}, NULL);
    cuEventRecord(event, stream);
    cuStreamWaitEvent(second, event, 0);
    cuMemsetD8Async(spare, 1, 64, second);
    cuEventRecord(later, second);
    cuStreamWaitEvent(stream, later, 0);
    cuStreamEndCapture(stream, &graph);
    cuGraphInstantiateWithFlags(&exec, graph, 0);
    cuGraphLaunch(exec, stream);
    cuStreamSynchronize(stream);
    cuGraphExecDestroy(exec);
    cuGraphDestroy(graph);
}

static void end(void)
{
    CUcontext own = NULL;

    cuMemFree_v2(plain);
    cuMemFree_v2(spare);
    cuEventDestroy_v2(event);
    cuEventDestroy_v2(later);
    cuStreamDestroy_v2(stream);
    cuStreamDestroy_v2(second);
    cuModuleUnload(module);
    cuCtxSynchronize();
    cuCtxCreate_v2(&own, 0, 0);
    cuCtxPushCurrent_v2(own);
    cuCtxPopCurrent_v2(&own);
    cuCtxDestroy_v2(own);
    cuDevicePrimaryCtxReset_v2(0);
    cuDevicePrimaryCtxRelease_v2(0);
}

static void careless(void)
{
    alarm(LIMIT_SECONDS);
    begin();
    load();
    use_streams();
    use_memory();
    use_mappings();
    use_arrays();
    launch_kernels();
    use_graphs();
    capture();
    end();
}

/* It may fail as it likes, but ends by itself. */
static void run_with(const char *name, long long nth, const char *suffix)
{
    char *setting = t_format("%s:%lld%s", name, nth, suffix);
    struct child child;

    setenv("FAKEVMM_FAULT", setting, 1);
    child = in_child(careless);
    T_ASSERT(child.exit_code == 0, "%s: exit code %d\n%s", setting, child.exit_code, child.err);
    free(setting);
}

/* What the program calls when nothing fails, by function. */
static struct t_json count_calls(void)
{
    char file[] = P_tmpdir "/every_function.XXXXXX";
    struct child child;
    struct t_json counts;

    close(mkstemp(file));
    setenv("FAKEVMM_COUNTS", file, 1);
    child = in_child(careless);
    T_EQ(child.exit_code, 0);
    T_STR_EQ(child.err, ""); /* all of it is implemented */
    unsetenv("FAKEVMM_COUNTS");
    counts = t_json_read(file);
    unlink(file);
    return counts;
}

/* Beside the first two calls the middle one and the last are different places in the program. */
static void fail_each(const char *suffix)
{
    struct t_json counts = count_calls();

    T_GT(counts.count, 120);
    for (size_t i = 0; i < ROWS; i++) {
        long long calls = t_json_get(&counts, rows[i].name, 0);
        run_with(rows[i].name, 1, suffix);
        if (calls > 1)
            run_with(rows[i].name, 2, suffix);
        if (calls > 3)
            run_with(rows[i].name, calls / 2 + 1, suffix);
        if (calls > 2)
            run_with(rows[i].name, calls, suffix);
    }
    unsetenv("FAKEVMM_FAULT");
    t_json_free(&counts);
}

TEST(every_function, fails_once)
{
    fail_each("");
}

TEST(every_function, fails_for_good)
{
    fail_each(":CUDA_ERROR_UNKNOWN:persistent");
}
