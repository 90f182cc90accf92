/* core_recycle_capture.c: allocations and frees while a capture lives, and memory that leaves our
 * control (docs/design.md, section 5; core/memory.h). */
#include "tests/unit/core_app.h"

enum { SIZE = 4 << 20 };

/* The rung in use for SIZE, learned. */
static void begin_taken(void)
{
    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    T_ASSERT(app_take(SIZE));
}

/* ---- captures ---- */

TEST(capture, forbids)
{
    uint64_t address;

    begin_taken();
    address = app_alloc(SIZE);
    T_EQ(app_free(address), 0);
    T_EQ(app_alloc(SIZE), address);
    app.capture = VR_CAPTURE_FORBIDS;
    T_EQ(app_alloc(SIZE), 0);
    T_EQ(app_refused(VR_REFUSAL_alloc_capture), 1);
    device.drain_result = 906;
    T_EQ(app_free(address), 906);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 1);
    /* The driver does not mind after all. */
    device.drain_result = 0;
    T_EQ(app_free(address), 0);
    app.capture = VR_CAPTURE_NONE;
    T_EQ(app_alloc(SIZE), address);
    app_end();
}

TEST(capture, permits_what_needs_no_driver)
{
    unsigned calls = 0;
    uint64_t first, second, third;

    begin_taken();
    app.unbound = true;
    first = app_alloc(SIZE);
    second = app_alloc(SIZE);
    T_EQ(app_free(first), 0);
    for (int op = 0; op < OP_COUNT; op++)
        calls += device.calls[op];
    app.capture = VR_CAPTURE_PERMITS;
    T_EQ(app_alloc(SIZE), first);
    T_NE(app_alloc(SIZE), 0); /* the driver's: memory would have to be made */
    T_EQ(app_refused(VR_REFUSAL_alloc_capture), 1);
    T_EQ(app_free(second), 0); /* parked */
    T_NE(app_alloc(SIZE), second);
    T_ASSERT(!vr_memory_give_back(app.state, VR_CAPTURE_PERMITS));
    T_ASSERT(!vr_memory_give_back(app.state, VR_CAPTURE_FORBIDS));
    for (int op = 0; op < OP_COUNT; op++)
        calls -= device.calls[op];
    T_EQ(calls, 0);
    app_check();
    /* An allocation does not wait for work; the next free does. */
    app.capture = VR_CAPTURE_NONE;
    third = app_alloc(SIZE);
    T_GT(third, second);
    T_EQ(device.calls[OP_drain], 1);
    T_EQ(app_free(third), 0);
    T_EQ(device.calls[OP_drain], 2);
    T_EQ(app_alloc(SIZE), second);
    app_end();
}

static uint64_t freed_meanwhile;

static void free_meanwhile(void)
{
    device.on_drain = NULL;
    app.capture = VR_CAPTURE_PERMITS;
    app_free(freed_meanwhile);
    app.capture = VR_CAPTURE_NONE;
}

/* Work may have been submitted for it after the drain began. */
TEST(capture, a_slice_parked_during_a_drain_is_not_settled_by_it)
{
    uint64_t first, second;

    begin_taken();
    app.unbound = true;
    first = app_alloc(SIZE);
    second = app_alloc(SIZE);
    freed_meanwhile = app_alloc(SIZE);
    app.capture = VR_CAPTURE_PERMITS;
    T_EQ(app_free(first), 0);
    app.capture = VR_CAPTURE_NONE;
    device.on_drain = free_meanwhile;
    T_EQ(app_free(second), 0);
    T_EQ(app_alloc(SIZE), first);
    T_EQ(app_alloc(SIZE), second);
    T_EQ(device.calls[OP_drain], 1);
    T_NE(app_alloc(SIZE), freed_meanwhile);
    T_EQ(device.calls[OP_drain], 1);
    app_end();
}

