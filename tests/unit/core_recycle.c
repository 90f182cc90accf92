/* core_recycle.c: allocations and frees as the application makes them: what is answered, what is
 * forwarded, what waits (docs/design.md, section 5, recycle; core/memory.h). */
#include <unistd.h>

#include "tests/unit/core_app.h"

enum { SIZE = 4 << 20 };

/* The rung in use for SIZE, learned. */
static void begin_taken(void)
{
    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    T_ASSERT(app_take(SIZE));
}

static enum vr_free_answer ask_free(uint64_t address, struct vr_free_call *call)
{
    *call = (struct vr_free_call){.address = address, .capture = app.capture};
    return vr_free_ask(app.state, call);
}

/* ---- counting ---- */

TEST(calls, each_is_counted_once)
{
    uint64_t ours, drivers;

    begin_taken();
    ours = app_alloc(SIZE);
    drivers = app_alloc(SIZE + 1);
    T_EQ(app_alloc(0), 0);
    T_EQ(app_free(ours), 0);
    T_EQ(app_alloc(SIZE), ours);
    T_EQ(app_free(drivers), 0);
    T_EQ(app_free(drivers), 1);
    T_EQ(app_free(0), 1);
    T_EQ(app_count(VR_COUNT_allocs_placed), 1);
    T_EQ(app_count(VR_COUNT_allocs_recycled), 1);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 2);
    T_EQ(app_count(VR_COUNT_frees), 4);
    T_EQ(app_count(VR_COUNT_vmm_create), 1);
    T_EQ(app_count(VR_COUNT_vmm_map), 1);
    T_EQ(app_count(VR_COUNT_vmm_set_access), 1);
    T_EQ(app_count(VR_COUNT_vmm_unmap), 0);
    T_EQ(app_count(VR_COUNT_vmm_release), 0);
    T_ASSERT(vr_memory_give_back(app.state, VR_CAPTURE_NONE) == false);
    app_end();
}

TEST(calls, the_steady_state_asks_the_driver_for_nothing_but_the_drain)
{
    unsigned calls[OP_COUNT];
    uint64_t blocks;

    begin_taken();
    T_EQ(app_free(app_alloc(SIZE)), 0);
    memcpy(calls, device.calls, sizeof calls);
    blocks = app.state->heap.blocks;
    for (int i = 0; i < 100; i++)
        T_EQ(app_free(app_alloc(SIZE)), 0);
    for (int op = 0; op < OP_COUNT; op++)
        T_EQ(device.calls[op] - calls[op], op == OP_drain ? 100 : 0);
    T_EQ(app.state->heap.blocks, blocks);
    app_end();
}

TEST(calls, other_sizes_and_devices_are_the_drivers)
{
    struct vr_alloc_call call = {.bytes = SIZE, .context = APP_CONTEXT, .device = 1};
    uint64_t address;

    begin_taken();
    T_EQ(vr_alloc_ask(app.state, &call, &address), VR_FORWARD);
    vr_alloc_told(app.state, &call, true, 0x1000000);
    call.device = 1000;
    T_EQ(vr_alloc_ask(app.state, &call, &address), VR_FORWARD);
    vr_alloc_told(app.state, &call, true, 0x2000000);
    call.device = -1;
    T_EQ(vr_alloc_ask(app.state, &call, &address), VR_FORWARD);
    vr_alloc_told(app.state, &call, false, 0);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 3);
    app_end();
}

/* ---- frees ---- */

TEST(frees, the_driver_answers_for_what_is_not_a_base_of_ours)
{
    struct vr_free_call call;
    uint64_t address;

    begin_taken();
    address = app_alloc(SIZE);
    T_EQ(ask_free(address + 8, &call), VR_FREE_FORWARD);
    T_EQ(call.generation, 0);
    T_EQ(ask_free(0, &call), VR_FREE_FORWARD);
    T_EQ(ask_free(0x123456789000, &call), VR_FREE_FORWARD);
    T_EQ(ask_free(address - 1, &call), VR_FREE_FORWARD);
    T_EQ(ask_free(address + SIZE, &call), VR_FREE_FORWARD);
    T_EQ(app_free(address), 0);
    T_EQ(ask_free(address, &call), VR_FREE_FORWARD);
    T_EQ(call.generation, 0);
    app_end();
}

