/* slots.c: see slots.h. */
#include "slots.h"

/* ---- one slot ---- */

static void set_earlier(struct vr_slot *slot, uint64_t base, uint64_t generation)
{
    slot->earlier_base = base;
    slot->earlier_generation = generation;
    slot->counts.moves = 0;
}

/* The slot goes from one allocation to another: the one it comes from, or an earlier one, is gone,
 * comes back, or is still waited for. Whether one is gone. */
static bool leave(struct vr_slot *slot, uint64_t next, struct vr_slot_fate fate)
{
    struct vr_slot_counts *counts = &slot->counts;
    bool gone = fate.freed || (slot->earlier_generation && fate.earlier_freed);

    counts->moved = true;
    counts->moves++;
    if (next == slot->earlier_generation)
        counts->cycled = true;
    if (counts->moves > VR_CYCLE_MAX)
        counts->cycled = false;
    if (fate.freed)
        set_earlier(slot, 0, 0);
    else if (!slot->earlier_generation || gone || next == slot->earlier_generation ||
             counts->moves > VR_CYCLE_MAX)
        set_earlier(slot, slot->base, slot->generation);
    return gone;
}

/* A run goes on with a fresh allocation of the same size at the same offset, unless two before it
 * live on. */
static void count_run(struct vr_slot *slot, bool fits, bool waits, bool gone)
{
    struct vr_slot_counts *counts = &slot->counts;

    if (fits && (gone || !waits)) {
        counts->run += counts->run < UINT16_MAX;
        counts->follows = gone;
    } else {
        counts->run = 1;
        counts->follows = counts->judged = false;
    }
}

static void end_run(struct vr_slot *slot)
{
    slot->counts.run = 0;
    slot->counts.follows = slot->counts.judged = false;
}

void vr_slot_see(struct vr_slot *slot, uint64_t value, const struct vr_allocation *at,
                 struct vr_slot_fate fate)
{
    uint64_t offset = at ? value - at->base : 0;
    bool same_place = offset == slot->offset;

    if (!at) {
        slot->counts.strayed = true;
        end_run(slot);
        return;
    }
    if (!slot->generation) {
        slot->counts.run = 1;
    } else if (at->generation == slot->generation) {
        slot->counts.strayed |= !same_place;
        end_run(slot);
    } else {
        bool waits = slot->earlier_generation, gone = leave(slot, at->generation, fate);
        slot->counts.strayed |= !same_place;
        if (at->generation > slot->generation)
            count_run(slot, same_place && at->bytes == slot->bytes, waits, gone);
        else
            end_run(slot);
    }
    slot->base = at->base;
    slot->generation = at->generation;
    slot->bytes = at->bytes;
    slot->offset = offset;
}

static bool is_gone(struct vr_look *look, uint64_t base, uint64_t generation)
{
    return generation && !vr_allocations_alive(look->allocations, base, generation);
}

/* The size recurs: it is taken, unless it is already, or never will be. */
static bool propose(struct vr_look *look, const struct vr_allocation *at)
{
    if (at->slice)
        return true;
    if (vr_sizes_take(look->sizes, look->heap, at->device, at->bytes)) {
        look->taken++;
        return true;
    }
    return vr_sizes_state(look->sizes, at->device, at->bytes) == VR_SIZE_TAKEN;
}

/* Whether the slot is worth another look at the next launch, changed or not. */
static bool look_at_slot(struct vr_look *look, struct vr_slot *slot, uint64_t value,
                         const struct vr_allocation *at)
{
    struct vr_slot_fate fate = {0};

    if (at && at->generation != slot->generation) {
        fate.freed = is_gone(look, slot->base, slot->generation);
        fate.earlier_freed = is_gone(look, slot->earlier_base, slot->earlier_generation);
    }
    vr_slot_see(slot, value, at, fate);
    if (vr_policy_proposes(&slot->counts, look->needed)) {
        slot->counts.judged = true;
        look->gaining += propose(look, at);
    }
    look->class[vr_policy_class(&slot->counts, look->needed)]++;
    return vr_policy_watches(&slot->counts) && !at->slice;
}

/* ---- one record ---- */

static size_t slots_bytes(size_t room)
{
    return sizeof(struct vr_slots) + room * sizeof(struct vr_slot);
}

void vr_slots_free(struct vr_slots *slots, struct vr_heap *heap)
{
    if (slots)
        vr_free(heap, slots, slots_bytes(slots->room));
}

void vr_slots_forget(struct vr_node *record, struct vr_heap *heap)
{
    vr_slots_free(record->slots, heap);
    record->slots = NULL;
}

