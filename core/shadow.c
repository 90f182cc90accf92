/* shadow.c: see shadow.h. A program cannot tell an observe run from a bare one; what is compared
 * here are addresses that nobody was ever given. */
#include "shadow.h"

bool vr_shadow_keep(struct vr_node *record, struct vr_heap *heap)
{
    if (record->shadow || !record->room)
        return true;
    record->shadow = vr_alloc(heap, record->room);
    if (record->shadow)
        memcpy(record->shadow, record->bytes, record->room);
    return record->shadow != NULL;
}

static uint64_t translate(struct vr_allocations *allocations, uint64_t value)
{
    struct vr_allocation allocation;

    if (!value || !vr_allocations_find(allocations, value, &allocation) || !allocation.shadow)
        return value;
    return allocation.shadow + (value - allocation.base);
}

uint64_t vr_shadow_renew(struct vr_node *record, struct vr_allocations *allocations)
{
    size_t extent = record->layout->extent, window = 0;
    uint64_t changed = 0, value;

    for (; 8 * window + 8 <= extent; window++) {
        memcpy(&value, record->bytes + 8 * window, sizeof value);
        value = translate(allocations, value);
        if (memcmp(record->shadow + 8 * window, &value, sizeof value) != 0)
            changed |= vr_window_bit(window);
        memcpy(record->shadow + 8 * window, &value, sizeof value);
    }
    if (memcmp(record->shadow + 8 * window, record->bytes + 8 * window, extent - 8 * window) != 0)
        changed |= vr_window_bit(window);
    memcpy(record->shadow + 8 * window, record->bytes + 8 * window, extent - 8 * window);
    return changed;
}
