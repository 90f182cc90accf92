/* vmm_table.c: a sorted array of pointers. Numbers that only grow are added at its end and a search
 * is a bisection, so handles and reservations by the ten thousand stay cheap. It must not know what
 * the pointers are. */
#include "vmm.h"

#include <stdlib.h>
#include <string.h>

/* The index of the first entry above a key. */
static size_t above(const struct fv_table *table, uint64_t key)
{
    size_t low = 0, high = table->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->entries[middle].key <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void *fv_table_floor(const struct fv_table *table, uint64_t key)
{
    size_t index = above(table, key);

    return index ? table->entries[index - 1].value : NULL;
}

static bool grow(struct fv_table *table)
{
    size_t capacity = table->capacity ? 2 * table->capacity : 64;
    struct fv_entry *entries = realloc(table->entries, capacity * sizeof *entries);

    if (!entries)
        return false;
    table->entries = entries;
    table->capacity = capacity;
    return true;
}

bool fv_table_add(struct fv_table *table, uint64_t key, void *value)
{
    size_t index = above(table, key);

    if (table->count == table->capacity && !grow(table))
        return false;
    memmove(&table->entries[index + 1], &table->entries[index],
            (table->count - index) * sizeof *table->entries);
    table->entries[index] = (struct fv_entry){key, value};
    table->count++;
    return true;
}

void fv_table_remove(struct fv_table *table, uint64_t key)
{
    size_t index = above(table, key);

    memmove(&table->entries[index - 1], &table->entries[index],
            (table->count - index) * sizeof *table->entries);
    table->count--;
}
