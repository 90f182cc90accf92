/* A __managed__ variable, as nvcc's start-up code registers it: the program has a pointer in its
 * place, which __cudaInitModule() fills before the first use, and calls the variable by the memory
 * that the pointer names. */
#include "tests/fake/cudart_kernels.h"

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp_size);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t bytes, int constant, int global);
char __cudaInitModule(void **handle);

static const char ptx[] = ".version 6.4\n"
                          ".target sm_70\n"
                          ".address_size 64\n"
                          ".visible .global .attribute(.managed) .align 4 .u32 total = 40;\n"
                          ".visible .entry count()\n"
                          "{\n"
                          "    .reg .b32 %r<2>;\n"
                          "    ld.global.u32 %r1, [total];\n"
                          "    add.s32 %r1, %r1, 1;\n"
                          "    st.global.u32 [total], %r1;\n"
                          "    ret;\n"
                          "}\n";

#define PAYLOAD ((sizeof ptx + 7) & ~(size_t)7)

/* One container with one entry: plain PTX. docs/fatbin.md */
static struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of what follows */
    uint16_t kind, unused;
    uint32_t entry_header_bytes;
    uint64_t payload_bytes;
    uint32_t compressed_bytes, extra_offset;
    uint16_t minor, major;
    uint32_t architecture;
    uint64_t extra_bytes, flags, zero, plain_bytes;
    char payload[PAYLOAD];
} image = {.magic = 0xBA55ED50,
           .version = 1,
           .header_bytes = 16,
           .bytes = 64 + PAYLOAD,
           .kind = 1,
           .unused = 0x0101,
           .entry_header_bytes = 64,
           .payload_bytes = PAYLOAD,
           .minor = 4,
           .major = 6,
           .architecture = 70};

static struct {
    uint32_t magic, version;
    const void *container, *second_file;
} wrapper = {0x466243B1, 1, &image, NULL};

static char count_stub, total_shadow;
static int *total; /* what the compiler puts in the variable's place */

static void **register_all(void)
{
    void **handle;

    memcpy(image.payload, ptx, sizeof ptx);
    handle = __cudaRegisterFatBinary(&wrapper);
    T_NOT_NULL(handle);
    __cudaRegisterFunction(handle, &count_stub, &count_stub, "count", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterManagedVar(handle, (void **)&total, &total_shadow, "total", 0, sizeof(int), 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

TEST(cudart_managed, host_and_kernel_see_one_variable)
{
    void **handle = register_all();

    T_EQ(__cudaInitModule(handle), 1);
    T_NOT_NULL(total);
    T_EQ(*total, 40);
    OK(cudaLaunchKernel(&count_stub, ONE_BLOCK(1), NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    T_EQ(*total, 41);
    *total = 7;
    OK(cudaLaunchKernel(&count_stub, ONE_BLOCK(1), NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    T_EQ(*total, 8);
    __cudaUnregisterFatBinary(handle);
}

TEST(cudart_managed, the_memory_is_the_symbol)
{
    void **handle = register_all(), *address = NULL;
    size_t bytes = 0;
    int value = 3;

    T_EQ(__cudaInitModule(handle), 1);
    OK(cudaGetSymbolAddress(&address, total));
    T_PTR_EQ(address, total);
    OK(cudaGetSymbolSize(&bytes, total));
    T_EQ(bytes, sizeof(int));
    OK(cudaMemcpyToSymbol(total, &value, sizeof value, 0, cudaMemcpyDefault));
    T_EQ(*total, 3);
    T_EQ(cudaGetSymbolAddress(&address, total + 1), cudaErrorInvalidSymbol);
    __cudaUnregisterFatBinary(handle);
}
