/* counters.h: what is counted. Every exec has a block of counters of its own (track.h), so that
 * counting needs no locked instruction: CUDA makes callers serialise per exec. Calls on execs we do
 * not know are counted, atomically, in one more block. The total is the sum over all blocks. */
#ifndef VR_COUNTERS_H
#define VR_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

/* Each call of the application is counted once, when it is answered; `would_elide` comes on top of
 * updates_forwarded. Names are those of the statistics. */
#define VR_COUNTERS(X)                                                                             \
    X(updates_elided)                                                                              \
    X(updates_deferred)                                                                            \
    X(updates_forwarded)                                                                           \
    X(updates_failed)                                                                              \
    X(launches)                                                                                    \
    X(launches_failed)                                                                             \
    X(would_elide)

enum vr_counter {
#define X(name) VR_COUNT_##name,
    VR_COUNTERS(X)
#undef X
        VR_COUNTER_COUNT
};

/* What is counted about device memory, in one atomic block (memory calls have no exec). An
 * allocation of the application is one of recycled, placed and forwarded; `would_recycle` comes on
 * top. Names are those of the statistics. */
#define VR_MEMORY_CALLS(X)                                                                         \
    X(allocs_recycled) /* answered from a kept slice with memory */                                \
    X(allocs_placed)   /* ours too, its memory made now */                                         \
    X(allocs_forwarded)                                                                            \
    X(frees)

/* The driver's VMM calls that succeeded. */
#define VR_VMM_CALLS(X)                                                                            \
    X(create)                                                                                      \
    X(map)                                                                                         \
    X(unmap)                                                                                       \
    X(set_access)                                                                                  \
    X(release)

enum vr_memory_counter {
#define X(name) VR_COUNT_##name,
    VR_MEMORY_CALLS(X)
#undef X
#define X(name) VR_COUNT_vmm_##name,
        VR_VMM_CALLS(X)
#undef X
            VR_COUNT_would_recycle,
    VR_MEMORY_COUNTER_COUNT
};

/* Why an update was forwarded although its values may have been the same. */
#define VR_UPDATE_REFUSALS(X)                                                                      \
    X(unseen_exec, "its exec was not seen from instantiation on")                                  \
    X(device_launch, "its exec was instantiated for launch from the device")                       \
    X(device_updatable, "its node may be changed from the device")                                 \
    X(layout_unknown, "the driver does not tell the kernel's parameters (before 12.4)")            \
    X(context_unknown, "the driver does not tell the current context")                             \
    X(malformed, "its parameters could not be read")                                               \
    X(operand_unknown, "it copies or fills memory that is not known from cuMemAlloc")              \
    X(stale, "handles may have changed their meaning, or its exec was changed otherwise")          \
    X(unsure, "the last update of its node failed or could not be read")                           \
    X(trouble, "the driver is in trouble or may be called past us")                                \
    X(no_memory, "memory for its record is out")

/* Why an allocation was left to the driver although its size is taken or was to be; no_memory, too.
 * The first four are worth a warning. */
#define VR_ALLOC_REFUSALS(X)                                                                       \
    X(reserve_refused, "the driver reserves no address range for it")                              \
    X(create_refused, "the driver makes no memory for the reserved range")                         \
    X(map_refused, "the driver does not map memory into the reserved range")                       \
    X(range_full, "the reserved range is used up")                                                 \
    X(place_refused, "memory of ours cannot stand in for the driver's here")                       \
    X(alloc_capture, "a capture forbids what it needs")                                            \
    X(size_barred, "its size is a copy operand's or was exported")

#define VR_REFUSALS(X)                                                                             \
    VR_UPDATE_REFUSALS(X)                                                                          \
    VR_ALLOC_REFUSALS(X)

enum vr_refusal {
    VR_REFUSAL_NONE = -1,
#define X(name, text) VR_REFUSAL_##name,
    VR_REFUSALS(X)
#undef X
        VR_REFUSAL_COUNT,
    VR_FIRST_ALLOC_REFUSAL = VR_REFUSAL_reserve_refused,
    VR_LAST_WARNED_REFUSAL = VR_REFUSAL_range_full
};

/* Where an exec stands in its profile (profile.h). VR_PHASE_DEAD: the block has no exec now. */
enum vr_phase {
    VR_PHASE_DEAD,
    VR_PHASE_PROFILING,
    VR_PHASE_ACTIVE,
    VR_PHASE_DISABLED,
    VR_PHASE_COUNT
};

struct vr_counters {
    _Atomic uint64_t counter[VR_COUNTER_COUNT];
    _Atomic uint64_t refusal[VR_REFUSAL_COUNT];
    _Atomic int phase;
};

/* The sums over all blocks. */
struct vr_totals {
    uint64_t counter[VR_COUNTER_COUNT];
    uint64_t refusal[VR_REFUSAL_COUNT];
    uint64_t phase[VR_PHASE_COUNT];
    uint64_t execs_seen;
};

/* Adds one block to the sums. */
void vr_counters_add(struct vr_totals *totals, const struct vr_counters *counters);

/* Only the exec's caller counts in its block, hence no read-modify-write. */
static inline void vr_bump(_Atomic uint64_t *count)
{
    uint64_t now = atomic_load_explicit(count, memory_order_relaxed);

    atomic_store_explicit(count, now + 1, memory_order_relaxed);
}

static inline void vr_bump_shared(_Atomic uint64_t *count)
{
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

#endif
