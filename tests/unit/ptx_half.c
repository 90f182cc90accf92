/* ptx_half.c: f16 and bf16, single and in pairs: results are the exact ones rounded once, with the
 * modifiers' flushing, clamping and choices. */
#include "ptx_one.h"
#include "ptx_small.h"

static uint32_t in[BATCH][3], out[BATCH];

/* Encodings of like size, so that the exact result is at hand; one in 16 is special. */
static void fill_random(const struct small *f, uint64_t seed)
{
    static const uint32_t special[] = {0, 1, 2, 0x3c00, 0x3f80, 0x7bff, 0x7f7f, 0x7c00, 0x7f80};

    for (unsigned i = 0; i < BATCH; i++) {
        uint32_t high = small_random(&seed) & 0x7fff;
        for (unsigned k = 0; k < 3; k++) {
            uint32_t code = small_random(&seed) & 0x7fff;
            if (f == &BF16)
                code = 0x3000 + code % 0x1000; /* 2^-31 to 2 */
            else if (i % 2)
                code = (high + code % 0x1000) % 0x7c00;
            if (small_random(&seed) % 16 == 0)
                code = special[small_random(&seed) % 9];
            in[i][k] = code | (small_random(&seed) & 0x8000);
        }
    }
}

enum operation { ADD, SUB, MUL, FMA };

static exact result(enum operation op, exact a, exact b, exact c)
{
    switch (op) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    default: return a * b + c;
    }
}

static void check_rounding(const struct small *f, const char *code, enum operation op)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        fill_random(f, seed);
        run_batch(code, (const uint32_t(*)[3])in, out);
        for (unsigned i = 0; i < BATCH; i++) {
            exact x = result(op, small_value(f, in[i][0]), small_value(f, in[i][1]),
                             small_value(f, in[i][2]));
            uint32_t want = small_round(f, x, 'n');
            if (out[i] != want)
                T_FAIL("%s of %04x, %04x, %04x: %04x, wanted %04x", code, in[i][0], in[i][1],
                       in[i][2], out[i], want);
        }
    }
}

TEST(ptx_half, f16_results_are_rounded_once)
{
    check_rounding(&F16, "h:add.f16 %hd, %ha, %hb;", ADD);
    check_rounding(&F16, "h:add.rn.f16 %hd, %ha, %hb;", ADD);
    check_rounding(&F16, "h:sub.f16 %hd, %ha, %hb;", SUB);
    check_rounding(&F16, "h:mul.f16 %hd, %ha, %hb;", MUL);
    check_rounding(&F16, "h:fma.rn.f16 %hd, %ha, %hb, %hc;", FMA);
}

TEST(ptx_half, bf16_results_are_rounded_once)
{
    check_rounding(&BF16, "h:add.bf16 %hd, %ha, %hb;", ADD);
    check_rounding(&BF16, "h:sub.rn.bf16 %hd, %ha, %hb;", SUB);
    check_rounding(&BF16, "h:mul.bf16 %hd, %ha, %hb;", MUL);
    check_rounding(&BF16, "h:fma.rn.bf16 %hd, %ha, %hb, %hc;", FMA);
}

#define H(text, a, b, c, want)                                                                     \
    {                                                                                              \
        text, "b16", "b16", "b16", "b16", a, b, c, want                                            \
    }
#define W(text, a, b, c, want)                                                                     \
    {                                                                                              \
        text, "b32", "b32", "b32", "b32", a, b, c, want                                            \
    }
#define P(text, a, b, want)                                                                        \
    {                                                                                              \
        text, "pred", "b16", "b16", "b16", a, b, 0, want                                           \
    }

/* A tie that only the tiny addend decides: (1 + 2^-7)(1.5) + 2^-100 in bf16 lies above the middle
 * of two neighbours, by less than any double shows. */
TEST(ptx_half, a_far_addend_decides_a_tie)
{
    static const struct one ones[] = {
        H("fma.rn.bf16 %d, %a, %b, %c;", 0x3f81, 0x3fc0, 0, 0x3fc2),
        H("fma.rn.bf16 %d, %a, %b, %c;", 0x3f81, 0x3fc0, 0x0d80, 0x3fc2),
        H("fma.rn.bf16 %d, %a, %b, %c;", 0x3f81, 0x3fc0, 0x8d80, 0x3fc1),
        H("fma.rn.bf16 %d, %a, %b, %c;", 0x3f83, 0x3fc0, 0, 0x3fc4),
        H("fma.rn.bf16 %d, %a, %b, %c;", 0x3f83, 0x3fc0, 0x0d80, 0x3fc5),
        H("fma.rn.bf16 %d, %a, %b, %c;", 0xbf83, 0x3fc0, 0x8d80, 0xbfc5),
    };

    CHECK_ALL(ones);
}

