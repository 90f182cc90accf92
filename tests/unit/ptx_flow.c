/* ptx_flow.c: branches, guards, loops, calls, and what threads see of their launch. */
#include "ptx_world.h"

/* Sums 1..10 in a loop. */
TEST(ptx_flow, loop)
{
    T_EQ(run_text(KERNEL(".reg .b32 %i, %s; .reg .pred %p;\n"
                         "mov.u32 %i, 10; mov.u32 %s, 0;\n"
                         "LOOP:\n"
                         "add.u32 %s, %s, %i;\n"
                         "sub.u32 %i, %i, 1;\n"
                         "setp.ne.u32 %p, %i, 0;\n"
                         "@%p bra LOOP;\n"
                         "st.global.u32 [%out], %s;\n"),
                  1, 1),
         PTX_OK);
    T_EQ(word(0), 55);
}

TEST(ptx_flow, guards_both_ways)
{
    T_EQ(run_text(KERNEL(".reg .b32 %a, %b; .reg .pred %p;\n"
                         "mov.u32 %a, 1; mov.u32 %b, 1;\n"
                         "setp.eq.u32 %p, %a, 1;\n"
                         "@%p add.rp.f32 %a, 0f3F800000, 0f33000000;\n"
                         "@!%p mov.u32 %b, 7;\n"
                         "@!%p bra NO;\n"
                         "st.global.u32 [%out], %a;\n"
                         "st.global.u32 [%out+4], %b;\n"
                         "NO:\n"),
                  1, 1),
         PTX_OK);
    T_EQ(word(0), 0x3f800001);
    T_EQ(word(1), 1);
}

/* Each thread picks its own entry; the text order of the targets counts, not that of the labels. */
TEST(ptx_flow, branch_table)
{
    T_EQ(run_text(KERNEL(".reg .b32 %t, %v; .reg .b64 %o;\n"
                         "mov.u32 %t, %tid.x;\n"
                         "TS: .branchtargets C, A, B;\n"
                         "brx.idx %t, TS;\n"
                         "A: mov.u32 %v, 10; bra.uni DONE;\n"
                         "B: mov.u32 %v, 20; bra.uni DONE;\n"
                         "C: mov.u32 %v, 30;\n"
                         "DONE: mul.wide.u32 %o, %t, 4; add.u64 %o, %out, %o;\n"
                         "st.global.u32 [%o], %v;\n"),
                  1, 3),
         PTX_OK);
    T_EQ(word(0), 30);
    T_EQ(word(1), 10);
    T_EQ(word(2), 20);
}

/* Registers and labels of a block in braces are its own. */
TEST(ptx_flow, scopes)
{
    T_EQ(run_text(KERNEL(".reg .b32 %a; .reg .pred %p;\n"
                         "mov.u32 %a, 1;\n"
                         "{ .reg .b32 %a; mov.u32 %a, 5; bra L; mov.u32 %a, 6;\n"
                         "L: st.global.u32 [%out], %a; }\n"
                         "{ .reg .b32 %t; mov.u32 %t, 3; bra L; mov.u32 %t, 4;\n"
                         "L: add.u32 %a, %a, %t; bra OUTER; }\n"
                         "mov.u32 %a, 9;\n"
                         "OUTER: st.global.u32 [%out+4], %a;\n"),
                  1, 1),
         PTX_OK);
    T_EQ(word(0), 5);
    T_EQ(word(1), 4);
}

TEST(ptx_flow, threads_know_their_place)
{
    static const char text[] =
        PTX_HEAD ".entry k(.param .u64 out) {\n"
                 ".reg .b64 %out, %o; .reg .b32 %r<20>;\n"
                 "ld.param.u64 %out, [out];\n"
                 "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;\n"
                 "mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z;\n"
                 "mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %nctaid.x;\n"
                 "mad.lo.u32 %r9, %r7, %r8, %r6;\n" /* block */
                 "mad.lo.u32 %r10, %r2, %r4, %r1; mad.lo.u32 %r10, %r10, %r3, %r0;\n"
                 "mul.lo.u32 %r11, %r3, %r4; mul.lo.u32 %r11, %r11, %r5;\n"
                 "mad.lo.u32 %r12, %r9, %r11, %r10;\n" /* thread of the launch */
                 "mul.wide.u32 %o, %r12, 4; add.u64 %o, %out, %o;\n"
                 "mov.u32 %r13, %laneid; shl.b32 %r13, %r13, 16; or.b32 %r13, %r13, %r12;\n"
                 "st.global.u32 [%o], %r13; ret; }\n";
    struct ptx_module *module = load(text);
    uint64_t params[] = {WORLD_BASE};
    const struct ptx_launch launch = {.grid = {2, 3, 1},
                                      .block = {5, 4, 3},
                                      .params = (const void *)params,
                                      .memory = {world_span, world_generation, &world}};

    T_EQ(ptx_run(ptx_kernel_at(module, 0), &launch, world_message, sizeof world_message), PTX_OK);
    for (unsigned i = 0; i < 2 * 3 * 5 * 4 * 3; i++)
        T_EQ(word(i), (i % 60 % 32) << 16 | i);
    ptx_unload(module);
}

