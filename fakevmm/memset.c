/* memset.c: fills of 1, 2 and 4 byte elements in one and two dimensions, with and without a
 * stream. It must not know what the memory is for. */
#include "capture.h"
#include "device.h"
#include "hazard.h"
#include "mem.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>

struct fill {
    uint64_t to;
    size_t pitch;
    unsigned value, width; /* bytes of an element */
    size_t count, height;
};

struct fill_work {
    struct fv_work work;
    struct fill fill;
};

CUresult fv_fill_any(uint64_t to, size_t pitch, unsigned value, unsigned width, size_t count,
                     size_t height, int device)
{
    CUresult result = fv_va_fill(to, pitch, value, width, count, height, device);

    if (result == CUDA_ERROR_ILLEGAL_ADDRESS)
        fv_say("illegal address: memset of %zu x %zu elements at 0x%llx", count, height,
               (unsigned long long)to);
    return result;
}

static CUresult run_fill(struct fv_work *work)
{
    const struct fill *fill = &((const struct fill_work *)work)->fill;

    return fv_fill_any(fill->to, fill->pitch, fill->value, fill->width, fill->count, fill->height,
                       FV_COPY_ON(work->context->device->ordinal));
}

static const char *fill_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    const struct fill *fill = &((const struct fill_work *)work)->fill;

    for (size_t row = 0; row < fill->height; row++)
        if (fv_overlap(fill->to + row * fill->pitch, fill->count * fill->width, base, size))
            return "memset";
    return NULL;
}

static void retire_fill(struct fv_work *work)
{
    free(work);
}

static CUresult check(const struct fill *fill)
{
    size_t row = fill->count * fill->width;

    if (fill->count > SIZE_MAX / fill->width || fill->to % fill->width)
        return CUDA_ERROR_INVALID_VALUE;
    if (fill->height > 1 && (fill->pitch % fill->width || fill->pitch < row))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < fill->height; i++)
        if (fv_check_device_range(fill->to + i * fill->pitch, row) != CUDA_SUCCESS)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult capture(struct fv_stream *stream, const struct fill *fill)
{
    CUgraphNodeParams given =
        fv_given_memset(&(CUDA_MEMSET_NODE_PARAMS_v1){.dst = fill->to,
                                                      .pitch = fill->pitch,
                                                      .value = fill->value,
                                                      .elementSize = fill->width,
                                                      .width = fill->count,
                                                      .height = fill->height},
                        (CUcontext)stream->context);
    CUgraphNode node;

    return fv_capture_node(stream, &given, &node);
}

/* Without a stream the host does not wait either, unless the memory is its own. */
static CUresult submit(const struct fill *fill, CUstream handle, bool async)
{
    struct fv_stream *stream;
    CUresult result =
        async ? fv_stream_for_work(handle, &stream) : fv_stream_uncaptured(handle, &stream);
    struct fill_work *work;

    if (result != CUDA_SUCCESS || !fill->count || !fill->height)
        return result;
    result = check(fill);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->tail)
        return capture(stream, fill);
    work = malloc(sizeof *work);
    if (!work)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *work = (struct fill_work){.work = {.run = run_fill, .retire = retire_fill, .uses = fill_uses},
                               .fill = *fill};
    fv_submit(stream, &work->work);
    return async || fv_va_is_device(fill->to) ? CUDA_SUCCESS : fv_stream_wait(stream);
}

/* ---- the forms ---- */

#define MEMSET(bits, type)                                                                         \
    CUresult fv_cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count)                     \
    {                                                                                              \
        return submit(&(struct fill){to, 0, value, sizeof(type), count, 1}, NULL, false);          \
    }                                                                                              \
    CUresult fv_cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream)  \
    {                                                                                              \
        return submit(&(struct fill){to, 0, value, sizeof(type), count, 1}, stream, true);         \
    }                                                                                              \
    CUresult fv_cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width,     \
                                       size_t height)                                              \
    {                                                                                              \
        return submit(&(struct fill){to, pitch, value, sizeof(type), width, height}, NULL, false); \
    }                                                                                              \
    CUresult fv_cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,   \
                                         size_t height, CUstream stream)                           \
    {                                                                                              \
        return submit(&(struct fill){to, pitch, value, sizeof(type), width, height}, stream,       \
                      true);                                                                       \
    }                                                                                              \
    CUresult fv_cuMemsetD##bits(CUdeviceptr_v1 to, type value, unsigned count)                     \
    {                                                                                              \
        return fv_cuMemsetD##bits##_v2(to, value, count);                                          \
    }                                                                                              \
    CUresult fv_cuMemsetD2D##bits(CUdeviceptr_v1 to, unsigned pitch, type value, unsigned width,   \
                                  unsigned height)                                                 \
    {                                                                                              \
        return fv_cuMemsetD2D##bits##_v2(to, pitch, value, width, height);                         \
    }

MEMSET(8, unsigned char)
MEMSET(16, unsigned short)
MEMSET(32, unsigned int)
