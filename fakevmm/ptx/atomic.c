/* atomic.c: atom and red on host memory (PTX ISA, "atom"). Real atomics: other blocks and copies
 * may touch the same bytes meanwhile. */
#include "arith.h"
#include "exec.h"
#include "half.h"
#include "mbarrier.h"

#include <pthread.h>
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

static uint32_t add_flushed(uint32_t a, uint32_t b)
{
    return float_bits(ptx_flush(ptx_nan_f32(ptx_flush(as_float(a)) + ptx_flush(as_float(b)))));
}

/* On f16 and its kind; b when the operation is none of those. */
static uint32_t result_half(enum ptx_atomic operation, uint32_t old, uint32_t b)
{
    static const struct {
        enum ptx_atomic operation;
        int32_t half;
    } rows[] = {
#define ROW(op, type, format, flags)                                                               \
    {PTX_ATOMIC_##op##_##type, PTX_HALF(PTX_HALF_##op, PTX_NARROW_##format, flags)},
#define ROWS(op)                                                                                   \
    ROW(op, f16, f16, 0)                                                                           \
    ROW(op, bf16, bf16, 0)                                                                         \
    ROW(op, f16x2, f16, PTX_HALF_PAIR)                                                             \
    ROW(op, bf16x2, bf16, PTX_HALF_PAIR)
        ROWS(add) ROWS(min) ROWS(max)
#undef ROWS
#undef ROW
    };

    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].operation == operation)
            return ptx_half(old, b, 0, rows[i].half);
    }
    return b;
}

static uint16_t result16(enum ptx_atomic operation, uint16_t old, uint16_t b, uint16_t c)
{
    if (operation == PTX_ATOMIC_cas_b16)
        return old == b ? c : old;
    return (uint16_t)result_half(operation, old, b);
}

static uint32_t result32(enum ptx_atomic operation, uint32_t old, uint32_t b, uint32_t c)
{
    switch (operation) {
    case PTX_ATOMIC_add_b32: return old + b;
    case PTX_ATOMIC_add_f32: return float_bits(ptx_nan_f32(as_float(old) + as_float(b)));
    case PTX_ATOMIC_add_ftz_f32: return add_flushed(old, b);
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
    case PTX_ATOMIC_exch_b32: return b;
    default: return result_half(operation, old, b);
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
    case PTX_ATOMIC_exch_b64: return b;
    default: return ptx_mbarrier(operation, old, b);
    }
}

/* The new value is computed until nobody was faster. */
#define ATOMIC(w)                                                                                  \
    uint##w##_t ptx_atomic##w(void *host, int operation, uint##w##_t b, uint##w##_t c)             \
    {                                                                                              \
        uint##w##_t *word = host;                                                                  \
        uint##w##_t old = __atomic_load_n(word, __ATOMIC_RELAXED);                                 \
                                                                                                   \
        while (!__atomic_compare_exchange_n(word, &old, result##w(operation, old, b, c), true,     \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                   \
            ;                                                                                      \
        return old;                                                                                \
    }
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

/* Not every host has them. */
void ptx_atomic128(void *host, int operation, union ptx_slot *d, const union ptx_slot *b,
                   const union ptx_slot *c)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const union ptx_slot *new = operation == PTX_ATOMIC_cas_b128 ? c : b;
    union ptx_slot old[2];

    pthread_mutex_lock(&lock);
    memcpy(old, host, sizeof(old));
    if (operation == PTX_ATOMIC_exch_b128 ||
        (operation == PTX_ATOMIC_cas_b128 && !memcmp(old, b, sizeof(old))))
        memcpy(host, new, sizeof(old));
    pthread_mutex_unlock(&lock);
    memcpy(d, old, sizeof(old));
}
