/* Batches of copies, by cuMemcpyBatchAsync's and cuMemcpy3DBatchAsync's documentation. */
#include "tests/fake/driver_fixture.h"

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

static const CUmemcpyAttributes in_order = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

struct lists {
    CUdeviceptr to[3], from[3];
    size_t sizes[3];
    unsigned char source[64], target[64];
};

/* From host to device, between devices, and back, of a third of the bytes each. */
static struct lists *lists(void)
{
    static struct lists lists;
    CUdeviceptr device = allocate(64), other = allocate(64);

    for (size_t i = 0; i < 64; i++)
        lists.source[i] = (unsigned char)(i + 1);
    OK(cuMemcpyHtoD_v2(other, lists.source, 64));
    lists.from[0] = (CUdeviceptr)(uintptr_t)lists.source, lists.to[0] = device;
    lists.from[1] = other + 16, lists.to[1] = device + 16;
    lists.from[2] = other + 32, lists.to[2] = (CUdeviceptr)(uintptr_t)(lists.target + 32);
    for (size_t i = 0; i < 3; i++)
        lists.sizes[i] = 16;
    return &lists;
}

TEST(copy_batch, pointers)
{
    start();
    struct lists *l = lists();
    CUstream stream = new_stream(0);
    CUmemcpyAttributes attributes[2] = {in_order, in_order};
    size_t firsts[2] = {0, 2};

    attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
    attributes[1].flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    OK(cuMemcpyBatchAsync_v2(l->to, l->from, l->sizes, 3, attributes, firsts, 2, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(l->target, l->to[0], 32));
    T_EQ(memcmp(l->target, l->source, 48), 0);
}

/* During the call: pinned memory may be reused at once. */
TEST(copy_batch, the_source_can_be_read_at_the_call)
{
    unsigned char *pinned, result = 0;
    atomic_bool open;

    start();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr to = allocate(16), from;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
    size_t size = 1, first = 0;

    OK(cuMemAllocHost_v2((void **)&pinned, 16));
    *pinned = 7;
    from = (CUdeviceptr)(uintptr_t)pinned;
    close_gate(stream, &open);
    OK(cuMemcpyBatchAsync_v2(&to, &from, &size, 1, &attributes, &first, 1, stream));
    *pinned = 8;
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH_v2(&result, to, 1));
    T_EQ(result, 7);
}

TEST(copy_batch, refusals)
{
    start();
    struct lists *l = lists();
    CUstream stream = new_stream(0);
    CUmemcpyAttributes attributes = in_order, none = {0};
    size_t first = 0, second = 1, twice[2] = {0, 0}, failed = 9;
    CUmemcpyAttributes two[2] = {in_order, in_order};

    REFUSED(cuMemcpyBatchAsync_v2(l->to, l->from, l->sizes, 3, &attributes, &first, 1, NULL));
    REFUSED(cuMemcpyBatchAsync_v2(l->to, l->from, l->sizes, 3, &none, &first, 1, stream));
    REFUSED(cuMemcpyBatchAsync_v2(l->to, l->from, l->sizes, 3, &attributes, &second, 1, stream));
    REFUSED(cuMemcpyBatchAsync_v2(l->to, l->from, l->sizes, 3, two, twice, 2, stream));
    REFUSED(cuMemcpyBatchAsync_v2(l->to, l->from, l->sizes, 1, two, twice, 2, stream));
    REFUSED(cuMemcpyBatchAsync_v2(l->to, l->from, l->sizes, 3, &attributes, &first, 0, stream));
    REFUSED(cuMemcpyBatchAsync_v2(NULL, l->from, l->sizes, 3, &attributes, &first, 1, stream));
    /* The first version names the copy; SIZE_MAX stands for none in particular. */
    REFUSED(cuMemcpyBatchAsync(l->to, l->from, l->sizes, 3, &none, &first, 1, &failed, stream));
    T_ASSERT(failed == SIZE_MAX);
    l->from[1] = 0;
    REFUSED(
        cuMemcpyBatchAsync(l->to, l->from, l->sizes, 3, &attributes, &first, 1, &failed, stream));
    T_EQ(failed, 1);
}

TEST(copy_batch, boxes_between_pointers_and_arrays)
{
    unsigned short source[4 * 4], target[2 * 2] = {0};
    CUarray array;

    start();
    CUstream stream = new_stream(0);
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 4, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT16, .NumChannels = 1};

    for (unsigned short i = 0; i < 16; i++)
        source[i] = (unsigned short)(1000 + i);
    OK(cuArrayCreate_v2(&array, &shape));
    CUDA_MEMCPY3D_BATCH_OP op = {
        .src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                .op.ptr.ptr = (CUdeviceptr)(uintptr_t)source},
        .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, .op.array.array = array},
        .extent = {4, 4, 1},
        .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    op.src =
        (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, .op.array = {array, {2, 1, 0}}};
    op.dst = (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                                 .op.ptr.ptr = (CUdeviceptr)(uintptr_t)target};
    op.extent = (CUextent3D){2, 2, 1};
    OK(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(target[0], source[1 * 4 + 2]);
    T_EQ(target[3], source[2 * 4 + 3]);

    size_t failed = 9;
    op.extent.depth = 0;
    REFUSED(cuMemcpy3DBatchAsync(1, &op, &failed, 0, stream));
    T_EQ(failed, 0);
    op.extent = (CUextent3D){3, 2, 1}; /* beyond the array's edge */
    REFUSED(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    op.extent = (CUextent3D){2, 2, 1};
    op.dst.op.ptr.rowLength = 1; /* shorter than the row */
    REFUSED(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    op.dst.op.ptr.rowLength = 0;
    REFUSED(cuMemcpy3DBatchAsync_v2(1, &op, 1, stream));
    REFUSED(cuMemcpy3DBatchAsync_v2(0, &op, 0, stream));
    REFUSED(cuMemcpy3DBatchAsync_v2(1, &op, 0, NULL));
    op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    REFUSED(cuMemcpy3DBatchAsync_v2(1, &op, 0, stream));
    OK(cuArrayDestroy(array));
}
