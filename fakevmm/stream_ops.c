/* stream_ops.c: streams that wait for a value in memory, or write one. The memory may be changed by
 * the host or by a running kernel, neither of which says so: a wait is asked again and again by the
 * workers. It must not know how streams run. */
#include "stream_ops.h"
#include "capture.h"
#include "device.h"
#include "hazard.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

enum { MOST_OPS = 255 };

struct batch {
    struct fv_work work;
    CUresult error;
    unsigned count, next;
    CUstreamBatchMemOpParams ops[];
};

/* Bytes of the value an operation waits for or writes, 0 for those without one. */
static size_t value_bytes(const CUstreamBatchMemOpParams *op)
{
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return 4;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return 8;
    default: return 0;
    }
}

static bool is_wait(const CUstreamBatchMemOpParams *op)
{
    return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

/* ---- checks ---- */

/* waitValue and writeValue have the same layout. */
static CUresult check_address(const CUstreamBatchMemOpParams *op)
{
    CUdeviceptr address = op->waitValue.address;
    size_t bytes = value_bytes(op);

    if (address % bytes || !fv_va_mapped(address, bytes) ||
        fv_va_find(address)->kind == FV_MEM_MANAGED)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* No device here can flush remote writes (CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES). */
static CUresult check_wait(const CUstreamBatchMemOpParams *op)
{
    unsigned flags = op->waitValue.flags;

    if (flags & ~(CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH))
        return CUDA_ERROR_INVALID_VALUE;
    return flags & CU_STREAM_WAIT_VALUE_FLUSH ? CUDA_ERROR_NOT_SUPPORTED : check_address(op);
}

static CUresult check_write(const CUstreamBatchMemOpParams *op, bool first_version)
{
    unsigned flags = op->writeValue.flags;

    if (flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
        return CUDA_ERROR_INVALID_VALUE;
    return flags && !first_version ? CUDA_ERROR_NOT_SUPPORTED : check_address(op);
}

static CUresult check_op(const CUstreamBatchMemOpParams *op, bool first_version)
{
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return check_wait(op);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return check_write(op, first_version);
    case CU_STREAM_MEM_OP_BARRIER:
        if (op->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
            return CUDA_ERROR_INVALID_VALUE;
        return first_version ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return op->flushRemoteWrites.flags ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult check(const CUstreamBatchMemOpParams *ops, unsigned count, unsigned flags,
                      bool first_version)
{
    CUresult result = CUDA_SUCCESS;

    if (flags || count > MOST_OPS || (count && !ops))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = check_op(&ops[i], first_version);
    return result;
}

CUresult fv_batch_ops_check(const CUstreamBatchMemOpParams *ops, unsigned count, unsigned flags)
{
    return check(ops, count, flags, false);
}

/* ---- doing them ---- */

/* The value's place for host code, or NULL. */
static void *locate(const CUstreamBatchMemOpParams *op, int device)
{
    struct fv_span span;
    CUdeviceptr address = op->waitValue.address;

    if (!fv_va_span(address, device, &span) || span.end - address < value_bytes(op) ||
        (!is_wait(op) && !span.writable))
        return NULL;
    return span.host + (address - span.base);
}

static bool is_met(unsigned condition, uint64_t seen, uint64_t value, bool wide)
{
    uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;

    switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic */
        return wide ? (int64_t)(seen - value) >= 0 : (int32_t)(uint32_t)(seen - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return seen == value;
    case CU_STREAM_WAIT_VALUE_AND: return (seen & value) != 0;
    default: return (~(seen | value) & mask) != 0;
    }
}

/* The guest may change the value in any way, by a memset too; its races are not ours. What the host
 * did before it stored the value comes before what the stream does next. */
__attribute__((no_sanitize("thread"))) static uint64_t load_value(const void *at, bool wide)
{
    uint64_t seen = wide ? __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE)
                         : __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);

#ifdef __SANITIZE_THREAD__
    __tsan_acquire((void *)at);
#endif
    return seen;
}

static bool wait_is_over(const CUstreamBatchMemOpParams *op, const void *at)
{
    bool wide = value_bytes(op) == 8;

    return is_met(op->waitValue.flags, load_value(at, wide),
                  wide ? op->waitValue.value64 : op->waitValue.value, wide);
}

static void write_value(const CUstreamBatchMemOpParams *op, void *at)
{
    if (value_bytes(op) == 8)
        __atomic_store_n((uint64_t *)at, op->writeValue.value64, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)at, op->writeValue.value, __ATOMIC_RELEASE);
}

bool fv_batch_ops_step(const CUstreamBatchMemOpParams *ops, unsigned count, unsigned *next,
                       int device, CUresult *error)
{
    for (; *next < count; ++*next) {
        const CUstreamBatchMemOpParams *op = &ops[*next];
        void *at;

        if (!value_bytes(op)) /* a barrier: everything before is done anyway */
            continue;
        at = locate(op, device);
        if (!at) {
            fv_say("illegal address: stream memory operation at 0x%llx",
                   (unsigned long long)op->waitValue.address);
            *error = CUDA_ERROR_ILLEGAL_ADDRESS;
            return true;
        }
        if (is_wait(op) && !wait_is_over(op, at))
            return false;
        if (!is_wait(op))
            write_value(op, at);
    }
    return true;
}

bool fv_batch_ops_use(const CUstreamBatchMemOpParams *ops, unsigned count, CUdeviceptr base,
                      size_t size)
{
    for (unsigned i = 0; i < count; i++)
        if (fv_overlap(ops[i].waitValue.address, value_bytes(&ops[i]), base, size))
            return true;
    return false;
}

/* ---- as stream work ---- */

static bool batch_ready(struct fv_work *work)
{
    struct batch *batch = (struct batch *)work;

    return batch->error != CUDA_SUCCESS ||
           fv_batch_ops_step(batch->ops, batch->count, &batch->next,
                             FV_COPY_ON(work->context->device->ordinal), &batch->error);
}

static CUresult batch_run(struct fv_work *work)
{
    return ((struct batch *)work)->error;
}

static const char *batch_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    const struct batch *batch = (const struct batch *)work;

    return fv_batch_ops_use(batch->ops, batch->count, base, size) ? "stream memory operation"
                                                                  : NULL;
}

static void batch_retire(struct fv_work *work)
{
    free(work);
}

static CUresult capture(struct fv_stream *stream, const CUstreamBatchMemOpParams *ops,
                        unsigned count)
{
    CUgraphNodeParams given = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    CUgraphNode node;

    given.memOp.ctx = (CUcontext)stream->context;
    given.memOp.count = count;
    given.memOp.paramArray = (CUstreamBatchMemOpParams *)ops;
    return fv_capture_node(stream, &given, &node);
}

static CUresult queue(struct fv_stream *stream, const CUstreamBatchMemOpParams *ops, unsigned count)
{
    struct batch *batch = malloc(sizeof *batch + count * sizeof *ops);

    if (!batch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *batch = (struct batch){.work = {.ready = batch_ready,
                                     .run = batch_run,
                                     .retire = batch_retire,
                                     .uses = batch_uses,
                                     .polls = true},
                            .count = count};
    memcpy(batch->ops, ops, count * sizeof *ops);
    fv_submit(stream, &batch->work);
    return CUDA_SUCCESS;
}

static CUresult submit(CUstream handle, const CUstreamBatchMemOpParams *ops, unsigned count,
                       unsigned flags, bool first_version)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_for_work(handle, &stream);

    if (result == CUDA_SUCCESS)
        result = check(ops, count, flags, first_version);
    if (result != CUDA_SUCCESS || !count)
        return result;
    return stream->tail ? capture(stream, ops, count) : queue(stream, ops, count);
}

CUresult fv_cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops,
                               unsigned flags)
{
    return submit(stream, ops, count, flags, true);
}

