/* The fake runtime's allocations, copies, fills and pointer attributes, by their documentation. */
#include "tests/fake/cudart_kernels.h"

TEST(cudart_memory, copies_there_and_back)
{
    int in[4] = {1, 2, 3, 4}, out[4] = {0};
    int *a = NULL, *b = NULL;

    OK(cudaMalloc((void **)&a, sizeof in));
    OK(cudaMalloc((void **)&b, sizeof in));
    OK(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, a, sizeof in, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(out, b, sizeof in, cudaMemcpyDeviceToHost));
    T_MEM_EQ(in, out, sizeof in);
    OK(cudaMemset(b, 0xab, 3));
    OK(cudaMemcpy(out, b, sizeof out, cudaMemcpyDefault));
    T_EQ(out[0], 0x00ababab);
    OK(cudaMemcpy(a + 1, out, sizeof(int), cudaMemcpyDefault));
    OK(cudaMemcpy(out, a, sizeof out, cudaMemcpyDefault));
    T_EQ(out[1], 0x00ababab);
    OK(cudaMemcpy(out, in, sizeof in, cudaMemcpyHostToHost));
    T_MEM_EQ(in, out, sizeof in);
    OK(cudaFree(a));
    OK(cudaFree(b));
}

TEST(cudart_memory, async_copies_follow_their_stream)
{
    int in[4] = {5, 6, 7, 8}, *pinned = NULL, *a = NULL;
    cudaStream_t stream;

    OK(cudaStreamCreate(&stream));
    OK(cudaMallocHost((void **)&pinned, sizeof in));
    OK(cudaMalloc((void **)&a, sizeof in));
    OK(cudaMemcpyAsync(a, in, sizeof in, cudaMemcpyHostToDevice, stream));
    OK(cudaMemsetAsync(a, 0, sizeof *a, stream));
    OK(cudaMemcpyAsync(pinned, a, sizeof in, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    T_EQ(pinned[0], 0);
    T_MEM_EQ(pinned + 1, in + 1, 3 * sizeof *in);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(a));
    OK(cudaStreamDestroy(stream));
}

TEST(cudart_memory, sizes_and_pointers_of_zero)
{
    void *memory = &memory;

    OK(cudaMalloc(&memory, 0));
    T_NULL(memory);
    OK(cudaFree(NULL));
    OK(cudaFreeHost(NULL));
    T_EQ(cudaMalloc(NULL, 16), cudaErrorInvalidValue);
}

TEST(cudart_memory, wrong_arguments_are_refused)
{
    void *memory = NULL;
    int host = 0;

    OK(cudaMalloc(&memory, 16));
    T_EQ(cudaMemcpy(memory, &host, 4, (enum cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
    T_EQ(cudaMalloc(&memory, (size_t)1 << 60), cudaErrorMemoryAllocation);
    T_EQ(cudaFree((void *)0x1234), cudaErrorInvalidValue);
    OK(cudaFree(memory));
    T_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

TEST(cudart_memory, pointer_attributes_tell_the_kinds_apart)
{
    struct cudaPointerAttributes attributes;
    void *device = NULL, *pinned = NULL;
    int local;

    OK(cudaMalloc(&device, 1024));
    OK(cudaHostAlloc(&pinned, 1024, cudaHostAllocMapped));
    OK(cudaPointerGetAttributes(&attributes, (char *)device + 8));
    T_EQ(attributes.type, cudaMemoryTypeDevice);
    T_EQ(attributes.device, 0);
    T_PTR_EQ(attributes.devicePointer, (char *)device + 8);
    T_NULL(attributes.hostPointer);
    OK(cudaPointerGetAttributes(&attributes, pinned));
    T_EQ(attributes.type, cudaMemoryTypeHost);
    T_PTR_EQ(attributes.hostPointer, pinned);
    OK(cudaPointerGetAttributes(&attributes, &local));
    T_EQ(attributes.type, cudaMemoryTypeUnregistered);
    T_PTR_EQ(attributes.hostPointer, &local);
    T_NULL(attributes.devicePointer);
    OK(cudaFree(device));
    OK(cudaFreeHost(pinned));
}

TEST(cudart_memory, registered_memory_has_a_device_address)
{
    static _Alignas(4096) char page[4096];
    struct cudaPointerAttributes attributes;
    void *device = NULL;

    OK(cudaHostRegister(page, sizeof page, cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer(&device, page, 0));
    T_NOT_NULL(device);
    OK(cudaPointerGetAttributes(&attributes, page));
    T_EQ(attributes.type, cudaMemoryTypeHost);
    OK(cudaHostUnregister(page));
    T_EQ(cudaHostUnregister(page), cudaErrorHostMemoryNotRegistered);
}

TEST(cudart_memory, memory_info_follows_allocations)
{
    size_t before = 0, during = 0, after = 0, total = 0;
    void *memory = NULL;

    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&memory, 8 << 20));
    OK(cudaMemGetInfo(&during, &total));
    T_LE(during, before - (8 << 20));
    OK(cudaFree(memory));
    OK(cudaMemGetInfo(&after, &total));
    T_EQ(after, before);
}

TEST(cudart_memory, boxes_have_rows_and_slices)
{
    struct cudaExtent size = {10, 3, 2};
    struct cudaPitchedPtr box = {0};
    struct cudaMemcpy3DParms copy = {.extent = size, .kind = cudaMemcpyDeviceToHost};
    unsigned char out[10 * 3 * 2] = {0};

    OK(cudaMalloc3D(&box, size));
    T_NOT_NULL(box.ptr);
    T_GE(box.pitch, 10);
    T_EQ(box.xsize, 10);
    T_EQ(box.ysize, 3);
    OK(cudaMemset3D(box, 1, size));
    OK(cudaMemset3DAsync(box, 2, (struct cudaExtent){4, 2, 2}, NULL));
    /* nothing to fill ends at once; slices without a size are none */
    OK(cudaMemset3D(box, 3, (struct cudaExtent){0, 2, SIZE_MAX}));
    OK(cudaMemset3D(box, 3, (struct cudaExtent){4, 0, SIZE_MAX}));
    T_EQ(cudaMemset3D((struct cudaPitchedPtr){box.ptr, box.pitch, box.xsize, 0}, 3,
                      (struct cudaExtent){4, 1, SIZE_MAX}),
         cudaErrorInvalidValue);
    copy.srcPtr = box;
    copy.dstPtr = (struct cudaPitchedPtr){out, 10, 10, 3};
    OK(cudaMemcpy3D(&copy));
    for (int z = 0; z < 2; z++) {
        for (int y = 0; y < 3; y++) {
            for (int x = 0; x < 10; x++)
                T_EQ(out[(z * 3 + y) * 10 + x], x < 4 && y < 2 ? 2 : 1);
        }
    }
    OK(cudaFree(box.ptr));
    T_EQ(cudaMalloc3D(NULL, size), cudaErrorInvalidValue);
    T_EQ(cudaMalloc3D(&box, (struct cudaExtent){1, SIZE_MAX / 2, 4}), cudaErrorInvalidValue);
}

TEST(cudart_memory, a_batch_of_copies_is_one_call)
{
    int in[2] = {7, 8}, out[2] = {0}, *device = NULL;
    void *dsts[2], *to[2] = {&out[1], &out[0]};
    const void *srcs[2] = {&in[0], &in[1]}, *from[2];
    size_t sizes[2] = {sizeof(int), sizeof(int)}, first = 0;
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    cudaStream_t stream;

    OK(cudaMalloc((void **)&device, sizeof in));
    OK(cudaStreamCreate(&stream));
    dsts[0] = &device[0];
    dsts[1] = &device[1];
    OK(cudaMemcpyBatchAsync(dsts, srcs, sizes, 2, &attributes, &first, 1, stream));
    from[0] = dsts[0];
    from[1] = dsts[1];
    OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    OK(cudaStreamSynchronize(stream));
    T_EQ(out[1], 7);
    T_EQ(out[0], 8);
    /* The default stream is not a stream that a batch can go to. */
    T_EQ(cudaMemcpyBatchAsync(dsts, srcs, sizes, 2, &attributes, &first, 1, NULL),
         cudaErrorInvalidValue);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(device));
}