TEST(frees, wait_for_the_allocations_context)
{
    uint64_t first, second;

    begin_taken();
    first = app_alloc(SIZE);
    app.context = APP_OTHER;
    second = app_alloc(SIZE);
    T_EQ(app_free(first), 0);
    T_EQ(device.drained, APP_CONTEXT);
    T_EQ(app_free(second), 0);
    T_EQ(device.drained, APP_OTHER);
    T_EQ(device.calls[OP_drain], 2);
    app_end();
}

/* The application gets the driver's answer and keeps its allocation. */
TEST(frees, a_drain_that_fails_keeps_the_allocation)
{
    struct vr_memory_view view;
    uint64_t address;

    begin_taken();
    address = app_alloc(SIZE);
    device.drain_result = 700;
    T_EQ(app_free(address), 700);
    T_EQ(app_free(address), 700);
    T_EQ(vr_memory_find(app.state, address, &view), VR_OK);
    T_NE(app_alloc(SIZE), address);
    app_check();
    device.drain_result = 0;
    T_EQ(app_free(address), 0);
    T_EQ(vr_memory_find(app.state, address, &view), VR_REFUSED);
    T_EQ(app_count(VR_COUNT_frees), 3);
    app_end();
}

TEST(frees, a_drivers_allocation_is_retired_before_and_restored_after_a_refusal)
{
    struct vr_allocation found;
    struct vr_free_call call;
    uint64_t address;

    begin_taken();
    address = app_alloc(512);
    T_EQ(ask_free(address, &call), VR_FREE_FORWARD);
    T_NE(call.generation, 0);
    T_ASSERT(!vr_allocations_find(app.state->allocations, address, &found));
    vr_free_told(app.state, &call, false);
    T_ASSERT(vr_allocations_find(app.state->allocations, address, &found));
    T_EQ(found.generation, call.generation);
    T_EQ(app_free(address), 0);
    app_end();
}

TEST(frees, free_sync_off_parks)
{
    uint64_t address[3];

    app_prepare(VR_MODE_ON, VR_BACKING_LEARNED);
    app.options.free_sync = false;
    app.unbound = true;
    app_start();
    app_take(SIZE);
    for (int i = 0; i < 3; i++)
        address[i] = app_alloc(SIZE);
    for (int i = 0; i < 3; i++)
        T_EQ(app_free(address[i]), 0);
    T_EQ(device.calls[OP_drain], 0);
    T_EQ(app_totals().kept_bytes, 0);
    app_check();
    /* Parked slices are all there is: one drain, and all of them are free. */
    for (int i = 0; i < 3; i++)
        T_EQ(app_alloc(SIZE), address[i]);
    T_EQ(device.calls[OP_drain], 1);
    T_EQ(app_count(VR_COUNT_allocs_recycled), 3);
    T_EQ(app_count(VR_COUNT_vmm_create), 3);
    app_end();
}

/* Also where the bound would allow for new memory. */
TEST(frees, parked_slices_come_before_new_ones)
{
    uint64_t address;

    app_prepare(VR_MODE_ON, VR_BACKING_LEARNED);
    app.options.free_sync = false;
    app_start();
    app_take(SIZE);
    T_EQ(app_free(app_alloc(10 * SIZE)), 0);
    address = app_alloc(SIZE);
    T_EQ(app_free(address), 0);
    T_EQ(app_alloc(SIZE), address);
    T_EQ(app_count(VR_COUNT_vmm_create), 1);
    app_end();
}

