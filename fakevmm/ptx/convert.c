/* convert.c: the cvt instruction and rounding modes (PTX ISA, "cvt"). */
#include "arith.h"
#include "convert.h"

#include <fenv.h>

struct type_info {
    unsigned char bytes;
    char kind;
};

static const struct type_info types[] = {
#define X(name, bytes, kind) [PTX_##name] = {bytes, kind},
    PTX_TYPES(X)
#undef X
};

void ptx_round(int mode)
{
    static const int modes[] = {[PTX_RN] = FE_TONEAREST,
                                [PTX_RZ] = FE_TOWARDZERO,
                                [PTX_RM] = FE_DOWNWARD,
                                [PTX_RP] = FE_UPWARD};
    fesetround(modes[mode]);
}

static double round_whole(double x, enum ptx_rounding rounding)
{
    switch (rounding) {
    case PTX_RN:
    case PTX_RNI: return nearbyint(x);
    case PTX_RZ:
    case PTX_RZI: return trunc(x);
    case PTX_RM:
    case PTX_RMI: return floor(x);
    case PTX_RP:
    case PTX_RPI: return ceil(x);
    default: return x;
    }
}

/* ---- 16-bit floats: sign, exponent, `fraction` bits ---- */

static double half_to_double(uint16_t bits, int fraction)
{
    int exponent = (bits & 0x7fff) >> fraction;
    int bias = (1 << (14 - fraction)) - 1;
    int mantissa = bits & ((1 << fraction) - 1);
    double magnitude;

    if (exponent == (1 << (15 - fraction)) - 1)
        magnitude = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexp(mantissa, 1 - bias - fraction);
    else
        magnitude = ldexp(mantissa + (1 << fraction), exponent - bias - fraction);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* What a magnitude beyond the largest finite one rounds to: its encoding. */
static uint16_t half_overflow(bool negative, int fraction, enum ptx_rounding rounding)
{
    uint16_t infinity = (uint16_t)(((1 << (15 - fraction)) - 1) << fraction);
    bool down =
        rounding == PTX_RZ || (rounding == PTX_RM && !negative) || (rounding == PTX_RP && negative);

    return (uint16_t)((down ? infinity - 1 : infinity) | (negative ? 0x8000 : 0));
}

static uint16_t double_to_half(double x, int fraction, enum ptx_rounding rounding)
{
    int bias = (1 << (14 - fraction)) - 1;
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    double units;

    if (isnan(x))
        return 0x7fff;
    if (isinf(x))
        return half_overflow(sign, fraction, PTX_RN);
    if (x == 0)
        return sign;
    exponent = ilogb(x) < 1 - bias ? 1 - bias : ilogb(x);
    units = fabs(round_whole(ldexp(x, fraction - exponent), rounding ? rounding : PTX_RN));
    if (units >= 2 << fraction) {
        units /= 2;
        exponent++;
    }
    if (exponent > bias)
        return half_overflow(sign, fraction, rounding ? rounding : PTX_RN);
    if (units < 1 << fraction)
        return sign | (uint16_t)units;
    return sign | (uint16_t)(((exponent + bias) << fraction) + (int)units - (1 << fraction));
}

/* ---- whole numbers ---- */

static void put_integer(union ptx_slot *to, enum ptx_type type, uint64_t bits)
{
    unsigned drop = 64 - 8 * types[type].bytes;

    if (types[type].kind == 's')
        to->s64 = (int64_t)(bits << drop) >> drop;
    else
        to->u64 = bits << drop >> drop;
}

static __int128 get_integer(const union ptx_slot *from, enum ptx_type type)
{
    union ptx_slot whole;

    put_integer(&whole, type, from->u64);
    return types[type].kind == 's' ? (__int128)whole.s64 : (__int128)whole.u64;
}

static __int128 highest(enum ptx_type type)
{
    return ((__int128)1 << (8 * types[type].bytes - (types[type].kind == 's'))) - 1;
}

static __int128 lowest(enum ptx_type type)
{
    return types[type].kind == 's' ? -highest(type) - 1 : 0;
}

static void integer_to_integer(union ptx_slot *to, __int128 value, enum ptx_type type,
                               bool saturate)
{
    if (saturate && value > highest(type))
        value = highest(type);
    if (saturate && value < lowest(type))
        value = lowest(type);
    put_integer(to, type, (uint64_t)value);
}

/* Out of range is clamped; NaN gives 0, but from f64 and to 64 bits the top bit alone. */
static void float_to_integer(union ptx_slot *to, double x, enum ptx_type from, enum ptx_type type,
                             enum ptx_rounding rounding)
{
    x = round_whole(x, rounding);
    if (isnan(x) && (from == PTX_f64 || types[type].bytes == 8))
        put_integer(to, type, UINT64_C(1) << (8 * types[type].bytes - 1));
    else if (isnan(x))
        to->u64 = 0;
    else if (x >= (double)highest(type))
        put_integer(to, type, (uint64_t)highest(type));
    else if (x <= (double)lowest(type))
        put_integer(to, type, (uint64_t)lowest(type));
    else
        put_integer(to, type, (uint64_t)(__int128)x);
}

/* ---- floats ---- */

static double get_float(const union ptx_slot *from, enum ptx_type type, bool flush)
{
    switch (type) {
    case PTX_f16: return half_to_double(from->u16, 10);
    case PTX_bf16: return half_to_double(from->u16, 7);
    case PTX_f32: return flush ? ptx_flush(from->f32) : from->f32;
    default: return from->f64;
    }
}

static void put_float(union ptx_slot *to, enum ptx_type type, double x, enum ptx_rounding rounding,
                      bool flush)
{
    bool directed = rounding >= PTX_RZ && rounding <= PTX_RP;

    switch (type) {
    case PTX_f16: to->u64 = double_to_half(x, 10, directed ? rounding : PTX_RN); return;
    case PTX_bf16: to->u64 = double_to_half(x, 7, directed ? rounding : PTX_RN); return;
    case PTX_f32:
        ptx_round(directed ? rounding : PTX_RN);
        to->f32 = ptx_nan_f32((float)x);
        ptx_round(PTX_RN);
        if (flush)
            to->f32 = ptx_flush(to->f32);
        return;
    default: to->f64 = x;
    }
}

/* From a whole number straight to the target's precision, so that it is rounded once. */
static void integer_to_float(union ptx_slot *to, __int128 value, enum ptx_type type,
                             enum ptx_rounding rounding)
{
    bool beyond = value > INT64_MAX;
    double wide;

    ptx_round(rounding >= PTX_RN && rounding <= PTX_RP ? rounding : PTX_RN);
    if (type == PTX_f32)
        to->f32 = beyond ? (float)(uint64_t)value : (float)(int64_t)value;
    wide = beyond ? (double)(uint64_t)value : (double)(int64_t)value;
    ptx_round(PTX_RN);
    if (type != PTX_f32)
        put_float(to, type, wide, rounding, false);
}

void ptx_convert(union ptx_slot *to, const union ptx_slot *from, uint32_t conversion)
{
    enum ptx_type target = conversion & 0xff, source = conversion >> 8 & 0xff;
    enum ptx_rounding rounding = conversion >> 16 & 0xff;
    bool saturate = conversion >> 24 & 1, flush = conversion >> 25 & 1;
    double x;

    if (types[source].kind != 'f') {
        __int128 value = get_integer(from, source);
        if (types[target].kind != 'f')
            integer_to_integer(to, value, target, saturate);
        else
            integer_to_float(to, value, target, rounding);
        return;
    }
    x = get_float(from, source, flush);
    if (types[target].kind != 'f') {
        float_to_integer(to, x, source, target, rounding);
        return;
    }
    if (rounding >= PTX_RNI)
        x = round_whole(x, rounding);
    if (saturate)
        x = x > 0 ? (x < 1 ? x : 1) : 0;
    put_float(to, target, x, rounding, flush);
}