TEST(ptx_half, flushing_and_clamping)
{
    static const struct one ones[] = {
        H("add.f16 %d, %a, %b;", 1, 1, 0, 2),
        H("add.ftz.f16 %d, %a, %b;", 1, 1, 0, 0),
        H("mul.ftz.f16 %d, %a, %b;", 0x8400, 0x3800, 0, 0x8000),
        H("mul.f16 %d, %a, %b;", 0x8400, 0x3800, 0, 0x8200),
        H("add.sat.f16 %d, %a, %b;", 0x3c00, 0x3c00, 0, 0x3c00),
        H("add.sat.f16 %d, %a, %b;", 0x3c00, 0xc000, 0, 0),
        H("add.sat.f16 %d, %a, %b;", 0x7c00, 0xfc00, 0, 0),
        H("fma.rn.sat.f16 %d, %a, %b, %c;", 0x3800, 0x3800, 0, 0x3400),
        H("fma.rn.relu.f16 %d, %a, %b, %c;", 0x3c00, 0xbc00, 0, 0),
        H("fma.rn.relu.f16 %d, %a, %b, %c;", 0x3c00, 0x3c00, 0, 0x3c00),
        H("fma.rn.relu.bf16 %d, %a, %b, %c;", 0x7f80, 0, 0, 0x7fff),
        H("fma.rn.f16 %d, %a, %b, %c;", 0x7bff, 0x4000, 0, 0x7c00),
        H("neg.f16 %d, %a;", 0x3c00, 0, 0, 0xbc00),
        H("abs.bf16 %d, %a;", 0xbf80, 0, 0, 0x3f80),
        H("abs.ftz.f16 %d, %a;", 0x8001, 0, 0, 0),
    };

    CHECK_ALL(ones);
}

TEST(ptx_half, minimum_and_maximum)
{
    static const struct one ones[] = {
        H("min.f16 %d, %a, %b;", 0x3c00, 0xbc00, 0, 0xbc00),
        H("max.f16 %d, %a, %b;", 0x3c00, 0xbc00, 0, 0x3c00),
        H("min.f16 %d, %a, %b;", 0, 0x8000, 0, 0x8000),
        H("max.bf16 %d, %a, %b;", 0x8000, 0, 0, 0),
        H("min.f16 %d, %a, %b;", 0x7e00, 0x3c00, 0, 0x3c00),
        H("max.f16 %d, %a, %b;", 0x3c00, 0xfe00, 0, 0x3c00),
        H("max.f16 %d, %a, %b;", 0x7e00, 0xfe00, 0, 0x7fff),
        H("min.NaN.f16 %d, %a, %b;", 0x7e00, 0x3c00, 0, 0x7fff),
        H("max.NaN.bf16 %d, %a, %b;", 0x3f80, 0x7fc0, 0, 0x7fff),
        H("min.xorsign.abs.f16 %d, %a, %b;", 0xc000, 0x3c00, 0, 0xbc00),
        H("max.xorsign.abs.f16 %d, %a, %b;", 0xc000, 0xbc00, 0, 0x4000),
        H("min.NaN.xorsign.abs.bf16 %d, %a, %b;", 0xc000, 0xbf80, 0, 0x3f80),
        H("max.ftz.f16 %d, %a, %b;", 0x8001, 0x8400, 0, 0x8000),
    };

    CHECK_ALL(ones);
}

/* The lower half of a word is lane 0. */
TEST(ptx_half, pairs)
{
    static const struct one ones[] = {
        W("add.f16x2 %d, %a, %b;", 0x3c004000, 0x3c003c00, 0, 0x40004200),
        W("sub.bf16x2 %d, %a, %b;", 0x3f804000, 0x3f803f80, 0, 0x00003f80),
        W("mul.f16x2 %d, %a, %b;", 0x7bff3c00, 0x4000bc00, 0, 0x7c00bc00),
        W("fma.rn.f16x2 %d, %a, %b, %c;", 0x40004200, 0x42004000, 0x3c00c000, 0x47004400),
        W("fma.rn.relu.bf16x2 %d, %a, %b, %c;", 0x3f80bf80, 0x3f803f80, 0, 0x3f800000),
        W("neg.f16x2 %d, %a;", 0x3c00c000, 0, 0, 0xbc004000),
        W("abs.bf16x2 %d, %a;", 0xbf80c000, 0, 0, 0x3f804000),
        W("min.NaN.f16x2 %d, %a, %b;", 0x7e003c00, 0x3c00bc00, 0, 0x7fffbc00),
        W("max.bf16x2 %d, %a, %b;", 0x7fc03f80, 0x3f804000, 0, 0x3f804000),
        W("add.sat.f16x2 %d, %a, %b;", 0x3c00bc00, 0x3c000000, 0, 0x3c000000),
    };

    CHECK_ALL(ones);
}

