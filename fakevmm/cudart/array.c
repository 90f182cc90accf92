/* array.c: CUDA arrays and mipmapped arrays: what an element is, creation, queries. The runtime
 * names an element by bits per channel and a kind, the driver by a format and a number of channels.
 * Copies are array_copy.c's and copy.c's; this file keeps no state. */
#include "runtime.h"

/* ---- elements ---- */

/* Kinds beyond these three (normalized, block-compressed, planar) are answered with
 * cudaErrorNotSupported: nothing on the fake GPU reads them. */
static const struct element {
    enum cudaChannelFormatKind kind;
    int bits; /* of each channel */
    CUarray_format format;
} elements[] = {
    {cudaChannelFormatKindUnsigned, 8, CU_AD_FORMAT_UNSIGNED_INT8},
    {cudaChannelFormatKindUnsigned, 16, CU_AD_FORMAT_UNSIGNED_INT16},
    {cudaChannelFormatKindUnsigned, 32, CU_AD_FORMAT_UNSIGNED_INT32},
    {cudaChannelFormatKindSigned, 8, CU_AD_FORMAT_SIGNED_INT8},
    {cudaChannelFormatKindSigned, 16, CU_AD_FORMAT_SIGNED_INT16},
    {cudaChannelFormatKindSigned, 32, CU_AD_FORMAT_SIGNED_INT32},
    {cudaChannelFormatKindFloat, 16, CU_AD_FORMAT_HALF},
    {cudaChannelFormatKindFloat, 32, CU_AD_FORMAT_FLOAT},
};

#define ELEMENTS (sizeof elements / sizeof *elements)

/* 1, 2 or 4 channels of equal width, named from x on; 0 for anything else. */
static unsigned channels_of(const struct cudaChannelFormatDesc *desc)
{
    const int bits[] = {desc->x, desc->y, desc->z, desc->w};
    unsigned count = 0;

    while (count < 4 && bits[count] && bits[count] == bits[0])
        count++;
    for (unsigned i = count; i < 4; i++) {
        if (bits[i])
            return 0;
    }
    return count == 3 ? 0 : count;
}

static cudaError_t format_of(const struct cudaChannelFormatDesc *desc, CUarray_format *format,
                             unsigned *channels)
{
    if (desc->f >= cudaChannelFormatKindNV12 &&
        desc->f <= cudaChannelFormatKindUnsignedNormalized1010102)
        return cudaErrorNotSupported;
    *channels = channels_of(desc);
    for (size_t i = 0; i < ELEMENTS && *channels; i++) {
        if (elements[i].kind == desc->f && elements[i].bits == desc->x) {
            *format = elements[i].format;
            return cudaSuccess;
        }
    }
    return cudaErrorInvalidChannelDescriptor;
}

static const struct element *element_of(CUarray_format format)
{
    for (size_t i = 0; i < ELEMENTS; i++) {
        if (elements[i].format == format)
            return &elements[i];
    }
    return NULL;
}

static struct cudaChannelFormatDesc desc_of(const struct element *element, unsigned channels)
{
    int bits = element->bits;

    return (struct cudaChannelFormatDesc){
        .x = bits,
        .y = channels > 1 ? bits : 0,
        .z = channels > 2 ? bits : 0,
        .w = channels > 3 ? bits : 0,
        .f = element->kind,
    };
}

struct cudaChannelFormatDesc rt_cudaCreateChannelDesc(int x, int y, int z, int w,
                                                      enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

cudaError_t rt_cudaDeviceGetTexture1DLinearMaxWidth(size_t *out,
                                                    const struct cudaChannelFormatDesc *desc,
                                                    int device)
{
    CUarray_format format;
    unsigned channels;
    cudaError_t error = desc ? format_of(desc, &format, &channels) : cudaErrorInvalidValue;

    return error == cudaSuccess
               ? DRIVER(cuDeviceGetTexture1DLinearMaxWidth, out, format, channels, device)
               : error;
}

/* ---- creation ---- */

static cudaError_t describe(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                            unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    *out = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width,
        .Height = extent.height,
        .Depth = extent.depth,
        .Flags = flags, /* the same bits in both */
    };
    return desc ? format_of(desc, &out->Format, &out->NumChannels) : cudaErrorInvalidValue;
}

