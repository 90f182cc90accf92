/* module_load.c: modules from every kind of image, their variables, their handles, and how they go.
 */
#include "module_fixture.h"

TEST(module_load, kernel_computes)
{
    float in[100], out[100];
    unsigned n = 100;
    float factor = 3;

    start();
    CUdeviceptr a = allocate(sizeof in), b = allocate(sizeof out);
    void *params[] = {&n, &factor, &a, &b};
    for (unsigned i = 0; i < n; i++)
        in[i] = (float)i;
    OK(cuMemcpyHtoD_v2(a, in, sizeof in));
    OK(cuLaunchKernel(function_of(load_module(code), "scale"), 4, 1, 1, 32, 1, 1, 0, NULL, params,
                      NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH_v2(out, b, sizeof out));
    for (unsigned i = 0; i < n; i++)
        T_ASSERT(out[i] == 3.0f * (float)i + 1.0f, "element %u is %g", i, (double)out[i]);
}

TEST(module_load, variables)
{
    CUdeviceptr counter = 0, pointer = 0, offset = 0;
    size_t bytes = 0;
    uint64_t stored = 0;

    start();
    CUmodule module = load_module(code);
    OK(cuModuleGetGlobal_v2(&counter, &bytes, module, "counter"));
    T_EQ(bytes, 4);
    T_EQ(read_u32(counter), 5);
    OK(launch(function_of(module, "count"), 7, NULL));
    T_EQ(read_u32(counter), 12);
    OK(cuModuleGetGlobal_v2(&pointer, NULL, module, "pointer"));
    OK(cuMemcpyDtoH_v2(&stored, pointer, sizeof stored));
    T_EQ(stored, counter);
    OK(cuModuleGetGlobal_v2(NULL, &bytes, module, "pointer"));
    T_EQ(bytes, 8);
    OK(cuModuleGetGlobal_v2(&offset, &bytes, module, "offset"));
    T_EQ(read_u32(offset), 0x3f800000);
    T_EQ(cuModuleGetGlobal_v2(&offset, &bytes, module, "absent"), CUDA_ERROR_NOT_FOUND);
    T_EQ(cuModuleGetGlobal_v2(&offset, &bytes, module, NULL), CUDA_ERROR_INVALID_VALUE);
    /* a module's variables are its own */
    OK(cuModuleGetGlobal_v2(&pointer, &bytes, load_module(code), "counter"));
    T_NE(pointer, counter);
    T_EQ(read_u32(pointer), 5);
    OK(cuModuleUnload(module));
    T_NE(cuMemcpyDtoH_v2(&stored, counter, 4), CUDA_SUCCESS);
}

static void check_refused(const void *image, CUresult want)
{
    CUmodule module = (CUmodule)&module;
    CUlibrary library;

    T_EQ(cuModuleLoadData(&module, image), want);
    T_PTR_EQ(module, (CUmodule)&module);
    T_EQ(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0), want);
}

