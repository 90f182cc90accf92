/* bitmap.c: the room of a bitmap. Must not know what is numbered. */
#include "bitmap.h"

#include <string.h>

/* Words of one level over `room` numbers. */
static size_t words_at(uint32_t room, int level)
{
    uint32_t span = (uint32_t)6 * (uint32_t)(level + 1);

    return (((uint64_t)room - 1) >> span) + 1;
}

static size_t words_in_all(uint32_t room)
{
    size_t words = 0;

    for (int i = 0; room && i < VR_BITMAP_LEVELS; i++)
        words += words_at(room, i);
    return words;
}

bool vr_bitmap_reserve(struct vr_bitmap *set, struct vr_heap *heap, uint32_t room)
{
    struct vr_bitmap larger = {.room = set->room ? set->room : 64};
    uint64_t *words;

    if (room <= set->room)
        return true;
    if (room > VR_BITMAP_LIMIT)
        return false;
    while (larger.room < room)
        larger.room *= 2;
    words = vr_alloc(heap, words_in_all(larger.room) * sizeof *words);
    if (!words)
        return false;
    for (int i = 0; i < VR_BITMAP_LEVELS; i++) {
        larger.level[i] = words;
        if (set->room)
            memcpy(words, set->level[i], words_at(set->room, i) * sizeof *words);
        words += words_at(larger.room, i);
    }
    vr_bitmap_free(set, heap);
    *set = larger;
    return true;
}

void vr_bitmap_free(struct vr_bitmap *set, struct vr_heap *heap)
{
    vr_free(heap, set->level[0], words_in_all(set->room) * sizeof *set->level[0]);
    *set = (struct vr_bitmap){0};
}

bool vr_bitmap_sound(const struct vr_bitmap *set)
{
    for (int i = 1; set->room && i < VR_BITMAP_LEVELS; i++)
        for (size_t word = 0; word < words_at(set->room, i - 1); word++)
            if ((set->level[i][word >> 6] >> (word & 63) & 1) != (set->level[i - 1][word] != 0))
                return false;
    return true;
}
