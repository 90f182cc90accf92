/* managed_calls.c: advice about managed memory, prefetching and discarding it, and what can be
 * asked about that. Prefetching moves nothing here, it is only remembered; what is discarded gets
 * bytes that nobody can mistake for the old ones. It must not know how runs of pages are kept. */
#include "hazard.h"
#include "managed.h"
#include "stream.h"
#include "vmm.h"

#include <stdlib.h>

#define DISCARDED 0xDB /* in every byte */

/* ---- locations ---- */

static CUmemLocation location_of(CUdevice device)
{
    return device == CU_DEVICE_CPU ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                                   : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

/* The host is one NUMA node. Ids that do not count are made 0. */
static CUresult check_location(CUmemLocation *location)
{
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return fv_device(location->id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST: location->id = 0; return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        return location->id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        *location = (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* ---- advice ---- */

struct advise {
    CUmem_advise what;
    CUmemLocation where;
};

static void set_accessed(struct fv_advice *advice, CUmemLocation where, bool on)
{
    uint32_t bit = 1u << where.id;

    if (where.type == CU_MEM_LOCATION_TYPE_HOST)
        advice->host = on;
    else
        advice->devices = on ? advice->devices | bit : advice->devices & ~bit;
}

static CUresult apply(struct fv_advice *advice, void *data)
{
    const struct advise *advise = data;

    switch (advise->what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: advice->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: advice->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: advice->preferred = advise->where; break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: advice->preferred = (CUmemLocation){0}; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY: set_accessed(advice, advise->where, true); break;
    default: set_accessed(advice, advise->where, false); break;
    }
    return CUDA_SUCCESS;
}

/* Three kinds of advice are about a location, two of them about who accesses it. */
static CUresult check_advise(struct advise *advise)
{
    CUmemLocationType type = advise->where.type;

    switch (advise->what) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: return CUDA_SUCCESS;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        if (type != CU_MEM_LOCATION_TYPE_DEVICE && type != CU_MEM_LOCATION_TYPE_HOST)
            return CUDA_ERROR_INVALID_VALUE;
        return check_location(&advise->where);
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: return check_location(&advise->where);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult fv_cuMemAdvise_v2(CUdeviceptr base, size_t size, CUmem_advise what, CUmemLocation where)
{
    struct advise advise = {what, where};
    CUresult result = fv_earlier_error();

    if (result == CUDA_SUCCESS)
        result = fv_managed_check(base, size);
    if (result == CUDA_SUCCESS)
        result = check_advise(&advise);
    if (result == CUDA_SUCCESS)
        result = fv_managed_cut(base, size);
    return result == CUDA_SUCCESS ? fv_managed_each(base, size, apply, &advise) : result;
}

CUresult fv_cuMemAdvise(CUdeviceptr base, size_t size, CUmem_advise what, CUdevice device)
{
    return fv_cuMemAdvise_v2(base, size, what, location_of(device));
}

/* ---- prefetching ---- */

static CUresult note_prefetch(struct fv_advice *advice, void *where)
{
    advice->prefetched = *(const CUmemLocation *)where;
    return CUDA_SUCCESS;
}

static CUresult prefetch(CUdeviceptr base, size_t size, CUmemLocation where)
{
    CUresult result = fv_managed_cut(base, size);

    return result == CUDA_SUCCESS ? fv_managed_each(base, size, note_prefetch, &where) : result;
}

CUresult fv_cuMemPrefetchAsync_v2(CUdeviceptr base, size_t size, CUmemLocation where,
                                  unsigned flags, CUstream handle)
{
    struct fv_stream *stream;
    CUresult result = fv_stream_uncaptured(handle, &stream);

    if (result == CUDA_SUCCESS)
        result = flags ? CUDA_ERROR_INVALID_VALUE : fv_managed_check(base, size);
    if (result == CUDA_SUCCESS)
        result = check_location(&where);
    return result == CUDA_SUCCESS ? prefetch(base, size, where) : result;
}

CUresult fv_cuMemPrefetchAsync(CUdeviceptr base, size_t size, CUdevice device, CUstream stream)
{
    return fv_cuMemPrefetchAsync_v2(base, size, location_of(device), 0, stream);
}

/* ---- batches ---- */

struct batch {
    const CUdeviceptr *bases;
    const size_t *sizes;
    size_t count;
    CUmemLocation *locations;
    const size_t *first; /* operation that a location is for */
    size_t location_count;
};

static CUresult check_ranges(const struct batch *batch, unsigned long long flags, CUstream handle,
                             struct fv_stream **stream)
{
    CUresult result = fv_stream_uncaptured(handle, stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (flags || *stream == (*stream)->context->legacy || !batch->count || !batch->bases ||
        !batch->sizes)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++)
        result = fv_managed_check(batch->bases[i], batch->sizes[i]);
    return result;
}

static CUresult check_locations(const struct batch *batch)
{
    CUresult result = CUDA_SUCCESS;

    if (!batch->locations || !batch->first || !batch->location_count ||
        batch->location_count > batch->count || batch->first[0])
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < batch->location_count && result == CUDA_SUCCESS; i++) {
        CUmemLocation location = batch->locations[i];
        if (batch->first[i] >= batch->count || (i && batch->first[i] <= batch->first[i - 1]))
            return CUDA_ERROR_INVALID_VALUE;
        result = check_location(&location);
    }
    return result;
}

static CUresult prefetch_all(const struct batch *batch)
{
    CUresult result = CUDA_SUCCESS;
    size_t which = 0;

    for (size_t i = 0; i < batch->count && result == CUDA_SUCCESS; i++) {
        CUmemLocation location;
        if (which + 1 < batch->location_count && batch->first[which + 1] == i)
            which++;
        location = batch->locations[which];
        check_location(&location);
        result = prefetch(batch->bases[i], batch->sizes[i], location);
    }
    return result;
}

CUresult fv_cuMemPrefetchBatchAsync(CUdeviceptr *bases, size_t *sizes, size_t count,
                                    CUmemLocation *locations, size_t *first, size_t location_count,
                                    unsigned long long flags, CUstream handle)
{
    const struct batch batch = {bases, sizes, count, locations, first, location_count};
    struct fv_stream *stream;
    CUresult result = check_ranges(&batch, flags, handle, &stream);

    if (result == CUDA_SUCCESS)
        result = check_locations(&batch);
    return result == CUDA_SUCCESS ? prefetch_all(&batch) : result;
}

/* ---- discarding ---- */

struct discard {
    struct fv_work work;
    size_t count;
    struct range {
        CUdeviceptr base;
        size_t size;
    } ranges[];
};

static CUresult run_discard(struct fv_work *work)
{
    const struct discard *discard = (const struct discard *)work;
    int device = FV_COPY_ON(work->context->device->ordinal);
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < discard->count && result == CUDA_SUCCESS; i++)
        result = fv_va_fill(discard->ranges[i].base, 0, DISCARDED, 1, discard->ranges[i].size, 1,
                            device);
    return result;
}

static const char *discard_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    const struct discard *discard = (const struct discard *)work;

    for (size_t i = 0; i < discard->count; i++)
        if (fv_overlap(discard->ranges[i].base, discard->ranges[i].size, base, size))
            return "discard";
    return NULL;
}

static void retire_discard(struct fv_work *work)
{
    free(work);
}

static CUresult submit_discard(const struct batch *batch, struct fv_stream *stream)
{
    struct discard *discard = malloc(sizeof *discard + batch->count * sizeof discard->ranges[0]);

    if (!discard)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *discard = (struct discard){
        .work = {.run = run_discard, .retire = retire_discard, .uses = discard_uses},
        .count = batch->count};
    for (size_t i = 0; i < batch->count; i++)
        discard->ranges[i] = (struct range){batch->bases[i], batch->sizes[i]};
    fv_submit(stream, &discard->work);
    return CUDA_SUCCESS;
}

CUresult fv_cuMemDiscardBatchAsync(CUdeviceptr *bases, size_t *sizes, size_t count,
                                   unsigned long long flags, CUstream handle)
{
    const struct batch batch = {.bases = bases, .sizes = sizes, .count = count};
    struct fv_stream *stream;
    CUresult result = check_ranges(&batch, flags, handle, &stream);

    return result == CUDA_SUCCESS ? submit_discard(&batch, stream) : result;
}

CUresult fv_cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *bases, size_t *sizes, size_t count,
                                              CUmemLocation *locations, size_t *first,
                                              size_t location_count, unsigned long long flags,
                                              CUstream handle)
{
    const struct batch batch = {bases, sizes, count, locations, first, location_count};
    struct fv_stream *stream;
    CUresult result = check_ranges(&batch, flags, handle, &stream);

    if (result == CUDA_SUCCESS)
        result = check_locations(&batch);
    if (result == CUDA_SUCCESS)
        result = submit_discard(&batch, stream);
    return result == CUDA_SUCCESS ? prefetch_all(&batch) : result;
}
