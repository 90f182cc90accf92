/* graph_use.c: finds one graph object being used by two threads at the same time, when
 * FAKEVMM_STRICT=1. The driver does not synchronise graphs: cuda.h leaves that to the caller, for
 * calls that only read too. A call notes its graphs and execs before it takes the driver's lock,
 * which would order the calls. Who has the lock looks, before its work and after, whether another
 * thread has noted the same and waits. A node stands for its graph, but in a call on an exec it
 * only tells which of the exec's nodes is meant. It must not know what the calls do. */
#include "graph.h"
#include "hazard.h"
#include "params.h"

#include <stdatomic.h>
#include <string.h>

#define SLOTS 64 /* objects of calls in progress; what finds no slot is not watched */

/* Written from row to object and cleared from object to thread, so that who finds an object finds
 * the rest. */
static struct slot {
    const void *_Atomic object;
    _Atomic uint64_t thread;
    atomic_int row, kind;
} slots[SLOTS];

static _Atomic uint64_t threads;

static uint64_t own_thread(void)
{
    static _Thread_local uint64_t number;

    if (!number)
        number = atomic_fetch_add(&threads, 1) + 1;
    return number;
}

/* ---- before the lock ---- */

static void take_slot(struct fv_call *call, const void *object, enum fv_kind kind)
{
    for (int i = 0; object && i < SLOTS; i++) {
        uint64_t nobody = 0;
        if (!atomic_compare_exchange_strong(&slots[i].thread, &nobody, own_thread()))
            continue;
        atomic_store(&slots[i].row, (int)call->row);
        atomic_store(&slots[i].kind, (int)kind);
        atomic_store(&slots[i].object, object);
        call->watched = true;
        return;
    }
}

static void take_kind(struct fv_call *call, const struct fv_param *params, int count,
                      enum fv_kind kind)
{
    for (int i = 0; i < count; i++) {
        const void *handle;
        if (params[i].depth || params[i].type->class != FV_IS_HANDLE ||
            params[i].type->kind != kind)
            continue;
        memcpy(&handle, call->values[i].at, sizeof handle);
        take_slot(call, handle, kind);
    }
}

void fv_graphs_enter(struct fv_call *call)
{
    struct fv_param params[FV_MAX_PARAMS];
    int count;

    if (!strstr(fv_symbols[call->row].params, "CUgraph"))
        return;
    count = fv_params_of(call->row, params);
    take_kind(call, params, count, FV_EXEC);
    if (!call->watched)
        take_kind(call, params, count, FV_NODE);
    take_kind(call, params, count, FV_GRAPH);
}

/* ---- with it ---- */

static const void *graph_or_exec(const struct slot *slot)
{
    const void *object = atomic_load(&slot->object);

    if (!object || atomic_load(&slot->kind) != FV_NODE)
        return object;
    return fv_valid(FV_NODE, object) ? ((const struct fv_node *)object)->graph : NULL;
}

static bool is_own(const struct slot *slot, const struct fv_call *call)
{
    return atomic_load(&slot->thread) == own_thread() && atomic_load(&slot->row) == (int)call->row;
}

static const struct slot *other_user(const void *object)
{
    for (const struct slot *it = slots; it < slots + SLOTS; it++)
        if (object && graph_or_exec(it) == object && atomic_load(&it->thread) != own_thread())
            return it;
    return NULL;
}

/* A function is named once: threads that clash do so all the time. */
void fv_graphs_check(struct fv_call *call)
{
    static bool told[FV_ROWS];

    for (const struct slot *it = slots; it < slots + SLOTS && call->watched; it++) {
        const struct slot *other = is_own(it, call) ? other_user(graph_or_exec(it)) : NULL;
        if (!other || told[call->row])
            continue;
        told[call->row] = true;
        fv_hazard("%s and, in another thread, %s use one graph object at the same time",
                  fv_symbols[call->row].symbol, fv_symbols[atomic_load(&other->row)].symbol);
    }
}

void fv_graphs_leave(struct fv_call *call)
{
    if (!call->watched)
        return;
    fv_graphs_check(call);
    for (struct slot *it = slots; it < slots + SLOTS; it++) {
        if (!is_own(it, call))
            continue;
        atomic_store(&it->object, NULL);
        atomic_store(&it->thread, 0);
    }
}
