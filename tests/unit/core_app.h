/* core_app.h: an application that allocates and frees, over the device of core_device.h, the calls
 * in between made as shim/ makes them. Checks on the way what the application may rely on (its
 * memory is there, and nobody else's) and what was promised about memory held. One thread at a
 * time. */
#ifndef CORE_APP_H
#define CORE_APP_H

#include "tests/unit/core_app_state.h"

static inline uint64_t app_rounded(uint64_t bytes)
{
    return (bytes + GRANULE - 1) / GRANULE * GRANULE;
}

static inline uint64_t app_drivers(bool rounded)
{
    uint64_t bytes = 0;

    for (int i = 0; i < app.count; i++)
        if (!app.live[i].ours)
            bytes += rounded ? app_rounded(app.live[i].bytes) : app.live[i].bytes;
    return bytes;
}

static inline void app_bound(void)
{
    if (app.unbound)
        return;
    T_ASSERT(device_held() + app_drivers(true) <= app.peak, "held %llu driver's %llu peak %llu",
             (unsigned long long)device_held(), (unsigned long long)app_drivers(true),
             (unsigned long long)app.peak);
}

static inline void app_note(uint64_t address, uint64_t bytes, bool ours)
{
    const struct device_memory *memory = ours ? device_mapped(address) : NULL;

    if (ours)
        T_ASSERT(memory && memory->accessible && address + bytes <= memory->at + memory->bytes);
    for (int i = 0; i < app.count; i++)
        T_ASSERT(address + bytes <= app.live[i].address ||
                 app.live[i].address + app.live[i].bytes <= address);
    T_LT(app.count, APP_LIVE);
    app.live[app.count++] = (struct app_block){address, bytes, ours};
    app.granules += app_rounded(bytes);
    app.peak = app.granules > app.peak ? app.granules : app.peak;
    app_bound();
}

static inline struct app_block *app_find(uint64_t address)
{
    for (int i = 0; i < app.count; i++)
        if (app.live[i].address == address)
            return &app.live[i];
    return NULL;
}

/* The driver's own allocation. Addresses are never used again. */
static inline bool app_driver_makes(uint64_t bytes, uint64_t *address)
{
    if (!bytes || bytes > device.total - device.used || app.capture == VR_CAPTURE_FORBIDS)
        return false;
    device.used += bytes;
    *address = app.next;
    app.next += (bytes + 511) / 512 * 512;
    return true;
}

/* cuMemAlloc: the address, or 0. */
static inline uint64_t app_alloc(uint64_t bytes)
{
    struct vr_alloc_call call = {.bytes = bytes, .context = app.context, .capture = app.capture};
    uint64_t address = 0;
    bool made;

    if (vr_alloc_ask(app.state, &call, &address) == VR_ANSWERED) {
        app_note(address, bytes, true);
        return address;
    }
    made = app_driver_makes(bytes, &address);
    if (!made && vr_memory_give_back(app.state, app.capture))
        made = app_driver_makes(bytes, &address);
    vr_alloc_told(app.state, &call, made, address);
    if (!made)
        return 0;
    app_note(address, bytes, false);
    return address;
}

/* cuMemFree: 0, 1 for INVALID_VALUE, or the driver's answer to the drain. */
static inline int app_free(uint64_t address)
{
    struct vr_free_call call = {.address = address, .capture = app.capture};
    struct app_block *block = app_find(address);
    enum vr_free_answer answer = vr_free_ask(app.state, &call);
    bool accepted = answer == VR_FREE_DONE;

    if (answer == VR_FREE_REFUSED)
        return call.result;
    T_EQ(accepted, block && block->ours);
    if (answer == VR_FREE_FORWARD) {
        accepted = block && app.capture != VR_CAPTURE_FORBIDS;
        device.used -= accepted ? block->bytes : 0;
        vr_free_told(app.state, &call, accepted);
    }
    if (!accepted)
        return 1;
    app.granules -= app_rounded(block->bytes);
    *block = app.live[--app.count];
    app_bound();
    return 0;
}

static inline void app_free_all(void)
{
    while (app.count)
        T_EQ(app_free(app.live[app.count - 1].address), 0);
}

#endif
