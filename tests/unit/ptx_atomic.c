/* ptx_atomic.c: atomics on narrow floats, 16 bits, vectors, and subnormals; qualifiers that change
 * nothing here. */
#include "ptx_world.h"

static void put_word(unsigned index, uint32_t value)
{
    memcpy(world.bytes + 4 * index, &value, sizeof value);
}

/* `code` between [%out] (word 0), whose old value it puts in %d, and %a (word 1). */
static void atomic(const char *code, uint32_t before, uint32_t a, uint32_t after)
{
    char text[1024];

    snprintf(text, sizeof text,
             PTX_HEAD ".visible .entry k(.param .u64 out) {\n.reg .b64 %%out; .reg .b32 %%a, %%d;\n"
                      ".reg .b16 %%ha, %%hb, %%hd; .reg .f32 %%fa, %%fd;\n"
                      "ld.param.u64 %%out, [out]; ld.global.b32 %%a, [%%out+4];\n"
                      "mov.b32 %%fa, %%a; mov.b32 {%%ha, %%hb}, %%a; mov.b32 %%d, 0;\n"
                      "%s\nst.global.b32 [%%out+8], %%d; ret; }\n",
             code);
    put_word(0, before);
    put_word(1, a);
    T_EQ(run_text(text, 1, 1), PTX_OK);
    if (word(0) != after || word(2) != before)
        T_FAIL("%s of %08x, %08x: %08x, wanted %08x; answered %08x", code, before, a, word(0),
               after, word(2));
}

TEST(ptx_atomic, half_floats)
{
    atomic("atom.global.add.noftz.f16 %hd, [%out], %ha; cvt.u32.u16 %d, %hd;", 0x3c00, 0x4000,
           0x4200);
    atomic("atom.global.add.noftz.f16 %hd, [%out], %ha; cvt.u32.u16 %d, %hd;", 1, 1, 2);
    atomic("atom.add.noftz.bf16 %hd, [%out], %ha; cvt.u32.u16 %d, %hd;", 0x3f80, 0x4000, 0x4040);
    atomic("atom.global.gpu.relaxed.add.noftz.f16x2 %d, [%out], %a;", 0x3c004000, 0x40003c00,
           0x42004200);
    atomic("atom.add.noftz.bf16x2 %d, [%out], %a;", 0x3f804000, 0x40003f80, 0x40404040);
}

TEST(ptx_atomic, sixteen_bits)
{
    atomic("atom.global.cas.b16 %hd, [%out], %ha, %hb; cvt.u32.u16 %d, %hd;", 0x1234, 0xabcd1234,
           0xabcd);
    atomic("atom.global.sys.acq_rel.cas.b16 %hd, [%out], %ha, %hb; cvt.u32.u16 %d, %hd;", 0x1234,
           0xabcd1235, 0x1234);
}

/* PTX ISA: atom.add.f32 flushes subnormals in global memory, not in shared memory. */
TEST(ptx_atomic, subnormals)
{
    atomic("atom.global.add.f32 %fd, [%out], %fa; mov.b32 %d, %fd;", 0x3f800000, 0x3f800000,
           0x40000000);
    atomic("atom.global.add.f32 %fd, [%out], %fa; mov.b32 %d, %fd;", 1, 2, 0);
    atomic("atom.add.f32 %fd, [%out], %fa; mov.b32 %d, %fd;", 0x80000001, 0x80000000, 0x80000000);
    atomic(".shared .f32 s; .reg .b32 %x; ld.global.b32 %x, [%out]; st.shared.b32 [s], %x;\n"
           "atom.shared.add.f32 %fd, [s], %fa; mov.b32 %d, %fd;\n"
           "ld.shared.b32 %x, [s]; st.global.b32 [%out], %x;",
           1, 2, 3);
}

