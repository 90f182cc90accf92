/* How the fake runtime meets the driver: without one, with a driver context of the application's
 * own, and its answers to questions for driver functions. */
#include "tests/fake/cudart_kernels.h"
#include "tests/helpers.h"

#include <cudaTypedefs.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

TEST(cudart_driver, without_a_driver_the_error_says_so)
{
    const char *folder = t_temp();
    char *runtime = t_build("fakevmm/libcudart.so.13"), *app = t_build("apps/resend");
    char *copy = t_format("%s/libcudart.so.13", folder);
    char *decoy = t_format("%s/libcuda.so.1", folder);
    char *path = t_format("LD_LIBRARY_PATH=%s", folder);
    struct t_run run;

    T_EQ(symlink(runtime, copy), 0);
    fclose(fopen(decoy, "w")); /* no library, and it hides one that the system may have */
    run = t_command((const char *[]){app, "--steps", "1", NULL}, (const char *[]){path, NULL});
    T_EQ(run.exit_code, 1);
    T_STR_HAS(run.err, "cudaErrorInsufficientDriver");
    t_run_free(&run);
    free(runtime);
    free(app);
    free(copy);
    free(decoy);
    free(path);
}

static void check_older(const char *version)
{
    int count;

    setenv("FAKEVMM_DRIVER", version, 1);
    T_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    T_EQ(cudaFree(NULL), cudaErrorInsufficientDriver);
    OK(cudaDriverGetVersion(&count));
}

TEST(cudart_driver, an_older_driver_is_not_enough)
{
    check_older("12040");
}

TEST(cudart_driver, nor_is_one_without_the_resolver)
{
    check_older("11080");
}

TEST(cudart_driver, an_error_of_the_driver_is_the_callers)
{
    void *memory = NULL;

    setenv("FAKEVMM_FAULT", "cuMemAlloc_v2:1:CUDA_ERROR_OUT_OF_MEMORY", 1);
    T_EQ(cudaMalloc(&memory, 4096), cudaErrorMemoryAllocation);
    T_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    OK(cudaMalloc(&memory, 4096));
    OK(cudaFree(memory));
}

TEST(cudart_driver, a_failed_start_is_tried_again)
{
    int count = 0;

    setenv("FAKEVMM_FAULT", "cuInit:1:CUDA_ERROR_NO_DEVICE", 1);
    T_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    OK(cudaGetDeviceCount(&count));
    T_GE(count, 1);
}

TEST(cudart_driver, the_primary_context_is_used_when_none_is_current)
{
    CUcontext current = NULL, primary = NULL;
    CUdevice device;
    unsigned flags;
    int active = -1;

    OK(cudaFree(NULL));
    T_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    T_NOT_NULL(current);
    T_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    T_EQ(cuDevicePrimaryCtxGetState(device, &flags, &active), CUDA_SUCCESS);
    T_EQ(active, 1);
    T_EQ(cuDevicePrimaryCtxRetain(&primary, device), CUDA_SUCCESS);
    T_PTR_EQ(primary, current);
    T_EQ(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
}

TEST(cudart_driver, a_context_of_the_applications_own_is_used)
{
    CUcontext own = NULL, current = NULL, of = NULL;
    CUdevice device;
    void *memory = NULL;
    unsigned flags;
    int active = -1, number = -1;

    setenv("FAKEVMM_DEVICES", "2", 1);
    T_EQ(cuInit(0), CUDA_SUCCESS);
    T_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
    T_EQ(cuCtxCreate(&own, NULL, 0, device), CUDA_SUCCESS);
    OK(cudaMalloc(&memory, 4096));
    OK(cudaGetDevice(&number));
    T_EQ(number, 1);
    T_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    T_PTR_EQ(current, own);
    T_EQ(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)memory),
         CUDA_SUCCESS);
    T_PTR_EQ(of, own);
    T_EQ(cuDevicePrimaryCtxGetState(device, &flags, &active), CUDA_SUCCESS);
    T_EQ(active, 0);
    OK(cudaFree(memory));
    T_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
    OK(cudaMalloc(&memory, 4096)); /* now the primary context of device 0 */
    OK(cudaGetDevice(&number));
    T_EQ(number, 0);
    OK(cudaFree(memory));
}

/* "If a non-primary context is current, only the runtime's own state for it is reset." */
TEST(cudart_driver, a_reset_spares_the_applications_context)
{
    CUcontext own = NULL;
    CUdevice device;
    void *memory = NULL, *primary = NULL;
    unsigned flags = 0;
    int value = 5;

    OK(cudaMalloc(&primary, 4096));
    T_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    T_EQ(cuCtxCreate(&own, NULL, CU_CTX_SCHED_YIELD, device), CUDA_SUCCESS);
    OK(cudaMalloc(&memory, 4096));
    OK(cudaGetDeviceFlags(&flags));
    T_EQ(flags & cudaDeviceScheduleMask, cudaDeviceScheduleYield);
    OK(cudaDeviceReset());
    OK(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice));
    OK(cudaFree(memory));
    T_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
    OK(cudaFree(primary)); /* the primary context was spared, too */
}