/* The application has freed it: an out-of-memory waits for the work and gives it back. */
TEST(frees, parked_memory_is_given_back)
{
    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    app.options.free_sync = false;
    device.total = 64 * MIB;
    app_start();
    T_EQ(app_free(app_alloc(40 * MIB)), 0);
    app.context = APP_OTHER;
    T_EQ(app_free(app_alloc(20 * MIB)), 0);
    app.unbound = true;
    T_ASSERT(vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    T_EQ(device_handles(), 0);
    app_end();
}

/* Parked memory counts for the bound: a drain frees it. */
TEST(frees, parked_memory_is_not_held_beyond_the_peak)
{
    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    app.options.free_sync = false;
    app_start();
    for (uint64_t i = 1; i < 20; i++)
        T_EQ(app_free(app_alloc(SIZE + i * 8)), 0);
    T_LE(device_held(), 2 * SIZE);
    app_end();
}

TEST(frees, parked_slices_wait_for_their_own_context)
{
    uint64_t first, second;

    app_prepare(VR_MODE_ON, VR_BACKING_LEARNED);
    app.options.free_sync = false;
    app.unbound = true;
    app_start();
    app_take(SIZE);
    first = app_alloc(SIZE);
    app.context = APP_OTHER;
    second = app_alloc(SIZE);
    T_EQ(app_free(first), 0);
    T_EQ(app_free(second), 0);
    /* The youngest parking is drained for; the other one's stays. */
    T_EQ(app_alloc(SIZE), second);
    T_EQ(device.drained, APP_OTHER);
    T_EQ(app_alloc(SIZE), first);
    T_EQ(device.drained, APP_CONTEXT);
    app_end();
}

/* ---- queries, the end, trouble ---- */

TEST(queries, ours_and_only_ours)
{
    struct vr_memory_view view;
    uint64_t ours, drivers;

    begin_taken();
    app_take(100);
    ours = app_alloc(100);
    drivers = app_alloc(200);
    T_EQ(vr_memory_find(app.state, ours + 99, &view), VR_OK);
    T_EQ(view.base, ours);
    T_EQ(view.bytes, 100);
    T_EQ(view.context, APP_CONTEXT);
    T_EQ(view.device, 0);
    T_NE(view.generation, 0);
    T_EQ(vr_memory_find(app.state, ours + 100, &view), VR_REFUSED);
    T_EQ(vr_memory_find(app.state, drivers, &view), VR_NONE);
    T_EQ(vr_memory_find(app.state, 0, &view), VR_NONE);
    app_end();
}

/* Another thread's new context has the handle of the one that ended, before we are told. */
TEST(contexts, a_reused_handle_keeps_what_is_younger)
{
    struct vr_context_mark mark;
    struct vr_memory_view view;
    uint64_t old, young;

    begin_taken();
    app.unbound = true;
    old = app_alloc(SIZE);
    vr_context_ending(app.state, &mark);
    young = app_alloc(SIZE);
    vr_context_gone(app.state, APP_CONTEXT, &mark);
    T_EQ(vr_memory_find(app.state, old, &view), VR_REFUSED);
    T_EQ(vr_memory_find(app.state, young, &view), VR_OK);
    app.count = 1;
    app_end();
}

TEST(contexts, take_their_allocations_along)
{
    struct vr_context_mark mark;
    struct vr_memory_view view;
    uint64_t first, second, third;

    begin_taken();
    app.unbound = true;
    first = app_alloc(SIZE);
    app.context = APP_OTHER;
    second = app_alloc(SIZE);
    T_NE(app_alloc(512), 0);
    app.capture = VR_CAPTURE_PERMITS;
    T_EQ(app_free(second), 0);
    app.capture = VR_CAPTURE_NONE;
    third = app_alloc(SIZE);
    T_NE(third, second); /* it is parked */
    vr_context_ending(app.state, &mark);
    vr_context_gone(app.state, APP_OTHER, &mark);
    T_EQ(vr_memory_find(app.state, first, &view), VR_OK);
    T_EQ(vr_memory_find(app.state, third, &view), VR_REFUSED);
    app.count = 1;
    app.context = APP_CONTEXT;
    T_EQ(app_alloc(SIZE), second);
    app_end();
}

TEST(contexts, end_the_parking)
{
    struct vr_context_mark mark;
    uint64_t address;

    begin_taken();
    address = app_alloc(SIZE);
    app.capture = VR_CAPTURE_PERMITS;
    T_EQ(app_free(address), 0);
    vr_context_ending(app.state, &mark);
    vr_context_gone(app.state, APP_CONTEXT, &mark);
    T_EQ(app_alloc(SIZE), address);
    T_EQ(device.calls[OP_drain], 0);
    app_end();
}

TEST(trouble, frees_of_ours_are_still_served)
{
    uint64_t address;

    begin_taken();
    address = app_alloc(SIZE);
    vr_trouble_seen(app.state, VR_TROUBLE_STICKY);
    T_EQ(app_free(address), 0);
    T_NE(app_alloc(SIZE), address);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 1);
    app_end();
}

