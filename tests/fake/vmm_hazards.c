/* Memory taken away under work is found under FAKEVMM_STRICT=1, what is left at the end is told
 * under FAKEVMM_LEAKS=1, and the switches of FAKEVMM_MODEL that concern memory have both answers.
 */
#include "tests/fake/vmm_fixture.h"

#define STRICT_EXIT 97

static atomic_bool open_gate;

/* A stream whose work waits until release_stream(). */
static CUstream held_stream(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);

    close_gate(stream, &open_gate);
    return stream;
}

static void release_stream(CUstream stream)
{
    atomic_store(&open_gate, true);
    cuStreamSynchronize(stream); /* may report what the unmapping has done */
}

static struct child strictly(void (*run)(void))
{
    setenv("FAKEVMM_STRICT", "1", 1);
    return in_child(run);
}

/* The line names the call, the range and the work, once. */
static void found(void (*run)(void), const char *call, const char *work)
{
    struct child child = strictly(run);
    char *line = strstr(child.err, "fakevmm: hazard: ");

    T_EQ(child.exit_code, STRICT_EXIT);
    T_NOT_NULL(line);
    T_STR_HAS(line, call);
    T_STR_HAS(line, work);
    T_STR_HAS(line, child.said); /* the range's start */
    T_NULL(strstr(strchr(line, '\n'), "hazard: "));
}

static void not_found(void (*run)(void))
{
    struct child child = strictly(run);

    T_EQ(child.exit_code, 0);
    T_NULL(strstr(child.err, "hazard"));
}

static void unmap_and_say(CUdeviceptr base)
{
    child_say("0x%llx", base);
    OK(cuMemUnmap(base, GRANULE));
}

/* ---- unmap under queued work ---- */

static void unmap_under_kernel(void)
{
    unsigned v = 1;

    start();
    CUdeviceptr base = map_new(GRANULE), p = base + 8;
    CUstream stream = held_stream();
    launch(kernel("put"), stream, (void *[]){&p, &v});
    unmap_and_say(base);
    release_stream(stream);
}

static void unmap_under_copy(void)
{
    start();
    CUdeviceptr base = map_new(GRANULE), plain = allocate(64);
    CUstream stream = held_stream();
    OK(cuMemcpyDtoDAsync_v2(plain, base + GRANULE - 64, 64, stream));
    unmap_and_say(base);
    release_stream(stream);
}

static void unmap_under_memset(void)
{
    start();
    CUdeviceptr base = map_new(GRANULE);
    CUstream stream = held_stream();
    OK(cuMemsetD2D8Async(base, 4096, 1, 16, 4, stream));
    unmap_and_say(base);
    release_stream(stream);
}

static CUgraphExec graph_with(void (*add)(CUgraph graph, CUcontext context, CUdeviceptr base),
                              CUcontext context, CUdeviceptr base)
{
    CUgraph graph;
    CUgraphExec exec;

    OK(cuGraphCreate(&graph, 0));
    add(graph, context, base);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void add_put(CUgraph graph, CUcontext context, CUdeviceptr base)
{
    unsigned v = 1;
    CUdeviceptr p = base + 4;
    CUDA_KERNEL_NODE_PARAMS params = {kernel("put"),      1,    1,    1,   1, 1, 1, 0,
                                      (void *[]){&p, &v}, NULL, NULL, NULL};
    CUgraphNode node;

    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &params));
}

static CUDA_MEMCPY3D copy_from(CUdeviceptr from, CUdeviceptr to)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .WidthInBytes = 64,
                           .Height = 1,
                           .Depth = 1};
}

static void add_copy(CUgraph graph, CUcontext context, CUdeviceptr base)
{
    CUDA_MEMCPY3D copy = copy_from(base, allocate(64));
    CUgraphNode node;

    OK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
}

