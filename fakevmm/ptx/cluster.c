/* cluster.c: addresses in the shared memory of a cluster's other blocks. */
#include "cluster.h"

#include "run.h"

unsigned char *ptx_reach_cluster(struct ptx_block *block, uint32_t address, unsigned bytes)
{
    uint32_t owner = address >> PTX_OWNER_SHIFT, offset = address & ((1u << PTX_OWNER_SHIFT) - 1);
    struct ptx_block *of = !owner                         ? block
                           : owner - 1 < block->run->unit ? block->cluster->members[owner - 1]
                                                          : NULL;

    if (offset & (bytes - 1))
        return ptx_fault(block, PTX_MISALIGNED, "access to shared memory of a cluster", address,
                         bytes);
    if (!of || offset >= of->shared_bytes || of->shared_bytes - offset < bytes)
        return ptx_fault(block, PTX_ILLEGAL_ADDRESS, "access to shared memory of a cluster",
                         address, bytes);
    return of->shared + offset;
}

static uint32_t own_rank(const struct ptx_block *block)
{
    return (uint32_t)(block->number % block->run->unit);
}

/* A rank that the cluster does not have gives an address that nothing is at. */
uint64_t ptx_map_rank(const struct ptx_block *block, uint64_t address, uint32_t rank)
{
    uint64_t owner = rank == own_rank(block)   ? 0
                     : rank < block->run->unit ? rank + 1
                                               : PTX_OWNER_MASK;

    address &= ~((uint64_t)PTX_OWNER_MASK << PTX_OWNER_SHIFT);
    return address | owner << PTX_OWNER_SHIFT;
}

uint32_t ptx_rank_of(const struct ptx_block *block, uint64_t address)
{
    uint32_t owner = (uint32_t)address >> PTX_OWNER_SHIFT;

    return owner ? owner - 1 : own_rank(block);
}
