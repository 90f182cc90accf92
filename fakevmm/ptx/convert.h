/* convert.h: conversions between types, and the rounding modes. */
#ifndef FAKEVMM_PTX_CONVERT_H
#define FAKEVMM_PTX_CONVERT_H

#include "code.h"

enum ptx_rounding {
    PTX_ROUND_NONE,
    PTX_RN, /* of results: nearest even, to zero, down, up */
    PTX_RZ,
    PTX_RM,
    PTX_RP,
    PTX_RNI, /* to a whole number */
    PTX_RZI,
    PTX_RMI,
    PTX_RPI
};

/* Sets the thread's rounding mode; PTX_RN is the one it runs in normally. */
void ptx_round(int mode);

/* A conversion as an immediate. */
#define PTX_CONVERT(to, from, rounding, saturate, flush)                                           \
    ((uint32_t)(to) | (uint32_t)(from) << 8 | (uint32_t)(rounding) << 16 |                         \
     (uint32_t)(saturate) << 24 | (uint32_t)(flush) << 25)
/* cvt between any two of the integer types, f16, bf16, f32 and f64. The result fills the slot:
 * integers are extended by their sign. */
void ptx_convert(union ptx_slot *to, const union ptx_slot *from, uint32_t conversion);

#endif
