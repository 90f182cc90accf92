/* files.c: statistics and log files of every kind that can be named: what cannot be written costs
 * the program nothing but one line on stderr (statistics) or brings the lines to stderr (log). */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESULT "result 3000837307346\n"

/* Runs the work under the library with `setting`, over what t_run sets. */
static struct t_run run(const char *setting)
{
    char *program = t_build("tests/progs/work_linked");
    const char *const argv[] = {"env", setting, "VAREMAP_LOG=info", program, NULL};
    struct t_run with = t_run(T_ON, argv, NULL);

    T_EQ(with.exit_code, 0);
    T_STR_EQ(with.out, RESULT);
    free(program);
    return with;
}

static int lines_with(const char *text, const char *word)
{
    int count = 0;

    while ((text = strstr(text, word))) {
        count++;
        text += strlen(word);
    }
    return count;
}

static bool is_json(const char *path)
{
    struct t_json json = t_json_read(path);
    bool whole = t_json_get(&json, "calls.updates", -1) == 800;

    t_json_free(&json);
    return whole;
}

/* Names of files that cannot be written. */
static void make_bad_files(void)
{
    char *pipe = t_format("%s/pipe", t_temp()), *folder = t_format("%s/folder", t_temp());
    char *anybodys = t_format("%s/anybodys", t_temp()), *target = t_format("%s/target", t_temp());
    char *link = t_format("%s/anybodys/link", t_temp());

    mkfifo(pipe, 0600);
    mkdir(folder, 0700);
    mkdir(anybodys, 0777);
    chmod(anybodys, 01777);
    if (symlink(target, link) != 0)
        T_FAIL("symlink");
    free(pipe);
    free(folder);
    free(anybodys);
    free(target);
    free(link);
}

static const char *const bad_files[] = {"/nonexistent/file", "/dev/full",   "/proc/nothing",
                                        "TEMP/pipe",         "TEMP/folder", "TEMP/anybodys/link",
                                        "TEMP/folder/"};

static char *bad_setting(const char *variable, const char *file)
{
    return !strncmp(file, "TEMP", 4) ? t_format("%s=%s%s", variable, t_temp(), file + 4)
                                     : t_format("%s=%s", variable, file);
}

TEST(files, statistics_that_cannot_be_written)
{
    make_bad_files();
    for (size_t i = 0; i < sizeof(bad_files) / sizeof(*bad_files); i++) {
        char *setting = bad_setting("VAREMAP_STATS", bad_files[i]);
        struct t_run with = run(setting);

        T_ASSERT(lines_with(with.err, "cannot be written") == 1, "%s: %s", setting, with.err);
        T_EQ(lines_with(with.err, "error:"), 1);
        t_run_free(&with);
        free(setting);
    }
    char *target = t_format("%s/target", t_temp());
    T_EQ(access(target, F_OK), -1);
    free(target);
}

/* Its lines go to stderr. On a full disk they are lost. */
TEST(files, log_that_cannot_be_written)
{
    make_bad_files();
    for (size_t i = 0; i < sizeof(bad_files) / sizeof(*bad_files); i++) {
        char *setting = bad_setting("VAREMAP_LOG_FILE", bad_files[i]);
        struct t_run with = run(setting);

        T_ASSERT(lines_with(with.err, "mode on") == !!strcmp(bad_files[i], "/dev/full"), "%s: %s",
                 setting, with.err);
        t_run_free(&with);
        free(setting);
    }
    char *target = t_format("%s/target", t_temp());
    T_EQ(access(target, F_OK), -1);
    free(target);
}

/* A link in a folder of one's own is one's own affair. */
TEST(files, a_link_of_ones_own_is_followed)
{
    char *target = t_format("%s/target", t_temp()), *link = t_format("%s/link", t_temp());
    char *setting = t_format("VAREMAP_STATS=%s", link);

    T_EQ(symlink(target, link), 0);
    struct t_run with = run(setting);
    T_ASSERT(is_json(target), "%s", target);
    t_run_free(&with);
    free(target);
    free(link);
    free(setting);
}

/* %p and %h stand for process and host, %% for a percent sign; others are kept as they are. */
TEST(files, percent)
{
    char host[256] = "";
    char *setting = t_format("VAREMAP_STATS=%s/a%%h-%%%%-%%q-%%", t_temp());

    gethostname(host, sizeof(host) - 1);
    struct t_run with = run(setting);
    char *path = t_format("%s/a%s-%%-%%q-%%", t_temp(), host);
    T_ASSERT(is_json(path), "%s", path);
    t_run_free(&with);
    free(setting);
    free(path);
}

#define TOGETHER 8

/* Starts eight at once, with `file` for both; waits. */
static void run_together(const char *file)
{
    char *script =
        t_format("for i in 1 2 3 4 5 6 7 8; do VAREMAP_LOG=info VAREMAP_STATS='%s.stats' "
                 "VAREMAP_LOG_FILE='%s.log' scripts/run-fake --shim on "
                 "\"$VR_BUILD\"/tests/progs/work_linked >/dev/null & done; wait",
                 file, file);
    const char *const argv[] = {"bash", "-c", script, NULL};
    struct t_run all = t_command(argv, NULL);

    T_STR_EQ(all.err, "");
    t_run_free(&all);
    free(script);
}

/* A file of all: each document replaces the one before, each line is whole. */
TEST(files, one_for_several_processes)
{
    char *file = t_format("%s/all", t_temp()), *stats = t_format("%s.stats", file);
    char *log = t_format("%s.log", file);
    const char *const argv[] = {"grep", "-cvE", "^varemap\\[[0-9]+\\]: info: [^\\[]*$", log, NULL};

    run_together(file);
    T_ASSERT(is_json(stats), "%s", stats);
    struct t_run bad_lines = t_command(argv, NULL);
    T_STR_EQ(bad_lines.out, "0\n");
    t_run_free(&bad_lines);
    free(file);
    free(stats);
    free(log);
}

TEST(files, one_for_each_process)
{
    char *file = t_format("%s/each-%%p", t_temp());
    char *script = t_format("for f in %s/each-*.stats; do echo one; done", t_temp());
    const char *const argv[] = {"bash", "-c", script, NULL};

    run_together(file);
    struct t_run list = t_command(argv, NULL);
    T_EQ(lines_with(list.out, "one\n"), TOGETHER);
    t_run_free(&list);
    free(file);
    free(script);
}
