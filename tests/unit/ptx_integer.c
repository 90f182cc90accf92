/* ptx_integer.c: integer, logic and bit-field instructions give what PTX ISA says. */
#include "ptx_one.h"

#define I32(text, a, b, c, want)                                                                   \
    {                                                                                              \
        text, "b32", "b32", "b32", "b32", a, b, c, want                                            \
    }
#define I64(text, a, b, c, want)                                                                   \
    {                                                                                              \
        text, "b64", "b64", "b64", "b64", a, b, c, want                                            \
    }
#define I16(text, a, b, c, want)                                                                   \
    {                                                                                              \
        text, "b16", "b16", "b16", "b16", a, b, c, want                                            \
    }

TEST(ptx_integer, arithmetic)
{
    static const struct one ones[] = {
        I32("add.s32 %d, %a, %b;", 0x7fffffff, 1, 0, 0x80000000),
        I64("add.u64 %d, %a, %b;", UINT64_MAX, 2, 0, 1),
        I16("add.s16 %d, %a, %b;", 0xffff, 2, 0, 1),
        I32("add.sat.s32 %d, %a, %b;", 0x7fffffff, 1, 0, 0x7fffffff),
        I32("sub.sat.s32 %d, %a, %b;", 0x80000000, 1, 0, 0x80000000),
        I32("sub.u32 %d, %a, %b;", 1, 2, 0, 0xffffffff),
        I32("mul.lo.s32 %d, %a, %b;", 0x10001, 0x10001, 0, 0x20001),
        I16("mul.lo.u16 %d, %a, %b;", 0xffff, 0xffff, 0, 1),
        I32("mul.hi.s32 %d, %a, %b;", 0xffffffff, 0xffffffff, 0, 0),
        I32("mul.hi.u32 %d, %a, %b;", 0xffffffff, 0xffffffff, 0, 0xfffffffe),
        I64("mul.hi.u64 %d, %a, %b;", UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 1),
        I64("mul.hi.s64 %d, %a, %b;", UINT64_MAX, 5, 0, UINT64_MAX),
        {"mul.wide.s32 %d, %a, %b;", "b64", "b32", "b32", "b32", 0xffffffff, 4, 0, UINT64_MAX - 3},
        {"mul.wide.u32 %d, %a, %b;", "b64", "b32", "b32", "b32", 0xffffffff, 4, 0, 0x3fffffffc},
        {"mul.wide.s16 %d, %a, %b;", "b32", "b16", "b16", "b16", 0x8000, 2, 0, 0xffff0000},
        I32("mad.lo.s32 %d, %a, %b, %c;", 3, 4, 5, 17),
        {"mad.wide.s32 %d, %a, %b, %c;", "b64", "b32", "b32", "b64", 0xffffffff, 2, 1, UINT64_MAX},
        I32("mad.hi.u32 %d, %a, %b, %c;", 0x80000000, 4, 1, 3),
        I32("div.s32 %d, %a, %b;", (uint32_t)-7, 2, 0, (uint32_t)-3),
        I32("div.u32 %d, %a, %b;", (uint32_t)-7, 2, 0, 0x7ffffffc),
        I32("div.s32 %d, %a, %b;", 0x80000000, 0xffffffff, 0, 0x80000000),
        I32("rem.s32 %d, %a, %b;", (uint32_t)-7, 3, 0, (uint32_t)-1),
        I64("rem.u64 %d, %a, %b;", 100, 7, 0, 2),
        I32("rem.s32 %d, %a, %b;", 0x80000000, 0xffffffff, 0, 0),
        I32("min.s32 %d, %a, %b;", 0xffffffff, 1, 0, 0xffffffff),
        I32("min.u32 %d, %a, %b;", 0xffffffff, 1, 0, 1),
        I64("max.s64 %d, %a, %b;", UINT64_MAX, 1, 0, 1),
        I32("abs.s32 %d, %a;", (uint32_t)-9, 0, 0, 9),
        I32("neg.s32 %d, %a;", 9, 0, 0, (uint32_t)-9),
        I32("sad.u32 %d, %a, %b, %c;", 3, 10, 5, 12),
        I32("mul24.lo.s32 %d, %a, %b;", 0xffffff, 3, 0, (uint32_t)-3),
        I32("mad24.lo.u32 %d, %a, %b, %c;", 0xff000002, 3, 1, 7),
        I32("dp4a.s32.s32 %d, %a, %b, %c;", 0xff020304, 0x01010101, 10, 18),
        I32("dp4a.u32.u32 %d, %a, %b, %c;", 0xff020304, 0x01010101, 10, 274),
    };

    CHECK_ALL(ones);
}

