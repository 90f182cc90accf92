/* core_arena.c: where allocations of ours lie, and how much memory is held for them
 * (docs/design.md, section 5, recycle). */
#include "tests/unit/core_app.h"

/* ---- the reservation ---- */

TEST(reservation, none_before_it_is_needed)
{
    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    T_NE(app_alloc(4 * MIB), 0);
    T_EQ(device.calls[OP_reserve], 0);
    T_ASSERT(app_take(4 * MIB));
    T_EQ(device.calls[OP_reserve], 0);
    T_NE(app_alloc(4 * MIB), 0);
    T_EQ(device.calls[OP_reserve], 1);
    T_EQ(app_totals().reserved_bytes, 64 * GIB);
    app_end();
    T_EQ(device.reserved_bytes, 0);
}

TEST(reservation, four_times_the_memory_and_halved_until_accepted)
{
    static const struct {
        uint64_t asked, total, most, got;
        unsigned calls;
    } rows[] = {{VR_SIZE_AUTO, 16 * GIB, UINT64_MAX, 64 * GIB, 1},
                {VR_SIZE_AUTO, 80 * GIB, UINT64_MAX, 320 * GIB, 1},
                {VR_SIZE_AUTO, 80 * GIB, 100 * GIB, 80 * GIB, 3},
                {8 * GIB, 80 * GIB, UINT64_MAX, 8 * GIB, 1},
                {5 * MIB, 80 * GIB, UINT64_MAX, 6 * MIB, 1},
                {1, 80 * GIB, UINT64_MAX, 2 * MIB, 1},
                {14 * MIB, 80 * GIB, 8 * MIB, 6 * MIB, 2}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
        app.options.reserve = rows[i].asked;
        device.total = rows[i].total;
        device.reserve_most = rows[i].most;
        app_start();
        T_NE(app_alloc(2 * MIB), 0);
        T_EQ(app_totals().reserved_bytes, rows[i].got);
        T_EQ(device.calls[OP_reserve], rows[i].calls);
        app_end();
    }
}

TEST(reservation, refused_for_good)
{
    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    device.reserve_most = 0;
    app_start();
    for (int i = 0; i < 5; i++)
        T_NE(app_alloc(2 * MIB), 0);
    app_free_all();
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 5);
    T_EQ(app_refused(VR_REFUSAL_reserve_refused), 5);
    T_LE(device.calls[OP_reserve], 64);
    T_EQ(device.calls[OP_create], 0);
    app_end();
}

TEST(reservation, the_driver_does_not_say_the_granule)
{
    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    device.fail_op = OP_device_memory;
    device.fail_at = 1;
    device.fail_on = true;
    app_start();
    T_NE(app_alloc(2 * MIB), 0);
    T_EQ(app_refused(VR_REFUSAL_reserve_refused), 1);
    T_EQ(device.calls[OP_reserve], 0);
    app_end();
}

TEST(reservation, used_up)
{
    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    app.options.reserve = 8 * MIB;
    app_start();
    for (int i = 0; i < 6; i++)
        T_NE(app_alloc(2 * MIB), 0);
    T_EQ(app_count(VR_COUNT_allocs_placed), 4);
    T_EQ(app_refused(VR_REFUSAL_range_full), 2);
    app_free_all();
    for (int i = 0; i < 4; i++)
        T_NE(app_alloc(2 * MIB), 0);
    T_EQ(app_count(VR_COUNT_allocs_recycled), 4);
    /* Larger than the range, and than anything. */
    T_NE(app_alloc(10 * MIB), 0);
    T_EQ(app_alloc(UINT64_MAX), 0);
    T_EQ(app_alloc(UINT64_MAX - GRANULE), 0);
    app_end();
}

/* ---- addresses ---- */

TEST(slices, the_same_sequence_gets_the_same_addresses)
{
    static const uint64_t sizes[] = {4 * MIB, 4 * MIB, 3 * MIB, 512, 4, 512, 100 * KIB, 4 * MIB};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    uint64_t first[COUNT];
    struct vr_memory_totals before;

    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    for (int i = 0; i < COUNT; i++)
        app_take(sizes[i]);
    for (int i = 0; i < COUNT; i++)
        first[i] = app_alloc(sizes[i]);
    T_EQ(app_count(VR_COUNT_allocs_placed), COUNT);
    app_free_all();
    before = app_totals();
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < COUNT; i++)
            T_EQ(app_alloc(sizes[i]), first[i]);
        /* Whatever the order of frees. */
        while (app.count)
            T_EQ(app_free(app.live[round % app.count].address), 0);
    }
    T_EQ(app_count(VR_COUNT_allocs_recycled), 10 * COUNT);
    for (int i = VR_COUNT_vmm_create; i <= VR_COUNT_vmm_release; i++)
        T_EQ(app_totals().counter[i], before.counter[i]);
    T_EQ(app_count(VR_COUNT_allocs_forwarded), 0);
    app_end();
}

