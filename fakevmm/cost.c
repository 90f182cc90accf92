/* cost.c: FAKEVMM_COST=model: how long a driver call takes on the GPU that is played, from the
 * published figures in costs.def, and the waiting; and FAKEVMM_DELAY_US, the same for kernels. It
 * must not know what the calls do. */
#include "cost.h"
#include "card.h"
#include "graph.h"
#include "params.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct cost {
    const char *card, *function;
    unsigned nanoseconds, per_node;
} costs[] = {
#define COST(card, function, nanoseconds, per_node, source)                                        \
    {#card, #function, nanoseconds, per_node},
#include "costs.def"
#undef COST
};

#define COSTS (sizeof costs / sizeof costs[0])

/* Where a card is in the order of age; those that are measured but not played come last. */
static int age(const char *card)
{
    int index = 0;

    while (fv_card_at((size_t)index) && strcmp(fv_card_at((size_t)index)->name, card) != 0)
        index++;
    return index;
}

static const struct cost *find(const char *function)
{
    int own = age(fv_settings()->card->name), best_distance = 0;
    const struct cost *best = NULL;

    for (size_t i = 0; i < COSTS; i++) {
        int distance = abs(age(costs[i].card) - own);
        if (strcmp(costs[i].function, function) != 0 || (best && distance >= best_distance))
            continue;
        best = &costs[i];
        best_distance = distance;
    }
    return best;
}

/* Nodes of the graph among the arguments. */
static size_t nodes_of(const struct fv_call *call)
{
    struct fv_param params[FV_MAX_PARAMS];
    int count = fv_params_of(call->row, params);
    const void *graph;

    for (int i = 0; i < count; i++) {
        if (params[i].depth || params[i].type->kind != FV_GRAPH)
            continue;
        memcpy(&graph, call->values[i].at, sizeof graph);
        return fv_valid(FV_GRAPH, graph) ? ((const struct fv_graph *)graph)->count : 0;
    }
    return 0;
}

uint64_t fv_cost_of(const struct fv_call *call)
{
    static const struct cost none, *known[FV_ROWS];
    const struct cost **cost = &known[call->row];

    if (!*cost)
        *cost = find(fv_symbols[call->row].base);
    if (!*cost)
        *cost = &none;
    return (*cost)->nanoseconds +
           ((*cost)->per_node ? (uint64_t)(*cost)->per_node * nodes_of(call) : 0);
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Like the driver, which computes: sleeping would be inexact by more than most of the figures. */
void fv_cost_spend(uint64_t nanoseconds)
{
    uint64_t end = now() + nanoseconds;

    while (now() < end)
        ;
}

/* No computing here: kernels run beside each other, and there are fewer cores than streams. */
void fv_cost_kernel(void)
{
    unsigned delay = fv_settings()->delay_us;
    struct timespec left = {delay / 1000000, (long)(delay % 1000000) * 1000};

    while (delay && nanosleep(&left, &left))
        ;
}
