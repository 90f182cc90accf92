/* ptx_bits.c: bit fields, permutations, packed whole numbers, video instructions, and packs of
 * registers, as PTX ISA's formulas have them. */
#include "ptx_one.h"

#define I(text, a, b, c, want)                                                                     \
    {                                                                                              \
        text, "b32", "b32", "b32", "b32", a, b, c, want                                            \
    }

TEST(ptx_bits, masks_and_extension)
{
    static const struct one ones[] = {
        I("bmsk.clamp.b32 %d, %a, %b;", 4, 8, 0, 0x00000ff0),
        I("bmsk.clamp.b32 %d, %a, %b;", 28, 8, 0, 0xf0000000),
        I("bmsk.clamp.b32 %d, %a, %b;", 0, 32, 0, 0xffffffff),
        I("bmsk.clamp.b32 %d, %a, %b;", 32, 4, 0, 0),
        I("bmsk.clamp.b32 %d, %a, %b;", 3, 0, 0, 0),
        I("bmsk.wrap.b32 %d, %a, %b;", 36, 8, 0, 0x00000ff0),
        I("bmsk.wrap.b32 %d, %a, %b;", 4, 32, 0, 0),
        I("szext.clamp.s32 %d, %a, %b;", 0x12345680, 8, 0, 0xffffff80),
        I("szext.clamp.s32 %d, %a, %b;", 0x12345670, 8, 0, 0x70),
        I("szext.clamp.u32 %d, %a, %b;", 0x12345680, 8, 0, 0x80),
        I("szext.clamp.s32 %d, %a, %b;", 0x12345680, 40, 0, 0x12345680),
        I("szext.wrap.s32 %d, %a, %b;", 0x12345680, 40, 0, 0xffffff80),
        I("szext.wrap.s32 %d, %a, %b;", 0x12345680, 32, 0, 0),
    };

    CHECK_ALL(ones);
}

TEST(ptx_bits, nth_set_bit)
{
    static const struct one ones[] = {
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 3, 1, 3),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 3, (uint32_t)-1, 3),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 2, 1, 3),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 2, (uint32_t)-1, 1),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 3, 2, 5),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 3, (uint32_t)-2, 1),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 3, (uint32_t)-3, 0xffffffff),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 3, 0, 3),
        I("fns.b32 %d, %a, %b, %c;", 0xaaaaaaaa, 2, 0, 0xffffffff),
    };

    CHECK_ALL(ones);
}

/* Bytes of a pair are numbered 0 to 7 from a's lowest: 0x33221100 and 0x77665544. */
TEST(ptx_bits, permutation_modes)
{
    static const struct one ones[] = {
        I("prmt.b32.f4e %d, %a, %b, %c;", 0x33221100, 0x77665544, 0, 0x33221100),
        I("prmt.b32.f4e %d, %a, %b, %c;", 0x33221100, 0x77665544, 3, 0x66554433),
        I("prmt.b32.b4e %d, %a, %b, %c;", 0x33221100, 0x77665544, 0, 0x55667700),
        I("prmt.b32.b4e %d, %a, %b, %c;", 0x33221100, 0x77665544, 3, 0x00112233),
        I("prmt.b32.rc8 %d, %a, %b, %c;", 0x33221100, 0x77665544, 2, 0x22222222),
        I("prmt.b32.ecl %d, %a, %b, %c;", 0x33221100, 0x77665544, 1, 0x33221111),
        I("prmt.b32.ecl %d, %a, %b, %c;", 0x33221100, 0x77665544, 3, 0x33333333),
        I("prmt.b32.ecr %d, %a, %b, %c;", 0x33221100, 0x77665544, 1, 0x11111100),
        I("prmt.b32.ecr %d, %a, %b, %c;", 0x33221100, 0x77665544, 2, 0x22221100),
        I("prmt.b32.rc16 %d, %a, %b, %c;", 0x33221100, 0x77665544, 1, 0x33223322),
    };

    CHECK_ALL(ones);
}

TEST(ptx_bits, partial_products)
{
    static const struct one ones[] = {
        I("mul24.hi.s32 %d, %a, %b;", 0x00800000, 2, 0, 0xffffff00),
        I("mul24.hi.u32 %d, %a, %b;", 0xff800000, 2, 0, 0x100),
        I("mad24.hi.s32 %d, %a, %b, %c;", 0x00800000, 2, 0x100, 0),
        I("mad24.hi.sat.s32 %d, %a, %b, %c;", 0x00400000, 0x00400000, 0x7fffffff, 0x7fffffff),
        I("mad24.hi.u32 %d, %a, %b, %c;", 0x00800000, 2, 5, 0x105),
        I("mad.hi.sat.s32 %d, %a, %b, %c;", 0x40000000, 4, 0x7fffffff, 0x7fffffff),
        I("mad.hi.sat.s32 %d, %a, %b, %c;", 0x40000000, (uint32_t)-4, 0x80000000, 0x80000000),
        I("mad.hi.sat.s32 %d, %a, %b, %c;", 0x40000000, 8, 5, 7),
        I("dp2a.lo.s32.s32 %d, %a, %b, %c;", 0xfffe0003, 0x7f05fe04, 10, 26),
        I("dp2a.hi.s32.s32 %d, %a, %b, %c;", 0xfffe0003, 0x7f05fe04, 10, (uint32_t)-229),
        I("dp2a.lo.u32.u32 %d, %a, %b, %c;", 0xfffe0003, 0x7f05fe04, 0, 0xfe * 0xfffeu + 12),
        I("dp2a.hi.u32.s32 %d, %a, %b, %c;", 0x00020003, 0x80050000, 0, (uint32_t)(15 - 256)),
    };

    CHECK_ALL(ones);
}