TEST(cudart_driver, entry_points_follow_the_version)
{
    enum cudaDriverEntryPointQueryResult status;
    void *old = NULL, *now = NULL, *none = &none;

    OK(cudaGetDriverEntryPointByVersion("cuCtxGetDevice", &old, 2000, cudaEnableDefault, &status));
    T_EQ(status, cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuCtxGetDevice", &now, 13000, cudaEnableDefault, NULL));
    T_NOT_NULL(old);
    T_NOT_NULL(now);
    T_ASSERT(old != now); /* another ABI under the same name */
    OK(cudaGetDriverEntryPointByVersion("cuNobody", &none, 13000, cudaEnableDefault, &status));
    T_EQ(status, cudaDriverEntryPointSymbolNotFound);
    T_NULL(none);
    OK(cudaGetDriverEntryPointByVersion("cuGraphLaunch", &none, 9000, cudaEnableDefault, &status));
    T_EQ(status, cudaDriverEntryPointVersionNotSufficent);
    T_NULL(none);
    T_EQ(cudaGetDriverEntryPointByVersion("cuInit", &now, 99000, cudaEnableDefault, NULL),
         cudaErrorInvalidValue);
    T_EQ(cudaGetDriverEntryPointByVersion(NULL, &now, 13000, cudaEnableDefault, NULL),
         cudaErrorInvalidValue);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the form without a version */

/* Without a version it is the runtime's own that counts. */
TEST(cudart_driver, entry_points_without_a_version)
{
    enum cudaDriverEntryPointQueryResult status;
    void *plain = NULL, *now = NULL;

    OK(cudaGetDriverEntryPoint("cuCtxGetDevice", &plain, cudaEnableDefault, &status));
    T_EQ(status, cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuCtxGetDevice", &now, CUDART_VERSION, cudaEnableDefault,
                                        NULL));
    T_PTR_EQ(plain, now);
    OK(cudaGetDriverEntryPoint("cuStreamQuery", &plain, cudaEnableLegacyStream, NULL));
    OK(cudaGetDriverEntryPoint("cuStreamQuery", &now, cudaEnablePerThreadDefaultStream, NULL));
    T_ASSERT(plain != now);
}

#pragma GCC diagnostic pop

TEST(cudart_driver, an_entry_point_works)
{
    PFN_cuDeviceGetCount_v2000 function;
    void *pointer = NULL;
    int here = 0, there = 0;

    OK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &pointer, 2000, cudaEnableDefault,
                                        NULL));
    *(void **)&function = pointer;
    T_EQ(function(&there), CUDA_SUCCESS);
    OK(cudaGetDeviceCount(&here));
    T_EQ(here, there);
}

struct lookup {
    const char *name;
    int version, flags;
};

/* Whoever follows a program's way to the driver must meet the questions that NVIDIA's runtime asks.
 */
TEST(cudart_driver, asks_as_the_real_runtime_does)
{
    static const struct lookup asked[] = {
#define DRV(name, version)      {#name, version, 0},
#define DRV_PTDS(name, version) {#name, version, 2},
#include "fakevmm/cudart/driver.def"
    };
    static const struct lookup real[] = {
#define LOOKUP(name, version, flags) {#name, version, flags},
#include "tests/fake/driver_lookups.def"
    };

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof real / sizeof *real && !found; k++)
            found = strcmp(asked[i].name, real[k].name) == 0 &&
                    asked[i].version == real[k].version && asked[i].flags == real[k].flags;
        T_ASSERT(found, "%s %d %d", asked[i].name, asked[i].version, asked[i].flags);
    }
}

static void *allocate(void *error)
{
    void *memory = NULL;

    *(cudaError_t *)error = cudaMalloc(&memory, 4096);
    if (*(cudaError_t *)error == cudaSuccess)
        *(cudaError_t *)error = cudaFree(memory);
    return NULL;
}

/* A second thread has the primary context current while the first one resets the device. */
static void *allocate_twice(void *data)
{
    sem_t *gates = data;
    cudaError_t error = cudaSuccess;

    allocate(&error);
    sem_post(&gates[0]);
    while (sem_wait(&gates[1])) {
    }
    if (error == cudaSuccess)
        allocate(&error);
    return (void *)(uintptr_t)error;
}

TEST(cudart_driver, other_threads_go_on_after_a_reset)
{
    sem_t gates[2];
    pthread_t thread;
    void *error = NULL;

    sem_init(&gates[0], 0, 0);
    sem_init(&gates[1], 0, 0);
    T_EQ(pthread_create(&thread, NULL, allocate_twice, gates), 0);
    while (sem_wait(&gates[0])) {
    }
    OK(cudaDeviceReset());
    sem_post(&gates[1]);
    T_EQ(pthread_join(thread, &error), 0);
    T_EQ((uintptr_t)error, cudaSuccess);
}

/* A context created after a reset may have the handle of the primary context that ended. */
TEST(cudart_driver, a_context_made_after_a_reset_is_the_applications)
{
    CUcontext own = NULL, of = NULL;
    CUdevice device;
    void *memory = NULL;

    OK(cudaFree(NULL));
    OK(cudaDeviceReset());
    T_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    T_EQ(cuCtxCreate(&own, NULL, 0, device), CUDA_SUCCESS);
    OK(cudaMalloc(&memory, 4096));
    T_EQ(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)memory),
         CUDA_SUCCESS);
    T_PTR_EQ(of, own);
    OK(cudaFree(memory));
    T_EQ(cuCtxDestroy(own), CUDA_SUCCESS);
}
