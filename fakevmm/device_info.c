/* device_info.c: what a device says about itself. The table plays an H100 SXM5, and other
 * cards where cards.def has nothing else. What this library does not implement is reported as
 * absent, so that programs which ask before they use take their other path. It must not change
 * anything. */
#include "device.h"
#include "card.h"
#include "settings.h"

#include <stdio.h>
#include <string.h>

#define PCI_BUS_OF_FIRST 0x17

static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
#define A(name, value)                                                                             \
    {                                                                                              \
        CU_DEVICE_ATTRIBUTE_##name, value                                                          \
    }
    A(MAX_THREADS_PER_BLOCK, 1024),
    A(MAX_BLOCK_DIM_X, 1024),
    A(MAX_BLOCK_DIM_Y, 1024),
    A(MAX_BLOCK_DIM_Z, 64),
    A(MAX_GRID_DIM_X, 2147483647),
    A(MAX_GRID_DIM_Y, 65535),
    A(MAX_GRID_DIM_Z, 65535),
    A(MAX_SHARED_MEMORY_PER_BLOCK, 49152),
    A(TOTAL_CONSTANT_MEMORY, 65536),
    A(WARP_SIZE, 32),
    A(MAX_PITCH, 2147483647),
    A(MAX_REGISTERS_PER_BLOCK, 65536),
    A(CLOCK_RATE, 1980000),
    A(TEXTURE_ALIGNMENT, 512),
    A(GPU_OVERLAP, 1),
    A(MULTIPROCESSOR_COUNT, 132),
    A(KERNEL_EXEC_TIMEOUT, 0),
    A(INTEGRATED, 0),
    A(CAN_MAP_HOST_MEMORY, 1),
    A(COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT),
    A(MAXIMUM_TEXTURE1D_WIDTH, 131072),
    A(MAXIMUM_TEXTURE2D_WIDTH, 131072),
    A(MAXIMUM_TEXTURE2D_HEIGHT, 65536),
    A(MAXIMUM_TEXTURE3D_WIDTH, 16384),
    A(MAXIMUM_TEXTURE3D_HEIGHT, 16384),
    A(MAXIMUM_TEXTURE3D_DEPTH, 16384),
    A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768),
    A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768),
    A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048),
    A(SURFACE_ALIGNMENT, 512),
    A(CONCURRENT_KERNELS, 1),
    A(ECC_ENABLED, 1),
    A(PCI_DEVICE_ID, 0),
    A(TCC_DRIVER, 0),
    A(MEMORY_CLOCK_RATE, 2619000),
    A(GLOBAL_MEMORY_BUS_WIDTH, 5120),
    A(L2_CACHE_SIZE, 52428800),
    A(MAX_THREADS_PER_MULTIPROCESSOR, 2048),
    A(ASYNC_ENGINE_COUNT, 3),
    A(UNIFIED_ADDRESSING, 1),
    A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768),
    A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048),
    A(CAN_TEX2D_GATHER, 1),
    A(MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768),
    A(MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768),
    A(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192),
    A(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 8192),
    A(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 32768),
    A(PCI_DOMAIN_ID, 0),
    A(TEXTURE_PITCH_ALIGNMENT, 32),
    A(MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768),
    A(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768),
    A(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046),
    A(MAXIMUM_SURFACE1D_WIDTH, 32768),
    A(MAXIMUM_SURFACE2D_WIDTH, 131072),
    A(MAXIMUM_SURFACE2D_HEIGHT, 65536),
    A(MAXIMUM_SURFACE3D_WIDTH, 16384),
    A(MAXIMUM_SURFACE3D_HEIGHT, 16384),
    A(MAXIMUM_SURFACE3D_DEPTH, 16384),
    A(MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768),
    A(MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048),
    A(MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768),
    A(MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768),
    A(MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048),
    A(MAXIMUM_SURFACECUBEMAP_WIDTH, 32768),
    A(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768),
    A(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046),
    A(MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456),
    A(MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072),
    A(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000),
    A(MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120),
    A(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768),
    A(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768),
    A(COMPUTE_CAPABILITY_MAJOR, 9),
    A(COMPUTE_CAPABILITY_MINOR, 0),
    A(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768),
    A(STREAM_PRIORITIES_SUPPORTED, 1),
    A(GLOBAL_L1_CACHE_SUPPORTED, 1),
    A(LOCAL_L1_CACHE_SUPPORTED, 1),
    A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472),
    A(MAX_REGISTERS_PER_MULTIPROCESSOR, 65536),
    A(MANAGED_MEMORY, 1),
    A(MULTI_GPU_BOARD, 0),
    A(HOST_NATIVE_ATOMIC_SUPPORTED, 0),
    A(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2),
    A(PAGEABLE_MEMORY_ACCESS, 0),
    A(CONCURRENT_MANAGED_ACCESS, 1),
    A(COMPUTE_PREEMPTION_SUPPORTED, 1),
    A(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1),
    A(CAN_USE_STREAM_MEM_OPS_V1, 1),
    A(CAN_USE_64_BIT_STREAM_MEM_OPS_V1, 1),
    A(CAN_USE_STREAM_WAIT_VALUE_NOR_V1, 1),
    A(COOPERATIVE_LAUNCH, 1),
    A(COOPERATIVE_MULTI_DEVICE_LAUNCH, 0),
    A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448),
    A(CAN_FLUSH_REMOTE_WRITES, 0),
    A(HOST_REGISTER_SUPPORTED, 1),
    A(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 0),
    A(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 0),
    A(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
    A(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1),
    A(HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 0),
    A(HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED, 0),
    A(MAX_BLOCKS_PER_MULTIPROCESSOR, 32),
    A(GENERIC_COMPRESSION_SUPPORTED, 0),
    A(MAX_PERSISTING_L2_CACHE_SIZE, 32768000),
    A(MAX_ACCESS_POLICY_WINDOW_SIZE, 134213632),
    A(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 1),
    A(RESERVED_SHARED_MEMORY_PER_BLOCK, 1024),
    A(SPARSE_CUDA_ARRAY_SUPPORTED, 0),
    A(READ_ONLY_HOST_REGISTER_SUPPORTED, 1),
    A(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 0),
    A(MEMORY_POOLS_SUPPORTED, 1),
    A(GPU_DIRECT_RDMA_SUPPORTED, 1),
    A(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 0),
    A(GPU_DIRECT_RDMA_WRITES_ORDERING, 0),
    A(MEMPOOL_SUPPORTED_HANDLE_TYPES, 0),
    A(CLUSTER_LAUNCH, 1),
    A(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, 0),
    A(CAN_USE_64_BIT_STREAM_MEM_OPS, 1),
    A(CAN_USE_STREAM_WAIT_VALUE_NOR, 1),
    A(DMA_BUF_SUPPORTED, 1),
    A(IPC_EVENT_SUPPORTED, 1),
    A(MEM_SYNC_DOMAIN_COUNT, 4),
    A(TENSOR_MAP_ACCESS_SUPPORTED, 0),
    A(HANDLE_TYPE_FABRIC_SUPPORTED, 0),
    A(UNIFIED_FUNCTION_POINTERS, 0),
    A(NUMA_CONFIG, CU_DEVICE_NUMA_CONFIG_NONE),
    A(NUMA_ID, -1),
    A(MULTICAST_SUPPORTED, 0),
    A(MPS_ENABLED, 0),
    A(HOST_NUMA_ID, -1),
    A(D3D12_CIG_SUPPORTED, 0),
    A(MEM_DECOMPRESS_ALGORITHM_MASK, 0),
    A(MEM_DECOMPRESS_MAXIMUM_LENGTH, 0),
    A(VULKAN_CIG_SUPPORTED, 0),
    A(GPU_PCI_DEVICE_ID, 0x233010de),
    A(GPU_PCI_SUBSYSTEM_ID, 0),
    A(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0),
    A(HOST_NUMA_MEMORY_POOLS_SUPPORTED, 0),
    A(HOST_NUMA_MULTINODE_IPC_SUPPORTED, 0),
    A(HOST_MEMORY_POOLS_SUPPORTED, 0),
    A(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0),
    A(HOST_ALLOC_DMA_BUF_SUPPORTED, 0),
    A(ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 0),
#undef A
};