CUresult fv_cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *ops,
                                  unsigned flags)
{
    return submit(stream, ops, count, flags, false);
}

/* fv_cuStream<Name>Value<bits>: a batch of one. */
#define VALUE(Name, member, OPERATION, bits, field, version, first)                                \
    CUresult fv_cuStream##Name##Value##bits##version(CUstream stream, CUdeviceptr address,         \
                                                     cuuint##bits##_t value, unsigned flags)       \
    {                                                                                              \
        CUstreamBatchMemOpParams op = {                                                            \
            .member = {.operation = CU_STREAM_MEM_OP_##OPERATION##_VALUE_##bits,                   \
                       .address = address,                                                         \
                       .field = value,                                                             \
                       .flags = flags}};                                                           \
        return submit(stream, &op, 1, 0, first);                                                   \
    }
VALUE(Wait, waitValue, WAIT, 32, value, , true)
VALUE(Wait, waitValue, WAIT, 32, value, _v2, false)
VALUE(Wait, waitValue, WAIT, 64, value64, , true)
VALUE(Wait, waitValue, WAIT, 64, value64, _v2, false)
VALUE(Write, writeValue, WRITE, 32, value, , true)
VALUE(Write, writeValue, WRITE, 32, value, _v2, false)
VALUE(Write, writeValue, WRITE, 64, value64, , true)
VALUE(Write, writeValue, WRITE, 64, value64, _v2, false)
