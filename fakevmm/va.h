/* va.h: the software page table. Device addresses live in a range of host address space that is
 * reserved without access, so dereferencing one on the host crashes, as it should. A mapping
 * joins a piece of that range to a physical block; two mappings of one block alias for real.
 * Owned by va.c. It knows blocks and addresses, not why somebody wants them (that is mem.c's and
 * vmm.c's). */
#ifndef FAKEVMM_VA_H
#define FAKEVMM_VA_H

#include "fakevmm.h"
#include "phys.h"
#include "tree.h"

struct fv_device;
struct fv_context;
struct fv_handle;
struct fv_mempool;
struct fv_advice;

/* Why a mapping exists; what the pointer-attribute calls answer from. Pinned host memory (HOST:
 * allocated by the driver, REGISTERED: by the application) and managed memory are mapped at their
 * own host address, the others at one that only devices have. */
enum fv_mem_kind {
    FV_MEM_ALLOC,
    FV_MEM_MODULE,
    FV_MEM_ARRAY,
    FV_MEM_VMM,
    FV_MEM_HOST,
    FV_MEM_REGISTERED,
    FV_MEM_POOL,    /* stream-ordered (mempool.h) */
    FV_MEM_MANAGED, /* managed.h */
    FV_MEM_GRAPH,   /* of a graph's allocation node, while it is allocated */
    FV_MEM_HEAP,    /* of malloc in kernels (kernel_host.c) */
    FV_MEM_IMPORTED /* another process's cuMemAlloc memory (ipc.c) */
};

struct fv_mapping {
    struct fv_tree_node node; /* va.c's */
    CUdeviceptr base;
    size_t size;      /* bytes mapped */
    size_t requested; /* bytes the application asked for, <= size */
    struct fv_phys *phys;
    size_t offset;     /* of base within phys */
    uint32_t readable; /* bit per device ordinal */
    uint32_t writable;
    enum fv_mem_kind kind;
    unsigned flags;   /* of cuMemHostAlloc and cuMemHostRegister */
    bool waiting;     /* of stream-ordered memory: the turn of its allocation has not come */
    bool freed;       /* by cuMemFreeAsync, whose turn has not come */
    unsigned coming;  /* of a graph's memory: queued launches that will allocate it */
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, which nothing here depends on */
    struct fv_handle *handle;   /* of VMM memory, else NULL */
    struct fv_context *context; /* the owner of cuMemAlloc memory, NULL for VMM memory */
    struct fv_mempool *pool;    /* of stream-ordered memory, else NULL */
    struct fv_advice *advice;   /* of managed memory, else NULL */
    unsigned long long id;      /* never reused (CU_POINTER_ATTRIBUTE_BUFFER_ID) */
    unsigned ordinal;           /* journal.c's: its number there, 0: not met yet */
    /* What cuMemFree and cuMemFreeAsync end it by, its turn having come: unmaps it and takes it off
     * the accounts. NULL: they refuse it. Lock held. */
    void (*release)(struct fv_mapping *mapping);
};

/* A piece of device memory that host code may touch directly: [base, end) is at host + (a - base).
 */
struct fv_span {
    CUdeviceptr base, end;
    unsigned char *host;
    bool writable;
    bool aliased; /* the block is mapped elsewhere too */
};

/* Reserves the range (halving the size until the host agrees). Idempotent. */
CUresult fv_va_init(void);

/* Takes `size` bytes of addresses, aligned to `align` (a power of two). FAKEVMM_VA decides which:
 * churn (default) hands freed addresses out as late as possible, lifo the ones freed last first.
 * CUDA_ERROR_OUT_OF_MEMORY when the range is exhausted. */
CUresult fv_va_take(size_t size, size_t align, CUdeviceptr *out);
void fv_va_give(CUdeviceptr base, size_t size);

/* Adds a mapping (copied; takes a reference on phys). The addresses must be taken and unmapped. */
CUresult fv_va_map(const struct fv_mapping *mapping);
/* Removes the mapping that starts at base; false if there is none. */
bool fv_va_unmap(CUdeviceptr base);
/* The mapping that contains an address, or NULL. Valid until the lock is dropped. */
struct fv_mapping *fv_va_find(CUdeviceptr address);
/* The mapping with the lowest base at or above an address, or NULL. */
struct fv_mapping *fv_va_from(CUdeviceptr address);
/* Changes the rights of a mapping that fv_va_find() has answered. */
void fv_va_set_access(struct fv_mapping *mapping, uint32_t readable, uint32_t writable);
/* Moves a block's bytes into a file that other processes can map: fv_phys_share(), after running
 * work (drops the lock meanwhile). */
bool fv_va_share(struct fv_phys *phys, size_t trailer);
/* What a device (ordinal) may do there. */
CUmemAccess_flags fv_va_access(const struct fv_mapping *mapping, int device);
/* Any thread, no lock: true for the addresses that only devices have. */
bool fv_va_is_device(CUdeviceptr address);
/* True if all of [base, base + size) is mapped for some device, now or when its allocation's turn
 * in its stream has come. */
bool fv_va_mapped(CUdeviceptr base, size_t size);

/* In place of a device's ordinal below: a copy or fill on that device. It reaches the cuMemAlloc
 * memory of other devices without peer access; at VMM memory the device needs a right of its own.
 */
#define FV_COPY_ON(device) (~(device))

/* Any thread, no lock: the span around an address that `device` (ordinal) may read, with its
 * right to write. False when there is none. A span may be kept while fv_va_generation() does not
 * change and the work that asked is still running. */
bool fv_va_span(CUdeviceptr address, int device, struct fv_span *out);
uint64_t fv_va_generation(void);

/* Any thread, no lock: copies between device memory and host memory, through as many spans as it
 * takes. CUDA_ERROR_ILLEGAL_ADDRESS on a hole or a missing right, after the bytes before it. */
CUresult fv_va_read(void *to, CUdeviceptr from, size_t size, int device);
CUresult fv_va_write(CUdeviceptr to, const void *from, size_t size, int device);
CUresult fv_va_copy(CUdeviceptr to, CUdeviceptr from, size_t size, int device);
/* Writes `count` elements of `width` (1, 2 or 4) bytes per row, `height` rows `pitch` bytes apart.
 */
CUresult fv_va_fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned width, size_t count,
                    size_t height, int device);

#endif