static bool grow(struct vr_node *record, struct vr_heap *heap)
{
    struct vr_slots *old = record->slots;
    size_t room = old ? (size_t)old->room * 2 : 4;
    struct vr_slots *slots = vr_alloc(heap, slots_bytes(room));

    if (!slots)
        return false;
    if (old)
        memcpy(slots, old, slots_bytes(old->count));
    slots->room = (uint16_t)room;
    vr_slots_forget(record, heap);
    record->slots = slots;
    return true;
}

/* A new slot at position `at`; false when memory is out. */
static bool insert(struct vr_node *record, struct vr_heap *heap, size_t at, size_t window)
{
    struct vr_slots *slots = record->slots;

    if ((!slots || slots->count == slots->room) && !grow(record, heap))
        return false;
    slots = record->slots;
    memmove(&slots->slot[at + 1], &slots->slot[at], (slots->count - at) * sizeof(struct vr_slot));
    slots->slot[at] = (struct vr_slot){.window = (uint16_t)window};
    slots->count++;
    return true;
}

/* A record that was not looked at in the last launch was not seen to go on. */
static void begin_record(const struct vr_look *look, struct vr_slots *slots)
{
    if (slots && slots->launch + 1 != look->launch)
        slots->count = 0;
    if (slots)
        slots->launch = look->launch;
}

/* `all`: also at windows that have not changed and are no slots yet. Whether the record is worth
 * another look at the next launch. */
static bool look_at_record(struct vr_look *look, struct vr_node *record, bool all)
{
    size_t windows = record->layout->extent / 8, at = 0;
    bool watch = false;

    begin_record(look, record->slots);
    for (size_t window = 0; window < windows; window++) {
        const struct vr_slots *slots = record->slots;
        bool known = slots && at < slots->count && slots->slot[at].window == window;
        bool changed = record->changed & vr_window_bit(window);
        struct vr_allocation allocation;
        uint64_t value;
        if (!known && !changed && !all)
            continue;
        memcpy(&value, record->bytes + 8 * window, sizeof value);
        bool found = value && vr_allocations_find(look->allocations, value, &allocation);
        if (!found && !known) {
            look->scalars += changed;
            continue;
        }
        if (!known && !all && allocation.slice)
            continue; /* is where it shall be */
        if (!known && !insert(record, look->heap, at, window)) {
            vr_slots_forget(record, look->heap);
            return false;
        }
        watch |= look_at_slot(look, &record->slots->slot[at++], value, found ? &allocation : NULL);
    }
    if (record->slots)
        record->slots->launch = look->launch;
    record->changed = 0;
    return watch;
}

/* A node whose updates will never be answered gains nothing from addresses that stay. */
static bool usable(const struct vr_look *look, const struct vr_node *record)
{
    return record->valid && !record->never_elide && record->generation == look->generation &&
           record->epoch == look->epoch;
}

/* ---- an exec's records ---- */

void vr_slots_look_all(struct vr_look *look, struct vr_nodes *nodes)
{
    vr_nodes_unqueue(nodes);
    for (struct vr_node *record = nodes->table; record; record = record->hh.next)
        if (usable(look, record) && look_at_record(look, record, true))
            vr_node_queue(nodes, record);
}

void vr_slots_look_queued(struct vr_look *look, struct vr_nodes *nodes)
{
    struct vr_node *record = vr_nodes_unqueue(nodes), *next;

    for (; record; record = next) {
        next = record->next_queued;
        if (usable(look, record) && look_at_record(look, record, false))
            vr_node_queue(nodes, record);
        else
            vr_slots_forget(record, look->heap);
    }
}

void vr_slots_settle(struct vr_nodes *nodes, struct vr_heap *heap, bool goes_on)
{
    if (!goes_on)
        vr_nodes_unqueue(nodes);
    for (struct vr_node *record = nodes->table; record; record = record->hh.next)
        if (!record->queued)
            vr_slots_forget(record, heap);
}

const char *vr_slots_check(const struct vr_slots *slots, uint32_t extent)
{
    if (!slots)
        return NULL;
    if (slots->count > slots->room)
        return "a record has more slots than room for them";
    for (size_t i = 0; i < slots->count; i++) {
        const struct vr_slot *slot = &slots->slot[i];
        if (slot->window >= extent / 8 || (i && slot->window <= slots->slot[i - 1].window))
            return "the slots of a record are not in the order of its windows";
        if (!slot->generation)
            return "a slot has seen no allocation";
        if (slot->offset >= slot->bytes)
            return "a slot lies outside its allocation";
    }
    return NULL;
}
