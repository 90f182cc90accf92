/* allocations.c: the table of live allocations: pages of up to 64 records, and an ordered array of
 * the pages. So a look-up is two short binary searches, and an allocation that comes and goes moves
 * some bytes within its page and never asks the heap. Must not know who owns an allocation. */
#include "allocations.h"

#include <stdatomic.h>

#define RECORDS 64

/* Records stay where they are; `order` sorts them. */
struct page {
    uint32_t count;
    uint64_t used;          /* bit n: record n is in use */
    uint64_t base[RECORDS]; /* sorted; the first `count` */
    uint8_t order[RECORDS]; /* the record that base[i] belongs to */
    struct vr_allocation record[RECORDS];
};

/* Where a record is, or would be. */
struct place {
    uint32_t page, index;
};

/* Page i holds the bases from first[i] to before first[i + 1]; first[0] is 0. No page is empty. */
struct vr_allocations {
    struct vr_lock lock; /* guards all */
    uint32_t pages, room;
    uint64_t *first;
    struct page **page;
    size_t count;
    struct place last; /* that was found by its base: what is retired is buried next */
    _Atomic uint64_t generations;
};

struct vr_allocations *vr_allocations_new(struct vr_heap *heap)
{
    struct vr_allocations *table = vr_alloc(heap, sizeof *table);

    if (table)
        vr_lock_init(&table->lock, VR_RANK_ALLOCATIONS);
    return table;
}

static void free_arrays(struct vr_allocations *table, struct vr_heap *heap)
{
    vr_free(heap, table->first, table->room * sizeof *table->first);
    vr_free(heap, table->page, table->room * sizeof(struct page *));
}

void vr_allocations_free(struct vr_allocations *table, struct vr_heap *heap)
{
    if (!table)
        return;
    for (uint32_t i = 0; i < table->pages; i++)
        vr_free(heap, table->page[i], sizeof *table->page[i]);
    free_arrays(table, heap);
    vr_lock_free(&table->lock);
    vr_free(heap, table, sizeof *table);
}

/* ---- searching ---- */

/* The number of `keys` that are at most `key`; they are sorted. A branch on a key would be guessed
 * wrong every other time, hence the mask. */
static uint32_t count_up_to(const uint64_t *keys, uint32_t count, uint64_t key)
{
    const uint64_t *at = keys;

    while (count > 1) {
        uint32_t half = count / 2;
        at += half & -(uint32_t)(at[half - 1] <= key);
        count -= half;
    }
    return (uint32_t)(at - keys) + (count && *at <= key);
}

/* The last record whose base is at most `address`; false when there is none. */
static bool find_at_most(const struct vr_allocations *table, uint64_t address, struct place *place)
{
    uint32_t page = count_up_to(table->first, table->pages, address), index;

    if (!page)
        return false;
    page--;
    index = count_up_to(table->page[page]->base, table->page[page]->count, address);
    /* All of its page may come later: only of the first page, whose first is 0. */
    if (!index && !page)
        return false;
    if (!index)
        index = table->page[--page]->count;
    *place = (struct place){page, index - 1};
    return true;
}

static struct vr_allocation *record_at(const struct vr_allocations *table, struct place place)
{
    struct page *page = table->page[place.page];

    return &page->record[page->order[place.index]];
}

/* The record around `address`, retired or not; NULL when there is none. */
static struct vr_allocation *find_around(const struct vr_allocations *table, uint64_t address,
                                         struct place *place)
{
    struct vr_allocation *record;

    if (!find_at_most(table, address, place))
        return NULL;
    record = record_at(table, *place);
    return address - record->base < record->bytes ? record : NULL;
}

static struct vr_allocation *find_base(struct vr_allocations *table, uint64_t base,
                                       struct place *place)
{
    struct vr_allocation *record;

    *place = table->last;
    if (place->page < table->pages && place->index < table->page[place->page]->count &&
        table->page[place->page]->base[place->index] == base)
        return record_at(table, *place);
    record = find_around(table, base, place);
    if (!record || record->base != base)
        return NULL;
    table->last = *place;
    return record;
}

