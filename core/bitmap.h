/* bitmap.h: a growing set of small numbers that finds its least member at a flat cost: a bit for
 * each number, and over them bits that say which words below have any. Knows nothing of what is
 * numbered. Callers serialise. */
#ifndef VR_BITMAP_H
#define VR_BITMAP_H

#include <stdbool.h>

#include "alloc.h"

#define VR_BITMAP_LEVELS 4
#define VR_BITMAP_LIMIT  ((uint32_t)1 << 6 * VR_BITMAP_LEVELS)
#define VR_BITMAP_NONE   UINT32_MAX

/* All zero: an empty set without room. */
struct vr_bitmap {
    uint32_t room;                     /* numbers below it may be members */
    uint64_t *level[VR_BITMAP_LEVELS]; /* one block; the last level is one word */
};

/* Makes room for numbers below `room`. False, the set being as before, when memory is out or the
 * limit is passed. */
bool vr_bitmap_reserve(struct vr_bitmap *set, struct vr_heap *heap, uint32_t room);
void vr_bitmap_free(struct vr_bitmap *set, struct vr_heap *heap);

/* `number` is below the room. */
static inline void vr_bitmap_add(struct vr_bitmap *set, uint32_t number)
{
    for (int i = 0; i < VR_BITMAP_LEVELS; i++, number >>= 6)
        set->level[i][number >> 6] |= (uint64_t)1 << (number & 63);
}

static inline void vr_bitmap_remove(struct vr_bitmap *set, uint32_t number)
{
    for (int i = 0; i < VR_BITMAP_LEVELS; i++, number >>= 6)
        if (set->level[i][number >> 6] &= ~((uint64_t)1 << (number & 63)))
            return;
}

static inline bool vr_bitmap_has(const struct vr_bitmap *set, uint32_t number)
{
    return number < set->room && set->level[0][number >> 6] >> (number & 63) & 1;
}

/* VR_BITMAP_NONE for an empty set. */
static inline uint32_t vr_bitmap_least(const struct vr_bitmap *set)
{
    uint32_t number = 0;

    if (!set->room || !set->level[VR_BITMAP_LEVELS - 1][0])
        return VR_BITMAP_NONE;
    for (int i = VR_BITMAP_LEVELS - 1; i >= 0; i--)
        number = number << 6 | (uint32_t)__builtin_ctzll(set->level[i][number]);
    return number;
}

/* Whether the upper levels agree with the lowest. */
bool vr_bitmap_sound(const struct vr_bitmap *set);

#endif
