/* ptx_async.c: cp.async, barrier objects in shared memory, and elections. */
#include "ptx_world.h"

static void number_words(void)
{
    for (uint32_t i = 0; i < 64; i++)
        memcpy(world.bytes + 4 * i, &(uint32_t){i + 1}, 4);
}

TEST(ptx_async, copies)
{
    number_words();
    T_EQ(run_text(KERNEL(".shared .align 16 .b8 s[64]; .reg .b32 %r<4>;\n"
                         "cp.async.ca.shared.global [s], [%out], 4;\n"
                         "cp.async.ca.shared::cta.global [s+8], [%out+8], 8;\n"
                         "cp.async.cg.shared.global.L2::128B [s+16], [%out+16], 16;\n"
                         "cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;\n"
                         "ld.shared.b32 %r0, [s]; ld.shared.b32 %r1, [s+12];\n"
                         "ld.shared.b32 %r2, [s+16]; ld.shared.b32 %r3, [s+28];\n"
                         "st.global.v4.b32 [%out+64], {%r0, %r1, %r2, %r3};"),
                  1, 1),
         PTX_OK);
    T_EQ(word(16), 1);
    T_EQ(word(17), 4);
    T_EQ(word(18), 5);
    T_EQ(word(19), 8);
}

/* Bytes behind the source's size are zero and not read: the address may end there. */
TEST(ptx_async, copies_that_end_early)
{
    number_words();
    T_EQ(run_text(KERNEL(".shared .align 16 .b8 s[32]; .reg .b32 %r<8>, %n; .reg .pred %p;\n"
                         ".reg .b64 %end; add.u64 %end, %out, 65536;\n"
                         "mov.b32 %n, 6; setp.eq.b32 %p, %n, 6;\n"
                         "cp.async.cg.shared.global [s], [%out], 16, %n;\n"
                         "cp.async.ca.shared.global [s+16], [%end], 8, 0;\n"
                         "cp.async.ca.shared.global [s+24], [%out], 4, %p;\n"
                         "cp.async.ca.shared.global [s+28], [%out], 4, !%p;\n"
                         "ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [s];\n"
                         "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [s+16];\n"
                         "st.global.v4.b32 [%out+64], {%r0, %r1, %r2, %r3};\n"
                         "st.global.v4.b32 [%out+80], {%r4, %r5, %r6, %r7};"),
                  1, 1),
         PTX_OK);
    T_EQ(word(16), 1);
    T_EQ(word(17), 2);
    for (unsigned i = 18; i < 23; i++)
        T_EQ(word(i), 0);
    T_EQ(word(23), 1);
    T_EQ(
        run_text(KERNEL(".shared .align 16 .b8 s[16]; cp.async.ca.shared.global [s], [%out+2], 4;"),
                 1, 1),
        PTX_MISALIGNED);
}

/* Each of 64 threads adds to a word before it arrives; all see the sum behind the barrier, in two
 * phases. */
TEST(ptx_async, all_arrive_before_any_goes_on)
{
    memset(world.bytes, 0, 1024);
    T_EQ(run_text(KERNEL(".shared .b64 b; .shared .b32 sum; .reg .b32 %t, %v; .reg .b64 %s, %a;\n"
                         ".reg .pred %p; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0;\n"
                         "@%p mbarrier.init.shared.b64 [b], 64; @%p st.shared.b32 [sum], 0;\n"
                         "bar.sync 0;\n"
                         "red.shared.add.u32 [sum], 1; mbarrier.arrive.shared::cta.b64 %s, [b];\n"
                         "L1: mbarrier.test_wait.shared.b64 %p, [b], %s; @!%p bra L1;\n"
                         "ld.shared.b32 %v, [sum]; mad.wide.u32 %a, %t, 4, %out;\n"
                         "st.global.b32 [%a], %v;\n"
                         "mbarrier.arrive.release.cta.shared.b64 _, [b];\n"
                         "L2: mbarrier.try_wait.parity.shared.b64 %p, [b], 1; @!%p bra L2;\n"
                         "red.shared.add.u32 [sum], 1; mbarrier.arrive.shared.b64 %s, [b], 1;\n"
                         "L3: mbarrier.try_wait.acquire.cta.shared::cta.b64 %p, [b], %s, 1000;\n"
                         "@!%p bra L3; ld.shared.b32 %v, [sum]; st.global.b32 [%a+256], %v;"),
                  1, 64),
         PTX_OK);
    for (unsigned i = 0; i < 64; i++) {
        T_EQ(word(i), 64);
        T_EQ(word(64 + i), 128);
    }
}

