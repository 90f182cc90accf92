/* What can be asked about an address: attributes and ranges of mapped memory beside those of
 * cuMemAlloc memory, inter-process handles, dma-bufs. */
#include "tests/fake/vmm_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

#define GET(out, attribute, address)                                                               \
    OK(cuPointerGetAttribute(&(out), CU_POINTER_ATTRIBUTE_##attribute, address))

/* A reservation of four granules with one mapping at its second. */
struct mapped {
    CUdeviceptr range, base;
    CUmemGenericAllocationHandle handle;
};

static struct mapped map_one(void)
{
    struct mapped m = {.range = reserve(4 * GRANULE), .handle = create_on(0, GRANULE)};

    m.base = m.range + GRANULE;
    OK(cuMemMap(m.base, GRANULE, 0, m.handle, 0));
    allow(m.base, GRANULE, 0);
    return m;
}

/* ---- attributes ---- */

TEST(vmm_queries, whose_memory_it_is)
{
    CUcontext context = start(), owner = context;
    unsigned type = 0;
    int ordinal = -1;
    bool managed = true;
    CUdeviceptr address = 0;
    void *host;

    struct mapped m = map_one();
    GET(owner, CONTEXT, m.base);
    T_NULL(owner); /* how programs tell it from cuMemAlloc memory */
    GET(type, MEMORY_TYPE, m.base);
    T_EQ(type, CU_MEMORYTYPE_DEVICE);
    GET(address, DEVICE_POINTER, m.base + 8);
    T_EQ(address, m.base + 8);
    GET(ordinal, DEVICE_ORDINAL, m.base);
    T_EQ(ordinal, 0);
    GET(managed, IS_MANAGED, m.base);
    T_EQ(managed, false);
    REFUSED(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, m.base));
}

TEST(vmm_queries, ranges)
{
    CUdeviceptr start_of = 0;
    size_t size = 0;
    bool mapped = false;

    start();
    struct mapped m = map_one();
    GET(start_of, RANGE_START_ADDR, m.base + 5);
    T_EQ(start_of, m.range); /* the mappable range: the reservation */
    GET(size, RANGE_SIZE, m.base + 5);
    T_EQ(size, 4 * GRANULE);
    GET(start_of, MAPPING_BASE_ADDR, m.base + 5);
    T_EQ(start_of, m.base);
    GET(size, MAPPING_SIZE, m.base + 5);
    T_EQ(size, GRANULE);
    GET(mapped, MAPPED, m.base);
    T_EQ(mapped, true);
}

TEST(vmm_queries, reserved_addresses)
{
    CUdeviceptr start_of = 0;
    size_t size = 0;
    bool mapped = true;
    unsigned type;

    start();
    struct mapped m = map_one();
    GET(start_of, RANGE_START_ADDR, m.range + 3 * GRANULE);
    T_EQ(start_of, m.range);
    GET(size, RANGE_SIZE, m.range);
    T_EQ(size, 4 * GRANULE);
    GET(mapped, MAPPED, m.range);
    T_EQ(mapped, false);
    REFUSED(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m.range));
    REFUSED(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, m.range + 4 * GRANULE));
}

TEST(vmm_queries, many_attributes_at_once)
{
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_MAPPED, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    CUdeviceptr start_of = 0;
    size_t size = 0;
    bool mapped = true;
    unsigned type = 77;
    void *out[] = {&start_of, &size, &mapped, &type};

    start();
    struct mapped m = map_one();
    OK(cuPointerGetAttributes(4, attributes, out, m.base));
    T_EQ(start_of, m.range);
    T_EQ(size, 4 * GRANULE);
    T_EQ(mapped, true);
    T_EQ(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttributes(4, attributes, out, m.range));
    T_EQ(start_of, m.range);
    T_EQ(mapped, false);
    T_EQ(type, 0);
}

TEST(vmm_queries, identity)
{
    unsigned long long id = 0, block = 0, alias_id = 0, alias_block = 0, again = 0;
    CUdeviceptr alias;

    start();
    struct mapped m = map_one();
    alias = m.range + 2 * GRANULE;
    OK(cuMemMap(alias, GRANULE, 0, m.handle, 0));
    GET(id, BUFFER_ID, m.base);
    GET(block, MEMORY_BLOCK_ID, m.base);
    GET(alias_id, BUFFER_ID, alias);
    GET(alias_block, MEMORY_BLOCK_ID, alias);
    T_NE(id, alias_id);
    T_EQ(block, alias_block); /* the physical allocation is one */
    OK(cuMemUnmap(m.base, GRANULE));
    OK(cuMemMap(m.base, GRANULE, 0, create_on(0, GRANULE), 0));
    GET(again, BUFFER_ID, m.base);
    T_NE(again, id);
    GET(again, MEMORY_BLOCK_ID, m.base);
    T_NE(again, block);
}