/* A recursive function with arguments and a result in .param space, and local memory per call. */
TEST(ptx_flow, calls)
{
    static const char text[] =
        PTX_HEAD ".func (.param .b32 r) fact (.param .b32 n);\n"
                 ".entry k(.param .u64 out) {\n"
                 ".reg .b64 %out; .reg .b32 %v;\n"
                 "ld.param.u64 %out, [out];\n"
                 "{ .param .b32 a; .param .b32 b; mov.u32 %v, 6; st.param.b32 [a], %v;\n"
                 "call.uni (b), fact, (a); ld.param.b32 %v, [b]; }\n"
                 "st.global.u32 [%out], %v; ret; }\n"
                 ".func (.param .b32 r) fact (.param .b32 n) {\n"
                 ".reg .b32 %n, %m; .reg .pred %p; .reg .b64 %a; .local .b32 kept;\n"
                 "ld.param.b32 %n, [n]; setp.gt.u32 %p, %n, 1; @%p bra MORE;\n"
                 "st.param.b32 [r], 1; ret;\n"
                 "MORE: mov.u64 %a, kept; st.local.u32 [%a], %n; sub.u32 %m, %n, 1;\n"
                 "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %m;\n"
                 "call (y), fact, (x); ld.param.b32 %m, [y]; }\n"
                 "ld.local.u32 %n, [%a]; mul.lo.u32 %m, %m, %n; st.param.b32 [r], %m; ret; }\n";

    T_EQ(run_text(text, 1, 2), PTX_OK);
    T_EQ(word(0), 720);
}

TEST(ptx_flow, endless_recursion_is_an_error)
{
    static const char text[] = PTX_HEAD ".func deep ();\n"
                                        ".entry k(.param .u64 out) { call deep; ret; }\n"
                                        ".func deep () { call deep; ret; }\n";

    T_EQ(run_text(text, 1, 1), PTX_STACK_OVERFLOW);
    T_STR_HAS(world_message, "stack overflow");
}

TEST(ptx_flow, exit_ends_a_thread_and_trap_the_kernel)
{
    T_EQ(run_text(KERNEL("st.global.u32 [%out], 1; exit; st.global.u32 [%out], 2;"), 1, 1), PTX_OK);
    T_EQ(word(0), 1);
    T_EQ(run_text(KERNEL("trap;"), 1, 1), PTX_TRAP);
    T_STR_HAS(world_message, "kernel k");
}

/* What the interpreter lacks is no error until it is reached. */
TEST(ptx_flow, lacking_opcode_fails_when_reached)
{
    struct ptx_module *module = load(KERNEL("ret;\nfrobnicate.v9.f12 {%x, %y}, [foo, {7}];"));
    uint64_t params[] = {WORLD_BASE};

    T_EQ(run(module, 1, 1, params), PTX_OK);
    ptx_unload(module);
    T_EQ(run_text(KERNEL("\nfrobnicate.v9.f12 {%x, %y}, [foo, {7}];"), 1, 1), PTX_UNSUPPORTED);
    T_STR_HAS(world_message, "frobnicate.v9.f12");
    T_STR_HAS(world_message, "kernel k");
    T_STR_HAS(world_message, "line 9");
    T_EQ(run_text(KERNEL(".reg .b32 %h; add.rn.f12 %h, %h, %h;"), 1, 1), PTX_UNSUPPORTED);
    T_STR_HAS(world_message, "add.rn.f12");
    T_EQ(run_text(KERNEL(".reg .b16 %h; add.frob.f16 %h, %h, %h;"), 1, 1), PTX_UNSUPPORTED);
}
