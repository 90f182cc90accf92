/* process.c: the process around the hooks: the environment, core's state, what happens in a forked
 * child and at exit. Everything starts at the first call that concerns the driver; a process
 * without CUDA never gets here. It must not know a driver function's meaning. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/output.h"
#include "core/version.h"
#include "shim/shim.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static const char *get(const char *name)
{
    return secure_getenv(name);
}

/* ---- statistics ---- */

static enum vr_status write_stats(struct vr_state *state, const char *file)
{
    struct vr_doors doors = vr_doors();
    char path[VR_PATH_BYTES];
    enum vr_status status;
    int fd;

    if (file[0] == '-' && !file[1])
        return vr_stats_write(state, &doors, STDERR_FILENO);
    if (!vr_path_expand(path, sizeof(path), file))
        return VR_REFUSED;
    fd = vr_output_replace(path);
    if (fd < 0)
        return VR_REFUSED;
    status = vr_stats_write(state, &doors, fd);
    return close(fd) == 0 ? status : VR_REFUSED;
}

static void save_stats(struct vr_state *state)
{
    const struct vr_options *options = vr_state_options(state);

    if (options->stats_file[0] && write_stats(state, options->stats_file) != VR_OK)
        vr_log(vr_state_log(state), VR_LOG_ERROR,
               "VAREMAP_STATS=%s: cannot be written; the folder must exist and be writable",
               options->stats_file);
}

/* Registered with atexit. The driver may be gone by now: nothing here calls it, and calls that
 * other handlers make get its own answers. */
static void at_exit(void)
{
    struct vr_process *process = atomic_load(&vr_shim.process);
    struct vr_state *state = process ? atomic_load(&process->state) : NULL;
    struct vr_doors doors;

    if (!state) /* a forked child */
        return;
    vr_trouble_seen(state, VR_TROUBLE_EXITING);
    save_stats(state);
    if (vr_state_options(state)->report) {
        doors = vr_doors();
        vr_stats_report(state, &doors, STDERR_FILENO);
    }
}

void vr_process_stats_due(struct vr_process *process, struct vr_state *state)
{
    if (atomic_exchange(&process->stats_due, false))
        save_stats(state);
}

/* A signal may interrupt a thread that holds a lock of ours, so the writing is left to the next
 * launch. */
static void on_signal(int number)
{
    struct vr_process *process = atomic_load(&vr_shim.process);

    (void)number;
    if (process)
        atomic_store(&process->stats_due, true);
}

/* SIGUSR2 is taken only from a program that does not use it itself. */
static void watch_signal(void)
{
    struct sigaction old, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    if (sigaction(SIGUSR2, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
        old.sa_handler == SIG_DFL)
        sigaction(SIGUSR2, &ours, NULL);
}

/* ---- start ---- */

static void say_bad_options(const struct vr_options *options)
{
    struct vr_log log;

    vr_log_init(&log, options->log, options->log_file);
    vr_options_warn(options, &log);
}

void vr_process_end(void)
{
    struct vr_process *process = atomic_load(&vr_shim.process);

    atomic_store(&process->active, NULL);
}

static struct vr_process *page_new(void)
{
    struct vr_process *process =
        mmap(NULL, sizeof(*process), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return process == MAP_FAILED ? NULL : process;
}

/* The one thread that published the process starts what there is one of. */
static void started(const struct vr_options *options, struct vr_state *state)
{
    if (!state) {
        say_bad_options(options);
        return;
    }
    vr_options_warn(options, vr_state_log(state));
    vr_log(vr_state_log(state), VR_LOG_INFO, "libvaremap " VR_VERSION ", mode %s",
           vr_mode_name(options->mode));
    if (atexit(at_exit) != 0)
        vr_log(vr_state_log(state), VR_LOG_ERROR, "no statistics at exit: atexit failed");
    if (options->stats_signal)
        watch_signal();
}

/* Off: what a call works with when there is no memory for a page. Never written; nothing is
 * published, so the next call tries again. */
static struct vr_process nothing;

struct vr_process *vr_process_open(void)
{
    int saved_errno = errno;
    struct vr_process *fresh = page_new(), *known = NULL;
    struct vr_state *state = NULL;
    struct vr_options options;

    if (!fresh)
        return &nothing;
    vr_options_read(&options, get, program_invocation_short_name);
    pthread_mutex_init(&fresh->captures.lock, NULL);
    /* Without the wiped page a forked child would use its parent's state. */
    if (options.mode != VR_MODE_OFF && madvise(fresh, sizeof(*fresh), MADV_WIPEONFORK) == 0)
        state = vr_state_new(&vr_driver_ops, &options);
    atomic_store(&fresh->state, state);
    atomic_store(&fresh->active, state);
    if (atomic_compare_exchange_strong(&vr_shim.process, &known, fresh)) {
        started(&options, state);
        known = fresh;
    } else {
        if (state)
            vr_state_free(state);
        munmap(fresh, sizeof(*fresh));
    }
    errno = saved_errno;
    return known;
}
