/* array_copy.c: the two-dimensional copies that have a CUDA array at one end or both. An array lies
 * on the device whatever the direction says; the direction tells where the other end lies. Offsets
 * and widths are in bytes. The older calls without a width run from row to row. */
#include "runtime.h"

/* How a copy is run: at once, for the legacy or the per-thread default stream, or on a stream. */
struct way {
    enum { NOW, NOW_PER_THREAD, ON_STREAM } when;
    cudaStream_t stream;
};

static cudaError_t run(const CUDA_MEMCPY2D *copy, struct way way)
{
    switch (way.when) {
    case NOW: return DRIVER(cuMemcpy2DUnaligned, copy);
    case NOW_PER_THREAD: return DRIVER(cuMemcpy2DUnaligned_ptds, copy);
    default: return DRIVER(cuMemcpy2DAsync, copy, way.stream);
    }
}

/* ---- the two ends ---- */

/* One end: an array with a position, or memory with a pitch. */
struct end {
    cudaArray_const_t array;
    size_t x, y;
    const void *memory;
    size_t pitch;
    CUmemorytype type; /* of memory */
};

static CUDA_MEMCPY2D between(const struct end *dst, const struct end *src, size_t width,
                             size_t height)
{
    return (CUDA_MEMCPY2D){
        .srcXInBytes = src->x,
        .srcY = src->y,
        .srcMemoryType = src->array ? CU_MEMORYTYPE_ARRAY : src->type,
        .srcHost = src->memory,
        .srcDevice = rt_address(src->memory),
        .srcArray = (CUarray)(uintptr_t)src->array,
        .srcPitch = src->pitch,
        .dstXInBytes = dst->x,
        .dstY = dst->y,
        .dstMemoryType = dst->array ? CU_MEMORYTYPE_ARRAY : dst->type,
        .dstHost = (void *)(uintptr_t)dst->memory,
        .dstDevice = rt_address(dst->memory),
        .dstArray = (CUarray)(uintptr_t)dst->array,
        .dstPitch = dst->pitch,
        .WidthInBytes = width,
        .Height = height,
    };
}

static cudaError_t rectangle(const struct end *dst, const struct end *src, size_t width,
                             size_t height, struct way way)
{
    CUDA_MEMCPY2D copy = between(dst, src, width, height);

    if ((!src->array && width > src->pitch) || (!dst->array && width > dst->pitch))
        return cudaErrorInvalidPitchValue;
    return run(&copy, way);
}

/* ---- rectangles ---- */

static cudaError_t to_array(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                            size_t width, size_t height, enum cudaMemcpyKind kind, struct way way)
{
    struct end to = {.array = dst, .x = x, .y = y}, from = {.memory = src, .pitch = pitch};
    cudaError_t error = dst ? rt_memory_types(kind, &from.type, &to.type) : cudaErrorInvalidValue;

    return error == cudaSuccess ? rectangle(&to, &from, width, height, way) : error;
}

static cudaError_t from_array(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y,
                              size_t width, size_t height, enum cudaMemcpyKind kind, struct way way)
{
    struct end to = {.memory = dst, .pitch = pitch}, from = {.array = src, .x = x, .y = y};
    cudaError_t error = src ? rt_memory_types(kind, &from.type, &to.type) : cudaErrorInvalidValue;

    return error == cudaSuccess ? rectangle(&to, &from, width, height, way) : error;
}

static cudaError_t array_to_array(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                  cudaArray_const_t src, size_t src_x, size_t src_y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind, struct way way)
{
    struct end to = {.array = dst, .x = dst_x, .y = dst_y};
    struct end from = {.array = src, .x = src_x, .y = src_y};
    cudaError_t error =
        dst && src ? rt_memory_types(kind, &from.type, &to.type) : cudaErrorInvalidValue;

    return error == cudaSuccess ? rectangle(&to, &from, width, height, way) : error;
}

/* ---- runs of bytes ---- */

/* What is left of the row an end is in; SIZE_MAX for memory, which has no rows. */
static cudaError_t row_left(const struct end *end, size_t *out)
{
    CUDA_ARRAY3D_DESCRIPTOR array;
    size_t element;
    cudaError_t error;

    *out = SIZE_MAX;
    if (!end->array)
        return cudaSuccess;
    error = rt_array_describe(end->array, &array, &element);
    if (error != cudaSuccess)
        return error;
    if (end->x >= array.Width * element)
        return cudaErrorInvalidValue;
    *out = array.Width * element - end->x;
    return cudaSuccess;
}

/* `bytes` is at most what is left of the row. */
static void advance(struct end *end, size_t bytes, size_t left)
{
    if (!end->array) {
        end->memory = (const char *)end->memory + bytes;
    } else if (bytes < left) {
        end->x += bytes;
    } else {
        end->x = 0;
        end->y++;
    }
}

