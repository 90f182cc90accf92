/* What device code asks of the driver: printf, assert, malloc, and what becomes of kernels that go
 * wrong (CUDA C++ Programming Guide; error codes by cuda.h). */
#include "tests/fake/module_fixture.h"

/* say: prints its index; claim: an assertion fails in thread 3; heap: each thread fills memory of
 * its own, adds it up, frees it; keep: stores what malloc answers; deep: calls itself without end;
 * wild: calls what is no function; touch: loads from an address. */
static const char text[] = PTX(
    ".global .align 1 .b8 line[9] = {116, 32, 37, 100, 10, 0, 0, 0, 0};\n"
    ".global .align 1 .b8 what[6] = {116, 32, 60, 32, 51, 0};\n"
    ".global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"
    ".global .align 1 .b8 func[4] = {102, 40, 41, 0};\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
    ".param .b64 e);\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 s);\n"
    ".extern .func free (.param .b64 p);\n"
    ".func down ();\n"
    ".visible .entry say() { .local .align 8 .b8 l[8]; .reg .b64 %f, %l; .reg .b32 %t;\n"
    "mov.u64 %l, l; mov.u32 %t, %tid.x; st.local.u32 [%l], %t; cvta.local.u64 %l, %l;\n"
    "mov.u64 %f, line; { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %f;\n"
    "st.param.b64 [b], %l; call.uni (r), vprintf, (a, b); } ret; }\n"
    ".visible .entry claim() { .reg .b64 %w, %f, %n; .reg .b32 %t; .reg .pred %p;\n"
    "mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 3; @%p ret; mov.u64 %w, what; mov.u64 %f, file;\n"
    "mov.u64 %n, func; { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d;\n"
    ".param .b64 e; st.param.b64 [a], %w; st.param.b64 [b], %f; st.param.b32 [c], 9;\n"
    "st.param.b64 [d], %n; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); } ret; }\n"
    ".visible .entry heap(.param .u64 out) { .reg .b64 %o, %p, %q; .reg .b32 %t, %i, %v, %s;\n"
    ".reg .pred %c; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
    "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 400; call.uni (r), malloc, (a);\n"
    "ld.param.b64 %p, [r]; } mov.u32 %i, 0; mov.u64 %q, %p;\n"
    "F: st.u32 [%q], %t; add.u64 %q, %q, 4; add.u32 %i, %i, 1; setp.lt.u32 %c, %i, 100; @%c bra "
    "F;\n"
    "mov.u32 %i, 0; mov.u32 %s, 0; mov.u64 %q, %p;\n"
    "S: ld.u32 %v, [%q]; add.u32 %s, %s, %v; add.u64 %q, %q, 4; add.u32 %i, %i, 1;\n"
    "setp.lt.u32 %c, %i, 100; @%c bra S;\n"
    "{ .param .b64 a; st.param.b64 [a], %p; call.uni free, (a); }\n"
    "mul.wide.u32 %q, %t, 4; add.u64 %q, %o, %q; st.global.u32 [%q], %s; ret; }\n"
    ".visible .entry keep(.param .u64 out, .param .u64 size) { .reg .b64 %o, %p, %s;\n"
    "ld.param.u64 %o, [out]; ld.param.u64 %s, [size]; { .param .b64 a; .param .b64 r;\n"
    "st.param.b64 [a], %s; call.uni (r), malloc, (a); ld.param.b64 %p, [r]; }\n"
    "st.global.u64 [%o], %p; ret; }\n"
    ".func down () { call down; ret; }\n"
    ".visible .entry deep() { call down; ret; }\n"
    ".visible .entry wild() { .reg .b64 %f; mov.u64 %f, 64; p: .callprototype _ ();\n"
    "call %f, (), p; ret; }\n"
    ".visible .entry halt() { trap; }\n"
    ".visible .entry touch(.param .u64 at) { .reg .b64 %a; .reg .b32 %v; ld.param.u64 %a, [at];\n"
    "ld.global.u32 %v, [%a]; ret; }\n");

