/* node.c: making, comparing and freeing node records. Must not know when a record may be believed
 * (elide.c) nor who owns the table (track.c). */
#include "node.h"

#include "slots.h"

/* Beyond the guess. After the last node the order begins again; a forwarded setter asks for its
 * node more than once. */
struct vr_node *vr_node_search(struct vr_nodes *nodes, vr_handle node)
{
    struct vr_node *record = nodes->table;

    if (record && record->node != node && nodes->last)
        record = nodes->last;
    if (!record || record->node != node)
        HASH_FIND(hh, nodes->table, &node, sizeof node, record);
    if (record)
        nodes->last = record;
    return record;
}

static enum vr_form form_of(const struct vr_update *update)
{
    if (update->packed)
        return VR_FORM_PACKED;
    return update->params ? VR_FORM_POINTERS : VR_FORM_NONE;
}

static size_t record_bytes(size_t room)
{
    return sizeof(struct vr_node) + room;
}

struct vr_node *vr_nodes_unqueue(struct vr_nodes *nodes)
{
    struct vr_node *first = nodes->queue;

    for (struct vr_node *record = first; record; record = record->next_queued)
        record->queued = false;
    nodes->queue = NULL;
    return first;
}

static void unqueue(struct vr_nodes *nodes, struct vr_node *record)
{
    struct vr_node **link = &nodes->queue;

    while (*link && *link != record)
        link = &(*link)->next_queued;
    if (*link)
        *link = record->next_queued;
    record->queued = false;
}

/* The record is in no queue. */
static void drop(struct vr_nodes *nodes, struct vr_heap *heap, struct vr_node *record)
{
    nodes->last = NULL;
    HASH_DEL(nodes->table, record);
    vr_slots_free(record->slots, heap);
    vr_free(heap, record->shadow, record->room);
    vr_free(heap, record, record_bytes(record->room));
}

struct vr_node *vr_node_make(struct vr_nodes *nodes, struct vr_heap *heap, struct vr_node *old,
                             vr_handle node, size_t bytes)
{
    struct vr_node *record;

    if (old && old->room >= bytes)
        return old;
    record = vr_alloc(heap, record_bytes(bytes));
    if (!record)
        return NULL;
    record->node = node;
    record->room = (uint32_t)bytes;
    HASH_ADD(hh, nodes->table, node, sizeof record->node, record);
    if (!vr_hash_added(record)) {
        vr_free(heap, record, record_bytes(bytes));
        return NULL;
    }
    if (old) {
        record->generation = old->generation;
        record->never_elide = old->never_elide;
        if (old->queued)
            unqueue(nodes, old);
        drop(nodes, heap, old);
    }
    nodes->last = record;
    return record;
}

bool vr_node_alike(const struct vr_node *record, const struct vr_update *update, vr_handle context)
{
    return record->code.handle == update->code.handle && record->code.kind == update->code.kind &&
           record->context == context && vr_geometry_equal(&record->geometry, &update->geometry) &&
           record->form == form_of(update) && record->packed_bytes == update->packed_bytes;
}

void vr_node_fill(struct vr_node *record, const struct vr_layout *layout,
                  const struct vr_update *update, vr_handle context)
{
    record->code = update->code;
    record->context = context;
    if (record->layout != layout)
        memset(record->bytes, 0, record->room);
    record->layout = layout;
    record->form = (uint8_t)form_of(update);
    record->packed_bytes = update->packed_bytes;
    record->geometry = update->geometry;
    vr_params_copy(layout, record->bytes, update);
}

void vr_nodes_free(struct vr_nodes *nodes, struct vr_heap *heap)
{
    vr_nodes_unqueue(nodes);
    while (nodes->table)
        drop(nodes, heap, nodes->table);
}

static const char *check_queue(struct vr_nodes *nodes)
{
    size_t queued = 0;

    for (struct vr_node *record = nodes->table; record; record = record->hh.next)
        queued += record->queued;
    for (struct vr_node *record = nodes->queue; record; record = record->next_queued, queued--)
        if (!record->queued || !queued)
            return "a record that is not to be looked at is in the queue";
    return queued ? "a record to be looked at is not in the queue" : NULL;
}

const char *vr_nodes_check(struct vr_nodes *nodes, uint64_t generation, uint64_t epoch)
{
    const char *broken = check_queue(nodes);
    size_t count = 0;

    for (struct vr_node *record = nodes->table, *found; record; record = record->hh.next, count++) {
        if (!broken)
            broken = vr_slots_check(record->slots, record->layout ? record->layout->extent : 0);
        if (broken)
            return broken;
        HASH_FIND(hh, nodes->table, &record->node, sizeof record->node, found);
        if (found != record)
            return "a node record is not found by its handle";
        if (record->generation > generation || record->epoch > epoch)
            return "a node record is from the future";
        if (record->valid && !record->layout)
            return "a valid node record has no layout";
        if (record->layout && record->layout->extent > record->room)
            return "a node record is smaller than its parameters";
    }
    return count == HASH_COUNT(nodes->table) ? NULL : "a node table miscounts";
}
