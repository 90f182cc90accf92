/* module_launch.c: arguments and shapes of launches, attributes of functions, and errors of
 * kernels. */
#include "module_fixture.h"

TEST(module_launch, parameters_by_offset)
{
    static const size_t want[][2] = {{0, 1}, {4, 12}, {16, 8}, {24, 2}};
    size_t offset, size;

    start();
    CUfunction function = function_of(load_module(code), "big");
    for (unsigned i = 0; i < 4; i++) {
        OK(cuFuncGetParamInfo(function, i, &offset, &size));
        T_EQ(offset, want[i][0]);
        T_EQ(size, want[i][1]);
        OK(cuFuncGetParamInfo(function, i, &offset, NULL));
    }
    T_EQ(cuFuncGetParamInfo(function, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuFuncGetParamInfo(NULL, 0, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuFuncGetParamInfo(function, 0, NULL, &size), CUDA_ERROR_INVALID_VALUE);
}

/* The same arguments one by one and as a buffer. */
TEST(module_launch, packed_arguments)
{
    struct {
        unsigned n;
        float factor;
        CUdeviceptr in, out;
    } args = {4, 2, 0, 0};
    size_t size = sizeof args;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &args, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    void *params[] = {&args.n, &args.factor, &args.in, &args.out};
    float in[4] = {1, 2, 3, 4}, out[4];

    start();
    CUfunction scale = function_of(load_module(code), "scale");
    args.in = allocate(sizeof in);
    args.out = allocate(sizeof out);
    OK(cuMemcpyHtoD_v2(args.in, in, sizeof in));
    OK(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH_v2(out, args.out, sizeof out));
    for (unsigned i = 0; i < 4; i++)
        T_NEAR(out[i], 2 * in[i] + 1, 0);
    T_EQ(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, NULL, params, extra), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    size = sizeof args - 1;
    T_EQ(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    extra[0] = (void *)9;
    T_EQ(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
}

static CUresult shaped(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared)
{
    return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, NULL, NULL, NULL);
}

TEST(module_launch, shapes)
{
    start();
    CUfunction count = function_of(load_module(code), "count");
    OK(shaped(count, 2, 2, 2, 1024, 1, 1, 0));
    OK(shaped(count, 1, 1, 1, 16, 1, 64, 0));
    T_EQ(shaped(count, 0, 1, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(shaped(count, 1, 1, 1, 1, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(shaped(count, 1, 65536, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(shaped(count, 0x80000000, 1, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(shaped(count, 1, 1, 1, 1025, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(shaped(count, 1, 1, 1, 32, 33, 1, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(shaped(count, 1, 1, 1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(shaped(NULL, 1, 1, 1, 1, 1, 1, 0), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxSynchronize());
}

TEST(module_launch, kernels_own_limit)
{
    start();
    CUfunction shape = function_of(load_module(code), "shape");
    OK(shaped(shape, 1, 1, 1, 128, 1, 1, 0));
    T_EQ(shaped(shape, 1, 1, 1, 129, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

/* 48 KiB without asking, 227 KiB with; the kernel's own 1 KiB counts. */
TEST(module_launch, dynamic_shared_memory)
{
    const CUfunction_attribute most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    int value = 0;

    start();
    CUfunction shape = function_of(load_module(code), "shape");
    OK(cuFuncGetAttribute(&value, most, shape));
    T_EQ(value, 47 * 1024);
    OK(shaped(shape, 1, 1, 1, 32, 1, 1, 47 * 1024));
    T_EQ(shaped(shape, 1, 1, 1, 32, 1, 1, 47 * 1024 + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(shape, most, 226 * 1024));
    OK(cuFuncGetAttribute(&value, most, shape));
    T_EQ(value, 226 * 1024);
    OK(shaped(shape, 1, 1, 1, 32, 1, 1, 226 * 1024));
    T_EQ(cuFuncSetAttribute(shape, most, 226 * 1024 + 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuFuncSetAttribute(shape, most, -1), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxSynchronize());
}

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -12345;

    OK(cuFuncGetAttribute(&value, which, function));
    return value;
}

TEST(module_launch, attributes)
{
    start();
    CUmodule module = load_module(code), owner = NULL;
    CUfunction shape = function_of(module, "shape");
    CUfunctionLoadingState state;
    const char *name = NULL;
    int value;

    T_EQ(attribute(shape, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 128);
    T_EQ(attribute(function_of(module, "count"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    T_EQ(attribute(shape, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
    T_EQ(attribute(shape, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES), 4);
    T_EQ(attribute(shape, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), 32);
    T_EQ(attribute(shape, CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
    T_EQ(attribute(shape, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    T_LE(attribute(shape, CU_FUNC_ATTRIBUTE_NUM_REGS), 255);
    T_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, shape), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuFuncSetAttribute(shape, CU_FUNC_ATTRIBUTE_NUM_REGS, 3), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuFuncSetAttribute(shape, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    T_EQ(attribute(shape, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), 50);
    OK(cuFuncGetName(&name, shape));
    T_STR_EQ(name, "shape");
    OK(cuFuncGetModule(&owner, shape));
    T_PTR_EQ(owner, module);
    OK(cuFuncLoad(shape));
    OK(cuFuncIsLoaded(&state, shape));
    T_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
    OK(cuFuncSetCacheConfig(shape, CU_FUNC_CACHE_PREFER_L1));
    OK(cuFuncSetSharedMemConfig(shape, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
}

/* Threads, blocks and shared memory limit in turn: 2048 threads, 32 blocks, 228 KiB. */
TEST(module_launch, occupancy)
{
    int blocks = 0;

    start();
    CUmodule module = load_module(code);
    CUfunction count = function_of(module, "count"), shape = function_of(module, "shape");
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 1024, 0));
    T_EQ(blocks, 2);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 32, 0));
    T_EQ(blocks, 32);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, shape, 32, 46 * 1024, 0));
    T_EQ(blocks, 228 / 48);
    T_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 0, 0),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, NULL, 32, 0),
         CUDA_ERROR_INVALID_HANDLE);
}

/* ---- kernels that fail: the context is spoilt, and stderr says why ---- */

static const char *bad_body, *bad_name;

static void run_bad(void)
{
    char text[1024];
    CUmodule module;

    start();
    CUdeviceptr address = allocate(256);
    void *params[] = {&address};
    snprintf(text, sizeof text,
             PTX(".entry %s(.param .u64 p) {\n.reg .b64 %%p; .reg .b32 %%v;\n"
                 "ld.param.u64 %%p, [p];\n%s\nret; }\n"),
             bad_name, bad_body);
    module = load_module(text);
    OK(launch(function_of(module, bad_name), 1, params));
    int first = cuCtxSynchronize(), second = cuMemAlloc_v2(&address, 1);
    child_say("%d %d", first, second);
}

static void check_bad(const char *name, const char *body, CUresult want, const char *said)
{
    char codes[32];

    bad_name = name;
    bad_body = body;
    struct child child = in_child(run_bad);
    snprintf(codes, sizeof codes, "%d %d", want, want);
    T_STR_EQ(child.said, codes);
    T_STR_HAS(child.err, said);
    T_STR_HAS(child.err, name);
}

TEST(module_launch, failing_kernels)
{
    check_bad("outside", "ld.global.u32 %v, [%p+0x1000000];", CUDA_ERROR_ILLEGAL_ADDRESS,
              "illegal load of 4 bytes at 0x");
    check_bad("crooked", "st.global.u32 [%p+2], %v;", CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned");
    check_bad("lacking", "frobnicate.u32 %v, %v;", CUDA_ERROR_NOT_SUPPORTED, "frobnicate.u32");
    check_bad("trapped", "trap;", CUDA_ERROR_LAUNCH_FAILED, "trap");
    check_bad("null", "mov.u64 %p, 0; ld.u32 %v, [%p];", CUDA_ERROR_ILLEGAL_ADDRESS, "at 0x0");
}
