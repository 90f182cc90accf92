/* ptx_threads.c: barriers and what the threads of a warp do together. */
#include "ptx_world.h"

/* Each thread adds its neighbour's value in every round: wrong unless all wait at each barrier. */
TEST(ptx_threads, barrier_in_a_loop)
{
    T_EQ(
        run_text(
            KERNEL(".shared .align 4 .b8 s[400]; .reg .b32 %t, %a, %n, %v, %w, %i; .reg .pred %p;\n"
                   ".reg .b64 %g;\n"
                   "mov.u32 %t, %tid.x; shl.b32 %a, %t, 2; mov.u32 %n, s; add.u32 %a, %a, %n;\n"
                   "add.u32 %v, %t, 1; rem.u32 %v, %v, 100; shl.b32 %v, %v, 2;\n"
                   "add.u32 %n, %n, %v; st.shared.u32 [%a], 1; mov.u32 %i, 5;\n"
                   "L: bar.sync 0; ld.shared.u32 %v, [%a]; ld.shared.u32 %w, [%n];\n"
                   "barrier.sync 0; add.u32 %v, %v, %w; st.shared.u32 [%a], %v;\n"
                   "sub.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra L;\n"
                   "mul.wide.u32 %g, %t, 4; add.u64 %g, %out, %g; st.global.u32 [%g], %v;\n"),
            1, 100),
        PTX_OK);
    for (unsigned i = 0; i < 100; i++)
        T_EQ(word(i), 32);
}

/* Two groups with barriers of their own and different numbers of rounds. */
TEST(ptx_threads, named_barriers_with_counts)
{
    T_EQ(run_text(KERNEL(".reg .b32 %t, %i, %o; .reg .pred %p, %q;\n"
                         "mov.u32 %t, %tid.x; setp.lt.u32 %q, %t, 32; mov.u32 %i, 3; @%q bra A;\n"
                         "bar.sync 2, 32; red.global.add.u32 [%out], 1; bra END;\n"
                         "A: bar.sync 1, 32; red.global.add.u32 [%out+4], 1;\n"
                         "sub.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra A;\n"
                         "END: bar.sync 0;\n"),
                  1, 64),
         PTX_OK);
    T_EQ(word(0), 32);
    T_EQ(word(1), 96);
}

/* Producers arrive without waiting; the consumers wait for both. */
TEST(ptx_threads, arrive)
{
    T_EQ(run_text(
             KERNEL(".shared .b32 s; .reg .b32 %t, %v; .reg .pred %q;\n"
                    "mov.u32 %t, %tid.x; setp.lt.u32 %q, %t, 32; @%q bra A;\n"
                    "red.shared.add.u32 [s], 1; bar.arrive 3, 64; ret;\n"
                    "A: bar.sync 3, 64; ld.shared.u32 %v, [s]; red.global.add.u32 [%out], %v;\n"),
             1, 64),
         PTX_OK);
    T_EQ(word(0), 32 * 32);
}

TEST(ptx_threads, reducing_barriers)
{
    T_EQ(run_text(
             KERNEL(
                 ".reg .b32 %t, %n, %v; .reg .pred %p, %q;\n"
                 "mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 10;\n"
                 "bar.red.popc.u32 %n, 0, %p; st.global.u32 [%out], %n;\n"
                 "bar.red.and.pred %q, 0, %p; selp.u32 %v, 1, 0, %q; st.global.u32 [%out+4], %v;\n"
                 "bar.red.or.pred %q, 0, %p; selp.u32 %v, 1, 0, %q; st.global.u32 [%out+8], %v;\n"),
             1, 50),
         PTX_OK);
    T_EQ(word(0), 10);
    T_EQ(word(1), 0);
    T_EQ(word(2), 1);
}

TEST(ptx_threads, exited_threads_count_as_arrived)
{
    T_EQ(run_text(KERNEL(".reg .b32 %t; .reg .pred %q;\n"
                         "mov.u32 %t, %tid.x; setp.gt.u32 %q, %t, 5; @%q ret;\n"
                         "bar.sync 0; red.global.add.u32 [%out], 1;\n"),
                  1, 64),
         PTX_OK);
    T_EQ(word(0), 6);
}

TEST(ptx_threads, waiting_for_nobody_is_an_error)
{
    T_EQ(run_text(KERNEL("bar.sync 1, 64;"), 1, 32), PTX_DEADLOCK);
    T_STR_HAS(world_message, "bar.sync 1, 64");
}

