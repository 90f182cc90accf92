/* Libraries loaded through the fake runtime, attributes of their kernels, launches. */
#include "tests/fake/cudart_kernels.h"
#include "tests/helpers.h"

static cudaLibrary_t load(void)
{
    cudaLibrary_t library = NULL;

    OK(cudaLibraryLoadData(&library, cudart_ptx, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static cudaKernel_t kernel(cudaLibrary_t library, const char *name)
{
    cudaKernel_t out = NULL;

    OK(cudaLibraryGetKernel(&out, library, name));
    return out;
}

TEST(cudart_library, kernels_are_found_and_listed)
{
    cudaLibrary_t library = load();
    cudaKernel_t kernels[2] = {NULL, NULL}, none = NULL;
    const char *name = NULL;
    unsigned count = 0;

    OK(cudaLibraryGetKernelCount(&count, library));
    T_EQ(count, 2);
    OK(cudaLibraryEnumerateKernels(kernels, 2, library));
    T_ASSERT(kernels[0] != kernels[1]);
    OK(cudaFuncGetName(&name, kernel(library, "add")));
    T_STR_EQ(name, "add");
    T_NE(cudaLibraryGetKernel(&none, library, "nobody"), cudaSuccess);
    OK(cudaLibraryUnload(library));
    T_NE(cudaLibraryLoadData(&library, ".version nonsense", NULL, NULL, 0, NULL, NULL, 0),
         cudaSuccess);
}

TEST(cudart_library, parameters_have_a_layout)
{
    cudaLibrary_t library = load();
    cudaKernel_t add = kernel(library, "add");
    size_t offset = 99, bytes = 99;

    OK(cudaFuncGetParamInfo(add, 0, &offset, &bytes));
    T_EQ(offset, 0);
    T_EQ(bytes, 8);
    OK(cudaFuncGetParamInfo(add, 1, &offset, &bytes));
    T_EQ(offset, 8);
    T_EQ(bytes, 4);
    T_EQ(cudaFuncGetParamInfo(add, 2, &offset, &bytes), cudaErrorInvalidValue);
    OK(cudaLibraryUnload(library));
}

TEST(cudart_library, function_attributes_can_be_read_and_set)
{
    cudaLibrary_t library = load();
    cudaKernel_t add = kernel(library, "add");
    struct cudaFuncAttributes attributes;
    int blocks = 0;

    OK(cudaFuncGetAttributes(&attributes, add));
    T_EQ(attributes.sharedSizeBytes, 0);
    T_GE(attributes.maxThreadsPerBlock, 1);
    OK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    OK(cudaFuncGetAttributes(&attributes, add));
    T_EQ(attributes.maxDynamicSharedSizeBytes, 1024);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 0));
    T_GE(blocks, 1);
    OK(cudaLibraryUnload(library));
}

TEST(cudart_library, launches_run)
{
    cudaLibrary_t library = load();
    cudaKernel_t add = kernel(library, "add");
    int in[4] = {1, 2, 3, 4}, out[4], *data = NULL;
    unsigned value = 10;
    void *args[] = {&data, &value};
    cudaLaunchConfig_t config = {.gridDim = {1, 1, 1}, .blockDim = {4, 1, 1}};

    OK(cudaMalloc((void **)&data, sizeof in));
    OK(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaLaunchKernel(add, ONE_BLOCK(4), args, 0, NULL));
    OK(cudaLaunchKernelExC(&config, add, args));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; i++)
        T_EQ(out[i], in[i] + 20);
    OK(cudaFree(data));
    OK(cudaLibraryUnload(library));
}

TEST(cudart_library, globals_have_an_address)
{
    cudaLibrary_t library = load();
    cudaKernel_t count = kernel(library, "count");
    void *address = NULL;
    size_t bytes = 0;
    int value = 0;

    OK(cudaLibraryGetGlobal(&address, &bytes, library, "counter"));
    T_EQ(bytes, 4);
    OK(cudaLaunchKernel(count, ONE_BLOCK(1), NULL, 0, NULL));
    OK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    T_EQ(value, 41);
    OK(cudaLibraryUnload(library));
}

TEST(cudart_library, what_is_no_kernel_is_refused)
{
    int anything = 0;
    struct cudaFuncAttributes attributes;

    T_EQ(cudaLaunchKernel(&anything, ONE_BLOCK(1), NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    T_EQ(cudaLaunchKernel(NULL, ONE_BLOCK(1), NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    T_EQ(cudaFuncGetAttributes(&attributes, &anything), cudaErrorInvalidDeviceFunction);
    T_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
}

TEST(cudart_library, a_shape_beyond_the_limits_is_refused)
{
    cudaLibrary_t library = load();

    T_NE(cudaLaunchKernel(kernel(library, "count"), ONE_BLOCK(4096), NULL, 0, NULL), cudaSuccess);
    OK(cudaLibraryUnload(library));
}

TEST(cudart_library, code_is_loaded_from_a_file)
{
    char *name = t_format("%s/code.ptx", t_temp());
    FILE *file = fopen(name, "w");
    cudaLibrary_t library = NULL;
    unsigned count = 0;

    T_NOT_NULL(file);
    T_GE(fputs(cudart_ptx, file), 0);
    T_EQ(fclose(file), 0);
    OK(cudaLibraryLoadFromFile(&library, name, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernelCount(&count, library));
    T_EQ(count, 2);
    OK(cudaLibraryUnload(library));
    T_EQ(cudaLibraryLoadFromFile(&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0),
         cudaErrorFileNotFound);
    free(name);
}
