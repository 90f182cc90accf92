/* Local memory that a function allocates as it runs: alloca, stacksave, stackrestore (PTX ISA). */
#include "ptx_world.h"

#define ALLOCA(body)                                                                               \
    KERNEL(".reg .b32 %t, %v, %w, %i; .reg .b64 %a, %b, %s, %u, %g, %n; .reg .pred %p;\n"          \
           "mov.u32 %t, %tid.x; mul.wide.u32 %g, %t, 16; add.u64 %g, %out, %g;\n" body)

/* Two pieces that do not overlap, in each thread, by a size known when it runs. */
TEST(ptx_stack, pieces_are_apart)
{
    T_EQ(run_text(ALLOCA("add.u32 %v, %t, 1; mul.wide.u32 %n, %v, 4; alloca.u64 %a, %n;\n"
                         "alloca.u64 %b, 8, 64; st.local.u32 [%a], %t; st.local.u32 [%b], 77;\n"
                         "add.u64 %s, %a, %n; sub.u64 %s, %s, 4; st.local.u32 [%s], %v;\n"
                         "bar.sync 0; ld.local.u32 %w, [%s]; st.global.u32 [%g], %w;\n"
                         "ld.local.u32 %w, [%b]; st.global.u32 [%g+4], %w;\n"
                         "cvta.local.u64 %u, %b; ld.u32 %w, [%u]; st.global.u32 [%g+8], %w;\n"
                         "cvt.u32.u64 %w, %b; and.b32 %w, %w, 63; st.global.u32 [%g+12], %w;\n"),
                  1, 32),
         PTX_OK);
    for (unsigned i = 0; i < 32; i++) {
        T_EQ(word(4 * i), i + 1);
        T_EQ(word(4 * i + 1), 77);
        T_EQ(word(4 * i + 2), 77);
        T_EQ(word(4 * i + 3), 0);
    }
}

/* What is restored is there to be given again: else this needs 40 MB. */
TEST(ptx_stack, restored_room_is_used_again)
{
    T_EQ(run_text(ALLOCA("mov.u32 %i, 0; L: stacksave.u64 %s; alloca.u64 %a, 4096;\n"
                         "st.local.u32 [%a], %i; ld.local.u32 %v, [%a]; stackrestore.u64 %s;\n"
                         "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 10000; @%p bra L;\n"
                         "st.global.u32 [%g], %v;\n"),
                  1, 1),
         PTX_OK);
    T_EQ(word(0), 9999);
}

/* A function's is freed when it returns, and lies apart from its caller's. */
TEST(ptx_stack, freed_on_return)
{
    T_EQ(run_text(
             PTX_HEAD
             ".func (.param .u32 r) f(.param .u32 x) { .reg .b32 %x, %y; .reg .b64 %a;\n"
             "ld.param.u32 %x, [x]; alloca.u64 %a, 4096; st.local.u32 [%a], %x;\n"
             "ld.local.u32 %y, [%a]; st.param.u32 [r], %y; ret; }\n"
             ".visible .entry k(.param .u64 out) { .reg .b64 %out, %a; .reg .b32 %i, %v, %w, %s;\n"
             ".reg .pred %p; ld.param.u64 %out, [out]; alloca.u64 %a, 16; st.local.u32 [%a], 5;\n"
             "mov.u32 %i, 0; mov.u32 %s, 0; L: { .param .u32 x; .param .u32 r;\n"
             "st.param.u32 [x], %i; call (r), f, (x); ld.param.u32 %v, [r]; }\n"
             "add.u32 %s, %s, %v; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 1000; @%p bra L;\n"
             "ld.local.u32 %w, [%a]; st.global.u32 [%out], %s; st.global.u32 [%out+4], %w;\n"
             "ret; }\n",
             1, 1),
         PTX_OK);
    T_EQ(word(0), 499500);
    T_EQ(word(1), 5);
}

TEST(ptx_stack, overflows)
{
    T_EQ(run_text(ALLOCA("L: alloca.u64 %a, 4096; st.local.u32 [%a], %t; bra L;\n"), 1, 1),
         PTX_STACK_OVERFLOW);
    T_EQ(run_text(ALLOCA("alloca.u64 %a, 0xffffffffffffff00;\n"), 1, 1), PTX_STACK_OVERFLOW);
}

/* What was never saved is not restored: the callee's memory would lie outside. */
TEST(ptx_stack, only_what_was_saved_is_restored)
{
    T_EQ(run_text(ALLOCA("mov.u64 %s, 0x7fffffff; stackrestore.u64 %s;\n"), 1, 1),
         PTX_STACK_OVERFLOW);
    T_EQ(run_text(ALLOCA("alloca.u64 %a, 16; mov.u64 %s, 0; stackrestore.u64 %s;\n"), 1, 1),
         PTX_STACK_OVERFLOW);
}

TEST(ptx_stack, the_profiler_is_told_nothing)
{
    T_EQ(run_text(KERNEL("pmevent 3; pmevent.mask 7; st.global.u32 [%out], 9;\n"), 1, 1), PTX_OK);
    T_EQ(word(0), 9);
}
