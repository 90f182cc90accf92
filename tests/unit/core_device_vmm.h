/* core_device_vmm.h: the entries of core_device.h's device for virtual memory, strict about their
 * use. */
#ifndef CORE_DEVICE_VMM_H
#define CORE_DEVICE_VMM_H

#include "tests/unit/core_device.h"

static enum vr_status dev_reserve(size_t bytes, size_t align, uint64_t *address)
{
    if (device_enter(OP_reserve) || bytes > device.reserve_most)
        return device_leave(OP_reserve, VR_REFUSED);
    if (!bytes || bytes % GRANULE || (align & (align - 1)) || device.reserved_bytes)
        device_break("reserve: size, alignment, or a second one");
    device.reserved_at = *address = device.next_reservation;
    device.reserved_bytes = bytes;
    device.next_reservation += (uint64_t)1 << 42;
    return device_leave(OP_reserve, VR_OK);
}

static enum vr_status dev_unreserve(uint64_t address, size_t bytes)
{
    if (device_enter(OP_unreserve))
        return device_leave(OP_unreserve, device.fail_status);
    if (address != device.reserved_at || bytes != device.reserved_bytes)
        device_break("unreserve: not what was reserved");
    for (int i = 0; i < DEVICE_BLOCKS; i++)
        if (device.memory[i].exists && device.memory[i].at)
            device_break("unreserve: with mappings");
    device.reserved_bytes = 0;
    return device_leave(OP_unreserve, VR_OK);
}

static enum vr_status dev_create(int ordinal, size_t bytes, uint64_t *memory)
{
    int i = 0;

    if (device_enter(OP_create))
        return device_leave(OP_create, device.fail_status);
    if (!bytes || bytes % GRANULE)
        device_break("create: size");
    if (bytes > device.total - device.used)
        return device_leave(OP_create, VR_NO_MEMORY);
    while (i < DEVICE_BLOCKS && device.memory[i].exists)
        i++;
    if (i == DEVICE_BLOCKS)
        return device_leave(OP_create, VR_NO_MEMORY);
    device.memory[i] = (struct device_memory){.exists = true, .device = ordinal, .bytes = bytes};
    device.used += bytes;
    *memory = (uint64_t)i + 1;
    return device_leave(OP_create, VR_OK);
}

/* NULL for a handle that does not exist. */
static struct device_memory *dev_memory(uint64_t handle)
{
    if (!handle || handle > DEVICE_BLOCKS || !device.memory[handle - 1].exists) {
        device_break("no such memory");
        return NULL;
    }
    return &device.memory[handle - 1];
}

static enum vr_status dev_release(uint64_t handle)
{
    bool fails = device_enter(OP_release);
    struct device_memory *memory = dev_memory(handle);

    if (fails || !memory)
        return device_leave(OP_release, device.fail_status);
    if (memory->at)
        device_break("release: of mapped memory");
    memory->exists = false;
    device.used -= memory->bytes;
    return device_leave(OP_release, VR_OK);
}

static enum vr_status dev_map(uint64_t address, size_t bytes, uint64_t handle)
{
    bool fails = device_enter(OP_map);
    struct device_memory *memory = dev_memory(handle);

    if (fails || !memory)
        return device_leave(OP_map, device.fail_status);
    if (bytes != memory->bytes || memory->at || address % GRANULE)
        device_break("map: size, alignment, or a second time");
    if (address < device.reserved_at ||
        address + bytes > device.reserved_at + device.reserved_bytes)
        device_break("map: outside of the reservation");
    for (int i = 0; i < DEVICE_BLOCKS; i++) {
        const struct device_memory *other = &device.memory[i];
        if (other->exists && other->at && address < other->at + other->bytes &&
            other->at < address + bytes)
            device_break("map: over another mapping");
    }
    memory->at = address;
    memory->accessible = false;
    return device_leave(OP_map, VR_OK);
}

/* A mapping of exactly that range, or NULL. */
static struct device_memory *dev_mapping(uint64_t address, size_t bytes)
{
    struct device_memory *memory = device_mapped(address);

    if (!memory || memory->at != address || memory->bytes != bytes) {
        device_break("not exactly a mapping");
        return NULL;
    }
    return memory;
}

static enum vr_status dev_unmap(uint64_t address, size_t bytes)
{
    bool fails = device_enter(OP_unmap);
    struct device_memory *memory = dev_mapping(address, bytes);

    if (fails || !memory)
        return device_leave(OP_unmap, device.fail_status);
    memory->at = 0;
    return device_leave(OP_unmap, VR_OK);
}

static enum vr_status dev_set_access(int ordinal, uint64_t address, size_t bytes)
{
    bool fails = device_enter(OP_set_access);
    struct device_memory *memory = dev_mapping(address, bytes);

    if (fails || !memory)
        return device_leave(OP_set_access, device.fail_status);
    if (memory->device != ordinal)
        device_break("set access: for another device");
    memory->accessible = true;
    return device_leave(OP_set_access, VR_OK);
}

#endif