TEST(slices, addresses_grow_and_the_lowest_is_first)
{
    uint64_t address[100];

    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    for (int i = 0; i < 100; i++) {
        address[i] = app_alloc(2 * MIB);
        T_ASSERT(!i || address[i] > address[i - 1]);
    }
    T_EQ(app_free(address[70]), 0);
    T_EQ(app_free(address[30]), 0);
    T_EQ(app_free(address[50]), 0);
    T_EQ(app_alloc(2 * MIB), address[30]);
    T_EQ(app_alloc(2 * MIB), address[50]);
    T_EQ(app_alloc(2 * MIB), address[70]);
    T_EQ(device_handles(), 100);
    app_end();
}

TEST(slices, no_size_gets_the_slice_of_another)
{
    uint64_t address;

    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    address = app_alloc(4 * MIB);
    T_EQ(app_free(address), 0);
    T_NE(app_alloc(4 * MIB - 4), address);
    T_NE(app_alloc(3 * MIB), address);
    T_EQ(app_alloc(4 * MIB), address);
    app_end();
}

/* A granule is shared by sizes of one class; each piece is aligned as the driver's are. */
TEST(slices, small_sizes_share_granules)
{
    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    for (uint64_t bytes = 4; bytes <= 512; bytes += 4) {
        app_take(bytes);
        T_EQ(app_alloc(bytes) % 512, 0);
    }
    T_EQ(device_handles(), 1);
    T_EQ(app_totals().slices, 128);
    T_EQ(app_totals().mapped_bytes, GRANULE);
    app_end();
}

TEST(slices, from_half_a_granule_on_memory_is_its_own)
{
    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    T_NE(app_alloc(MIB - 1), 0);
    T_NE(app_alloc(MIB - 1), 0);
    T_EQ(device_handles(), 1);
    T_NE(app_alloc(MIB), 0);
    T_EQ(device_handles(), 2);
    T_NE(app_alloc(MIB), 0);
    T_EQ(device_handles(), 3);
    T_NE(app_alloc(2 * MIB + 1), 0);
    T_EQ(app_totals().mapped_bytes, 3 * GRANULE + 2 * GRANULE);
    T_EQ(app_totals().slices, 5);
    app_end();
}

/* A class wastes a quarter at most, and pieces never overlap (app_note looks). */
TEST(slices, classes)
{
    app_prepare(VR_MODE_ON, VR_BACKING_LEARNED);
    app.unbound = true;
    app_start();
    for (uint64_t bytes = 1; bytes < MIB; bytes = bytes * 5 / 4 + 1) {
        uint64_t first, second;
        app_take(bytes);
        first = app_alloc(bytes);
        second = app_alloc(bytes);
        T_EQ(first % 512, 0);
        if (second / GRANULE == first / GRANULE)
            T_LE(second - first, (bytes + 511) / 512 * 512 * 5 / 4);
    }
    app_check();
    app_free_all();
    app_end();
}

/* Hundreds of gigabytes are one slice and cost what a granule costs. */
TEST(slices, a_large_one)
{
    uint64_t blocks;

    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    device.total = 1024 * GIB;
    app_start();
    T_EQ(app_free(app_alloc(2 * MIB)), 0);
    blocks = app.state->heap.bytes;
    T_EQ(app_free(app_alloc(700 * GIB)), 0);
    T_LE(app.state->heap.bytes - blocks, 1024);
    T_EQ(device.calls[OP_create], 2);
    T_EQ(app_totals().kept_bytes, 700 * GIB);
    app_end();
}

/* ---- memory ---- */

TEST(memory, is_bounded_by_the_peak)
{
    uint64_t address;

    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    address = app_alloc(8 * MIB);
    T_EQ(app_free(address), 0);
    T_EQ(app_totals().kept_bytes, 8 * MIB);
    T_EQ(vr_memory_kept(app.state, 0), 8 * MIB);
    T_EQ(vr_memory_kept(app.state, 1), 0);
    /* The peak is 8 MiB: another size needs the first one's memory. */
    T_NE(app_alloc(2 * MIB), 0);
    T_EQ(device_held(), 2 * MIB);
    T_EQ(app_totals().kept_bytes, 0);
    /* The address is still kept, and memory is made anew. */
    T_EQ(app_alloc(8 * MIB), address);
    T_EQ(app_count(VR_COUNT_allocs_recycled), 0);
    T_EQ(app_count(VR_COUNT_allocs_placed), 3);
    app_end();
}

