/* Managed variables of modules and libraries, by the documentation of cuLibraryGetManaged and
 * cuModuleGetGlobal: the host reads and writes them where they are. */
#include "tests/fake/module_fixture.h"

static const char managed_code[] =
    PTX(".visible .global .attribute(.managed) .align 4 .u32 shared_count = 7;\n"
        ".visible .global .align 4 .u32 plain = 1;\n"
        ".visible .entry count() { red.global.add.u32 [shared_count], 1; ret; }\n");

static void run_once(CUfunction function)
{
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

TEST(module_managed, the_host_sees_a_modules_variable)
{
    CUdeviceptr address;
    size_t bytes;

    start();
    CUmodule module = load_module(managed_code);
    OK(cuModuleGetGlobal_v2(&address, &bytes, module, "shared_count"));
    T_EQ(bytes, 4);
    volatile unsigned *count = (volatile unsigned *)(uintptr_t)address;
    T_EQ(*count, 7);
    run_once(function_of(module, "count"));
    T_EQ(*count, 8);
    *count = 100;
    run_once(function_of(module, "count"));
    T_EQ(*count, 101);
    unsigned managed = 0;
    OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    T_EQ(managed, 1);
    OK(cuModuleUnload(module));
}

/* "managed memory for library is shared across devices" */
TEST(module_managed, a_library_has_one_for_all_contexts)
{
    CUdeviceptr here, there;
    CUfunction function;
    size_t bytes;

    setenv("FAKEVMM_DEVICES", "2", 1);
    CUcontext first = start();
    CUlibrary library = load_library(managed_code);
    CUkernel kernel = kernel_of(library, "count");
    OK(cuKernelGetFunction(&function, kernel));
    run_once(function);
    OK(cuLibraryGetManaged(&here, &bytes, library, "shared_count"));
    T_EQ(bytes, 4);
    CUcontext second;
    OK(cuCtxCreate_v2(&second, 0, 1));
    OK(cuKernelGetFunction(&function, kernel));
    run_once(function);
    OK(cuLibraryGetManaged(&there, NULL, library, "shared_count"));
    T_EQ(here, there);
    T_EQ(*(volatile unsigned *)(uintptr_t)here, 9);
    OK(cuCtxDestroy_v2(first)); /* the other one still has it */
    run_once(function);
    T_EQ(*(volatile unsigned *)(uintptr_t)here, 10);
    T_EQ(cuLibraryGetManaged(&there, NULL, library, "plain"), CUDA_ERROR_NOT_FOUND);
    T_EQ(cuLibraryGetManaged(NULL, NULL, library, "shared_count"), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuLibraryGetManaged(&there, NULL, (CUlibrary)&here, "x"), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLibraryUnload(library));
    T_EQ(cuLibraryGetManaged(&there, NULL, library, "shared_count"), CUDA_ERROR_INVALID_HANDLE);
}

TEST(module_managed, unified_functions_are_not_there)
{
    void *function;

    start();
    CUlibrary library = load_library(managed_code);
    T_EQ(cuLibraryGetUnifiedFunction(&function, library, "count"), CUDA_ERROR_NOT_FOUND);
    T_EQ(cuLibraryGetUnifiedFunction(NULL, library, "count"), CUDA_ERROR_INVALID_VALUE);
    OK(cuLibraryUnload(library));
}
