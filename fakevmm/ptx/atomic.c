/* atomic.c: atom and red on host memory (PTX ISA, "atom"). Real atomics: other blocks and copies
 * may touch the same bytes meanwhile. */
#include "exec.h"

#include <string.h>

static float as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double as_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint64_t double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static uint32_t result32(enum ptx_atomic operation, uint32_t old, uint32_t b, uint32_t c)
{
    switch (operation) {
    case PTX_ATOMIC_add_b32: return old + b;
    case PTX_ATOMIC_add_f32: return float_bits(as_float(old) + as_float(b));
    case PTX_ATOMIC_min_s32: return (int32_t)old < (int32_t)b ? old : b;
    case PTX_ATOMIC_min_u32: return old < b ? old : b;
    case PTX_ATOMIC_max_s32: return (int32_t)old > (int32_t)b ? old : b;
    case PTX_ATOMIC_max_u32: return old > b ? old : b;
    case PTX_ATOMIC_inc_u32: return old >= b ? 0 : old + 1;
    case PTX_ATOMIC_dec_u32: return old == 0 || old > b ? b : old - 1;
    case PTX_ATOMIC_and_b32: return old & b;
    case PTX_ATOMIC_or_b32: return old | b;
    case PTX_ATOMIC_xor_b32: return old ^ b;
    case PTX_ATOMIC_cas_b32: return old == b ? c : old;
    default: return b; /* exch */
    }
}

static uint64_t result64(enum ptx_atomic operation, uint64_t old, uint64_t b, uint64_t c)
{
    switch (operation) {
    case PTX_ATOMIC_add_b64: return old + b;
    case PTX_ATOMIC_add_f64: return double_bits(as_double(old) + as_double(b));
    case PTX_ATOMIC_min_s64: return (int64_t)old < (int64_t)b ? old : b;
    case PTX_ATOMIC_min_u64: return old < b ? old : b;
    case PTX_ATOMIC_max_s64: return (int64_t)old > (int64_t)b ? old : b;
    case PTX_ATOMIC_max_u64: return old > b ? old : b;
    case PTX_ATOMIC_and_b64: return old & b;
    case PTX_ATOMIC_or_b64: return old | b;
    case PTX_ATOMIC_xor_b64: return old ^ b;
    case PTX_ATOMIC_cas_b64: return old == b ? c : old;
    default: return b; /* exch */
    }
}

uint32_t ptx_atomic32(void *host, int operation, uint32_t b, uint32_t c)
{
    uint32_t *word = host;
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(word, &old, result32(operation, old, b, c), true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
    return old;
}

uint64_t ptx_atomic64(void *host, int operation, uint64_t b, uint64_t c)
{
    uint64_t *word = host;
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

    while (!__atomic_compare_exchange_n(word, &old, result64(operation, old, b, c), true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
    return old;
}