/* Store per thread: value of the shuffle, and predicate in bit 31. */
#define SHUFFLE(instruction)                                                                       \
    KERNEL(".reg .b32 %t, %l, %v, %w; .reg .pred %p; .reg .b64 %g;\n"                              \
           "mov.u32 %t, %tid.x; mov.u32 %l, %laneid; mul.lo.u32 %v, %l, 10;\n" instruction "\n"    \
           "selp.u32 %w, 0x80000000, 0, %p; or.b32 %v, %v, %w;\n"                                  \
           "mul.wide.u32 %g, %t, 4; add.u64 %g, %out, %g; st.global.u32 [%g], %v;\n")

enum { IN = (int)0x80000000 };

TEST(ptx_threads, shuffles)
{
    T_EQ(run_text(SHUFFLE("shfl.sync.down.b32 %v|%p, %v, 16, 31, -1;"), 1, 64), PTX_OK);
    for (unsigned i = 0; i < 64; i++)
        T_EQ(word(i), i % 32 < 16 ? (10 * (i % 32 + 16)) | (uint32_t)IN : 10 * (i % 32));
    T_EQ(run_text(SHUFFLE("shfl.sync.up.b32 %v|%p, %v, 1, 0, -1;"), 1, 32), PTX_OK);
    for (unsigned i = 0; i < 32; i++)
        T_EQ(word(i), i ? (10 * (i - 1)) | (uint32_t)IN : 0);
    T_EQ(run_text(SHUFFLE("shfl.sync.bfly.b32 %v|%p, %v, 5, 31, -1;"), 1, 32), PTX_OK);
    for (unsigned i = 0; i < 32; i++)
        T_EQ(word(i), (10 * (i ^ 5)) | (uint32_t)IN);
    /* segments of 8 lanes: c = 0b11000 << 8 | 31 */
    T_EQ(run_text(SHUFFLE("shfl.sync.idx.b32 %v|%p, %v, 2, 0x181f, 0xffffffff;"), 1, 32), PTX_OK);
    for (unsigned i = 0; i < 32; i++)
        T_EQ(word(i), (10 * (i / 8 * 8 + 2)) | (uint32_t)IN);
}

/* Half a warp shuffles on its own while the other half does something else. */
TEST(ptx_threads, shuffle_in_a_branch)
{
    T_EQ(run_text(
             KERNEL(".reg .b32 %t, %v; .reg .pred %q; .reg .b64 %g;\n"
                    "mov.u32 %t, %tid.x; mov.u32 %v, %t; setp.lt.u32 %q, %t, 16; @!%q bra E;\n"
                    "shfl.sync.bfly.b32 %v, %t, 1, 31, 0xffff;\n"
                    "E: mul.wide.u32 %g, %t, 4; add.u64 %g, %out, %g; st.global.u32 [%g], %v;\n"),
             1, 32),
         PTX_OK);
    for (unsigned i = 0; i < 32; i++)
        T_EQ(word(i), i < 16 ? i ^ 1 : i);
}

/* From before .sync: the threads that come together take part. They do so again behind a branch in
 * which half of them shuffle. */
TEST(ptx_threads, shuffles_without_a_mask)
{
    T_EQ(run_text(SHUFFLE("shfl.bfly.b32 %v|%p, %v, 5, 31;"), 1, 64), PTX_OK);
    for (unsigned i = 0; i < 64; i++)
        T_EQ(word(i), (10 * (i % 32 ^ 5)) | (uint32_t)IN);
    T_EQ(run_text(KERNEL(".reg .b32 %t, %v; .reg .pred %q; .reg .b64 %g;\n"
                         "mov.u32 %t, %tid.x; mov.u32 %v, %t; setp.lt.u32 %q, %t, 16; @!%q bra E;\n"
                         "shfl.bfly.b32 %v, %v, 1, 31;\n"
                         "E: shfl.bfly.b32 %v, %v, 16, 31;\n"
                         "mul.wide.u32 %g, %t, 4; add.u64 %g, %out, %g; st.global.u32 [%g], %v;\n"),
                  1, 32),
         PTX_OK);
    for (unsigned i = 0; i < 32; i++)
        T_EQ(word(i), i < 16 ? i + 16 : (i - 16) ^ 1);
}