/* The driver gives out an address whose allocation died in a way we did not see. */
TEST(unseen, the_dead_are_replaced)
{
    struct vr_alloc_call call = {.bytes = SIZE, .context = APP_CONTEXT};
    struct vr_allocation found;

    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    vr_alloc_told(app.state, &call, true, 0x10000000);
    call.bytes = 512;
    vr_alloc_told(app.state, &call, true, 0x10000200);
    T_ASSERT(!vr_allocations_find(app.state->allocations, 0x10000000, &found));
    T_ASSERT(vr_allocations_find(app.state->allocations, 0x10000200, &found));
    T_EQ(vr_allocations_count(app.state->allocations), 1);
    app_end();
}

/* ---- statistics ---- */

static char text[65536];

static void read_back(FILE *file)
{
    ssize_t length = pread(fileno(file), text, sizeof text - 1, 0);

    T_GT(length, 0);
    text[length] = '\0';
    fclose(file);
}

/* What the statistics say, and what the table for people says. */
static void write_stats(void)
{
    static const struct vr_doors doors;
    FILE *file = tmpfile();

    T_NOT_NULL(file);
    T_EQ(vr_stats_write(app.state, &doors, fileno(file)), VR_OK);
    read_back(file);
}

static void write_report(void)
{
    static const struct vr_doors doors;
    FILE *file = tmpfile();

    T_NOT_NULL(file);
    T_EQ(vr_stats_report(app.state, &doors, fileno(file)), VR_OK);
    read_back(file);
}

static void few_calls(enum vr_mode mode)
{
    app_begin(mode, VR_BACKING_EAGER);
    for (int i = 0; i < 3; i++)
        T_EQ(app_free(app_alloc(SIZE)), 0);
    T_NE(app_alloc(100), 0);
}

TEST(stats, memory)
{
    few_calls(VR_MODE_ON);
    write_stats();
    T_STR_HAS(text, "\"allocs\": 4, \"allocs_recycled\": 2, \"allocs_placed\": 1, "
                    "\"allocs_forwarded\": 1, \"frees\": 3}");
    /* The driver's allocation is one granule more: what was kept had to go. */
    T_STR_HAS(text, "\"memory\": {\"reserved_bytes\": 68719476736, \"mapped_bytes\": 0, "
                    "\"kept_bytes\": 0, \"slices\": 0}");
    T_STR_HAS(text, "\"vmm\": {\"create\": 1, \"map\": 1, \"unmap\": 1, \"set_access\": 1, "
                    "\"release\": 1}");
    T_STR_HAS(text, "\"alloc_capture\": 0");
    T_NULL(strstr(text, "\"would\""));
    write_report();
    T_STR_HAS(text, "device allocations");
    T_STR_HAS(text, "answered from kept memory");
    T_STR_HAS(text, " 2  50.0 %\n");
    app_end();
}

TEST(stats, memory_in_observe_mode)
{
    few_calls(VR_MODE_OBSERVE);
    write_stats();
    T_STR_HAS(text, "\"allocs\": 4, \"allocs_recycled\": 0, \"allocs_placed\": 0, "
                    "\"allocs_forwarded\": 4, \"frees\": 3}");
    T_STR_HAS(text, "\"memory\": {\"reserved_bytes\": 0, \"mapped_bytes\": 0");
    T_STR_HAS(text, "\"allocs_recycled\": 2");
    T_STR_HAS(strstr(text, "\"would\""), "\"allocs_recycled\": 2");
    write_report();
    T_STR_HAS(text, "would use kept memory");
    app_end();
}

TEST(stats, no_lines_without_allocations)
{
    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    write_report();
    T_NULL(strstr(text, "allocations"));
    app_end();
}
