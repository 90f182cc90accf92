/* lane.h: one lane of a random program: a stream, a few places for buffers, and graphs whose kernel
 * nodes work on these buffers. Only one thread uses a lane at a time. */
#ifndef RANDOM_LANE_H
#define RANDOM_LANE_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include "tests/random/mixed.h"

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
    CUmodule module, decider;
    CUfunction kernel;
    CUfunction decide, count_down; /* they set the value of a condition */
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
    uint64_t seed, random, checksum, births, host_calls, refused;
    CUstream stream;
    size_t sizes[SIZES]; /* that this lane's buffers have */
    struct place places[PLACES];
    struct graph graphs[GRAPHS];
    struct mixed mixed;
};

/* ---- what operations are made of ---- */

/* A number below `below`. */
uint64_t lane_draw(struct lane *lane, uint64_t below);
/* Adds something, or a return code, to what the lane has observed. */
void lane_observe(struct lane *lane, const void *data, size_t bytes);
void lane_answer(struct lane *lane, CUresult result);
/* Parameters of a kernel node. `values` gets the addresses of the arguments; the answer is good as
 * long as both live. */
CUDA_KERNEL_NODE_PARAMS_v2 lane_params(struct lane *lane, struct resend_args *args,
                                       void *values[10]);

/* Adds a number, too. */
void lane_count(struct lane *lane, uint64_t number);

/* ---- what one operation needs (scratch.c) ---- */

#define SCRATCH_STEP 256  /* a kernel reads and writes at most this much at an address */
#define SCRATCH_SEEN 4096 /* the most that is looked at at once */

/* Memory filled with `value` in the lane's stream, and its end. */
CUdeviceptr scratch_new(struct lane *lane, size_t bytes, unsigned value);
void scratch_free(struct lane *lane, CUdeviceptr at);
/* Observes what lies there, behind the work of the lane's stream. */
void scratch_see(struct lane *lane, CUdeviceptr at, size_t bytes);
/* A kernel's parameters: it changes what is at `out` by what is at `in`. Both live as long as the
 * answer is used. */
CUDA_KERNEL_NODE_PARAMS_v2 scratch_step(struct lane *lane, struct resend_args *args,
                                        void *values[10], CUdeviceptr out, CUdeviceptr in);
void scratch_launch(struct lane *lane, CUstream stream, CUdeviceptr out, CUdeviceptr in);
/* A stream that does not wait for the legacy one. */
CUstream scratch_stream(void);
/* `behind` waits for the work that `before` has by now. */
void scratch_order(CUstream before, CUstream behind);

/* ---- operations of the other files ---- */

void vmm_play(struct lane *lane);
void captured_play(struct lane *lane);
void capture_shape_play(struct lane *lane); /* captures into graphs, relaxed ones, their edges */
void memory_pool_play(struct lane *lane);   /* stream-ordered memory */
void memory_managed_play(struct lane *lane);
void memory_host_play(struct lane *lane);
void boxes_play(struct lane *lane);      /* copies and fills in two and three dimensions, arrays */
void streams_play(struct lane *lane);    /* streams, events, callbacks, waits for values */
void shapes_play(struct lane *lane);     /* nodes and edges that come and go */
void owned_play(struct lane *lane);      /* graphs that allocate and free */
void conditions_play(struct lane *lane); /* conditional nodes */
void user_objects_play(struct lane *lane);

/* ---- the life of a lane ---- */

/* Ends the program if there is no GPU. The context is current to the calling thread afterwards. */
void world_open(struct world *world);
void world_close(struct world *world);

/* A lane with nothing allocated; everything it will do follows from the seed. */
void lane_begin(struct lane *lane, struct world *world, uint64_t seed);
/* Operation `number`. What it draws depends on the seed and that number alone, so that leaving one
 * out changes nothing in the others but what they find. */
void lane_operate(struct lane *lane, uint64_t number);
/* Frees everything; the checksum over all that was observed. */
uint64_t lane_end(struct lane *lane);

#endif
