/* core_device.h: a device made by hand for the tests of core/'s memory: reservations, memory and
 * mappings with all that the CUDA documentation forbids noted as `broken` (driver API, "Virtual
 * Memory Management"), and each entry able to fail. Any thread may call. */
#ifndef CORE_DEVICE_H
#define CORE_DEVICE_H

#include <pthread.h>

#include "core/driver_ops.h"
#include "tests/unit/vr_test.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

#define GRANULE (2 * MIB)

#define DEVICE_OPS(X)                                                                              \
    X(device_memory)                                                                               \
    X(free_memory)                                                                                 \
    X(reserve)                                                                                     \
    X(unreserve)                                                                                   \
    X(create)                                                                                      \
    X(release)                                                                                     \
    X(map)                                                                                         \
    X(unmap)                                                                                       \
    X(set_access)                                                                                  \
    X(may_place)                                                                                   \
    X(drain)

enum device_op {
#define X(name) OP_##name,
    DEVICE_OPS(X)
#undef X
        OP_COUNT
};

enum { DEVICE_BLOCKS = 4096 };

/* Memory `i` has handle i + 1. */
struct device_memory {
    bool exists;
    int device;
    uint64_t bytes, at; /* mapped there; 0: not mapped */
    bool accessible;
};

static struct {
    pthread_mutex_t mutex;
    uint64_t total, used;  /* memory of the device; `used` counts the driver's allocations too */
    uint64_t reserve_most; /* larger reservations are refused */
    uint64_t reserved_at, reserved_bytes, next_reservation;
    struct device_memory memory[DEVICE_BLOCKS];
    unsigned calls[OP_COUNT], succeeded[OP_COUNT];
    /* The nth call of all fails, and with `fail_on` all after it; 0: none. With `fail_op` only
     * calls of that entry count. */
    unsigned fail_at, seen;
    bool fail_on;
    int fail_op; /* -1: any */
    enum vr_status fail_status;
    int drain_result;       /* not 0: drains are refused with it */
    void (*on_drain)(void); /* what another thread does meanwhile */
    vr_handle drained;      /* the last context that was */
    const char *broken;
} device = {.mutex = PTHREAD_MUTEX_INITIALIZER, .fail_op = -1};

static inline void device_begin(void)
{
    memset(device.memory, 0, sizeof device.memory);
    memset(device.calls, 0, sizeof device.calls);
    memset(device.succeeded, 0, sizeof device.succeeded);
    device.total = 16 * GIB;
    device.used = device.reserved_at = device.reserved_bytes = 0;
    device.reserve_most = UINT64_MAX;
    device.next_reservation = (uint64_t)0x7f << 40;
    device.fail_at = device.seen = 0;
    device.fail_on = false;
    device.fail_op = -1;
    device.fail_status = VR_REFUSED;
    device.drain_result = 0;
    device.on_drain = NULL;
    device.drained = 0;
    device.broken = NULL;
}

static inline void device_break(const char *what)
{
    if (!device.broken)
        device.broken = what;
}

/* Whether this call is to fail. */
static inline bool device_enter(enum device_op op)
{
    pthread_mutex_lock(&device.mutex);
    device.calls[op]++;
    if (device.fail_op >= 0 && device.fail_op != (int)op)
        return false;
    device.seen++;
    return device.fail_at &&
           (device.fail_on ? device.seen >= device.fail_at : device.seen == device.fail_at);
}

static inline enum vr_status device_leave(enum device_op op, enum vr_status status)
{
    device.succeeded[op] += status == VR_OK;
    pthread_mutex_unlock(&device.mutex);
    return status;
}

static inline struct device_memory *device_mapped(uint64_t address)
{
    for (int i = 0; i < DEVICE_BLOCKS; i++)
        if (device.memory[i].exists && device.memory[i].at && address >= device.memory[i].at &&
            address - device.memory[i].at < device.memory[i].bytes)
            return &device.memory[i];
    return NULL;
}

static inline uint64_t device_held(void)
{
    uint64_t bytes = 0;

    for (int i = 0; i < DEVICE_BLOCKS; i++)
        bytes += device.memory[i].exists ? device.memory[i].bytes : 0;
    return bytes;
}

static inline unsigned device_handles(void)
{
    unsigned handles = 0;

    for (int i = 0; i < DEVICE_BLOCKS; i++)
        handles += device.memory[i].exists;
    return handles;
}

#endif
