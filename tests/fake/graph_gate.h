/* graph_gate.h: a gate in a graph: a host node that holds the stream until the test opens it, so
 * that tests decide what is running and what is queued, without a clock. */
#ifndef GRAPH_GATE_H
#define GRAPH_GATE_H

#include <sched.h>
#include <stdatomic.h>

#include "tests/fake/graph_fixture.h"

/* Holds whatever runs it until the test opens it. */
struct gate {
    atomic_bool reached, open;
};

static inline void CUDA_CB gate_wait(void *data)
{
    struct gate *gate = data;
    atomic_store(&gate->reached, true);
    while (!atomic_load(&gate->open))
        sched_yield();
}

static inline CUgraphNode add_gate(CUgraph graph, CUgraphNode after, struct gate *gate)
{
    CUgraphNode node = NULL;
    CUDA_HOST_NODE_PARAMS host = {.fn = gate_wait, .userData = gate};
    OK(cuGraphAddHostNode(&node, graph, &after, after != NULL, &host));
    return node;
}

static inline void gate_await(struct gate *gate)
{
    while (!atomic_load(&gate->reached))
        sched_yield();
}

static inline void gate_open(struct gate *gate)
{
    atomic_store(&gate->open, true);
}

#endif
