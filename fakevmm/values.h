/* values.h: the arguments of a call as an array, made by the preprocessor from the argument list of
 * a row of entries.def. What they mean is known to params.c; here they are only bytes. */
#ifndef FAKEVMM_VALUES_H
#define FAKEVMM_VALUES_H

#include <stddef.h>

struct fv_value {
    const void *at; /* a copy of the argument */
    size_t size;
};

/* FV_VALUES(a, b, …): the initialiser of an array with one element for each argument, none for no
 * argument. An argument may be an expression. */
#define FV_VALUES(...)                                                                             \
    __VA_OPT__(FV_PICK(__VA_ARGS__, FV_16, FV_15, FV_14, FV_13, FV_12, FV_11, FV_10, FV_9, FV_8,   \
                       FV_7, FV_6, FV_5, FV_4, FV_3, FV_2, FV_1)(__VA_ARGS__))

#define FV_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, name, ...) name

#define FV_1(x)       {(__typeof__(x)[]){x}, sizeof(x)},
#define FV_2(x, ...)  FV_1(x) FV_1(__VA_ARGS__)
#define FV_3(x, ...)  FV_1(x) FV_2(__VA_ARGS__)
#define FV_4(x, ...)  FV_1(x) FV_3(__VA_ARGS__)
#define FV_5(x, ...)  FV_1(x) FV_4(__VA_ARGS__)
#define FV_6(x, ...)  FV_1(x) FV_5(__VA_ARGS__)
#define FV_7(x, ...)  FV_1(x) FV_6(__VA_ARGS__)
#define FV_8(x, ...)  FV_1(x) FV_7(__VA_ARGS__)
#define FV_9(x, ...)  FV_1(x) FV_8(__VA_ARGS__)
#define FV_10(x, ...) FV_1(x) FV_9(__VA_ARGS__)
#define FV_11(x, ...) FV_1(x) FV_10(__VA_ARGS__)
#define FV_12(x, ...) FV_1(x) FV_11(__VA_ARGS__)
#define FV_13(x, ...) FV_1(x) FV_12(__VA_ARGS__)
#define FV_14(x, ...) FV_1(x) FV_13(__VA_ARGS__)
#define FV_15(x, ...) FV_1(x) FV_14(__VA_ARGS__)
#define FV_16(x, ...) FV_1(x) FV_15(__VA_ARGS__)

#endif
