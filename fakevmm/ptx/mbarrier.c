/* mbarrier.c: how a barrier object changes. */
#include "mbarrier.h"

enum { BYTES_BITS = 22 };
#define ARRIVALS ((UINT64_C(1) << PTX_MBARRIER_BITS) - 1)
#define BYTES    ((UINT64_C(1) << BYTES_BITS) - 1)
#define PHASE    (UINT64_C(1) << PTX_MBARRIER_PHASE_AT)

struct barrier {
    uint64_t missing, needed, bytes, phase;
};

static struct barrier take_apart(uint64_t word)
{
    return (struct barrier){word & ARRIVALS, word >> PTX_MBARRIER_BITS & ARRIVALS,
                            word >> PTX_MBARRIER_BYTES_AT & BYTES, word & PHASE};
}

static uint64_t put_together(struct barrier barrier)
{
    return (barrier.missing & ARRIVALS) | (barrier.needed & ARRIVALS) << PTX_MBARRIER_BITS |
           (barrier.bytes & BYTES) << PTX_MBARRIER_BYTES_AT | barrier.phase;
}

uint64_t ptx_mbarrier(enum ptx_atomic operation, uint64_t word, uint64_t count)
{
    struct barrier barrier = take_apart(word);

    switch (operation) {
    case PTX_ATOMIC_expect: barrier.bytes += count; return put_together(barrier);
    case PTX_ATOMIC_complete: barrier.bytes = (barrier.bytes - count) & BYTES; break;
    case PTX_ATOMIC_arrive_drop:
        barrier.needed -= count;
        barrier.missing -= count;
        break;
    default: barrier.missing -= count; break;
    }
    if (!(barrier.missing & ARRIVALS) && !barrier.bytes) {
        barrier.missing = barrier.needed;
        barrier.phase ^= PHASE;
    }
    return put_together(barrier);
}
