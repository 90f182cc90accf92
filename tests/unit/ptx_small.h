/* ptx_small.h: an independent model of small floats (every encoding's value by definition, rounding
 * by search for the neighbours), and a way to run one instruction on thousands of inputs. */
#ifndef PTX_SMALL_H
#define PTX_SMALL_H

#include "ptx_world.h"

#include <math.h>

/* Sign, exponent, fraction; encodings above `largest` are infinity (if there is one) and NaN. */
struct small {
    int bits, exponent, fraction;
    uint32_t largest;
    bool infinity;
};

static const struct small F16 = {16, 5, 10, 0x7bff, true};
static const struct small BF16 = {16, 8, 7, 0x7f7f, true};
static const struct small TF32 = {19, 8, 10, 0x3fbff, true};
static const struct small E4M3 = {8, 4, 3, 0x7e, false};
static const struct small E5M2 = {8, 5, 2, 0x7b, true};
static const struct small E2M1 = {4, 2, 1, 0x7, false};

/* Wide enough that sums and products of small floats of like size are exact. */
typedef _Float128 exact;

/* 2^n */
static inline exact power(int n)
{
    exact x = 1;

    for (; n > 0; n--)
        x *= 2;
    for (; n < 0; n++)
        x /= 2;
    return x;
}

/* The value of a magnitude's encoding. */
static inline exact small_magnitude(const struct small *f, uint32_t code)
{
    int bias = (1 << (f->exponent - 1)) - 1, e = (int)(code >> f->fraction);
    int m = (int)(code & ((1u << f->fraction) - 1));

    return e ? (m + (1 << f->fraction)) * power(e - bias - f->fraction)
             : m * power(1 - bias - f->fraction);
}

static inline exact small_value(const struct small *f, uint32_t code)
{
    uint32_t sign = code >> (f->bits - 1) & 1, magnitude = code & ((1u << (f->bits - 1)) - 1);
    exact x;

    if (magnitude > f->largest)
        x = f->infinity && magnitude == f->largest + 1 ? (exact)INFINITY : (exact)NAN;
    else
        x = small_magnitude(f, magnitude);
    return sign ? -x : x;
}

/* x rounded to an encoding; mode 'n' nearest even, 'a' nearest with ties away from zero, 'z' to
 * zero, 'm' down, 'p' up. A NaN is 0x7fff or its like. */
static inline uint32_t small_round(const struct small *f, exact x, char mode)
{
    bool negative = x < 0 || (x == 0 && signbit((double)x));
    exact magnitude = negative ? -x : x, low, high;
    uint32_t sign = negative ? 1u << (f->bits - 1) : 0, from = 0, to = f->largest + 1;

    if (x != x)
        return (1u << (f->bits - 1)) - 1;
    while (to - from > 1) { /* from: the last encoding not above */
        uint32_t middle = (from + to) / 2;
        if (small_magnitude(f, middle) <= magnitude)
            from = middle;
        else
            to = middle;
    }
    low = small_magnitude(f, from);
    high = small_magnitude(f, to);
    if (low == magnitude || mode == 'z' || (mode == 'm' && !negative) || (mode == 'p' && negative))
        return magnitude == (exact)INFINITY ? sign | to : sign | from;
    if (mode == 'm' || mode == 'p')
        return sign | to;
    if (magnitude - low == high - magnitude)
        return sign | (mode == 'a' || (from & 1) ? to : from);
    return sign | (magnitude - low < high - magnitude ? from : to);
}

static inline uint32_t small_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) ^ (uint32_t)(*state >> 13);
}

enum { BATCH = 2048 };

/* `code` on BATCH triples of words %a, %b, %c (also as 16 bits %ha, %hb, %hc); word %d or, when
 * it starts with "h:", 16 bits %hd is the result. */
static inline void run_batch(const char *code, const uint32_t in[BATCH][3], uint32_t out[BATCH])
{
    bool half = strncmp(code, "h:", 2) == 0;
    uint64_t params[] = {WORLD_BASE};
    struct ptx_module *module;
    char text[2048];

    snprintf(text, sizeof text,
             PTX_HEAD ".entry k(.param .u64 out) {\n"
                      ".reg .b64 %%o, %%p; .reg .b32 %%a, %%b, %%c, %%d, %%t, %%u, %%v;\n"
                      ".reg .b16 %%ha, %%hb, %%hc, %%hd, %%x; .reg .pred %%q, %%w;\n"
                      "ld.param.u64 %%o, [out]; mov.u32 %%t, %%ctaid.x; mov.u32 %%u, %%ntid.x;\n"
                      "mov.u32 %%v, %%tid.x; mad.lo.u32 %%t, %%t, %%u, %%v;\n"
                      "mad.wide.u32 %%p, %%t, 16, %%o;\n"
                      "ld.global.v4.u32 {%%a, %%b, %%c, %%d}, [%%p];\n"
                      "mov.b32 {%%ha, %%x}, %%a; mov.b32 {%%hb, %%x}, %%b;\n"
                      "mov.b32 {%%hc, %%x}, %%c; mov.b32 %%d, 0;\n%s\n%s"
                      "st.global.u32 [%%p+12], %%d; ret; }\n",
             half ? code + 2 : code, half ? "cvt.u32.u16 %d, %hd;\n" : "");
    for (unsigned i = 0; i < BATCH; i++)
        memcpy(world.bytes + 16 * i, in[i], 12);
    module = load(text);
    if (run(module, BATCH / 128, 128, params) != PTX_OK)
        T_FAIL("%s: %s", code, world_message);
    ptx_unload(module);
    for (unsigned i = 0; i < BATCH; i++)
        out[i] = word(4 * i + 3);
}

#endif
