/* memory.c: what a program can find out about its device memory: answers to queries, error codes,
 * free memory. It prints nothing that depends on an address, so that the output must be the same
 * with and without the library.. */
#include "tests/shim/progs/warm.h"

#define MIB ((size_t)1 << 20)

static struct rig rig;

/* Below and above half a granule, with and without a remainder. */
static const size_t sizes[] = {8,         100,     512,         4096,    65536,          100000,
                               MIB - 512, 2 * MIB, 2 * MIB + 4, 5 * MIB, 6 * MIB + 12345};

/* ---- queries ---- */

enum form { FLAG, INT, WORD, ADDRESS, SOME, OWN_CONTEXT };

static const struct attribute {
    const char *name;
    CUpointer_attribute id;
    enum form form; /* how the answer is printed: ADDRESS from the buffer's base on, SOME: whether
                       it is 0 */
} attributes[] = {
    {"context", CU_POINTER_ATTRIBUTE_CONTEXT, OWN_CONTEXT},
    {"memory_type", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, INT},
    {"device_pointer", CU_POINTER_ATTRIBUTE_DEVICE_POINTER, ADDRESS},
    {"host_pointer", CU_POINTER_ATTRIBUTE_HOST_POINTER, ADDRESS},
    {"sync_memops", CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, FLAG},
    {"buffer_id", CU_POINTER_ATTRIBUTE_BUFFER_ID, SOME},
    {"is_managed", CU_POINTER_ATTRIBUTE_IS_MANAGED, FLAG},
    {"device_ordinal", CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, INT},
    {"ipc_capable", CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, FLAG},
    {"range_start", CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, ADDRESS},
    {"range_size", CU_POINTER_ATTRIBUTE_RANGE_SIZE, WORD},
    {"mapped", CU_POINTER_ATTRIBUTE_MAPPED, FLAG},
    {"allowed_handle_types", CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, WORD},
    {"rdma_capable", CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, FLAG},
    {"access_flags", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, INT},
    {"mempool", CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, WORD},
    {"mapping_size", CU_POINTER_ATTRIBUTE_MAPPING_SIZE, WORD},
    {"mapping_base", CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, ADDRESS},
    {"block_id", CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, SOME},
    {"decompress_capable", CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, FLAG},
};

/* Room for any answer, zeroed before the driver writes as much of it as it does. */
union answer {
    unsigned char flag;
    int number;
    unsigned long long word;
};

static long long normal(const struct attribute *attribute, union answer value, CUdeviceptr base)
{
    switch (attribute->form) {
    case FLAG: return value.flag;
    case INT: return value.number;
    case ADDRESS: return (long long)(value.word - base);
    case SOME: return value.word != 0;
    case OWN_CONTEXT: return value.word == (unsigned long long)(uintptr_t)rig.context;
    default: return (long long)value.word;
    }
}

static void print_attributes(CUdeviceptr base, CUdeviceptr address)
{
    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        union answer value = {.word = 0};
        CUresult result = cuPointerGetAttribute(&value, attributes[i].id, address);

        printf("  %s %d", attributes[i].name, (int)result);
        if (result == CUDA_SUCCESS)
            printf(" %lld", normal(&attributes[i], value, base));
        puts("");
    }
}

/* All attributes in one call, which leaves 0 where there is no answer. */
static void print_together(CUdeviceptr base, CUdeviceptr address)
{
    union answer values[COUNT_OF(attributes)] = {{.word = 0}};
    CUpointer_attribute ids[COUNT_OF(attributes)];
    void *places[COUNT_OF(attributes)];
    CUresult result;

    for (size_t i = 0; i < COUNT_OF(attributes); i++) {
        ids[i] = attributes[i].id;
        places[i] = &values[i];
    }
    result = cuPointerGetAttributes(COUNT_OF(attributes), ids, places, address);
    printf("  together %d:", (int)result);
    for (size_t i = 0; i < COUNT_OF(attributes) && result == CUDA_SUCCESS; i++)
        printf(" %lld", values[i].word ? normal(&attributes[i], values[i], base) : 0);
    puts("");
}

static void print_range(CUdeviceptr base, CUdeviceptr address)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    CUresult result = cuMemGetAddressRange_v2(&start, &size, address);

    printf("  range %d", (int)result);
    if (result == CUDA_SUCCESS)
        printf(" base %lld size %zu", (long long)(start - base), size);
    result = cuMemGetAddressRange_v2(NULL, &size, address);
    printf(", size alone %d %zu", (int)result, size);
    result = cuMemGetAddressRange_v2(&start, NULL, address);
    printf(", base alone %d\n", (int)result);
}

static void print_queries(CUdeviceptr base, CUdeviceptr address)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemGenericAllocationHandle handle;
    unsigned long long access = 0;
    CUresult result;

    print_range(base, address);
    print_attributes(base, address);
    print_together(base, address);
    printf("  retain %d\n", (int)cuMemRetainAllocationHandle(&handle, (void *)address));
    result = cuMemGetAccess(&access, &here, address);
    printf("  access %d %llu\n", (int)result, access);
}

