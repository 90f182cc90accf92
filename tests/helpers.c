/* helpers.c: runs programs for system tests and keeps what they printed. It owns child processes
 * and temporary folders; the JSON reader is helpers_json.c's. */
#define _GNU_SOURCE
#define VR_TEST_ASSERTIONS_ONLY
#include "tests/unit/vr_test.h"
#include "tests/helpers.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char temp_folder[256]; /* empty: none made yet */

/* ---- folders ---- */

static char *format_list(const char *format, va_list args)
{
    char *text = NULL;

    T_ASSERT(vasprintf(&text, format, args) >= 0, "out of memory");
    return text;
}

char *t_format(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = format_list(format, args);
    va_end(args);
    return text;
}

static char *path_under(const char *variable, const char *otherwise, const char *format,
                        va_list args)
{
    const char *folder = getenv(variable);
    char *rest = format_list(format, args);
    char *path = t_format("%s/%s", folder && *folder ? folder : otherwise, rest);

    free(rest);
    return path;
}

char *t_build(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *path = path_under("VR_BUILD", "build", format, args);
    va_end(args);
    return path;
}

char *t_source(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *path = path_under("VR_ROOT", ".", format, args);
    va_end(args);
    return path;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    return remove(path);
}

static void remove_temp(void)
{
    nftw(temp_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *t_temp(void)
{
    const char *under = getenv("TMPDIR");

    if (temp_folder[0])
        return temp_folder;
    snprintf(temp_folder, sizeof temp_folder, "%s/varemap-test-XXXXXX", under ? under : "/tmp");
    T_ASSERT(mkdtemp(temp_folder), "%s: %s", temp_folder, strerror(errno));
    atexit(remove_temp);
    return temp_folder;
}

/* ---- programs ---- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t length = 0, space = 0;
    char *text = NULL;

    T_ASSERT(file, "%s: %s", path, strerror(errno));
    do {
        text = realloc(text, (space += 65536) + 1);
        T_ASSERT(text, "out of memory");
        length += fread(text + length, 1, space - length, file);
    } while (length == space);
    text[length] = 0;
    fclose(file);
    return text;
}

/* In the child: the output into files, the environment extended, then the program. */
__attribute__((noreturn)) static void start(const char *const argv[], const char *const env[],
                                            const char *out, const char *err)
{
    int out_fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err_fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    setpgid(0, 0);
    for (size_t i = 0; env && env[i]; i++)
        putenv((char *)env[i]);
    if (dup2(out_fd, STDOUT_FILENO) >= 0 && dup2(err_fd, STDERR_FILENO) >= 0)
        execvp(argv[0], (char *const *)argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* The wait status of `child`; its whole process group is killed when it takes too long. */
static int wait_for(pid_t child, const char *name)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    time_t end = time(NULL) + T_RUN_SECONDS;
    int status;

    for (;;) {
        pid_t done = waitpid(child, &status, WNOHANG);
        T_ASSERT(done >= 0 || errno == EINTR, "waitpid: %s", strerror(errno));
        if (done == child)
            return status;
        if (time(NULL) >= end) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            T_FAIL("%s still runs after %d seconds", name, T_RUN_SECONDS);
        }
        nanosleep(&pause, NULL);
    }
}

struct t_run t_command(const char *const argv[], const char *const env[])
{
    struct t_run run = {0};
    char *out = t_format("%s/out", t_temp());
    char *err = t_format("%s/err", t_temp());

    fflush(NULL);
    pid_t child = fork();
    T_ASSERT(child >= 0, "fork: %s", strerror(errno));
    if (child == 0)
        start(argv, env, out, err);
    int status = wait_for(child, argv[0]);
    run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run.out = read_file(out);
    run.err = read_file(err);
    free(out);
    free(err);
    return run;
}

/* The numbers of a file the program may have left; the file is removed. */
static struct t_json take_json(const char *path)
{
    struct t_json json = {0};

    if (access(path, F_OK) == 0)
        json = t_json_read(path);
    unlink(path);
    return json;
}

struct t_run t_run(enum t_way way, const char *const argv[], const char *const env[])
{
    static const char *const words[] = {[T_OBSERVE] = "observe", [T_ON] = "on", [T_OFF] = "off"};
    const char *command[64], *variables[64];
    size_t c = 0, v = 0;
    char *script = t_source("scripts/run-fake");
    char *counts = t_format("FAKEVMM_COUNTS=%s/counts", t_temp());
    char *stats = t_format("VAREMAP_STATS=%s/stats", t_temp());

    command[c++] = script;
    if (way != T_BARE) {
        command[c++] = "--shim";
        command[c++] = words[way];
    }
    variables[v++] = counts;
    variables[v++] = stats;
    for (size_t i = 0; argv[i]; i++) {
        T_ASSERT(c < 63, "too many arguments");
        command[c++] = argv[i];
    }
    for (size_t i = 0; env && env[i]; i++) {
        T_ASSERT(v < 63, "too many variables");
        variables[v++] = env[i];
    }
    command[c] = variables[v] = NULL;
    struct t_run run = t_command(command, variables);
    run.counts = take_json(strchr(counts, '=') + 1);
    run.stats = take_json(strchr(stats, '=') + 1);
    free(script);
    free(counts);
    free(stats);
    return run;
}

void t_run_free(struct t_run *run)
{
    free(run->out);
    free(run->err);
    t_json_free(&run->counts);
    t_json_free(&run->stats);
    *run = (struct t_run){0};
}

/* ---- what a run says ---- */

long long t_kernel_setters(const struct t_json *counts)
{
    return t_json_get(counts, "cuGraphExecKernelNodeSetParams", 0) +
           t_json_get(counts, "cuGraphExecKernelNodeSetParams_v2", 0);
}

/* The start of the line that begins with "<name> ", NULL when there is none. */
static const char *find_line(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, length) && line[length] == ' ')
            return line;
    }
    return NULL;
}

char *t_line(const char *text, const char *name)
{
    const char *line = find_line(text, name);

    T_ASSERT(line, "no line \"%s ...\" in: %s", name, text);
    line += strlen(name) + 1;
    return t_format("%.*s", (int)strcspn(line, "\n"), line);
}

long long t_line_number(const char *text, const char *name)
{
    char *value = t_line(text, name), *end;
    long long number = strtoll(value, &end, 10);

    T_ASSERT(end != value && !*end, "\"%s %s\" is not a number", name, value);
    free(value);
    return number;
}