/* Counted bytes and thinner phases: a phase ends when both arrivals and bytes are there. */
TEST(ptx_async, bytes_drops_and_copies_count)
{
    number_words();
    T_EQ(run_text(
             KERNEL(".shared .b64 b; .shared .align 8 .b8 s[8]; .reg .b64 %s, %u; .reg .pred %p;\n"
                    ".reg .b32 %v, %w;\n"
                    "mbarrier.init.shared.b64 [b], 2; mbarrier.arrive.shared.b64 %s, [b];\n"
                    "mbarrier.pending_count.b64 %v, %s; st.global.b32 [%out+256], %v;\n"
                    "mbarrier.arrive.expect_tx.shared.b64 %u, [b], 8;\n"
                    "mbarrier.test_wait.shared.b64 %p, [b], %s; selp.b32 %v, 1, 0, %p;\n"
                    "mbarrier.complete_tx.shared.b64 [b], 8;\n"
                    "mbarrier.test_wait.shared.b64 %p, [b], %s; selp.b32 %w, 1, 0, %p;\n"
                    "st.global.b32 [%out+260], %v; st.global.b32 [%out+264], %w;\n"
                    "mbarrier.arrive_drop.shared.b64 %s, [b];\n"
                    "cp.async.ca.shared.global [s], [%out], 8;\n"
                    "cp.async.mbarrier.arrive.shared.b64 [b];\n"
                    "mbarrier.test_wait.shared.b64 %p, [b], %s; selp.b32 %v, 1, 0, %p;\n"
                    "cp.async.mbarrier.arrive.noinc.shared.b64 [b];\n"
                    "mbarrier.test_wait.shared.b64 %p, [b], %s; selp.b32 %w, 1, 0, %p;\n"
                    "st.global.b32 [%out+268], %v; st.global.b32 [%out+272], %w;\n"
                    "mbarrier.arrive.shared.b64 %s, [b];\n"
                    "mbarrier.test_wait.shared.b64 %p, [b], %s; selp.b32 %w, 1, 0, %p;\n"
                    "st.global.b32 [%out+276], %w; mbarrier.inval.shared.b64 [b];"),
             1, 1),
         PTX_OK);
    T_EQ(word(64), 2); /* arrivals missing before the first */
    T_EQ(word(65), 0);
    T_EQ(word(66), 1);
    T_EQ(word(67), 0);
    T_EQ(word(68), 1);
    T_EQ(word(69), 1); /* one arrival is enough since the drop */
}

TEST(ptx_async, one_thread_is_elected)
{
    memset(world.bytes, 0, 512);
    T_EQ(run_text(KERNEL(".reg .b32 %t, %l, %v; .reg .b64 %a; .reg .pred %p, %q;\n"
                         "mov.u32 %t, %tid.x; setp.lt.u32 %q, %t, 4; @%q bra END;\n"
                         "elect.sync %l|%p, 0xfffffff0; selp.b32 %v, 100, 0, %p;\n"
                         "add.u32 %v, %v, %l; mad.wide.u32 %a, %t, 4, %out;\n"
                         "st.global.b32 [%a], %v; END:"),
                  1, 32),
         PTX_OK);
    for (unsigned i = 0; i < 32; i++)
        T_EQ(word(i), i < 4 ? 0 : i == 4 ? 104 : 4);
}
