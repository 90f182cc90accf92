/* array_shape.c: what CUDA arrays may look like: formats, channels, extents by kind of array,
 * levels of mipmapped ones. It must not know where an array lies. */
#include "array.h"
#include "device.h"

/* ---- elements ---- */

/* Formats with one value per channel; the application says how many channels. */
static size_t channel_bytes(CUarray_format format)
{
    switch ((int)format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

static const struct {
    CUarray_format format;
    unsigned char channels, bytes;
} packed[] = {
    {CU_AD_FORMAT_UNORM_INT8X1, 1, 1},       {CU_AD_FORMAT_UNORM_INT8X2, 2, 2},
    {CU_AD_FORMAT_UNORM_INT8X4, 4, 4},       {CU_AD_FORMAT_UNORM_INT16X1, 1, 2},
    {CU_AD_FORMAT_UNORM_INT16X2, 2, 4},      {CU_AD_FORMAT_UNORM_INT16X4, 4, 8},
    {CU_AD_FORMAT_SNORM_INT8X1, 1, 1},       {CU_AD_FORMAT_SNORM_INT8X2, 2, 2},
    {CU_AD_FORMAT_SNORM_INT8X4, 4, 4},       {CU_AD_FORMAT_SNORM_INT16X1, 1, 2},
    {CU_AD_FORMAT_SNORM_INT16X2, 2, 4},      {CU_AD_FORMAT_SNORM_INT16X4, 4, 8},
    {CU_AD_FORMAT_UNORM_INT_101010_2, 4, 4},
};

/* Block-compressed and YUV formats: an element there is no row of bytes. */
static bool is_blocked(CUarray_format format)
{
    int number = (int)format;

    return number >= CU_AD_FORMAT_BC1_UNORM && number <= CU_AD_FORMAT_YUV444_16bit_SemiPlanar;
}

static CUresult check_element(const CUDA_ARRAY3D_DESCRIPTOR *shape, size_t *bytes)
{
    unsigned channels = shape->NumChannels;

    if (is_blocked(shape->Format))
        return CUDA_ERROR_NOT_SUPPORTED;
    *bytes = channel_bytes(shape->Format) * channels;
    if (*bytes)
        return channels == 1 || channels == 2 || channels == 4 ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (packed[i].format == shape->Format && packed[i].channels == channels)
            return *bytes = packed[i].bytes, CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* ---- extents ---- */

/* A device attribute by its name after CU_DEVICE_ATTRIBUTE_. All devices are alike in these. */
#define MOST(name) ((size_t)fv_device_attribute(fv_device(0), CU_DEVICE_ATTRIBUTE_MAXIMUM_##name))

static bool within(const CUDA_ARRAY3D_DESCRIPTOR *shape, size_t width, size_t height, size_t depth)
{
    return shape->Width <= width && shape->Height <= height && shape->Depth <= depth;
}

static bool check_cube(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool layered, bool surface)
{
    size_t width = surface ? MOST(SURFACECUBEMAP_WIDTH) : MOST(TEXTURECUBEMAP_WIDTH);
    size_t layers =
        surface ? MOST(SURFACECUBEMAP_LAYERED_LAYERS) : MOST(TEXTURECUBEMAP_LAYERED_LAYERS);

    if (shape->Width != shape->Height || !shape->Depth || shape->Depth % 6)
        return false;
    return within(shape, width, width, layered ? layers : 6);
}

static bool check_layered(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool surface)
{
    if (!shape->Depth)
        return false;
    if (!shape->Height)
        return surface
                   ? within(shape, MOST(SURFACE1D_LAYERED_WIDTH), 0, MOST(SURFACE1D_LAYERED_LAYERS))
                   : within(shape, MOST(TEXTURE1D_LAYERED_WIDTH), 0,
                            MOST(TEXTURE1D_LAYERED_LAYERS));
    return surface ? within(shape, MOST(SURFACE2D_LAYERED_WIDTH), MOST(SURFACE2D_LAYERED_HEIGHT),
                            MOST(SURFACE2D_LAYERED_LAYERS))
                   : within(shape, MOST(TEXTURE2D_LAYERED_WIDTH), MOST(TEXTURE2D_LAYERED_HEIGHT),
                            MOST(TEXTURE2D_LAYERED_LAYERS));
}

static bool check_solid(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool surface)
{
    if (surface)
        return within(shape, MOST(SURFACE3D_WIDTH), MOST(SURFACE3D_HEIGHT), MOST(SURFACE3D_DEPTH));
    return within(shape, MOST(TEXTURE3D_WIDTH), MOST(TEXTURE3D_HEIGHT), MOST(TEXTURE3D_DEPTH)) ||
           within(shape, MOST(TEXTURE3D_WIDTH_ALTERNATE), MOST(TEXTURE3D_HEIGHT_ALTERNATE),
                  MOST(TEXTURE3D_DEPTH_ALTERNATE));
}

static bool check_flat(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool surface, bool mipmapped)
{
    if (shape->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        return within(shape, MOST(TEXTURE2D_GATHER_WIDTH), MOST(TEXTURE2D_GATHER_HEIGHT), 0);
    if (surface)
        return within(shape, MOST(SURFACE2D_WIDTH), MOST(SURFACE2D_HEIGHT), 0);
    if (mipmapped)
        return within(shape, MOST(TEXTURE2D_MIPMAPPED_WIDTH), MOST(TEXTURE2D_MIPMAPPED_HEIGHT), 0);
    return within(shape, MOST(TEXTURE2D_WIDTH), MOST(TEXTURE2D_HEIGHT), 0);
}

static bool check_line(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool surface, bool mipmapped)
{
    if (surface)
        return within(shape, MOST(SURFACE1D_WIDTH), 0, 0);
    return within(shape, mipmapped ? MOST(TEXTURE1D_MIPMAPPED_WIDTH) : MOST(TEXTURE1D_WIDTH), 0, 0);
}

static bool check_extent(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool mipmapped)
{
    bool layered = shape->Flags & CUDA_ARRAY3D_LAYERED;
    bool surface = shape->Flags & CUDA_ARRAY3D_SURFACE_LDST;
    bool gather = shape->Flags & CUDA_ARRAY3D_TEXTURE_GATHER;

    if (!shape->Width || (gather && (!shape->Height || shape->Depth)))
        return false;
    if (shape->Flags & CUDA_ARRAY3D_CUBEMAP)
        return check_cube(shape, layered, surface);
    if (layered)
        return check_layered(shape, surface);
    if (shape->Depth)
        return shape->Height && check_solid(shape, surface);
    return shape->Height ? check_flat(shape, surface, mipmapped)
                         : check_line(shape, surface, mipmapped);
}

/* ---- the whole ---- */

static size_t at_least_one(size_t extent)
{
    return extent ? extent : 1;
}

CUresult fv_array_check(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool mipmapped, size_t *element,
                        size_t *bytes)
{
    const unsigned plain = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP |
                           CUDA_ARRAY3D_TEXTURE_GATHER | CUDA_ARRAY3D_DEPTH_TEXTURE |
                           CUDA_ARRAY3D_COLOR_ATTACHMENT;
    const unsigned other =
        CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;
    CUresult result;

    if (shape->Flags & ~(plain | other))
        return CUDA_ERROR_INVALID_VALUE;
    if (shape->Flags & other)
        return CUDA_ERROR_NOT_SUPPORTED;
    result = check_element(shape, element);
    if (result != CUDA_SUCCESS)
        return result;
    if (!check_extent(shape, mipmapped))
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = *element * shape->Width * at_least_one(shape->Height) * at_least_one(shape->Depth);
    return CUDA_SUCCESS;
}

static bool has_layers(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    return shape->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

unsigned fv_array_levels(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    size_t most = shape->Width > shape->Height ? shape->Width : shape->Height;
    unsigned levels = 1;

    if (!has_layers(shape) && shape->Depth > most)
        most = shape->Depth;
    for (; most > 1; most /= 2)
        levels++;
    return levels;
}

static size_t shrink(size_t extent, unsigned level)
{
    return extent ? at_least_one(extent >> level) : 0;
}

CUDA_ARRAY3D_DESCRIPTOR fv_array_level(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned level)
{
    CUDA_ARRAY3D_DESCRIPTOR out = *shape;

    out.Width = shrink(shape->Width, level);
    out.Height = shrink(shape->Height, level);
    if (!has_layers(shape))
        out.Depth = shrink(shape->Depth, level);
    return out;
}