/* The place after `place`; false at the end. */
static bool next_place(const struct vr_allocations *table, struct place *place)
{
    if (++place->index == table->page[place->page]->count)
        *place = (struct place){place->page + 1, 0};
    return place->page < table->pages && table->page[place->page]->count;
}

/* The first record at `address` or above; false at the end. */
static bool find_from(const struct vr_allocations *table, uint64_t address, struct place *place)
{
    if (!find_at_most(table, address, place)) {
        *place = (struct place){0, 0};
        return table->pages && table->page[0]->count;
    }
    return record_at(table, *place)->base == address || next_place(table, place);
}

/* One that overlaps the bytes from `base` on. */
static struct vr_allocation *find_overlap(const struct vr_allocations *table, uint64_t base,
                                          size_t bytes, struct place *place)
{
    struct vr_allocation *record = NULL;
    bool more;

    if (find_at_most(table, base, place)) {
        record = record_at(table, *place);
        if (base - record->base < record->bytes)
            return record;
        more = next_place(table, place);
    } else {
        *place = (struct place){0, 0};
        more = table->pages && table->page[0]->count;
    }
    if (!more)
        return NULL;
    record = record_at(table, *place);
    return record->base - base < bytes ? record : NULL;
}

/* ---- removing ---- */

static void drop_page(struct vr_allocations *table, struct vr_heap *heap, uint32_t index)
{
    uint32_t after = table->pages - index - 1;

    vr_free(heap, table->page[index], sizeof *table->page[index]);
    memmove(table->first + index, table->first + index + 1, after * sizeof *table->first);
    memmove(table->page + index, table->page + index + 1, after * sizeof(struct page *));
    table->pages--;
    if (table->pages)
        table->first[0] = 0;
}

static void remove_at(struct vr_allocations *table, struct vr_heap *heap, struct place place,
                      struct vr_allocation *out)
{
    struct page *page = table->page[place.page];
    uint32_t after = page->count - place.index - 1, record = page->order[place.index];

    *out = page->record[record];
    page->used &= ~((uint64_t)1 << record);
    memmove(page->base + place.index, page->base + place.index + 1, after * sizeof *page->base);
    memmove(page->order + place.index, page->order + place.index + 1, after);
    page->count--;
    table->count--;
    /* The last page stays, so that one that comes and goes alone does not ask the heap. */
    if (!page->count && table->pages > 1)
        drop_page(table, heap, place.page);
}

/* ---- adding ---- */

static bool grow_arrays(struct vr_allocations *table, struct vr_heap *heap)
{
    uint32_t room = table->room ? table->room * 2 : 8;
    uint64_t *first = vr_alloc(heap, room * sizeof *first);
    struct page **page = vr_alloc(heap, room * sizeof *page);

    if (!first || !page) {
        vr_free(heap, first, room * sizeof *first);
        vr_free(heap, page, room * sizeof *page);
        return false;
    }
    if (table->pages) {
        memcpy(first, table->first, table->pages * sizeof *first);
        memcpy(page, table->page, table->pages * sizeof *page);
    }
    free_arrays(table, heap);
    table->first = first;
    table->page = page;
    table->room = room;
    return true;
}

/* A new empty page at `index`, for the bases from `first` on. */
static struct page *make_page(struct vr_allocations *table, struct vr_heap *heap, uint32_t index,
                              uint64_t first)
{
    uint32_t after = table->pages - index;
    struct page *page;

    if (table->pages == table->room && !grow_arrays(table, heap))
        return NULL;
    page = vr_alloc(heap, sizeof *page);
    if (!page)
        return NULL;
    memmove(table->first + index + 1, table->first + index, after * sizeof *table->first);
    memmove(table->page + index + 1, table->page + index, after * sizeof(struct page *));
    table->first[index] = first;
    table->page[index] = page;
    table->pages++;
    return page;
}

