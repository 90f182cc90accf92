/* life.c: the library in a process's beginning, end and children (progs/life.c): what the program
 * prints is what it prints without us, and the statistics, where there are any, are the program's
 * own counts. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#include <sys/stat.h>

static struct t_run run(enum t_way way, const char *mode, const char *const env[])
{
    char *program = t_build("tests/progs/life");
    const char *const argv[] = {program, mode, NULL};
    struct t_run result = t_run(way, argv, env);

    free(program);
    return result;
}

/* Runs `mode` bare and on; the same exit code and output. Returns the run under the library. */
static struct t_run same(const char *mode, const char *const env[], int exit_code)
{
    struct t_run bare = run(T_BARE, mode, env), with = run(T_ON, mode, env);

    T_ASSERT(bare.exit_code == exit_code, "%s: exit code %d\n%s", mode, bare.exit_code, bare.err);
    T_ASSERT(with.exit_code == exit_code, "%s: exit code %d\n%s", mode, with.exit_code, with.err);
    T_STR_EQ(with.out, bare.out);
    T_STR_EQ(with.err, bare.err);
    t_run_free(&bare);
    return with;
}

static void counts_are_the_programs(const struct t_run *with)
{
    T_EQ(t_json_get(&with->stats, "calls.updates", -1), t_line_number(with->out, "updates"));
    T_EQ(t_json_get(&with->stats, "calls.launches", -1), t_line_number(with->out, "launches"));
}

TEST(life, vfork_and_exec)
{
    struct t_run with = same("vfork", NULL, 0);

    T_STR_HAS(with.out, "child 6\n");
    counts_are_the_programs(&with);
    t_run_free(&with);
}

/* P4: the child's exit writes no statistics over its parent's. */
TEST(life, raw_clone)
{
    struct t_run with = same("clone", NULL, 0);

    counts_are_the_programs(&with);
    t_run_free(&with);
}

/* P5: cuda.h: CUDA_ERROR_NOT_INITIALIZED is 3. */
TEST(life, fork_from_busy_threads)
{
#ifdef __SANITIZE_THREAD__
    T_SKIP("ThreadSanitizer does not allow threads and fork together");
#endif
    struct t_run with = same("busy", NULL, 0);
    int children = 0;

    for (const char *line = with.out; (line = strstr(line, "child 3\n")); line++)
        children++;
    T_EQ(children, 20);
    t_run_free(&with);
}

/* These ends run no handlers, so there are no statistics; nothing else differs. */
TEST(life, ends_without_handlers)
{
    static const struct {
        const char *mode;
        int exit_code;
    } rows[] = {{"_exit", 3}, {"quick_exit", 4}, {"kill", 128 + 9}};

    for (int i = 0; i < 3; i++) {
        struct t_run with = same(rows[i].mode, NULL, rows[i].exit_code);

        T_EQ(with.stats.count, 0);
        t_run_free(&with);
    }
}

/* P8: after the driver's end its answer is the program's, CUDA_ERROR_DEINITIALIZED (4), also for
 * memory and updates that were ours; and we call nothing. */
TEST(life, calls_after_the_drivers_end)
{
    const char *const env[] = {"VAREMAP_BACKING=eager", "VAREMAP_MIN_SIZE=1", NULL};
    struct t_run with = same("late", env, 0);

    T_STR_HAS(with.out, "atexit 4 4 4 4\n");
    T_STR_HAS(with.out, "destructor 4 4 4 4\n");
    T_EQ(t_json_get(&with.stats, "calls.allocs_placed", -1), 1);
    T_EQ(t_json_get(&with.counts, "cuMemUnmap", 0), 0);
    T_EQ(t_json_get(&with.counts, "cuMemRelease", 0), 0);
    T_EQ(t_json_get(&with.counts, "cuMemAddressFree", 0), 0);
    t_run_free(&with);
}

TEST(life, calls_from_a_constructor)
{
    struct t_run with = same("constructor", NULL, 0);

    T_EQ(t_line_number(with.out, "updates"), 3);
    counts_are_the_programs(&with);
    t_run_free(&with);
}

TEST(life, threads_race_at_the_first_lookup)
{
    struct t_run with = same("lookups", NULL, 0);

    T_STR_HAS(with.out, "same 8\n");
    counts_are_the_programs(&with);
    t_run_free(&with);
}

/* The writing is left to a launch, so it happens between calls and no file is half written. */
TEST(life, statistics_on_a_signal)
{
    const char *const env[] = {"VAREMAP_STATS_SIGNAL=1", NULL};
    struct t_run with = run(T_ON, "signals", env);

    T_ASSERT(with.exit_code == 0, "exit code %d\n%s", with.exit_code, with.err);
    T_STR_EQ(with.err, "");
    T_EQ(t_line_number(with.out, "updates"), 2003);
    counts_are_the_programs(&with);
    T_EQ(t_json_get(&with.stats, "calls.updates_elided", -1), 1000 + 2);
    t_run_free(&with);
}