TEST(ptx_integer, division_by_zero_does_not_trap)
{
    static const struct one ones[] = {
        I32("div.u32 %d, %a, %b;", 7, 0, 0, 0xffffffff),
        I32("rem.u32 %d, %a, %b;", 7, 0, 0, 7),
        I64("div.s64 %d, %a, %b;", 7, 0, 0, UINT64_MAX),
    };

    CHECK_ALL(ones);
}

TEST(ptx_integer, carries)
{
    static const struct one ones[] = {
        I32("add.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0;", 0xffffffff, 1, 5, 6),
        I32("add.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0;", 0xfffffffe, 1, 5, 5),
        I32("sub.cc.u32 %d, %a, %b; subc.u32 %d, %c, 0;", 0, 1, 5, 4),
        I32("add.cc.u32 %d, %a, %b; addc.cc.u32 %d, %c, 0; addc.u32 %d, 0, 0;", 0xffffffff, 1,
            0xffffffff, 1),
        I64("add.cc.u64 %d, %a, %b; addc.u64 %d, %c, 1;", UINT64_MAX, 1, 5, 7),
        I32("mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0;", 0x80000000, 2, 0xffffffff,
            1),
        I32("mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, 0;", 0xffffffff, 0xffffffff,
            0xffffffff, 0xffffffff),
    };

    CHECK_ALL(ones);
}

TEST(ptx_integer, logic_and_shifts)
{
    static const struct one ones[] = {
        I32("and.b32 %d, %a, %b;", 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00),
        I32("or.b32 %d, %a, %b;", 0xf0, 0x0f, 0, 0xff),
        I64("xor.b64 %d, %a, %b;", 0xff, 0x0f, 0, 0xf0),
        I16("not.b16 %d, %a;", 0x00ff, 0, 0, 0xff00),
        I32("cnot.b32 %d, %a;", 0, 0, 0, 1),
        I32("cnot.b32 %d, %a;", 7, 0, 0, 0),
        I32("shl.b32 %d, %a, %b;", 1, 31, 0, 0x80000000),
        I32("shl.b32 %d, %a, %b;", 1, 32, 0, 0),
        {"shl.b64 %d, %a, %b;", "b64", "b64", "b32", "b32", 1, 63, 0, UINT64_C(1) << 63},
        {"shl.b64 %d, %a, %b;", "b64", "b64", "b32", "b32", 1, 64, 0, 0},
        I32("shr.u32 %d, %a, %b;", 0x80000000, 31, 0, 1),
        I32("shr.u32 %d, %a, %b;", 0x80000000, 40, 0, 0),
        I32("shr.s32 %d, %a, %b;", 0x80000000, 31, 0, 0xffffffff),
        I32("shr.s32 %d, %a, %b;", 0x80000000, 99, 0, 0xffffffff),
        I32("shr.b32 %d, %a, %b;", 0x80000000, 4, 0, 0x08000000),
        I32("shf.l.wrap.b32 %d, %a, %b, %c;", 0x80000001, 0x12345678, 4, 0x23456788),
        I32("shf.r.wrap.b32 %d, %a, %b, %c;", 0x80000001, 0x12345678, 4, 0x88000000),
        I32("shf.l.clamp.b32 %d, %a, %b, %c;", 0x11111111, 0x22222222, 40, 0x11111111),
        I32("shf.r.clamp.b32 %d, %a, %b, %c;", 0x11111111, 0x22222222, 40, 0x22222222),
        I32("shf.l.wrap.b32 %d, %a, %b, %c;", 0x11111111, 0x22222222, 32, 0x22222222),
        I32("lop3.b32 %d, %a, %b, %c, 0xe8;", 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0xe8e8e8e8),
        I32("lop3.b32 %d, %a, %b, %c, 0x1d;", 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x1d1d1d1d),
        I32("prmt.b32 %d, %a, %b, %c;", 0x33221100, 0x77665544, 0x7410, 0x77441100),
        I32("prmt.b32 %d, %a, %b, %c;", 0x80221100, 0, 0x300b, 0x800000ff),
    };

    CHECK_ALL(ones);
}

