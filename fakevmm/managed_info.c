/* managed_info.c: what can be asked about a range of managed memory. An answer holds for the whole
 * range or is the one for "not all alike". It must not change anything. */
#include "managed.h"
#include "vmm.h"

#include <string.h>

/* What all runs of pages met so far have in common. */
struct common {
    bool met, read_mostly, host;
    CUmemLocation preferred, prefetched;
    uint32_t devices;
};

static void narrow(CUmemLocation *location, CUmemLocation other)
{
    if (location->type != other.type || location->id != other.id)
        *location = (CUmemLocation){0};
}

static CUresult meet(struct fv_advice *advice, void *data)
{
    struct common *common = data;

    if (!common->met) {
        *common = (struct common){true,
                                  advice->read_mostly,
                                  advice->host,
                                  advice->preferred,
                                  advice->prefetched,
                                  advice->devices};
        return CUDA_SUCCESS;
    }
    common->read_mostly &= advice->read_mostly;
    common->host &= advice->host;
    common->devices &= advice->devices;
    narrow(&common->preferred, advice->preferred);
    narrow(&common->prefetched, advice->prefetched);
    return CUDA_SUCCESS;
}

/* As the functions without CUmemLocation name a place. */
static int device_of(CUmemLocation location)
{
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_NONE: return CU_DEVICE_INVALID;
    case CU_MEM_LOCATION_TYPE_DEVICE: return location.id;
    default: return CU_DEVICE_CPU;
    }
}

static void list_devices(const struct common *common, int *out, size_t count)
{
    size_t used = 0;

    if (common->host)
        out[used++] = CU_DEVICE_CPU;
    for (int i = 0; i < fv_device_count() && used < count; i++)
        if (common->devices & 1u << i)
            out[used++] = i;
    while (used < count)
        out[used++] = CU_DEVICE_INVALID;
}

static int value_of(const struct common *common, CUmem_range_attribute attribute)
{
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: return common->read_mostly;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: return device_of(common->preferred);
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: return device_of(common->prefetched);
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: return (int)common->preferred.type;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: return common->preferred.id;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: return (int)common->prefetched.type;
    default: return common->prefetched.id;
    }
}

static CUresult check_question(const void *out, size_t size, CUmem_range_attribute attribute)
{
    bool list = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;

    if (!out || attribute < CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        attribute > CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return CUDA_ERROR_INVALID_VALUE;
    if (list ? !size || size % sizeof(int) : size != sizeof(int))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static void answer(const struct common *common, void *out, size_t size,
                   CUmem_range_attribute attribute)
{
    int value;

    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        list_devices(common, out, size / sizeof(int));
        return;
    }
    value = value_of(common, attribute);
    memcpy(out, &value, sizeof value);
}

CUresult fv_cuMemRangeGetAttributes(void **out, size_t *sizes, CUmem_range_attribute *attributes,
                                    size_t count, CUdeviceptr base, size_t size)
{
    struct common common = {0};
    CUresult result = fv_earlier_error();

    if (result == CUDA_SUCCESS)
        result = out && sizes && attributes && count ? fv_managed_check(base, size)
                                                     : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = check_question(out[i], sizes[i], attributes[i]);
    if (result != CUDA_SUCCESS)
        return result;
    fv_managed_each(base, size, meet, &common);
    for (size_t i = 0; i < count; i++)
        answer(&common, out[i], sizes[i], attributes[i]);
    return CUDA_SUCCESS;
}

CUresult fv_cuMemRangeGetAttribute(void *out, size_t size, CUmem_range_attribute attribute,
                                   CUdeviceptr base, size_t count)
{
    return fv_cuMemRangeGetAttributes(&out, &size, &attribute, 1, base, count);
}