static void queries(void)
{
    CUdeviceptr buffers[COUNT_OF(sizes)];

    warm_up(&rig, sizes, COUNT_OF(sizes));
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        MUST(cuMemAlloc_v2(&buffers[i], sizes[i]));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        size_t offsets[] = {0, sizes[i] / 2, sizes[i] - 1};
        for (size_t o = 0; o < COUNT_OF(offsets); o++) {
            printf("%zu bytes at %zu\n", sizes[i], offsets[o]);
            print_queries(buffers[i], buffers[i] + offsets[o]);
        }
    }
    puts("foreign");
    print_queries(4096, 4096);
    print_together((CUdeviceptr)(uintptr_t)&rig, (CUdeviceptr)(uintptr_t)&rig);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        MUST(cuMemFree_v2(buffers[i]));
    puts("freed");
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        print_range(buffers[i], buffers[i]);
        print_together(buffers[i], buffers[i]);
        printf("  free again %d\n", (int)cuMemFree_v2(buffers[i]));
    }
}

/* What a buffer holds, to its last byte; alignment as cuMemAlloc promises it. */
static void contents(void)
{
    warm_up(&rig, sizes, COUNT_OF(sizes));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        unsigned char *host = malloc(sizes[i]);
        CUdeviceptr buffer;
        size_t wrong = 0;

        MUST(cuMemAlloc_v2(&buffer, sizes[i]));
        printf("%zu bytes: aligned %d", sizes[i], buffer % 256 == 0);
        MUST(cuMemsetD8_v2(buffer, (unsigned char)(i + 1), sizes[i]));
        MUST(cuMemcpyDtoH_v2(host, buffer, sizes[i]));
        for (size_t b = 0; b < sizes[i]; b++)
            wrong += host[b] != i + 1;
        printf(", wrong %zu\n", wrong);
        MUST(cuMemFree_v2(buffer));
        free(host);
    }
}

/* ---- error codes ---- */

static void frees(void)
{
    int local = 0;

    warm_up(&rig, sizes, COUNT_OF(sizes));
    printf("null %d\n", (int)cuMemFree_v2(0));
    printf("foreign %d\n", (int)cuMemFree_v2(4096));
    printf("host %d\n", (int)cuMemFree_v2((CUdeviceptr)(uintptr_t)&local));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CUdeviceptr buffer, other;
        CUcontext none;

        MUST(cuMemAlloc_v2(&buffer, sizes[i]));
        printf("%zu bytes: interior %d", sizes[i], (int)cuMemFree_v2(buffer + sizes[i] / 2));
        printf(", last byte %d", (int)cuMemFree_v2(buffer + sizes[i] - 1));
        MUST(cuMemAlloc_v2(&other, sizes[i]));
        MUST(cuCtxPopCurrent_v2(&none));
        printf(", no context %d", (int)cuMemFree_v2(buffer));
        MUST(cuCtxPushCurrent_v2(rig.context));
        printf(", once %d", (int)cuMemFree_v2(buffer));
        printf(", twice %d", (int)cuMemFree_v2(buffer));
        printf(", neighbour %d\n", (int)cuMemFree_v2(other));
    }
}

/* Frees of another context of the device, and of memory whose context has gone. */
static void contexts(void)
{
    CUdeviceptr first, second;
    CUcontext other;

    warm_up(&rig, sizes, COUNT_OF(sizes));
    MUST(cuCtxCreate_v2(&other, 0, rig.device));
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        MUST(cuCtxSetCurrent(rig.context));
        MUST(cuMemAlloc_v2(&first, sizes[i]));
        MUST(cuCtxSetCurrent(other));
        MUST(cuMemAlloc_v2(&second, sizes[i]));
        print_range(first, first);
        print_range(second, second);
        printf("%zu bytes: of the other context %d\n", sizes[i], (int)cuMemFree_v2(first));
        MUST(cuMemAlloc_v2(&first, sizes[i]));
        if (i % 2)
            MUST(cuMemFree_v2(second));
    }
    MUST(cuCtxDestroy_v2(other));
    MUST(cuCtxSetCurrent(rig.context));
    printf("gone: free %d\n", (int)cuMemFree_v2(second));
    print_range(first, first);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        MUST(cuMemAlloc_v2(&first, sizes[i]));
        print_range(first, first);
        MUST(cuMemFree_v2(first));
    }
}

static void allocs(void)
{
    CUdeviceptr buffer = 0;
    CUcontext none;

    warm_up(&rig, sizes, COUNT_OF(sizes));
    printf("nothing %d\n", (int)cuMemAlloc_v2(&buffer, 0));
    printf("nowhere %d\n", (int)cuMemAlloc_v2(NULL, 4096));
    printf("too much %d\n", (int)cuMemAlloc_v2(&buffer, (size_t)1 << 50));
    printf("far too much %d\n", (int)cuMemAlloc_v2(&buffer, SIZE_MAX));
    MUST(cuCtxPopCurrent_v2(&none));
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        printf("no context %d\n", (int)cuMemAlloc_v2(&buffer, sizes[i]));
    MUST(cuCtxPushCurrent_v2(rig.context));
    printf("untouched %d\n", buffer == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"queries", queries},
                 {"contents", contents},
                 {"frees", frees},
                 {"contexts", contexts},
                 {"allocs", allocs}};

    for (size_t i = 0; i < COUNT_OF(modes) && argc == 2; i++) {
        if (strcmp(argv[1], modes[i].name))
            continue;
        rig_up(&rig);
        return modes[i].run(), 0;
    }
    return 2;
}