/* The first 20 threads vote, then all do, after loops of different lengths. */
TEST(ptx_threads, votes_without_a_mask)
{
    T_EQ(run_text(
             KERNEL(".reg .b32 %t, %v, %w, %i; .reg .pred %q, %o, %p; .reg .b64 %g;\n"
                    "mov.u32 %t, %tid.x; mov.u32 %v, 0; setp.lt.u32 %q, %t, 20;\n"
                    "setp.lt.u32 %o, %t, 8; mul.lo.u32 %i, %t, 30; @!%q bra E;\n"
                    "L: sub.u32 %i, %i, 1; setp.gt.s32 %p, %i, 0; @%p bra L;\n"
                    "vote.ballot.b32 %v, %o; vote.all.pred %p, %q; @!%p bra E;\n"
                    "or.b32 %v, %v, 0x80000000;\n"
                    "E: vote.ballot.b32 %w, !%q; mul.wide.u32 %g, %t, 8; add.u64 %g, %out, %g;\n"
                    "st.global.v2.u32 [%g], {%v, %w};\n"),
             1, 32),
         PTX_OK);
    for (unsigned i = 0; i < 32; i++) {
        T_EQ(word(2 * i), i < 20 ? 0x800000ff : 0);
        T_EQ(word(2 * i + 1), 0xfff00000);
    }
}

TEST(ptx_threads, votes_and_matches)
{
    T_EQ(run_text(KERNEL(".reg .b32 %t, %v, %h; .reg .pred %p, %q;\n"
                         "mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 3;\n"
                         "vote.sync.ballot.b32 %v, %p, -1; st.global.u32 [%out], %v;\n"
                         "vote.sync.any.pred %q, %p, -1; selp.u32 %v, 1, 0, %q; st.global.u32 "
                         "[%out+4], %v;\n"
                         "vote.sync.all.pred %q, %p, -1; selp.u32 %v, 1, 0, %q; st.global.u32 "
                         "[%out+8], %v;\n"
                         "vote.sync.uni.pred %q, %p, -1; selp.u32 %v, 1, 0, %q; st.global.u32 "
                         "[%out+12], %v;\n"
                         "shr.u32 %h, %t, 3; match.any.sync.b32 %v, %h, -1;\n"
                         "setp.eq.u32 %q, %t, 31; @%q st.global.u32 [%out+16], %v;\n"
                         "match.all.sync.b32 %v|%q, %h, -1; selp.u32 %v, 1, %v, %q;\n"
                         "st.global.u32 [%out+20], %v; bar.warp.sync -1;\n"),
                  1, 32),
         PTX_OK);
    T_EQ(word(0), 7);
    T_EQ(word(1), 1);
    T_EQ(word(2), 0);
    T_EQ(word(3), 0);
    T_EQ(word(4), 0xff000000);
    T_EQ(word(5), 0);
}

TEST(ptx_threads, reductions_of_a_warp)
{
    T_EQ(
        run_text(".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out) {\n"
                 ".reg .b64 %out; .reg .b32 %t, %v; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
                 "redux.sync.add.s32 %v, %t, -1; st.global.u32 [%out], %v; sub.s32 %t, %t, 5;\n"
                 "redux.sync.min.s32 %v, %t, -1; st.global.u32 [%out+4], %v;\n"
                 "redux.sync.max.u32 %v, %t, -1; st.global.u32 [%out+8], %v;\n"
                 "redux.sync.or.b32 %v, %t, -1; st.global.u32 [%out+12], %v; ret; }\n",
                 1, 32),
        PTX_OK);
    T_EQ(word(0), 496);
    T_EQ(word(1), (uint32_t)-5);
    T_EQ(word(2), UINT32_MAX);
    T_EQ(word(3), UINT32_MAX);
}

/* One thread spins until another of its block has set a flag. */
TEST(ptx_threads, spinning_lets_others_run)
{
    T_EQ(
        run_text(
            KERNEL(".reg .b32 %t, %v; .reg .pred %p, %q;\n"
                   "mov.u32 %t, %tid.x; setp.ne.u32 %q, %t, 0; @%q bra SET;\n"
                   "SPIN: ld.volatile.global.u32 %v, [%out]; setp.eq.u32 %p, %v, 0; @%p bra SPIN;\n"
                   "st.global.u32 [%out+4], 5; ret;\n"
                   "SET: st.volatile.global.u32 [%out], 1;\n"),
            1, 2),
        PTX_OK);
    T_EQ(word(1), 5);
}
