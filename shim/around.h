/* around.h: the wrappers of body AROUND (entries.h): what is done before and after the real call,
 * as the row of its class in effects.h says. */
#ifndef VR_AROUND_H
#define VR_AROUND_H

#include "shim/hooks.h"

enum vr_effect_records {
    VR_RECORDS_NONE,
    VR_RECORDS_NODE,
    VR_RECORDS_NESTED,
    VR_RECORDS_EXEC,
    VR_RECORDS_ORIGIN,
    VR_RECORDS_ALL,
    VR_RECORDS_MADE
};
enum vr_effect_generation { VR_GENERATION_STAYS, VR_GENERATION_MOVES };
enum vr_effect_epoch { VR_EPOCH_STAYS, VR_EPOCH_MOVES, VR_EPOCH_BUCKET };
enum vr_effect_profile {
    VR_PROFILE_STAYS,
    VR_PROFILE_BEGINS,
    VR_PROFILE_SETTER,
    VR_PROFILE_LAUNCH,
    VR_PROFILE_RESTARTS,
    VR_PROFILE_ENDS
};
enum vr_effect_memory {
    VR_MEMORY_NONE,
    VR_MEMORY_OPERANDS,
    VR_MEMORY_CONTEXT,
    VR_MEMORY_PRIMARY,
    VR_MEMORY_DETACHED,
    VR_MEMORY_OWNER
};

struct vr_effect {
    enum vr_effect_records records;
    enum vr_effect_generation generation;
    enum vr_effect_epoch epoch;
    enum vr_effect_profile profile;
    enum vr_effect_memory memory;
};

enum vr_class {
#define VR_CLASS(class, records, generation, epoch, profile, memory) VR_CLASS_##class,
#include "shim/effects.h"
    VR_CLASSES
};

/* What must be remembered during the call. */
struct vr_around {
    struct vr_context_mark mark;
    vr_handle primary;
};

/* Before the call and after it. `first` and `second` are the call's first two arguments, 0 for one
 * that it does not have. */
void vr_around_begin(struct vr_state *state, enum vr_class class, struct vr_around *around,
                     vr_handle first, vr_handle second);
void vr_around_end(struct vr_state *state, enum vr_class class, const struct vr_around *around,
                   vr_handle first, vr_handle second, CUresult result);
/* After a call on an exec that may have changed the node and all nodes in its child graph. Counts
 * it as an update. */
void vr_nested_changed(struct vr_state *state, CUgraphExec exec, CUgraphNode node, bool accepted);

#endif
