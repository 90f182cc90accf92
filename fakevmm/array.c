/* array.c: arrays and mipmapped arrays: their memory, their handles, what can be asked about them.
 * The levels of a mipmapped array are arrays that lie in its memory and live as long as it. It must
 * not know how bytes get in and out (copy.c). */
#include "array.h"
#include "device.h"
#include "mem.h"
#include "stream.h"
#include "va.h"

#define STEP       ((size_t)512)
#define MAX_LEVELS 32

struct fv_mipmap {
    struct fv_context *context;
    unsigned long long id;
    CUdeviceptr base;
    unsigned count;
    struct fv_array *levels[MAX_LEVELS];
};

FV_FITS(struct fv_array);
FV_FITS(struct fv_mipmap);

/* ---- memory ---- */

static size_t round_up(size_t size)
{
    return (size + STEP - 1) / STEP * STEP;
}

static CUresult map(struct fv_context *context, CUdeviceptr base, size_t size)
{
    struct fv_phys *phys = fv_phys_new(context->device, size);
    uint32_t access = fv_peers_of(context->device);
    CUresult result;

    if (!phys)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_va_map(&(struct fv_mapping){.base = base,
                                            .size = size,
                                            .requested = size,
                                            .phys = phys,
                                            .readable = access,
                                            .writable = access,
                                            .kind = FV_MEM_ARRAY,
                                            .context = context,
                                            .id = fv_mem_next_id()});
    fv_phys_put(phys); /* the mapping holds it now */
    return result;
}

