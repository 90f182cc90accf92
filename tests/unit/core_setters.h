/* core_setters.h: kernel-node setters as the shim sends them, for the tests of core/: with eight
 * pointers for parameters, unless a test says otherwise. */
#ifndef CORE_SETTERS_H
#define CORE_SETTERS_H

#include "tests/unit/core_world.h"

/* A setter's parameters, and an update that passes them as eight pointers. */
struct world_setter {
    uint64_t value[8];
    void *pointer[8];
    struct vr_update update;
};

static inline void world_setter(struct world_setter *setter, vr_handle exec, vr_handle node)
{
    for (int i = 0; i < 8; i++) {
        setter->value[i] = 0x7f0000000000u + (uint64_t)i * 0x200000;
        setter->pointer[i] = &setter->value[i];
    }
    setter->update = (struct vr_update){
        .exec = exec,
        .node = node,
        .code = {CODE_EIGHT, VR_CODE_FUNCTION},
        .geometry.grid = {4, 1, 1},
        .geometry.block = {128, 1, 1},
        .params = setter->pointer,
    };
}

/* Sends as the shim does: true when the call was answered and the driver saw nothing. */
static inline bool world_send(struct vr_state *state, const struct vr_update *update,
                              bool driver_accepts)
{
    struct vr_ticket ticket;

    if (vr_update_ask(state, update, &ticket) == VR_ANSWERED)
        return true;
    vr_update_told(state, update, &ticket, driver_accepts);
    return false;
}

/* An exec with one node whose setter has been accepted once. */
struct fixture {
    struct vr_state *state;
    struct world_setter setter;
};

static inline struct fixture *fixture_begin(enum vr_mode mode)
{
    static struct fixture fixture;

    fixture.state = world_begin(mode);
    world_born(fixture.state, EXEC, GRAPH);
    world_setter(&fixture.setter, EXEC, NODE);
    T_ASSERT(!world_send(fixture.state, &fixture.setter.update, true), "nothing is known yet");
    return &fixture;
}

static inline bool fixture_send(struct fixture *f)
{
    return world_send(f->state, &f->setter.update, true);
}

/* The present update differs from the record: it is forwarded, and then it is the record. */
static inline void fixture_changed(struct fixture *f, const char *what)
{
    T_ASSERT(!fixture_send(f), "%s changed and was not forwarded", what);
    T_ASSERT(fixture_send(f), "%s did not change again and was forwarded", what);
}

#endif
