/* node.h: the node record: the last parameters of a kernel node that were answered with success, as
 * packed bytes, with code, context and geometry, and when they are to be believed. One per (exec,
 * node), made by the first accepted setter we see. Belongs to its exec, whose callers are
 * serialised: no lock. */
#ifndef VR_NODE_H
#define VR_NODE_H

#include "hash.h"
#include "params.h"
#include "state.h"

/* How parameters were passed. A change of form or size counts as a change. */
enum vr_form { VR_FORM_NONE, VR_FORM_POINTERS, VR_FORM_PACKED };

struct vr_slots;

struct vr_node {
    vr_handle node;
    UT_hash_handle hh; /* in vr_exec.nodes, by `node` */
    /* When the setter was asked: the record counts only while both are still the present ones. */
    uint64_t generation, epoch; /* generation 0: never filled */
    struct vr_code code;
    vr_handle context; /* for VR_CODE_KERNEL, else 0 */
    const struct vr_layout *layout;
    size_t packed_bytes;         /* of the packed form, as passed */
    uint64_t changed;            /* windows (params.h) that differ from the last look (slots.h) */
    struct vr_slots *slots;      /* what the profile is learning; NULL: nothing */
    struct vr_node *next_queued; /* in vr_nodes.queue */
    unsigned char *shadow;       /* of `bytes` (shadow.h); NULL: the same bytes */
    struct vr_geometry geometry;
    uint32_t room;    /* of `bytes` */
    uint8_t form;     /* enum vr_form */
    bool valid;       /* false after a failed setter, or one we could not read */
    bool queued;      /* is in vr_nodes.queue */
    bool never_elide; /* device-updatable, or the driver would not say; asked at `generation` */
    _Alignas(8) unsigned char bytes[]; /* packed parameters; padding is zero */
};

_Static_assert(sizeof(struct vr_node) + sizeof(UT_hash_bucket) <= 256, "the budget per node");

/* A record spans four cache lines. NULL is allowed. */
static inline void vr_node_prefetch(const struct vr_node *record)
{
    for (uintptr_t line = 0; line < 256; line += 64)
        __builtin_prefetch((const void *)((uintptr_t)record + line));
}

/* The records of an exec. `last` is the one found last: programs send their nodes in one order
 * again and again, which is the table's own order, so the next one is nearly always the right
 * guess. */
struct vr_nodes {
    struct vr_node *table, *last;
    struct vr_node *queue; /* to be looked at when the next launch is counted */
};

static inline void vr_node_queue(struct vr_nodes *nodes, struct vr_node *record)
{
    if (record->queued)
        return;
    record->queued = true;
    record->next_queued = nodes->queue;
    nodes->queue = record;
}

/* Empties the queue; returns what was in it, linked by `next_queued`. */
struct vr_node *vr_nodes_unqueue(struct vr_nodes *nodes);

/* The record of `node`, or NULL. */
struct vr_node *vr_node_search(struct vr_nodes *nodes, vr_handle node);

static inline struct vr_node *vr_node_find(struct vr_nodes *nodes, vr_handle node)
{
    struct vr_node *guess = nodes->last ? nodes->last->hh.next : NULL;

    if (!guess || guess->node != node)
        return vr_node_search(nodes, node);
    nodes->last = guess;
    vr_node_prefetch(guess->hh.next);
    return guess;
}

/* 28 bytes without padding; in pieces, because the compiler would call memcmp for that many. */
static inline bool vr_geometry_equal(const struct vr_geometry *a, const struct vr_geometry *b)
{
    return memcmp(a->grid, b->grid, 8) == 0 && memcmp(a->grid + 2, b->grid + 2, 8) == 0 &&
           memcmp(a->block + 1, b->block + 1, 8) == 0 && a->shared_bytes == b->shared_bytes;
}

static inline bool vr_node_params_equal(const struct vr_node *record,
                                        const struct vr_update *update)
{
    switch ((enum vr_form)record->form) {
    case VR_FORM_POINTERS:
        return update->params && !update->packed &&
               vr_params_equal(record->layout, record->bytes, update->params);
    case VR_FORM_PACKED:
        return update->packed && !update->params && update->packed_bytes == record->packed_bytes &&
               vr_packed_equal(record->layout, record->bytes, update->packed);
    case VR_FORM_NONE: break;
    }
    return !update->params && !update->packed;
}

/* Whether they say the same but for the values of parameters. */
bool vr_node_alike(const struct vr_node *record, const struct vr_update *update, vr_handle context);

/* Whether the record and an update say the same in every byte: code, context, geometry, parameters.
 */
static inline bool vr_node_equal(const struct vr_node *record, const struct vr_update *update,
                                 vr_handle context)
{
    return record->code.handle == update->code.handle && record->code.kind == update->code.kind &&
           record->context == context && vr_geometry_equal(&record->geometry, &update->geometry) &&
           vr_node_params_equal(record, update);
}

/* A record for `node` with room for `bytes` of parameters: `old`, its record until now (NULL: there
 * is none), or one that takes its place. NULL when memory is out; the old record, if any, is then
 * as it was. */
struct vr_node *vr_node_make(struct vr_nodes *nodes, struct vr_heap *heap, struct vr_node *old,
                             vr_handle node, size_t bytes);

/* Takes over what `update`, which must be readable, says. */
void vr_node_fill(struct vr_node *record, const struct vr_layout *layout,
                  const struct vr_update *update, vr_handle context);

void vr_nodes_free(struct vr_nodes *nodes, struct vr_heap *heap);

/* NULL, or the first broken invariant of the records of an exec that is at `generation`, `epoch`.
 */
const char *vr_nodes_check(struct vr_nodes *nodes, uint64_t generation, uint64_t epoch);

#endif
