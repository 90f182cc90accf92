/* Allocation in stream order: when memory may be used, how it ends, what a pool then says. */
#include "tests/fake/vmm_fixture.h"

#define STRICT_EXIT 97

static atomic_bool open_gate;

static CUstream held_stream(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);

    close_gate(stream, &open_gate);
    return stream;
}

static CUdeviceptr allocate_async(size_t size, CUstream stream)
{
    CUdeviceptr address = 0;

    OK(cuMemAllocAsync(&address, size, stream));
    return address;
}

static CUmemoryPool default_pool(void)
{
    CUmemoryPool pool = NULL;

    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    return pool;
}

static cuuint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which)
{
    cuuint64_t value = 0;

    OK(cuMemPoolGetAttribute(pool, which, &value));
    return value;
}

static CUmemoryPool new_pool(size_t max_size)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                            .maxSize = max_size};
    CUmemoryPool pool = NULL;

    OK(cuMemPoolCreate(&pool, &props));
    return pool;
}

/* ---- use in order ---- */

TEST(pool_alloc, usable_by_later_work_of_its_stream)
{
    unsigned word = 7, out = 0;

    start();
    CUstream stream = held_stream();
    CUdeviceptr p = allocate_async(1000, stream);
    T_EQ(p % 512, 0);
    OK(cuMemsetD32Async(p, word, 250, stream));
    OK(cuMemFreeAsync(p, stream)); /* behind the memset */
    CUdeviceptr q = allocate_async(64, stream);
    launch(kernel("put"), stream, (void *[]){&q, &word});
    atomic_store(&open_gate, true);
    OK(cuMemcpyDtoHAsync_v2(&out, q, 4, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(out, 7);
    OK(cuMemFreeAsync(q, stream));
    OK(cuStreamSynchronize(stream));
}

TEST(pool_alloc, usable_by_another_stream_after_an_event)
{
    unsigned out = 0;

    start();
    CUstream one = held_stream(), other = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent allocated = new_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr p = allocate_async(64, one);
    OK(cuEventRecord(allocated, one));
    OK(cuStreamWaitEvent(other, allocated, 0));
    OK(cuMemsetD32Async(p, 9, 16, other));
    atomic_store(&open_gate, true);
    OK(cuStreamSynchronize(other));
    OK(cuMemcpyDtoH_v2(&out, p, 4));
    T_EQ(out, 9);
}

/* The device must not touch the memory before the stream has come to the allocation. */
TEST(pool_alloc, use_before_its_turn_is_an_illegal_address)
{
    unsigned v = 1;

    start();
    CUstream held = held_stream(), other = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = allocate_async(64, held);
    launch(kernel("put"), other, (void *[]){&p, &v});
    T_EQ(cuStreamSynchronize(other), CUDA_ERROR_ILLEGAL_ADDRESS);
    atomic_store(&open_gate, true);
}

TEST(pool_alloc, use_after_its_free_is_an_illegal_address)
{
    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = allocate_async(64, stream);
    OK(cuMemFreeAsync(p, stream));
    T_EQ(put(p, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(pool_alloc, arguments)
{
    CUdeviceptr p;

    T_EQ(cuMemAllocAsync(&p, 64, NULL), CUDA_ERROR_NOT_INITIALIZED);
    start();
    CUstream stream = new_stream(0);
    T_EQ(cuMemAllocAsync(NULL, 64, stream), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocAsync(&p, 0, stream), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocAsync(&p, SIZE_MAX - 5, stream), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemAllocFromPoolAsync(&p, 64, NULL, stream), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemAllocFromPoolAsync(&p, 64, (CUmemoryPool)&p, stream), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuMemFreeAsync(0, stream), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocAsync(&p, 4096, stream));
    T_EQ(cuMemFreeAsync(p + 512, stream), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeAsync(p, stream));
    T_EQ(cuMemFreeAsync(p, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST(pool_alloc, without_a_context)
{
    CUdeviceptr p;

    OK(cuInit(0));
    T_EQ(cuMemAllocAsync(&p, 64, NULL), CUDA_ERROR_INVALID_CONTEXT);
}

/* cuMemFree takes pool memory and waits for nothing. */
TEST(pool_alloc, free_without_a_stream)
{
    start();
    CUstream stream = held_stream();
    CUdeviceptr p = allocate_async(64, stream);
    OK(cuMemFree_v2(p));
    T_EQ(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
    atomic_store(&open_gate, true);
    OK(cuStreamSynchronize(stream));
    T_EQ(attribute(default_pool(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
}

/* ---- hazards ---- */

static struct child strictly(void (*run)(void))
{
    setenv("FAKEVMM_STRICT", "1", 1);
    return in_child(run);
}

static void free_under_other_stream(void)
{
    start();
    CUstream own = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = allocate_async(64, own);
    OK(cuStreamSynchronize(own));
    CUstream held = held_stream();
    OK(cuMemsetD32Async(p, 1, 4, held));
    OK(cuMemFreeAsync(p, own));
    cuStreamSynchronize(own);
    atomic_store(&open_gate, true);
    cuStreamSynchronize(held);
}

static void free_behind_other_stream(void)
{
    start();
    CUstream own = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent used = new_event(CU_EVENT_DISABLE_TIMING);
    CUdeviceptr p = allocate_async(64, own);
    OK(cuStreamSynchronize(own));
    CUstream held = held_stream();
    OK(cuMemsetD32Async(p, 1, 4, held));
    OK(cuEventRecord(used, held));
    OK(cuStreamWaitEvent(own, used, 0));
    OK(cuMemFreeAsync(p, own));
    atomic_store(&open_gate, true);
    OK(cuStreamSynchronize(own));
}

static void free_at_once_under_queued_work(void)
{
    start();
    CUstream own = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = allocate_async(64, own);
    OK(cuStreamSynchronize(own));
    CUstream held = held_stream();
    OK(cuMemsetD32Async(p, 1, 4, held));
    OK(cuMemFree_v2(p));
    atomic_store(&open_gate, true);
    cuStreamSynchronize(held);
}

TEST(pool_alloc, an_unordered_free_is_a_hazard)
{
    struct child child = strictly(free_under_other_stream);

    T_EQ(child.exit_code, STRICT_EXIT);
    T_STR_HAS(child.err, "hazard: cuMemFreeAsync");
    T_STR_HAS(child.err, "memset");
}

TEST(pool_alloc, a_free_of_used_memory_is_a_hazard)
{
    struct child child = strictly(free_at_once_under_queued_work);

    T_EQ(child.exit_code, STRICT_EXIT);
    T_STR_HAS(child.err, "hazard: cuMemFree ");
}

TEST(pool_alloc, an_ordered_free_is_none)
{
    struct child child = strictly(free_behind_other_stream);

    T_EQ(child.exit_code, 0);
    T_NULL(strstr(child.err, "hazard"));
}

/* ---- what a pool holds ---- */

TEST(pool_alloc, used_and_reserved)
{
    start();
    CUmemoryPool pool = default_pool();
    CUstream stream = new_stream(0);
    CUdeviceptr p = allocate_async(3 * MIB, stream);
    cuuint64_t used = attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    T_GE(used, 3 * MIB);
    T_GE(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), used);
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    T_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), used);
    T_GE(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), used);
}

/* With the default threshold of 0 a synchronisation returns what is not in use. */
TEST(pool_alloc, release_threshold)
{
    cuuint64_t keep = UINT64_MAX, none = 0;

    start();
    CUmemoryPool pool = default_pool();
    CUstream stream = new_stream(0);
    size_t before = free_memory();
    OK(cuMemFreeAsync(allocate_async(8 * MIB, stream), stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    T_EQ(free_memory(), before);

    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    T_EQ(attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), keep);
    OK(cuMemFreeAsync(allocate_async(8 * MIB, stream), stream));
    OK(cuCtxSynchronize());
    T_GE(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 8 * MIB);
    T_LE(free_memory(), before - 8 * MIB);

    OK(cuMemPoolTrimTo(pool, 4 * MIB));
    T_GE(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 4 * MIB);
    T_LT(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 8 * MIB);
    OK(cuMemPoolTrimTo(pool, 64 * MIB)); /* has less than that: nothing happens */
    T_LT(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 8 * MIB);
    OK(cuMemPoolTrimTo(pool, 0));
    T_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    T_EQ(free_memory(), before);

    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none));
    CUevent done = new_event(0);
    OK(cuMemFreeAsync(allocate_async(8 * MIB, stream), stream));
    OK(cuEventRecord(done, stream));
    OK(cuEventSynchronize(done));
    T_EQ(free_memory(), before);
}

TEST(pool_alloc, maximum_size)
{
    CUdeviceptr p, q;

    start();
    CUmemoryPool pool = new_pool(4 * MIB);
    CUstream stream = new_stream(0);
    T_EQ(cuMemAllocFromPoolAsync(&p, 4 * MIB + 1, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAllocFromPoolAsync(&p, 3 * MIB, pool, stream));
    T_EQ(cuMemAllocFromPoolAsync(&q, 2 * MIB, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAllocFromPoolAsync(&q, MIB, pool, stream));
    OK(cuMemFreeAsync(p, stream));
    OK(cuMemFreeAsync(q, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemAllocFromPoolAsync(&p, 4 * MIB, pool, stream));
}

/* Memory a pool keeps unused is there for everybody before an allocation fails. */
TEST(pool_alloc, device_memory_is_shared_with_pools)
{
    cuuint64_t keep = UINT64_MAX;
    CUdeviceptr p;

    setenv("FAKEVMM_MEMORY", "16M", 1);
    start();
    CUmemoryPool pool = default_pool();
    CUstream stream = new_stream(0);
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    T_EQ(cuMemAllocAsync(&p, 16 * MIB + 1, stream), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFreeAsync(allocate_async(16 * MIB, stream), stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(free_memory(), 0);
    OK(cuMemAlloc_v2(&p, 16 * MIB));
    T_EQ(cuMemAllocAsync(&p, 64, stream), CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(cuMemAlloc_v2(&p, 64), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(pool_alloc, many_small_ones_fill_the_memory_exactly)
{
    CUdeviceptr p;
    int count = 0;

    setenv("FAKEVMM_MEMORY", "1M", 1);
    start();
    CUstream stream = new_stream(0);
    while (cuMemAllocAsync(&p, 512, stream) == CUDA_SUCCESS)
        count++;
    T_EQ(count, 2048);
}

/* ---- attributes of the memory ---- */

TEST(pool_alloc, pointer_attributes)
{
    unsigned type = 0;
    CUmemoryPool pool = NULL;
    CUdeviceptr base = 0;
    bool flag = true;
    int ordinal = -1;
    size_t size = 0;

    start();
    CUstream stream = held_stream();
    CUdeviceptr p = allocate_async(1000, stream); /* its turn has not come */
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    T_EQ(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p + 8));
    T_PTR_EQ(pool, default_pool());
    OK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 8));
    T_EQ(base, p + 8);
    OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    T_ASSERT(!flag);
    flag = true;
    OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, p));
    T_ASSERT(!flag);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    T_EQ(ordinal, 0);
    OK(cuMemGetAddressRange_v2(&base, &size, p + 999));
    T_EQ(base, p);
    T_EQ(size, 1000);
    atomic_store(&open_gate, true);
    OK(cuStreamSynchronize(stream));
    OK(cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, allocate(64)));
    T_NULL(pool);
}

/* ---- leaks ---- */

static void leave_some(void)
{
    start();
    CUstream stream = new_stream(0);
    allocate_async(64, stream);
    OK(cuMemFreeAsync(allocate_async(64, stream), stream));
    new_pool(0);
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy_v2(stream));
}

TEST(pool_alloc, leaks_are_told)
{
    setenv("FAKEVMM_LEAKS", "1", 1);
    struct child child = in_child(leave_some);

    T_STR_HAS(child.err, "leak allocation 1\n");
    T_STR_HAS(child.err, "leak pool 1\n");
}

/* ---- captured ---- */

TEST(pool_alloc, captured_as_nodes)
{
    CUgraphNodeType type;
    CUgraphNode nodes[8];
    CUgraphExec exec;
    CUgraph graph;
    size_t count = 8;
    unsigned out = 0;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr result = allocate(64);
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUdeviceptr p = allocate_async(64, stream);
    T_NE(p, 0);
    OK(cuMemsetD32Async(p, 5, 16, stream));
    OK(cuMemcpyDtoDAsync_v2(result, p, 64, stream));
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, nodes, &count));
    T_EQ(count, 4);
    OK(cuGraphNodeGetType(nodes[0], &type));
    T_EQ(type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    OK(cuGraphNodeGetType(nodes[3], &type));
    T_EQ(type, CU_GRAPH_NODE_TYPE_MEM_FREE);
    T_EQ(attribute(default_pool(), CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0); /* it is the graph's */
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&out, result, 4));
    T_EQ(out, 5);
}

/* A capture can free what a graph has allocated, nothing else. */
TEST(pool_alloc, captured_free_of_other_memory)
{
    CUgraph graph = NULL;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr plain = allocate(64);
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    T_EQ(cuMemFreeAsync(plain, stream), CUDA_ERROR_INVALID_VALUE);
    cuStreamEndCapture(stream, &graph);
    OK(cuMemFree_v2(plain));
}
