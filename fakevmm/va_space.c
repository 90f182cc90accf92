/* va_space.c: the range of device addresses, reserved without access, and which part of it is
 * handed out next. Untouched addresses come from the start of the range upwards; freed pieces
 * are kept in the order of freeing. It must not know what is mapped where. */
#include "settings.h"
#include "va.h"

#include <stdlib.h>
#include <sys/mman.h>

#define RANGE_BYTES     ((size_t)1 << 40)
#define RANGE_BYTES_MIN ((size_t)1 << 30)
#define RANGE_ALIGN     ((size_t)2 << 20)

/* A free piece; its key is its place in the order of freeing, its weight its size. */
struct piece {
    struct fv_tree_node node;
    CUdeviceptr base;
};

static struct {
    CUdeviceptr base, end;
    CUdeviceptr fresh;     /* addresses from here on were never handed out */
    struct fv_tree pieces; /* free ones, the one freed last at the end */
    uint64_t last_place;
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

/* If the host has no memory for it, the addresses are lost, which the range can afford. */
static void add_piece(uint64_t place, CUdeviceptr base, size_t size)
{
    struct piece *piece = malloc(sizeof *piece);

    if (!piece)
        return;
    *piece = (struct piece){.node = {.key = place, .weight = size}, .base = base};
    fv_tree_add(&space.pieces, &piece->node);
}

static void add_newest(CUdeviceptr base, size_t size)
{
    add_piece(++space.last_place, base, size);
}

/* The first address in [base, end) with room for an aligned block, or 0. */
static CUdeviceptr fit(CUdeviceptr base, CUdeviceptr end, size_t size, size_t align)
{
    CUdeviceptr at = (base + align - 1) & ~(CUdeviceptr)(align - 1);

    return at >= base && at <= end && end - at >= size ? at : 0;
}

/* Cuts [at, at + size) out of a piece; what remains keeps its place in the order. */
static void cut(struct piece *piece, CUdeviceptr at, size_t size)
{
    size_t before = at - piece->base, after = piece->node.weight - before - size;
    uint64_t place = piece->node.key;

    fv_tree_remove(&space.pieces, &piece->node);
    if (before)
        add_piece(place, piece->base, before);
    if (before && after)
        add_newest(at + size, after);
    else if (after)
        add_piece(place, at + size, after);
    free(piece);
}

static CUdeviceptr take_freed(size_t size, size_t align)
{
    bool lifo = fv_settings()->va_lifo;
    uint64_t from = 0, to = space.last_place;
    struct fv_tree_node *node;

    /* A piece that is large enough mostly has the alignment, too. */
    while ((node = fv_tree_fit(&space.pieces, from, to, size, lifo)) != NULL) {
        struct piece *piece = FV_TREE_OF(node, struct piece, node);
        CUdeviceptr at = fit(piece->base, piece->base + node->weight, size, align);
        if (at) {
            cut(piece, at, size);
            return at;
        }
        if (lifo)
            to = node->key - 1;
        else
            from = node->key + 1;
    }
    return 0;
}

static CUdeviceptr take_fresh(size_t size, size_t align)
{
    CUdeviceptr at = fit(space.fresh, space.end, size, align);

    if (!at)
        return 0;
    if (at > space.fresh)
        add_newest(space.fresh, at - space.fresh);
    space.fresh = at + size;
    return at;
}

static int by_base(const void *a, const void *b)
{
    const struct piece *const *left = a, *const *right = b;

    return (*left)->base < (*right)->base ? -1 : (*left)->base > (*right)->base;
}

/* All free pieces, in the order of their addresses; they are in no tree then. */
static struct piece **take_pieces(size_t *count)
{
    struct piece **pieces = malloc((space.pieces.count + 1) * sizeof *pieces);
    struct fv_tree_node *node;

    *count = 0;
    while (pieces && (node = fv_tree_ceiling(&space.pieces, 0)) != NULL) {
        fv_tree_remove(&space.pieces, node);
        pieces[(*count)++] = FV_TREE_OF(node, struct piece, node);
    }
    if (pieces)
        qsort(pieces, *count, sizeof *pieces, by_base);
    return pieces;
}

/* Joins neighbours. The order of freeing is lost, so only when nothing else helps. */
static void join_pieces(void)
{
    size_t count;
    struct piece **pieces = take_pieces(&count);

    for (size_t i = 0; i < count; i++) {
        struct piece *next = i + 1 < count ? pieces[i + 1] : NULL;
        if (next && pieces[i]->base + pieces[i]->node.weight == next->base) {
            next->base = pieces[i]->base;
            next->node.weight += pieces[i]->node.weight;
            free(pieces[i]);
            continue;
        }
        pieces[i]->node.key = ++space.last_place;
        fv_tree_add(&space.pieces, &pieces[i]->node);
    }
    free(pieces);
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

void fv_va_give(CUdeviceptr base, size_t size)
{
    add_newest(base, size);
}
