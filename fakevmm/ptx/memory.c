/* memory.c: finds device memory for an access that its site has not seen yet, and notes faults. It
 * asks the launch's struct ptx_memory and knows nothing of how that works. */
#include "cluster.h"
#include "run.h"

#include <string.h>

void *ptx_fault(struct ptx_block *block, enum ptx_result result, const char *what, uint64_t address,
                unsigned bytes)
{
    block->fault = (struct ptx_fault){result, what, address, bytes};
    return NULL;
}

static const struct ptx_span *find_span(struct ptx_block *block, uint64_t address, unsigned bytes,
                                        bool write)
{
    const struct ptx_memory *memory = &block->launch->memory;
    struct ptx_span *span;

    for (unsigned i = 0; i < PTX_SPANS; i++) {
        span = &block->spans[i];
        if (address >= span->base && address < span->end && span->end - address >= bytes &&
            (!write || span->writable))
            return span;
    }
    ptx_refresh(block);
    span = &block->spans[block->next_span++ % PTX_SPANS];
    if (address >> PTX_WINDOW_SHIFT == PTX_GRID_WINDOW >> PTX_WINDOW_SHIFT &&
        block->launch->cooperative) {
        *span = (struct ptx_span){PTX_GRID_WINDOW, PTX_GRID_WINDOW + PTX_GRID_BYTES,
                                  block->run->workspace, true};
        return address < span->end ? span : NULL;
    }
    if (memory->span(memory->context, address, bytes, write, span))
        return span;
    *span = (struct ptx_span){0};
    return NULL;
}

unsigned char *ptx_reach(struct ptx_block *block, struct ptx_site *site, uint64_t address,
                         unsigned bytes, bool write)
{
    const char *what = write ? "store" : "load";
    const struct ptx_span *span;

    if (address & (bytes - 1))
        return ptx_fault(block, PTX_MISALIGNED, what, address, bytes);
    span = find_span(block, address, bytes, write);
    if (!span || span->end - address < bytes || (write && !span->writable))
        return ptx_fault(block, PTX_ILLEGAL_ADDRESS, what, address, bytes);
    *site = (struct ptx_site){span->base, span->end - span->base, span->host};
    return span->host + (address - span->base);
}

unsigned char *ptx_reach_window(struct ptx_block *block, const struct ptx_thread *thread,
                                uint64_t address, unsigned bytes, bool write)
{
    uint64_t offset = address & ((UINT64_C(1) << PTX_WINDOW_SHIFT) - 1), size = 0;
    const char *what = write ? "store" : "load";
    unsigned char *base = NULL;

    switch (address - offset) {
    case PTX_SHARED_WINDOW:
        if (offset >> PTX_OWNER_SHIFT)
            return ptx_reach_cluster(block, (uint32_t)offset, bytes);
        base = block->shared, size = block->shared_bytes;
        break;
    case PTX_LOCAL_WINDOW: base = thread->locals, size = block->local_bytes; break;
    case PTX_GRID_WINDOW:
        base = block->run->workspace;
        size = block->launch->cooperative ? PTX_GRID_BYTES : 0;
        break;
    case PTX_PARAM_WINDOW:
        base = (unsigned char *)block->params;
        size = write ? 0 : block->param_bytes;
        break;
    }
    if (offset & (bytes - 1))
        return ptx_fault(block, PTX_MISALIGNED, what, address, bytes);
    if (offset >= size || size - offset < bytes)
        return ptx_fault(block, PTX_ILLEGAL_ADDRESS, what, address, bytes);
    return base + offset;
}

bool ptx_read(struct ptx_block *block, const struct ptx_thread *thread, uint64_t address, void *out,
              unsigned bytes)
{
    struct ptx_site site = {0};

    for (unsigned i = 0; i < bytes; i++) {
        const unsigned char *host = (address + i) >> PTX_WINDOW_SHIFT
                                        ? ptx_reach_window(block, thread, address + i, 1, false)
                                        : ptx_reach(block, &site, address + i, 1, false);
        if (!host)
            return false;
        ((unsigned char *)out)[i] = *host;
    }
    return true;
}

bool ptx_read_text(struct ptx_block *block, const struct ptx_thread *thread, uint64_t address,
                   char *out, size_t size)
{
    size_t used = 0;

    do {
        if (!ptx_read(block, thread, address + used, &out[used], 1))
            return false;
    } while (out[used] && ++used < size - 1);
    out[used] = '\0';
    return true;
}

void ptx_refresh(struct ptx_block *block)
{
    uint64_t generation = block->launch->memory.generation(block->launch->memory.context);

    if (generation == block->generation)
        return;
    block->generation = generation;
    memset(block->spans, 0, sizeof(block->spans));
    memset(block->sites, 0, block->site_count * sizeof(*block->sites));
}
