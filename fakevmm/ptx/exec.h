/* exec.h: a block while it runs: its threads, and the memory they touch. */
#ifndef FAKEVMM_PTX_EXEC_H
#define FAKEVMM_PTX_EXEC_H

#include "code.h"
#include "ops.h"

/* Why ptx_step() came back. The thread's ip is at the instruction that caused it. */
enum ptx_stop {
    PTX_STOP_EXIT,
    PTX_STOP_TURN, /* this turn is over; ip is at the next instruction */
    PTX_STOP_BARRIER,
    PTX_STOP_WARP,
    PTX_STOP_CLUSTER,
    PTX_STOP_FAULT, /* block->fault says what */
    PTX_STOP_TRAP,
    PTX_STOP_UNSUPPORTED
};

enum ptx_state { PTX_READY, PTX_AT_BARRIER, PTX_AT_WARP, PTX_EXITED };

struct ptx_return {
    const struct ptx_function *function; /* the caller */
    const struct ptx_insn *ip;           /* its call */
    union ptx_slot *frame;
    uint32_t local, top;
};

struct ptx_thread {
    const struct ptx_function *function;
    const struct ptx_insn *ip;
    union ptx_slot *frame;
    uint32_t local; /* where the running function's local memory starts in `locals` */
    uint32_t top;   /* where what alloca has given starts; it reaches up to the end */
    enum ptx_state state;
    union ptx_slot *frames; /* all frames of this thread */
    unsigned char *locals;
    struct ptx_return *returns;
    unsigned depth;
    unsigned index, tid[3];
    unsigned phase; /* of the cluster's barrier that it has arrived for */
};

/* What an access site of the code touched last: a piece of device memory it may use the way it
 * does. */
struct ptx_site {
    uint64_t base, size; /* size 0: nothing yet */
    unsigned char *host;
};

struct ptx_fault {
    enum ptx_result result;
    const char *what; /* "load", "store", ... */
    uint64_t address;
    unsigned bytes;
};

enum {
    PTX_BARRIERS = 16,
    PTX_SPANS = 16,
    PTX_DEPTH = 1024, /* of calls that recurse */
    PTX_SAID = 512
};

struct ptx_run;     /* run.h */
struct ptx_cluster; /* run.h */

/* A block while it runs, or room for one: what is the same for all blocks of a launch stays. */
struct ptx_block {
    struct ptx_run *run;
    const struct ptx_kernel *kernel;
    const struct ptx_function *function;
    const struct ptx_launch *launch;
    uint64_t number; /* in grid order */
    unsigned ctaid[3];
    unsigned thread_count;
    const unsigned char *params;
    unsigned char *shared;
    uint32_t shared_bytes, param_bytes, local_bytes;
    unsigned frame_slots;  /* room for frames, per thread */
    union ptx_slot *fresh; /* a frame with everything set that the threads of a block share */
    struct ptx_thread *threads;
    unsigned waiting[PTX_BARRIERS], arrived[PTX_BARRIERS];
    unsigned exited;
    unsigned turn;   /* jumps until a thread pauses */
    uint32_t chance; /* state of the generator that varies turns and their order */
    unsigned late;   /* rounds since another block has failed */
    struct ptx_cluster *cluster;
    struct ptx_site *sites;
    unsigned site_count;
    struct ptx_span spans[PTX_SPANS];
    unsigned next_span;
    uint64_t generation;
    struct ptx_fault fault;
    const struct ptx_thread *culprit;
    char said[PTX_SAID]; /* by a failed assertion */
    struct ptx_block *next;
};

/* exec.c: runs one thread until it has a reason to stop. */
enum ptx_stop ptx_step(struct ptx_block *block, struct ptx_thread *thread);

/* frame.c: fills a frame of `function` for a thread: everything, or the slots of one group. */
void ptx_fill(struct ptx_block *block, struct ptx_thread *thread, const struct ptx_code *code,
              union ptx_slot *frame, unsigned first, unsigned end);
/* A thread at the start of the kernel. */
void ptx_start(struct ptx_block *block, struct ptx_thread *thread, unsigned index);
/* A call and the return from it; thread->ip is at the call before and after. Enter is false with a
 * fault when the stack is full. */
bool ptx_enter(struct ptx_block *block, struct ptx_thread *thread, const struct ptx_call *call);
void ptx_leave(struct ptx_thread *thread);
/* alloca: an address in local memory; false with a fault when there is no room. */
bool ptx_alloca(struct ptx_block *block, struct ptx_thread *thread, uint64_t size, uint64_t align,
                uint64_t *out);
/* stackrestore; false with a fault for what stacksave cannot have given. */
bool ptx_stack_restore(struct ptx_block *block, struct ptx_thread *thread, uint32_t top);

/* builtin.c: a call of a function that the driver defines. False: it failed, with a fault. */
bool ptx_call_builtin(struct ptx_block *block, struct ptx_thread *thread,
                      const struct ptx_call *call);
/* print.c: printf for `thread` with a format and packed arguments in device memory. What vprintf
 * returns; with a fault noted if the memory cannot be read. */
int ptx_print(struct ptx_block *block, struct ptx_thread *thread, uint64_t format,
              uint64_t arguments);

/* memory.c: the slow ways to a byte. NULL with a fault noted. */
unsigned char *ptx_reach(struct ptx_block *block, struct ptx_site *site, uint64_t address,
                         unsigned bytes, bool write);
unsigned char *ptx_reach_window(struct ptx_block *block, const struct ptx_thread *thread,
                                uint64_t address, unsigned bytes, bool write);
/* Copies from a generic address; false with a fault noted. */
bool ptx_read(struct ptx_block *block, const struct ptx_thread *thread, uint64_t address, void *out,
              unsigned bytes);
/* A text up to its NUL, cut off at size - 1 bytes. */
bool ptx_read_text(struct ptx_block *block, const struct ptx_thread *thread, uint64_t address,
                   char *out, size_t size);
void *ptx_fault(struct ptx_block *block, enum ptx_result result, const char *what, uint64_t address,
                unsigned bytes);
/* Forgets cached spans if the memory's generation has moved on. */
void ptx_refresh(struct ptx_block *block);

/* atomic.c: one atomic operation on host memory; the value before it. */
uint16_t ptx_atomic16(void *host, int operation, uint16_t b, uint16_t c);
uint32_t ptx_atomic32(void *host, int operation, uint32_t b, uint32_t c);
uint64_t ptx_atomic64(void *host, int operation, uint64_t b, uint64_t c);
/* On two slots each; d gets the value before. Atomic to each other only. */
void ptx_atomic128(void *host, int operation, union ptx_slot *d, const union ptx_slot *b,
                   const union ptx_slot *c);

#endif
