/* phys.h: blocks of physical memory: host memory that plays a device's. Owned by phys.c. */
#ifndef FAKEVMM_PHYS_H
#define FAKEVMM_PHYS_H

#include <stdbool.h>
#include <stddef.h>

struct fv_device;

/* Memory of one device: host pages that appear when touched. Counted references: one for the
 * creator, one for each mapping. */
struct fv_phys {
    struct fv_device *device;
    unsigned char *bytes;
    size_t size;
    unsigned refs;
    unsigned mappings; /* va.c's: how often it is mapped */
    bool borrowed;     /* the bytes are somebody else's: registered host memory */
    bool heap;         /* they come from the heap, else they are pages */
    int file;          /* that holds them, for other processes to map; -1: none */
    struct fv_phys *next_dead;
};

/* A new zeroed block with one reference, or NULL. */
struct fv_phys *fv_phys_new(struct fv_device *device, size_t size);
/* The same in whole host pages, so that its bytes can be mapped at their own address. */
struct fv_phys *fv_phys_new_pages(struct fv_device *device, size_t size);
/* A block of what another process has in a file, which becomes the block's. NULL: not mappable,
 * and the file is still the caller's. */
struct fv_phys *fv_phys_open(struct fv_device *device, int file, size_t size);
/* The same around host memory that malloc gave, which goes with the block, or at once when there is
 * none. */
struct fv_phys *fv_phys_adopt(struct fv_device *device, void *bytes, size_t size);
/* The same around host memory that stays its owner's. */
struct fv_phys *fv_phys_borrow(struct fv_device *device, void *bytes, size_t size);
/* Moves a block's bytes into a file, unless they are in one, with room for `trailer` more bytes
 * behind them. No worker may be at them. False when the host cannot. */
bool fv_phys_share(struct fv_phys *phys, size_t trailer);

void fv_phys_get(struct fv_phys *phys);
/* Drops a reference. The pages of a block without any go away once no worker runs: a kernel may
 * hold a span of it. */
void fv_phys_put(struct fv_phys *phys);
/* Frees the blocks that waited for workers; worker.c calls it when none runs. */
void fv_phys_reap(void);

#endif
