/* module.h: modules, libraries, functions and kernels, as the rest of the fake driver sees them.
 * Owned by module.c; the code itself is ptx/'s. */
#ifndef FAKEVMM_MODULE_H
#define FAKEVMM_MODULE_H

#include "fakevmm.h"

struct fv_context;
struct fv_library;
struct ptx_kernel;
struct ptx_module;

/* Attributes of a function that can be set; a kernel keeps one for each device. */
struct fv_tuning {
    int max_dynamic_shared;  /* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
    uint16_t cluster[3];     /* CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH and so on, zeros: none */
    int8_t shared_carveout;  /* CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT */
    bool large_clusters : 1; /* CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED */
    uint8_t cluster_policy : 2; /* CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE */
};

/* What a CUfunction handle points to. */
struct fv_function {
    struct fv_module *module;
    const struct ptx_kernel *code;
    struct fv_context *context;
    struct fv_tuning tuning;
};

/* The function a launch or a node means, given either a CUfunction or a CUkernel passed in its
 * place (cuda.h allows the cast in cuLaunchKernel); a kernel is taken in `context`, NULL the
 * current one. CUDA_ERROR_INVALID_HANDLE when it is neither. */
CUresult fv_function_of(CUfunction handle, CUcontext context, struct fv_function **out);
/* The function of a CUkernel in a context (NULL: the current one); loads it there when it is not
 * yet. */
CUresult fv_kernel_function(CUkernel handle, CUcontext context, struct fv_function **out);

/* Packs launch arguments: exactly one of kernelParams and extra may be given (neither is right for
 * a kernel without parameters). *out gets malloc'd code->param_bytes bytes (or NULL for none),
 * owned by the caller. CUDA_ERROR_INVALID_VALUE on both, on a malformed `extra`, on too few bytes.
 */
CUresult fv_pack_params(const struct fv_function *function, void *const *kernelParams,
                        void *const *extra, unsigned char **out);

/* How a kernel is launched, its arguments apart. */
struct fv_shape {
    unsigned grid[3], block[3], shared_bytes;
    unsigned cluster[3]; /* blocks, as the launch says; zeros: what the function says */
    bool cooperative;
};

/* Checks a launch shape against the device's limits: CUDA_ERROR_INVALID_VALUE as the driver's. */
CUresult fv_check_shape(const struct fv_function *function, const unsigned grid[3],
                        const unsigned block[3], unsigned shared_bytes);

/* The kernel's name if one of the aligned 8-byte words of its packed parameters is an address in
 * [base, base + size), else NULL. */
const char *fv_kernel_names(const struct fv_function *function, const unsigned char *params,
                            CUdeviceptr base, size_t size);

/* What cooperative launches and clusters need beyond that: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
 * when not all blocks can run at once, CUDA_ERROR_INVALID_CLUSTER_SIZE, CUDA_ERROR_INVALID_VALUE.
 */
CUresult fv_check_company(const struct fv_function *function, const struct fv_shape *shape);
/* The most blocks a cluster of the function may have. */
unsigned fv_largest_cluster(const struct fv_function *function);
/* occupancy.c: blocks of so many threads that a multiprocessor has room for, 0: none. */
int fv_blocks_per_multiprocessor(const struct fv_function *function, unsigned threads,
                                 size_t dynamic_shared);

/* A graph is about to run a kernel of the module, whose context may end before the stream's: until
 * it leaves, the module stays. False when it is too late for that. Lock held. */
bool fv_module_enter(struct fv_module *module);
void fv_module_leave(struct fv_module *module);
/* Runs a kernel to its end; any thread, no lock. Returns the error the context is poisoned with. */
CUresult fv_run_kernel(const struct fv_function *function, const struct fv_shape *shape,
                       const unsigned char *params, int device);

#endif
