/* door.c: the exported functions, generated from entries.def, and what they share: the lock, the
 * count of calls, the driver's own life (before cuInit, after exit, in a forked child). It must
 * not know what any function does. */
#include "door.h"
#include "capture.h"
#include "hazard.h"
#include "leaks.h"
#include "settings.h"
#include "stream.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed, work;
    bool started;        /* the environment was read */
    atomic_bool strict;  /* FAKEVMM_STRICT, for who has no lock */
    bool initialised;    /* by cuInit */
    bool finished;       /* the process has begun to exit */
    bool forked;         /* we are a child; what was initialised is the parent's */
    size_t late_unloads; /* of libraries, since then */
    pid_t process;       /* that called cuInit */
    uint64_t calls[FV_ROWS];
    bool told[FV_ROWS]; /* fv_missing() has named it */
} door = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER};

static _Thread_local bool call_is_ptds;

const struct fv_symbol fv_symbols[FV_ROWS] = {
#define FV(symbol, base, since, ptds, impl, params, args) {#symbol, #base, since, ptds, #params},
#include "entries.def"
#undef FV
};

/* ---- lock ---- */

void fv_lock(void)
{
    pthread_mutex_lock(&door.lock);
}

void fv_unlock(void)
{
    pthread_mutex_unlock(&door.lock);
}

void fv_wait(void)
{
    pthread_cond_wait(&door.changed, &door.lock);
}

void fv_changed(void)
{
    fv_work_done();
    fv_work_added();
}

void fv_wait_for_work(void)
{
    pthread_cond_wait(&door.work, &door.lock);
}

void fv_work_added(void)
{
    pthread_cond_signal(&door.work);
}

void fv_work_done(void)
{
    pthread_cond_broadcast(&door.changed);
}

/* ---- process ---- */

bool fv_initialised(void)
{
    return door.initialised;
}

/* A child of the system call itself, for which no handler of fork ran, has no threads to stop. */
static void at_exit(void)
{
    fv_lock();
    if (!door.forked && door.process == getpid()) {
        door.finished = true;
        fv_workers_stop();
    }
    fv_unlock();
}

void fv_set_initialised(void)
{
    if (!door.initialised)
        atexit(at_exit);
    door.process = getpid();
    door.initialised = true;
}

bool fv_call_is_ptds(void)
{
    return call_is_ptds;
}

const char *fv_env(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

void fv_say(const char *format, ...)
{
    char line[512] = "fakevmm: ";
    size_t used = strlen(line);
    va_list args;

    va_start(args, format);
    int length = vsnprintf(line + used, sizeof line - used - 1, format, args);
    va_end(args);
    if (length < 0)
        return;
    used = strlen(line);
    line[used++] = '\n';
    /* One write, so that lines of several threads do not mix. Nothing can be done if it fails. */
    if (write(STDERR_FILENO, line, used) < 0)
        return;
}

/* A fork waits for the call in progress, so the child's copy of the state is whole. */
static void in_child(void)
{
    door.forked = door.initialised;
    memset(door.calls, 0, sizeof door.calls);
    fv_journal_in_child();
    fv_unlock();
}

/* Replaces %p in a file's name by the process id. False when the name gets too long. */
static bool expand_name(const char *pattern, char *path, size_t size)
{
    const char *mark = strstr(pattern, "%p");
    int length;

    if (mark)
        length = snprintf(path, size, "%.*s%ld%s", (int)(mark - pattern), pattern, (long)getpid(),
                          mark + 2);
    else
        length = snprintf(path, size, "%s", pattern);
    return length >= 0 && (size_t)length < size;
}

int fv_open_output(const char *variable)
{
    const char *pattern = fv_env(variable);
    char path[4096];
    int descriptor = -1;

    if (!pattern)
        return -1;
    if (expand_name(pattern, path, sizeof path))
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0)
        fv_say("%s=%s: cannot write this file; name one in a folder that exists", variable,
               pattern);
    return descriptor;
}

