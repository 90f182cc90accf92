/* convert.h: conversions between types, and the rounding modes. */
#ifndef FAKEVMM_PTX_CONVERT_H
#define FAKEVMM_PTX_CONVERT_H

#include "code.h"
#include "narrow.h"

/* Sets the thread's rounding mode; PTX_RN is the one it runs in normally. */
void ptx_round(int mode);

enum ptx_convert_flag {
    PTX_CONVERT_SAT = 1,
    PTX_CONVERT_FTZ = 2,
    PTX_CONVERT_RELU = 4,
    PTX_CONVERT_FINITE = 8 /* .satfinite */
};

/* A conversion as an immediate; the types are enum ptx_type, of pairs enum ptx_narrow. */
#define PTX_CONVERT(to, from, rounding, flags)                                                     \
    ((uint32_t)(to) | (uint32_t)(from) << 8 | (uint32_t)(rounding) << 16 | (uint32_t)(flags) << 24)
/* cvt between any two of the integer types, f16, bf16, f32 and f64. The result fills the slot:
 * integers are extended by their sign. */
void ptx_convert(union ptx_slot *to, const union ptx_slot *from, uint32_t conversion);
/* To a pair: of two f32 (from PTX_NARROW_NONE; a is the upper one), or of the pair a. */
uint32_t ptx_convert_pair(union ptx_slot a, union ptx_slot b, uint32_t conversion);
/* To tf32, in the upper bits of an f32. */
uint32_t ptx_convert_tf32(float x, uint32_t conversion);
/* cvt.pack: a and b clamped to `bits` bits, at the lower end of c's bits. */
uint32_t ptx_convert_pack(int32_t a, int32_t b, uint32_t c, unsigned bits, bool sign);
/* cvt.rzi.s32.f32 */
int32_t ptx_truncate_s32(float x);

#endif
