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
    CUmemGenericAllocationHandle value; /* never given to another one */
    struct fv_phys *phys;
    CUmemAllocationProp prop; /* as granted */
    unsigned refs;            /* the application's: creation and retains, less releases */
    unsigned mappings;
};

/* Addresses from cuMemAddressReserve. */
struct fv_reservation {
    CUdeviceptr base;
    size_t size;
    int device; /* ordinal of the one that was current */
};

/* ---- vmm.c ---- */

/* The handle the application names, or NULL for a value it holds no reference to. */
struct fv_handle *fv_handle_of(CUmemGenericAllocationHandle value);
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
const struct fv_reservation *fv_reservation_at(CUdeviceptr address);
size_t fv_reservation_count(void);

/* ---- vmm_table.c: things in the order of a number that is theirs alone ---- */

struct fv_table {
    struct fv_entry {
        uint64_t key;
        void *value;
    } * entries;
    size_t count, capacity;
};

/* The value with the greatest key at or below `key`, or NULL. */
void *fv_table_floor(const struct fv_table *table, uint64_t key);
/* False when memory is out. The key must be new. */
bool fv_table_add(struct fv_table *table, uint64_t key, void *value);
/* The key must be there. */
void fv_table_remove(struct fv_table *table, uint64_t key);

#endif
