/* core_bitmap.c: the bitmap that finds its least member, against a plain array. */
#include "core/bitmap.h"

#include "tests/unit/vr_test.h"

enum { NUMBERS = 9000 };

static struct vr_heap heap;
static bool member[NUMBERS];

static uint32_t least(void)
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (member[i])
            return i;
    return VR_BITMAP_NONE;
}

TEST(bitmap, agrees_with_a_plain_array)
{
    struct vr_bitmap set = {0};
    unsigned seed = 1;

    T_EQ(vr_bitmap_least(&set), VR_BITMAP_NONE);
    T_ASSERT(!vr_bitmap_has(&set, 0));
    for (uint32_t room = 1; room <= NUMBERS; room = room * 3 + 1) {
        T_ASSERT(vr_bitmap_reserve(&set, &heap, room));
        T_ASSERT(vr_bitmap_sound(&set));
        for (int i = 0; i < 3000; i++) {
            uint32_t number = (uint32_t)rand_r(&seed) % room;
            member[number] = !member[number];
            if (member[number])
                vr_bitmap_add(&set, number);
            else
                vr_bitmap_remove(&set, number);
            T_EQ(vr_bitmap_least(&set), least());
        }
        for (uint32_t i = 0; i < NUMBERS; i++)
            T_EQ(vr_bitmap_has(&set, i), member[i]);
        T_ASSERT(vr_bitmap_sound(&set));
    }
    for (uint32_t i = 0; i < NUMBERS; i++)
        if (member[i])
            vr_bitmap_remove(&set, i);
    T_EQ(vr_bitmap_least(&set), VR_BITMAP_NONE);
    vr_bitmap_free(&set, &heap);
    T_EQ(heap.bytes, 0);
}

TEST(bitmap, limits)
{
    struct vr_bitmap set = {0};

    T_ASSERT(!vr_bitmap_reserve(&set, &heap, VR_BITMAP_LIMIT + 1));
    T_ASSERT(vr_bitmap_reserve(&set, &heap, 64));
    vr_bitmap_add(&set, 63);
    heap.fail_at = 1;
    T_ASSERT(!vr_bitmap_reserve(&set, &heap, 65));
    T_EQ(vr_bitmap_least(&set), 63);
    T_ASSERT(vr_bitmap_reserve(&set, &heap, VR_BITMAP_LIMIT));
    T_EQ(vr_bitmap_least(&set), 63);
    vr_bitmap_add(&set, VR_BITMAP_LIMIT - 1);
    vr_bitmap_remove(&set, 63);
    T_EQ(vr_bitmap_least(&set), VR_BITMAP_LIMIT - 1);
    vr_bitmap_free(&set, &heap);
    T_EQ(heap.blocks, 0);
}
