/* arith.h: the arithmetic of ops.def that is more than one C expression. Every function is pure;
 * the results are those PTX ISA defines, and where it leaves them open (division by zero) those
 * GPUs give. */
#ifndef FAKEVMM_PTX_ARITH_H
#define FAKEVMM_PTX_ARITH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef int32_t ptx_wide_s16;
typedef uint32_t ptx_wide_u16;
typedef int64_t ptx_wide_s32;
typedef uint64_t ptx_wide_u32;
typedef __int128 ptx_wide_s64;
typedef unsigned __int128 ptx_wide_u64;

#define PTX_DIVIDE(w)                                                                              \
    static inline int##w##_t ptx_div_s##w(int##w##_t a, int##w##_t b)                              \
    {                                                                                              \
        if (b == 0)                                                                                \
            return -1;                                                                             \
        return b == -1 ? (int##w##_t)(0 - (uint##w##_t)a) : (int##w##_t)(a / b);                   \
    }
PTX_DIVIDE(16)
PTX_DIVIDE(32)
PTX_DIVIDE(64)

#define PTX_CARRY(w)                                                                               \
    static inline bool ptx_add_carry##w(uint##w##_t a, uint##w##_t b, bool in, uint##w##_t *out)   \
    {                                                                                              \
        bool first = __builtin_add_overflow(a, b, &a);                                             \
        return __builtin_add_overflow(a, (uint##w##_t)in, out) | first;                            \
    }                                                                                              \
    static inline bool ptx_sub_borrow##w(uint##w##_t a, uint##w##_t b, bool in, uint##w##_t *out)  \
    {                                                                                              \
        bool first = __builtin_sub_overflow(a, b, &a);                                             \
        return __builtin_sub_overflow(a, (uint##w##_t)in, out) | first;                            \
    }
PTX_CARRY(32)
PTX_CARRY(64)

static inline uint32_t ptx_clz32(uint32_t x)
{
    return x ? (uint32_t)__builtin_clz(x) : 32;
}

static inline uint32_t ptx_clz64(uint64_t x)
{
    return x ? (uint32_t)__builtin_clzll(x) : 64;
}

static inline int32_t ptx_clamp_s32(int64_t x)
{
    return (int32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}

static inline int32_t ptx_low24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}

uint64_t ptx_reverse(uint64_t x);
uint64_t ptx_extract_bits(uint64_t from, unsigned start, unsigned length, unsigned width,
                          bool sign);
uint64_t ptx_insert_bits(uint64_t bits, uint64_t into, unsigned start, unsigned length,
                         unsigned width);
uint32_t ptx_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table);
uint32_t ptx_permute(uint32_t a, uint32_t b, uint32_t selector);
/* prmt's modes other than the general one, as selectors for ptx_permute(). */
enum ptx_permutation { PTX_F4E, PTX_B4E, PTX_RC8, PTX_ECL, PTX_ECR, PTX_RC16 };
uint32_t ptx_selector(enum ptx_permutation mode, uint32_t control);
uint32_t ptx_dot4(uint32_t a, bool a_signed, uint32_t b, bool b_signed, uint32_t c);
/* The halves of a by the lower two bytes of b. */
uint32_t ptx_dot2(uint32_t a, bool a_signed, uint32_t b, bool b_signed, uint32_t c);
uint32_t ptx_bit_mask(uint32_t start, uint32_t width, bool clamp);
uint32_t ptx_extend_from(uint32_t a, uint32_t width, bool clamp, bool sign);
uint32_t ptx_find_nth_set(uint32_t mask, uint32_t base, int32_t offset);

static inline int32_t ptx_relu(int32_t x)
{
    return x > 0 ? x : 0;
}

/* One lane of the 16-bit pairs; all answer its 16 bits. */
typedef int16_t ptx_lane_s16;
typedef uint16_t ptx_lane_u16;
#define PTX_LANE(t)                                                                                \
    static inline uint16_t ptx_add_##t(ptx_lane_##t a, ptx_lane_##t b)                             \
    {                                                                                              \
        return (uint16_t)(a + b);                                                                  \
    }                                                                                              \
    static inline uint16_t ptx_min_##t(ptx_lane_##t a, ptx_lane_##t b)                             \
    {                                                                                              \
        return (uint16_t)(a < b ? a : b);                                                          \
    }                                                                                              \
    static inline uint16_t ptx_max_##t(ptx_lane_##t a, ptx_lane_##t b)                             \
    {                                                                                              \
        return (uint16_t)(a > b ? a : b);                                                          \
    }
PTX_LANE(s16)
PTX_LANE(u16)

static inline uint16_t ptx_min_relu_s16(int16_t a, int16_t b)
{
    return (uint16_t)ptx_relu(a < b ? a : b);
}

static inline uint16_t ptx_max_relu_s16(int16_t a, int16_t b)
{
    return (uint16_t)ptx_relu(a > b ? a : b);
}

/* The NaN every f32 operation that yields one yields. */
static inline float ptx_nan(void)
{
    uint32_t bits = 0x7fffffff;
    float nan;

    memcpy(&nan, &bits, sizeof(nan));
    return nan;
}

static inline float ptx_nan_f32(float x)
{
    return x == x ? x : ptx_nan();
}

/* f64 operations keep the payload, as the host's do. */
static inline double ptx_nan_f64(double x)
{
    return x;
}

/* A NaN loses against a number, and -0 is less than +0. */
#define PTX_MIN_MAX(t, type)                                                                       \
    static inline type ptx_min_##t(type a, type b)                                                 \
    {                                                                                              \
        if (isnan(a))                                                                              \
            return ptx_nan_##t(b);                                                                 \
        return isnan(b) || a < b || (a == b && signbit(a)) ? a : b;                                \
    }                                                                                              \
    static inline type ptx_max_##t(type a, type b)                                                 \
    {                                                                                              \
        if (isnan(a))                                                                              \
            return ptx_nan_##t(b);                                                                 \
        return isnan(b) || a > b || (a == b && !signbit(a)) ? a : b;                               \
    }
PTX_MIN_MAX(f32, float)
PTX_MIN_MAX(f64, double)

/* x with the sign of the product of a and b. */
static inline float ptx_xorsign(float a, float b, float x)
{
    return isnan(x) ? x : copysignf(x, signbit(a) == signbit(b) ? 1.0f : -1.0f);
}

/* A subnormal becomes a zero of its sign (.ftz). */
static inline float ptx_flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static inline double ptx_flush_f64(double x)
{
    return fabs(x) < 0x1p-1022 ? copysign(0, x) : x;
}

/* A very large divisor gives 0, of an infinity NaN. */
static inline float ptx_div_approx(float a, float b)
{
    if (isfinite(b) && fabsf(b) > 0x1p126f)
        return isfinite(a) ? copysignf(0, signbit(a) == signbit(b) ? 1.0f : -1.0f) : ptx_nan();
    return ptx_nan_f32(a / b);
}

/* Bits of a double, subnormals flushed, whose lower 32 are cleared. */
static inline uint64_t ptx_top_half(double x)
{
    uint64_t bits;

    x = ptx_flush_f64(x);
    memcpy(&bits, &x, sizeof(bits));
    return bits & ~UINT64_C(0xffffffff);
}

/* A counter that runs on like %clock64, and nanoseconds like %globaltimer. */
uint64_t ptx_clock(void);

#endif
