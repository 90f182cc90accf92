/* data.h: the numbers the sample programs work on: random ones, the checksum over results, and
 * which elements of a buffer are touched. Knows no CUDA type. Header-only, C and C++. */
#ifndef APP_DATA_H
#define APP_DATA_H

#include <stddef.h>
#include <stdint.h>

/* The next number of a splitmix64 sequence; the same on every machine. */
static inline uint64_t app_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#define APP_CHECKSUM_START UINT64_C(0xcbf29ce484222325)

/* FNV-1a, 64 bits, over `bytes` bytes more. */
static inline uint64_t app_checksum(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *byte = (const unsigned char *)data;

    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* Kernels touch few elements however large a buffer is: the first, the last and a stride between. A
 * small buffer is copied whole, a large one by the elements touched: `pieces` copies of
 * `piece_bytes` each. */
#define APP_TOUCHED     32u
#define APP_SMALL_BYTES 65536u

struct app_reach {
    uint32_t width;        /* bytes of an element */
    uint32_t touched;      /* elements, at most APP_TOUCHED */
    uint64_t stride, last; /* in elements: thread t's is t * stride, the last thread's is `last` */
    size_t pieces, piece_bytes;
};

static inline struct app_reach app_reach(uint64_t bytes, uint32_t width)
{
    uint64_t elements = bytes / width;
    struct app_reach reach = {width, APP_TOUCHED, 0, elements - 1, APP_TOUCHED, width};

    if (elements < APP_TOUCHED)
        reach.touched = (uint32_t)elements;
    if (reach.touched > 1)
        reach.stride = (elements - 1) / (reach.touched - 1);
    if (bytes <= APP_SMALL_BYTES) {
        reach.pieces = 1;
        reach.piece_bytes = elements * width;
    }
    return reach;
}

/* Where piece `i` starts in the buffer, in bytes. */
static inline size_t app_piece(const struct app_reach *reach, size_t i)
{
    return reach->width * (i > 0 && i + 1 == reach->pieces ? reach->last : i * reach->stride);
}

#endif