static void add_memset(CUgraph graph, CUcontext context, CUdeviceptr base)
{
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = base, .elementSize = 1, .width = 64, .height = 1};
    CUgraphNode node;

    OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
}

static void unmap_under_graph(void (*add)(CUgraph graph, CUcontext context, CUdeviceptr base))
{
    CUcontext context = start();
    CUdeviceptr base = map_new(GRANULE);
    CUgraphExec exec = graph_with(add, context, base);
    CUstream stream = held_stream();

    OK(cuGraphLaunch(exec, stream));
    unmap_and_say(base);
    release_stream(stream);
}

static void unmap_under_graph_kernel(void)
{
    unmap_under_graph(add_put);
}

static void unmap_under_graph_copy(void)
{
    unmap_under_graph(add_copy);
}

static void unmap_under_graph_memset(void)
{
    unmap_under_graph(add_memset);
}

TEST(vmm_hazards, unmap_under_queued_work)
{
    found(unmap_under_kernel, "cuMemUnmap", "queued put");
    found(unmap_under_copy, "cuMemUnmap", "queued copy");
    found(unmap_under_memset, "cuMemUnmap", "queued memset");
    found(unmap_under_graph_kernel, "cuMemUnmap", "put");
    found(unmap_under_graph_copy, "cuMemUnmap", "memcpy node");
    found(unmap_under_graph_memset, "cuMemUnmap", "memset node");
}

/* Nobody knows before it runs where a kernel will go; where it has been is known then. */
static void unmap_where_a_kernel_has_been(void)
{
    CUdeviceptr base, table, flag;
    unsigned *host, v = 7;
    CUstream stream;

    start();
    base = map_new(GRANULE);
    table = allocate(8);
    OK(cuMemcpyHtoD_v2(table, &base, sizeof base)); /* the kernel is not given the address */
    OK(cuMemHostAlloc((void **)&host, 4, 0));
    __atomic_store_n(host, 0, __ATOMIC_RELAXED);
    flag = (CUdeviceptr)host;
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    launch(kernel("follow"), stream, (void *[]){&table, &flag, &v});
    while (__atomic_load_n(host, __ATOMIC_RELAXED) != 1)
        sched_yield();
    unmap_and_say(base);
    __atomic_store_n(host, 2, __ATOMIC_RELAXED);
    cuStreamSynchronize(stream);
}

TEST(vmm_hazards, unmap_where_a_kernel_has_been)
{
    found(unmap_where_a_kernel_has_been, "cuMemUnmap", "running kernel follow");
}

static void unmap_beside_the_work(void)
{
    unsigned v = 1;

    start();
    CUdeviceptr base = map_new(GRANULE), other = map_new(GRANULE), end = base + GRANULE;
    CUstream stream = held_stream();
    launch(kernel("put"), stream, (void *[]){&other, &v});
    OK(cuMemsetD8Async(other, 1, GRANULE, stream));
    if (end != other) /* a pointer behind the range is not in it */
        OK(cuMemcpyDtoDAsync_v2(other, other + 64, 64, stream));
    unmap_and_say(base);
    release_stream(stream);
    OK(cuMemUnmap(other, GRANULE));
}

static void unmap_after_the_work(void)
{
    unsigned v = 1;

    start();
    CUdeviceptr base = map_new(GRANULE);
    CUgraphExec exec = graph_with(add_put, NULL, base);
    launch(kernel("put"), NULL, (void *[]){&base, &v});
    OK(cuGraphLaunch(exec, NULL));
    OK(cuMemsetD8Async(base, 1, GRANULE, NULL));
    OK(cuCtxSynchronize());
    unmap_and_say(base);
}

TEST(vmm_hazards, what_is_no_hazard)
{
    not_found(unmap_beside_the_work);
    not_found(unmap_after_the_work);
}

/* Without FAKEVMM_STRICT the exit status is the program's. */
TEST(vmm_hazards, only_when_asked_for)
{
    struct child child = in_child(unmap_under_copy);

    T_EQ(child.exit_code, 0);
    T_NULL(strstr(child.err, "hazard"));
}

