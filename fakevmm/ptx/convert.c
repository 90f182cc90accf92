/* convert.c: the cvt instruction and rounding modes (PTX ISA, "cvt"). */
#include "convert.h"
#include "arith.h"

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

static enum ptx_narrow format_of(enum ptx_type type)
{
    return type == PTX_f16 ? PTX_NARROW_f16 : type == PTX_bf16 ? PTX_NARROW_bf16 : PTX_NARROW_NONE;
}

static double get_float(const union ptx_slot *from, enum ptx_type type, bool flush)
{
    switch (type) {
    case PTX_f16: return ptx_widen(from->u16, PTX_NARROW_f16);
    case PTX_bf16: return ptx_widen(from->u16, PTX_NARROW_bf16);
    case PTX_f32: return flush ? ptx_flush(from->f32) : from->f32;
    default: return from->f64;
    }
}

static bool is_directed(enum ptx_rounding rounding)
{
    return rounding >= PTX_RZ && rounding <= PTX_RP;
}

static float to_single(double x, enum ptx_rounding rounding)
{
    volatile float rounded;

    if (!is_directed(rounding))
        return ptx_nan_f32((float)x);
    ptx_round(rounding);
    rounded = (float)x;
    ptx_round(PTX_RN);
    return ptx_nan_f32(rounded);
}

static void put_float(union ptx_slot *to, enum ptx_type type, double x, enum ptx_rounding rounding,
                      unsigned flags)
{
    if (format_of(type)) {
        to->u64 = ptx_narrow(x, format_of(type), is_directed(rounding) ? rounding : PTX_RN,
                             flags & PTX_CONVERT_FINITE);
    } else if (type == PTX_f32) {
        to->f32 = to_single(x, rounding);
        if (flags & PTX_CONVERT_FTZ)
            to->f32 = ptx_flush(to->f32);
    } else {
        to->f64 = x;
    }
}

/* A double on the same side of all ties of narrow formats as the number. */
static double sticky_double(__int128 value)
{
    uint64_t magnitude = (uint64_t)(value < 0 ? -value : value);
    double x;

    if (magnitude >> 53 && (magnitude & 0x7ff))
        magnitude = (magnitude & ~UINT64_C(0x7ff)) | 0x800;
    x = (double)magnitude;
    return value < 0 ? -x : x;
}

/* From a whole number straight to the target's precision, so that it is rounded once. */
static void integer_to_float(union ptx_slot *to, __int128 value, enum ptx_type type,
                             enum ptx_rounding rounding, unsigned flags)
{
    bool beyond = value > INT64_MAX, directed = is_directed(rounding);

    if (format_of(type)) {
        put_float(to, type, sticky_double(value), rounding, flags);
        return;
    }
    if (directed)
        ptx_round(rounding);
    if (type == PTX_f32)
        to->f32 = beyond ? (float)(uint64_t)value : (float)(int64_t)value;
    else
        to->f64 = beyond ? (double)(uint64_t)value : (double)(int64_t)value;
    if (directed)
        ptx_round(PTX_RN);
}

static double limit(double x, unsigned flags)
{
    if (flags & PTX_CONVERT_SAT)
        return x > 0 ? (x < 1 ? x : 1) : 0;
    return (flags & PTX_CONVERT_RELU) && x <= 0 ? 0 : x;
}

void ptx_convert(union ptx_slot *to, const union ptx_slot *from, uint32_t conversion)
{
    enum ptx_type target = conversion & 0xff, source = conversion >> 8 & 0xff;
    enum ptx_rounding rounding = conversion >> 16 & 0xff;
    unsigned flags = conversion >> 24;
    double x;

    if (types[source].kind != 'f') {
        __int128 value = get_integer(from, source);
        if (types[target].kind != 'f')
            integer_to_integer(to, value, target, flags & PTX_CONVERT_SAT);
        else
            integer_to_float(to, value, target, rounding, flags);
        return;
    }
    x = get_float(from, source, flags & PTX_CONVERT_FTZ);
    if (types[target].kind != 'f') {
        float_to_integer(to, x, source, target, rounding);
        return;
    }
    if (rounding >= PTX_RNI)
        x = round_whole(x, rounding);
    put_float(to, target, limit(x, flags), rounding, flags);
}

int32_t ptx_truncate_s32(float x)
{
    if (x >= 0x1p31f)
        return INT32_MAX;
    if (x < -0x1p31f)
        return INT32_MIN;
    return x == x ? (int32_t)x : 0;
}

/* ---- pairs ---- */

/* Bits from one lane of a pair to the next; those of 6 bits have 8 each. */
static unsigned lane_bits(enum ptx_narrow format)
{
    switch (format) {
    case PTX_NARROW_f16:
    case PTX_NARROW_bf16: return 16;
    case PTX_NARROW_e2m1: return 4;
    default: return 8;
    }
}

static uint32_t to_lane(double x, uint32_t conversion)
{
    unsigned flags = conversion >> 24;
    enum ptx_rounding rounding = conversion >> 16 & 0xff;

    return ptx_narrow(limit(x, flags), conversion & 0xff, rounding, flags & PTX_CONVERT_FINITE);
}

uint32_t ptx_convert_pair(union ptx_slot a, union ptx_slot b, uint32_t conversion)
{
    enum ptx_narrow to = conversion & 0xff, from = conversion >> 8 & 0xff;
    bool flush = conversion >> 24 & PTX_CONVERT_FTZ;
    double high, low;

    if (from) {
        high = ptx_widen(a.u32 >> lane_bits(from), from);
        low = ptx_widen(a.u32, from);
    } else {
        high = get_float(&a, PTX_f32, flush);
        low = get_float(&b, PTX_f32, flush);
    }
    return to_lane(high, conversion) << lane_bits(to) | to_lane(low, conversion);
}

uint32_t ptx_convert_tf32(float x, uint32_t conversion)
{
    return to_lane(x, conversion | PTX_NARROW_tf32) << 13;
}

uint32_t ptx_convert_pack(int32_t a, int32_t b, uint32_t c, unsigned bits, bool sign)
{
    int32_t most = (1 << (bits - sign)) - 1, least = sign ? -most - 1 : 0;
    uint32_t mask = (1u << bits) - 1;
    uint32_t high = (uint32_t)(a > most ? most : a < least ? least : a) & mask;
    uint32_t low = (uint32_t)(b > most ? most : b < least ? least : b) & mask;

    return (bits < 16 ? c << 2 * bits : 0) | high << bits | low;
}
