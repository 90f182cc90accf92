/* cluster.h: addresses in the shared memory of a cluster's blocks. */
#ifndef FAKEVMM_PTX_CLUSTER_H
#define FAKEVMM_PTX_CLUSTER_H

#include "exec.h"

/* Shared memory of another block: its rank plus 1 in these bits of an address, which are 0 for the
 * block's own. */
enum { PTX_OWNER_SHIFT = 24, PTX_OWNER_MASK = 0xff };

/* The host's bytes at a shared::cluster address; NULL with a fault noted. */
unsigned char *ptx_reach_cluster(struct ptx_block *block, uint32_t address, unsigned bytes);
/* mapa: the same place in the shared memory of the block with this rank; the address is one of
 * shared::cluster or a generic one. */
uint64_t ptx_map_rank(const struct ptx_block *block, uint64_t address, uint32_t rank);
/* getctarank: whose such an address is. */
uint32_t ptx_rank_of(const struct ptx_block *block, uint64_t address);

#endif
