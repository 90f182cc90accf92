/* memory.h: the fast ways from an address to the host's bytes, one per state space. Each returns
 * NULL with block->fault set when the access is not allowed. */
#ifndef FAKEVMM_PTX_MEMORY_H
#define FAKEVMM_PTX_MEMORY_H

#include "cluster.h"

/* Bytes of any type, as a kernel sees memory. */
typedef uint8_t ptx_u8;
typedef int8_t ptx_s8;
typedef uint16_t ptx_u16 __attribute__((may_alias));
typedef int16_t ptx_s16 __attribute__((may_alias));
typedef uint32_t ptx_u32 __attribute__((may_alias));
typedef int32_t ptx_s32 __attribute__((may_alias));
typedef uint64_t ptx_u64 __attribute__((may_alias));

#define PTX_LIKELY(x) __builtin_expect(!!(x), 1)

static inline unsigned char *ptx_at_global(struct ptx_block *block, const struct ptx_thread *thread,
                                           const struct ptx_insn *ip, uint64_t address,
                                           unsigned bytes, bool write)
{
    struct ptx_site *site = &block->sites[ip->e];
    uint64_t offset = address - site->base;

    if (PTX_LIKELY(offset < site->size && site->size - offset >= bytes &&
                   (address & (bytes - 1)) == 0))
        return site->host + offset;
    return ptx_reach(block, site, address, bytes, write);
}

static inline unsigned char *ptx_at_generic(struct ptx_block *block,
                                            const struct ptx_thread *thread,
                                            const struct ptx_insn *ip, uint64_t address,
                                            unsigned bytes, bool write)
{
    if (PTX_LIKELY(address >> PTX_WINDOW_SHIFT == 0))
        return ptx_at_global(block, thread, ip, address, bytes, write);
    return ptx_reach_window(block, thread, address, bytes, write);
}

static inline unsigned char *ptx_in_window(struct ptx_block *block, unsigned char *base,
                                           uint32_t size, uint32_t offset, unsigned bytes,
                                           const char *what)
{
    if (PTX_LIKELY(offset < size && size - offset >= bytes && (offset & (bytes - 1)) == 0))
        return base + offset;
    return ptx_fault(block, offset & (bytes - 1) ? PTX_MISALIGNED : PTX_ILLEGAL_ADDRESS, what,
                     offset, bytes);
}

static inline unsigned char *ptx_at_shared(struct ptx_block *block, const struct ptx_thread *thread,
                                           const struct ptx_insn *ip, uint64_t address,
                                           unsigned bytes, bool write)
{
    return ptx_in_window(block, block->shared, block->shared_bytes, (uint32_t)address, bytes,
                         "access to shared memory");
}

static inline unsigned char *ptx_at_cluster(struct ptx_block *block,
                                            const struct ptx_thread *thread,
                                            const struct ptx_insn *ip, uint64_t address,
                                            unsigned bytes, bool write)
{
    return ptx_reach_cluster(block, (uint32_t)address, bytes);
}

static inline unsigned char *ptx_at_local(struct ptx_block *block, const struct ptx_thread *thread,
                                          const struct ptx_insn *ip, uint64_t address,
                                          unsigned bytes, bool write)
{
    return ptx_in_window(block, thread->locals, block->local_bytes, (uint32_t)address, bytes,
                         "access to local memory");
}

static inline unsigned char *ptx_at_param(struct ptx_block *block, const struct ptx_thread *thread,
                                          const struct ptx_insn *ip, uint64_t address,
                                          unsigned bytes, bool write)
{
    return ptx_in_window(block, (unsigned char *)block->params, block->param_bytes,
                         (uint32_t)address, bytes, "access to a parameter");
}

#endif
