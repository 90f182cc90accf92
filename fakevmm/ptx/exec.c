/* exec.c: the interpreter's loop. Each row of ops.def becomes a label and its code; a thread runs
 * from label to label until an instruction involves somebody else. */
#include "arith.h"
#include "convert.h"
#include "half.h"
#include "mbarrier.h"
#include "memory.h"
#include "run.h"
#include "video.h"

#define D(t) r[ip->d].t
#define A(t) r[ip->a].t
#define B(t) r[ip->b].t
#define C(t) r[ip->c].t
#define E(t) r[ip->e].t

#define DISPATCH goto *labels[ip->op]
#define STOP(why)                                                                                  \
    do {                                                                                           \
        stop = why;                                                                                \
        goto stopped;                                                                              \
    } while (0)
/* A thread that loops for long lets the others run: it may wait for one of them. */
#define JUMP                                                                                       \
    {                                                                                              \
        ip += ip->imm;                                                                             \
        if (--budget == 0)                                                                         \
            STOP(PTX_STOP_TURN);                                                                   \
        DISPATCH;                                                                                  \
    }

/* ---- memory ---- */

#define ADDRESS (A(u64) + (uint64_t)(int64_t)ip->imm)
/* imm of an atomic is its operation */
#define ptx_at_atomic(block, thread, ip, address, bytes, write)                                    \
    ptx_at_generic(block, thread, ip, A(u64), bytes, write)
#define REACH(space, bytes, write)                                                                 \
    ptx_at_##space(block, thread, ip, ADDRESS, bytes, write);                                      \
    if (__builtin_expect(!host, 0))                                                                \
    STOP(PTX_STOP_FAULT)
#define LOAD(space, bytes)  const unsigned char *host = REACH(space, bytes, false)
#define STORE(space, bytes) unsigned char *host = REACH(space, bytes, true)
#define CHECK(space, bytes)                                                                        \
    if (ADDRESS & (bytes - 1)) {                                                                   \
        ptx_fault(block, PTX_MISALIGNED, "vector access", ADDRESS, bytes);                         \
        STOP(PTX_STOP_FAULT);                                                                      \
    }

/* ---- calls ---- */

#define ENTER(call)                                                                                \
    {                                                                                              \
        thread->ip = ip;                                                                           \
        if (!ptx_enter(block, thread, call))                                                       \
            STOP(PTX_STOP_FAULT);                                                                  \
        ip = thread->ip;                                                                           \
        r = thread->frame;                                                                         \
        DISPATCH;                                                                                  \
    }
#define CALL(number) (&thread->function->code.calls[number])
#define BUILTIN(call)                                                                              \
    if (!ptx_call_builtin(block, thread, call))                                                    \
    STOP(PTX_STOP_FAULT)
#define ALLOCA(size, align, out)                                                                   \
    if (!ptx_alloca(block, thread, size, align, &out))                                             \
    STOP(PTX_STOP_FAULT)
#define RESTORE(top)                                                                               \
    if (!ptx_stack_restore(block, thread, top))                                                    \
    STOP(PTX_STOP_FAULT)
#define LEAVE                                                                                      \
    {                                                                                              \
        if (!thread->depth)                                                                        \
            STOP(PTX_STOP_EXIT);                                                                   \
        ptx_leave(thread);                                                                         \
        ip = thread->ip;                                                                           \
        r = thread->frame;                                                                         \
    }

/* The kernel's own races are not ours. */
__attribute__((no_sanitize("thread"))) enum ptx_stop ptx_step(struct ptx_block *block,
                                                              struct ptx_thread *thread)
{
    static const void *const labels[] = {
#define OP(name, operands, ...) &&do_##name,
#define MICRO(name, ...)        &&do_##name,
#include "ops.def"
    };
    const struct ptx_insn *ip = thread->ip;
    union ptx_slot *r = thread->frame;
    unsigned budget = block->turn;
    enum ptx_stop stop;

    DISPATCH;
#define MICRO(name, ...)                                                                           \
    do_##name:                                                                                     \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        ip++;                                                                                      \
        DISPATCH;                                                                                  \
    }
#define OP(name, operands, ...) MICRO(name, __VA_ARGS__)
#include "ops.def"

stopped:
    thread->ip = ip;
    return stop;
}