TEST(ptx_integer, bit_fields)
{
    static const struct one ones[] = {
        I32("popc.b32 %d, %a;", 0xf0f0, 0, 0, 8),
        {"popc.b64 %d, %a;", "b32", "b64", "b32", "b32", UINT64_MAX, 0, 0, 64},
        I32("clz.b32 %d, %a;", 0x00010000, 0, 0, 15),
        I32("clz.b32 %d, %a;", 0, 0, 0, 32),
        {"clz.b64 %d, %a;", "b32", "b64", "b32", "b32", 1, 0, 0, 63},
        I32("brev.b32 %d, %a;", 1, 0, 0, 0x80000000),
        I64("brev.b64 %d, %a;", 2, 0, 0, UINT64_C(1) << 62),
        I32("bfind.u32 %d, %a;", 0x00010000, 0, 0, 16),
        I32("bfind.u32 %d, %a;", 0, 0, 0, 0xffffffff),
        I32("bfind.s32 %d, %a;", 0xffffffff, 0, 0, 0xffffffff),
        I32("bfind.s32 %d, %a;", 0xfffffff0, 0, 0, 3),
        I32("bfind.shiftamt.u32 %d, %a;", 0x00010000, 0, 0, 15),
        I32("bfe.u32 %d, %a, %b, %c;", 0x12345678, 8, 12, 0x456),
        I32("bfe.s32 %d, %a, %b, %c;", 0x12345f78, 8, 4, 0xffffffff),
        I32("bfe.s32 %d, %a, %b, %c;", 0x80000000, 28, 8, 0xfffffff8),
        I32("bfe.u32 %d, %a, %b, %c;", 0x12345678, 8, 0, 0),
        I32("bfe.u32 %d, %a, %b, %c;", 0x12345678, 40, 8, 0),
        I32("bfi.b32 %d, %a, %b, 8, 8;", 0xab, 0xffffffff, 0, 0xffffabff),
        I32("bfi.b32 %d, %a, %b, 28, 8;", 0xab, 0, 0, 0xb0000000),
        I32("bfi.b32 %d, %a, %b, 8, 0;", 0xab, 7, 0, 7),
    };

    CHECK_ALL(ones);
}

#define P32(text, a, b, want)                                                                      \
    {                                                                                              \
        text, "pred", "b32", "b32", "b32", a, b, 1, want                                           \
    }

TEST(ptx_integer, comparisons)
{
    static const struct one ones[] = {
        P32("setp.lt.s32 %d, %a, %b;", 0xffffffff, 0, 1),
        P32("setp.lt.u32 %d, %a, %b;", 0xffffffff, 0, 0),
        P32("setp.lo.u32 %d, %a, %b;", 0, 0xffffffff, 1),
        P32("setp.hs.u32 %d, %a, %b;", 5, 5, 1),
        P32("setp.eq.b32 %d, %a, %b;", 5, 5, 1),
        P32("setp.ne.s32 %d, %a, %b;", 5, 5, 0),
        P32("setp.ge.s32 %d, %a, %b;", 5, 0xffffffff, 1),
        {"setp.gt.s64 %d, %a, %b;", "pred", "b64", "b64", "b64", 1, UINT64_MAX, 0, 1},
        {"setp.le.s16 %d, %a, %b;", "pred", "b16", "b16", "b16", 0xffff, 0, 0, 1},
        P32(".reg .pred %q; setp.eq.s32 %q, %c, 1; setp.lt.and.s32 %d, %a, %b, %q;", 1, 2, 1),
        P32(".reg .pred %q; setp.eq.s32 %q, %c, 1; setp.lt.and.s32 %d, %a, %b, !%q;", 1, 2, 0),
        P32(".reg .pred %q; setp.eq.s32 %q, %c, 0; setp.lt.or.s32 %d|%q, %a, %b, %q;", 1, 2, 1),
        P32(".reg .pred %q; setp.eq.s32 %q, %c, 0; setp.lt.or.s32 %q|%d, %a, %b, %q;", 1, 2, 0),
        P32(".reg .pred %q; setp.eq.s32 %q, %c, 1; setp.lt.xor.s32 %d, %a, %b, %q;", 1, 2, 0),
        P32(".reg .pred %q; setp.eq.s32 %q, %a, %b; not.pred %d, %q;", 1, 2, 1),
        I32("set.lt.u32.s32 %d, %a, %b;", 1, 2, 0, 0xffffffff),
        I32("set.gt.u32.s32 %d, %a, %b;", 1, 2, 0, 0),
        I32(".reg .f32 %f; set.le.f32.u32 %f, %a, %b; mov.b32 %d, %f;", 1, 2, 0, 0x3f800000),
        I32(".reg .pred %q; setp.eq.s32 %q, %c, 7; selp.b32 %d, %a, %b, %q;", 1, 2, 7, 1),
        I32(".reg .pred %q; setp.eq.s32 %q, %c, 7; selp.b32 %d, %a, %b, %q;", 1, 2, 8, 2),
        I32("slct.u32.s32 %d, %a, %b, %c;", 1, 2, 0xffffffff, 2),
        I32("slct.u32.s32 %d, %a, %b, %c;", 1, 2, 0, 1),
    };

    CHECK_ALL(ones);
}