/* ---- free ---- */

static void free_under_work(void)
{
    start();
    CUdeviceptr plain = allocate(4096);
    CUstream stream = held_stream();
    OK(cuMemsetD8Async(plain, 1, 4096, stream));
    child_say("0x%llx", plain);
    OK(cuMemFree_v2(plain)); /* returns although the stream is held */
    release_stream(stream);
}

TEST(vmm_hazards, free_that_does_not_wait)
{
    setenv("FAKEVMM_MODEL", "free=async", 1);
    found(free_under_work, "cuMemFree", "queued memset");
}

static void free_behind_work(void)
{
    start();
    CUdeviceptr plain = allocate(64 * MIB);
    for (int i = 0; i < 4; i++)
        OK(cuMemsetD32Async(plain, 1, 16 * MIB, NULL));
    OK(cuMemFree_v2(plain));
    OK(cuCtxSynchronize());
}

TEST(vmm_hazards, free_that_waits)
{
    setenv("FAKEVMM_MODEL", "free=sync", 1);
    not_found(free_behind_work);
    unsetenv("FAKEVMM_MODEL"); /* the default */
    not_found(free_behind_work);
}

static void free_in_stream_order(void)
{
    start();
    CUdeviceptr plain = allocate(4096);
    size_t before = free_memory();
    CUstream stream = held_stream();
    OK(cuMemsetD8Async(plain, 1, 4096, stream));
    OK(cuMemFreeAsync(plain, stream));
    T_EQ(cuMemFreeAsync(plain, stream), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemFree_v2(plain), CUDA_ERROR_INVALID_VALUE);
    release_stream(stream);
    OK(cuStreamSynchronize(stream));
    T_GT(free_memory(), before);
    T_EQ(cuMemFreeAsync(map_new(GRANULE), stream), CUDA_ERROR_INVALID_VALUE);
}

static void free_in_no_order(void)
{
    start();
    CUdeviceptr plain = allocate(4096);
    CUstream held = held_stream(), stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemsetD8Async(plain, 1, 4096, held));
    child_say("0x%llx", plain);
    OK(cuMemFreeAsync(plain, stream));
    OK(cuStreamSynchronize(stream));
    release_stream(held);
}

/* Each launch allocates the memory, which the stream frees behind it. */
static void free_between_launches(void)
{
    CUcontext context = start();
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 64};
    CUDA_MEMSET_NODE_PARAMS fill = {.elementSize = 4, .width = 16, .height = 1};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;

    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &alloc));
    fill.dst = alloc.dptr;
    OK(cuGraphAddMemsetNode(&node, graph, &node, 1, &fill, context));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUstream stream = held_stream();
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuMemFreeAsync(alloc.dptr, stream));
    }
    release_stream(stream);
    OK(cuStreamSynchronize(stream));
}

TEST(vmm_hazards, free_async)
{
    not_found(free_in_stream_order);
    not_found(free_between_launches);
    found(free_in_no_order, "cuMemFreeAsync", "queued memset");
}

/* ---- leaks ---- */

static void leave_some(void)
{
    CUcontext context = start();
    CUmodule module;
    CUlibrary library;
    CUgraph graph;
    CUgraphNode child;
    CUstream stream;
    void *host;

    OK(cuModuleLoadData(&module, vmm_ptx));
    OK(cuLibraryLoadData(&library, vmm_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetModule(&module, library)); /* goes with the library */
    stream = new_stream(0);
    new_event(0);
    OK(cuStreamDestroy_v2(new_stream(0)));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddChildGraphNode(&child, graph, NULL, 0, graph)); /* its copy goes with the node */
    graph_with(add_memset, context, allocate(64));
    allocate(64);
    OK(cuMemHostAlloc(&host, 64, 0));
    create_on(0, GRANULE);
    create_on(0, GRANULE);
    map_new(GRANULE);
    reserve(GRANULE);
    OK(cuStreamSynchronize(stream));
    exit(3);
}

