/* counters.c: sums. Must not know what is counted why. */
#include "counters.h"

void vr_counters_add(struct vr_totals *totals, const struct vr_counters *counters)
{
    for (int i = 0; i < VR_COUNTER_COUNT; i++)
        totals->counter[i] += atomic_load_explicit(&counters->counter[i], memory_order_relaxed);
    for (int i = 0; i < VR_REFUSAL_COUNT; i++)
        totals->refusal[i] += atomic_load_explicit(&counters->refusal[i], memory_order_relaxed);
    totals->phase[atomic_load_explicit(&counters->phase, memory_order_relaxed)]++;
}
