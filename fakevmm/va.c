/* va.c: the software page table: which addresses are joined to which block, and who may access
 * them; and the ways to reach the bytes. Changes are made under the driver's lock; workers read
 * without it, hence the table's own lock. It must not know why something is mapped. */
#include "va.h"
#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_rwlock_t lock;
    struct fv_tree mappings;     /* by base; they do not overlap */
    _Atomic uint64_t generation; /* of everything a kept span depends on */
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

struct fv_mapping *fv_va_find(CUdeviceptr address)
{
    struct fv_tree_node *node = fv_tree_floor(&table.mappings, address);
    struct fv_mapping *mapping = FV_TREE_OF(node, struct fv_mapping, node);

    return mapping && address - mapping->base < mapping->size ? mapping : NULL;
}

struct fv_mapping *fv_va_from(CUdeviceptr address)
{
    struct fv_tree_node *node = fv_tree_ceiling(&table.mappings, address);

    return FV_TREE_OF(node, struct fv_mapping, node);
}

bool fv_va_mapped(CUdeviceptr base, size_t size)
{
    while (size) {
        const struct fv_mapping *mapping = fv_va_find(base);
        if (!mapping || (!mapping->readable && !mapping->waiting))
            return false;
        size_t part = mapping->base + mapping->size - base;
        if (part >= size)
            return true;
        base += part;
        size -= part;
    }
    return true;
}

static bool overlaps(CUdeviceptr base, size_t size)
{
    const struct fv_mapping *next = fv_va_from(base);

    return fv_va_find(base) || (next && next->base - base < size);
}

CUresult fv_va_map(const struct fv_mapping *mapping)
{
    struct fv_mapping *copy;

    if (overlaps(mapping->base, mapping->size))
        return CUDA_ERROR_INVALID_VALUE;
    copy = malloc(sizeof *copy);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *copy = *mapping;
    copy->node.key = copy->base;
    fv_phys_get(copy->phys);
    pthread_rwlock_wrlock(&table.lock);
    fv_tree_add(&table.mappings, &copy->node);
    if (++copy->phys->mappings == 2) /* who keeps a span thinks it is the only one */
        atomic_fetch_add(&table.generation, 1);
    pthread_rwlock_unlock(&table.lock);
    return CUDA_SUCCESS;
}

bool fv_va_unmap(CUdeviceptr base)
{
    struct fv_mapping *mapping = fv_va_find(base);

    if (!mapping || mapping->base != base)
        return false;
    pthread_rwlock_wrlock(&table.lock);
    fv_tree_remove(&table.mappings, &mapping->node);
    mapping->phys->mappings--;
    atomic_fetch_add(&table.generation, 1);
    pthread_rwlock_unlock(&table.lock);
    fv_phys_put(mapping->phys);
    free(mapping);
    return true;
}

void fv_va_set_access(struct fv_mapping *mapping, uint32_t readable, uint32_t writable)
{
    pthread_rwlock_wrlock(&table.lock);
    mapping->readable = readable;
    mapping->writable = writable;
    atomic_fetch_add(&table.generation, 1);
    pthread_rwlock_unlock(&table.lock);
}

/* Spans of the old bytes may still be kept, though nobody is using them. */
bool fv_va_share(struct fv_phys *phys, size_t trailer)
{
    bool shared;

    if (phys->file >= 0)
        return true;
    fv_phys_get(phys);
    fv_workers_rest();
    pthread_rwlock_wrlock(&table.lock);
    shared = fv_phys_share(phys, trailer);
    atomic_fetch_add(&table.generation, 1);
    pthread_rwlock_unlock(&table.lock);
    fv_phys_put(phys);
    return shared;
}

CUmemAccess_flags fv_va_access(const struct fv_mapping *mapping, int device)
{
    uint32_t own = 1u << device;

    if (mapping->writable & own)
        return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return mapping->readable & own ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

/* ---- access, any thread ---- */

/* The devices whose rights count, as a mask. */
static uint32_t who_asks(const struct fv_mapping *mapping, int device)
{
    if (device >= 0)
        return 1u << device;
    return mapping->handle ? 1u << ~device : UINT32_MAX;
}

uint64_t fv_va_generation(void)
{
    return atomic_load(&table.generation);
}

bool fv_va_span(CUdeviceptr address, int device, struct fv_span *out)
{
    const struct fv_mapping *mapping;
    uint32_t who = 0;
    bool found;

    pthread_rwlock_rdlock(&table.lock);
    mapping = fv_va_find(address);
    if (mapping)
        who = who_asks(mapping, device);
    found = mapping && mapping->readable & who;
    if (found)
        *out = (struct fv_span){mapping->base, mapping->base + mapping->size,
                                mapping->phys->bytes + mapping->offset,
                                (mapping->writable & who) != 0, mapping->phys->mappings > 1};
    pthread_rwlock_unlock(&table.lock);
    return found;
}

/* The bytes at an address, and how many of `size` are there in one piece; 0 when none may be used.
 */
static size_t piece(CUdeviceptr address, size_t size, int device, bool write, unsigned char **out)
{
    struct fv_span span;

    if (!fv_va_span(address, device, &span) || (write && !span.writable))
        return 0;
    *out = span.host + (address - span.base);
    return size < span.end - address ? size : span.end - address;
}

CUresult fv_va_read(void *to, CUdeviceptr from, size_t size, int device)
{
    unsigned char *at, *bytes = to;

    while (size) {
        size_t part = piece(from, size, device, false, &at);
        if (!part)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        memmove(bytes, at, part);
        bytes += part, from += part, size -= part;
    }
    return CUDA_SUCCESS;
}

CUresult fv_va_write(CUdeviceptr to, const void *from, size_t size, int device)
{
    const unsigned char *bytes = from;
    unsigned char *at;

    while (size) {
        size_t part = piece(to, size, device, true, &at);
        if (!part)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        memmove(at, bytes, part);
        bytes += part, to += part, size -= part;
    }
    return CUDA_SUCCESS;
}

CUresult fv_va_copy(CUdeviceptr to, CUdeviceptr from, size_t size, int device)
{
    unsigned char *at;

    while (size) {
        size_t part = piece(from, size, device, false, &at);
        if (!part)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        CUresult result = fv_va_write(to, at, part, device);
        if (result != CUDA_SUCCESS)
            return result;
        to += part, from += part, size -= part;
    }
    return CUDA_SUCCESS;
}

static void fill_bytes(unsigned char *at, unsigned value, unsigned width, size_t bytes)
{
    if (width == 1) {
        memset(at, (int)value, bytes);
        return;
    }
    for (size_t i = 0; i + width <= bytes; i += width)
        memcpy(at + i, &value, width); /* little endian: the low bytes come first */
}

/* An element that lies in two mappings is refused, as a misaligned one is. */
static CUresult fill_row(CUdeviceptr to, unsigned value, unsigned width, size_t bytes, int device)
{
    unsigned char *at;

    while (bytes) {
        size_t part = piece(to, bytes, device, true, &at) / width * width;
        if (!part)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        fill_bytes(at, value, width, part);
        to += part, bytes -= part;
    }
    return CUDA_SUCCESS;
}

CUresult fv_va_fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned width, size_t count,
                    size_t height, int device)
{
    for (size_t row = 0; row < height; row++) {
        CUresult result = fill_row(to + row * pitch, value, width, count * width, device);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}
