/* core_world.h: a driver made by hand for the tests of core/: a table of functions over a few plain
 * variables that a test sets. Every query is counted, because asking too often is a fault too. */
#ifndef CORE_WORLD_H
#define CORE_WORLD_H

#include <stdatomic.h>

#include "core/state_private.h"
#include "tests/unit/vr_test.h"

/* Handles. Codes: the low four bits say which layout they have. */
enum {
    EXEC = 0x1000,
    EXEC_B = 0x2000,
    GRAPH = 0x3000,
    GRAPH_B = 0x4000,
    NODE = 0x5000,
    NODE_B = 0x6000,
    CONTEXT = 0x7000,
    CODE_EIGHT = 0x100, /* eight pointers */
    CODE_MIXED = 0x101, /* 4 bytes, 8, 12, 1: with padding after the first and third */
    CODE_NONE = 0x102,  /* no parameters */
    CODE_DUMB = 0x103,  /* the driver cannot tell */
    CODE_LIES = 0x104,  /* parameters that overlap */
    CODE_GAPS = 0x105   /* 8 bytes, twice, each aligned to 16 */
};

static const struct vr_param mixed_params[] = {{0, 4}, {8, 8}, {16, 12}, {28, 1}};

static struct {
    atomic_int param_queries, node_queries, context_queries;
    _Atomic vr_handle updatable; /* the node that is device-updatable */
    atomic_bool nodes_silent;    /* node_updatable is refused */
    atomic_bool layouts_silent;  /* param_info is refused */
    _Atomic vr_handle context;   /* current; 0: none */
    atomic_bool contexts_silent; /* current_context is refused */
} world = {.context = CONTEXT};

static inline enum vr_status world_param_info(struct vr_code code, size_t index, size_t *offset,
                                              size_t *size)
{
    world.param_queries++;
    if (world.layouts_silent)
        return VR_REFUSED;
    switch (code.handle & 0xf) {
    case CODE_EIGHT & 0xf:
        *offset = index * 8;
        *size = 8;
        return index < 8 ? VR_OK : VR_NONE;
    case CODE_MIXED & 0xf:
        if (index >= 4)
            return VR_NONE;
        *offset = mixed_params[index].offset;
        *size = mixed_params[index].bytes;
        return VR_OK;
    case CODE_NONE & 0xf: return VR_NONE;
    case CODE_GAPS & 0xf:
        *offset = index * 16;
        *size = 8;
        return index < 2 ? VR_OK : VR_NONE;
    case CODE_LIES & 0xf:
        *offset = 0;
        *size = 8;
        return index < 2 ? VR_OK : VR_NONE;
    }
    return VR_REFUSED;
}

static inline enum vr_status world_node_updatable(vr_handle node, bool *updatable)
{
    world.node_queries++;
    *updatable = node == world.updatable;
    return world.nodes_silent ? VR_REFUSED : VR_OK;
}

static inline enum vr_status world_current_context(vr_handle *context)
{
    world.context_queries++;
    *context = world.context;
    return world.contexts_silent ? VR_REFUSED : VR_OK;
}

static const struct vr_driver_ops world_ops = {
    .param_info = world_param_info,
    .node_updatable = world_node_updatable,
    .current_context = world_current_context,
};

static inline const char *world_no_variables(const char *name)
{
    return NULL;
}

/* A state with default options but for the mode; empty, without a single exec. */
static inline struct vr_state *world_begin(enum vr_mode mode)
{
    struct vr_options options;
    struct vr_state *state;

    vr_options_read(&options, world_no_variables, "test");
    options.mode = mode;
    state = vr_state_new(&world_ops, &options);
    T_NOT_NULL(state);
    return state;
}

static inline void world_end(struct vr_state *state)
{
    const char *broken = vr_state_check(state);

    T_ASSERT(!broken, "%s", broken);
    vr_state_free(state);
}

static inline void world_born(struct vr_state *state, vr_handle exec, vr_handle graph)
{
    vr_exec_born(state, exec, &(struct vr_exec_origin){.graph = graph});
}

/* Destroys as the shim does, the driver agreeing. */
static inline void world_died(struct vr_state *state, vr_handle exec)
{
    vr_exec_bury(state, vr_exec_retire(state, exec));
}

static inline struct vr_totals world_totals(struct vr_state *state)
{
    struct vr_totals totals;

    vr_track_sum(&state->track, &totals);
    return totals;
}

#endif