/* A slice that has lost its memory is not given any while a capture lives. */
TEST(capture, makes_no_memory)
{
    unsigned created;
    uint64_t address;

    begin_taken();
    address = app_alloc(SIZE);
    T_EQ(app_free(address), 0);
    T_ASSERT(vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    created = device.calls[OP_create];
    app.capture = VR_CAPTURE_PERMITS;
    T_NE(app_alloc(SIZE), address);
    T_EQ(app_refused(VR_REFUSAL_alloc_capture), 1);
    T_EQ(device.calls[OP_create], created);
    app.capture = VR_CAPTURE_NONE;
    T_EQ(app_alloc(SIZE), address);
    app_end();
}

/* A drain for another free proves parked slices idle; memory that is due goes then. */
TEST(capture, parked_slices_are_settled_by_the_next_drain)
{
    uint64_t first, second;

    app_prepare(VR_MODE_ON, VR_BACKING_LEARNED);
    app.options.keep_bytes = 0;
    app.unbound = true;
    app_start();
    app_take(SIZE);
    first = app_alloc(SIZE);
    second = app_alloc(SIZE);
    app.capture = VR_CAPTURE_PERMITS;
    T_EQ(app_free(first), 0);
    T_EQ(device_handles(), 2);
    app_check();
    app.capture = VR_CAPTURE_NONE;
    T_EQ(app_free(second), 0);
    T_EQ(device_handles(), 0);
    app_end();
}

/* ---- what leaves our control ---- */

TEST(pins, the_address_is_never_handed_out_again)
{
    uint64_t address, other;

    begin_taken();
    other = app_alloc(SIZE);
    address = app_alloc(SIZE);
    T_ASSERT(vr_memory_pin(app.state, address + 100, VR_PIN_EXPORT));
    T_ASSERT(!vr_memory_pin(app.state, address, VR_PIN_EXPORT));
    T_ASSERT(vr_memory_pin(app.state, address, VR_PIN_IPC));
    T_ASSERT(!vr_memory_pin(app.state, 0x1234, VR_PIN_IPC));
    T_NOT_NULL(device_mapped(address));
    T_EQ(app_free(address), 0);
    T_NULL(device_mapped(address));
    T_EQ(device_handles(), 1);
    /* Its size is the driver's from now on. */
    T_NE(app_alloc(SIZE), address);
    T_EQ(app_refused(VR_REFUSAL_size_barred), 1);
    T_EQ(app_free(other), 0);
    app_end();
}

TEST(pins, memory_goes_first)
{
    uint64_t kept, pinned;

    begin_taken();
    kept = app_alloc(SIZE);
    pinned = app_alloc(SIZE);
    T_EQ(app_free(kept), 0);
    vr_memory_pin(app.state, pinned, VR_PIN_EXPORT);
    T_EQ(app_free(pinned), 0);
    T_NULL(device_mapped(pinned));
    T_NOT_NULL(device_mapped(kept));
    app_end();
}

TEST(pins, take_the_whole_shared_granule)
{
    uint64_t pinned, neighbour, free_one;

    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    app_take(512);
    app_take(500);
    pinned = app_alloc(512);
    neighbour = app_alloc(500);
    free_one = app_alloc(500);
    T_EQ(app_free(free_one), 0);
    vr_memory_pin(app.state, pinned, VR_PIN_EXPORT);
    T_NE(app_alloc(500) / GRANULE, pinned / GRANULE);
    T_EQ(app_free(pinned), 0);
    T_NOT_NULL(device_mapped(neighbour));
    T_EQ(app_free(neighbour), 0);
    T_NULL(device_mapped(neighbour));
    app_end();
}

TEST(pins, wait_for_the_end_of_a_capture)
{
    uint64_t address;

    begin_taken();
    app_take(8);
    T_NE(app_alloc(8), 0);
    address = app_alloc(SIZE);
    vr_memory_pin(app.state, address, VR_PIN_EXPORT);
    app.capture = VR_CAPTURE_FORBIDS;
    T_EQ(app_free(address), 0);
    T_NOT_NULL(device_mapped(address));
    app_check();
    app.capture = VR_CAPTURE_NONE;
    T_EQ(app_free(app.live[0].address), 0);
    T_NULL(device_mapped(address));
    app_end();
}

TEST(operands, bar_their_size)
{
    uint64_t ours, drivers;

    begin_taken();
    ours = app_alloc(SIZE);
    drivers = app_alloc(SIZE / 2);
    vr_memory_operand(app.state, drivers + 8);
    vr_memory_operand(app.state, 0x1234);
    T_ASSERT(!app_take(SIZE / 2));
    vr_memory_operand(app.state, ours + SIZE - 1);
    T_EQ(app_free(ours), 0);
    T_NE(app_alloc(SIZE), ours);
    T_EQ(app_count(VR_COUNT_allocs_placed), 1);
    app_end();
}
