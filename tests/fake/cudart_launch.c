/* Launches through the fake runtime: the forms, what cannot be launched, and what fits. */
#include "tests/fake/cudart_kernels.h"

static cudaLibrary_t load(void)
{
    cudaLibrary_t library = NULL;

    OK(cudaLibraryLoadData(&library, cudart_ptx, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static const void *kernel(cudaLibrary_t library, const char *name)
{
    cudaKernel_t out = NULL;

    OK(cudaLibraryGetKernel(&out, library, name));
    return out;
}

/* What the device allows. */
static int limit(enum cudaDeviceAttr which)
{
    int value = 0;

    OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

TEST(cudart_launch, a_geometry_that_no_device_has_is_an_invalid_configuration)
{
    cudaLibrary_t library = load();
    const void *count = kernel(library, "count");
    unsigned threads = (unsigned)limit(cudaDevAttrMaxThreadsPerBlock);
    unsigned rows = (unsigned)limit(cudaDevAttrMaxGridDimY);
    size_t shared_bytes = (size_t)limit(cudaDevAttrMaxSharedMemoryPerBlockOptin);

    T_EQ(cudaLaunchKernel(count, (dim3){1, 1, 1}, (dim3){threads + 1, 1, 1}, NULL, 0, NULL),
         cudaErrorInvalidConfiguration);
    T_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    T_EQ(cudaLaunchKernel(count, (dim3){1, 1, 1}, (dim3){threads, 2, 1}, NULL, 0, NULL),
         cudaErrorInvalidConfiguration);
    T_EQ(cudaLaunchKernel(count, (dim3){0, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
         cudaErrorInvalidConfiguration);
    T_EQ(cudaLaunchKernel(count, (dim3){1, rows + 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
         cudaErrorInvalidConfiguration);
    T_EQ(cudaLaunchKernel(count, ONE_BLOCK(1), NULL, shared_bytes + 1, NULL),
         cudaErrorInvalidConfiguration);
    T_EQ(cudaLaunchKernel(count, ONE_BLOCK(1), NULL, (size_t)1 << 32, NULL),
         cudaErrorInvalidConfiguration);
    T_EQ(cudaLaunchCooperativeKernel(count, (dim3){0, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
         cudaErrorInvalidConfiguration);
    OK(cudaDeviceSynchronize());
    OK(cudaLibraryUnload(library));
}

TEST(cudart_launch, what_is_no_kernel_is_an_invalid_function)
{
    int local;

    T_EQ(cudaLaunchKernel(NULL, ONE_BLOCK(1), NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    T_EQ(cudaLaunchKernel(&local, ONE_BLOCK(1), NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    T_EQ(cudaLaunchCooperativeKernel(&local, ONE_BLOCK(1), NULL, 0, NULL),
         cudaErrorInvalidDeviceFunction);
}

TEST(cudart_launch, the_ex_form_takes_attributes)
{
    cudaLibrary_t library = load();
    unsigned *data = NULL, value = 3, out[2] = {0};
    void *args[] = {&data, &value};
    cudaLaunchAttribute cooperative = {.id = cudaLaunchAttributeCooperative,
                                       .val = {.cooperative = 1}};
    cudaLaunchConfig_t config = {
        .gridDim = {1, 1, 1}, .blockDim = {2, 1, 1}, .attrs = &cooperative, .numAttrs = 1};

    OK(cudaMalloc((void **)&data, sizeof out));
    OK(cudaMemset(data, 0, sizeof out));
    OK(cudaLaunchKernelExC(&config, kernel(library, "add"), args));
    OK(cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost));
    T_EQ(out[1], 3);
    config.blockDim.x = 0;
    T_EQ(cudaLaunchKernelExC(&config, kernel(library, "add"), args), cudaErrorInvalidConfiguration);
    T_EQ(cudaLaunchKernelExC(NULL, kernel(library, "add"), args), cudaErrorInvalidValue);
    OK(cudaFree(data));
    OK(cudaLibraryUnload(library));
}

TEST(cudart_launch, a_cooperative_grid_must_fit_at_once)
{
    cudaLibrary_t library = load();
    const void *count = kernel(library, "count");
    int blocks = 0, processors = limit(cudaDevAttrMultiProcessorCount);
    dim3 grid = {1, 1, 1}, block = {256, 1, 1};

    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 256, 0));
    T_GT(blocks, 0);
    OK(cudaLaunchCooperativeKernel(count, grid, (dim3){1, 1, 1}, NULL, 0, NULL));
    grid.x = (unsigned)(blocks * processors) + 1;
    T_EQ(cudaLaunchCooperativeKernel(count, grid, block, NULL, 0, NULL),
         cudaErrorCooperativeLaunchTooLarge);
    OK(cudaDeviceSynchronize());
    OK(cudaLibraryUnload(library));
}

TEST(cudart_launch, occupancy_follows_shared_memory)
{
    cudaLibrary_t library = load();
    const void *count = kernel(library, "count");
    int alone = 0, with = 0;
    size_t available = 0;

    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&alone, count, 32, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &with, count, 32, (size_t)limit(cudaDevAttrMaxSharedMemoryPerBlock), cudaOccupancyDefault));
    T_GE(with, 1);
    T_LT(with, alone);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&available, count, 1, 32));
    T_GT(available, 0);
    T_LE(available, (size_t)limit(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    T_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, count, 32, 0), cudaErrorInvalidValue);
    OK(cudaLibraryUnload(library));
}

TEST(cudart_launch, clusters_are_counted)
{
    cudaLibrary_t library;
    const void *count;
    cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension,
                                   .val = {.clusterDim = {2, 1, 1}}};
    cudaLaunchConfig_t config = {.gridDim = {8, 1, 1}, .blockDim = {32, 1, 1}};
    int size = 0, clusters = 0;

    setenv("FAKEVMM_DEVICE", "h100", 1);
    T_EQ(limit(cudaDevAttrClusterLaunch), 1);
    library = load();
    count = kernel(library, "count");
    OK(cudaOccupancyMaxPotentialClusterSize(&size, count, &config));
    T_GE(size, 1);
    config.attrs = &cluster;
    config.numAttrs = 1;
    OK(cudaOccupancyMaxActiveClusters(&clusters, count, &config));
    T_GE(clusters, 1);
    T_EQ(cudaOccupancyMaxActiveClusters(&clusters, count, NULL), cudaErrorInvalidValue);
    OK(cudaLibraryUnload(library));
}

/* What __cluster_dims__(2, 1, 1) compiles to. */
TEST(cudart_launch, a_kernel_with_clusters_tells_them)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry pair() .explicitcluster "
                               ".reqnctapercluster 2, 1, 1 { ret; }\n";
    struct cudaFuncAttributes attributes;
    cudaLibrary_t library = NULL;
    const void *pair;

    setenv("FAKEVMM_DEVICE", "h100", 1);
    OK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    pair = kernel(library, "pair");
    OK(cudaFuncGetAttributes(&attributes, pair));
    T_EQ(attributes.requiredClusterWidth, 2);
    T_EQ(attributes.requiredClusterHeight, 1);
    T_EQ(attributes.requiredClusterDepth, 1);
    T_EQ(attributes.clusterDimMustBeSet, 1);
    T_EQ(attributes.nonPortableClusterSizeAllowed, 0);
    OK(cudaFuncSetAttribute(pair, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    OK(cudaFuncGetAttributes(&attributes, pair));
    T_EQ(attributes.nonPortableClusterSizeAllowed, 1);
    OK(cudaLaunchKernel(pair, (dim3){4, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    T_EQ(cudaLaunchKernel(pair, (dim3){3, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
         cudaErrorInvalidClusterSize);
    OK(cudaDeviceSynchronize());
    OK(cudaLibraryUnload(library));
}

TEST(cudart_launch, a_kernel_takes_attributes_for_one_device)
{
    cudaLibrary_t library = load();
    cudaKernel_t count = (cudaKernel_t)(uintptr_t)kernel(library, "count");
    struct cudaFuncAttributes attributes;

    OK(cudaKernelSetAttributeForDevice(count, cudaFuncAttributeMaxDynamicSharedMemorySize, 8192,
                                       0));
    OK(cudaFuncGetAttributes(&attributes, count));
    T_EQ(attributes.maxDynamicSharedSizeBytes, 8192);
    T_EQ(cudaKernelSetAttributeForDevice(count, cudaFuncAttributeMaxDynamicSharedMemorySize, 8192,
                                         999),
         cudaErrorInvalidDevice);
    OK(cudaLibraryUnload(library));
}
