/* narrow.c: encodings of floats of less than 32 bits (PTX ISA, "Alternate Floating-Point Data
 * Formats"). All of it is integer arithmetic on the bits of a double, so that no rounding mode of
 * the host matters. */
#include "narrow.h"

#include <math.h>
#include <string.h>

struct format {
    unsigned bits, exponent, fraction;
    uint32_t largest;
    bool infinity;
    uint32_t nan;
};

static const struct format formats[] = {
#define X(name, bits, exponent, fraction, largest, infinity, nan)                                  \
    [PTX_NARROW_##name] = {bits, exponent, fraction, largest, infinity, nan},
    PTX_NARROW(X)
#undef X
};

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { DOUBLE_FRACTION = 52, DOUBLE_BIAS = 1023, DOUBLE_SPECIAL = 0x7ff };

static uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double from_bits(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static ALWAYS_INLINE double widen(uint32_t bits, const struct format *format)
{
    unsigned bias = (1u << (format->exponent - 1)) - 1;
    uint64_t sign = (uint64_t)(bits >> (format->bits - 1) & 1) << 63;
    uint32_t magnitude = bits & ((1u << (format->bits - 1)) - 1);
    unsigned exponent = magnitude >> format->fraction, lift = DOUBLE_FRACTION - format->fraction;
    double small;

    if (magnitude > format->largest)
        return format->infinity && magnitude == format->largest + 1
                   ? from_bits(sign | (uint64_t)DOUBLE_SPECIAL << DOUBLE_FRACTION)
                   : NAN;
    if (exponent)
        return from_bits(sign | (((uint64_t)magnitude << lift) +
                                 ((uint64_t)(DOUBLE_BIAS - bias) << DOUBLE_FRACTION)));
    small = magnitude *
            from_bits((uint64_t)(DOUBLE_BIAS + 1 - bias - format->fraction) << DOUBLE_FRACTION);
    return sign ? -small : small;
}

/* The compiler makes code of its own for the formats that matter, where all numbers of the format
 * are constants. */
double ptx_widen(uint32_t bits, enum ptx_narrow format)
{
    switch (format) {
    case PTX_NARROW_f16: return widen(bits, &formats[PTX_NARROW_f16]);
    case PTX_NARROW_bf16: return widen(bits, &formats[PTX_NARROW_bf16]);
    default: return widen(bits, &formats[format]);
    }
}

/* `significand` without its lowest `shift` bits. */
static ALWAYS_INLINE uint64_t round_off(uint64_t significand, unsigned shift, bool negative,
                                        enum ptx_rounding rounding)
{
    uint64_t kept = significand >> shift, half = UINT64_C(1) << (shift - 1);
    uint64_t rest = significand & (2 * half - 1);

    switch (rounding) {
    case PTX_RZ: return kept;
    case PTX_RM: return kept + (negative && rest);
    case PTX_RP: return kept + (!negative && rest);
    case PTX_RNA: return kept + (rest >= half);
    default: return kept + (rest > half || (rest == half && (kept & 1)));
    }
}

/* What a magnitude beyond the largest one becomes. */
static uint32_t overflow(const struct format *format, bool negative, enum ptx_rounding rounding,
                         bool finite)
{
    bool inward =
        rounding == PTX_RZ || (rounding == PTX_RM && !negative) || (rounding == PTX_RP && negative);

    return format->largest + (format->infinity && !finite && !inward);
}

static ALWAYS_INLINE uint32_t narrow(double x, const struct format *format,
                                     enum ptx_rounding rounding, bool finite)
{
    int bias = (1 << (format->exponent - 1)) - 1;
    uint64_t bits = bits_of(x), fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION) - 1);
    int biased = bits >> DOUBLE_FRACTION & DOUBLE_SPECIAL, exponent;
    unsigned shift = DOUBLE_FRACTION - format->fraction;
    bool negative = bits >> 63;
    uint32_t sign = (uint32_t)negative << (format->bits - 1);
    uint64_t code;

    if (biased == DOUBLE_SPECIAL) {
        if (fraction)
            return format->nan ? format->nan : format->largest;
        return sign | overflow(format, negative, PTX_RN, finite);
    }
    if (biased)
        fraction |= UINT64_C(1) << DOUBLE_FRACTION;
    exponent = (biased ? biased : 1) - DOUBLE_BIAS + bias - 1;
    if (exponent < 0) {
        shift = shift - (unsigned)exponent < 63 ? shift - (unsigned)exponent : 63;
        exponent = 0;
    }
    /* the leading bit, or a carry, adds to the exponent */
    code =
        ((uint64_t)exponent << format->fraction) + round_off(fraction, shift, negative, rounding);
    if (code > format->largest)
        code = overflow(format, negative, rounding, finite);
    return sign | (uint32_t)code;
}

uint32_t ptx_narrow(double x, enum ptx_narrow format, enum ptx_rounding rounding, bool finite)
{
    if (rounding == PTX_RN && !finite && format == PTX_NARROW_f16)
        return narrow(x, &formats[PTX_NARROW_f16], PTX_RN, false);
    if (rounding == PTX_RN && !finite && format == PTX_NARROW_bf16)
        return narrow(x, &formats[PTX_NARROW_bf16], PTX_RN, false);
    return narrow(x, &formats[format], rounding, finite);
}

/* The product is exact. Where the sum is not, its last bit is made odd: so it stays on the side of
 * a tie that the exact sum is on. */
double ptx_narrow_fma(double a, double b, double c)
{
    double product = a * b, sum = product + c;
    double back = sum - product, error = (product - (sum - back)) + (c - back);
    uint64_t bits = bits_of(sum);

    if (error == 0 || !isfinite(sum) || (bits & 1))
        return sum;
    return from_bits((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}
