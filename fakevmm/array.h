/* array.h: CUDA arrays as plain device memory: rows of elements without gaps, slices or layers one
 * after the other. Owned by array.c (arrays) and array_shape.c (what an array may look like).
 * Textures and surfaces, which would want more, are not there. */
#ifndef FAKEVMM_ARRAY_H
#define FAKEVMM_ARRAY_H

#include "fakevmm.h"

struct fv_context;
struct fv_mipmap;

struct fv_array {
    struct fv_context *context;
    CUDA_ARRAY3D_DESCRIPTOR shape; /* as it was asked for; zero means a missing dimension */
    size_t element;                /* bytes: format and channels */
    CUdeviceptr base;
    size_t bytes;
    unsigned long long id;      /* never reused; handles are */
    struct fv_mipmap *level_of; /* NULL: an array of its own */
};

/* CUDA_ERROR_INVALID_HANDLE for what is no live array. */
CUresult fv_array_of(CUarray handle, struct fv_array **out);
/* Width in bytes, rows and slices (layers), none of them 0. */
void fv_array_extent(const struct fv_array *array, size_t *width, size_t *height, size_t *depth);
/* The end of a context. */
void fv_array_drop_context(struct fv_context *context);

/* ---- array_shape.c ---- */

/* Checks a shape against what is documented and the device's limits: CUDA_ERROR_INVALID_VALUE, or
 * CUDA_ERROR_NOT_SUPPORTED for formats and flags that make it more than plain memory. Says how many
 * bytes an element and the whole array have. */
CUresult fv_array_check(const CUDA_ARRAY3D_DESCRIPTOR *shape, bool mipmapped, size_t *element,
                        size_t *bytes);
/* How many levels a mipmapped array of this shape can have. */
unsigned fv_array_levels(const CUDA_ARRAY3D_DESCRIPTOR *shape);
/* The shape of one of its levels. Layers do not shrink. */
CUDA_ARRAY3D_DESCRIPTOR fv_array_level(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned level);

#endif
