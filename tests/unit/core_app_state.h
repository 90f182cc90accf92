/* core_app_state.h: the state under test over the device of core_device.h, its options and its
 * books. */
#ifndef CORE_APP_STATE_H
#define CORE_APP_STATE_H

#include "core/memory.h"
#include "core/recycle.h"
#include "core/state_private.h"
#include "tests/unit/core_device_ops.h"

enum { APP_CONTEXT = 0x7000, APP_OTHER = 0x7100, APP_LIVE = 512 };

struct app_block {
    uint64_t address, bytes;
    bool ours;
};

static struct {
    struct vr_options options;
    struct vr_state *state;
    vr_handle context;
    enum vr_capture capture;
    struct app_block live[APP_LIVE];
    int count;
    uint64_t next;           /* of the driver's addresses */
    uint64_t granules, peak; /* live, in bytes of whole granules */
    bool unbound;            /* the bound on memory is not checked */
} app;

static inline const char *app_no_variables(const char *name)
{
    return NULL;
}

/* A new device, default options but for the mode; then app_start(). */
static inline void app_prepare(enum vr_mode mode, enum vr_backing backing)
{
    memset(&app, 0, sizeof app);
    device_begin();
    vr_options_read(&app.options, app_no_variables, "test");
    app.options.mode = mode;
    app.options.backing = backing;
    app.context = APP_CONTEXT;
    app.next = (uint64_t)0x10 << 32;
}

static inline void app_start(void)
{
    app.state = vr_state_new(&device_ops, &app.options);
    T_NOT_NULL(app.state);
}

static inline void app_begin(enum vr_mode mode, enum vr_backing backing)
{
    app_prepare(mode, backing);
    app_start();
}

static inline void app_check(void)
{
    const char *broken = vr_state_check(app.state);

    T_ASSERT(!broken, "%s", broken);
    T_ASSERT(!device.broken, "%s", device.broken);
}

/* What is left must be what the state lets go of. */
static inline void app_end(void)
{
    app_check();
    vr_state_free(app.state);
    T_ASSERT(!device.broken, "%s", device.broken);
}

static inline struct vr_memory_totals app_totals(void)
{
    struct vr_memory_totals totals;

    vr_recycler_sum(app.state->recycler, &totals);
    return totals;
}

static inline uint64_t app_count(enum vr_memory_counter counter)
{
    return app_totals().counter[counter];
}

static inline uint64_t app_refused(enum vr_refusal refusal)
{
    return atomic_load(&app.state->track.unseen.refusal[refusal]);
}

static inline bool app_take(uint64_t bytes)
{
    return vr_sizes_take(app.state->sizes, &app.state->heap, 0, bytes);
}

#endif