TEST(ptx_integer, conversions)
{
    static const struct one ones[] = {
        {"cvt.s64.s32 %d, %a;", "b64", "b32", "b32", "b32", 0x80000000, 0, 0, 0xffffffff80000000},
        {"cvt.u64.u32 %d, %a;", "b64", "b32", "b32", "b32", 0x80000000, 0, 0, 0x80000000},
        {"cvt.u32.u64 %d, %a;", "b32", "b64", "b32", "b32", 0x1234567890, 0, 0, 0x34567890},
        I32("cvt.s8.s32 %d, %a;", 0x180, 0, 0, 0xffffff80),
        I32("cvt.u8.u32 %d, %a;", 0x1ff, 0, 0, 0xff),
        I32("cvt.u16.s8 %d, %a;", 0x80, 0, 0, 0xff80),
        I32("cvt.s32.s16 %d, %a;", 0x8000, 0, 0, 0xffff8000),
        {"cvt.u32.u16 %d, %a;", "b32", "b16", "b16", "b16", 0xffff, 0, 0, 0xffff},
        I32("cvt.sat.u8.s32 %d, %a;", (uint32_t)-5, 0, 0, 0),
        I32("cvt.sat.s8.s32 %d, %a;", 300, 0, 0, 127),
        I32("cvt.sat.s8.u32 %d, %a;", 0x80000000, 0, 0, 127),
        {"cvt.sat.u32.s64 %d, %a;", "b32", "b64", "b64", "b64", UINT64_MAX, 0, 0, 0},
    };

    CHECK_ALL(ones);
}

TEST(ptx_integer, moves_pack_and_unpack)
{
    static const struct one ones[] = {
        {"mov.b64 %d, {%a, %b};", "b64", "b32", "b32", "b32", 1, 2, 0, 0x200000001},
        {"mov.b64 {%c, %d}, %a;", "b32", "b64", "b64", "b32", 0x200000001, 0, 0, 2},
        {"mov.b64 {%d, _}, %a;", "b32", "b64", "b64", "b32", 0x200000001, 0, 0, 1},
        {"mov.b32 %d, {%a, %b};", "b32", "b16", "b16", "b16", 1, 2, 0, 0x20001},
        {"mov.b32 {%c, %d}, %a;", "b16", "b32", "b32", "b16", 0x20001, 0, 0, 2},
        {"mov.b64 %d, {%a, %b, %a, %b};", "b64", "b16", "b16", "b16", 1, 2, 0, 0x2000100020001},
        I32("mov.u32 %d, 0xffffffff;", 0, 0, 0, 0xffffffff),
        I32("mov.u32 %d, -1;", 0, 0, 0, 0xffffffff),
        I32("mov.b32 %d, 0f3F800000;", 0, 0, 0, 0x3f800000),
        I32("mov.u32 %d, WARP_SZ;", 0, 0, 0, 32),
        I32("mov.u32 %d, 0b1010;", 0, 0, 0, 10),
        I32("mov.u32 %d, 017;", 0, 0, 0, 15),
        I32("mov.u32 %d, 17U;", 0, 0, 0, 17),
    };

    CHECK_ALL(ones);
}