static cudaError_t run_of_bytes(struct end dst, struct end src, size_t count, struct way way)
{
    cudaError_t error = cudaSuccess;

    while (count && error == cudaSuccess) {
        size_t dst_left, src_left, bytes = count;

        error = row_left(&dst, &dst_left);
        if (error == cudaSuccess)
            error = row_left(&src, &src_left);
        if (error != cudaSuccess)
            break;
        bytes = bytes < dst_left ? bytes : dst_left;
        bytes = bytes < src_left ? bytes : src_left;
        dst.pitch = src.pitch = bytes;
        error = rectangle(&dst, &src, bytes, 1, way);
        advance(&dst, bytes, dst_left);
        advance(&src, bytes, src_left);
        count -= bytes;
    }
    return error;
}

static cudaError_t bytes_to_array(cudaArray_t dst, size_t x, size_t y, const void *src,
                                  size_t count, enum cudaMemcpyKind kind, struct way way)
{
    struct end to = {.array = dst, .x = x, .y = y}, from = {.memory = src};
    cudaError_t error = dst ? rt_memory_types(kind, &from.type, &to.type) : cudaErrorInvalidValue;

    return error == cudaSuccess ? run_of_bytes(to, from, count, way) : error;
}

static cudaError_t bytes_from_array(void *dst, cudaArray_const_t src, size_t x, size_t y,
                                    size_t count, enum cudaMemcpyKind kind, struct way way)
{
    struct end to = {.memory = dst}, from = {.array = src, .x = x, .y = y};
    cudaError_t error = src ? rt_memory_types(kind, &from.type, &to.type) : cudaErrorInvalidValue;

    return error == cudaSuccess ? run_of_bytes(to, from, count, way) : error;
}

static cudaError_t bytes_array_to_array(cudaArray_t dst, size_t dst_x, size_t dst_y,
                                        cudaArray_const_t src, size_t src_x, size_t src_y,
                                        size_t count, enum cudaMemcpyKind kind, struct way way)
{
    struct end to = {.array = dst, .x = dst_x, .y = dst_y};
    struct end from = {.array = src, .x = src_x, .y = src_y};
    cudaError_t error =
        dst && src ? rt_memory_types(kind, &from.type, &to.type) : cudaErrorInvalidValue;

    return error == cudaSuccess ? run_of_bytes(to, from, count, way) : error;
}

/* ---- the calls ---- */

/* Parameters in parentheses; the rest is what to call with, the way last. */
#define UNPACK(...) __VA_ARGS__
#define NOW_TWINS(name, params, work, ...)                                                         \
    cudaError_t rt_##name(UNPACK params)                                                           \
    {                                                                                              \
        return work(__VA_ARGS__, (struct way){.when = NOW});                                       \
    }                                                                                              \
    cudaError_t rt_##name##_ptds(UNPACK params)                                                    \
    {                                                                                              \
        return work(__VA_ARGS__, (struct way){.when = NOW_PER_THREAD});                            \
    }
#define ALL_TWINS(name, params, work, ...)                                                         \
    NOW_TWINS(name, params, work, __VA_ARGS__)                                                     \
    cudaError_t rt_##name##Async(UNPACK params, cudaStream_t stream)                               \
    {                                                                                              \
        return work(__VA_ARGS__, (struct way){.when = ON_STREAM, .stream = stream});               \
    }

ALL_TWINS(cudaMemcpy2DToArray,
          (cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
           size_t height, enum cudaMemcpyKind kind),
          to_array, dst, x, y, src, pitch, width, height, kind)
ALL_TWINS(cudaMemcpy2DFromArray,
          (void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
           size_t height, enum cudaMemcpyKind kind),
          from_array, dst, pitch, src, x, y, width, height, kind)
NOW_TWINS(cudaMemcpy2DArrayToArray,
          (cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x,
           size_t src_y, size_t width, size_t height, enum cudaMemcpyKind kind),
          array_to_array, dst, dst_x, dst_y, src, src_x, src_y, width, height, kind)
ALL_TWINS(cudaMemcpyToArray,
          (cudaArray_t dst, size_t x, size_t y, const void *src, size_t count,
           enum cudaMemcpyKind kind),
          bytes_to_array, dst, x, y, src, count, kind)
ALL_TWINS(cudaMemcpyFromArray,
          (void *dst, cudaArray_const_t src, size_t x, size_t y, size_t count,
           enum cudaMemcpyKind kind),
          bytes_from_array, dst, src, x, y, count, kind)
NOW_TWINS(cudaMemcpyArrayToArray,
          (cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_const_t src, size_t src_x,
           size_t src_y, size_t count, enum cudaMemcpyKind kind),
          bytes_array_to_array, dst, dst_x, dst_y, src, src_x, src_y, count, kind)
