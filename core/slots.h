/* slots.h: slots are the 8-byte windows of packed parameters whose value lies in a known
 * allocation. Looks at the records of an exec when a launch was counted, follows each slot from
 * allocation to allocation, and proposes sizes that recur. Reasons about generations, never about
 * addresses. Must not know execs or phases; what counts follow from is here, what follows from
 * counts is policy.c's.
 *
 * Memory: a record has slots only while something may be learnt from them: through profiling, and
 * later while a run goes on. */
#ifndef VR_SLOTS_H
#define VR_SLOTS_H

#include "allocations.h"
#include "node.h"
#include "policy.h"
#include "sizes.h"

struct vr_slot {
    /* The allocation of the last look. */
    uint64_t base, generation, bytes;
    uint64_t offset; /* in it */
    /* One of the allocations before it, that was alive when the slot went on; generation 0: none.
     * To be freed or come back to: the first makes a run, the second a cycle. */
    uint64_t earlier_base, earlier_generation;
    uint16_t window; /* 8-byte window of the packed parameters */
    struct vr_slot_counts counts;
};

/* The slots of one record, by window. */
struct vr_slots {
    uint32_t launch; /* of the last look */
    uint16_t count, room;
    struct vr_slot slot[];
};

/* One look at the records of an exec. */
struct vr_look {
    struct vr_heap *heap;
    struct vr_allocations *allocations;
    struct vr_sizes *sizes;
    uint64_t generation, epoch; /* records of another one are not believed, and not looked at */
    uint32_t launch;            /* number of the counted launch; a gap ends every run */
    uint32_t needed;            /* VAREMAP_PROFILE_LAUNCHES */
    /* What was seen; begin with zeros. */
    uint32_t class[VR_SLOT_CLASS_COUNT];
    uint32_t scalars; /* other windows that have changed */
    uint32_t gaining; /* slots that recur with a size that is taken */
    uint32_t taken;   /* sizes taken now */
};

/* Profiling: looks at every record. Those with a run that may go on are queued (node.h). */
void vr_slots_look_all(struct vr_look *look, struct vr_nodes *nodes);

/* Later: looks at the queued records only, and there at the windows that changed and the slots
 * there are. Queues again those with a run that may go on; the others lose their slots. */
void vr_slots_look_queued(struct vr_look *look, struct vr_nodes *nodes);

/* Profiling has ended. The records that are not queued lose their slots; if the exec is not active
 * (`goes_on`), all do. */
void vr_slots_settle(struct vr_nodes *nodes, struct vr_heap *heap, bool goes_on);

/* What has become of a slot's allocations since the last look. */
struct vr_slot_fate {
    bool freed;         /* the one of the last look */
    bool earlier_freed; /* vr_slot.earlier_generation */
};

/* The slot's value lies in `at`, or in no allocation (NULL). A slot of generation 0 has not been
 * looked at before. */
void vr_slot_see(struct vr_slot *slot, uint64_t value, const struct vr_allocation *at,
                 struct vr_slot_fate fate);

/* What was learnt from the record is void. */
void vr_slots_forget(struct vr_node *record, struct vr_heap *heap);

/* NULL is allowed. */
void vr_slots_free(struct vr_slots *slots, struct vr_heap *heap);

/* NULL, or the first broken invariant of slots whose record has `extent` bytes of parameters. */
const char *vr_slots_check(const struct vr_slots *slots, uint32_t extent);

#endif
