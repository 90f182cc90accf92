/* core_allocations.c: the table of allocations, against a plain array as the oracle. */
#include "core/allocations.h"

#include "tests/unit/vr_test.h"

static struct vr_heap heap;
static struct vr_allocations *table;

static void begin(void)
{
    memset(&heap, 0, sizeof heap);
    table = vr_allocations_new(&heap);
    T_NOT_NULL(table);
}

static void check(void)
{
    const char *broken = vr_allocations_check(table);

    T_ASSERT(!broken, "%s", broken);
}

static void end(void)
{
    check();
    vr_allocations_free(table, &heap);
    T_EQ(heap.blocks, 0);
    T_EQ(heap.bytes, 0);
}

static uint64_t add(uint64_t base, size_t bytes)
{
    struct vr_allocation allocation = {.base = base, .bytes = bytes, .context = 7};

    T_ASSERT(vr_allocations_add(table, &heap, &allocation));
    return allocation.generation;
}

static bool has(uint64_t address, uint64_t base)
{
    struct vr_allocation out;

    return vr_allocations_find(table, address, &out) && out.base == base;
}

TEST(allocations, found_by_any_address_inside)
{
    struct vr_allocation out;

    begin();
    T_ASSERT(!vr_allocations_find(table, 0x1000, &out));
    add(0x1000, 0x100);
    add(0x3000, 1);
    T_ASSERT(has(0x1000, 0x1000));
    T_ASSERT(has(0x10ff, 0x1000));
    T_ASSERT(has(0x3000, 0x3000));
    T_ASSERT(!vr_allocations_find(table, 0xfff, &out));
    T_ASSERT(!vr_allocations_find(table, 0x1100, &out));
    T_ASSERT(!vr_allocations_find(table, 0x3001, &out));
    T_ASSERT(!vr_allocations_find(table, 0, &out));
    T_ASSERT(!vr_allocations_find(table, UINT64_MAX, &out));
    end();
}

/* Hundreds of gigabytes cost as much as a byte. */
TEST(allocations, sizes_do_not_matter)
{
    begin();
    add((uint64_t)1 << 40, (size_t)900 << 30);
    T_ASSERT(has(((uint64_t)1 << 40) + ((uint64_t)899 << 30), (uint64_t)1 << 40));
    T_LE(heap.bytes, 16 << 10);
    end();
}

TEST(allocations, generations_are_never_reused)
{
    struct vr_allocation out;
    uint64_t first, second;

    begin();
    first = add(0x1000, 16);
    T_EQ(vr_allocations_generation(table), first);
    T_ASSERT(vr_allocations_alive(table, 0x1000, first));
    T_ASSERT(vr_allocations_remove(table, &heap, 0x1000, &out));
    T_EQ(out.generation, first);
    T_ASSERT(!vr_allocations_alive(table, 0x1000, first));
    second = add(0x1000, 16);
    T_GT(second, first);
    T_ASSERT(!vr_allocations_alive(table, 0x1000, first));
    T_ASSERT(vr_allocations_alive(table, 0x1000, second));
    end();
}

TEST(allocations, only_a_base_is_removed)
{
    struct vr_allocation out;

    begin();
    add(0x1000, 0x100);
    T_ASSERT(!vr_allocations_remove(table, &heap, 0x1008, &out));
    T_ASSERT(!vr_allocations_retire(table, 0x1008, &out));
    T_ASSERT(!vr_allocations_remove(table, &heap, 0x900, &out));
    T_ASSERT(vr_allocations_remove(table, &heap, 0x1000, &out));
    T_ASSERT(!vr_allocations_remove(table, &heap, 0x1000, &out));
    T_EQ(out.bytes, 0x100);
    T_EQ(out.context, 7);
    T_EQ(vr_allocations_count(table), 0);
    end();
}

TEST(allocations, a_free_hides_and_restores)
{
    struct vr_allocation out;
    uint64_t generation;

    begin();
    generation = add(0x1000, 0x100);
    T_ASSERT(vr_allocations_retire(table, 0x1000, &out));
    T_EQ(out.generation, generation);
    T_ASSERT(!vr_allocations_retire(table, 0x1000, &out));
    T_ASSERT(!vr_allocations_find(table, 0x1010, &out));
    T_ASSERT(!vr_allocations_alive(table, 0x1000, generation));
    T_ASSERT(vr_allocations_restore(table, 0x1000, generation));
    T_ASSERT(vr_allocations_alive(table, 0x1000, generation));
    T_ASSERT(has(0x1010, 0x1000));
    T_ASSERT(vr_allocations_retire(table, 0x1000, &out));
    T_ASSERT(vr_allocations_bury(table, &heap, 0x1000, generation, &out));
    T_ASSERT(!vr_allocations_bury(table, &heap, 0x1000, generation, &out));
    T_ASSERT(!vr_allocations_restore(table, 0x1000, generation));
    end();
}

