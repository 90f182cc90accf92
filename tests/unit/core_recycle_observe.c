/* core_recycle_observe.c: the dry run of observe mode: the application gets what the driver gives,
 * nothing is asked but queries, and what would have been is exactly what mode on does with the same
 * program. */
#include "tests/unit/core_script.h"

enum { NOTES = 4096 };

static struct {
    uint64_t address[NOTES]; /* offset in the reservation + 1; 0: the driver's */
    int count;
    bool compare;
} notes;

static uint64_t place_of(uint64_t address)
{
    struct vr_allocation found;

    if (!address || !vr_allocations_find(app.state->allocations, address, &found) || !found.slice)
        return 0;
    if (app.options.mode == VR_MODE_ON)
        return address - device.reserved_at + 1;
    T_EQ(found.shadow >> 57 != 0, true); /* no real address */
    return found.shadow - ((uint64_t)1 << 62) + 1;
}

static void note(int nth, uint64_t bytes, uint64_t address)
{
    T_LT(nth, NOTES);
    if (!notes.compare)
        notes.address[nth] = place_of(address);
    else
        T_ASSERT(notes.address[nth] == place_of(address), "allocation %d of %llu bytes", nth,
                 (unsigned long long)bytes);
    notes.count = nth + 1;
}

struct setting {
    enum vr_backing backing;
    uint64_t keep_bytes, total;
    bool free_sync;
    struct script script;
};

/* The number of recycled allocations: that were, or would have been. */
static uint64_t run(const struct setting *setting, enum vr_mode mode)
{
    uint64_t recycled;

    app_prepare(mode, setting->backing);
    app.options.keep_bytes = setting->keep_bytes;
    app.options.free_sync = setting->free_sync;
    app.unbound = true;
    device.total = setting->total;
    app_start();
    notes.compare = mode == VR_MODE_OBSERVE;
    script_run(&setting->script, note);
    app_check();
    recycled = app_count(mode == VR_MODE_ON ? VR_COUNT_allocs_recycled : VR_COUNT_would_recycle);
    if (mode == VR_MODE_OBSERVE) {
        T_EQ(app_count(VR_COUNT_allocs_recycled), 0);
        for (int op = 0; op < OP_COUNT; op++)
            if (op != OP_device_memory && op != OP_free_memory && op != OP_may_place)
                T_EQ(device.calls[op], 0);
    }
    app_free_all();
    app_end();
    return recycled;
}

TEST(observe, predicts_what_on_does)
{
    static const struct setting settings[] = {
        {VR_BACKING_LEARNED, VR_SIZE_AUTO, 16 * GIB, true, {.seed = 1, .steps = 3000}},
        {VR_BACKING_EAGER, VR_SIZE_AUTO, 16 * GIB, true, {.seed = 2, .steps = 3000}},
        {VR_BACKING_EAGER, 6 * MIB, 16 * GIB, true, {.seed = 3, .steps = 3000}},
        {VR_BACKING_EAGER, 0, 16 * GIB, true, {.seed = 4, .steps = 3000}},
        {VR_BACKING_LEARNED, VR_SIZE_AUTO, 16 * GIB, true, {5, 3000, .captures = true}},
        {VR_BACKING_EAGER, VR_SIZE_AUTO, 16 * GIB, false, {6, 3000, .contexts = true}},
        {VR_BACKING_EAGER, 8 * MIB, 16 * GIB, false, {7, 3000, .captures = true, .contexts = true}},
        /* Little memory: what is kept yields. */
        {VR_BACKING_LEARNED, VR_SIZE_AUTO, 120 * MIB, true, {8, 3000, .whole_granules = true}},
        {VR_BACKING_EAGER, VR_SIZE_AUTO, 128 * MIB, true, {9, 3000, .whole_granules = true}},
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        uint64_t did = run(&settings[i], VR_MODE_ON), would;
        T_GT(notes.count, 1000);
        would = run(&settings[i], VR_MODE_OBSERVE);
        T_ASSERT(did == would, "setting %zu: %llu, predicted %llu", i, (unsigned long long)did,
                 (unsigned long long)would);
        if (settings[i].keep_bytes)
            T_GT(did, 100);
    }
}

TEST(observe, the_application_sees_the_driver_alone)
{
    struct vr_memory_view view;
    uint64_t address;

    app_begin(VR_MODE_OBSERVE, VR_BACKING_EAGER);
    address = app_alloc(2 * MIB);
    T_EQ(app.live[0].ours, false);
    T_EQ(vr_memory_find(app.state, address, &view), VR_NONE);
    T_EQ(app_free(address), 0);
    T_EQ(vr_memory_kept(app.state, 0), 0);
    T_ASSERT(!vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    T_ASSERT(!vr_memory_pin(app.state, address, VR_PIN_IPC));
    T_EQ(app_totals().reserved_bytes, 0);
    T_EQ(app_totals().mapped_bytes, 0);
    T_EQ(app_totals().slices, 0);
    for (int i = VR_COUNT_vmm_create; i <= VR_COUNT_vmm_release; i++)
        T_EQ(app_totals().counter[i], 0);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 1);
    T_EQ(app_count(VR_COUNT_frees), 1);
    app_end();
}

/* As in mode on, pinned memory would not come back, nor would its size. */
TEST(observe, pins_and_operands)
{
    app_begin(VR_MODE_OBSERVE, VR_BACKING_EAGER);
    T_EQ(app_free(app_alloc(2 * MIB)), 0);
    vr_memory_pin(app.state, app_alloc(2 * MIB), VR_PIN_IPC);
    T_EQ(app_count(VR_COUNT_would_recycle), 1);
    app_free_all();
    T_EQ(app_free(app_alloc(2 * MIB)), 0);
    T_EQ(app_free(app_alloc(4 * MIB)), 0);
    vr_memory_operand(app.state, app_alloc(4 * MIB));
    T_EQ(app_count(VR_COUNT_would_recycle), 2);
    app_free_all();
    T_EQ(app_free(app_alloc(4 * MIB)), 0);
    T_EQ(app_count(VR_COUNT_would_recycle), 2);
    T_EQ(app_refused(VR_REFUSAL_size_barred), 2);
    app_end();
}
