/* copy.c: what a copy is: two boxes of bytes, checked as documented, and the moving of the bytes.
 * With unified addressing an address says by itself whether it is the host's or a device's, and an
 * array is device memory, so all kinds are one. It must not know streams (copy_submit.c). */
#include "copy.h"
#include "array.h"
#include "device.h"
#include "hazard.h"
#include "mem.h"
#include "va.h"

#include <string.h>

/* ---- bytes ---- */

static CUresult copy_bytes(uint64_t to, uint64_t from, size_t size, int device)
{
    bool to_device = fv_va_is_device(to), from_device = fv_va_is_device(from);

    if (to_device && from_device)
        return fv_va_copy(to, from, size, device);
    if (to_device)
        return fv_va_write(to, (const void *)from, size, device);
    if (from_device)
        return fv_va_read((void *)to, from, size, device);
    memmove((void *)to, (const void *)from, size);
    return CUDA_SUCCESS;
}

CUresult fv_copy_any(uint64_t to, uint64_t from, size_t size, int device)
{
    CUresult result = copy_bytes(to, from, size, device);

    if (result == CUDA_ERROR_ILLEGAL_ADDRESS)
        fv_say("illegal address: copy of %zu bytes from 0x%llx to 0x%llx", size,
               (unsigned long long)from, (unsigned long long)to);
    return result;
}