static CUresult take(struct fv_context *context, size_t bytes, CUdeviceptr *out)
{
    struct fv_device *device = context->device;
    size_t size = round_up(bytes);
    CUresult result;

    if (!fv_mem_charge(device, size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_va_take(size, STEP, out);
    if (result == CUDA_SUCCESS) {
        result = map(context, *out, size);
        if (result != CUDA_SUCCESS)
            fv_va_give(*out, size);
    }
    if (result != CUDA_SUCCESS)
        fv_mem_refund(device, size);
    return result;
}

static void give(CUdeviceptr base)
{
    const struct fv_mapping *mapping = fv_va_find(base);
    size_t size = mapping->size;

    fv_mem_refund(mapping->phys->device, size);
    fv_va_unmap(base);
    fv_va_give(base, size);
}

/* ---- arrays ---- */

CUresult fv_array_of(CUarray handle, struct fv_array **out)
{
    if (!fv_valid(FV_ARRAY, handle))
        return CUDA_ERROR_INVALID_HANDLE;
    *out = (struct fv_array *)handle;
    return CUDA_SUCCESS;
}

void fv_array_extent(const struct fv_array *array, size_t *width, size_t *height, size_t *depth)
{
    *width = array->shape.Width * array->element;
    *height = array->shape.Height ? array->shape.Height : 1;
    *depth = array->shape.Depth ? array->shape.Depth : 1;
}

static CUresult create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_array new = {.id = fv_mem_next_id()}, *array;

    if (result == CUDA_SUCCESS)
        result = fv_array_check(shape, false, &new.element, &new.bytes);
    if (result == CUDA_SUCCESS)
        result = take(context, new.bytes, &new.base);
    if (result != CUDA_SUCCESS)
        return result;
    array = fv_new(FV_ARRAY);
    if (!array) {
        give(new.base);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    new.context = context;
    new.shape = *shape;
    *array = new;
    *out = (CUarray)array;
    return CUDA_SUCCESS;
}

/* fv_cuArray<name>: one form of descriptor, turned into the newest. */
#define CREATE(name, type, ...)                                                                    \
    CUresult fv_cuArray##name(CUarray *out, const type *shape)                                     \
    {                                                                                              \
        if (!out || !shape)                                                                        \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        return create(out, &(CUDA_ARRAY3D_DESCRIPTOR){.Width = shape->Width,                       \
                                                      .Height = shape->Height,                     \
                                                      .Format = shape->Format,                     \
                                                      .NumChannels = shape->NumChannels,           \
                                                      __VA_ARGS__});                               \
    }
CREATE(Create, CUDA_ARRAY_DESCRIPTOR_v1, .Depth = 0)
CREATE(Create_v2, CUDA_ARRAY_DESCRIPTOR, .Depth = 0)
CREATE(3DCreate, CUDA_ARRAY3D_DESCRIPTOR_v1, .Depth = shape->Depth, .Flags = shape->Flags)
CREATE(3DCreate_v2, CUDA_ARRAY3D_DESCRIPTOR, .Depth = shape->Depth, .Flags = shape->Flags)

static void drop(struct fv_array *array)
{
    if (!array->level_of)
        give(array->base);
    fv_delete(FV_ARRAY, array);
}

/* After the work that may use it. A level goes with its mipmapped array. */
CUresult fv_cuArrayDestroy(CUarray handle)
{
    struct fv_array *array;
    CUresult result = fv_array_of(handle, &array);
    unsigned long long id;

    if (result != CUDA_SUCCESS || array->level_of)
        return CUDA_ERROR_INVALID_HANDLE;
    id = array->id;
    result = fv_context_wait(array->context);
    /* The lock was dropped: another thread may have destroyed it. */
    if (fv_array_of(handle, &array) != CUDA_SUCCESS || array->id != id)
        return CUDA_ERROR_INVALID_HANDLE;
    drop(array);
    return result;
}

/* ---- questions ---- */

/* Only an array without depth has a descriptor without one. */
#define DESCRIBE(name, type, flat, ...)                                                            \
    CUresult fv_cuArray##name(type *out, CUarray handle)                                           \
    {                                                                                              \
        struct fv_array *array;                                                                    \
        CUresult result = out ? fv_array_of(handle, &array) : CUDA_ERROR_INVALID_VALUE;            \
        if (result != CUDA_SUCCESS)                                                                \
            return result;                                                                         \
        if ((flat) && array->shape.Depth)                                                          \
            return CUDA_ERROR_INVALID_VALUE;                                                       \
        *out = (type){.Width = array->shape.Width,                                                 \
                      .Height = array->shape.Height,                                               \
                      .Format = array->shape.Format,                                               \
                      .NumChannels = array->shape.NumChannels,                                     \
                      __VA_ARGS__};                                                                \
        return CUDA_SUCCESS;                                                                       \
    }
DESCRIBE(GetDescriptor, CUDA_ARRAY_DESCRIPTOR_v1, true)
DESCRIBE(GetDescriptor_v2, CUDA_ARRAY_DESCRIPTOR, true)
DESCRIBE(3DGetDescriptor, CUDA_ARRAY3D_DESCRIPTOR_v1, false, .Depth = array->shape.Depth,
         .Flags = array->shape.Flags)
DESCRIBE(3DGetDescriptor_v2, CUDA_ARRAY3D_DESCRIPTOR, false, .Depth = array->shape.Depth,
         .Flags = array->shape.Flags)

/* No array here is sparse, mapped later, or of several planes: what is documented for those that
 * are not. */
CUresult fv_cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out, CUarray handle)
{
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray handle,
                                         CUdevice device)
{
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuArrayGetPlane(CUarray *out, CUarray handle, unsigned plane)
{
    struct fv_array *array;
    CUresult result = out ? fv_array_of(handle, &array) : CUDA_ERROR_INVALID_VALUE;

    return result == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : result;
}

/* ---- mipmapped arrays ---- */

static void drop_mipmap(struct fv_mipmap *mipmap)
{
    while (mipmap->count)
        drop(mipmap->levels[--mipmap->count]);
    give(mipmap->base);
    fv_delete(FV_MIPMAP, mipmap);
}

static CUresult check_levels(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned count, size_t *bytes)
{
    size_t element, level_bytes;

    *bytes = 0;
    for (unsigned level = 0; level < count; level++) {
        CUDA_ARRAY3D_DESCRIPTOR at = fv_array_level(shape, level);
        CUresult result = fv_array_check(&at, true, &element, &level_bytes);

        if (result != CUDA_SUCCESS)
            return result;
        *bytes += round_up(level_bytes);
    }
    return CUDA_SUCCESS;
}

static CUresult add_level(struct fv_mipmap *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *shape,
                          CUdeviceptr *next)
{
    struct fv_array *array = fv_new(FV_ARRAY);

    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *array = (struct fv_array){.context = mipmap->context,
                               .shape = fv_array_level(shape, mipmap->count),
                               .base = *next,
                               .id = fv_mem_next_id(),
                               .level_of = mipmap};
    fv_array_check(&array->shape, true, &array->element, &array->bytes);
    *next += round_up(array->bytes);
    mipmap->levels[mipmap->count++] = array;
    return CUDA_SUCCESS;
}

CUresult fv_cuMipmappedArrayCreate(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *shape,
                                   unsigned count)
{
    struct fv_context *context;
    CUresult result = fv_current(&context);
    struct fv_mipmap *mipmap;
    CUdeviceptr base, next;
    size_t bytes;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !shape || !count)
        return CUDA_ERROR_INVALID_VALUE;
    count = count < fv_array_levels(shape) ? count : fv_array_levels(shape);
    result = check_levels(shape, count, &bytes);
    if (result == CUDA_SUCCESS)
        result = take(context, bytes, &base);
    if (result != CUDA_SUCCESS)
        return result;
    mipmap = fv_new(FV_MIPMAP);
    if (!mipmap) {
        give(base);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *mipmap = (struct fv_mipmap){.context = context, .id = fv_mem_next_id(), .base = base};
    next = base;
    while (mipmap->count < count && result == CUDA_SUCCESS)
        result = add_level(mipmap, shape, &next);
    if (result == CUDA_SUCCESS)
        *out = (CUmipmappedArray)mipmap;
    else
        drop_mipmap(mipmap);
    return result;
}

CUresult fv_cuMipmappedArrayGetLevel(CUarray *out, CUmipmappedArray handle, unsigned level)
{
    const struct fv_mipmap *mipmap = (const struct fv_mipmap *)handle;

    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!fv_valid(FV_MIPMAP, mipmap))
        return CUDA_ERROR_INVALID_HANDLE;
    if (level >= mipmap->count)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUarray)mipmap->levels[level];
    return CUDA_SUCCESS;
}

