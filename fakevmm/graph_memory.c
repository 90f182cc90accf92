/* graph_memory.c: memory that graphs allocate and free. Its addresses are fixed for as long as a
 * node or exec knows it and are always mapped; that it is allocated shows in who may access it.
 * There are two times: the calls' (when a launch or free is queued: what the application may do
 * next) and the work's (when a launch or free has its turn: who may access the memory). */
#include "graph_memory.h"
#include "mem.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 512

struct fv_graph_memory {
    CUdeviceptr base;
    size_t size;
    struct fv_device *device;
    unsigned refs;            /* parameters of nodes */
    unsigned long long graph; /* id of the one with the allocation node, 0: not added yet */
    struct fv_params *frees;  /* parameters of nodes that free it */
    uint32_t readable, writable;
    bool backed;    /* counted as reserved */
    bool allocated; /* in the work's time */
    struct fv_graph_memory *next;
};

static struct fv_graph_memory *memories; /* newest first */

static struct fv_graph_memory *find(CUdeviceptr base)
{
    struct fv_graph_memory *it = memories;
    while (it && it->base != base)
        it = it->next;
    return it;
}

static struct fv_mapping *mapping_of(const struct fv_graph_memory *memory)
{
    return fv_va_find(memory->base);
}

/* In the calls' time: allocated by a launch that leaves it so, and not freed since. */
static bool is_live(const struct fv_graph_memory *memory)
{
    const struct fv_mapping *mapping = mapping_of(memory);
    return mapping->release && !mapping->freed;
}

static bool freed_by(const struct fv_graph_memory *memory, unsigned long long graph)
{
    const struct fv_params *it = memory->frees;
    while (it && it->free.graph != graph)
        it = it->free.next;
    return it;
}

static bool freed_at_home(const struct fv_graph_memory *memory)
{
    return freed_by(memory, memory->graph);
}

/* ---- life ---- */

static void destroy(struct fv_graph_memory *memory)
{
    struct fv_graph_memory **at = &memories;
    while (*at != memory)
        at = &(*at)->next;
    *at = memory->next;
    if (memory->backed)
        fv_graph_memory_unback(memory->device, memory->size);
    fv_va_unmap(memory->base);
    fv_va_give(memory->base, memory->size);
    free(memory);
}

static void destroy_if_unused(struct fv_graph_memory *memory)
{
    if (!memory->refs && !memory->allocated && !mapping_of(memory)->release)
        destroy(memory);
}

/* The work's time of a free has come. A launch that is queued by now has it allocated again, in the
 * calls' time. */
static void end(struct fv_graph_memory *memory)
{
    struct fv_mapping *mapping = mapping_of(memory);
    if (memory->allocated)
        fv_graph_memory_use(memory->device, -(int64_t)memory->size);
    memory->allocated = false;
    mapping->waiting = true;
    fv_va_set_access(mapping, 0, 0);
    if (!mapping->coming) {
        mapping->release = NULL;
        mapping->freed = false;
    }
    destroy_if_unused(memory);
}

static void release(struct fv_mapping *mapping)
{
    end(find(mapping->base));
}

/* Takes addresses and maps them, out of reach of everybody. */
static CUresult map(struct fv_graph_memory *memory, size_t requested)
{
    CUresult result = fv_va_take(memory->size, ALIGNMENT, &memory->base);
    if (result != CUDA_SUCCESS)
        return result;
    struct fv_phys *phys = fv_phys_new(memory->device, memory->size);
    result = phys ? fv_va_map(&(struct fv_mapping){.base = memory->base,
                                                   .size = memory->size,
                                                   .requested = requested,
                                                   .phys = phys,
                                                   .kind = FV_MEM_GRAPH,
                                                   .waiting = true,
                                                   .id = fv_mem_next_id()})
                  : CUDA_ERROR_OUT_OF_MEMORY;
    if (phys)
        fv_phys_put(phys); /* the mapping has its own reference */
    if (result != CUDA_SUCCESS)
        fv_va_give(memory->base, memory->size);
    return result;
}

/* ---- parameters ---- */