static CUfunction begin(const char *name)
{
    start();
    return function_of(load_module(text), name);
}

/* ---- printf ---- */

static void print_and_wait(void)
{
    CUfunction function = begin("say");
    CUevent event = new_event(0);

    printf("before\n");
    OK(launch(function, 3, NULL));
    OK(cuCtxSynchronize());
    printf("between\n");
    OK(launch(function, 1, NULL));
    OK(cuEventRecord(event, NULL));
    OK(cuEventSynchronize(event));
    printf("after\n");
}

/* Kernels that wait for nothing run in the order of their threads here. */
TEST(launch_device, printf_comes_at_a_synchronise)
{
    char got[256] = "";
    int out[2], saved = dup(STDOUT_FILENO);

    T_EQ(pipe(out), 0);
    fflush(stdout);
    dup2(out[1], STDOUT_FILENO);
    close(out[1]);
    print_and_wait();
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    read_all(out[0], got, sizeof got);
    T_STR_EQ(got, "before\nt 0\nt 1\nt 2\nbetween\nt 0\nafter\n");
}

/* ---- errors of kernels: all stay with the context ---- */

static void run_bad(const char *name, CUresult want)
{
    CUfunction function = begin(name);
    CUdeviceptr other;

    OK(launch(function, 32, NULL));
    T_EQ(cuCtxSynchronize(), want);
    T_EQ(cuMemAlloc_v2(&other, 4), want);
    T_EQ(launch(function, 1, NULL), want);
}

static void fail_an_assertion(void)
{
    run_bad("claim", CUDA_ERROR_ASSERT);
}

TEST(launch_device, assertions)
{
    struct child child = in_child(fail_an_assertion);

    T_EQ(child.exit_code, 0);
    T_STR_HAS(child.err, "a.cu:9: f(): block: [0,0,0], thread: [3,0,0] Assertion `t < 3` failed.");
}

/* "an error in the call stack during kernel execution, possibly due to stack corruption or
 * exceeding the stack size limit" */
TEST(launch_device, endless_recursion)
{
    run_bad("deep", CUDA_ERROR_HARDWARE_STACK_ERROR);
}

TEST(launch_device, calls_of_what_is_no_function)
{
    run_bad("wild", CUDA_ERROR_INVALID_PC);
}

TEST(launch_device, traps)
{
    run_bad("halt", CUDA_ERROR_LAUNCH_FAILED);
}

/* ---- the heap ---- */

TEST(launch_device, heap)
{
    CUfunction function = begin("heap");
    CUdeviceptr out = allocate(256);
    void *params[] = {&out};

    OK(launch(function, 64, params));
    OK(cuCtxSynchronize());
    for (unsigned i = 0; i < 64; i++)
        T_EQ(read_u32(out + 4 * i), 100 * i);
}

static uint64_t take(CUfunction function, CUdeviceptr out, uint64_t size)
{
    void *params[] = {&out, &size};
    uint64_t got;

    OK(launch(function, 1, params));
    OK(cuMemcpyDtoH_v2(&got, out, sizeof got));
    return got;
}

/* What a kernel has allocated lasts until a kernel frees it or the context ends; the heap is as
 * large as CU_LIMIT_MALLOC_HEAP_SIZE says. Host calls do not know it. */
TEST(launch_device, heap_between_launches)
{
    CUcontext context = start();
    CUmodule module = load_module(text);
    CUfunction function = function_of(module, "keep"), touch = function_of(module, "touch");
    CUdeviceptr out = allocate(8), kept;
    void *params[] = {&kept};
    size_t limit = 0;

    OK(cuCtxGetLimit(&limit, CU_LIMIT_MALLOC_HEAP_SIZE));
    T_EQ(take(function, out, 0), 0);
    kept = take(function, out, 1000);
    T_NE(kept, 0);
    T_NE(take(function, out, 1000), kept);
    T_EQ(take(function, out, limit), 0);
    OK(launch(touch, 1, params));
    OK(cuCtxSynchronize());
    T_EQ(cuMemFree_v2(kept), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxDestroy_v2(context));
}
