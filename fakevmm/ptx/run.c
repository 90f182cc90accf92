/* run.c: a launch: shares its blocks among threads of the host, and words failures. */
#include "run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HELP_AFTER_NS 200000 /* a launch that lasts shorter is not worth a thread */

/* ---- failures ---- */

static void copy_source_line(const char *text, unsigned line, char *out, size_t size)
{
    size_t length;

    while (--line && text)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    text = text ? text + strspn(text, " \t") : "";
    length = strcspn(text, "\r\n");
    snprintf(out, size, "%.*s", (int)length, text);
}

static const char *lacking(const struct ptx_code *code, const struct ptx_insn *ip)
{
    return code
        ->notes[ip->op == PTX_OP_unsupported ? (unsigned)ip->imm : code->calls[ip->imm].note];
}

static void describe_fault(const struct ptx_fault *fault, const struct ptx_code *code,
                           const struct ptx_insn *ip, char *out, size_t size)
{
    switch (fault->result) {
    case PTX_ILLEGAL_ADDRESS:
    case PTX_MISALIGNED:
        snprintf(out, size, "%s %s of %u bytes at 0x%llx",
                 fault->result == PTX_MISALIGNED ? "misaligned" : "illegal", fault->what,
                 fault->bytes, (unsigned long long)fault->address);
        return;
    case PTX_UNSUPPORTED:
        snprintf(out, size, "the interpreter lacks %s", lacking(code, ip));
        return;
    case PTX_TRAP: snprintf(out, size, "trap"); return;
    case PTX_STACK_OVERFLOW: snprintf(out, size, "stack overflow in %s", fault->what); return;
    case PTX_BAD_CALL:
        snprintf(out, size, "call of 0x%llx, where no such function is",
                 (unsigned long long)fault->address);
        return;
    default: snprintf(out, size, "waits for threads that never come");
    }
}

static void describe(const struct ptx_block *block, char *message, size_t size)
{
    const struct ptx_thread *thread = block->culprit;
    const struct ptx_code *code = &thread->function->code;
    unsigned line = code->lines[thread->ip - code->insns];
    char source[120], what[160];

    if (block->fault.result == PTX_ASSERT) {
        snprintf(message, size, "%s", block->said);
        return;
    }
    copy_source_line(block->function->module->text, line, source, sizeof(source));
    describe_fault(&block->fault, code, thread->ip, what, sizeof(what));
    snprintf(message, size, "kernel %s, PTX line %u (%s): %s, block %u,%u,%u thread %u,%u,%u",
             block->kernel->name, line, source, what, block->ctaid[0], block->ctaid[1],
             block->ctaid[2], thread->tid[0], thread->tid[1], thread->tid[2]);
}

void ptx_fail(struct ptx_block *block)
{
    struct ptx_run *run = block->run;

    pthread_mutex_lock(&run->lock);
    if (block->number < run->failed) {
        __atomic_store_n(&run->failed, block->number, __ATOMIC_RELEASE);
        run->result = block->fault.result;
        describe(block, run->message, run->message_size);
    }
    pthread_mutex_unlock(&run->lock);
}

/* ---- help ---- */

/* Threads that help, of all launches: one less than there are cores. */
static unsigned helpers;

static bool reserve_helper(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned busy = __atomic_fetch_add(&helpers, 1, __ATOMIC_RELAXED);

    if (cores > 1 && busy < (unsigned long)cores - 1)
        return true;
    __atomic_fetch_sub(&helpers, 1, __ATOMIC_RELAXED);
    return false;
}

static void *help(void *run)
{
    ptx_work(run);
    __atomic_fetch_sub(&helpers, 1, __ATOMIC_RELAXED);
    return NULL;
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Signals are the application's threads' business. */
static void start_helpers(struct ptx_run *run)
{
    uint64_t left = (run->block_count + run->unit - 1) / run->unit -
                    __atomic_load_n(&run->next, __ATOMIC_RELAXED);
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (run->helper_count < PTX_HELPERS && run->helper_count < left && reserve_helper()) {
        if (pthread_create(&run->helpers[run->helper_count], NULL, help, run)) {
            __atomic_fetch_sub(&helpers, 1, __ATOMIC_RELAXED);
            break;
        }
        run->helper_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ptx_help(struct ptx_run *run)
{
    if (run->alone || !pthread_equal(run->owner, pthread_self()) ||
        __atomic_load_n(&run->next, __ATOMIC_RELAXED) * run->unit >= run->block_count ||
        now() - run->started < HELP_AFTER_NS)
        return;
    run->alone = true;
    start_helpers(run);
}

/* ---- the launch ---- */

void ptx_coordinates(const struct ptx_run *run, uint64_t number, unsigned out[3])
{
    const struct ptx_launch *launch = run->launch;
    uint64_t cluster = number / run->unit, own = number % run->unit;

    for (unsigned i = 0; i < 3; i++) {
        unsigned size = launch->cluster[i] ? launch->cluster[i] : 1, count = launch->grid[i] / size;
        out[i] = (unsigned)(cluster % count) * size + (unsigned)(own % size);
        cluster /= count;
        own /= size;
    }
}

static bool prepare(struct ptx_run *run)
{
    const struct ptx_launch *launch = run->launch;
    const unsigned *grid = launch->grid;
    uint32_t bytes = run->kernel->param_bytes;

    run->block_count = (uint64_t)grid[0] * grid[1] * grid[2];
    run->unit = 1;
    for (unsigned i = 0; i < 3; i++)
        run->unit *= launch->cluster[i] ? launch->cluster[i] : 1;
    run->params = calloc(bytes + 1u, 1);
    if (run->params && bytes)
        memcpy(run->params, launch->params, bytes);
    return run->params;
}

enum ptx_result ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch,
                        char *message, size_t message_size)
{
    struct ptx_run run = {
        .kernel = kernel,
        .function = kernel->function,
        .launch = launch,
        .failed = UINT64_MAX,
        .alone = kernel->function->prints, /* in the same order from run to run */
        .owner = pthread_self(),
        .started = now(),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .message = message,
        .message_size = message_size,
    };

    if (!prepare(&run) || !ptx_work(&run)) {
        snprintf(message, message_size, "kernel %s: out of host memory", kernel->name);
        run.result = PTX_NO_MEMORY;
    }
    for (unsigned i = 0; i < run.helper_count; i++)
        pthread_join(run.helpers[i], NULL);
    free(run.params);
    pthread_mutex_destroy(&run.lock);
    return run.result;
}
