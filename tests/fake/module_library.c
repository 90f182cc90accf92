/* module_library.c: libraries: kernels without a context, one function of each per context. */
#include "module_fixture.h"

TEST(module_library, loads_without_a_context)
{
    CUkernel all[5] = {0}, kernel;
    unsigned count = 0;
    CUlibrary owner;
    const char *name;

    OK(cuInit(0));
    CUlibrary library = load_library(code);
    OK(cuLibraryGetKernelCount(&count, library));
    T_EQ(count, 4);
    OK(cuLibraryEnumerateKernels(all, 5, library));
    T_PTR_EQ(all[2], kernel_of(library, "big"));
    T_NULL(all[4]);
    OK(cuKernelGetName(&name, all[3]));
    T_STR_EQ(name, "shape");
    OK(cuKernelGetLibrary(&owner, all[3]));
    T_PTR_EQ(owner, library);
    T_EQ(cuLibraryGetKernel(&kernel, library, "absent"), CUDA_ERROR_NOT_FOUND);
    T_EQ(cuLibraryGetKernel(&kernel, NULL, "big"), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuLibraryGetKernel(&kernel, library, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuKernelGetFunction(&(CUfunction){0}, all[0]), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(module_library, one_function_per_context)
{
    CUfunction first, again, second;
    CUmodule module;

    CUcontext a = start();
    CUlibrary library = load_library(code);
    CUkernel kernel = kernel_of(library, "count");
    OK(cuKernelGetFunction(&first, kernel));
    OK(cuKernelGetFunction(&again, kernel));
    T_PTR_EQ(first, again);
    OK(cuLibraryGetModule(&module, library));
    T_PTR_EQ(function_of(module, "count"), first);
    T_EQ(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
    CUcontext b = start();
    OK(cuKernelGetFunction(&second, kernel));
    T_NE((uintptr_t)first, (uintptr_t)second);
    OK(cuCtxDestroy_v2(b));
    OK(cuCtxSetCurrent(a));
    OK(launch(first, 1, NULL));
    OK(cuCtxSynchronize());
}

/* A kernel may be launched in a function's place; each context has its own variables. */
TEST(module_library, launches_and_variables)
{
    CUdeviceptr counter, other;
    size_t bytes;

    CUcontext a = start();
    CUlibrary library = load_library(code);
    CUfunction kernel = (CUfunction)kernel_of(library, "count");
    OK(cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
    T_EQ(bytes, 4);
    OK(launch(kernel, 3, NULL));
    T_EQ(read_u32(counter), 8);
    start();
    OK(cuLibraryGetGlobal(&other, NULL, library, "counter"));
    OK(launch(kernel, 1, NULL));
    T_EQ(read_u32(other), 6);
    OK(cuCtxSetCurrent(a));
    T_EQ(read_u32(counter), 8);
    T_EQ(cuLibraryGetGlobal(&other, NULL, library, "absent"), CUDA_ERROR_NOT_FOUND);
}

TEST(module_library, parameters_and_attributes)
{
    size_t offset, size;
    int value;

    start();
    CUlibrary library = load_library(code);
    CUkernel big = kernel_of(library, "big"), shape = kernel_of(library, "shape");
    OK(cuKernelGetParamInfo(big, 1, &offset, &size));
    T_EQ(offset, 4);
    T_EQ(size, 12);
    T_EQ(cuKernelGetParamInfo(big, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, shape, 0));
    T_EQ(value, 128);
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, shape, 0));
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shape, 0));
    T_EQ(value, 100000);
    OK(cuLaunchKernel((CUfunction)shape, 1, 1, 1, 32, 1, 1, 100000, NULL, NULL, NULL));
    T_EQ(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, shape, 99),
         CUDA_ERROR_INVALID_DEVICE);
    OK(cuKernelSetCacheConfig(shape, CU_FUNC_CACHE_PREFER_SHARED, 0));
    OK(cuCtxSynchronize());
}

/* Attributes of a kernel need no context, and hold for functions it has and will have. */
TEST(module_library, attributes_without_a_context)
{
    const CUfunction_attribute most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    CUfunction function;
    int value;

    OK(cuInit(0));
    CUkernel shape = kernel_of(load_library(code), "shape");
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shape, 0));
    T_EQ(value, 1024);
    OK(cuKernelSetAttribute(most, 60000, shape, 0));
    start();
    OK(cuKernelGetFunction(&function, shape));
    OK(cuFuncGetAttribute(&value, most, function));
    T_EQ(value, 60000);
    OK(cuKernelSetAttribute(most, 70000, shape, 0));
    OK(cuFuncGetAttribute(&value, most, function));
    T_EQ(value, 70000);
    T_EQ(cuKernelSetAttribute(most, 240000, shape, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuKernelSetAttribute(most, 60000, shape, -1), CUDA_ERROR_INVALID_DEVICE);
}

TEST(module_library, unload_ends_kernels_and_functions)
{
    CUfunction function, again;

    start();
    CUlibrary library = load_library(code);
    CUkernel kernel = kernel_of(library, "count");
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuLibraryUnload(library));
    T_EQ(launch(function, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(launch((CUfunction)kernel, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_VALUE);
    /* and loaded again the values come back */
    T_PTR_EQ(load_library(code), library);
    T_PTR_EQ(kernel_of(library, "count"), kernel);
    OK(cuKernelGetFunction(&again, kernel));
    T_PTR_EQ(again, function);
}

/* The library outlives a context; its functions there do not. */
TEST(module_library, context_reset)
{
    CUcontext primary;
    CUfunction before, after;
    CUdeviceptr counter;

    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    CUlibrary library = load_library(code);
    CUkernel kernel = kernel_of(library, "count");
    OK(cuKernelGetFunction(&before, kernel));
    OK(launch(before, 1, NULL));
    OK(cuDevicePrimaryCtxReset_v2(0));
    T_NE(launch(before, 1, NULL), CUDA_SUCCESS);
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
    OK(cuKernelGetFunction(&after, kernel));
    OK(cuLibraryGetGlobal(&counter, NULL, library, "counter"));
    T_EQ(read_u32(counter), 5);
}
