/* Kernel launches outside graphs, by their documentation: forms, order, memory a kernel reaches,
 * and what a bad kernel leaves behind. */
#include "tests/fake/driver_fixture.h"

/* add: *p += a, one thread. */
static const char ptx[] = ".version 7.0\n"
                          ".target sm_75\n"
                          ".address_size 64\n"
                          ".visible .entry add(.param .u64 p, .param .u32 a)\n"
                          "{\n"
                          "    .reg .u64 %rd<3>;\n"
                          "    .reg .u32 %r<4>;\n"
                          "    ld.param.u64 %rd1, [p];\n"
                          "    ld.param.u32 %r1, [a];\n"
                          "    cvta.to.global.u64 %rd2, %rd1;\n"
                          "    ld.global.u32 %r2, [%rd2];\n"
                          "    add.s32 %r3, %r2, %r1;\n"
                          "    st.global.u32 [%rd2], %r3;\n"
                          "    ret;\n"
                          "}\n";

static CUfunction load(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;

    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&function, module, "add"));
    return function;
}

static CUresult launch(CUfunction function, CUdeviceptr address, unsigned value, CUstream stream)
{
    void *params[] = {&address, &value};

    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static unsigned read_word(CUdeviceptr address)
{
    unsigned word = 0;

    OK(cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

static CUdeviceptr zeroed(void)
{
    CUdeviceptr address = allocate(4);

    OK(cuMemsetD32_v2(address, 0, 1));
    return address;
}

TEST(driver_launch, arguments_are_taken_at_the_call)
{
    atomic_bool open;
    unsigned value = 5;

    start();
    CUfunction function = load();
    CUdeviceptr address = zeroed();
    CUstream stream = new_stream(0);
    void *params[] = {&address, &value};
    close_gate(stream, &open);
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    value = 100;
    atomic_store(&open, true);
    OK(cuStreamSynchronize(stream));
    T_EQ(read_word(address), 5);
}

TEST(driver_launch, packed_arguments)
{
    struct {
        CUdeviceptr address;
        unsigned value;
    } packed;
    size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    void *params[] = {&packed.address, &packed.value};

    start();
    CUfunction function = load();
    packed.address = zeroed();
    packed.value = 7;
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    T_EQ(read_word(packed.address), 7);
    T_EQ(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra),
         CUDA_ERROR_INVALID_VALUE);
}

TEST(driver_launch, extended_form)
{
    CUlaunchAttribute attributes[2] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY}};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, attributes, 2};
    unsigned value = 3;

    start();
    CUfunction function = load();
    CUdeviceptr address = zeroed();
    void *params[] = {&address, &value};
    OK(cuLaunchKernelEx(&config, function, params, NULL));
    config.hStream = new_stream(CU_STREAM_NON_BLOCKING);
    config.numAttrs = 0;
    OK(cuCtxSynchronize());
    OK(cuLaunchKernelEx(&config, function, params, NULL));
    OK(cuStreamSynchronize(config.hStream));
    T_EQ(read_word(address), 6);
    T_EQ(cuLaunchKernelEx(NULL, function, params, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* The stream is inside a struct here, so the twin can't change it on the way in. */
TEST(driver_launch, extended_twin_uses_the_threads_own_stream)
{
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0};
    unsigned value = 1;
    atomic_bool open;

    start();
    CUfunction function = load();
    CUdeviceptr address = zeroed();
    void *params[] = {&address, &value};
    OK(cuCtxSynchronize());
    CUstream held = new_stream(0);
    close_gate(held, &open);
    OK(cuLaunchKernelEx_ptsz(&config, function, params, NULL));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD)); /* the legacy stream would wait for the gate */
    atomic_store(&open, true);
    T_EQ(read_word(address), 1);
}

TEST(driver_launch, cooperative_form)
{
    unsigned value = 2;

    start();
    CUfunction function = load();
    CUdeviceptr address = zeroed();
    void *params[] = {&address, &value};
    OK(cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params));
    T_EQ(read_word(address), 2);
}

TEST(driver_launch, kernels_reach_pinned_memory)
{
    static unsigned registered;
    unsigned *pinned = NULL;

    start();
    CUfunction function = load();
    OK(cuMemHostAlloc((void **)&pinned, 4, 0));
    *pinned = 10;
    OK(launch(function, (CUdeviceptr)pinned, 1, NULL));
    OK(cuMemHostRegister_v2(&registered, sizeof registered, 0));
    OK(launch(function, (CUdeviceptr)&registered, 2, NULL));
    OK(cuCtxSynchronize());
    T_EQ(*pinned, 11);
    T_EQ(registered, 2);
}

TEST(driver_launch, unknown_handles)
{
    CUcontext other;
    int local;

    start();
    CUfunction function = load();
    CUdeviceptr address = zeroed();
    T_EQ(launch((CUfunction)&local, address, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    T_EQ(launch(function, address, 1, (CUstream)&local), CUDA_ERROR_INVALID_HANDLE);
    OK(cuCtxCreate_v2(&other, 0, 0));
    T_EQ(launch(function, address, 1, NULL), CUDA_ERROR_INVALID_HANDLE); /* of another context */
}

static void touch_freed_memory(void)
{
    CUdeviceptr freed, other;

    start();
    CUfunction function = load();
    freed = allocate(4);
    OK(cuMemFree_v2(freed));
    OK(launch(function, freed, 1, NULL));
    T_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(cuMemAlloc_v2(&other, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    T_EQ(launch(function, freed, 1, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    child_say("0x%llx", (unsigned long long)freed);
}

/* The error is the context's from then on; the line on stderr names the address and the kernel. */
TEST(driver_launch, illegal_address)
{
    struct child child = in_child(touch_freed_memory);

    T_EQ(child.exit_code, 0);
    T_STR_HAS(child.said, "0x");
    T_STR_HAS(child.err, child.said);
    T_STR_HAS(child.err, "add");
}

TEST(driver_launch, peers_need_access)
{
    CUcontext owner, user;

    setenv("FAKEVMM_DEVICES", "2", 1);
    owner = start();
    CUdeviceptr address = zeroed();
    OK(cuCtxSynchronize());
    OK(cuCtxCreate_v2(&user, 0, 1));
    CUfunction function = load();
    OK(cuCtxEnablePeerAccess(owner, 0));
    OK(launch(function, address, 4, NULL));
    OK(cuCtxSynchronize());
    T_EQ(read_word(address), 4);
    OK(cuCtxDisablePeerAccess(owner));
    OK(launch(function, address, 4, NULL));
    T_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void leave_an_endless_kernel(void)
{
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry endless() { L: bra L; }\n";
    CUmodule module;
    CUfunction function;

    start();
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, "endless"));
    OK(cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    T_EQ(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
}

TEST(driver_launch, a_process_may_end_while_a_kernel_does_not)
{
    T_EQ(in_child(leave_an_endless_kernel).exit_code, 0);
}