static CUresult check_pool(const CUmemPoolProps *pool)
{
    if (pool->location.type == CU_MEM_LOCATION_TYPE_HOST ||
        pool->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
        pool->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return CUDA_ERROR_NOT_SUPPORTED;
    return pool->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                   pool->handleTypes == CU_MEM_HANDLE_TYPE_NONE &&
                   pool->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                   fv_device(pool->location.id)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* The device itself may do everything. */
static CUresult grant(struct fv_graph_memory *memory, const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *set)
{
    memory->readable = memory->writable = 1u << memory->device->ordinal;
    for (size_t i = 0; i < set->accessDescCount; i++) {
        const CUmemAccessDesc *access = &set->accessDescs[i];
        if (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            !fv_device(access->location.id) ||
            (access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
             access->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
             access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            return CUDA_ERROR_INVALID_VALUE;
        uint32_t bit = 1u << access->location.id;
        memory->readable |= access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE ? bit : 0;
        memory->writable |= access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? bit : 0;
    }
    return CUDA_SUCCESS;
}

/* Its copy of the array belongs to the parameters. */
static CUresult keep(struct fv_params *params, const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *set)
{
    size_t bytes = set->accessDescCount * sizeof *set->accessDescs;
    CUmemAccessDesc *access = bytes ? malloc(bytes) : NULL;
    if (bytes && !access)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes)
        memcpy(access, set->accessDescs, bytes);
    params->alloc.set = *set;
    params->alloc.set.accessDescs = access;
    return CUDA_SUCCESS;
}

CUresult fv_params_set_alloc(struct fv_params *params, const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *set)
{
    if (!set->bytesize || set->bytesize > SIZE_MAX / 2 ||
        set->accessDescCount > (size_t)fv_device_count() ||
        (set->accessDescCount && !set->accessDescs))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_pool(&set->poolProps);
    if (result != CUDA_SUCCESS)
        return result;
    struct fv_graph_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->device = fv_device(set->poolProps.location.id);
    memory->size = (set->bytesize + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memory->refs = 1;
    result = grant(memory, set);
    if (result == CUDA_SUCCESS)
        result = keep(params, set);
    if (result == CUDA_SUCCESS)
        result = map(memory, set->bytesize);
    if (result != CUDA_SUCCESS) {
        free(memory);
        return result;
    }
    memory->next = memories;
    memories = params->alloc.memory = memory;
    params->alloc.set.dptr = memory->base;
    params->device = memory->device->ordinal;
    return CUDA_SUCCESS;
}

CUresult fv_params_set_free(struct fv_params *params, const CUDA_MEM_FREE_NODE_PARAMS *set)
{
    struct fv_graph_memory *memory = find(set->dptr);
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    memory->refs++;
    params->free.memory = memory;
    params->free.address = set->dptr;
    params->device = memory->device->ordinal;
    return CUDA_SUCCESS;
}

static void unlink_free(struct fv_graph_memory *memory, struct fv_params *params)
{
    struct fv_params **at = &memory->frees;
    while (*at && *at != params)
        at = &(*at)->free.next;
    if (*at)
        *at = params->free.next;
}

void fv_params_drop_memory(struct fv_params *params)
{
    bool alloc = params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    struct fv_graph_memory *memory = alloc ? params->alloc.memory : params->free.memory;
    if (alloc)
        free((void *)params->alloc.set.accessDescs);
    if (!memory)
        return;
    if (!alloc)
        unlink_free(memory, params);
    memory->refs--;
    destroy_if_unused(memory);
}

/* ---- nodes ---- */

/* The graph that counts as the one of the free node: memory of a graph that was moved into this one
 * is freed at home here. */
static unsigned long long home_of_free(const struct fv_graph_memory *memory,
                                       const struct fv_graph *graph)
{
    for (const struct fv_graph *it = fv_next(FV_GRAPH, NULL); it; it = fv_next(FV_GRAPH, it)) {
        if (it->id != memory->graph)
            continue;
        for (const struct fv_graph *up = it; up; up = up->owner ? up->owner->graph : NULL)
            if (up == graph)
                return memory->graph;
    }
    return graph->id;
}

CUresult fv_memory_join(struct fv_params *params, const struct fv_graph *graph)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        params->alloc.memory->graph = graph->id;
        return CUDA_SUCCESS;
    }
    struct fv_graph_memory *memory = params->free.memory;
    unsigned long long home = home_of_free(memory, graph);
    if (freed_by(memory, home) || freed_at_home(memory) || (home == memory->graph && memory->frees))
        return CUDA_ERROR_INVALID_VALUE;
    params->free.graph = home;
    params->free.next = memory->frees;
    memory->frees = params;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

static CUresult back(struct fv_graph_memory *memory)
{
    if (!memory->backed && !fv_graph_memory_back(memory->device, memory->size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->backed = true;
    return CUDA_SUCCESS;
}

CUresult fv_memory_upload(const struct fv_params *params)
{
    return params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? back(params->alloc.memory) : CUDA_SUCCESS;
}

/* True for a node that frees what another launch allocates. */
static bool frees_elsewhere(const struct fv_params *params)
{
    return params->type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
           params->free.graph != params->free.memory->graph;
}

CUresult fv_memory_prepare(const struct fv_params *params, bool again)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return frees_elsewhere(params) && !is_live(params->free.memory) ? CUDA_ERROR_INVALID_VALUE
                                                                        : CUDA_SUCCESS;
    if (is_live(params->alloc.memory) && !again)
        return CUDA_ERROR_INVALID_VALUE;
    return back(params->alloc.memory);
}

void fv_memory_queue(const struct fv_params *params)
{
    if (frees_elsewhere(params))
        mapping_of(params->free.memory)->freed = true;
    if (params->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return;
    struct fv_graph_memory *memory = params->alloc.memory;
    mapping_of(memory)->coming++;
    if (freed_at_home(memory))
        return;
    mapping_of(memory)->release = release;
    mapping_of(memory)->freed = false;
}

void fv_memory_run(const struct fv_params *params)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        end(params->free.memory);
        return;
    }
    struct fv_graph_memory *memory = params->alloc.memory;
    struct fv_mapping *mapping = mapping_of(memory);
    mapping->coming--;
    if (!memory->allocated)
        fv_graph_memory_use(memory->device, (int64_t)memory->size);
    memory->allocated = true;
    mapping->waiting = false;
    fv_va_set_access(mapping, memory->readable, memory->writable);
}

/* What the calls have promised for later stays so: a free that is queued comes by itself. */
void fv_memory_cancel(const struct fv_params *params)
{
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE) {
        end(params->free.memory);
        return;
    }
    struct fv_graph_memory *memory = params->alloc.memory;
    struct fv_mapping *mapping = mapping_of(memory);
    mapping->coming--;
    if (!mapping->coming && !memory->allocated && !mapping->freed)
        end(memory);
}

void fv_graph_memory_trim_all(const struct fv_device *device)
{
    for (struct fv_graph_memory *it = memories; it; it = it->next) {
        if (it->device != device || !it->backed || it->allocated || mapping_of(it)->coming)
            continue;
        it->backed = false;
        fv_graph_memory_unback(it->device, it->size);
    }
}
