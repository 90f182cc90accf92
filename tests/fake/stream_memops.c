/* Stream memory operations: waits for values in memory and writes of them, by the documentation of
 * cuStreamWaitValue32, cuStreamWriteValue32 and cuStreamBatchMemOp. */
#include "tests/fake/driver_fixture.h"

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

/* Pinned memory the host changes while a stream looks at it. */
struct flags {
    CUstream stream;
    _Atomic(uint32_t) *host;
    CUdeviceptr device;
};

static struct flags flags(void)
{
    struct flags f = {.stream = new_stream(CU_STREAM_NON_BLOCKING)};
    void *host;

    OK(cuMemAllocHost_v2(&host, 64));
    memset(host, 0, 64);
    OK(cuMemHostGetDevicePointer_v2(&f.device, host, 0));
    f.host = host;
    return f;
}

/* The stream is held until the host stores `last`; the values before it do not satisfy the wait. */
static void check_wait(uint32_t value, unsigned condition, uint32_t before, uint32_t last)
{
    struct flags f = flags();

    atomic_store(f.host, before);
    OK(cuStreamWaitValue32_v2(f.stream, f.device, value, condition));
    OK(cuStreamWriteValue32_v2(f.stream, f.device + 4, 1, 0));
    for (int i = 0; i < 100; i++)
        sched_yield();
    T_EQ(cuStreamQuery(f.stream), CUDA_ERROR_NOT_READY);
    T_EQ(atomic_load(f.host + 1), 0);
    atomic_store(f.host, last);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(atomic_load(f.host + 1), 1);
    OK(cuStreamDestroy_v2(f.stream));
}

TEST(stream_memops, conditions)
{
    start();
    check_wait(5, CU_STREAM_WAIT_VALUE_GEQ, 4, 6);
    check_wait(3, CU_STREAM_WAIT_VALUE_GEQ, 0xfffffff0, 4); /* cyclic */
    check_wait(5, CU_STREAM_WAIT_VALUE_EQ, 6, 5);
    check_wait(6, CU_STREAM_WAIT_VALUE_AND, 9, 2);
    check_wait(0x0f, CU_STREAM_WAIT_VALUE_NOR, 0xfffffff0, 0x7ffffff0);
}

TEST(stream_memops, a_wait_that_is_over_holds_nobody)
{
    start();
    struct flags f = flags();

    OK(cuStreamWaitValue32_v2(f.stream, f.device, 0, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamSynchronize(f.stream));
}

TEST(stream_memops, sixty_four_bits)
{
    start();
    struct flags f = flags();
    _Atomic(uint64_t) *wide = (_Atomic(uint64_t) *)f.host;

    atomic_store(wide, 1);
    OK(cuStreamWaitValue64_v2(f.stream, f.device, (uint64_t)1 << 40, CU_STREAM_WAIT_VALUE_AND));
    OK(cuStreamWriteValue64_v2(f.stream, f.device + 8, (uint64_t)7 << 40, 0));
    T_EQ(cuStreamQuery(f.stream), CUDA_ERROR_NOT_READY);
    atomic_store(wide, (uint64_t)3 << 40);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(atomic_load(wide + 1), (uint64_t)7 << 40);
}

/* One stream waits for what another one writes to device memory; nothing else wakes it. */
TEST(stream_memops, streams_wake_each_other)
{
    atomic_bool open;
    uint32_t seen = 0;

    start();
    CUstream waiter = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream writer = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr flag = allocate(64);

    OK(cuMemsetD8_v2(flag, 0, 64));
    OK(cuCtxSynchronize());
    OK(cuStreamWaitValue32_v2(waiter, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuMemcpyDtoDAsync_v2(flag + 4, flag, 4, waiter));
    close_gate(writer, &open);
    OK(cuMemsetD32Async(flag, 9, 1, writer));
    T_EQ(cuStreamQuery(waiter), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    OK(cuStreamSynchronize(waiter));
    OK(cuMemcpyDtoH_v2(&seen, flag + 4, 4));
    T_EQ(seen, 9);
}

TEST(stream_memops, batches_go_in_order)
{
    start();
    struct flags f = flags();
    CUstreamBatchMemOpParams ops[4] = {
        {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, f.device, {1}, 0, 0}},
        {.waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, f.device, {2}, CU_STREAM_WAIT_VALUE_EQ, 0}},
        {.memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, CU_STREAM_MEMORY_BARRIER_TYPE_SYS}},
        {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, f.device + 4, {3}, 0, 0}}};

    OK(cuStreamBatchMemOp_v2(f.stream, 4, ops, 0));
    memset(ops, 0, sizeof ops); /* the array is the caller's again */
    while (atomic_load(f.host) != 1)
        sched_yield();
    T_EQ(atomic_load(f.host + 1), 0);
    T_EQ(cuStreamQuery(f.stream), CUDA_ERROR_NOT_READY);
    atomic_store(f.host, 2);
    OK(cuStreamSynchronize(f.stream));
    T_EQ(atomic_load(f.host + 1), 3);
}