static void leave_nothing(void)
{
    CUcontext context = start();
    CUdeviceptr base = map_new(GRANULE), plain = allocate(64);

    OK(cuMemUnmap(base, GRANULE));
    OK(cuMemAddressFree(base, GRANULE));
    OK(cuMemFree_v2(plain));
    OK(cuCtxDestroy_v2(context));
}

TEST(vmm_hazards, leaks)
{
    static const char *const lines[] = {
        "leak context 1\n",    "leak module 1\n",      "leak library 1\n", "leak stream 1\n",
        "leak event 1\n",      "leak graph 2\n",       "leak exec 1\n",    "leak allocation 3\n",
        "leak vmm_handle 2\n", "leak reservation 2\n", "leak mapping 1\n"};
    struct child child;

    child = in_child(leave_some);
    T_NULL(strstr(child.err, "leak context")); /* not asked for */
    setenv("FAKEVMM_LEAKS", "1", 1);
    child = in_child(leave_some);
    T_EQ(child.exit_code, 3);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        T_STR_HAS(child.err, lines[i]);
    child = in_child(leave_nothing);
    T_EQ(child.exit_code, 0);
    T_NULL(strstr(child.err, "leak "));
}

/* ---- copynode ---- */

/* Moves the operands of a memcpy and a memset node of an exec from one memory to another, and runs
 * it. */
static void switch_operands(CUcontext context, CUdeviceptr from, CUdeviceptr to, CUresult expected)
{
    CUDA_MEMCPY3D copy = copy_from(from, allocate(64));
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = from + 64, .elementSize = 1, .width = 64, .height = 1};
    CUgraph graph;
    CUgraphNode copies, fills;
    CUgraphExec exec;

    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemcpyNode(&copies, graph, NULL, 0, &copy, context));
    OK(cuGraphAddMemsetNode(&fills, graph, NULL, 0, &fill, context));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    copy.srcDevice = to;
    fill.dst = to + 64;
    T_EQ(cuGraphExecMemcpyNodeSetParams(exec, copies, &copy, context), expected);
    T_EQ(cuGraphExecMemsetNodeSetParams(exec, fills, &fill, context), expected);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
}

static void switch_memory(CUresult expected)
{
    CUcontext context = start();
    CUdeviceptr plain = allocate(256), base = map_new(GRANULE);

    switch_operands(context, plain, base, expected);
    switch_operands(context, base, plain, expected);
    switch_operands(context, plain, allocate(256), CUDA_SUCCESS);
    switch_operands(context, base, map_new(GRANULE), CUDA_SUCCESS);
}

TEST(vmm_hazards, copynode_accept)
{
    switch_memory(CUDA_SUCCESS);
}

TEST(vmm_hazards, copynode_refuse)
{
    setenv("FAKEVMM_MODEL", "copynode=refuse", 1);
    switch_memory(CUDA_ERROR_INVALID_VALUE);
}

/* ---- malformed ---- */

static void init(void)
{
    cuInit(0);
}

TEST(vmm_hazards, malformed_switches)
{
    struct child child;

    setenv("FAKEVMM_STRICT", "yes", 1);
    child = in_child(init);
    T_EQ(child.exit_code, 2);
    T_STR_HAS(child.err, "FAKEVMM_STRICT=yes");
    setenv("FAKEVMM_STRICT", "0", 1);
    setenv("FAKEVMM_MODEL", "gpa=same,free=never", 1);
    child = in_child(init);
    T_EQ(child.exit_code, 2);
    T_STR_HAS(child.err, "free=sync|async");
    setenv("FAKEVMM_MODEL", "gpa=same,free=async,copynode=accept", 1);
    T_EQ(in_child(init).exit_code, 0);
}
