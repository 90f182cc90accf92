/* device.h: devices, contexts and each thread's stack of current contexts. Owned by
 * device.c and context.c. */
#ifndef FAKEVMM_DEVICE_H
#define FAKEVMM_DEVICE_H

#include "fakevmm.h"

struct fv_coredump;
struct fv_stream;

struct fv_device {
    int ordinal;
    struct fv_context *primary; /* NULL while nobody retains it */
    unsigned primary_refs;
    unsigned primary_flags;
    size_t memory_bytes; /* from FAKEVMM_MEMORY or the row */
    size_t memory_used;  /* by cuMemAlloc, rounded as the driver rounds it, and by cuMemCreate */
    size_t granularity, granularity_recommended; /* of cuMemCreate memory */
};

struct fv_context {
    struct fv_device *device;
    bool primary;
    unsigned flags;
    unsigned api_version;
    unsigned long long id; /* never reused; handles are */
    bool closing;          /* being torn down: refused like a destroyed one */
    uint32_t peers;        /* bit per device whose memory kernels here may access */
    size_t limits[CU_LIMIT_MAX];
    CUfunc_cache cache_config;
    struct fv_coredump *coredump; /* NULL: the process's */
    size_t heap_used;             /* by malloc in kernels */
    unsigned usage;               /* how often cuCtxDetach() has to come */
    CUresult sticky; /* CUDA_SUCCESS, or the error every later call in this context returns */
    struct fv_stream *legacy; /* the NULL stream, made with the context */
};

/* Reads the environment and builds the devices; called once by fv_cuInit. */
CUresult fv_devices_init(void);
int fv_device_count(void);
/* NULL for an ordinal that does not exist. */
struct fv_device *fv_device(int ordinal);

/* The calling thread's current context. CUDA_ERROR_INVALID_CONTEXT when none is current,
 * CUDA_ERROR_CONTEXT_IS_DESTROYED when it was destroyed meanwhile, the sticky error once there
 * is one. *out is set on success only. Every call that works in a context starts with it. */
CUresult fv_current(struct fv_context **out);
/* As fv_current(), but for a context named by handle; NULL means the current one. */
CUresult fv_context_of(CUcontext handle, struct fv_context **out);
/* An error of queued work: from now on the context answers with it. The first one stays. */
void fv_context_poison(struct fv_context *context, CUresult error);

/* context.c, for the primary contexts of device.c: a new context, not current anywhere; its end,
 * after its work (drops the lock meanwhile; everything that belongs to it goes). */
CUresult fv_context_new(struct fv_device *device, unsigned flags, bool primary,
                        struct fv_context **out);
void fv_context_close(struct fv_context *context);
/* True for the context that had this id and still lives; of use after the lock was dropped. */
bool fv_context_lives(const struct fv_context *context, unsigned long long id);
/* CUDA_ERROR_INVALID_VALUE for context flags that do not exist or contradict each other. */
CUresult fv_check_context_flags(unsigned flags);
/* peer.c: bit per device that may access the cuMemAlloc memory of one (itself included). */
uint32_t fv_peers_of(const struct fv_device *device);
/* The end of a context, for who may access what; after its work. */
void fv_peer_drop_context(struct fv_context *context);
/* An attribute of the device as cuDeviceGetAttribute() gives it; one that exists. */
int fv_device_attribute(const struct fv_device *device, CUdevice_attribute attribute);

/* Parts that own things per context, called by device.c while a context is torn down, after its
 * work has drained. Each frees what belongs to it. Defined in mem.c, module.c, stream.c,
 * event.c; fv_array_drop_context() is array.h's. */
void fv_mem_drop_context(struct fv_context *context);
void fv_module_drop_context(struct fv_context *context);
void fv_event_drop_context(struct fv_context *context);
void fv_stream_drop_context(struct fv_context *context);
void fv_coredump_drop_context(struct fv_context *context);

#endif
