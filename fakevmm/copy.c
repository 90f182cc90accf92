/* copy.c: one-dimensional copies. With unified addressing an address says by itself whether it
 * is the host's or a device's, so all forms are one. What follows the stream is decided as
 * documented: a copy from pageable host memory takes the bytes at the call, one to pageable host
 * memory returns when it has finished, one between devices returns at once even in the forms
 * without a stream. */
#include "capture.h"
#include "device.h"
#include "hazard.h"
#include "mem.h"
#include "stream.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>

struct copy {
    struct fv_work work;
    uint64_t to, from;
    size_t size;
    unsigned char staged[];
};

struct request {
    uint64_t to, from;
    size_t size;
    CUstream stream;
    bool async;
    bool to_device, from_device; /* this side has to be memory that a device reaches */
};

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
    return address ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult run_copy(struct fv_work *work)
{
    const struct copy *copy = (const struct copy *)work;

    return fv_copy_any(copy->to, copy->from, copy->size,
                       FV_COPY_ON(work->context->device->ordinal));
}

static const char *copy_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    const struct copy *copy = (const struct copy *)work;
    bool used = fv_overlap(copy->to, copy->size, base, size) ||
                fv_overlap(copy->from, copy->size, base, size);

    return used ? "copy" : NULL;
}

static void retire_copy(struct fv_work *work)
{
    free(work);
}

static CUresult check(const struct request *request)
{
    CUresult to = request->to_device ? fv_check_device_range(request->to, request->size)
                                     : fv_check_range(request->to, request->size);
    CUresult from = request->from_device ? fv_check_device_range(request->from, request->size)
                                         : fv_check_range(request->from, request->size);

    return to == CUDA_SUCCESS ? from : to;
}

static bool is_pageable(uint64_t address)
{
    return !fv_va_is_device(address) && !fv_va_find(address);
}

/* True if the call returns only when the copy has finished. */
static bool must_wait(const struct request *request)
{
    if (request->async)
        return is_pageable(request->to);
    return !fv_va_is_device(request->to) || !fv_va_is_device(request->from);
}

/* Both sides are named by their address alone; pageable memory is read when the graph runs. */
static CUresult capture(struct fv_stream *stream, const struct request *request)
{
    CUgraphNodeParams given = fv_given_copy(&(CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                                             .srcDevice = request->from,
                                                             .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                                             .dstDevice = request->to,
                                                             .WidthInBytes = request->size,
                                                             .Height = 1,
                                                             .Depth = 1},
                                            (CUcontext)stream->context);
    CUgraphNode node;

    return fv_capture_node(stream, &given, &node);
}

static CUresult copy(struct request request)
{
    struct fv_stream *stream;
    CUresult result = request.async ? fv_stream_for_work(request.stream, &stream)
                                    : fv_stream_uncaptured(request.stream, &stream);
    bool wait, stage;
    struct copy *copy;

    if (result != CUDA_SUCCESS || !request.size)
        return result;
    result = check(&request);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->tail)
        return capture(stream, &request);
    wait = must_wait(&request);
    stage = !wait && is_pageable(request.from);
    copy = malloc(sizeof *copy + (stage ? request.size : 0));
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *copy = (struct copy){.work = {.run = run_copy, .retire = retire_copy, .uses = copy_uses},
                          .to = request.to,
                          .from = request.from,
                          .size = request.size};
    if (stage) {
        memcpy(copy->staged, (const void *)request.from, request.size);
        copy->from = (uintptr_t)copy->staged;
    }
    fv_submit(stream, &copy->work);
    return wait ? fv_stream_wait(stream) : CUDA_SUCCESS;
}

/* ---- the forms ---- */

CUresult fv_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return copy((struct request){.to = to, .from = from, .size = size});
}

CUresult fv_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy(
        (struct request){.to = to, .from = from, .size = size, .stream = stream, .async = true});
}

CUresult fv_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
    return copy(
        (struct request){.to = to, .from = (uintptr_t)from, .size = size, .to_device = true});
}

CUresult fv_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
    return copy((struct request){.to = to,
                                 .from = (uintptr_t)from,
                                 .size = size,
                                 .stream = stream,
                                 .async = true,
                                 .to_device = true});
}

CUresult fv_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
    return copy(
        (struct request){.to = (uintptr_t)to, .from = from, .size = size, .from_device = true});
}

CUresult fv_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy((struct request){.to = (uintptr_t)to,
                                 .from = from,
                                 .size = size,
                                 .stream = stream,
                                 .async = true,
                                 .from_device = true});
}

CUresult fv_cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size)
{
    return copy((struct request){
        .to = to, .from = from, .size = size, .to_device = true, .from_device = true});
}

CUresult fv_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream)
{
    return copy((struct request){.to = to,
                                 .from = from,
                                 .size = size,
                                 .stream = stream,
                                 .async = true,
                                 .to_device = true,
                                 .from_device = true});
}

static CUresult check_contexts(CUcontext a, CUcontext b)
{
    struct fv_context *context;
    CUresult result = fv_context_of(a, &context);

    return result == CUDA_SUCCESS ? fv_context_of(b, &context) : result;
}

CUresult fv_cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                         CUcontext from_context, size_t size)
{
    CUresult result = check_contexts(to_context, from_context);

    return result == CUDA_SUCCESS ? fv_cuMemcpyDtoD_v2(to, from, size) : result;
}

CUresult fv_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                              CUcontext from_context, size_t size, CUstream stream)
{
    CUresult result = check_contexts(to_context, from_context);

    return result == CUDA_SUCCESS ? fv_cuMemcpyDtoDAsync_v2(to, from, size, stream) : result;
}