TEST(ptx_half, comparisons)
{
    static const struct one ones[] = {
        P("setp.lt.f16 %d, %a, %b;", 0x3c00, 0x4000, 1),
        P("setp.lt.f16 %d, %a, %b;", 0xbc00, 0xc000, 0),
        P("setp.lt.f16 %d, %a, %b;", 0x3c00, 0x7e00, 0),
        P("setp.ltu.bf16 %d, %a, %b;", 0x3f80, 0x7fc0, 1),
        P("setp.eq.f16 %d, %a, %b;", 0, 0x8000, 1),
        P("setp.eq.f16 %d, %a, %b;", 1, 0, 0),
        P("setp.eq.ftz.f16 %d, %a, %b;", 1, 0, 1),
        P("setp.nan.bf16 %d, %a, %b;", 0x7fc0, 0x3f80, 1),
        P("setp.num.f16 %d, %a, %b;", 0x3c00, 0x3c00, 1),
        H("set.gt.f16.f16 %d, %a, %b;", 0x4000, 0x3c00, 0, 0x3c00),
        H("set.gt.bf16.bf16 %d, %a, %b;", 0x4000, 0x3f80, 0, 0x3f80),
        H("set.le.u16.f16 %d, %a, %b;", 0x3c00, 0x3c00, 0, 0xffff),
        H("set.lt.u16.f16 %d, %a, %b;", 0x3c00, 0x3c00, 0, 0),
        {"set.ne.u32.f16 %d, %a, %b;", "b32", "b16", "b16", "b16", 0x3c00, 0x3c01, 0, 0xffffffff},
        W("set.eq.f16x2.f16x2 %d, %a, %b;", 0x3c004000, 0x3c003c00, 0, 0x3c000000),
        W("set.lt.u32.bf16x2 %d, %a, %b;", 0x3f803f80, 0x3f804000, 0, 0x0000ffff),
        W("set.nan.bf16x2.bf16x2 %d, %a, %b;", 0x7fc03f80, 0, 0, 0x3f800000),
    };

    CHECK_ALL(ones);
}

/* The first target is the lower lane's result, the second the upper one's, each joined with %r. */
TEST(ptx_half, pairs_set_two_predicates)
{
#define PAIR_TEST(compare)                                                                         \
    ".reg .pred %p, %q, %r; setp.ne.b32 %r, %c, 0; setp." compare " %p|%q, %a, %b, %r;\n"          \
    ".reg .b32 %x, %y; selp.b32 %x, 1, 0, %p; selp.b32 %y, 2, 0, %q; or.b32 %d, %x, %y;"
    static const struct one ones[] = {
        W(PAIR_TEST("lt.and.f16x2"), 0x3c003c00, 0x3c004000, 1, 1),
        W(PAIR_TEST("lt.and.f16x2"), 0x3c003c00, 0x40003c00, 1, 2),
        W(PAIR_TEST("lt.and.f16x2"), 0x3c003c00, 0x40004000, 0, 0),
        W(PAIR_TEST("gt.or.bf16x2"), 0x40003f80, 0x3f803f80, 0, 2),
        W(PAIR_TEST("eq.xor.bf16x2"), 0x40003f80, 0x3f803f80, 1, 2),
    };

    CHECK_ALL(ones);
}

/* PTX ISA bounds the errors at 2^-9.9 (ex2 of f16), 2^-10.987 (tanh of f16), 2^-7 (ex2 of bf16) and
 * 2^-8 (tanh of bf16). */
TEST(ptx_half, approximations_are_close)
{
    static const struct {
        const char *code;
        const struct small *format;
        uint32_t a;
        double want, bound;
    } rows[] = {
        {"ex2.approx.f16 %d, %a;", &F16, 0x4300, 11.313708499, 0x1p-9},
        {"ex2.approx.ftz.bf16 %d, %a;", &BF16, 0x4060, 11.313708499, 0x1p-7},
        {"tanh.approx.f16 %d, %a;", &F16, 0x3800, 0.46211715726, 0x1p-10},
        {"tanh.approx.bf16 %d, %a;", &BF16, 0xbf00, -0.46211715726, 0x1p-7},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct one one = H(rows[i].code, rows[i].a, 0, 0, 0);
        double got = (double)small_value(rows[i].format, (uint32_t)run_one(&one));
        T_NEAR(got / rows[i].want, 1, rows[i].bound);
    }
}
