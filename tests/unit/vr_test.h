/* vr_test.h: the one way tests are written here. The same source builds in two ways: as a Criterion
 * program, and, with -DVR_PLAIN_MAIN, with the small main of this file, because Criterion does not
 * start under ThreadSanitizer or qemu-user. One test file is one executable; each test runs in a
 * process of its own, so process state is fresh. Owns assertions and skipping; must not know what
 * is tested.
 *
 *     TEST(suite, name) { T_EQ(1 + 1, 2); }
 *
 * A file of helpers that wants the assertions alone defines VR_TEST_ASSERTIONS_ONLY before
 * including. A failed assertion ends the test; assert on the test's own thread only. Plain programs
 * take an optional argument: only tests whose "suite/name" contains it run. */
#ifndef VR_TEST_H
#define VR_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds after which a test that hangs is ended and counts as failed. */
#define VR_TEST_SECONDS 300

#ifndef VR_PLAIN_MAIN

#include <criterion/criterion.h>

#define TEST(suite, name) Test(suite, name, .timeout = VR_TEST_SECONDS)
/* Ends the test as skipped, with the reason: T_SKIP("no nvcc"). A format like printf's. */
#define T_SKIP(...) cr_skip(__VA_ARGS__)
/* Ends the test as failed, with a message: a format like printf's. */
#define T_FAIL(...) cr_assert_fail(__VA_ARGS__)

#else

#include "vr_test_plain.h"

#endif /* VR_PLAIN_MAIN */

/* ---- assertions ---- */

/* `cond` holds. An optional printf-like message follows: T_ASSERT(n > 0, "step %d", step). */
#define T_ASSERT(cond, ...)                                                                        \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            char vr_message_[512];                                                                 \
            int vr_length_ = snprintf(vr_message_, sizeof vr_message_, " " __VA_ARGS__);           \
            T_FAIL("%s%s%s", #cond, vr_length_ > 1 ? ":" : "", vr_message_);                       \
        }                                                                                          \
    } while (0)

#define VR_TEST_INTEGERS_(a, op, b)                                                                \
    do {                                                                                           \
        (void)sizeof((a) | 0), (void)sizeof((b) | 0); /* refuses floats and pointers */            \
        long long vr_a_ = (long long)(a), vr_b_ = (long long)(b);                                  \
        if (!(vr_a_ op vr_b_))                                                                     \
            T_FAIL("%s %s %s: %lld (0x%llx) and %lld (0x%llx)", #a, #op, #b, vr_a_,                \
                   (unsigned long long)vr_a_, vr_b_, (unsigned long long)vr_b_);                   \
    } while (0)

/* Integers, enums and pointers cast to integers; compared as 64-bit values, both printed. */
#define T_EQ(a, b) VR_TEST_INTEGERS_(a, ==, b)
#define T_NE(a, b) VR_TEST_INTEGERS_(a, !=, b)
#define T_LT(a, b) VR_TEST_INTEGERS_(a, <, b)
#define T_LE(a, b) VR_TEST_INTEGERS_(a, <=, b)
#define T_GT(a, b) VR_TEST_INTEGERS_(a, >, b)
#define T_GE(a, b) VR_TEST_INTEGERS_(a, >=, b)

#define T_NULL(p)     T_ASSERT((p) == NULL, "is %p", (const void *)(p))
#define T_NOT_NULL(p) T_ASSERT((p) != NULL, "is NULL")

/* Pointers. */
#define T_PTR_EQ(a, b)                                                                             \
    do {                                                                                           \
        const void *vr_p_ = (const void *)(a), *vr_q_ = (const void *)(b);                         \
        if (vr_p_ != vr_q_)                                                                        \
            T_FAIL("%s == %s: %p and %p", #a, #b, vr_p_, vr_q_);                                   \
    } while (0)

/* Strings; NULL equals nothing but NULL. */
#define T_STR_EQ(a, b)                                                                             \
    do {                                                                                           \
        const char *vr_s_ = (a), *vr_t_ = (b);                                                     \
        if (!vr_s_ || !vr_t_ ? vr_s_ != vr_t_ : strcmp(vr_s_, vr_t_) != 0)                         \
            T_FAIL("%s == %s: \"%s\" and \"%s\"", #a, #b, vr_s_ ? vr_s_ : "(null)",                \
                   vr_t_ ? vr_t_ : "(null)");                                                      \
    } while (0)

/* `part` occurs in `text`. */
#define T_STR_HAS(text, part)                                                                      \
    do {                                                                                           \
        const char *vr_s_ = (text), *vr_t_ = (part);                                               \
        if (!vr_s_ || !vr_t_ || !strstr(vr_s_, vr_t_))                                             \
            T_FAIL("%s has %s: \"%s\" lacks \"%s\"", #text, #part, vr_s_ ? vr_s_ : "(null)",       \
                   vr_t_ ? vr_t_ : "(null)");                                                      \
    } while (0)

/* `bytes` bytes at `a` and `b`; the first that differs is named. */
#define T_MEM_EQ(a, b, bytes)                                                                      \
    do {                                                                                           \
        const unsigned char *vr_s_ = (const void *)(a), *vr_t_ = (const void *)(b);                \
        for (size_t vr_i_ = 0, vr_n_ = (bytes); vr_i_ < vr_n_; vr_i_++)                            \
            if (vr_s_[vr_i_] != vr_t_[vr_i_])                                                      \
                T_FAIL("%s == %s at byte %zu: 0x%02x and 0x%02x", #a, #b, vr_i_, vr_s_[vr_i_],     \
                       vr_t_[vr_i_]);                                                              \
    } while (0)

/* Floating point, within `eps`. */
#define T_NEAR(a, b, eps)                                                                          \
    do {                                                                                           \
        double vr_a_ = (a), vr_b_ = (b);                                                           \
        if (!(fabs(vr_a_ - vr_b_) <= (eps)))                                                       \
            T_FAIL("%s near %s: %.17g and %.17g", #a, #b, vr_a_, vr_b_);                           \
    } while (0)

#endif