static bool find_attribute(const struct fv_device *device, CUdevice_attribute attribute, int *out)
{
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        return *out = PCI_BUS_OF_FIRST + device->ordinal, true;
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID)
        return *out = device->ordinal, true;
    if (fv_card_attribute(fv_settings()->card, attribute, out))
        return true;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].attribute == attribute)
            return *out = attributes[i].value, true;
    return false;
}

int fv_device_attribute(const struct fv_device *device, CUdevice_attribute attribute)
{
    int value = 0;

    find_attribute(device, attribute, &value);
    return value;
}

CUresult fv_cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice ordinal)
{
    const struct fv_device *device = fv_device(ordinal);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    return find_attribute(device, attribute, out) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuDeviceGetName(char *name, int size, CUdevice ordinal)
{
    if (!name || size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "fakevmm %s", fv_settings()->card->title);
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceTotalMem_v2(size_t *out, CUdevice ordinal)
{
    const struct fv_device *device = fv_device(ordinal);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *out = device->memory_bytes;
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal)
{
    const struct fv_device *device = fv_device(ordinal);

    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    *major = fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceGetProperties(CUdevprop *out, CUdevice ordinal)
{
    const struct fv_device *device = fv_device(ordinal);

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
#define A(name) fv_device_attribute(device, CU_DEVICE_ATTRIBUTE_##name)
    *out = (CUdevprop){
        .maxThreadsPerBlock = A(MAX_THREADS_PER_BLOCK),
        .maxThreadsDim = {A(MAX_BLOCK_DIM_X), A(MAX_BLOCK_DIM_Y), A(MAX_BLOCK_DIM_Z)},
        .maxGridSize = {A(MAX_GRID_DIM_X), A(MAX_GRID_DIM_Y), A(MAX_GRID_DIM_Z)},
        .sharedMemPerBlock = A(MAX_SHARED_MEMORY_PER_BLOCK),
        .totalConstantMemory = A(TOTAL_CONSTANT_MEMORY),
        .SIMDWidth = A(WARP_SIZE),
        .memPitch = A(MAX_PITCH),
        .regsPerBlock = A(MAX_REGISTERS_PER_BLOCK),
        .clockRate = A(CLOCK_RATE),
        .textureAlign = A(TEXTURE_ALIGNMENT),
    };
#undef A
    return CUDA_SUCCESS;
}

/* ---- identity ---- */

CUresult fv_cuDeviceGetUuid_v2(CUuuid *out, CUdevice ordinal)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(out->bytes, "fakevmm device ", sizeof out->bytes);
    out->bytes[15] = (char)ordinal;
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceGetUuid(CUuuid *out, CUdevice ordinal)
{
    return fv_cuDeviceGetUuid_v2(out, ordinal);
}

CUresult fv_cuDeviceGetPCIBusId(char *out, int size, CUdevice ordinal)
{
    char text[16];

    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    int length = snprintf(text, sizeof text, "0000:%02X:00.0", PCI_BUS_OF_FIRST + ordinal);
    if (!out || size <= length)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(out, text, (size_t)length + 1);
    return CUDA_SUCCESS;
}

/* The three forms the documentation names. */
static bool parse_pci(const char *text, unsigned part[4])
{
    char rest;

    memset(part, 0, 4 * sizeof *part);
    if (sscanf(text, "%x:%x:%x.%x%c", &part[0], &part[1], &part[2], &part[3], &rest) == 4)
        return true;
    if (sscanf(text, "%x:%x:%x%c", &part[0], &part[1], &part[2], &rest) == 3)
        return part[3] = 0, true;
    part[0] = 0;
    return sscanf(text, "%x:%x.%x%c", &part[1], &part[2], &part[3], &rest) == 3;
}

CUresult fv_cuDeviceGetByPCIBusId(CUdevice *out, const char *text)
{
    unsigned part[4];
    int ordinal;

    if (!out || !text || !parse_pci(text, part))
        return CUDA_ERROR_INVALID_VALUE;
    ordinal = (int)part[1] - PCI_BUS_OF_FIRST;
    if (part[0] || part[2] || part[3] || !fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUresult fv_cuDeviceGetExecAffinitySupport(int *out, CUexecAffinityType type, CUdevice ordinal)
{
    if (!out || type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = 0;
    return CUDA_SUCCESS;
}