CUresult fv_cuMipmappedArrayDestroy(CUmipmappedArray handle)
{
    struct fv_mipmap *mipmap = (struct fv_mipmap *)handle;
    unsigned long long id;
    CUresult result;

    if (!fv_valid(FV_MIPMAP, mipmap))
        return CUDA_ERROR_INVALID_HANDLE;
    id = mipmap->id;
    result = fv_context_wait(mipmap->context);
    /* The lock was dropped: another thread may have destroyed it. */
    if (!fv_valid(FV_MIPMAP, mipmap) || mipmap->id != id)
        return CUDA_ERROR_INVALID_HANDLE;
    drop_mipmap(mipmap);
    return result;
}

CUresult fv_cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *out,
                                                CUmipmappedArray handle)
{
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult fv_cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
                                                  CUmipmappedArray handle, CUdevice device)
{
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- the end of a context ---- */

void fv_array_drop_context(struct fv_context *context)
{
    for (struct fv_mipmap *it = fv_next(FV_MIPMAP, NULL); it; it = fv_next(FV_MIPMAP, it))
        if (it->context == context)
            drop_mipmap(it);
    for (struct fv_array *it = fv_next(FV_ARRAY, NULL); it; it = fv_next(FV_ARRAY, it))
        if (it->context == context)
            drop(it);
}