static void start(void)
{
    door.started = true;
    fv_settings_read();
    atomic_store(&door.strict, fv_settings()->strict);
    fv_journal_start();
    pthread_atfork(fv_lock, fv_unlock, in_child);
}

/* ---- the door ---- */

/* Functions that answer without a driver behind them: before cuInit, and after exit. */
static bool needs_no_driver(enum fv_row row)
{
    switch (row) {
    case FV_ROW_cuDriverGetVersion:
    case FV_ROW_cuGetErrorName:
    case FV_ROW_cuGetErrorString:
    case FV_ROW_cuGetExportTable:
    case FV_ROW_cuGetProcAddress:
    case FV_ROW_cuGetProcAddress_v2: return true;
    default: return false;
    }
}

static CUresult answer_of_state(enum fv_row row)
{
    if (needs_no_driver(row))
        return CUDA_SUCCESS;
    if (door.forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    door.late_unloads += door.finished && row == FV_ROW_cuLibraryUnload;
    if (door.finished)
        return CUDA_ERROR_DEINITIALIZED;
    if (fv_in_host_call())
        return CUDA_ERROR_NOT_PERMITTED;
    if (!door.initialised && row != FV_ROW_cuInit)
        return CUDA_ERROR_NOT_INITIALIZED;
    return CUDA_SUCCESS;
}

static CUresult answer_before_work(const struct fv_call *call)
{
    enum fv_row row = call->row;
    CUresult answer = fv_fault_of(row, ++door.calls[row]);

    if (answer != CUDA_SUCCESS)
        return answer;
    /* An older driver lacks the function; a library can't hide an exported name, but can refuse. */
    if (fv_symbols[row].since > fv_settings()->driver)
        return CUDA_ERROR_NOT_SUPPORTED;
    answer = answer_of_state(row);
    return answer == CUDA_SUCCESS && fv_captures ? fv_capture_permits_call(row) : answer;
}

CUresult fv_enter(struct fv_call *call)
{
    if (atomic_load(&door.strict))
        fv_graphs_enter(call);
    fv_lock();
    if (!door.started)
        start();
    call_is_ptds = call->ptds;
    if (fv_settings()->journal)
        fv_journal_before(call);
    fv_graphs_check(call);
    return answer_before_work(call);
}

void fv_leave(struct fv_call *call, CUresult result)
{
    uint64_t nanoseconds = fv_settings()->cost ? fv_cost_of(call) : 0;

    if (fv_settings()->journal)
        fv_journal_after(call, result);
    fv_graphs_leave(call);
    fv_unlock();
    if (nanoseconds)
        fv_cost_spend(nanoseconds);
}

CUresult fv_missing(enum fv_row row)
{
    if (!door.told[row])
        fv_say("%s is not implemented", fv_symbols[row].symbol);
    door.told[row] = true;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- the end ---- */

static void print_counts(FILE *file)
{
    const char *separator = "";

    fputc('{', file);
    for (int row = 0; row < FV_ROWS; row++) {
        if (!door.calls[row])
            continue;
        fprintf(file, "%s\n  \"%s\": %llu", separator, fv_symbols[row].symbol,
                (unsigned long long)door.calls[row]);
        separator = ",";
    }
    fputs("\n}\n", file);
}

static void write_counts(void)
{
    int descriptor = fv_open_output("FAKEVMM_COUNTS");
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");

    if (!file)
        return;
    fv_lock();
    print_counts(file);
    fv_unlock();
    fclose(file);
}

/* In a destructor, not an exit handler: handlers of the application that were registered before
 * cuInit run after ours, and their calls count too. */
__attribute__((destructor)) static void at_end(void)
{
    if (door.forked)
        return;
    write_counts();
    fv_lock();
    fv_leaks_print(door.late_unloads);
    fv_unlock();
    fv_hazards_end();
}

/* ---- the exported functions ---- */

#define FV(symbol, base, since, ptds, impl, params, args)                                          \
    extern CUresult symbol params __attribute__((visibility("default")));                          \
    CUresult symbol params FV_DOOR(symbol, ptds, impl, args)
#include "entries.def"
#undef FV
