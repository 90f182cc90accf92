/* driver.c: finds the driver the way NVIDIA's runtime does: dlopen, one dlsym for
 * cuGetProcAddress_v2, then every function through the cuGetProcAddress that cuGetProcAddress
 * itself names. Whoever wants to see a program's driver calls has to follow that way, so it must
 * not take a short cut. */
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

struct rt_driver rt_driver;

static PFN_cuGetProcAddress_v12000 resolver; /* set with rt_driver */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool loaded;

/* One question to the resolver. A function that the driver lacks is no failure: its pointer stays
 * NULL and calls that need it say so. */
static cudaError_t ask(PFN_cuGetProcAddress_v12000 resolve, const char *name, int version,
                       cuuint64_t flags, void *slot)
{
    CUdriverProcAddressQueryResult found;
    void *pointer = NULL;
    CUresult result = resolve(name, &pointer, version, flags, &found);

    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND)
        return (cudaError_t)result;
    *(void **)slot = pointer;
    return cudaSuccess;
}

static cudaError_t ask_all(PFN_cuGetProcAddress_v12000 resolve)
{
    cudaError_t error = cudaSuccess;

#define DRV(name, version)                                                                         \
    if (error == cudaSuccess)                                                                      \
        error = ask(resolve, #name, version, CU_GET_PROC_ADDRESS_DEFAULT, &rt_driver.name);
#define DRV_PTDS(name, version)                                                                    \
    if (error == cudaSuccess)                                                                      \
        error = ask(resolve, #name, version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,        \
                    &rt_driver.name##_ptds);
#include "driver.def"
#undef DRV
#undef DRV_PTDS
    return error;
}

/* The handle is kept open for good: the pointers taken from it are. */
static cudaError_t find_resolver(PFN_cuGetProcAddress_v12000 *out)
{
    static void *library;
    PFN_cuGetProcAddress_v12000 first, self = NULL;
    cudaError_t error;

    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return cudaErrorInsufficientDriver;
    *(void **)&first = dlsym(library, "cuGetProcAddress_v2");
    if (!first)
        return cudaErrorInsufficientDriver;
    error = ask(first, "cuGetProcAddress", 12000, CU_GET_PROC_ADDRESS_DEFAULT, &self);
    if (error == cudaErrorNotSupported || (error == cudaSuccess && !self))
        error = cudaErrorInsufficientDriver;
    *out = self;
    return error;
}

/* Before anything else is asked: an older driver knows no functions of this version. */
static cudaError_t check_version(PFN_cuGetProcAddress_v12000 resolve)
{
    int version = 0;
    cudaError_t error = ask(resolve, "cuDriverGetVersion", 2020, CU_GET_PROC_ADDRESS_DEFAULT,
                            &rt_driver.cuDriverGetVersion);

    if (error == cudaSuccess)
        error = DRIVER(cuDriverGetVersion, &version);
    return error == cudaSuccess && version < CUDART_VERSION ? cudaErrorInsufficientDriver : error;
}

static cudaError_t load(void)
{
    cudaError_t error = find_resolver(&resolver);

    if (error == cudaSuccess)
        error = check_version(resolver);
    if (error == cudaSuccess)
        error = ask_all(resolver);
    if (error == cudaSuccess)
        error = DRIVER(cuInit, 0);
    return error;
}

cudaError_t rt_driver_load(void)
{
    cudaError_t error = cudaSuccess;

    if (rt_driver_loaded())
        return cudaSuccess;
    pthread_mutex_lock(&load_lock);
    if (!rt_driver_loaded()) {
        error = load();
        atomic_store_explicit(&loaded, error == cudaSuccess, memory_order_release);
    }
    pthread_mutex_unlock(&load_lock);
    return error;
}

bool rt_driver_loaded(void)
{
    return atomic_load_explicit(&loaded, memory_order_acquire);
}

/* A function that does not exist is a success with a NULL pointer and the reason in *status. */
static cudaError_t entry_point(const char *symbol, void **pointer, unsigned version,
                               unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result;

    if (!symbol || !pointer)
        return cudaErrorInvalidValue;
    *pointer = NULL;
    result = resolver(symbol, pointer, (int)version, flags, &found);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND)
        return (cudaError_t)result;
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return cudaSuccess;
}

cudaError_t rt_cudaGetDriverEntryPointByVersion(const char *symbol, void **pointer,
                                                unsigned int version, unsigned long long flags,
                                                enum cudaDriverEntryPointQueryResult *status)
{
    return entry_point(symbol, pointer, version, flags, status);
}

cudaError_t rt_cudaGetDriverEntryPoint(const char *symbol, void **pointer, unsigned long long flags,
                                       enum cudaDriverEntryPointQueryResult *status)
{
    return entry_point(symbol, pointer, CUDART_VERSION, flags, status);
}

/* In a program compiled for per-thread default streams, "default" means those. */
static unsigned long long ptsz_flags(unsigned long long flags)
{
    return flags == cudaEnableDefault ? cudaEnablePerThreadDefaultStream : flags;
}

cudaError_t rt_cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **pointer,
                                                     unsigned int version, unsigned long long flags,
                                                     enum cudaDriverEntryPointQueryResult *status)
{
    return entry_point(symbol, pointer, version, ptsz_flags(flags), status);
}

cudaError_t rt_cudaGetDriverEntryPoint_ptsz(const char *symbol, void **pointer,
                                            unsigned long long flags,
                                            enum cudaDriverEntryPointQueryResult *status)
{
    return entry_point(symbol, pointer, CUDART_VERSION, ptsz_flags(flags), status);
}
