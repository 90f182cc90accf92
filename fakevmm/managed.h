/* managed.h: managed memory: host pages that devices reach at the same address, and what the
 * application has advised about them. Owned by managed.c (allocation), managed_range.c (advice by
 * page) and managed_calls.c (the calls that give and ask it). Lock held throughout. */
#ifndef FAKEVMM_MANAGED_H
#define FAKEVMM_MANAGED_H

#include "device.h"
#include "va.h"

/* What holds for a run of whole pages. */
struct fv_advice {
    CUdeviceptr base, end;
    bool read_mostly;
    CUmemLocation preferred;  /* CU_MEM_LOCATION_TYPE_NONE: none */
    CUmemLocation prefetched; /* to where, last; likewise */
    uint32_t devices;         /* bit per device that accesses them */
    bool host;                /* the host does */
    struct fv_advice *next;   /* the pages behind, without a gap */
};

/* Managed memory in whole pages of its own, zeroed. `release` is what fv_mapping.release will be:
 * NULL for variables, which go with their module. */
CUresult fv_managed_new(struct fv_context *context, size_t size,
                        void (*release)(struct fv_mapping *mapping), CUdeviceptr *out);
/* The end of it, whoever asks for that. */
void fv_managed_end(struct fv_mapping *mapping);

/* CUDA_ERROR_INVALID_VALUE unless all of [base, base + size) is managed memory. */
CUresult fv_managed_check(CUdeviceptr base, size_t size);
/* Calls a function for each run of pages that has a byte in the range, which must be managed;
 * stops at an error and answers it. */
typedef CUresult fv_advice_visit(struct fv_advice *advice, void *data);
CUresult fv_managed_each(CUdeviceptr base, size_t size, fv_advice_visit *visit, void *data);
/* Cuts the runs so that the range is made of whole ones, pages at its ends included. */
CUresult fv_managed_cut(CUdeviceptr base, size_t size);

/* The first run of new pages; NULL when memory is out. */
struct fv_advice *fv_advice_new(CUdeviceptr base, size_t size);
void fv_advice_free(struct fv_advice *first);

#endif
