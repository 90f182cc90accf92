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
uint32_t ptx_dot4(uint32_t a, bool a_signed, uint32_t b, bool b_signed, uint32_t c);

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

/* A subnormal becomes a zero of its sign (.ftz). */
static inline float ptx_flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* Bits of a double whose lower 32 are cleared. */
static inline uint64_t ptx_top_half(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits & ~UINT64_C(0xffffffff);
}

/* A counter that runs on like %clock64, and nanoseconds like %globaltimer. */
uint64_t ptx_clock(void);

#endif