TEST(stream_memops, first_versions)
{
    start();
    struct flags f = flags();

    atomic_store(f.host, 1);
    OK(cuStreamWaitValue32(f.stream, f.device, 1, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWriteValue32(f.stream, f.device + 4, 2, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    OK(cuStreamWaitValue64(f.stream, f.device, 1, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWriteValue64(f.stream, f.device + 8, 3, 0));
    CUstreamBatchMemOpParams op = {
        .writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, f.device + 16, {4}, 0, 0}};
    OK(cuStreamBatchMemOp(f.stream, 1, &op, 0));
    OK(cuStreamSynchronize(f.stream));
    T_EQ(atomic_load(f.host + 1), 2);
    T_EQ(atomic_load(f.host + 2), 3);
    T_EQ(atomic_load(f.host + 4), 4);
}

TEST(stream_memops, refusals)
{
    CUstreamBatchMemOpParams ops[256] = {0};

    start();
    struct flags f = flags();
    for (int i = 0; i < 256; i++)
        ops[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
        ops[i].writeValue.address = f.device;
    REFUSED(cuStreamWaitValue32_v2(f.stream, f.device + 2, 0, 0)); /* not aligned */
    REFUSED(cuStreamWaitValue64_v2(f.stream, f.device + 4, 0, 0));
    REFUSED(cuStreamWriteValue32_v2(f.stream, 0, 0, 0));
    REFUSED(cuStreamWriteValue32_v2(f.stream, (CUdeviceptr)(uintptr_t)ops, 0, 0));
    REFUSED(cuStreamWaitValue32_v2(f.stream, f.device, 0, 0x10));
    REFUSED(cuStreamWriteValue32_v2(f.stream, f.device, 0, 2));
    REFUSED(cuStreamBatchMemOp_v2(f.stream, 256, ops, 0)); /* must be less than 256 */
    REFUSED(cuStreamBatchMemOp_v2(f.stream, 1, ops, 1));
    REFUSED(cuStreamBatchMemOp_v2(f.stream, 1, NULL, 0));
    OK(cuStreamBatchMemOp_v2(f.stream, 255, ops, 0));
    ops[1].operation = (CUstreamBatchMemOpType)9;
    REFUSED(cuStreamBatchMemOp_v2(f.stream, 2, ops, 0));
    T_EQ(cuStreamWaitValue32_v2((CUstream)ops, f.device, 0, 0), CUDA_ERROR_INVALID_HANDLE);
    /* As CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES says. */
    T_EQ(cuStreamWaitValue32_v2(f.stream, f.device, 0, CU_STREAM_WAIT_VALUE_FLUSH),
         CUDA_ERROR_NOT_SUPPORTED);
    OK(cuStreamSynchronize(f.stream));
}

/* A wait that is never satisfied does not keep the process from ending. */
static void leave_a_wait(void)
{
    start();
    struct flags f = flags();

    OK(cuStreamWaitValue32_v2(f.stream, f.device, 1, CU_STREAM_WAIT_VALUE_EQ));
    child_say("queued");
}

TEST(stream_memops, a_process_may_end_while_a_stream_waits)
{
    struct child child = in_child(leave_a_wait);

    T_EQ(child.exit_code, 0);
    T_EQ(strcmp(child.said, "queued"), 0);
}
