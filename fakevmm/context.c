/* context.c: contexts and each thread's stack of current ones. A destroyed context's handle
 * value comes back with the next one, so a stack remembers the id as well. It must not know what
 * a context owns: the parts that own something drop it when asked. */
#include "array.h"
#include "device.h"
#include "stream.h"

#define STACK_DEPTH 64

FV_FITS(struct fv_context);

struct entry {
    struct fv_context *context;
    unsigned long long id;
};

static _Thread_local struct {
    struct entry entries[STACK_DEPTH];
    int depth;
} stack;

static unsigned long long last_id;

/* ---- life ---- */

CUresult fv_check_context_flags(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;

    /* At most one of the three scheduling bits. */
    if (flags & ~CU_CTX_FLAGS_MASK || schedule & (schedule - 1))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static void set_default_limits(struct fv_context *context)
{
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
}

CUresult fv_context_new(struct fv_device *device, unsigned flags, bool primary,
                        struct fv_context **out)
{
    struct fv_context *context = fv_new(FV_CONTEXT);
    struct fv_stream *legacy = fv_new(FV_STREAM);

    if (!context || !legacy) {
        fv_delete(FV_CONTEXT, context);
        fv_delete(FV_STREAM, legacy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->device = device;
    context->primary = primary;
    context->flags = flags;
    context->api_version = 3020;
    context->id = ++last_id;
    context->legacy = legacy;
    set_default_limits(context);
    fv_stream_init(legacy, context);
    *out = context;
    return CUDA_SUCCESS;
}

bool fv_context_lives(const struct fv_context *context, unsigned long long id)
{
    return fv_valid(FV_CONTEXT, context) && context->id == id && !context->closing;
}

void fv_context_close(struct fv_context *context)
{
    context->closing = true;
    fv_context_wait(context);
    fv_peer_drop_context(context);
    fv_module_drop_context(context);
    fv_array_drop_context(context);
    fv_mem_drop_context(context);
    fv_event_drop_context(context);
    fv_stream_drop_context(context);
    fv_coredump_drop_context(context);
    fv_delete(FV_CONTEXT, context);
    fv_changed();
}

void fv_context_poison(struct fv_context *context, CUresult error)
{
    if (context->sticky == CUDA_SUCCESS)
        context->sticky = error;
}

/* ---- the current one ---- */

static struct entry *top(void)
{
    return stack.depth ? &stack.entries[stack.depth - 1] : NULL;
}

CUresult fv_current(struct fv_context **out)
{
    struct entry *entry = top();

    if (!entry)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!fv_context_lives(entry->context, entry->id))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (entry->context->sticky != CUDA_SUCCESS)
        return entry->context->sticky;
    *out = entry->context;
    return CUDA_SUCCESS;
}

CUresult fv_context_of(CUcontext handle, struct fv_context **out)
{
    struct fv_context *context = (struct fv_context *)handle;

    if (!handle)
        return fv_current(out);
    if (!fv_valid(FV_CONTEXT, context) || context->closing)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->sticky != CUDA_SUCCESS)
        return context->sticky;
    *out = context;
    return CUDA_SUCCESS;
}

static bool is_context(CUcontext handle)
{
    struct fv_context *context = (struct fv_context *)handle;

    return fv_valid(FV_CONTEXT, context) && !context->closing;
}

static CUresult push(struct fv_context *context)
{
    if (stack.depth == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stack.entries[stack.depth++] = (struct entry){context, context->id};
    return CUDA_SUCCESS;
}

CUresult fv_cuCtxPushCurrent_v2(CUcontext handle)
{
    if (!is_context(handle))
        return handle ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
    return push((struct fv_context *)handle);
}

CUresult fv_cuCtxPushCurrent(CUcontext handle)
{
    return fv_cuCtxPushCurrent_v2(handle);
}

CUresult fv_cuCtxPopCurrent_v2(CUcontext *out)
{
    if (!stack.depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (out)
        *out = (CUcontext)top()->context;
    stack.depth--;
    return CUDA_SUCCESS;
}

CUresult fv_cuCtxPopCurrent(CUcontext *out)
{
    return fv_cuCtxPopCurrent_v2(out);
}

CUresult fv_cuCtxSetCurrent(CUcontext handle)
{
    if (!handle) {
        stack.depth -= stack.depth > 0;
        return CUDA_SUCCESS;
    }
    if (!is_context(handle))
        return CUDA_ERROR_INVALID_CONTEXT;
    stack.depth -= stack.depth > 0;
    return push((struct fv_context *)handle);
}

CUresult fv_cuCtxGetCurrent(CUcontext *out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = stack.depth ? (CUcontext)top()->context : NULL;
    return CUDA_SUCCESS;
}

/* ---- created contexts ---- */

CUresult fv_cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice ordinal)
{
    struct fv_device *device = fv_device(ordinal);
    struct fv_context *context;
    CUresult result;

    if (!out || fv_check_context_flags(flags) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (stack.depth == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = fv_context_new(device, flags, false, &context);
    if (result != CUDA_SUCCESS)
        return result;
    context->usage = 1;
    *out = (CUcontext)context;
    return push(context);
}

CUresult fv_cuCtxCreate(CUcontext *out, unsigned flags, CUdevice ordinal)
{
    return fv_cuCtxCreate_v2(out, flags, ordinal);
}

CUresult fv_cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int count, unsigned flags,
                           CUdevice ordinal)
{
    if (count < 0 || (count > 0 && !affinity))
        return CUDA_ERROR_INVALID_VALUE;
    if (count > 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return fv_cuCtxCreate_v2(out, flags, ordinal);
}

CUresult fv_cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags,
                           CUdevice ordinal)
{
    if (params && params->cigParams)
        return CUDA_ERROR_NOT_SUPPORTED;
    return fv_cuCtxCreate_v3(out, params ? params->execAffinityParams : NULL,
                             params ? params->numExecAffinityParams : 0, flags, ordinal);
}

/* Primary contexts end by their own calls. The caller's stack loses the context if it is on top. */
CUresult fv_cuCtxDestroy_v2(CUcontext handle)
{
    struct fv_context *context = (struct fv_context *)handle;

    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_context(handle) || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (stack.depth && top()->context == context)
        stack.depth--;
    fv_context_close(context);
    return CUDA_SUCCESS;
}

CUresult fv_cuCtxDestroy(CUcontext handle)
{
    return fv_cuCtxDestroy_v2(handle);
}
