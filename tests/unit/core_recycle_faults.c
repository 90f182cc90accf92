/* core_recycle_faults.c: every call to the driver fails, once and for good, and every allocation of
 * ours: the application never notices but by the driver's own answer to a drain, books and
 * invariants hold, and nothing is left behind. */
#include "tests/unit/core_script.h"

static const struct script script = {.seed = 3, .steps = 160};

/* Runs the script with the nth call failing; whether it came to that. */
static bool run(enum vr_backing backing, int op, unsigned nth, bool on, enum vr_status status)
{
    uint64_t answered;
    bool reached;

    app_prepare(VR_MODE_ON, backing);
    app.options.keep_bytes = nth % 2 ? VR_SIZE_AUTO : 4 * MIB;
    app.unbound = true; /* memory that the driver does not take back is held */
    device.fail_op = op;
    device.fail_at = nth;
    device.fail_on = on;
    device.fail_status = status;
    app_start();
    script_run(&script, NULL);
    reached = device.seen >= nth;
    app_check();
    device.fail_at = 0;
    script_run(&script, NULL);
    app_free_all();
    app_check();
    answered = app_count(VR_COUNT_allocs_placed) + app_count(VR_COUNT_allocs_recycled);
    /* Without may_place or the granule there is nothing to answer with. */
    T_ASSERT(on || answered > 0 || !device.calls[OP_reserve]);
    app_end();
    T_EQ(device_handles(), 0);
    T_EQ(device.reserved_bytes, 0);
    T_EQ(device.used, 0);
    return reached;
}

static void run_all(enum vr_backing backing, int op, bool on, enum vr_status status)
{
    unsigned nth = 1;

    while (run(backing, op, nth, on, status))
        nth++;
    T_GT(nth, 1);
}

TEST(faults, every_call_once)
{
    run_all(VR_BACKING_LEARNED, -1, false, VR_REFUSED);
    run_all(VR_BACKING_EAGER, -1, false, VR_REFUSED);
}

TEST(faults, every_call_for_good)
{
    run_all(VR_BACKING_LEARNED, -1, true, VR_REFUSED);
    run_all(VR_BACKING_EAGER, -1, true, VR_REFUSED);
}

TEST(faults, out_of_device_memory_once_and_for_good)
{
    run_all(VR_BACKING_EAGER, OP_create, false, VR_NO_MEMORY);
    run_all(VR_BACKING_EAGER, OP_create, true, VR_NO_MEMORY);
    run_all(VR_BACKING_EAGER, OP_map, true, VR_NO_MEMORY);
}

TEST(faults, every_entry_for_good)
{
    static const int entries[] = {OP_free_memory, OP_reserve, OP_create,     OP_release,
                                  OP_map,         OP_unmap,   OP_set_access, OP_drain};

    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        run_all(VR_BACKING_EAGER, entries[i], true, VR_REFUSED);
}

/* Each step is undone, in reverse order, and the size is tried again. */
TEST(faults, a_refused_step_is_undone)
{
    static const int steps[] = {OP_create, OP_map, OP_set_access};

    for (int i = 0; i < 3; i++) {
        uint64_t address;
        app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
        device.fail_op = steps[i];
        device.fail_at = 1;
        app_start();
        T_NE(app_alloc(2 * MIB), 0);
        T_EQ(app_count(VR_COUNT_allocs_forwarded), 1);
        T_EQ(app_refused(i ? VR_REFUSAL_map_refused : VR_REFUSAL_create_refused), 1);
        T_EQ(device_handles(), 0);
        T_EQ(device.succeeded[OP_create], device.succeeded[OP_release]);
        T_EQ(device.succeeded[OP_map], device.succeeded[OP_unmap]);
        address = app_alloc(2 * MIB);
        T_EQ(address, device.reserved_at);
        app_end();
    }
}

