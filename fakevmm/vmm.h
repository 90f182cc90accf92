/* vmm.h: virtual memory management: handles of physical memory (vmm.c) and reserved addresses they
 * are mapped at (vmm_map.c), for the files that answer questions about them. The lock is held
 * throughout. The page table (va.h) is what accesses go through; this part decides what may be put
 * into it. */
#ifndef FAKEVMM_VMM_H
#define FAKEVMM_VMM_H

#include "device.h"
#include "va.h"

/* Memory made by cuMemCreate. It lives while the application holds references to the handle or a
 * mapping of it is left. */
struct fv_handle {
    struct fv_tree_node node;           /* vmm.c's */
    CUmemGenericAllocationHandle value; /* never given to another one */
    struct fv_phys *phys;
    CUmemAllocationProp prop; /* as granted */
    unsigned refs;            /* the application's: creation and retains, less releases */
    unsigned mappings;
    bool imported;    /* the memory is on another handle's accounts */
    unsigned ordinal; /* journal.c's: its number there, 0: not met yet */
};

/* Addresses from cuMemAddressReserve. */
struct fv_reservation {
    struct fv_tree_node node; /* vmm_map.c's */
    CUdeviceptr base;
    size_t size;
    int device;       /* ordinal of the one that was current */
    unsigned ordinal; /* as above */
};

/* ---- vmm.c ---- */

/* The handle the application names, or NULL for a value it holds no reference to. */
struct fv_handle *fv_handle_of(CUmemGenericAllocationHandle value);
/* A new handle, on which the application holds a reference, for memory that was granted. The block
 * becomes the handle's. CUDA_ERROR_OUT_OF_MEMORY if it is NULL. */
CUresult fv_handle_new(struct fv_phys *phys, const CUmemAllocationProp *prop, bool imported,
                       CUmemGenericAllocationHandle *out);
/* A mapping of the handle comes or goes; with the last one a handle without references ends. */
void fv_handle_mapped(struct fv_handle *handle);
void fv_handle_unmapped(struct fv_handle *handle);
/* What addresses, sizes and mappings of the handle's memory are multiples of. */
size_t fv_handle_granularity(const struct fv_handle *handle);
/* An error that earlier work has left in the current context, if there is one: the calls that may
 * answer with it need no context otherwise. */
CUresult fv_earlier_error(void);
size_t fv_handle_count(void);

/* ---- vmm_map.c ---- */

/* The reservation around an address, or NULL. */
struct fv_reservation *fv_reservation_at(CUdeviceptr address);
size_t fv_reservation_count(void);

#endif
