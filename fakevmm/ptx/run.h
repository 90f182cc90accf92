/* run.h: a launch while it runs: what the threads of the host that run its blocks share, and the
 * steps from a launch to the turns of its threads. */
#ifndef FAKEVMM_PTX_RUN_H
#define FAKEVMM_PTX_RUN_H

#include "exec.h"

#include <pthread.h>

enum { PTX_HELPERS = 16 };

/* What the workers of a launch share. */
struct ptx_run {
    const struct ptx_kernel *kernel;
    const struct ptx_function *function;
    const struct ptx_launch *launch;
    unsigned char *params; /* a copy that outlives the launch's */
    uint64_t block_count;
    unsigned unit;    /* blocks that are begun together: a cluster's, or 1 */
    uint64_t next;    /* unit not yet begun; atomic */
    uint64_t failed;  /* lowest number of a block that failed; atomic, UINT64_MAX: none */
    pthread_t owner;  /* the caller, who alone looks at these four */
    uint64_t started; /* nanoseconds */
    bool alone;       /* no helper is to be started, or they have been */
    unsigned helper_count;
    pthread_t helpers[PTX_HELPERS];
    pthread_mutex_t lock; /* of the following */
    enum ptx_result result;
    char *message;
    size_t message_size;
    /* where the blocks of a cooperative launch meet; zeros at the start */
    _Alignas(16) unsigned char workspace[PTX_GRID_BYTES];
};

/* The blocks of a cluster, which barrier.cluster joins, or a block of none. One worker has all. */
struct ptx_cluster {
    unsigned alive;              /* threads that have not exited */
    unsigned arrived;            /* at the barrier */
    unsigned phase;              /* how often it has opened */
    unsigned blocks;             /* unfinished */
    struct ptx_block *members[]; /* by rank; NULL: it has ended */
};

/* sched.c: a block from its start; and one turn for each of its threads that can go on. */
enum ptx_progress { PTX_GOING, PTX_FINISHED, PTX_FAILED };
void ptx_begin_block(struct ptx_block *block);
/* PTX_FAILED: block->fault.result and block->culprit say why and who. */
enum ptx_progress ptx_run_turns(struct ptx_block *block);

/* warp.c: lets threads of one warp (`count` of them from `warp` on) go on that wait for each other
 * and are all there; true if any could. */
bool ptx_release_warp(struct ptx_thread *warp, unsigned count);

/* room.c: room for a block of the launch, and the numbers of one block in it. */
struct ptx_block *ptx_make_block(struct ptx_run *run);
void ptx_free_block(struct ptx_block *block);
void ptx_place_block(struct ptx_block *block, uint64_t number);

/* worker.c: takes blocks until there are none left. False when memory is out. */
bool ptx_work(struct ptx_run *run);
/* run.c: starts threads that work too, once, if the launch has lasted a while and has blocks left.
 */
void ptx_help(struct ptx_run *run);
/* Keeps the failure of a block if no earlier block has failed. */
void ptx_fail(struct ptx_block *block);
/* The number of the block, and in `out` its coordinates: clusters follow each other. */
void ptx_coordinates(const struct ptx_run *run, uint64_t number, unsigned out[3]);

#endif