/* Not asked for ever, when the driver will not. */
TEST(faults, refusals_are_not_insisted_on)
{
    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    device.fail_op = OP_set_access;
    device.fail_at = 1;
    device.fail_on = true;
    app_start();
    for (int i = 0; i < 100; i++)
        T_EQ(app_free(app_alloc(2 * MIB)), 0);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 100);
    T_LE(device.calls[OP_create], 5);
    T_EQ(device_handles(), 0);
    app_end();
}

/* A mapping that the driver keeps is used again, and goes when it lets go. */
TEST(faults, what_cannot_be_undone_is_taken_up_again)
{
    uint64_t address;

    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    app.unbound = true;
    device.fail_op = OP_unmap;
    device.fail_at = 1;
    device.fail_on = true;
    app_start();
    address = app_alloc(2 * MIB);
    T_EQ(app_free(address), 0);
    T_ASSERT(!vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    T_EQ(device_handles(), 1);
    T_EQ(app_alloc(2 * MIB), address);
    T_EQ(app_free(address), 0);
    device.fail_at = 0;
    device.fail_op = OP_release;
    device.fail_at = 1;
    device.seen = 0;
    T_ASSERT(!vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    T_EQ(app_totals().mapped_bytes, 2 * MIB);
    app_check();
    T_EQ(app_alloc(2 * MIB), address);
    device.fail_at = 0;
    T_EQ(app_free(address), 0);
    T_ASSERT(vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    T_EQ(app_totals().mapped_bytes, 0);
    T_EQ(device.calls[OP_create], 1);
    app_end();
}

/* Somebody else has filled the device, and the driver does not say how much is free. */
TEST(faults, no_device_memory_beside_what_is_kept)
{
    uint64_t address;

    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    address = app_alloc(20 * MIB);
    T_NE(app_alloc(40 * MIB), 0);
    T_EQ(app_free(app.live[1].address), 0);
    T_ASSERT(vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    T_EQ(app_free(address), 0);
    device.total = device.used;
    device.fail_op = OP_free_memory;
    device.fail_at = 1;
    device.fail_on = true;
    T_NE(app_alloc(20 * MIB - 4), 0);
    T_EQ(app_count(VR_COUNT_allocs_placed), 3);
    T_EQ(app_totals().kept_bytes, 0);
    app_end();
}

TEST(faults, every_allocation_of_ours)
{
    uint64_t nth = 0, left;

    do {
        app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
        app_start();
        app.state->heap.fail_at = ++nth;
        script_run(&script, NULL);
        left = app.state->heap.fail_at;
        app.state->heap.fail_at = 0;
        app_check();
        app.unbound = true; /* what is not known is not counted */
        script_run(&script, NULL);
        app_free_all();
        app_end();
        T_EQ(device_handles(), 0);
    } while (!left);
    T_GT(nth, 10);
}

TEST(faults, no_memory_for_ours_from_then_on)
{
    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    for (int i = 0; i < 200; i++) {
        app.state->heap.fail_at = 1;
        T_NE(app_alloc((uint64_t)(i % 5 + 1) * MIB), 0);
        if (app.count > 20)
            T_EQ(app_free(app.live[i % 20].address), 0);
    }
    app.state->heap.fail_at = 0;
    app_free_all();
    app_end();
    T_EQ(device_handles(), 0);
}

TEST(faults, a_full_device)
{
    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    app.unbound = true;
    device.total = 3 * GRANULE;
    app_start();
    /* The device is full but for what we keep, and then really full. */
    T_EQ(app_free(app_alloc(2 * GRANULE)), 0);
    T_NE(app_alloc(3 * GRANULE), 0);
    T_EQ(app_alloc(GRANULE), 0);
    T_EQ(app_alloc(512), 0);
    T_EQ(app_free(app.live[0].address), 0);
    /* Not ours, and more than is left beside what we keep. */
    T_NE(app_alloc(512), 0);
    T_NE(app_alloc(2 * GRANULE), 0);
    app_end();
}