static void insert(struct page *page, uint32_t index, const struct vr_allocation *allocation)
{
    uint32_t after = page->count - index, record = (uint32_t)__builtin_ctzll(~page->used);

    memmove(page->base + index + 1, page->base + index, after * sizeof *page->base);
    memmove(page->order + index + 1, page->order + index, after);
    page->base[index] = allocation->base;
    page->order[index] = (uint8_t)record;
    page->record[record] = *allocation;
    page->used |= (uint64_t)1 << record;
    page->count++;
}

/* Gives the upper part of a full page to a new one: half, or, at the end of the table, nothing,
 * since addresses mostly grow. */
static bool split(struct vr_allocations *table, struct vr_heap *heap, uint32_t index, uint64_t base)
{
    struct page *page = table->page[index], *upper;
    bool grows = index + 1 == table->pages && base > page->base[RECORDS - 1];
    uint32_t keep = grows ? RECORDS : RECORDS / 2;

    upper = make_page(table, heap, index + 1, grows ? base : page->base[keep]);
    if (!upper)
        return false;
    for (uint32_t i = keep; i < RECORDS; i++) {
        insert(upper, i - keep, &page->record[page->order[i]]);
        page->used &= ~((uint64_t)1 << page->order[i]);
    }
    page->count = keep;
    return true;
}

static bool add(struct vr_allocations *table, struct vr_heap *heap,
                const struct vr_allocation *allocation)
{
    uint32_t page;

    if (!table->pages && !make_page(table, heap, 0, 0))
        return false;
    page = count_up_to(table->first, table->pages, allocation->base) - 1;
    if (table->page[page]->count == RECORDS) {
        if (!split(table, heap, page, allocation->base))
            return false;
        page += allocation->base >= table->first[page + 1];
    }
    insert(table->page[page],
           count_up_to(table->page[page]->base, table->page[page]->count, allocation->base),
           allocation);
    table->count++;
    return true;
}

/* ---- the calls ---- */

bool vr_allocations_add(struct vr_allocations *table, struct vr_heap *heap,
                        struct vr_allocation *allocation)
{
    struct vr_allocation dead;
    struct place place;
    bool added;

    vr_lock_take(&table->lock);
    while (find_overlap(table, allocation->base, allocation->bytes, &place))
        remove_at(table, heap, place, &dead);
    allocation->retired = false;
    allocation->generation =
        atomic_fetch_add_explicit(&table->generations, 1, memory_order_relaxed) + 1;
    added = add(table, heap, allocation);
    vr_lock_drop(&table->lock);
    return added;
}

bool vr_allocations_displace(struct vr_allocations *table, struct vr_heap *heap, uint64_t base,
                             size_t bytes, struct vr_allocation *out)
{
    struct place place;
    bool found;

    vr_lock_take(&table->lock);
    found = find_overlap(table, base, bytes, &place);
    if (found)
        remove_at(table, heap, place, out);
    vr_lock_drop(&table->lock);
    return found;
}

bool vr_allocations_remove(struct vr_allocations *table, struct vr_heap *heap, uint64_t base,
                           struct vr_allocation *out)
{
    struct place place;
    bool found;

    vr_lock_take(&table->lock);
    found = find_base(table, base, &place);
    if (found)
        remove_at(table, heap, place, out);
    vr_lock_drop(&table->lock);
    return found;
}

bool vr_allocations_remove_of(struct vr_allocations *table, struct vr_heap *heap, vr_handle context,
                              uint64_t generation, uint64_t *from, struct vr_allocation *out)
{
    const struct vr_allocation *record = NULL;
    struct place place;
    bool more;

    vr_lock_take(&table->lock);
    more = find_from(table, *from, &place);
    while (more) {
        record = record_at(table, place);
        if (record->context == context && record->generation <= generation)
            break;
        more = next_place(table, &place);
    }
    if (more) {
        *from = record->base + 1;
        remove_at(table, heap, place, out);
    }
    vr_lock_drop(&table->lock);
    return more;
}

