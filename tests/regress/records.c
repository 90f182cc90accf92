/* records.c: what makes a record lie although no call on its exec says so. Each test is a bug that
 * was: a setter was answered, and the driver would have refused it, or held something else. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

/* Runs a row of tests/shim/progs/records.c; `arrive` fills must reach the driver, `setting` is one
 * more setting for the library or the driver. */
static void check_row(const char *row, const char *setting, long long arrive)
{
    static const enum t_way ways[] = {T_OBSERVE, T_ON};
    char *program = t_build("tests/progs/records");
    const char *const argv[] = {program, row, NULL}, *const env[] = {setting, NULL};
    struct t_run bare = t_run(T_BARE, argv, NULL);

    T_ASSERT(bare.exit_code == 0, "%s: exit code %d\n%s", row, bare.exit_code, bare.err);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct t_run run = t_run(ways[i], argv, env);

        T_EQ(run.exit_code, 0);
        T_STR_EQ(run.out, bare.out);
        if (ways[i] == T_ON)
            T_EQ(t_json_get(&run.counts, "cuGraphExecMemsetNodeSetParams", 0), arrive);
        t_run_free(&run);
    }
    t_run_free(&bare);
    free(program);
}

TEST(records, graph_moved_into_another)
{
    check_row("moved", NULL, 0);
}

TEST(records, primary_context_reset)
{
    check_row("reset", NULL, 3);
}

/* Allocations are known for the sake of copies and fills, too. */
TEST(records, primary_context_reset_with_only_elide)
{
    check_row("reset", "VAREMAP_RUNGS=elide", 3);
}

TEST(records, context_detached)
{
    check_row("detached", NULL, 3);
}

TEST(records, context_detached_that_lives_on)
{
    check_row("attached", NULL, 1);
}

/* The driver stops telling where parameters lie: that is no end of the list. */
TEST(records, parameters_are_told_no_more)
{
    check_row("params", "FAKEVMM_FAULT=cuFuncGetParamInfo:2:persistent", 0);
    check_row("params", "FAKEVMM_FAULT=cuFuncGetParamInfo:3:persistent", 0);
}
