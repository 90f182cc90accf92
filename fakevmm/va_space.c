/* va_space.c: the range of device addresses, reserved without access, and which part of it is
 * handed out next. Untouched addresses come from the start of the range upwards; freed pieces
 * are kept in the order of freeing. It must not know what is mapped where. */
#include "settings.h"
#include "va.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RANGE_BYTES     ((size_t)1 << 40)
#define RANGE_BYTES_MIN ((size_t)1 << 30)
#define RANGE_ALIGN     ((size_t)2 << 20)

struct piece {
    CUdeviceptr base;
    size_t size;
};

static struct {
    CUdeviceptr base, end;
    CUdeviceptr fresh;    /* addresses from here on were never handed out */
    struct piece *pieces; /* free ones, the one freed last at the end */
    size_t count, capacity;
} space;

CUresult fv_va_init(void)
{
    if (space.base)
        return CUDA_SUCCESS;
    for (size_t size = RANGE_BYTES; size >= RANGE_BYTES_MIN; size /= 2) {
        void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            continue;
        space.base = ((CUdeviceptr)at + RANGE_ALIGN - 1) & ~(CUdeviceptr)(RANGE_ALIGN - 1);
        space.end = (CUdeviceptr)at + size;
        space.fresh = space.base;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

bool fv_va_is_device(CUdeviceptr address)
{
    return address >= space.base && address < space.end;
}

static bool add_piece(struct piece piece)
{
    if (space.count == space.capacity) {
        size_t capacity = space.capacity ? 2 * space.capacity : 64;
        struct piece *pieces = realloc(space.pieces, capacity * sizeof *pieces);
        if (!pieces)
            return false;
        space.pieces = pieces;
        space.capacity = capacity;
    }
    space.pieces[space.count++] = piece;
    return true;
}

/* The first address in [base, end) with room for an aligned block, or 0. */
static CUdeviceptr fit(CUdeviceptr base, CUdeviceptr end, size_t size, size_t align)
{
    CUdeviceptr at = (base + align - 1) & ~(CUdeviceptr)(align - 1);

    return at >= base && at <= end && end - at >= size ? at : 0;
}

/* Cuts [at, at + size) out of a piece; what remains keeps its place in the order. */
static void cut(size_t index, CUdeviceptr at, size_t size)
{
    struct piece piece = space.pieces[index];
    size_t before = at - piece.base, after = piece.size - before - size;

    if (before) {
        space.pieces[index].size = before;
    } else if (after) {
        space.pieces[index] = (struct piece){at + size, after};
        after = 0;
    } else {
        space.count--;
        memmove(&space.pieces[index], &space.pieces[index + 1],
                (space.count - index) * sizeof *space.pieces);
    }
    if (after)
        add_piece((struct piece){at + size, after});
}

static CUdeviceptr take_freed(size_t size, size_t align)
{
    bool lifo = fv_settings()->va_lifo;

    for (size_t i = 0; i < space.count; i++) {
        size_t index = lifo ? space.count - 1 - i : i;
        const struct piece *piece = &space.pieces[index];
        CUdeviceptr at = fit(piece->base, piece->base + piece->size, size, align);
        if (at) {
            cut(index, at, size);
            return at;
        }
    }
    return 0;
}

static CUdeviceptr take_fresh(size_t size, size_t align)
{
    CUdeviceptr at = fit(space.fresh, space.end, size, align);

    if (!at)
        return 0;
    if (at > space.fresh)
        add_piece((struct piece){space.fresh, at - space.fresh});
    space.fresh = at + size;
    return at;
}

static int by_base(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;

    return left->base < right->base ? -1 : left->base > right->base;
}

/* Joins neighbours. The order of freeing is lost, so only when nothing else helps. */
static void join_pieces(void)
{
    size_t kept = 0;

    if (space.count)
        qsort(space.pieces, space.count, sizeof *space.pieces, by_base);
    for (size_t i = 0; i < space.count; i++) {
        struct piece *last = kept ? &space.pieces[kept - 1] : NULL;
        if (last && last->base + last->size == space.pieces[i].base)
            last->size += space.pieces[i].size;
        else
            space.pieces[kept++] = space.pieces[i];
    }
    space.count = kept;
}

CUresult fv_va_take(size_t size, size_t align, CUdeviceptr *out)
{
    CUdeviceptr at = 0;

    if (!size || size > space.end - space.base)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (fv_settings()->va_lifo)
        at = take_freed(size, align);
    if (!at)
        at = take_fresh(size, align);
    if (!at)
        at = take_freed(size, align);
    if (!at) {
        join_pieces();
        at = take_freed(size, align);
    }
    if (!at)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *out = at;
    return CUDA_SUCCESS;
}

/* If the host has no memory for the list, the addresses are lost, which the range can afford. */
void fv_va_give(CUdeviceptr base, size_t size)
{
    add_piece((struct piece){base, size});
}
