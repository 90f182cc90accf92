/* copy_batch.c: many copies in one call. A batch promises less order than a stream keeps, so its
 * copies simply follow each other; all of them are checked before the first is queued. */
#include "array.h"
#include "copy.h"
#include "device.h"
#include "stream.h"

#define NO_COPY SIZE_MAX /* an error that is no single copy's */

static bool is_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

static bool are_flags(unsigned flags)
{
    return !(flags & ~CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
}

/* A batch needs a stream of its own: the legacy one is refused. */
static CUresult check_stream(CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_of(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    return stream == stream->context->legacy ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static struct fv_copy_call call_of(CUstream stream, CUmemcpySrcAccessOrder order)
{
    return (struct fv_copy_call){.stream = stream,
                                 .async = true,
                                 .source_now = order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
}

/* ---- from pointer to pointer ---- */

struct batch {
    const CUdeviceptr *to, *from;
    const size_t *sizes;
    size_t count;
    const CUmemcpyAttributes *attributes;
    const size_t *firsts; /* the first copy that each of the attributes is for */
    size_t attribute_count;
};

static CUresult check_attributes(const struct batch *batch)
{
    if (!batch->attributes || !batch->firsts || !batch->attribute_count ||
        batch->attribute_count > batch->count || batch->firsts[0])
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < batch->attribute_count; i++) {
        if (!is_order(batch->attributes[i].srcAccessOrder) ||
            !are_flags(batch->attributes[i].flags) || batch->firsts[i] >= batch->count ||
            (i && batch->firsts[i] <= batch->firsts[i - 1]))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult check_copies(const struct batch *batch, size_t *failed)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        CUDA_MEMCPY3D copy = fv_copy_linear(batch->to[i], batch->from[i], batch->sizes[i]);
        struct fv_copy3d plan;

        *failed = i;
        result = fv_copy3d_plan(&copy, &plan);
    }
    return result;
}

static CUresult submit(const struct batch *batch, CUstream stream, size_t *failed)
{
    CUresult result = CUDA_SUCCESS;
    size_t kind = 0;

    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        CUDA_MEMCPY3D copy = fv_copy_linear(batch->to[i], batch->from[i], batch->sizes[i]);
        struct fv_copy_call call;

        while (kind + 1 < batch->attribute_count && batch->firsts[kind + 1] <= i)
            kind++;
        call = call_of(stream, batch->attributes[kind].srcAccessOrder);
        *failed = i;
        result = fv_copy_submit(&copy, &call);
    }
    return result;
}

/* The first version also tells which copy was wrong. */
CUresult fv_cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *firsts,
                               size_t attribute_count, size_t *failed_out, CUstream stream)
{
    struct batch batch = {to, from, sizes, count, attributes, firsts, attribute_count};
    size_t failed = NO_COPY;
    CUresult result = check_stream(stream);

    if (result == CUDA_SUCCESS && (!to || !from || !sizes || !count))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = check_attributes(&batch);
    if (result == CUDA_SUCCESS)
        result = check_copies(&batch, &failed);
    if (result == CUDA_SUCCESS)
        result = submit(&batch, stream, &failed);
    if (result != CUDA_SUCCESS && failed_out)
        *failed_out = failed;
    return result;
}

CUresult fv_cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                  CUmemcpyAttributes *attributes, size_t *firsts,
                                  size_t attribute_count, CUstream stream)
{
    return fv_cuMemcpyBatchAsync(to, from, sizes, count, attributes, firsts, attribute_count, NULL,
                                 stream);
}

/* ---- boxes ---- */

/* The size of an element: an array's, or 1 between pointers. Two arrays must agree. */
static CUresult element_of(const CUDA_MEMCPY3D_BATCH_OP *op, size_t *out)
{
    const CUmemcpy3DOperand *ends[] = {&op->src, &op->dst};

    *out = 1;
    for (int i = 0; i < 2; i++) {
        struct fv_array *array;

        if (ends[i]->type == CU_MEMCPY_OPERAND_TYPE_POINTER)
            continue;
        if (ends[i]->type != CU_MEMCPY_OPERAND_TYPE_ARRAY ||
            fv_array_of(ends[i]->op.array.array, &array) != CUDA_SUCCESS ||
            (*out != 1 && *out != array->element))
            return CUDA_ERROR_INVALID_VALUE;
        *out = array->element;
    }
    return CUDA_SUCCESS;
}

static size_t or_packed(size_t given, size_t packed)
{
    return given ? given : packed;
}

static void set_source(CUDA_MEMCPY3D *copy, const CUDA_MEMCPY3D_BATCH_OP *op, size_t element)
{
    const CUmemcpy3DOperand *end = &op->src;

    if (end->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->srcArray = end->op.array.array;
        copy->srcXInBytes = end->op.array.offset.x * element;
        copy->srcY = end->op.array.offset.y;
        copy->srcZ = end->op.array.offset.z;
        return;
    }
    copy->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy->srcDevice = end->op.ptr.ptr;
    copy->srcPitch = or_packed(end->op.ptr.rowLength, op->extent.width) * element;
    copy->srcHeight = or_packed(end->op.ptr.layerHeight, op->extent.height);
}

static void set_target(CUDA_MEMCPY3D *copy, const CUDA_MEMCPY3D_BATCH_OP *op, size_t element)
{
    const CUmemcpy3DOperand *end = &op->dst;

    if (end->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy->dstArray = end->op.array.array;
        copy->dstXInBytes = end->op.array.offset.x * element;
        copy->dstY = end->op.array.offset.y;
        copy->dstZ = end->op.array.offset.z;
        return;
    }
    copy->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy->dstDevice = end->op.ptr.ptr;
    copy->dstPitch = or_packed(end->op.ptr.rowLength, op->extent.width) * element;
    copy->dstHeight = or_packed(end->op.ptr.layerHeight, op->extent.height);
}

static CUresult describe(const CUDA_MEMCPY3D_BATCH_OP *op, CUDA_MEMCPY3D *out)
{
    size_t element;

    if (!is_order(op->srcAccessOrder) || !are_flags(op->flags) || !op->extent.width ||
        !op->extent.height || !op->extent.depth || element_of(op, &element) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUDA_MEMCPY3D){.WidthInBytes = op->extent.width * element,
                           .Height = op->extent.height,
                           .Depth = op->extent.depth};
    set_source(out, op, element);
    set_target(out, op, element);
    return CUDA_SUCCESS;
}

/* Checks the boxes, or queues them. */
static CUresult each(const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count, CUstream stream, bool queue,
                     size_t *failed)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct fv_copy_call call = call_of(stream, ops[i].srcAccessOrder);
        struct fv_copy3d plan;
        CUDA_MEMCPY3D copy;

        *failed = i;
        result = describe(&ops[i], &copy);
        if (result == CUDA_SUCCESS)
            result = queue ? fv_copy_submit(&copy, &call) : fv_copy3d_plan(&copy, &plan);
    }
    return result;
}

CUresult fv_cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed_out,
                                 unsigned long long flags, CUstream stream)
{
    size_t failed = NO_COPY;
    CUresult result = check_stream(stream);

    if (result == CUDA_SUCCESS && (!count || !ops || flags))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = each(ops, count, stream, false, &failed);
    if (result == CUDA_SUCCESS)
        result = each(ops, count, stream, true, &failed);
    if (result != CUDA_SUCCESS && failed_out)
        *failed_out = failed;
    return result;
}

CUresult fv_cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                    unsigned long long flags, CUstream stream)
{
    return fv_cuMemcpy3DBatchAsync(count, ops, NULL, flags, stream);
}