TEST(memory, the_longest_unused_goes_first)
{
    uint64_t address[4];

    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    for (uint64_t i = 0; i < 4; i++)
        address[i] = app_alloc((i + 1) * 2 * MIB);
    T_EQ(app_free(address[2]), 0);
    T_EQ(app_free(address[0]), 0);
    T_EQ(app_free(address[3]), 0);
    T_EQ(app_free(address[1]), 0);
    /* 20 MiB held, the peak; the third (6 MiB) is the oldest. */
    T_NE(app_alloc(2 * MIB + 1), 0);
    T_NULL(device_mapped(address[2]));
    T_NOT_NULL(device_mapped(address[0]));
    T_EQ(device_held(), 18 * MIB);
    T_NE(app_alloc(4 * MIB + 1), 0);
    T_NULL(device_mapped(address[0]));
    T_NULL(device_mapped(address[3]));
    T_NOT_NULL(device_mapped(address[1]));
    app_end();
}

TEST(memory, the_drivers_allocations_count)
{
    uint64_t ours, drivers;

    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    app_take(8 * MIB);
    ours = app_alloc(8 * MIB);
    T_EQ(app_free(ours), 0);
    drivers = app_alloc(6 * MIB);
    T_EQ(app_totals().kept_bytes, 0);
    T_EQ(app_alloc(8 * MIB), ours);
    T_EQ(app_free(ours), 0);
    T_EQ(app_totals().kept_bytes, 8 * MIB);
    T_EQ(app_free(drivers), 0);
    T_NE(app_alloc(2 * MIB), 0);
    T_EQ(app_totals().kept_bytes, 8 * MIB);
    app_end();
}

TEST(memory, a_shared_granule_goes_as_a_whole)
{
    uint64_t first, second;

    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    app_take(512);
    app_take(508);
    first = app_alloc(512);
    second = app_alloc(508);
    T_EQ(app_free(first), 0);
    T_EQ(app_totals().kept_bytes, 0);
    T_EQ(app_free(second), 0);
    T_EQ(app_totals().kept_bytes, GRANULE);
    T_ASSERT(vr_memory_give_back(app.state, VR_CAPTURE_NONE));
    T_EQ(app_totals().slices, 0);
    T_EQ(app_alloc(508), second);
    T_EQ(app_alloc(512), first);
    T_EQ(app_count(VR_COUNT_allocs_placed), 3);
    T_EQ(app_count(VR_COUNT_allocs_recycled), 1);
    app_end();
}

TEST(memory, keep_bytes)
{
    static const uint64_t caps[] = {0, 2 * MIB, 5 * MIB, 100 * MIB};

    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        uint64_t address[4];
        app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
        app.options.keep_bytes = caps[i];
        app_start();
        for (int n = 0; n < 4; n++)
            address[n] = app_alloc(2 * MIB);
        app_free_all();
        T_EQ(app_totals().kept_bytes,
             caps[i] / (2 * MIB) > 4 ? 8 * MIB : caps[i] / (2 * MIB) * 2 * MIB);
        app_check();
        for (int n = 0; n < 4; n++)
            T_EQ(app_alloc(2 * MIB), address[n]);
        app_end();
    }
}

/* What we keep yields when the driver's free memory falls below twice as much. */
TEST(memory, yields_to_others)
{
    unsigned asked;

    app_begin(VR_MODE_ON, VR_BACKING_LEARNED);
    app_take(64 * MIB);
    for (int i = 0; i < 8; i++)
        T_NE(app_alloc(64 * MIB), 0);
    app_free_all();
    T_EQ(app_totals().kept_bytes, 512 * MIB);
    T_NE(app_alloc(512), 0);
    /* One went for the bound. */
    T_EQ(app_totals().kept_bytes, 448 * MIB);
    device.used = device.total - 500 * MIB;
    asked = device.calls[OP_free_memory];
    T_NE(app_alloc(64 * MIB), 0);
    T_EQ(device.calls[OP_free_memory], asked);
    T_NE(app_alloc(512), 0);
    T_EQ(device.calls[OP_free_memory], asked + 1);
    /* 384 kept, 500 free: two go, 256 kept, 628 free. */
    T_EQ(app_totals().kept_bytes, 256 * MIB);
    device.used = 0;
    app.unbound = true;
    app_end();
}

TEST(memory, an_out_of_memory_gives_all_back)
{
    uint64_t address;

    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    device.total = 64 * MIB;
    app_start();
    address = app_alloc(30 * MIB);
    T_EQ(app_free(address), 0);
    T_NE(app_alloc(64 * MIB), 0);
    T_EQ(device_held(), 64 * MIB);
    T_EQ(app_alloc(2 * MIB), 0);
    T_EQ(app_refused(VR_REFUSAL_create_refused), 1);
    app_end();
}
