/* bits.c: bit-field instructions of ops.def (PTX ISA, "Integer Arithmetic Instructions"). */
#include "arith.h"

#include <time.h>

uint64_t ptx_reverse(uint64_t x)
{
    uint64_t out = 0;

    for (unsigned i = 0; i < 64; i++)
        out |= (x >> i & 1) << (63 - i);
    return out;
}

uint64_t ptx_extract_bits(uint64_t from, unsigned start, unsigned length, unsigned width, bool sign)
{
    unsigned last = start + length - 1 < width ? start + length - 1 : width - 1;
    uint64_t fill = sign && length && from >> last & 1 ? UINT64_MAX : 0;
    unsigned kept = start >= width ? 0 : length < width - start ? length : width - start;

    if (kept == 64)
        return from;
    return (kept ? from >> start & ((UINT64_C(1) << kept) - 1) : 0) | fill << kept;
}

uint64_t ptx_insert_bits(uint64_t bits, uint64_t into, unsigned start, unsigned length,
                         unsigned width)
{
    unsigned kept = start >= width ? 0 : length < width - start ? length : width - start;
    uint64_t mask;

    if (!kept)
        return into;
    mask = (kept == 64 ? UINT64_MAX : (UINT64_C(1) << kept) - 1) << start;
    return (into & ~mask) | (bits << start & mask);
}

uint32_t ptx_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
    uint32_t out = 0;

    for (unsigned i = 0; i < 8; i++) {
        if (table >> i & 1)
            out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
    return out;
}

/* Bit 3 of a selector nibble spreads the sign of the chosen byte. */
uint32_t ptx_permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t pair = (uint64_t)b << 32 | a;
    uint32_t out = 0;

    for (unsigned i = 0; i < 4; i++) {
        unsigned nibble = selector >> 4 * i & 15;
        uint32_t byte = pair >> 8 * (nibble & 7) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        out |= byte << 8 * i;
    }
    return out;
}

uint32_t ptx_selector(enum ptx_permutation mode, uint32_t control)
{
    unsigned n = control & 3;
    uint32_t out = 0;

    for (unsigned i = 0; i < 4; i++) {
        unsigned byte = 0;
        switch (mode) {
        case PTX_F4E: byte = n + i; break;
        case PTX_B4E: byte = (n - i) & 7; break;
        case PTX_RC8: byte = n; break;
        case PTX_ECL: byte = i > n ? i : n; break;
        case PTX_ECR: byte = i < n ? i : n; break;
        case PTX_RC16: byte = 2 * (n & 1) + (i & 1); break;
        }
        out |= byte << 4 * i;
    }
    return out;
}

uint32_t ptx_dot4(uint32_t a, bool a_signed, uint32_t b, bool b_signed, uint32_t c)
{
    for (unsigned i = 0; i < 32; i += 8) {
        int32_t x = a_signed ? (int8_t)(a >> i) : (uint8_t)(a >> i);
        int32_t y = b_signed ? (int8_t)(b >> i) : (uint8_t)(b >> i);
        c += (uint32_t)(x * y);
    }
    return c;
}

uint32_t ptx_dot2(uint32_t a, bool a_signed, uint32_t b, bool b_signed, uint32_t c)
{
    for (unsigned i = 0; i < 2; i++) {
        int64_t x = a_signed ? (int16_t)(a >> 16 * i) : (uint16_t)(a >> 16 * i);
        int64_t y = b_signed ? (int8_t)(b >> 8 * i) : (uint8_t)(b >> 8 * i);
        c += (uint32_t)(x * y);
    }
    return c;
}

/* Ones above bit n; none when there is no such bit. */
static uint32_t ones_from(uint64_t n)
{
    return n < 32 ? UINT32_MAX << n : 0;
}

uint32_t ptx_bit_mask(uint32_t start, uint32_t width, bool clamp)
{
    if (!clamp) {
        start &= 31;
        width &= 31;
    }
    return ones_from(start) & ~ones_from((uint64_t)start + width);
}

uint32_t ptx_extend_from(uint32_t a, uint32_t width, bool clamp, bool sign)
{
    uint32_t above;

    if (!clamp)
        width &= 31;
    above = ones_from(width);
    if (sign && width && width < 32 && a >> (width - 1) & 1)
        return a | above;
    return a & ~above;
}

uint32_t ptx_find_nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    uint32_t left = offset < 0 ? 0u - (uint32_t)offset : (uint32_t)offset;

    if (!offset)
        return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
    for (uint32_t at = base; at < 32; at += offset < 0 ? UINT32_MAX : 1) {
        if ((mask >> at & 1) && --left == 0)
            return at;
    }
    return UINT32_MAX;
}

uint64_t ptx_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
