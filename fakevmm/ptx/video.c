/* video.c: SIMD video instructions (PTX ISA, "SIMD Video Instructions"). */
#include "video.h"

#include <stdbool.h>

static int32_t lane(uint32_t word, unsigned index, unsigned bits, bool sign)
{
    uint32_t value = word >> index * bits & ((1u << bits) - 1);

    return sign && value >> (bits - 1) ? (int32_t)value - (1 << bits) : (int32_t)value;
}

static int32_t compare(enum ptx_video_compare comparison, int32_t a, int32_t b)
{
    switch (comparison) {
    case PTX_VIDEO_EQ: return a == b;
    case PTX_VIDEO_NE: return a != b;
    case PTX_VIDEO_LT: return a < b;
    case PTX_VIDEO_LE: return a <= b;
    case PTX_VIDEO_GT: return a > b;
    default: return a >= b;
    }
}

/* An average is rounded away from minus infinity when the sum is not negative. */
static int32_t compute(enum ptx_video_op op, enum ptx_video_compare comparison, int32_t a,
                       int32_t b)
{
    switch (op) {
    case PTX_VIDEO_vadd: return a + b;
    case PTX_VIDEO_vsub: return a - b;
    case PTX_VIDEO_vavrg: return (a + b + (a + b >= 0)) >> 1;
    case PTX_VIDEO_vabsdiff: return a < b ? b - a : a - b;
    case PTX_VIDEO_vmin: return a < b ? a : b;
    case PTX_VIDEO_vmax: return a > b ? a : b;
    default: return compare(comparison, a, b);
    }
}

static int32_t clamp(int32_t x, unsigned bits, bool sign)
{
    int32_t most = (1 << (bits - sign)) - 1, least = sign ? -most - 1 : 0;

    return x > most ? most : x < least ? least : x;
}

uint32_t ptx_video(uint32_t a, uint32_t b, uint32_t c, int32_t video)
{
    unsigned flags = (unsigned)video >> 16, bits = flags & PTX_VIDEO_BYTES ? 8 : 16;
    bool sign = flags & PTX_VIDEO_SIGNED_D;
    uint32_t mask = (1u << bits) - 1, out = flags & PTX_VIDEO_SUM ? c : 0;

    for (unsigned i = 0; i < 32 / bits; i++) {
        int32_t x =
            compute(video & 0xff, video >> 8 & 0xff, lane(a, i, bits, flags & PTX_VIDEO_SIGNED_A),
                    lane(b, i, bits, flags & PTX_VIDEO_SIGNED_B));
        if (flags & PTX_VIDEO_SAT)
            x = clamp(x, bits, sign);
        if (flags & PTX_VIDEO_SUM)
            out += (uint32_t)lane((uint32_t)x & mask, 0, bits, sign);
        else
            out |= ((uint32_t)x & mask) << i * bits;
    }
    return out;
}
