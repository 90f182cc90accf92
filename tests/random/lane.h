/* lane.h: one lane of a random program: a stream, a few places for buffers, and graphs whose kernel
 * nodes work on these buffers. Only one thread uses a lane at a time. */
#ifndef RANDOM_LANE_H
#define RANDOM_LANE_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include "tests/apps/resend.h"
#include <cuda.h>

#define PLACES 6
#define GRAPHS 2
#define NODES  5 /* of each graph */
#define SIZES  4

/* A call that must succeed, or the program ends with status 1, naming it. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        CUresult must_result = (call);                                                             \
        if (must_result != CUDA_SUCCESS) {                                                         \
            fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)must_result); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* What all lanes share; it does not change while they work. */
struct world {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
};

struct place {
    CUdeviceptr base; /* 0: nothing is allocated */
    size_t bytes;     /* of the buffer, or of the one that comes next */
    uint64_t birth;   /* number of the allocation in its lane, from 1 */
};

struct node {
    CUgraphNode handle;
    unsigned place[3]; /* where out, in and table lie */
    uint64_t birth[3]; /* the buffers the exec was last given; 0: none, or none it still has */
    struct resend_args args;
};

struct graph {
    CUgraph source;
    CUgraphExec exec;
    struct node nodes[NODES];
};

struct lane {
    struct world *world;
    uint64_t random, checksum, births;
    CUstream stream;
    size_t sizes[SIZES]; /* that this lane's buffers have */
    struct place places[PLACES];
    struct graph graphs[GRAPHS];
};

/* Ends the program if there is no GPU. The context is current to the calling thread afterwards. */
void world_open(struct world *world);
void world_close(struct world *world);

/* A lane with nothing allocated; everything it will do follows from the seed. */
void lane_begin(struct lane *lane, struct world *world, uint64_t seed);
/* The next operation. */
void lane_operate(struct lane *lane);
/* Frees everything; the checksum over all that was observed. */
uint64_t lane_end(struct lane *lane);

#endif