CUresult fv_check_device_range(uint64_t address, size_t size)
{
    return fv_va_mapped(address, size) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_check_range(uint64_t address, size_t size)
{
    if (fv_va_is_device(address))
        return fv_check_device_range(address, size);
    return address && size <= UINT64_MAX - address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- one end of a copy, as the application described it ---- */

struct end {
    CUmemorytype type;
    uint64_t address;
    CUarray array;
    size_t x, y, z, pitch, height;
};

static struct end source_of(const CUDA_MEMCPY3D *copy)
{
    bool host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;

    return (struct end){.type = copy->srcMemoryType,
                        .address = host ? (uintptr_t)copy->srcHost : copy->srcDevice,
                        .array = copy->srcArray,
                        .x = copy->srcXInBytes,
                        .y = copy->srcY,
                        .z = copy->srcZ,
                        .pitch = copy->srcPitch,
                        .height = copy->srcHeight};
}

static struct end target_of(const CUDA_MEMCPY3D *copy)
{
    bool host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;

    return (struct end){.type = copy->dstMemoryType,
                        .address = host ? (uintptr_t)copy->dstHost : copy->dstDevice,
                        .array = copy->dstArray,
                        .x = copy->dstXInBytes,
                        .y = copy->dstY,
                        .z = copy->dstZ,
                        .pitch = copy->dstPitch,
                        .height = copy->dstHeight};
}

static bool is_empty(const struct fv_copy3d *plan)
{
    return !plan->width || !plan->height || !plan->depth;
}

static bool fits(size_t start, size_t count, size_t limit)
{
    return start <= limit && count <= limit - start;
}

static CUresult plan_array(const struct end *end, const struct fv_copy3d *plan, struct fv_box *out)
{
    size_t width, height, depth;
    struct fv_array *array;

    if (fv_array_of(end->array, &array) != CUDA_SUCCESS || end->x % array->element)
        return CUDA_ERROR_INVALID_VALUE;
    fv_array_extent(array, &width, &height, &depth);
    if (!is_empty(plan) &&
        (plan->width % array->element || !fits(end->x, plan->width, width) ||
         !fits(end->y, plan->height, height) || !fits(end->z, plan->depth, depth)))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct fv_box){.at = array->base + (end->z * height + end->y) * width + end->x,
                           .pitch = width,
                           .plane = width * height};
    return CUDA_SUCCESS;
}

/* From the first byte of a box to behind its last; false when that is no number. */
static bool extent(const struct fv_copy3d *plan, const struct fv_box *box, size_t *bytes)
{
    size_t slices, rows;

    return !__builtin_mul_overflow(plan->depth - 1, box->plane, &slices) &&
           !__builtin_mul_overflow(plan->height - 1, box->pitch, &rows) &&
           !__builtin_add_overflow(slices, rows, bytes) &&
           !__builtin_add_overflow(*bytes, plan->width, bytes);
}

/* A pitch or height of 0 is one that was not specified; then there must be nothing to step over. */
static bool check_steps(const struct end *end, const struct fv_copy3d *plan)
{
    size_t most = (size_t)fv_device_attribute(fv_device(0), CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    bool rows = plan->height > 1 || plan->depth > 1;

    if (end->pitch > most)
        return false;
    if ((end->pitch || rows) && !fits(end->x, plan->width, end->pitch))
        return false;
    return !(end->height || plan->depth > 1) || fits(end->y, plan->height, end->height);
}

static CUresult plan_memory(const struct end *end, const struct fv_copy3d *plan, struct fv_box *out)
{
    size_t plane, offset, bytes;

    *out = (struct fv_box){.at = end->address, .pitch = end->pitch};
    if (is_empty(plan))
        return CUDA_SUCCESS;
    if (!end->address || !check_steps(end, plan) ||
        __builtin_mul_overflow(end->pitch, end->height, &plane) ||
        __builtin_mul_overflow(end->z, plane, &offset))
        return CUDA_ERROR_INVALID_VALUE;
    out->at += offset + end->y * end->pitch + end->x;
    out->plane = plane;
    if (!extent(plan, out, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return end->type == CU_MEMORYTYPE_DEVICE ? fv_check_device_range(out->at, bytes)
                                             : fv_check_range(out->at, bytes);
}

static CUresult plan_end(const struct end *end, const struct fv_copy3d *plan, struct fv_box *out)
{
    switch (end->type) {
    case CU_MEMORYTYPE_ARRAY: return plan_array(end, plan, out);
    case CU_MEMORYTYPE_HOST:
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: return plan_memory(end, plan, out);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Between arrays whole elements are copied, which have to be of one size. */
static CUresult check_arrays(const CUDA_MEMCPY3D *copy)
{
    struct fv_array *from, *to;

    if (copy->srcMemoryType != CU_MEMORYTYPE_ARRAY || copy->dstMemoryType != CU_MEMORYTYPE_ARRAY)
        return CUDA_SUCCESS;
    if (fv_array_of(copy->srcArray, &from) != CUDA_SUCCESS ||
        fv_array_of(copy->dstArray, &to) != CUDA_SUCCESS || from->element != to->element)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

CUresult fv_copy3d_plan(const CUDA_MEMCPY3D *copy, struct fv_copy3d *out)
{
    struct end from = source_of(copy), to = target_of(copy);
    CUresult result;

    *out = (struct fv_copy3d){
        .width = copy->WidthInBytes, .height = copy->Height, .depth = copy->Depth};
    if (copy->srcLOD || copy->dstLOD || copy->reserved0 || copy->reserved1)
        return CUDA_ERROR_INVALID_VALUE;
    result = plan_end(&from, out, &out->from);
    if (result == CUDA_SUCCESS)
        result = plan_end(&to, out, &out->to);
    return result == CUDA_SUCCESS ? check_arrays(copy) : result;
}

/* ---- a copy that was checked ---- */

static bool is_solid(const struct fv_copy3d *plan, const struct fv_box *box)
{
    size_t slice = plan->width * plan->height;

    return (plan->height == 1 || box->pitch == plan->width) &&
           (plan->depth == 1 || box->plane == slice);
}

CUresult fv_copy3d_run(const struct fv_copy3d *plan, int device)
{
    CUresult result = CUDA_SUCCESS;

    if (is_empty(plan))
        return CUDA_SUCCESS;
    if (is_solid(plan, &plan->from) && is_solid(plan, &plan->to))
        return fv_copy_any(plan->to.at, plan->from.at, plan->width * plan->height * plan->depth,
                           device);
    for (size_t z = 0; z < plan->depth; z++)
        for (size_t y = 0; y < plan->height && result == CUDA_SUCCESS; y++)
            result = fv_copy_any(plan->to.at + z * plan->to.plane + y * plan->to.pitch,
                                 plan->from.at + z * plan->from.plane + y * plan->from.pitch,
                                 plan->width, device);
    return result;
}

static bool box_uses(const struct fv_copy3d *plan, const struct fv_box *box, CUdeviceptr base,
                     size_t size)
{
    size_t bytes;

    return extent(plan, box, &bytes) && fv_overlap(box->at, bytes, base, size);
}

bool fv_copy3d_uses(const struct fv_copy3d *plan, CUdeviceptr base, size_t size)
{
    return !is_empty(plan) &&
           (box_uses(plan, &plan->from, base, size) || box_uses(plan, &plan->to, base, size));
}
