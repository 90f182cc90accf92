/* driver_mem.c: core's memory calls, put to the driver's virtual-memory functions. Memory of ours
 * is readable and writable for every device that could use cuMemAlloc memory, and RDMA-capable
 * where the device allows it. It must not know what the memory is for. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>

#include "shim/driver_mem.h"
#include "shim/hooks.h"

static void *real(enum vr_entry which)
{
    return atomic_load_explicit(&vr_shim.provider, memory_order_acquire)->real[which];
}

static enum vr_status status_of(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return VR_OK;
    return result == CUDA_ERROR_OUT_OF_MEMORY ? VR_NO_MEMORY : VR_REFUSED;
}

static bool attribute(CUdevice device, CUdevice_attribute which)
{
    CUresult (*get)(int *, CUdevice_attribute, CUdevice) = vr_need(VR_NEED_cuDeviceGetAttribute);
    int value = 0;

    return get && get(&value, which, device) == CUDA_SUCCESS && value != 0;
}

static CUmemAllocationProp memory_of(int device)
{
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
    };

    prop.allocFlags.gpuDirectRDMACapable =
        attribute(device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
    return prop;
}

enum vr_status vr_mem_device(int device, size_t *granule, size_t *total)
{
    CUresult (*granularity)(size_t *, const CUmemAllocationProp *,
                            CUmemAllocationGranularity_flags) =
        vr_need(VR_NEED_cuMemGetAllocationGranularity);
    CUresult (*total_of)(size_t *, CUdevice) = vr_need(VR_NEED_cuDeviceTotalMem_v2);
    CUmemAllocationProp prop = memory_of(device);
    size_t bytes;

    if (!granularity || !total_of ||
        granularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS ||
        total_of(total, device) != CUDA_SUCCESS)
        return VR_REFUSED;
    *granule = bytes;
    return VR_OK;
}

enum vr_status vr_mem_free_bytes(size_t *bytes)
{
    CUresult (*info)(size_t *, size_t *) = real(VR_cuMemGetInfo_v2);
    size_t total;

    return info ? status_of(info(bytes, &total)) : VR_REFUSED;
}

enum vr_status vr_mem_reserve(size_t bytes, size_t align, uint64_t *address)
{
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long) =
        vr_need(VR_NEED_cuMemAddressReserve);
    CUdeviceptr base;
    CUresult result = reserve(&base, bytes, align, 0, 0);

    if (result == CUDA_SUCCESS)
        *address = base;
    return status_of(result);
}

enum vr_status vr_mem_unreserve(uint64_t address, size_t bytes)
{
    CUresult (*unreserve)(CUdeviceptr, size_t) = vr_need(VR_NEED_cuMemAddressFree);

    return status_of(unreserve(address, bytes));
}

/* Some systems say they can do RDMA and then refuse such memory: what the application would get
 * from cuMemAlloc matters more. */
enum vr_status vr_mem_create(int device, size_t bytes, uint64_t *memory)
{
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                       unsigned long long) = real(VR_cuMemCreate);
    CUmemAllocationProp prop = memory_of(device);
    CUmemGenericAllocationHandle handle;
    CUresult result = create(&handle, bytes, &prop, 0);

    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY &&
        prop.allocFlags.gpuDirectRDMACapable) {
        prop.allocFlags.gpuDirectRDMACapable = 0;
        result = create(&handle, bytes, &prop, 0);
    }
    if (result == CUDA_SUCCESS)
        *memory = handle;
    return status_of(result);
}

enum vr_status vr_mem_release(uint64_t memory)
{
    CUresult (*release)(CUmemGenericAllocationHandle) = vr_need(VR_NEED_cuMemRelease);

    return status_of(release(memory));
}

enum vr_status vr_mem_map(uint64_t address, size_t bytes, uint64_t memory)
{
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) =
        vr_need(VR_NEED_cuMemMap);

    return status_of(map(address, bytes, 0, memory, 0));
}

enum vr_status vr_mem_unmap(uint64_t address, size_t bytes)
{
    CUresult (*unmap)(CUdeviceptr, size_t) = vr_need(VR_NEED_cuMemUnmap);

    return status_of(unmap(address, bytes));
}

static int device_count(void)
{
    CUresult (*get)(int *) = vr_need(VR_NEED_cuDeviceGetCount);
    int count = 0;

    return get && get(&count) == CUDA_SUCCESS ? count : 0;
}

/* All devices: vr_mem_may_place() has made sure that they can use each other's memory. One call for
 * all. */
enum vr_status vr_mem_set_access(int device, uint64_t address, size_t bytes)
{
    CUresult (*set)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) =
        vr_need(VR_NEED_cuMemSetAccess);
    CUmemAccessDesc access[VR_DEVICES_MAX];
    int count = device_count();

    (void)device;
    if (count < 1 || count > VR_DEVICES_MAX)
        return VR_REFUSED;
    for (int i = 0; i < count; i++)
        access[i] = (CUmemAccessDesc){
            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = i},
            .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
    return status_of(set(address, bytes, access, (size_t)count));
}

/* ---- may memory of ours stand in for the driver's? ---- */

static bool driver_can(int device)
{
    static const enum vr_need calls[] = {
        VR_NEED_cuMemAddressReserve,
        VR_NEED_cuMemAddressFree,
        VR_NEED_cuMemRelease,
        VR_NEED_cuMemMap,
        VR_NEED_cuMemUnmap,
        VR_NEED_cuMemSetAccess,
        VR_NEED_cuMemGetAllocationGranularity,
        VR_NEED_cuDeviceTotalMem_v2,
        VR_NEED_cuCtxSynchronize,
        VR_NEED_cuCtxPushCurrent_v2,
        VR_NEED_cuCtxPopCurrent_v2,
        VR_NEED_cuCtxGetCurrent,
    };

    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (!vr_need(calls[i]))
            return false;
    }
    return real(VR_cuMemCreate) &&
           attribute(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) &&
           !attribute(device, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
}

/* A plain copy between two devices works whatever they are; one of ours only with access. */
static bool devices_are_peers(void)
{
    CUresult (*can)(int *, CUdevice, CUdevice) = vr_need(VR_NEED_cuDeviceCanAccessPeer);
    int count = device_count();

    if (count < 1 || count > VR_DEVICES_MAX)
        return false;
    for (int i = 0; i < count * count; i++) {
        int yes = 0;

        if (i / count != i % count &&
            (!can || can(&yes, i / count, i % count) != CUDA_SUCCESS || !yes))
            return false;
    }
    return true;
}

/* Libraries that register memory with a network or another process, by the beginning of their
 * names. */
static int registers_memory(struct dl_phdr_info *info, size_t size, void *found)
{
    static const char *const names[] = {"libnccl.",   "libnccl-",  "libucp.", "libuct.",
                                        "libucm.",    "libmpi.",   "libmpi_", "libnvshmem",
                                        "libfabric.", "libgdrapi."};
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;

    (void)size;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!strncmp(name, names[i], strlen(names[i])))
            *(bool *)found = true;
    }
    return *(bool *)found;
}

enum vr_status vr_mem_may_place(int device, bool eager)
{
    bool found = false;

    if (!driver_can(device) || !devices_are_peers())
        return VR_REFUSED;
    if (!eager)
        dl_iterate_phdr(registers_memory, &found);
    return found ? VR_REFUSED : VR_OK;
}

enum vr_status vr_mem_drain(vr_handle context, int *result)
{
    CUresult answer = vr_drain((CUcontext)context);

    if (answer == CUDA_SUCCESS)
        return VR_OK;
    *result = (int)answer;
    return VR_REFUSED;
}
