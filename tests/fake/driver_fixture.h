/* driver_fixture.h: what the tests of the driver's base share: a context, a gate that holds a
 * stream, and a child process for what shows only when a process ends. Calls carry the names the
 * library exports. */
#ifndef DRIVER_FIXTURE_H
#define DRIVER_FIXTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/vr_test.h"

#define OK(call) T_EQ(call, CUDA_SUCCESS)

/* Initialises the driver and makes a context of device 0 current. */
static inline CUcontext start(void)
{
    CUcontext context = NULL;

    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    return context;
}

static inline CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr address = 0;

    OK(cuMemAlloc_v2(&address, bytes));
    return address;
}

static inline CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;

    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static inline CUevent new_event(unsigned flags)
{
    CUevent event = NULL;

    OK(cuEventCreate(&event, flags));
    return event;
}

/* A host function that holds its stream until the gate is opened. */
static inline void gate(void *open)
{
    while (!atomic_load((atomic_bool *)open))
        sched_yield();
}

static inline void close_gate(CUstream stream, atomic_bool *open)
{
    atomic_store(open, false);
    OK(cuLaunchHostFunc(stream, gate, open));
}

/* Host functions that note the order they run in. */
struct order {
    atomic_int count;
    atomic_int seen[64];
};

struct step {
    struct order *order;
    int number;
};

static inline void note(void *data)
{
    const struct step *step = data;

    atomic_store(&step->order->seen[atomic_fetch_add(&step->order->count, 1)], step->number);
}

#define CHILD_SECONDS 100

/* What a child process did. */
struct child {
    int exit_code;   /* 128 + the signal's number when a signal ended it */
    char said[1024]; /* by child_say() */
    char err[8192];  /* on stderr, where sanitizers may speak too */
};

static int child_said;

__attribute__((format(printf, 1, 2))) static inline void child_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vdprintf(child_said, format, args);
    va_end(args);
}

static inline void read_all(int file, char *out, size_t size)
{
    size_t used = 0;

    for (ssize_t got; (got = read(file, out + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    out[used] = '\0';
    close(file);
}

/* Runs a function in a child that then exits as a program does. For drivers not initialised yet. */
static inline struct child in_child(void (*run)(void))
{
    struct child child;
    int err[2], said[2], status;
    pid_t pid;

    T_EQ(pipe(err), 0);
    T_EQ(pipe(said), 0);
    fflush(NULL);
    pid = fork();
    T_GE(pid, 0);
    if (pid == 0) {
        dup2(err[1], STDERR_FILENO);
        close(err[0]);
        close(err[1]);
        close(said[0]);
        child_said = said[1];
        alarm(CHILD_SECONDS); /* a failed assertion may wait for ever here */
        run();
        exit(0);
    }
    close(err[1]);
    close(said[1]);
    read_all(said[0], child.said, sizeof child.said);
    read_all(err[0], child.err, sizeof child.err);
    T_EQ(waitpid(pid, &status, 0), pid);
    child.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return child;
}

#endif
