/* narrow.h: floats of less than 32 bits: how they are laid out, and the exact ways to and from
 * double, which holds every value of each of them. */
#ifndef FAKEVMM_PTX_NARROW_H
#define FAKEVMM_PTX_NARROW_H

/* It does not settle on the tables of this file. */
/* clang-format off */

#include <stdbool.h>
#include <stdint.h>

enum ptx_rounding {
    PTX_ROUND_NONE,
    PTX_RN, /* of results: nearest even, to zero, down, up, nearest with ties away from zero */
    PTX_RZ,
    PTX_RM,
    PTX_RP,
    PTX_RNA,
    PTX_RNI, /* to a whole number */
    PTX_RZI,
    PTX_RMI,
    PTX_RPI
};

/* X(name, bits, exponent bits, fraction bits, largest finite encoding, has an infinity, NaN or 0
 * when it has none): the sign is the top bit. tf32 fills the upper 19 bits of a word. */
#define PTX_NARROW(X)                                                                              \
    X(f16, 16, 5, 10, 0x7bff, true, 0x7fff)                                                        \
    X(bf16, 16, 8, 7, 0x7f7f, true, 0x7fff)                                                        \
    X(tf32, 19, 8, 10, 0x3fbff, true, 0x3ffff)                                                     \
    X(e4m3, 8, 4, 3, 0x7e, false, 0x7f)                                                            \
    X(e5m2, 8, 5, 2, 0x7b, true, 0x7f)                                                             \
    X(e3m2, 6, 3, 2, 0x1f, false, 0)                                                               \
    X(e2m3, 6, 2, 3, 0x1f, false, 0)                                                               \
    X(e2m1, 4, 2, 1, 0x07, false, 0)

enum ptx_narrow {
    PTX_NARROW_NONE,
#define X(name, ...) PTX_NARROW_##name,
    PTX_NARROW(X)
#undef X
};

/* The value of an encoding. */
double ptx_widen(uint32_t bits, enum ptx_narrow format);
/* The encoding nearest to x by the rounding mode. Beyond the largest finite value it is, with
 * `finite` or in a format without infinity, the largest one of that sign (PTX's .satfinite). */
uint32_t ptx_narrow(double x, enum ptx_narrow format, enum ptx_rounding rounding, bool finite);
/* a * b + c of narrow values, so near that ptx_narrow() rounds it as it would the exact result. */
double ptx_narrow_fma(double a, double b, double c);

#endif
