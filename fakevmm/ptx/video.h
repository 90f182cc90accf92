/* video.h: instructions on 2 or 4 whole numbers packed in a word. */
#ifndef FAKEVMM_PTX_VIDEO_H
#define FAKEVMM_PTX_VIDEO_H

#include <stdint.h>

/* X(name): vadd2, vadd4 and so on */
#define PTX_VIDEO_OPS(X) X(vadd) X(vsub) X(vavrg) X(vabsdiff) X(vmin) X(vmax) X(vset)

enum ptx_video_op {
#define X(name) PTX_VIDEO_##name,
    PTX_VIDEO_OPS(X)
#undef X
};

enum ptx_video_compare {
    PTX_VIDEO_EQ,
    PTX_VIDEO_NE,
    PTX_VIDEO_LT,
    PTX_VIDEO_LE,
    PTX_VIDEO_GT,
    PTX_VIDEO_GE
};

enum ptx_video_flag {
    PTX_VIDEO_BYTES = 1, /* 4 lanes, not 2 */
    PTX_VIDEO_SAT = 2,
    PTX_VIDEO_SUM = 4, /* .add: the lanes' sum and c */
    PTX_VIDEO_SIGNED_D = 8,
    PTX_VIDEO_SIGNED_A = 16,
    PTX_VIDEO_SIGNED_B = 32
};

/* An operation as an immediate. */
#define PTX_VIDEO(op, compare, flags)                                                              \
    ((int32_t)(op) | (int32_t)(compare) << 8 | (int32_t)(flags) << 16)
uint32_t ptx_video(uint32_t a, uint32_t b, uint32_t c, int32_t video);

#endif
