/* graph_params.h: what nodes do, as the graph*.c files share it. Parameters are immutable blocks
 * with counted references, so that a graph, its clones, its execs and their queued launches share
 * them. The lock is held throughout, but for running a block's work. */
#ifndef FAKEVMM_GRAPH_PARAMS_H
#define FAKEVMM_GRAPH_PARAMS_H

#include "copy.h"
#include "device.h"
#include "fakevmm.h"
#include "module.h"

struct fv_graph;

struct fv_params {
    CUgraphNodeType type;
    unsigned refs;
    struct fv_context *context; /* where it runs; NULL for a host, empty or child graph node */
    unsigned long long context_id;
    int device; /* ordinal of that context's device */
    union {
        struct {
            struct fv_function *handle;
            struct fv_function function;    /* as it was then; the handle may go */
            CUDA_KERNEL_NODE_PARAMS_v3 set; /* without kernelParams and extra */
            unsigned char *bytes;           /* the packed parameters */
            size_t size;
            bool as_extra; /* they came through `extra` and are returned that way */
            void **list;   /* what the getter returns, made when first asked for */
        } kernel;
        struct {
            CUDA_MEMCPY3D copy;
            struct fv_copy3d copy_plan; /* what it amounts to */
        };
        CUDA_MEMSET_NODE_PARAMS_v1 memset;
        CUDA_HOST_NODE_PARAMS_v2 host;
        struct {
            CUevent handle;
            unsigned long long id; /* the handle may name another event by now */
        } event;
        CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 batch; /* its array is the block's */
        struct {
            CUDA_MEM_ALLOC_NODE_PARAMS_v2 set; /* so is its array */
            struct fv_graph_memory *memory;
        } alloc;
        struct {
            CUdeviceptr address;
            struct fv_graph_memory *memory;
            unsigned long long graph; /* id of the graph that frees it */
            struct fv_params *next;   /* that frees the same memory */
        } free;
        struct {
            CUDA_CONDITIONAL_NODE_PARAMS set; /* without phGraph_out */
            struct fv_condition *condition;
        } conditional;
    };
};

/* What the attributes of a kernel node say about its launch. */
struct fv_company {
    unsigned cluster[3]; /* blocks; zeros: what the function says */
    bool cooperative;
};

/* ---- graph_params.c ---- */

/* A block with one reference from a node's parameters, checked and copied. NULL contexts mean the
 * current one. The graphs inside a node are not part of it. */
CUresult fv_params_new(const CUgraphNodeParams *given, struct fv_params **out);
struct fv_params *fv_params_get(struct fv_params *params);
void fv_params_put(struct fv_params *params);
/* For the files below: the context a block works in. */
CUresult fv_params_set_context(struct fv_params *params, CUcontext handle);
/* False once the function's module or the context is gone. */
bool fv_params_alive(const struct fv_params *params);
/* Changes whenever fv_params_alive() may have become false. */
uint64_t fv_params_generation(void);
/* Does the work of a kernel, memcpy, memset or host node, nothing for others; any thread, no lock.
 * `company` is for kernels. */
CUresult fv_params_run(const struct fv_params *params, const struct fv_company *company);
/* Whether a kernel may be launched so. */
CUresult fv_params_check_company(const struct fv_params *params, const struct fv_company *company);
/* What names an address in [base, base + size), in words, or NULL. */
const char *fv_params_use(const struct fv_params *params, CUdeviceptr base, size_t size);
/* A kernel's parameters as they were set; the array in them lives as long as the block. */
CUresult fv_params_show_kernel(struct fv_params *params, CUDA_KERNEL_NODE_PARAMS_v2 *out);

/* ---- graph_event.c, graph_batch.c ---- */

CUresult fv_params_set_event(struct fv_params *params, CUevent handle);
CUresult fv_params_set_batch(struct fv_params *params, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *set);
/* Whether the setter of an exec may turn one batch into the other. */
bool fv_batch_takes(const struct fv_params *old, const struct fv_params *new);

/* ---- graph_memory.c ---- */

CUresult fv_params_set_alloc(struct fv_params *params, const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *set);
CUresult fv_params_set_free(struct fv_params *params, const CUDA_MEM_FREE_NODE_PARAMS *set);
void fv_params_drop_memory(struct fv_params *params);
/* A node with these parameters is about to be added: CUDA_ERROR_INVALID_VALUE if its memory is not
 * to be freed there. */
CUresult fv_memory_join(struct fv_params *params, const struct fv_graph *graph);
/* Whether a launch that comes to this node can be queued now. CUDA_ERROR_INVALID_VALUE if it would
 * allocate what still is, unless `again`, or free what is not; CUDA_ERROR_OUT_OF_MEMORY. */
CUresult fv_memory_prepare(const struct fv_params *params, bool again);
/* It is being queued. */
void fv_memory_queue(const struct fv_params *params);
/* It has come to the node. */
void fv_memory_run(const struct fv_params *params);
/* It will never come to it. */
void fv_memory_cancel(const struct fv_params *params);
/* Takes memory for an allocation node to come. */
CUresult fv_memory_upload(const struct fv_params *params);

/* ---- graph_condition.c ---- */

CUresult fv_params_set_condition(struct fv_params *params, const CUDA_CONDITIONAL_NODE_PARAMS *set);
void fv_condition_put(struct fv_condition *condition);
/* A node takes its handle, which is for one node of one graph: else CUDA_ERROR_INVALID_VALUE. */
CUresult fv_condition_take(struct fv_condition *condition, const struct fv_graph *graph);
void fv_condition_leave(struct fv_condition *condition);
/* Ends a graph's handles. */
void fv_conditions_drop(struct fv_graph *graph);
/* False if a handle made for the graph has no node. */
bool fv_conditions_used(const struct fv_graph *graph);
/* A launch begins: the default value, if the handle has one. */
void fv_condition_reset(struct fv_condition *condition);
/* Any thread, no lock. */
unsigned fv_condition_value(const struct fv_condition *condition);
/* A kernel sets a condition; a handle that is none is ignored. Any thread, no lock. */
void fv_conditional_set(CUgraphConditionalHandle handle, unsigned value);

#endif