TEST(ptx_atomic, scopes_and_orders_change_no_result)
{
    atomic("atom.acquire.cta.global.add.u32 %d, [%out], %a;", 1, 2, 3);
    atomic("atom.release.sys.global.exch.b32 %d, [%out], %a;", 1, 2, 2);
    atomic("atom.relaxed.cluster.global.min.s32 %d, [%out], %a;", 1, (uint32_t)-2, (uint32_t)-2);
    atomic("ld.global.b32 %d, [%out]; red.release.gpu.global.xor.b32 [%out], %a;", 5, 3, 6);
    atomic(".reg .b64 %p; createpolicy.fractional.L2::evict_last.b64 %p, 1.0;\n"
           "atom.global.add.L2::cache_hint.u32 %d, [%out], %a, %p;",
           5, 3, 8);
}

TEST(ptx_atomic, vectors)
{
    const float start[] = {1, 2, 3, 4};

    memcpy(world.bytes, start, sizeof start);
    T_EQ(run_text(KERNEL(".reg .f32 %a, %b, %c, %d; mov.f32 %a, 10.0; mov.f32 %b, 20.0;\n"
                         "mov.f32 %c, 30.0; mov.f32 %d, 40.0;\n"
                         "atom.global.add.v4.f32 {%d, %c, %b, %a}, [%out], {%a, %b, %c, %d};\n"
                         "st.global.v4.f32 [%out+16], {%d, %c, %b, %a};\n"
                         "red.global.add.v2.f32 [%out+8], {%a, %b};\n"),
                  1, 1),
         PTX_OK);
    T_EQ(word(0), 0x41300000); /* 11 */
    T_EQ(word(1), 0x41b00000); /* 22 */
    T_EQ(word(2), 0x42140000); /* 33 + 4 */
    T_EQ(word(3), 0x423c0000); /* 44 + 3 */
    T_EQ(memcmp(world.bytes + 16, start, sizeof start), 0);
    T_EQ(run_text(KERNEL("red.global.add.v2.f32 [%out+4], {1.0, 1.0};"), 1, 1), PTX_MISALIGNED);
    put_word(0, 0x3c003c00);
    put_word(1, 0x40003c00);
    T_EQ(run_text(KERNEL(".reg .b32 %a; mov.b32 %a, 0x3c004000;\n"
                         "red.global.add.noftz.v2.f16x2 [%out], {%a, %a};\n"
                         "red.global.max.noftz.v2.f16x2 [%out], {%a, %a};\n"),
                  1, 1),
         PTX_OK);
    T_EQ(word(0), 0x40004200);
    T_EQ(word(1), 0x42004200);
}

/* 32 bytes at once, and qualifiers of loads and stores. */
TEST(ptx_atomic, wide_vectors_and_qualifiers)
{
    for (unsigned i = 0; i < 8; i++)
        put_word(i, i + 1);
    T_EQ(run_text(
             KERNEL(".reg .b32 %r<8>; .reg .b64 %q<4>, %p; .reg .b16 %h<4>;\n"
                    "ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%out];\n"
                    "st.global.v8.b32 [%out+32], {%r7, %r6, %r5, %r4, %r3, %r2, %r1, %r0};\n"
                    "ld.global.nc.v4.b64 {%q0, %q1, %q2, %q3}, [%out];\n"
                    "st.global.cs.v4.b64 [%out+64], {%q3, %q2, %q1, %q0};\n"
                    "ld.global.nc.L1::no_allocate.L2::128B.v4.u16 {%h0, %h1, %h2, %h3}, [%out];\n"
                    "st.volatile.global.v4.u16 [%out+96], {%h2, %h3, %h0, %h1};\n"
                    "ld.relaxed.sys.global.b32 %r0, [%out+4]; st.wb.global.b32 [%out+104], %r0;\n"
                    "ld.acquire.gpu.b32 %r0, [%out+8]; st.release.cta.b32 [%out+108], %r0;\n"
                    "ldu.global.b32 %r0, [%out+12]; st.global.L1::evict_last.b32 [%out+112], "
                    "%r0;\n"
                    "createpolicy.fractional.L2::evict_first.b64 %p, 1.0;\n"
                    "ld.global.L2::cache_hint.v2.b32 {%r0, %r1}, [%out+16], %p;\n"
                    "st.global.L2::cache_hint.v2.b32 [%out+120], {%r1, %r0}, %p;\n"
                    "prefetch.global.L2 [%out]; discard.global.L2 [%out+1024], 128;\n"),
             1, 1),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++)
        T_EQ(word(8 + i), 8 - i);
    for (unsigned i = 0; i < 4; i++)
        T_EQ(wide(8 + i), wide(3 - i));
    T_EQ(wide(12), UINT64_C(1) << 32 | 2);
    T_EQ(word(26), 2);
    T_EQ(word(27), 3);
    T_EQ(word(28), 4);
    T_EQ(wide(15), UINT64_C(5) << 32 | 6);
    T_EQ(run_text(KERNEL(".reg .b64 %q<4>; ld.global.v4.b64 {%q0, %q1, %q2, %q3}, [%out+16];"), 1,
                  1),
         PTX_MISALIGNED);
}

