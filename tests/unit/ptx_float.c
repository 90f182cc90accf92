/* ptx_float.c: floating point is bit-exact where PTX ISA defines the bits: IEEE operations in all
 * four rounding modes, flushing, saturation, NaN, minimum and maximum, conversions. */
#include "ptx_one.h"

#define F32(text, a, b, c, want)                                                                   \
    {                                                                                              \
        text, "f32", "f32", "f32", "f32", a, b, c, want                                            \
    }
#define F64(text, a, b, c, want)                                                                   \
    {                                                                                              \
        text, "f64", "f64", "f64", "f64", a, b, c, want                                            \
    }
#define PF(text, a, b, want)                                                                       \
    {                                                                                              \
        text, "pred", "f32", "f32", "f32", a, b, 0, want                                           \
    }

enum {
    ONE = 0x3f800000,
    TWO = 0x40000000,
    THREE = 0x40400000,
    TINY = 0x33000000, /* 2^-25, half of the last place of 1 */
    SUBNORMAL = 0x00000001,
    SMALLEST = 0x00800000, /* the smallest normal number */
    HALF = 0x3f000000,
    NEG = (int)0x80000000,
    INF = 0x7f800000,
    QUIET = 0x7fc00000,
    CANONICAL = 0x7fffffff
};
#define MINUS(x) ((uint32_t)(x) | 0x80000000u)
#define D_ONE    0x3ff0000000000000
#define D_THREE  0x4008000000000000
#define D_TINY   0x3c90000000000000 /* 2^-54 */