TEST(ptx_bits, pairs_and_rectifiers)
{
    static const struct one ones[] = {
        I("add.u16x2 %d, %a, %b;", 0xffff0001, 0x00020003, 0, 0x00010004),
        I("add.s16x2 %d, %a, %b;", 0x7fff8000, 0x0001ffff, 0, 0x80007fff),
        I("min.s16x2 %d, %a, %b;", 0xffff0005, 0x00010003, 0, 0xffff0003),
        I("min.u16x2 %d, %a, %b;", 0xffff0005, 0x00010003, 0, 0x00010003),
        I("max.s16x2 %d, %a, %b;", 0xffff0005, 0x00010003, 0, 0x00010005),
        I("max.u16x2 %d, %a, %b;", 0xffff0005, 0x00010003, 0, 0xffff0005),
        I("min.relu.s16x2 %d, %a, %b;", 0xffff0005, 0x00010003, 0, 0x00000003),
        I("max.s16x2.relu %d, %a, %b;", 0xffff0005, 0xfffe0003, 0, 0x00000005),
        I("min.relu.s32 %d, %a, %b;", (uint32_t)-3, 4, 0, 0),
        I("max.s32.relu %d, %a, %b;", (uint32_t)-3, (uint32_t)-4, 0, 0),
        I("max.relu.s32 %d, %a, %b;", (uint32_t)-3, 4, 0, 4),
    };

    CHECK_ALL(ones);
}

TEST(ptx_bits, lop3_says_whether_bits_are_set)
{
#define LOP3(join)                                                                                 \
    ".reg .pred %p, %q; setp.ne.b32 %q, %c, 0; .reg .b32 %x;\n"                                    \
    "lop3." join ".b32 %x|%p, %a, %b, 0, 0xc0, %q; selp.b32 %d, %x, 0x100, %p;"
    static const struct one ones[] = {
        I(LOP3("or"), 12, 10, 0, 8),
        I(LOP3("or"), 12, 3, 0, 0x100),
        I(LOP3("and"), 12, 10, 0, 0x100),
        I(LOP3("and"), 12, 10, 1, 8),
    };

    CHECK_ALL(ones);
}

TEST(ptx_bits, video_on_bytes_and_halves)
{
    static const struct one ones[] = {
        I("vadd4.u32.u32.u32 %d, %a, %b, %c;", 0xff010203, 0x02030405, 0, 0x01040608),
        I("vadd4.u32.u32.u32.sat %d, %a, %b, %c;", 0xff010203, 0x02030405, 0, 0xff040608),
        I("vadd2.s32.s32.s32.sat %d, %a, %b, %c;", 0x7fff8000, 0x0001ffff, 0, 0x7fff8000),
        I("vsub4.u32.u32.u32.sat %d, %a, %b, %c;", 0x01050900, 0x02030401, 0, 0x00020500),
        I("vsub2.s32.s32.s32 %d, %a, %b, %c;", 0x00010005, 0x00020003, 0, 0xffff0002),
        I("vavrg4.u32.u32.u32 %d, %a, %b, %c;", 0x01020304, 0x02020505, 0, 0x02020405),
        I("vabsdiff4.u32.u32.u32 %d, %a, %b, %c;", 0x01ff0510, 0x03000810, 0, 0x02ff0300),
        I("vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;", 0x01ff0510, 0x03000810, 100, 360),
        I("vabsdiff2.u32.s32.s32.add %d, %a, %b, %c;", 0xffff0003, 0x0001fffe, 1, 8),
        I("vmin4.s32.s32.s32 %d, %a, %b, %c;", 0xff010203, 0x02030400, 0, 0xff010200),
        I("vmax2.u32.u32.u32 %d, %a, %b, %c;", 0xffff0003, 0x00010004, 0, 0xffff0004),
        I("vset4.u32.u32.eq %d, %a, %b, %c;", 0x01020304, 0x01000300, 0, 0x01000100),
        I("vset4.s32.s32.lt.add %d, %a, %b, %c;", 0xff000001, 0x00000002, 5, 7),
        I("vset2.u32.u32.ge %d, %a, %b, %c;", 0xffff0001, 0x00010002, 0, 0x00010000),
    };

    CHECK_ALL(ones);
}

TEST(ptx_bits, register_packs)
{
    static const struct one ones[] = {
        I(".reg .b16 %x<2>; mov.b32 {%x0, %x1}, %a; mov.b32 %d, {%x1, %x0};", 0x12345678, 0, 0,
          0x56781234),
        I(".reg .b8 %x<4>; mov.b32 {%x0, %x1, %x2, %x3}, %a; mov.b32 %d, {%x3, %x2, %x1, %x0};",
          0x12345678, 0, 0, 0x78563412),
        I(".reg .b8 %x<2>; .reg .b16 %h; cvt.u16.u32 %h, %a; mov.b16 {%x0, %x1}, %h;\n"
          "mov.b16 %h, {%x1, %x0}; cvt.u32.u16 %d, %h;",
          0x5678, 0, 0, 0x7856),
        {".reg .b16 %x<4>; mov.b64 {%x0, %x1, %x2, %x3}, %a; mov.b64 %d, {%x3, %x2, %x1, %x0};",
         "b64", "b64", "b64", "b64", 0x1111222233334444, 0, 0, 0x4444333322221111},
        {".reg .b32 %x<2>; mov.b64 {_, %x1}, %a; mov.b64 %d, {%x1, %x1};", "b64", "b64", "b64",
         "b64", 0x1111222233334444, 0, 0, 0x1111222211112222},
    };

    CHECK_ALL(ones);
}