bool vr_allocations_retire(struct vr_allocations *table, uint64_t base, struct vr_allocation *out)
{
    struct vr_allocation *record;
    struct place place;
    bool found;

    vr_lock_take(&table->lock);
    record = find_base(table, base, &place);
    found = record && !record->retired;
    if (found) {
        *out = *record;
        record->retired = true;
    }
    vr_lock_drop(&table->lock);
    return found;
}

bool vr_allocations_restore(struct vr_allocations *table, uint64_t base, uint64_t generation)
{
    struct vr_allocation *record;
    struct place place;
    bool found;

    vr_lock_take(&table->lock);
    record = find_base(table, base, &place);
    found = record && record->generation == generation;
    if (found)
        record->retired = false;
    vr_lock_drop(&table->lock);
    return found;
}

bool vr_allocations_bury(struct vr_allocations *table, struct vr_heap *heap, uint64_t base,
                         uint64_t generation, struct vr_allocation *out)
{
    const struct vr_allocation *record;
    struct place place;
    bool found;

    vr_lock_take(&table->lock);
    record = find_base(table, base, &place);
    found = record && record->generation == generation;
    if (found)
        remove_at(table, heap, place, out);
    vr_lock_drop(&table->lock);
    return found;
}

bool vr_allocations_find(struct vr_allocations *table, uint64_t address, struct vr_allocation *out)
{
    const struct vr_allocation *record;
    struct place place;
    bool found;

    vr_lock_take(&table->lock);
    record = find_around(table, address, &place);
    found = record && !record->retired;
    if (found)
        *out = *record;
    vr_lock_drop(&table->lock);
    return found;
}

bool vr_allocations_alive(struct vr_allocations *table, uint64_t base, uint64_t generation)
{
    const struct vr_allocation *record;
    struct place place;
    bool alive;

    vr_lock_take(&table->lock);
    record = find_base(table, base, &place);
    alive = record && record->generation == generation && !record->retired;
    vr_lock_drop(&table->lock);
    return alive;
}

uint64_t vr_allocations_generation(const struct vr_allocations *table)
{
    return atomic_load_explicit(&table->generations, memory_order_relaxed);
}

size_t vr_allocations_count(const struct vr_allocations *table)
{
    return table->count;
}

/* ---- invariants ---- */

static const char *check_page(const struct vr_allocations *table, uint32_t index)
{
    const struct page *page = table->page[index];
    uint64_t used = 0;

    if (page->count > RECORDS || (!page->count && table->pages > 1))
        return "a page of allocations is empty";
    if ((uint32_t)__builtin_popcountll(page->used) != page->count)
        return "a page's records in use do not agree with their number";
    for (uint32_t i = 0; i < page->count; i++) {
        const struct vr_allocation *record = &page->record[page->order[i]];
        used |= (uint64_t)1 << page->order[i];
        if (record->base != page->base[i] || record->base < table->first[index])
            return "an allocation is filed under another base";
        if (index + 1 < table->pages && record->base >= table->first[index + 1])
            return "an allocation is in the wrong page";
        if (record->generation - 1 >= vr_allocations_generation(table))
            return "an allocation has a generation that was never given";
    }
    return used == page->used ? NULL : "a page's order does not name its records";
}

const char *vr_allocations_check(struct vr_allocations *table)
{
    uint64_t end = 0;
    size_t count = 0;

    for (uint32_t i = 0; i < table->pages; i++) {
        const char *broken = check_page(table, i);
        if (broken)
            return broken;
        for (uint32_t n = 0; n < table->page[i]->count; n++, count++) {
            const struct vr_allocation *record = record_at(table, (struct place){i, n});
            if (record->base < end)
                return "two allocations overlap";
            end = record->base + record->bytes;
        }
    }
    if (table->pages && table->first[0])
        return "the first page of allocations does not begin at 0";
    return count == table->count ? NULL : "the number of allocations is wrong";
}
