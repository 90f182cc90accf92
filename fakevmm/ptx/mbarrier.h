/* mbarrier.h: the barrier objects that live in shared memory, as words of 64 bits (PTX ISA,
 * "mbarrier"; what the bits mean is ours). */
#ifndef FAKEVMM_PTX_MBARRIER_H
#define FAKEVMM_PTX_MBARRIER_H

#include "ops.h"

/* Bits 0 to 19: arrivals still missing; 20 to 39: how many a phase needs; 40 to 61: bytes of copies
 * still missing, of either sign; 63: the phase. */
enum { PTX_MBARRIER_BITS = 20, PTX_MBARRIER_BYTES_AT = 40, PTX_MBARRIER_PHASE_AT = 63 };

/* A barrier that `count` arrivals complete. */
static inline uint64_t ptx_mbarrier_new(uint32_t count)
{
    uint64_t arrivals = count & ((1u << PTX_MBARRIER_BITS) - 1);

    return arrivals | arrivals << PTX_MBARRIER_BITS;
}

/* The barrier after an operation of PTX_ATOMIC_arrive's kind, by `count`. */
uint64_t ptx_mbarrier(enum ptx_atomic operation, uint64_t barrier, uint64_t count);

#endif
