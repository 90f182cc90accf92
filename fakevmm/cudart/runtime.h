/* runtime.h: what the files of the fake CUDA runtime share: the implementations behind the exports,
 * the driver's functions, contexts, and the translation of what the compiler registered.
 *
 * The runtime sits on the driver library and nothing else: it may not include the fake driver's
 * headers, is not linked to it, and would work the same on any other driver that takes its lookups.
 *
 * Errors: cudaError_t and CUresult number the same errors alike, so a driver's answer is cast and
 * handed on. Locking: each file guards its own tables and calls the driver with no lock held,
 * except where a comment says why. */
#ifndef FAKEVMM_CUDART_RUNTIME_H
#define FAKEVMM_CUDART_RUNTIME_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL /* every ABI under its ELF name, no macros in between */
#endif
#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Implementations: defined where they belong, or not at all; door.c tests the address. */
#define RT(need, symbol, impl, params, args)                                                       \
    extern cudaError_t rt_##impl params __attribute__((weak, visibility("hidden")));
#define RT_PLAIN(type, fallback, symbol, params, args)                                             \
    extern type rt_##symbol params __attribute__((weak, visibility("hidden")));
#include "entries.def"
#undef RT
#undef RT_PLAIN

/* ---- the driver (driver.c) ---- */

struct rt_driver {
#define DRV(name, version)      PFN_##name##_v##version name;
#define DRV_PTDS(name, version) PFN_##name##_v##version##_ptds name##_ptds;
#include "driver.def"
#undef DRV
#undef DRV_PTDS
};

/* Filled by rt_driver_load(); read-only afterwards. A pointer is NULL where the driver lacks the
 * call. */
extern struct rt_driver rt_driver;

/* Calls a driver function of driver.def by name; the answer as a runtime error. */
#define DRIVER(name, ...)                                                                          \
    (rt_driver.name ? (cudaError_t)rt_driver.name(__VA_ARGS__) : cudaErrorCallRequiresNewerDriver)

/* Defines an implementation that is nothing but a driver's call: the rest of the arguments is
 * passed on. */
#define FORWARD(name, params, driver, ...)                                                         \
    cudaError_t rt_##name params                                                                   \
    {                                                                                              \
        return DRIVER(driver, __VA_ARGS__);                                                        \
    }

/* The same on the function that `func` names in the current context. */
#define ON_FUNCTION(name, params, driver, ...)                                                     \
    cudaError_t rt_##name params                                                                   \
    {                                                                                              \
        CUfunction function;                                                                       \
        cudaError_t error = rt_function_of(func, &function);                                       \
        return error == cudaSuccess ? DRIVER(driver, __VA_ARGS__) : error;                         \
    }

/* Finds and initialises the driver; idempotent, any thread. A failure is tried again by the next
 * call. cudaErrorInsufficientDriver: there is none, or one older than this runtime. */
cudaError_t rt_driver_load(void);
/* True once rt_driver_load() has succeeded. */
bool rt_driver_loaded(void);

/* ---- contexts (context.c); the driver is loaded ---- */

/* Makes sure that a context is current: the application's own, or else the primary context of the
 * thread's device, retained at its first use. *out (may be NULL) is that context. */
cudaError_t rt_context(CUcontext *out);
/* The primary context of a device, retained once for the whole process. */
cudaError_t rt_primary(int device, CUcontext *out);
/* The device of the current context, else the one the thread chose, else the first valid one. */
cudaError_t rt_device(int *out);

/* ---- kernels and variables (library.c); a context is current ---- */

/* The kernel that `func` names: the address of a host stub that the compiler registered, or a
 * cudaKernel_t, which is handed back as it is (the driver is who knows whether it is one). */
cudaError_t rt_kernel_of(const void *func, CUkernel *out);
/* Its function in the current context. cudaErrorInvalidDeviceFunction: no kernel. */
cudaError_t rt_function_of(const void *func, CUfunction *out);
/* The way back, for a node's parameters: the host stub of a function (or of a kernel, if function
 * is NULL), or the cudaKernel_t of a library that the application loaded, or that same error. */
cudaError_t rt_func_of(CUfunction function, CUkernel kernel, void **out);
/* Address and size of a device variable that the compiler registered under a host address; each out
 * pointer may be NULL. cudaErrorInvalidSymbol: unknown. */
cudaError_t rt_variable_of(const void *symbol, CUdeviceptr *address, size_t *bytes);
/* Libraries the application loads itself are noted, for rt_func_of(). */
void rt_library_note(CUlibrary library);
void rt_library_forget(CUlibrary library);

/* The `count` bytes at `offset` of a device variable, as the end of a copy of this kind to it or
 * from it (symbol.c). cudaErrorInvalidSymbol, cudaErrorInvalidValue for bytes outside the variable,
 * cudaErrorInvalidMemcpyDirection for a kind that puts the variable on the host. */
cudaError_t rt_range_to(const void *symbol, size_t offset, size_t count, enum cudaMemcpyKind kind,
                        void **out);
cudaError_t rt_range_from(const void *symbol, size_t offset, size_t count, enum cudaMemcpyKind kind,
                          void **out);
/* The driver's form of a launch's geometry and attributes (launch.c). */
CUlaunchConfig rt_launch_config(const cudaLaunchConfig_t *config, cudaStream_t stream);

/* ---- copies (copy.c, array.c) ---- */

/* The memory type at each end that a direction means. */
cudaError_t rt_memory_types(enum cudaMemcpyKind kind, CUmemorytype *src, CUmemorytype *dst);
/* What an array is, and the bytes of one element. */
cudaError_t rt_array_describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR *out,
                              size_t *element);
/* The driver's description of a copy, and back. cudaErrorInvalidMemcpyDirection: unknown kind;
 * cudaErrorInvalidValue: an end that is not one array or one pointer. */
cudaError_t rt_copy_to_driver(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to);
cudaError_t rt_copy_from_driver(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to);
/* A copy of `count` bytes as a 3D copy of one row. */
struct cudaMemcpy3DParms rt_copy_1d(void *dst, const void *src, size_t count,
                                    enum cudaMemcpyKind kind);

/* ---- graph node parameters (graph_params.c) ---- */

/* The driver's form of a kernel node's parameters: `func` is the function in the current context,
 * or, with FAKEVMM_MODEL=launchform=kern, NULL with `kern` set. */
cudaError_t rt_node_to_driver(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to);
cudaError_t rt_node_from_driver(const CUDA_KERNEL_NODE_PARAMS *from,
                                struct cudaKernelNodeParams *to);
/* The same for the form that carries any type of node. */
cudaError_t rt_params_to_driver(const struct cudaGraphNodeParams *from, CUgraphNodeParams *to);
/* Copies back what the driver wrote for the caller (addresses, bodies of conditional nodes). */
void rt_params_outputs(const CUgraphNodeParams *from, struct cudaGraphNodeParams *to);

/* The stream a *_ptsz twin means: NULL becomes cudaStreamPerThread, others stay. */
static inline cudaStream_t rt_ptsz(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}

static inline CUdeviceptr rt_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
