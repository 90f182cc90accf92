/* shadow.h: observe mode's view of a record: its parameters as they would be if the allocations
 * that the rung "recycle" would have placed were where they would have been. Tells whether an
 * update would have been answered. Must not know execs or phases. */
#ifndef VR_SHADOW_H
#define VR_SHADOW_H

#include "allocations.h"
#include "node.h"

/* Before the record is filled anew: keeps what it would hold now, the first time as a copy. False
 * when memory is out: then nothing can be said of the next update. */
bool vr_shadow_keep(struct vr_node *record, struct vr_heap *heap);

/* After it: translates the parameters, setter by setter. Returns which windows would have changed
 * (params.h). */
uint64_t vr_shadow_renew(struct vr_node *record, struct vr_allocations *allocations);

#endif