TEST(module_load, images_that_are_none)
{
    static const uint32_t cut[] = {0xba55ed50, 0x00500001, 0, 0};
    static const uint32_t empty[] = {0xba55ed50, 0x00100001, 0, 0};

    start();
    check_refused("", CUDA_ERROR_INVALID_IMAGE);
    check_refused("no code", CUDA_ERROR_INVALID_PTX);
    check_refused(PTX(".entry k() { add.s32 %a, %b; }\n"), CUDA_ERROR_INVALID_PTX);
    check_refused(".version 8.0\n.target sm_120\n.address_size 64\n.entry k() { ret; }\n",
                  CUDA_ERROR_NO_BINARY_FOR_GPU);
    check_refused("\x7f"
                  "ELF",
                  CUDA_ERROR_NO_BINARY_FOR_GPU);
    check_refused(empty, CUDA_ERROR_NO_BINARY_FOR_GPU);
    check_refused(cut, CUDA_ERROR_INVALID_IMAGE);
    T_EQ(cuModuleLoadData(NULL, code), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuModuleLoadData(&(CUmodule){0}, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* The container with the text as it is: header, one entry of 64 bytes, payload. */
TEST(module_load, fatbin)
{
    struct {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
        uint16_t kind, zero;
        uint32_t entry_header;
        uint64_t payload;
        uint32_t unused[3], arch;
        uint64_t more[4];
        char text[sizeof code];
    } fat = {.magic = 0xba55ed50,
             .version = 1,
             .header_size = 16,
             .size = 64 + sizeof code,
             .kind = 1,
             .entry_header = 64,
             .payload = sizeof code,
             .arch = 75};
    CUmodule module = NULL;

    start();
    memcpy(fat.text, code, sizeof code);
    OK(cuModuleLoadFatBinary(&module, &fat));
    function_of(module, "scale");
    OK(cuModuleLoadData(&module, &fat));
    memset(&fat, 0, sizeof fat); /* the image is not needed any more */
    OK(launch(function_of(module, "count"), 1, NULL));
    OK(cuCtxSynchronize());
}

TEST(module_load, files)
{
    char path[] = "/tmp/fakevmm-module-XXXXXX";
    int file = mkstemp(path);
    CUmodule module = NULL;
    CUlibrary library = NULL;

    start();
    T_GE(file, 0);
    T_EQ(write(file, code, sizeof code - 1), sizeof code - 1);
    close(file);
    OK(cuModuleLoad(&module, path));
    function_of(module, "big");
    OK(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    kernel_of(library, "big");
    unlink(path);
    T_EQ(cuModuleLoad(&module, path), CUDA_ERROR_FILE_NOT_FOUND);
    T_EQ(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
         CUDA_ERROR_FILE_NOT_FOUND);
}

/* A fatbin that says it has 512 bytes of entries, and files that end before them. */
TEST(module_load, files_that_are_cut_short)
{
    static const unsigned char fatbin[48] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 2};
    char path[] = "/tmp/fakevmm-module-XXXXXX";
    int file = mkstemp(path);
    CUmodule module;
    CUlibrary library;

    start();
    T_GE(file, 0);
    for (unsigned size = 4; size <= sizeof fatbin; size++) {
        T_EQ(pwrite(file, fatbin, size, 0), size);
        T_EQ(cuModuleLoad(&module, path), CUDA_ERROR_INVALID_IMAGE);
        T_EQ(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0),
             CUDA_ERROR_INVALID_IMAGE);
    }
    close(file);
    unlink(path);
}

TEST(module_load, error_log)
{
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule module;

    start();
    T_EQ(cuModuleLoadDataEx(&module, PTX(".entry k() {\n  bra NOWHERE; }\n"), 2, options, values),
         CUDA_ERROR_INVALID_PTX);
    T_STR_HAS(log, "line 5");
    T_STR_HAS(log, "NOWHERE");
    T_EQ((uintptr_t)values[1], strlen(log));
    T_EQ(cuModuleLoadDataEx(&module, code, 1, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

TEST(module_load, needs_a_context)
{
    CUmodule module;

    T_EQ(cuModuleLoadData(&module, code), CUDA_ERROR_NOT_INITIALIZED);
    OK(cuInit(0));
    T_EQ(cuModuleLoadData(&module, code), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(module_load, functions_by_name_and_number)
{
    CUfunction all[5] = {0}, function;
    unsigned count = 0;

    start();
    CUmodule module = load_module(code);
    OK(cuModuleGetFunctionCount(&count, module));
    T_EQ(count, 4);
    OK(cuModuleEnumerateFunctions(all, 5, module));
    T_PTR_EQ(all[1], function_of(module, "count"));
    T_NULL(all[4]);
    T_EQ(cuModuleGetFunction(&function, module, "absent"), CUDA_ERROR_NOT_FOUND);
    T_EQ(cuModuleGetFunction(&function, module, NULL), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuModuleGetFunction(&function, NULL, "count"), CUDA_ERROR_INVALID_HANDLE);
    T_PTR_EQ(function_of(module, "count"), function_of(module, "count"));
}

/* As on a GPU, the values of a module that is unloaded and loaded again come back; whichever
 * function is asked for first. */
TEST(module_load, handle_values_come_back)
{
    start();
    CUmodule module = load_module(code);
    CUfunction scale = function_of(module, "scale"), count = function_of(module, "count");
    OK(cuModuleUnload(module));
    T_EQ(launch(count, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    for (unsigned i = 0; i < 3; i++) {
        CUmodule again = load_module(code);
        T_PTR_EQ(again, module);
        T_PTR_EQ(function_of(again, "count"), count);
        T_PTR_EQ(function_of(again, "scale"), scale);
        OK(cuModuleUnload(again));
    }
    T_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_VALUE);
}

TEST(module_load, unload_waits_for_queued_kernels)
{
    atomic_bool open;
    CUdeviceptr counter;

    start();
    CUmodule other = load_module(code), module = load_module(code);
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    OK(cuModuleGetGlobal_v2(&counter, NULL, other, "counter"));
    close_gate(stream, &open);
    for (unsigned i = 0; i < 20; i++)
        OK(cuLaunchKernel(function_of(module, "shape"), 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    OK(cuLaunchKernel(function_of(other, "count"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    atomic_store(&open, true);
    OK(cuModuleUnload(module));
    T_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
    T_EQ(read_u32(counter), 6);
}

TEST(module_load, context_takes_its_modules_along)
{
    CUcontext context = start();
    CUmodule module = load_module(code);
    CUfunction function = function_of(module, "count");
    CUdeviceptr counter;

    OK(cuModuleGetGlobal_v2(&counter, NULL, module, "counter"));
    OK(cuCtxDestroy_v2(context));
    start();
    T_EQ(launch(function, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_VALUE);
    T_NE(cuMemsetD32_v2(counter, 0, 1), CUDA_SUCCESS);
}

TEST(module_load, loading_mode)
{
    CUmoduleLoadingMode mode;

    start();
    OK(cuModuleGetLoadingMode(&mode));
    T_EQ(mode, CU_MODULE_LAZY_LOADING);
    T_EQ(cuModuleGetLoadingMode(NULL), CUDA_ERROR_INVALID_VALUE);
}
