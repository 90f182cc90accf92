/* leaks.c: what the application has not given back when the process ends, for FAKEVMM_LEAKS=1. It
 * must not free anything. */
#include "leaks.h"
#include "array.h"
#include "graph_exec.h"
#include "mempool.h"
#include "module_parts.h"
#include "settings.h"
#include "stream.h"
#include "va.h"
#include "vmm.h"

#include <stdio.h>
#include <unistd.h>

static bool any(const void *object)
{
    return true;
}

/* Default streams come and go with their context, a destroyed one after its work. */
static bool is_created_stream(const void *object)
{
    const struct fv_stream *stream = object;

    return !stream->thread && !stream->dying && stream != stream->context->legacy;
}

static bool is_loaded_module(const void *object)
{
    return !((const struct fv_module *)object)->library;
}

static bool is_own_graph(const void *object)
{
    return !((const struct fv_graph *)object)->owner;
}

/* A level goes with its mipmapped array. */
static bool is_own_array(const void *object)
{
    return !((const struct fv_array *)object)->level_of;
}

/* A destroyed pool waits for its last allocation, which is counted as one. */
static bool is_created_pool(const void *object)
{
    return fv_pool_of((CUmemoryPool)object) && !fv_pool_is_default(object);
}

static const struct {
    const char *name;
    enum fv_kind kind;
    bool (*counts)(const void *object);
} kinds[] = {
    {"context", FV_CONTEXT, any},
    {"module", FV_MODULE, is_loaded_module},
    {"stream", FV_STREAM, is_created_stream},
    {"event", FV_EVENT, any},
    {"graph", FV_GRAPH, is_own_graph},
    {"exec", FV_EXEC, any},
    {"mipmap", FV_MIPMAP, any},
    {"array", FV_ARRAY, is_own_array},
    {"pool", FV_MEMPOOL, is_created_pool},
    {"user_object", FV_USER_OBJECT, any},
    {"link", FV_LINK, any},
};

static void print(const char *name, size_t count)
{
    if (count)
        dprintf(STDERR_FILENO, "leak %s %zu\n", name, count);
}

static size_t count_objects(enum fv_kind kind, bool (*counts)(const void *object))
{
    size_t count = 0;

    for (const void *it = fv_next(kind, NULL); it; it = fv_next(kind, it))
        count += counts(it);
    return count;
}

static size_t count_mappings(enum fv_mem_kind kind)
{
    size_t count = 0;

    for (const struct fv_mapping *it = fv_va_from(0); it; it = fv_va_from(it->base + 1))
        count += it->kind == kind && !it->freed &&
                 ((kind != FV_MEM_MANAGED && kind != FV_MEM_GRAPH) || it->release);
    return count;
}

void fv_leaks_print(size_t late_unloads)
{
    if (!fv_settings()->leaks)
        return;
    size_t libraries = count_objects(FV_LIBRARY, any);

    print("library", libraries > late_unloads ? libraries - late_unloads : 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        print(kinds[i].name, count_objects(kinds[i].kind, kinds[i].counts));
    print("allocation", count_mappings(FV_MEM_ALLOC) + count_mappings(FV_MEM_HOST) +
                            count_mappings(FV_MEM_POOL) + count_mappings(FV_MEM_MANAGED) +
                            count_mappings(FV_MEM_GRAPH));
    print("ipc", count_mappings(FV_MEM_IMPORTED));
    print("vmm_handle", fv_handle_count());
    print("mapping", count_mappings(FV_MEM_VMM));
    print("reservation", fv_reservation_count());
}