/* ---- 128 bits (PTX ISA: mov, ld, st, atom.exch and atom.cas with .b128) ---- */

#define WIDE(body)                                                                                 \
    KERNEL(".shared .align 16 .b8 s[32]; .reg .b128 %q<4>; .reg .b64 %l<4>; .reg .b32 %v;\n"       \
           "mov.b128 %q0, {1, 2}; mov.b128 %q1, {3, 4}; " body)

TEST(ptx_atomic, wide_registers)
{
    T_EQ(run_text(WIDE("st.global.b128 [%out], %q1; st.shared.b128 [s+16], %q0;\n"
                       "ld.shared.b128 %q2, [s+16]; mov.b128 %q3, %q2;\n"
                       "mov.b128 {%l0, %l1}, %q3; st.global.v2.u64 [%out+16], {%l1, %l0};\n"
                       "ld.global.b128 %q3, [%out]; st.b128 [%out+32], %q3;\n"),
                  1, 1),
         PTX_OK);
    T_EQ(wide(0), 3);
    T_EQ(wide(1), 4);
    T_EQ(wide(2), 2);
    T_EQ(wide(3), 1);
    T_EQ(wide(4), 3);
    T_EQ(wide(5), 4);
    T_EQ(run_text(WIDE("st.global.b128 [%out+8], %q1;\n"), 1, 1), PTX_MISALIGNED);
}

TEST(ptx_atomic, wide_exchange)
{
    static const uint64_t want[] = {1, 2, 1, 2, 3, 4, 3, 4};

    memset(world.bytes, 0, 128);
    world.bytes[0] = 1; /* {1, 2} */
    world.bytes[8] = 2;
    T_EQ(run_text(WIDE("atom.global.cas.b128 %q2, [%out], %q0, %q1;\n"
                       "st.global.b128 [%out+16], %q2;\n"
                       "atom.relaxed.gpu.global.cas.b128 %q2, [%out], %q0, %q2;\n"
                       "st.global.b128 [%out+32], %q2;\n"
                       "atom.global.exch.b128 %q3, [%out], %q0; st.global.b128 [%out+48], %q3;\n"),
                  1, 1),
         PTX_OK);
    for (unsigned i = 0; i < 8; i++)
        T_EQ(wide(i), want[i]);
}

/* Pairs of equal halves, exchanged by all threads of many blocks: none is ever torn. */
TEST(ptx_atomic, wide_exchanges_are_whole)
{
    memset(world.bytes, 0, 32);
    T_EQ(run_text(KERNEL(".reg .b128 %q<2>; .reg .b64 %l, %m; .reg .b32 %i, %c; .reg .pred %p;\n"
                         "mov.u32 %c, %ctaid.x; mov.u32 %i, 500; L: cvt.u64.u32 %l, %c;\n"
                         "mov.b128 %q0, {%l, %l}; atom.global.exch.b128 %q1, [%out], %q0;\n"
                         "mov.b128 {%l, %m}, %q1; setp.ne.u64 %p, %l, %m;\n"
                         "@%p red.global.add.u32 [%out+16], 1;\n"
                         "sub.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra L;\n"),
                  64, 4),
         PTX_OK);
    T_EQ(word(4), 0);
    T_EQ(wide(0), wide(1));
}
