/* managed_range.c: the pages of managed memory as runs for which the same was advised: a list for
 * each allocation, cut where advice begins and ends. It must not know what advice means. */
#include "managed.h"

#include <stdlib.h>

#define PAGE ((CUdeviceptr)4096)

static CUdeviceptr page_of(CUdeviceptr address)
{
    return address & ~(PAGE - 1);
}

static CUdeviceptr page_behind(CUdeviceptr address)
{
    return page_of(address + PAGE - 1);
}

struct fv_advice *fv_advice_new(CUdeviceptr base, size_t size)
{
    struct fv_advice *advice = malloc(sizeof *advice);

    if (advice)
        *advice = (struct fv_advice){.base = base, .end = page_behind(base + size)};
    return advice;
}

void fv_advice_free(struct fv_advice *first)
{
    while (first) {
        struct fv_advice *next = first->next;
        free(first);
        first = next;
    }
}

CUresult fv_managed_check(CUdeviceptr base, size_t size)
{
    CUdeviceptr end = base + size;

    if (!size || end < base)
        return CUDA_ERROR_INVALID_VALUE;
    while (base < end) {
        const struct fv_mapping *mapping = fv_va_find(base);
        if (!mapping || mapping->kind != FV_MEM_MANAGED)
            return CUDA_ERROR_INVALID_VALUE;
        base = page_behind(mapping->base + mapping->size);
    }
    return CUDA_SUCCESS;
}

CUresult fv_managed_each(CUdeviceptr base, size_t size, fv_advice_visit *visit, void *data)
{
    CUdeviceptr at = base, end = base + size;
    CUresult result = CUDA_SUCCESS;

    while (at < end && result == CUDA_SUCCESS) {
        const struct fv_mapping *mapping = fv_va_find(at);
        struct fv_advice *it = mapping->advice;
        for (; it && it->base < end && result == CUDA_SUCCESS; it = it->next)
            if (it->end > at)
                result = visit(it, data);
        at = page_behind(mapping->base + mapping->size);
    }
    return result;
}

/* Makes a run of pages end at an address inside it. */
static CUresult cut_at(CUdeviceptr at)
{
    const struct fv_mapping *mapping = fv_va_find(at);
    struct fv_advice *it = mapping ? mapping->advice : NULL, *rest;

    while (it && it->end <= at)
        it = it->next;
    if (!it || it->base == at)
        return CUDA_SUCCESS;
    rest = malloc(sizeof *rest);
    if (!rest)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *rest = *it;
    rest->base = it->end = at;
    it->next = rest;
    return CUDA_SUCCESS;
}

CUresult fv_managed_cut(CUdeviceptr base, size_t size)
{
    CUresult result = cut_at(page_of(base));

    return result == CUDA_SUCCESS ? cut_at(page_behind(base + size)) : result;
}