TEST(vmm_queries, access_flags)
{
    unsigned flags = 0;
    CUdeviceptr address;

    start();
    struct mapped m = map_one();
    GET(flags, ACCESS_FLAGS, m.base);
    T_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(set_access(m.base, GRANULE, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
    GET(flags, ACCESS_FLAGS, m.base);
    T_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
    OK(set_access(m.base, GRANULE, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    GET(flags, ACCESS_FLAGS, m.base);
    T_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    /* Kernels of this context cannot reach it at any address. */
    REFUSED(cuPointerGetAttribute(&address, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, m.base));
    GET(flags, ACCESS_FLAGS, allocate(64));
    T_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

static bool is_rdma_capable(CUdeviceptr address)
{
    bool capable = false;

    GET(capable, IS_GPU_DIRECT_RDMA_CAPABLE, address);
    return capable;
}

static unsigned long long handle_types(CUdeviceptr address)
{
    unsigned long long types = 99;

    GET(types, ALLOWED_HANDLE_TYPES, address);
    return types;
}

TEST(vmm_queries, properties_that_were_asked_for)
{
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base, plain;

    start();
    plain = allocate(GRANULE);
    base = map_new(GRANULE);
    T_ASSERT(is_rdma_capable(plain));
    T_ASSERT(!is_rdma_capable(base));
    T_EQ(handle_types(plain), 0);
    T_EQ(handle_types(base), 0);
    prop.allocFlags.gpuDirectRDMACapable = 1;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    base = reserve(GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    T_ASSERT(is_rdma_capable(base));
    T_EQ(handle_types(base), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

TEST(vmm_queries, synchronous_memory_operations)
{
    bool on = true;
    unsigned value = 1, wrong = 2;
    CUdeviceptr plain;

    start();
    plain = allocate(64);
    struct mapped m = map_one();
    GET(on, SYNC_MEMOPS, plain);
    T_EQ(on, false);
    OK(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, plain));
    GET(on, SYNC_MEMOPS, plain);
    T_EQ(on, true);
    T_EQ(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m.base),
         CUDA_ERROR_NOT_SUPPORTED);
    REFUSED(cuPointerSetAttribute(&wrong, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, plain));
    REFUSED(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, plain));
    REFUSED(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, plain));
    REFUSED(cuPointerSetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)&on));
}

/* ---- the address range ---- */

TEST(vmm_queries, address_range)
{
    CUdeviceptr found = 0;
    size_t size = 0;

    start();
    struct mapped m = map_one();
    OK(cuMemMap(m.base + GRANULE, GRANULE, 0, create_on(0, GRANULE), 0));
    OK(cuMemGetAddressRange_v2(&found, &size, m.base + 1000));
    T_EQ(found, m.base); /* one mapping, not its neighbour */
    T_EQ(size, GRANULE);
    T_EQ(cuMemGetAddressRange_v2(&found, &size, m.range), CUDA_ERROR_NOT_FOUND);
}

/* ---- inter-process handles ---- */

static bool is_ipc_capable(CUdeviceptr address)
{
    bool capable = false;

    GET(capable, IS_LEGACY_CUDA_IPC_CAPABLE, address);
    return capable;
}

TEST(vmm_queries, ipc_of_allocations)
{
    CUipcMemHandle handle, same, other;
    CUdeviceptr plain, again;

    setenv("FAKEVMM_VA", "lifo", 1);
    start();
    plain = allocate(GRANULE);
    T_ASSERT(is_ipc_capable(plain));
    OK(cuIpcGetMemHandle(&handle, plain));
    OK(cuIpcGetMemHandle(&same, plain)); /* as often as one likes */
    T_MEM_EQ(&handle, &same, sizeof handle);
    REFUSED(cuIpcGetMemHandle(NULL, plain));
    REFUSED(cuIpcGetMemHandle(&handle, (CUdeviceptr)&handle));
    OK(cuMemFree_v2(plain));
    REFUSED(cuIpcGetMemHandle(&other, plain));
    again = allocate(GRANULE);
    T_EQ(again, plain);
    OK(cuIpcGetMemHandle(&other, again)); /* unique for the new memory */
    T_NE(memcmp(&handle, &other, sizeof handle), 0);
}

TEST(vmm_queries, ipc_of_mappings_is_refused)
{
    CUipcMemHandle handle;

    start();
    struct mapped m = map_one();
    T_ASSERT(!is_ipc_capable(m.base));
    REFUSED(cuIpcGetMemHandle(&handle, m.base));
    REFUSED(cuIpcGetMemHandle(&handle, m.range));
}

TEST(vmm_queries, ipc_needs_a_context)
{
    CUipcMemHandle handle;

    OK(cuInit(0));
    T_EQ(cuIpcGetMemHandle(&handle, map_new(GRANULE)), CUDA_ERROR_INVALID_CONTEXT);
}

/* A handle is for other processes; the driver refuses to open it here. */
TEST(vmm_queries, ipc_open)
{
    CUipcMemHandle handle, garbage;
    CUdeviceptr plain, opened;

    start();
    plain = allocate(64);
    OK(cuIpcGetMemHandle(&handle, plain));
    T_EQ(cuIpcOpenMemHandle_v2(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_CONTEXT);
    REFUSED(cuIpcOpenMemHandle_v2(&opened, handle, 0));
    REFUSED(cuIpcOpenMemHandle_v2(NULL, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    memset(&garbage, 0x5a, sizeof garbage);
    T_EQ(cuIpcOpenMemHandle_v2(&opened, garbage, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
         CUDA_ERROR_INVALID_HANDLE);
    REFUSED(cuIpcCloseMemHandle(plain));
}

/* ---- dma-bufs ---- */

static int dma_buf(CUdeviceptr base, size_t size)
{
    int file = -1;

    OK(cuMemGetHandleForAddressRange(&file, base, size, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    T_GE(fcntl(file, F_GETFD), 0);
    return file;
}

TEST(vmm_queries, dma_buf)
{
    int supported = 0, file;
    struct stat status;
    CUdeviceptr plain;

    start();
    OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0));
    T_EQ(supported, 1);
    plain = allocate(3 * MIB);
    struct mapped m = map_one();
    file = dma_buf(m.base + 4096, GRANULE - 4096);
    T_EQ(fstat(file, &status), 0);
    T_EQ(status.st_size, GRANULE - 4096);
    T_EQ(close(file), 0);
    T_EQ(close(dma_buf(plain, 3 * MIB)), 0);
    T_EQ(close(dma_buf(allocate(100), 4096)), 0); /* ranges are of host pages */
    OK(cuMemMap(m.base + GRANULE, GRANULE, 0, create_on(0, GRANULE), 0));
    T_EQ(close(dma_buf(m.base, 2 * GRANULE)), 0); /* mappings side by side */
}

TEST(vmm_queries, dma_buf_refuses)
{
    const CUmemRangeHandleType type = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    CUmemAllocationProp prop = prop_on(0);
    CUmemGenericAllocationHandle other;
    CUdeviceptr plain;
    int file;

    start();
    plain = allocate(3 * MIB);
    struct mapped m = map_one();
    REFUSED(cuMemGetHandleForAddressRange(NULL, m.base, GRANULE, type, 0));
    REFUSED(cuMemGetHandleForAddressRange(&file, m.base, 0, type, 0));
    REFUSED(cuMemGetHandleForAddressRange(&file, m.base + 1, 4096, type, 0));
    REFUSED(cuMemGetHandleForAddressRange(&file, m.base, 4097, type, 0));
    REFUSED(cuMemGetHandleForAddressRange(&file, m.base, GRANULE, (CUmemRangeHandleType)2, 0));
    REFUSED(cuMemGetHandleForAddressRange(&file, m.base, GRANULE, type, 2));
    REFUSED(cuMemGetHandleForAddressRange(&file, m.range, 2 * GRANULE, type, 0)); /* not mapped */
    REFUSED(cuMemGetHandleForAddressRange(&file, m.base, 2 * GRANULE, type, 0));  /* not mapped */
    REFUSED(cuMemGetHandleForAddressRange(&file, plain, 4 * GRANULE, type, 0));
    REFUSED(cuMemGetHandleForAddressRange(&file, 4096, 4096, type, 0));
    prop.allocFlags.gpuDirectRDMACapable = 1;
    OK(cuMemCreate(&other, GRANULE, &prop, 0));
    OK(cuMemMap(m.base + GRANULE, GRANULE, 0, other, 0));
    REFUSED(cuMemGetHandleForAddressRange(&file, m.base, 2 * GRANULE, type, 0)); /* unlike */
}

/* ---- shareable handles ---- */

TEST(vmm_queries, export_needs_the_type_asked_for)
{
    int file;

    start();
    CUmemGenericAllocationHandle handle = create_on(0, GRANULE);
    REFUSED(
        cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    REFUSED(
        cuMemExportToShareableHandle(NULL, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}