/* Another thread is given the address while the free is under way. */
TEST(allocations, a_successor_is_left_alone)
{
    struct vr_allocation out;
    uint64_t first, second;

    begin();
    first = add(0x1000, 0x100);
    T_ASSERT(vr_allocations_retire(table, 0x1000, &out));
    second = add(0x1000, 0x200);
    T_ASSERT(!vr_allocations_bury(table, &heap, 0x1000, first, &out));
    T_ASSERT(!vr_allocations_restore(table, 0x1000, first));
    T_ASSERT(vr_allocations_alive(table, 0x1000, second));
    end();
}

/* Whatever lies in the place of a new allocation has died unseen. */
TEST(allocations, the_dead_are_displaced)
{
    struct vr_allocation out;
    int dead = 0;

    begin();
    add(0x1000, 0x100);
    add(0x1100, 0x100);
    add(0x1200, 0x100);
    while (vr_allocations_displace(table, &heap, 0x10f0, 0x111, &out))
        dead++;
    T_EQ(dead, 3);
    add(0x1000, 0x100);
    add(0x2000, 0x100);
    add(0x1080, 0x1000);
    T_EQ(vr_allocations_count(table), 1);
    T_ASSERT(has(0x2010, 0x1080));
    end();
}

TEST(allocations, of_a_context)
{
    struct vr_allocation out, other = {.bytes = 8, .context = 9};
    uint64_t from = 0;
    int seen = 0;

    begin();
    for (int i = 0; i < 1000; i++) {
        add(0x10000 + (uint64_t)i * 64, 32);
        other.base = 0x10000 + (uint64_t)i * 64 + 32;
        T_ASSERT(vr_allocations_add(table, &heap, &other));
    }
    while (vr_allocations_remove_of(table, &heap, 9, UINT64_MAX, &from, &out)) {
        T_EQ(out.context, 9);
        seen++;
    }
    T_EQ(seen, 1000);
    T_EQ(vr_allocations_count(table), 1000);
    T_ASSERT(has(0x10000 + 999 * 64 + 31, 0x10000 + 999 * 64));
    end();
}

enum { PLACES = 3000 };

static uint64_t live[PLACES]; /* the generation at place i; 0: none */

static uint64_t place_of(unsigned i)
{
    return 0x100000 + (uint64_t)i * 4096;
}

static void verify(void)
{
    size_t count = 0;

    for (unsigned i = 0; i < PLACES; i++) {
        struct vr_allocation out;
        bool found = vr_allocations_find(table, place_of(i) + 100, &out);
        T_EQ(found, live[i] != 0);
        if (found)
            T_EQ(out.generation, live[i]);
        count += live[i] != 0;
    }
    T_EQ(vr_allocations_count(table), count);
    check();
}

TEST(allocations, agrees_with_a_plain_array)
{
    unsigned seed = 1;

    begin();
    memset(live, 0, sizeof live);
    for (int round = 0; round < 60000; round++) {
        struct vr_allocation out;
        unsigned i = (unsigned)rand_r(&seed) % PLACES;
        /* Grows, shrinks to nothing, grows. */
        bool grows = round / 10000 % 2 == 0;
        if (live[i] && (!grows || rand_r(&seed) % 4 == 0)) {
            T_ASSERT(vr_allocations_remove(table, &heap, place_of(i), &out));
            T_EQ(out.generation, live[i]);
            live[i] = 0;
        } else if (!live[i] && grows) {
            live[i] = add(place_of(i), 4096);
        }
        if (round % 5000 == 0)
            verify();
    }
    verify();
    end();
}

TEST(allocations, every_order_of_adding)
{
    static const int steps[] = {1, -1, 7, 1009};

    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        begin();
        for (int i = 0; i < PLACES; i++) {
            int at = steps[s] < 0 ? PLACES - 1 - i : i * steps[s] % PLACES;
            live[at] = add(place_of((unsigned)at), 4096);
        }
        verify();
        memset(live, 0, sizeof live);
        end();
    }
}

/* In a steady state the heap is not asked, and pages are well filled where addresses grow. */
TEST(allocations, memory)
{
    struct vr_allocation out;
    uint64_t blocks;

    begin();
    for (unsigned i = 0; i < 10000; i++)
        add(place_of(i), 4096);
    T_LE(heap.bytes, 10000 * 90);
    blocks = heap.blocks;
    heap.fail_at = 1;
    for (unsigned i = 0; i < 10000; i++) {
        T_ASSERT(vr_allocations_remove(table, &heap, place_of(i), &out));
        add(place_of(i), 4096);
    }
    T_EQ(heap.blocks, blocks);
    T_EQ(heap.fail_at, 1);
    heap.fail_at = 0;
    end();
}

TEST(allocations, out_of_memory)
{
    for (uint64_t nth = 1, left = 0; left == 0; nth++) {
        begin();
        heap.fail_at = nth;
        for (unsigned i = 0; i < 2000; i++) {
            struct vr_allocation allocation = {.base = place_of(i), .bytes = 4096}, out;
            bool added = vr_allocations_add(table, &heap, &allocation);
            T_EQ(vr_allocations_find(table, place_of(i) + 1, &out), added);
        }
        left = heap.fail_at;
        heap.fail_at = 0;
        end();
    }
    heap.fail_at = 1;
    T_NULL(vr_allocations_new(&heap));
}
