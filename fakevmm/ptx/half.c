/* half.c: arithmetic on f16 and bf16 (PTX ISA, "Half Precision Floating Point Instructions"): in
 * double, then rounded once. */
#include "half.h"

#include <math.h>

enum { SIGN = 0x8000, CANONICAL_NAN = 0x7fff };

static bool is_subnormal(uint16_t bits, enum ptx_narrow format)
{
    uint16_t smallest = format == PTX_NARROW_f16 ? 0x0400 : 0x0080;

    return (bits & ~SIGN & 0xffff) < smallest;
}

static uint16_t flush(uint16_t bits, enum ptx_narrow format, unsigned flags)
{
    return (flags & PTX_HALF_FTZ) && is_subnormal(bits, format) ? bits & SIGN : bits;
}

float ptx_half_lane(uint32_t bits, enum ptx_narrow format, unsigned lane, bool ftz)
{
    uint16_t half = (uint16_t)(bits >> 16 * lane);

    return (float)ptx_widen(flush(half, format, ftz ? PTX_HALF_FTZ : 0), format);
}

/* min or max: -0 is less than +0, and a NaN loses unless flags say otherwise. */
static uint16_t choose(uint16_t a, uint16_t b, bool greater, enum ptx_narrow format, unsigned flags)
{
    uint16_t sign = flags & PTX_HALF_XORSIGN ? (a ^ b) & SIGN : 0, result;
    double x, y;

    if (flags & PTX_HALF_XORSIGN) {
        a &= (uint16_t)~SIGN;
        b &= (uint16_t)~SIGN;
    }
    x = ptx_widen(a, format);
    y = ptx_widen(b, format);
    if ((isnan(x) && isnan(y)) || ((flags & PTX_HALF_NAN) && isunordered(x, y)))
        return CANONICAL_NAN;
    if (isnan(x) || isnan(y))
        result = isnan(x) ? b : a;
    else if (x == y)
        result = ((a & SIGN) != 0) == greater ? b : a;
    else
        result = (x > y) == greater ? a : b;
    return result ^ sign;
}

/* The result before it is rounded. */
static double compute(enum ptx_half_op op, double a, double b, double c)
{
    switch (op) {
    case PTX_HALF_add: return a + b;
    case PTX_HALF_sub: return a - b;
    case PTX_HALF_mul: return a * b;
    case PTX_HALF_fma: return ptx_narrow_fma(a, b, c);
    case PTX_HALF_ex2: return exp2(a);
    default: return tanh(a);
    }
}

static uint16_t round_result(double x, enum ptx_narrow format, unsigned flags)
{
    if (flags & PTX_HALF_SAT)
        x = x > 0 ? (x < 1 ? x : 1) : 0;
    if ((flags & PTX_HALF_RELU) && x <= 0)
        return 0;
    return flush((uint16_t)ptx_narrow(x, format, PTX_RN, false), format, flags);
}

static uint16_t one_lane(enum ptx_half_op op, uint16_t a, uint16_t b, uint16_t c,
                         enum ptx_narrow format, unsigned flags)
{
    a = flush(a, format, flags);
    b = flush(b, format, flags);
    c = flush(c, format, flags);
    switch (op) {
    case PTX_HALF_neg: return a ^ SIGN;
    case PTX_HALF_abs: return a & (uint16_t)~SIGN;
    case PTX_HALF_min:
    case PTX_HALF_max: return choose(a, b, op == PTX_HALF_max, format, flags);
    default:
        return round_result(
            compute(op, ptx_widen(a, format), ptx_widen(b, format), ptx_widen(c, format)), format,
            flags);
    }
}

/* The usual case: no modifier, and an operation that is rounded. */
static inline uint16_t simple_lane(enum ptx_half_op op, uint16_t a, uint16_t b, uint16_t c,
                                   enum ptx_narrow format)
{
    double x = ptx_widen(a, format), y = ptx_widen(b, format), z = 0;

    if (op == PTX_HALF_fma)
        z = ptx_widen(c, format);
    return (uint16_t)ptx_narrow(compute(op, x, y, z), format, PTX_RN, false);
}

static uint16_t any_lane(enum ptx_half_op op, uint16_t a, uint16_t b, uint16_t c,
                         enum ptx_narrow format, unsigned flags)
{
    if (op <= PTX_HALF_fma && !(flags & ~(unsigned)PTX_HALF_PAIR))
        return simple_lane(op, a, b, c, format);
    return one_lane(op, a, b, c, format, flags);
}

uint32_t ptx_half(uint32_t a, uint32_t b, uint32_t c, int32_t half)
{
    enum ptx_half_op op = half & 0xff;
    enum ptx_narrow format = half >> 8 & 0xff;
    unsigned flags = (unsigned)half >> 16;
    uint32_t low = any_lane(op, (uint16_t)a, (uint16_t)b, (uint16_t)c, format, flags);

    if (!(flags & PTX_HALF_PAIR))
        return low;
    return low | (uint32_t)any_lane(op, (uint16_t)(a >> 16), (uint16_t)(b >> 16),
                                    (uint16_t)(c >> 16), format, flags)
                     << 16;
}
