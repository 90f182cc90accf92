/* One launch that reaches the same bytes through two addresses and writes to them is found under
 * FAKEVMM_STRICT=1; having two addresses is not enough. And the host cannot reach a device's
 * memory.
 */
#include <signal.h>

#include "tests/fake/vmm_fixture.h"

#define STRICT_EXIT 97

/* sum: *p = *q + *r. sweep: thread i of 64 adds 1 to p[i] and reads q[i] into r[i]. */
static const char alias_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry sum(.param .u64 p, .param .u64 q, .param .u64 r) {\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [r];\n"
    "ld.global.u32 %r1, [%rd2]; ld.global.u32 %r2, [%rd3]; add.u32 %r3, %r1, %r2;\n"
    "st.global.u32 [%rd1], %r3; ret; }\n"
    ".visible .entry sweep(.param .u64 p, .param .u64 q, .param .u64 r) {\n"
    ".reg .u64 %rd<8>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [r];\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;\n"
    "add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4; add.u64 %rd7, %rd3, %rd4;\n"
    "ld.global.u32 %r2, [%rd5]; add.u32 %r2, %r2, 1; st.global.u32 [%rd5], %r2;\n"
    "ld.global.u32 %r3, [%rd6]; st.global.u32 [%rd7], %r3; ret; }\n";

static void run(const char *name, unsigned threads, CUdeviceptr p, CUdeviceptr q, CUdeviceptr r)
{
    CUmodule module;
    CUfunction function;

    OK(cuModuleLoadData(&module, alias_ptx));
    OK(cuModuleGetFunction(&function, module, name));
    OK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){&p, &q, &r}, NULL));
    OK(cuCtxSynchronize());
}

/* One block of memory at two addresses. */
static void map_twice(CUdeviceptr at[2])
{
    CUmemGenericAllocationHandle handle;

    start();
    handle = create_on(0, GRANULE);
    for (int i = 0; i < 2; i++) {
        at[i] = reserve(GRANULE);
        OK(cuMemMap(at[i], GRANULE, 0, handle, 0));
        allow(at[i], GRANULE, 0);
    }
    OK(cuMemRelease(handle));
}

static void read_here_write_there(void)
{
    CUdeviceptr at[2];

    map_twice(at);
    child_say("0x%llx", at[1]);
    run("sum", 1, at[1], at[0], at[0] + 64);
}

static void write_twice(void)
{
    CUdeviceptr at[2];

    map_twice(at);
    child_say("0x%llx", at[1]);
    run("sweep", 64, at[0], allocate(256), at[1]);
}

/* Only the last of 64 threads meets what the first has written. */
static void one_byte_of_many(void)
{
    CUdeviceptr at[2];

    map_twice(at);
    child_say("0x%llx", at[1] + 252);
    run("sweep", 64, at[0] + 252, at[1], allocate(256));
}

static void different_parts(void)
{
    CUdeviceptr at[2];

    map_twice(at);
    run("sum", 1, at[1], at[0] + 4, at[0] + 64);
    run("sweep", 64, at[0], at[1] + 256, at[1] + 512);
}

static void reads_only(void)
{
    CUdeviceptr at[2];

    map_twice(at);
    run("sum", 1, allocate(4), at[0], at[1]);
}

static void one_launch_after_the_other(void)
{
    CUdeviceptr at[2];

    map_twice(at);
    OK(put(at[0], 7));
    OK(get(allocate(4), at[1]));
    T_EQ(word_at(at[1]), 7);
}

static void one_address(void)
{
    CUdeviceptr at[2];

    map_twice(at);
    run("sum", 1, at[0], at[0], at[0]);
}

static void two_blocks(void)
{
    start();
    CUdeviceptr a = map_new(GRANULE), b = map_new(GRANULE);
    run("sum", 1, a, b, a);
}

static struct child strictly(void (*body)(void))
{
    setenv("FAKEVMM_STRICT", "1", 1);
    return in_child(body);
}

static void found(void (*body)(void), const char *kernel)
{
    struct child child = strictly(body);
    char *line = strstr(child.err, "fakevmm: hazard: ");

    T_EQ(child.exit_code, STRICT_EXIT);
    T_NOT_NULL(line);
    T_STR_HAS(line, kernel);
    T_STR_HAS(line, child.said); /* one of the addresses */
    T_NULL(strstr(strchr(line, '\n'), "hazard: "));
}

static void not_found(void (*body)(void))
{
    struct child child = strictly(body);

    T_EQ(child.exit_code, 0);
    T_NULL(strstr(child.err, "hazard"));
}

TEST(hazard_alias, one_memory_by_two_addresses)
{
    found(read_here_write_there, "launch of sum");
    found(write_twice, "launch of sweep");
    found(one_byte_of_many, "launch of sweep");
}

TEST(hazard_alias, what_is_no_hazard)
{
    not_found(different_parts);
    not_found(reads_only);
    not_found(one_launch_after_the_other);
    not_found(one_address);
    not_found(two_blocks);
}

/* ---- the host ---- */

static void read_on_the_host(void)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer has its own */
    start();
    CUdeviceptr plain = allocate(64);
    child_say("%d", *(volatile int *)plain);
}

static void write_to_mapped_memory(void)
{
    signal(SIGSEGV, SIG_DFL);
    start();
    *(volatile int *)map_new(GRANULE) = 1;
    child_say("alive");
}

TEST(hazard_alias, host_cannot_reach_device_memory)
{
    struct child child = in_child(read_on_the_host);

    T_EQ(child.exit_code, 128 + SIGSEGV);
    T_STR_EQ(child.said, "");
    child = in_child(write_to_mapped_memory);
    T_EQ(child.exit_code, 128 + SIGSEGV);
    T_STR_EQ(child.said, "");
}
