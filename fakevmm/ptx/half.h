/* half.h: arithmetic on f16, bf16 and pairs of them. */
#ifndef FAKEVMM_PTX_HALF_H
#define FAKEVMM_PTX_HALF_H

#include "code.h"
#include "narrow.h"

/* X(name, sources) */
#define PTX_HALF_OPS(X)                                                                            \
    X(add, 2)                                                                                      \
    X(sub, 2) X(mul, 2) X(fma, 3) X(min, 2) X(max, 2) X(neg, 1) X(abs, 1) X(ex2, 1) X(tanh, 1)

enum ptx_half_op {
#define X(name, sources) PTX_HALF_##name,
    PTX_HALF_OPS(X)
#undef X
};

enum ptx_half_flag {
    PTX_HALF_PAIR = 1, /* two lanes */
    PTX_HALF_FTZ = 2,
    PTX_HALF_SAT = 4,
    PTX_HALF_RELU = 8,
    PTX_HALF_NAN = 16,     /* min and max: a NaN wins */
    PTX_HALF_XORSIGN = 32, /* min and max: of magnitudes, with the product's sign */
};

/* An operation as an immediate: format is PTX_NARROW_f16 or PTX_NARROW_bf16. */
#define PTX_HALF(op, format, flags)                                                                \
    ((int32_t)(op) | (int32_t)(format) << 8 | (int32_t)(flags) << 16)
/* The operation `half` of packed sources; both lanes of a pair. */
uint32_t ptx_half(uint32_t a, uint32_t b, uint32_t c, int32_t half);
/* The value of lane 0 or 1, subnormals flushed if asked: for comparisons. */
float ptx_half_lane(uint32_t bits, enum ptx_narrow format, unsigned lane, bool flush);
/* The imm of the micro instruction that takes a lane. */
#define PTX_HALF_LANE(format, lane, flush)                                                         \
    ((int32_t)(format) | (int32_t)(lane) << 8 | (int32_t)(flush) << 16)

#endif
