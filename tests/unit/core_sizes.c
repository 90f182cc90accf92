/* core_sizes.c: which sizes are taken (docs/design.md, section 5). */
#include "tests/unit/core_app.h"

static enum vr_size_state state_of(int ordinal, size_t bytes)
{
    return vr_sizes_state(app.state->sizes, ordinal, bytes);
}

TEST(sizes, exactly_as_taken)
{
    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    T_EQ(state_of(0, 4096), VR_SIZE_DRIVERS);
    T_ASSERT(app_take(4096));
    T_ASSERT(!app_take(4096));
    T_EQ(state_of(0, 4096), VR_SIZE_TAKEN);
    T_EQ(state_of(0, 4095), VR_SIZE_DRIVERS);
    T_EQ(state_of(0, 4097), VR_SIZE_DRIVERS);
    T_EQ(state_of(1, 4096), VR_SIZE_DRIVERS);
    T_ASSERT(vr_sizes_take(app.state->sizes, &app.state->heap, 1, 4096));
    T_EQ(state_of(1, 4096), VR_SIZE_TAKEN);
    T_ASSERT(!app_take(0));
    T_EQ(state_of(0, 0), VR_SIZE_DRIVERS);
    app_end();
}

TEST(sizes, barred_for_good_and_everywhere)
{
    struct vr_heap *heap;

    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    heap = &app.state->heap;
    T_ASSERT(app_take(4096));
    T_ASSERT(vr_sizes_bar(app.state->sizes, heap, 4096));
    T_ASSERT(!vr_sizes_bar(app.state->sizes, heap, 4096));
    T_EQ(state_of(0, 4096), VR_SIZE_BARRED);
    T_ASSERT(!app_take(4096));
    T_ASSERT(vr_sizes_bar(app.state->sizes, heap, 512));
    T_ASSERT(!vr_sizes_take(app.state->sizes, heap, 1, 512));
    T_EQ(state_of(1, 512), VR_SIZE_BARRED);
    T_EQ(state_of(0, 8192), VR_SIZE_DRIVERS);
    app_end();
}

/* A bar that cannot be noted bars all: forgetting it would be wrong. */
TEST(sizes, no_memory)
{
    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    app.state->heap.fail_at = 1;
    T_ASSERT(!app_take(4096));
    T_EQ(state_of(0, 4096), VR_SIZE_DRIVERS);
    T_ASSERT(app_take(4096));
    app.state->heap.fail_at = 1;
    vr_sizes_bar(app.state->sizes, &app.state->heap, 512);
    T_EQ(state_of(0, 512), VR_SIZE_BARRED);
    T_EQ(state_of(0, 4096), VR_SIZE_BARRED);
    T_ASSERT(!app_take(8192));
    app_end();
}

TEST(sizes, the_driver_is_asked_once_per_device)
{
    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    T_EQ(device.calls[OP_may_place], 0);
    for (int i = 1; i < 100; i++)
        vr_sizes_take(app.state->sizes, &app.state->heap, i % 2, (size_t)i * 512);
    T_EQ(device.calls[OP_may_place], 2);
    app_end();
}

TEST(sizes, the_driver_says_no)
{
    app_prepare(VR_MODE_ON, VR_BACKING_LEARNED);
    device.fail_op = OP_may_place;
    device.fail_at = 1;
    app_start();
    T_ASSERT(!app_take(4096));
    T_ASSERT(!app_take(4096));
    T_EQ(state_of(0, 4096), VR_SIZE_REFUSED);
    T_EQ(state_of(0, 8192), VR_SIZE_DRIVERS);
    T_EQ(device.calls[OP_may_place], 1);
    T_NE(app_alloc(4096), 0);
    T_EQ(app_refused(VR_REFUSAL_place_refused), 1);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 1);
    app_end();
}

TEST(sizes, eager_takes_all_from_the_least_on)
{
    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    T_EQ(state_of(0, 64 * KIB - 1), VR_SIZE_DRIVERS);
    T_EQ(state_of(0, 64 * KIB), VR_SIZE_TAKEN);
    T_EQ(state_of(0, 64 * KIB + 1), VR_SIZE_TAKEN);
    vr_sizes_bar(app.state->sizes, &app.state->heap, MIB);
    T_EQ(state_of(0, MIB), VR_SIZE_BARRED);
    T_ASSERT(app_take(512));
    T_EQ(state_of(0, 512), VR_SIZE_TAKEN);
    app_end();
}

TEST(sizes, nothing_is_taken_when_it_is_off)
{
    static const struct {
        enum vr_mode mode;
        uint32_t rungs;
        enum vr_backing backing;
    } rows[] = {{VR_MODE_OFF, VR_RUNG_RECYCLE, VR_BACKING_EAGER},
                {VR_MODE_ON, VR_RUNG_ELIDE, VR_BACKING_EAGER},
                {VR_MODE_ON, VR_RUNG_ELIDE | VR_RUNG_RECYCLE, VR_BACKING_OFF}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        app_prepare(rows[i].mode, rows[i].backing);
        app.options.rungs = rows[i].rungs;
        app_start();
        T_ASSERT(!app_take(4 * MIB));
        T_EQ(state_of(0, 4 * MIB), VR_SIZE_DRIVERS);
        T_NE(app_alloc(4 * MIB), 0);
        app_free_all();
        T_EQ(app_count(VR_COUNT_allocs_forwarded), 1);
        T_EQ(app_count(VR_COUNT_frees), 1);
        for (int op = 0; op < OP_COUNT; op++)
            T_EQ(device.calls[op], 0);
        app_end();
    }
}
