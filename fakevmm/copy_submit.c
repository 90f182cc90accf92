/* copy_submit.c: how a copy goes to its stream. What follows the stream is decided as documented: a
 * copy from pageable host memory takes the bytes at the call, one to pageable host memory returns
 * when it has finished, one between devices returns at once even in the forms without a stream. It
 * must not know the driver's many forms of copies. */
#include "capture.h"
#include "copy.h"
#include "device.h"
#include "hazard.h"
#include "mem.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>

struct copy {
    struct fv_work work;
    struct fv_copy3d plan;
    unsigned char staged[];
};

CUDA_MEMCPY3D fv_copy_linear(uint64_t to, uint64_t from, size_t size)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .srcDevice = from,
                           .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                           .dstDevice = to,
                           .WidthInBytes = size,
                           .Height = 1,
                           .Depth = 1};
}

/* ---- the work ---- */

static CUresult run_copy(struct fv_work *work)
{
    return fv_copy3d_run(&((const struct copy *)work)->plan,
                         FV_COPY_ON(work->context->device->ordinal));
}

static const char *copy_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    return fv_copy3d_uses(&((const struct copy *)work)->plan, base, size) ? "copy" : NULL;
}

static void retire_copy(struct fv_work *work)
{
    free(work);
}

/* Takes the bytes of the source now, without its gaps. */
static CUresult stage(struct copy *copy, int device)
{
    struct fv_copy3d *plan = &copy->plan, now = *plan;
    CUresult result;

    now.to = (struct fv_box){
        .at = (uintptr_t)copy->staged, .pitch = plan->width, .plane = plan->width * plan->height};
    result = fv_copy3d_run(&now, FV_COPY_ON(device));
    plan->from = now.to;
    return result;
}

static CUresult new_copy(const struct fv_copy3d *plan, bool staged, int device, struct copy **out)
{
    size_t bytes = staged ? plan->width * plan->height * plan->depth : 0;
    struct copy *copy = malloc(sizeof *copy + bytes);
    CUresult result = CUDA_SUCCESS;

    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *copy = (struct copy){.work = {.run = run_copy, .retire = retire_copy, .uses = copy_uses},
                          .plan = *plan};
    if (staged)
        result = stage(copy, device);
    if (result == CUDA_SUCCESS)
        *out = copy;
    else
        free(copy);
    return result;
}

/* ---- the call ---- */

static bool is_pageable(uint64_t address)
{
    return !fv_va_is_device(address) && !fv_va_find(address);
}

/* True if the call returns only when the copy has finished. */
static bool must_wait(const struct fv_copy3d *plan, const struct fv_copy_call *call)
{
    if (call->async)
        return is_pageable(plan->to.at);
    return !fv_va_is_device(plan->to.at) || !fv_va_is_device(plan->from.at);
}

/* The sides of a one-dimensional copy that a device has to reach. */
static CUresult check_sides(const CUDA_MEMCPY3D *copy, const struct fv_copy_call *call)
{
    if (call->to_device && !fv_va_mapped(copy->dstDevice, copy->WidthInBytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (call->from_device && !fv_va_mapped(copy->srcDevice, copy->WidthInBytes))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Pageable memory is read when the graph runs. */
static CUresult capture(struct fv_stream *stream, const CUDA_MEMCPY3D *copy)
{
    CUgraphNodeParams given = fv_given_copy(copy, (CUcontext)stream->context);
    CUgraphNode node;

    return fv_capture_node(stream, &given, &node);
}

static CUresult queue(struct fv_stream *stream, const struct fv_copy3d *plan,
                      const struct fv_copy_call *call)
{
    bool wait = must_wait(plan, call);
    bool staged = call->source_now || (!wait && is_pageable(plan->from.at));
    struct copy *copy;
    CUresult result = new_copy(plan, staged, stream->context->device->ordinal, &copy);

    if (result != CUDA_SUCCESS)
        return result;
    fv_submit(stream, &copy->work);
    return wait ? fv_stream_wait(stream) : CUDA_SUCCESS;
}

CUresult fv_copy_submit(const CUDA_MEMCPY3D *copy, const struct fv_copy_call *call)
{
    struct fv_stream *stream;
    CUresult result = call->async ? fv_stream_for_work(call->stream, &stream)
                                  : fv_stream_uncaptured(call->stream, &stream);
    struct fv_copy3d plan;

    if (result != CUDA_SUCCESS)
        return result;
    result = fv_copy3d_plan(copy, &plan);
    if (result != CUDA_SUCCESS || !plan.width || !plan.height || !plan.depth)
        return result;
    result = check_sides(copy, call);
    if (result != CUDA_SUCCESS)
        return result;
    return stream->tail ? capture(stream, copy) : queue(stream, &plan, call);
}
