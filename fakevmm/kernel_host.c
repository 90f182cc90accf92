/* kernel_host.c: device printf and the device heap. Output is kept until somebody waits, as the
 * CUDA documentation says of a GPU's buffer (but nothing is lost when it is full). Each block of
 * the heap is a mapping of its own, so that an access outside is caught. It must not know how
 * kernels run. */
#include "kernel_host.h"
#include "graph_params.h"
#include "mem.h"
#include "stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- printf ---- */

enum { FULL = 1 << 20 }; /* bytes that are written without waiting for anybody */

static struct {
    pthread_mutex_t lock;
    char *text;
    size_t length, room;
} printed = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_out(void)
{
    if (!printed.length)
        return;
    fwrite(printed.text, 1, printed.length, stdout);
    fflush(stdout);
    printed.length = 0;
}

static bool make_room(size_t length)
{
    size_t room = printed.room ? printed.room : 4096;
    char *text;

    while (room - printed.length < length)
        room *= 2;
    text = room == printed.room ? printed.text : realloc(printed.text, room);
    if (!text)
        return false;
    printed.text = text;
    printed.room = room;
    return true;
}

static void print(void *context, const char *text, size_t length)
{
    pthread_mutex_lock(&printed.lock);
    if (printed.length >= FULL || !make_room(length))
        write_out();
    if (make_room(length)) {
        memcpy(printed.text + printed.length, text, length);
        printed.length += length;
    }
    pthread_mutex_unlock(&printed.lock);
}

void fv_print_flush(void)
{
    pthread_mutex_lock(&printed.lock);
    write_out();
    pthread_mutex_unlock(&printed.lock);
}

/* ---- malloc and free ---- */

static CUresult take_mapping(struct fv_context *context, size_t size, CUdeviceptr *out)
{
    uint32_t access = UINT32_C(1) << context->device->ordinal;
    struct fv_mapping mapping = {
        .readable = access, .writable = access, .kind = FV_MEM_HEAP, .context = context};

    if (size > context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] - context->heap_used)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return fv_mem_map_new(context->device, size, mapping, out);
}

static uint64_t take(void *owner, uint64_t size)
{
    struct fv_context *context = owner;
    CUdeviceptr address = 0;

    if (!size)
        return 0;
    fv_lock();
    if (take_mapping(context, size, &address) == CUDA_SUCCESS)
        context->heap_used += size;
    else
        address = 0;
    fv_unlock();
    return address;
}

static bool give(void *owner, uint64_t address)
{
    struct fv_context *context = owner;
    struct fv_mapping *mapping;
    bool ours;

    fv_lock();
    mapping = fv_va_find(address);
    ours = mapping && mapping->kind == FV_MEM_HEAP && mapping->base == address &&
           mapping->context == context;
    if (ours) {
        context->heap_used -= mapping->requested;
        fv_mem_unmap(mapping);
    }
    fv_unlock();
    return ours;
}

static void end_mapping(struct fv_mapping *mapping)
{
    fv_mem_unmap(mapping);
}

void fv_heap_drop_context(const struct fv_context *context)
{
    fv_mem_drop_kind(context, FV_MEM_HEAP, end_mapping);
}

/* ---- the rest ---- */

static void set_conditional(void *context, uint64_t handle, unsigned value)
{
    fv_conditional_set(handle, value);
}

static bool stopped(void *context)
{
    return fv_workers_overdue();
}

struct ptx_host fv_kernel_host(struct fv_context *context)
{
    return (struct ptx_host){.print = print,
                             .set_conditional = set_conditional,
                             .take = take,
                             .give = give,
                             .stopped = stopped,
                             .context = context};
}