TEST(ptx_float, rounding_of_sums)
{
    static const struct one ones[] = {
        F32("add.f32 %d, %a, %b;", ONE, TINY, 0, ONE),
        F32("add.rn.f32 %d, %a, %b;", ONE, TINY, 0, ONE),
        F32("add.rz.f32 %d, %a, %b;", ONE, TINY, 0, ONE),
        F32("add.rm.f32 %d, %a, %b;", ONE, TINY, 0, ONE),
        F32("add.rp.f32 %d, %a, %b;", ONE, TINY, 0, ONE + 1),
        F32("add.rm.f32 %d, %a, %b;", MINUS(ONE), MINUS(TINY), 0, MINUS(ONE + 1)),
        F32("sub.rz.f32 %d, %a, %b;", ONE, TINY, 0, ONE - 1),
        F64("add.rp.f64 %d, %a, %b;", D_ONE, D_TINY, 0, D_ONE + 1),
        F64("add.rn.f64 %d, %a, %b;", D_ONE, D_TINY, 0, D_ONE),
        /* and the mode is nearest again afterwards */
        F32("add.rp.f32 %d, %a, %b; add.f32 %d, %a, %b;", ONE, TINY, 0, ONE),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, products_quotients_roots)
{
    static const struct one ones[] = {
        F32("mul.f32 %d, %a, %b;", THREE, THREE, 0, 0x41100000),
        F32("div.rn.f32 %d, %a, %b;", ONE, THREE, 0, 0x3eaaaaab),
        F32("div.rz.f32 %d, %a, %b;", ONE, THREE, 0, 0x3eaaaaaa),
        F32("div.rp.f32 %d, %a, %b;", ONE, THREE, 0, 0x3eaaaaab),
        F32("div.rn.f32 %d, %a, %b;", ONE, 0, 0, INF),
        F32("rcp.rn.f32 %d, %a;", THREE, 0, 0, 0x3eaaaaab),
        F32("sqrt.rn.f32 %d, %a;", TWO, 0, 0, 0x3fb504f3),
        F32("sqrt.rp.f32 %d, %a;", TWO, 0, 0, 0x3fb504f4),
        F32("sqrt.rn.f32 %d, %a;", MINUS(ONE), 0, 0, CANONICAL),
        F64("div.rn.f64 %d, %a, %b;", D_ONE, D_THREE, 0, 0x3fd5555555555555),
        F64("div.rp.f64 %d, %a, %b;", D_ONE, D_THREE, 0, 0x3fd5555555555556),
        F64("sqrt.rn.f64 %d, %a;", 0x4000000000000000, 0, 0, 0x3ff6a09e667f3bcd),
        F64("rcp.rn.f64 %d, %a;", D_THREE, 0, 0, 0x3fd5555555555555),
    };

    CHECK_ALL(ones);
}

/* (1 + 2^-23)(1 - 2^-23) - 1 is -2^-46 exactly; rounding the product first gives 0. */
TEST(ptx_float, fma_rounds_once)
{
    static const struct one ones[] = {
        F32("fma.rn.f32 %d, %a, %b, %c;", ONE + 1, ONE - 2, MINUS(ONE), 0xa8800000),
        F32("mad.rn.f32 %d, %a, %b, %c;", ONE + 1, ONE - 2, MINUS(ONE), 0xa8800000),
        F32("mul.f32 %d, %a, %b; add.f32 %d, %d, %c;", ONE + 1, ONE - 2, MINUS(ONE), 0),
        F32("fma.rp.f32 %d, %a, %b, %c;", TINY, ONE, ONE, ONE + 1),
        F64("fma.rn.f64 %d, %a, %b, %c;", D_ONE + 1, D_ONE - 2, D_ONE | (UINT64_C(1) << 63),
            0xb970000000000000),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, flushing_and_saturation)
{
    static const struct one ones[] = {
        F32("add.f32 %d, %a, %b;", SUBNORMAL, SUBNORMAL, 0, 2),
        F32("add.ftz.f32 %d, %a, %b;", SUBNORMAL, SUBNORMAL, 0, 0),
        F32("mul.ftz.f32 %d, %a, %b;", SMALLEST, HALF, 0, 0),
        F32("mul.ftz.f32 %d, %a, %b;", MINUS(SMALLEST), HALF, 0, MINUS(0)),
        F32("mul.f32 %d, %a, %b;", SMALLEST, HALF, 0, 0x00400000),
        F32("add.sat.f32 %d, %a, %b;", ONE, ONE, 0, ONE),
        F32("add.sat.f32 %d, %a, %b;", ONE, MINUS(THREE), 0, 0),
        F32("add.sat.f32 %d, %a, %b;", ONE, QUIET, 0, 0),
        F32("fma.rn.ftz.sat.f32 %d, %a, %b, %c;", HALF, HALF, 0, 0x3e800000),
        F32("abs.ftz.f32 %d, %a;", MINUS(SUBNORMAL), 0, 0, 0),
        PF("setp.eq.ftz.f32 %d, %a, %b;", SUBNORMAL, 0, 1),
        PF("setp.eq.f32 %d, %a, %b;", SUBNORMAL, 0, 0),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, nan_results_are_canonical)
{
    static const struct one ones[] = {
        F32("add.f32 %d, %a, %b;", INF, MINUS(INF), 0, CANONICAL),
        F32("mul.f32 %d, %a, %b;", QUIET + 5, ONE, 0, CANONICAL),
        F32("min.f32 %d, %a, %b;", QUIET, ONE, 0, ONE),
        F32("max.f32 %d, %a, %b;", ONE, QUIET, 0, ONE),
        F32("max.f32 %d, %a, %b;", QUIET, QUIET + 1, 0, CANONICAL),
        F32("min.NaN.f32 %d, %a, %b;", QUIET, ONE, 0, CANONICAL),
        F32("min.f32 %d, %a, %b;", 0, MINUS(0), 0, MINUS(0)),
        F32("max.f32 %d, %a, %b;", MINUS(0), 0, 0, 0),
        F32("neg.f32 %d, %a;", ONE, 0, 0, MINUS(ONE)),
        F32("abs.f32 %d, %a;", MINUS(THREE), 0, 0, THREE),
        F32("copysign.f32 %d, %a, %b;", MINUS(0), THREE, 0, MINUS(THREE)),
        F64("max.f64 %d, %a, %b;", D_ONE, D_THREE, 0, D_THREE),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, comparisons_with_nan)
{
    static const struct one ones[] = {
        PF("setp.lt.f32 %d, %a, %b;", ONE, TWO, 1),
        PF("setp.lt.f32 %d, %a, %b;", ONE, QUIET, 0),
        PF("setp.ltu.f32 %d, %a, %b;", ONE, QUIET, 1),
        PF("setp.ltu.f32 %d, %a, %b;", TWO, ONE, 0),
        PF("setp.eq.f32 %d, %a, %b;", QUIET, QUIET, 0),
        PF("setp.equ.f32 %d, %a, %b;", QUIET, ONE, 1),
        PF("setp.ne.f32 %d, %a, %b;", QUIET, ONE, 0),
        PF("setp.neu.f32 %d, %a, %b;", QUIET, ONE, 1),
        PF("setp.geu.f32 %d, %a, %b;", ONE, TWO, 0),
        PF("setp.gtu.f32 %d, %a, %b;", TWO, ONE, 1),
        PF("setp.leu.f32 %d, %a, %b;", TWO, ONE, 0),
        PF("setp.num.f32 %d, %a, %b;", ONE, QUIET, 0),
        PF("setp.nan.f32 %d, %a, %b;", ONE, QUIET, 1),
        PF("setp.eq.f32 %d, %a, %b;", 0, MINUS(0), 1),
        PF("testp.finite.f32 %d, %a;", INF, 0, 0),
        PF("testp.notanumber.f32 %d, %a;", QUIET, 0, 1),
        PF("testp.subnormal.f32 %d, %a;", SUBNORMAL, 0, 1),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, to_whole_numbers)
{
    static const struct one ones[] = {
        {"cvt.rzi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0xc0200000, 0, 0, (uint32_t)-2},
        {"cvt.rni.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0x40200000, 0, 0, 2},
        {"cvt.rni.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0x40600000, 0, 0, 4},
        {"cvt.rmi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0xc0200000, 0, 0, (uint32_t)-3},
        {"cvt.rpi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", 0x40200000, 0, 0, 3},
        {"cvt.rzi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", INF, 0, 0, 0x7fffffff},
        {"cvt.rzi.u32.f32 %d, %a;", "b32", "f32", "f32", "f32", MINUS(ONE), 0, 0, 0},
        {"cvt.rzi.s32.f32 %d, %a;", "b32", "f32", "f32", "f32", QUIET, 0, 0, 0},
        {"cvt.rzi.s64.f32 %d, %a;", "b64", "f32", "f32", "f32", QUIET, 0, 0, UINT64_C(1) << 63},
        {"cvt.rzi.u64.f64 %d, %a;", "b64", "f64", "f64", "f64", 0x43f0000000000000, 0, 0,
         UINT64_MAX},
        {"cvt.rzi.s32.f64 %d, %a;", "b32", "f64", "f64", "f64", 0x7ff8000000000000, 0, 0,
         0x80000000},
        {"cvt.rzi.u8.f32 %d, %a;", "b32", "f32", "f32", "f32", 0x43960000, 0, 0, 255},
        F32("cvt.rni.f32.f32 %d, %a;", 0x40200000, 0, 0, TWO),
        F32("cvt.rpi.f32.f32 %d, %a;", 0x40200000, 0, 0, THREE),
        F32("cvt.sat.f32.f32 %d, %a;", THREE, 0, 0, ONE),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, from_whole_numbers_and_between_widths)
{
    static const struct one ones[] = {
        {"cvt.rn.f32.s32 %d, %a;", "f32", "b32", "b32", "b32", 16777217, 0, 0, 0x4b800000},
        {"cvt.rp.f32.s32 %d, %a;", "f32", "b32", "b32", "b32", 16777217, 0, 0, 0x4b800001},
        {"cvt.rn.f32.u32 %d, %a;", "f32", "b32", "b32", "b32", 0xffffffff, 0, 0, 0x4f800000},
        {"cvt.rz.f32.u32 %d, %a;", "f32", "b32", "b32", "b32", 0xffffffff, 0, 0, 0x4f7fffff},
        {"cvt.rn.f64.s64 %d, %a;", "f64", "b64", "b64", "b64", UINT64_MAX, 0, 0,
         0xbff0000000000000},
        {"cvt.rn.f64.u64 %d, %a;", "f64", "b64", "b64", "b64", UINT64_MAX, 0, 0,
         0x43f0000000000000},
        {"cvt.rn.f32.u64 %d, %a;", "f32", "b64", "b64", "b64", 0x8000008000000001, 0, 0,
         0x5f000001},
        {"cvt.f64.f32 %d, %a;", "f64", "f32", "f32", "f32", ONE, 0, 0, D_ONE},
        {"cvt.rn.f32.f64 %d, %a;", "f32", "f64", "f64", "f64", 0x3fd5555555555555, 0, 0,
         0x3eaaaaab},
        {"cvt.rz.f32.f64 %d, %a;", "f32", "f64", "f64", "f64", 0x3fd5555555555555, 0, 0,
         0x3eaaaaaa},
        {"cvt.rn.f32.f64 %d, %a;", "f32", "f64", "f64", "f64", 0x7ff8000000000000, 0, 0, CANONICAL},
        {"cvt.rn.f16.f32 %d, %a;", "b16", "f32", "f32", "f32", ONE, 0, 0, 0x3c00},
        {"cvt.rn.f16.f32 %d, %a;", "b16", "f32", "f32", "f32", 0x477ff000, 0, 0, 0x7c00},
        {"cvt.rz.f16.f32 %d, %a;", "b16", "f32", "f32", "f32", 0x477ff000, 0, 0, 0x7bff},
        {"cvt.rn.f16.f32 %d, %a;", "b16", "f32", "f32", "f32", 0x33800000, 0, 0, 1},
        {"cvt.rn.f16.f32 %d, %a;", "b16", "f32", "f32", "f32", TINY, 0, 0, 0},
        {"cvt.f32.f16 %d, %a;", "f32", "b16", "b16", "b16", 0x0001, 0, 0, 0x33800000},
        {"cvt.f32.f16 %d, %a;", "f32", "b16", "b16", "b16", 0xfc00, 0, 0, MINUS(INF)},
    };

    CHECK_ALL(ones);
}

static float value_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof value);
    return value;
}

/* Errors that PTX ISA allows: 2^-22.5 and such; relative here. */
TEST(ptx_float, approximations_are_close)
{
    static const struct {
        const char *code;
        float a, b, want;
    } rows[] = {
        {"ex2.approx.f32 %d, %a;", 3.5f, 0, 11.313708f},
        {"ex2.approx.ftz.f32 %d, %a;", 3.5f, 0, 11.313708f},
        {"lg2.approx.f32 %d, %a;", 10, 0, 3.3219281f},
        {"sin.approx.f32 %d, %a;", 1, 0, 0.84147098f},
        {"cos.approx.f32 %d, %a;", 1, 0, 0.54030231f},
        {"tanh.approx.f32 %d, %a;", 0.5f, 0, 0.46211716f},
        {"rsqrt.approx.f32 %d, %a;", 2, 0, 0.70710678f},
        {"sqrt.approx.f32 %d, %a;", 2, 0, 1.4142135f},
        {"rcp.approx.ftz.f32 %d, %a;", 3, 0, 0.33333334f},
        {"div.approx.f32 %d, %a, %b;", 7, 3, 2.3333333f},
        {"div.full.f32 %d, %a, %b;", 7, 3, 2.3333333f},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct one one = F32(rows[i].code, 0, 0, 0, 0);
        memcpy(&one.va, &rows[i].a, sizeof(float));
        memcpy(&one.vb, &rows[i].b, sizeof(float));
        T_NEAR(value_of(run_one(&one)) / rows[i].want, 1, 0x1p-20);
    }
}

TEST(ptx_float, literals)
{
    static const struct one ones[] = {
        F32("mov.f32 %d, 0f3F800000;", 0, 0, 0, ONE),
        F32("add.f32 %d, %a, 0d3FF0000000000000;", ONE, 0, 0, TWO),
        F64("mov.f64 %d, 0d4008000000000000;", 0, 0, 0, D_THREE),
        F64("mov.f64 %d, 3.0;", 0, 0, 0, D_THREE),
        F64("mov.f64 %d, 0.3e1;", 0, 0, 0, D_THREE),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, signs_of_minimum_and_maximum)
{
    static const struct one ones[] = {
        F32("min.xorsign.abs.f32 %d, %a, %b;", MINUS(TWO), ONE, 0, MINUS(ONE)),
        F32("max.xorsign.abs.f32 %d, %a, %b;", MINUS(TWO), MINUS(ONE), 0, TWO),
        F32("max.NaN.xorsign.abs.f32 %d, %a, %b;", MINUS(TWO), QUIET, 0, CANONICAL),
        F32("min.ftz.NaN.f32 %d, %a, %b;", SUBNORMAL, ONE, 0, 0),
        F32("min.f32 %d, %a, %b, %c;", TWO, THREE, ONE, ONE),
        F32("max.f32 %d, %a, %b, %c;", TWO, QUIET, ONE, TWO),
        F32("max.NaN.f32 %d, %a, %b, %c;", TWO, QUIET, ONE, CANONICAL),
        F32("min.f32 %d, %a, %b, %c;", 0, MINUS(0), ONE, MINUS(0)),
    };

    CHECK_ALL(ones);
}

TEST(ptx_float, pairs_of_f32)
{
#define F32X2(text, a, b, c, want)                                                                 \
    {                                                                                              \
        text, "b64", "b64", "b64", "b64", a, b, c, want                                            \
    }
#define BOTH(high, low) ((uint64_t)(uint32_t)(high) << 32 | (uint32_t)(low))
    static const struct one ones[] = {
        F32X2("add.rn.f32x2 %d, %a, %b;", BOTH(ONE, TWO), BOTH(ONE, ONE), 0, BOTH(TWO, THREE)),
        F32X2("add.rp.f32x2 %d, %a, %b;", BOTH(ONE, ONE), BOTH(TINY, 0), 0, BOTH(ONE + 1, ONE)),
        F32X2("mul.ftz.f32x2 %d, %a, %b;", BOTH(SMALLEST, TWO), BOTH(HALF, HALF), 0, BOTH(0, ONE)),
        F32X2("fma.rn.f32x2 %d, %a, %b, %c;", BOTH(ONE + 1, TWO), BOTH(ONE - 2, ONE),
              BOTH(MINUS(ONE), ONE), BOTH(0xa8800000, THREE)),
    };

    CHECK_ALL(ones);
}

/* PTX ISA gives the special cases of the approximations. */
TEST(ptx_float, special_cases_of_approximations)
{
    static const struct one ones[] = {
        F32("div.approx.f32 %d, %a, %b;", ONE, 0x7e800001, 0, 0),
        F32("div.approx.f32 %d, %a, %b;", INF, 0x7e800001, 0, CANONICAL),
        F32("div.full.f32 %d, %a, %b;", 0x7e800000, 0x7e800000, 0, ONE),
        F32("rcp.approx.ftz.f32 %d, %a;", MINUS(SUBNORMAL), 0, 0, MINUS(INF)),
        F32("rsqrt.approx.ftz.f32 %d, %a;", SUBNORMAL, 0, 0, INF),
        F32("rsqrt.approx.f32 %d, %a;", MINUS(ONE), 0, 0, CANONICAL),
        F32("sqrt.approx.f32 %d, %a;", MINUS(0), 0, 0, MINUS(0)),
        F32("lg2.approx.ftz.f32 %d, %a;", SUBNORMAL, 0, 0, MINUS(INF)),
        F32("lg2.approx.f32 %d, %a;", MINUS(ONE), 0, 0, CANONICAL),
        F32("ex2.approx.ftz.f32 %d, %a;", MINUS(INF), 0, 0, 0),
        F32("ex2.approx.f32 %d, %a;", 0xc3140000, 0, 0, 2), /* 2^-148 */
        F32("sin.approx.f32 %d, %a;", INF, 0, 0, CANONICAL),
        F32("tanh.approx.f32 %d, %a;", MINUS(INF), 0, 0, MINUS(ONE)),
        F64("rcp.approx.ftz.f64 %d, %a;", 0x000fffffffffffff, 0, 0, 0x7ff0000000000000),
        F64("rcp.approx.ftz.f64 %d, %a;", 0x7fefffffffffffff, 0, 0, 0),
        F64("rcp.approx.ftz.f64 %d, %a;", 0x4000000000000000, 0, 0, 0x3fe0000000000000),
    };

    CHECK_ALL(ones);
}
