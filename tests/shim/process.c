/* process.c: the library in the life of a process: fork, a lost context, many threads at once, no
 * driver, bad options, statistics. */
#include <cuda.h>

#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

static struct t_run run(enum t_way way, const char *mode, const char *const env[])
{
    char *program = t_build("tests/progs/process");
    const char *const argv[] = {program, mode, NULL};
    struct t_run result = t_run(way, argv, env);

    T_ASSERT(result.exit_code == 0, "%s: exit code %d\n%s", mode, result.exit_code, result.err);
    free(program);
    return result;
}

/* A forked child is inert: its calls get the driver's answers, its exit writes no statistics over
 * its parent's. */
TEST(process, forked_child_is_inert)
{
    struct t_run bare = run(T_BARE, "fork", NULL), with = run(T_ON, "fork", NULL);

    T_STR_EQ(with.out, bare.out);
    T_EQ(t_json_get(&with.stats, "calls.updates", -1), 3);
    T_EQ(t_json_get(&with.stats, "calls.updates_elided", -1), 2);
    T_EQ(t_json_get(&with.stats, "calls.launches", -1), 1);
    t_run_free(&bare);
    t_run_free(&with);
}

TEST(process, after_a_sticky_error_the_driver_answers)
{
    struct t_run with = run(T_ON, "sticky", NULL);

    T_EQ(t_kernel_setters(&with.counts), t_line_number(with.out, "reach"));
    t_run_free(&with);
}

TEST(process, first_calls_from_many_threads)
{
    struct t_run with = run(T_ON, "threads", NULL);

    T_EQ(t_kernel_setters(&with.counts), t_line_number(with.out, "reach"));
    T_EQ(t_json_get(&with.stats, "calls.updates", -1), t_line_number(with.out, "updates"));
    T_EQ(t_json_get(&with.stats, "calls.updates_elided", -1) +
             t_json_get(&with.stats, "calls.updates_forwarded", -1),
         t_line_number(with.out, "updates"));
    t_run_free(&with);
}

TEST(process, unknown_handles_are_the_drivers)
{
    struct t_run bare = run(T_BARE, "unseen", NULL), with = run(T_ON, "unseen", NULL);

    T_STR_EQ(with.out, bare.out);
    T_EQ(t_json_get(&with.stats, "calls.updates", -1), 6);
    T_EQ(t_json_get(&with.stats, "calls.updates", -1),
         t_json_get(&with.stats, "calls.updates_elided", -1) +
             t_json_get(&with.stats, "calls.updates_deferred", -1) +
             t_json_get(&with.stats, "calls.updates_forwarded", -1) +
             t_json_get(&with.stats, "calls.updates_failed", -1));
    t_run_free(&bare);
    t_run_free(&with);
}

/* cuda.h: CUDA_ERROR_NOT_INITIALIZED is 3. */
TEST(process, without_a_driver_hooks_say_so)
{
    char *program = t_build("tests/progs/nodriver");
    const char *const argv[] = {program, NULL};
    struct t_run bare = t_run(T_BARE, argv, NULL), with = t_run(T_ON, argv, NULL);

    T_EQ(bare.exit_code, 0);
    T_STR_EQ(bare.out, "absent\n");
    T_EQ(with.exit_code, 0);
    T_STR_EQ(with.out, "3 3\n");
    t_run_free(&bare);
    t_run_free(&with);
    free(program);
}

/* An unknown value of VAREMAP warns once, naming variable and value, and means off. `env` comes
 * after run-fake, which sets the variable too. */
TEST(process, unknown_mode_is_off)
{
    char *program = t_build("tests/progs/process");
    const char *const argv[] = {"env", "VAREMAP=sideways", program, "threads", NULL};
    struct t_run bare = run(T_BARE, "threads", NULL), with = t_run(T_ON, argv, NULL);

    T_EQ(with.exit_code, 0);
    T_EQ(t_kernel_setters(&with.counts), t_kernel_setters(&bare.counts));
    T_STR_HAS(with.err, "VAREMAP");
    T_STR_HAS(with.err, "sideways");
    T_PTR_EQ(strchr(with.err, '\n'), with.err + strlen(with.err) - 1);
    t_run_free(&bare);
    t_run_free(&with);
    free(program);
}

/* Silent by default, whatever it does. */
TEST(process, silent)
{
    struct t_run with = run(T_ON, "threads", NULL);

    T_STR_EQ(with.err, "");
    t_run_free(&with);
}

TEST(process, report_for_people)
{
    const char *const env[] = {"VAREMAP_REPORT=1", NULL};
    struct t_run with = run(T_ON, "threads", env);

    T_STR_HAS(with.err, "answered here                    384");
    t_run_free(&with);
}

TEST(process, skip_leaves_the_program_alone)
{
    const char *const env[] = {"VAREMAP_SKIP=other,process", NULL};
    struct t_run bare = run(T_BARE, "threads", NULL), with = run(T_ON, "threads", env);

    T_EQ(t_kernel_setters(&with.counts), t_kernel_setters(&bare.counts));
    T_STR_EQ(with.err, "");
    t_run_free(&bare);
    t_run_free(&with);
}