cudaError_t rt_cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                                 struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR array;
    cudaError_t error = describe(desc, extent, flags, &array);

    return error == cudaSuccess ? DRIVER(cuArray3DCreate, (CUarray *)out, &array) : error;
}

cudaError_t rt_cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                               size_t width, size_t height, unsigned int flags)
{
    return rt_cudaMalloc3DArray(out, desc, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t rt_cudaMallocMipmappedArray(cudaMipmappedArray_t *out,
                                        const struct cudaChannelFormatDesc *desc,
                                        struct cudaExtent extent, unsigned int levels,
                                        unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR array;
    cudaError_t error = describe(desc, extent, flags, &array);

    return error == cudaSuccess
               ? DRIVER(cuMipmappedArrayCreate, (CUmipmappedArray *)out, &array, levels)
               : error;
}

cudaError_t rt_cudaFreeArray(cudaArray_t array)
{
    return array ? DRIVER(cuArrayDestroy, (CUarray)array) : cudaSuccess;
}

cudaError_t rt_cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    return array ? DRIVER(cuMipmappedArrayDestroy, (CUmipmappedArray)array) : cudaSuccess;
}

/* ---- queries ---- */

cudaError_t rt_array_describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR *out,
                              size_t *element)
{
    const struct element *found;
    cudaError_t error = DRIVER(cuArray3DGetDescriptor, out, (CUarray)(uintptr_t)array);

    if (error != cudaSuccess)
        return error;
    found = element_of(out->Format);
    if (!found)
        return cudaErrorNotSupported;
    *element = (size_t)found->bits / 8 * out->NumChannels;
    return cudaSuccess;
}

cudaError_t rt_cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                unsigned int *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR from;
    size_t element;
    cudaError_t error = rt_array_describe(array, &from, &element);

    if (error != cudaSuccess)
        return error;
    if (desc)
        *desc = desc_of(element_of(from.Format), from.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){from.Width, from.Height, from.Depth};
    if (flags)
        *flags = from.Flags;
    return cudaSuccess;
}

cudaError_t rt_cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    return desc ? rt_cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)(uintptr_t)array)
                : cudaErrorInvalidValue;
}

cudaError_t rt_cudaGetMipmappedArrayLevel(cudaArray_t *out, cudaMipmappedArray_const_t array,
                                          unsigned int level)
{
    return array ? DRIVER(cuMipmappedArrayGetLevel, (CUarray *)out,
                          (CUmipmappedArray)(uintptr_t)array, level)
                 : cudaErrorInvalidResourceHandle;
}

/* The two descriptions of memory have one layout in both forms. */
_Static_assert(sizeof(struct cudaArraySparseProperties) == sizeof(CUDA_ARRAY_SPARSE_PROPERTIES),
               "one layout");
_Static_assert(sizeof(struct cudaArrayMemoryRequirements) == sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS),
               "one layout");

FORWARD(cudaArrayGetPlane, (cudaArray_t * out, cudaArray_t array, unsigned int plane),
        cuArrayGetPlane, (CUarray *)out, (CUarray)array, plane)
FORWARD(cudaArrayGetMemoryRequirements,
        (struct cudaArrayMemoryRequirements * out, cudaArray_t array, int device),
        cuArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *)out, (CUarray)array, device)
FORWARD(cudaMipmappedArrayGetMemoryRequirements,
        (struct cudaArrayMemoryRequirements * out, cudaMipmappedArray_t array, int device),
        cuMipmappedArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *)out,
        (CUmipmappedArray)array, device)
FORWARD(cudaArrayGetSparseProperties, (struct cudaArraySparseProperties * out, cudaArray_t array),
        cuArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES *)out, (CUarray)array)
FORWARD(cudaMipmappedArrayGetSparseProperties,
        (struct cudaArraySparseProperties * out, cudaMipmappedArray_t array),
        cuMipmappedArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES *)out,
        (CUmipmappedArray)array)
