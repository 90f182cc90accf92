/* reports.c: what went wrong with graph updates in the field, row by row (docs/testing.md, "Reports
 * from the field"): nothing a program can observe differs from a bare run, and what its rows say
 * must arrive at the driver arrives. The programs are tests/shim/progs/reports*.c. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#include <string.h>

#define SKIPPED 77 /* the program's exit status when the driver lacks what a row is about */

static struct t_run run_row(enum t_way way, const char *program, const char *row,
                            const char *const env[])
{
    char *path = t_build("tests/progs/%s", program);
    const char *const argv[] = {path, row, NULL};
    struct t_run run = t_run(way, argv, env);

    free(path);
    if (run.exit_code == SKIPPED)
        T_SKIP("%s: the driver does not support it", row);
    T_ASSERT(run.exit_code == 0, "%s, way %d: exit code %d\n%s", row, (int)way, run.exit_code,
             run.err);
    return run;
}

/* The lines "reach NAME N" and "at_most NAME N". */
static void check_counts(const char *row, const struct t_run *run)
{
    char word[16], name[64];
    long long calls, arrived;

    for (const char *line = run->out; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "%15s %63s %lld", word, name, &calls) != 3)
            continue;
        arrived = t_json_get(&run->counts, name, 0);
        if (!strcmp(word, "reach"))
            T_ASSERT(arrived == calls, "%s: %lld calls of %s arrived, %lld must", row, arrived,
                     name, calls);
        if (!strcmp(word, "at_most"))
            T_ASSERT(arrived <= calls, "%s: %lld calls of %s arrived, %lld may", row, arrived, name,
                     calls);
    }
}

static void check_row(const char *program, const char *row, const char *const env[])
{
    static const enum t_way ways[] = {T_OBSERVE, T_ON, T_OFF};
    struct t_run bare = run_row(T_BARE, program, row, env);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct t_run run = run_row(ways[i], program, row, env);

        T_STR_EQ(run.out, bare.out);
        if (ways[i] == T_ON)
            check_counts(row, &run);
        t_run_free(&run);
    }
    t_run_free(&bare);
}

/* Each row with what it needs of the fake GPU: one setting, or none. */
#define ROWS(X)                                                                                    \
    X(reports, B1_updates_fail_now_and_then, "FAKEVMM_FAULT=cuGraphExecUpdate_v2:9001:910")        \
    X(reports, B2_last_error, NULL)                                                                \
    X(reports, B4_only_the_source_moves, NULL)                                                     \
    X(reports, B6_one_exec_always_changes, NULL)                                                   \
    X(reports, B6_tried_again, NULL)                                                               \
    X(reports, B23_many_execs, NULL)                                                               \
    X(reports, B28_the_wrong_parity, NULL)                                                         \
    X(reports_memory, B9_setters_of_both_abis, NULL)                                               \
    X(reports_memory, B9_updates_of_both_abis, NULL)                                               \
    X(reports_memory, B11_nodes_of_another_module, NULL)                                           \
    X(reports_memory, B13_staged_on_the_second_device, "FAKEVMM_DEVICES=2")                        \
    X(reports_memory, B15_swapped_without_an_update, NULL)                                         \
    X(reports_memory, B15_freed_without_an_update, NULL)                                           \
    X(reports_memory, B16_an_address_comes_back, "FAKEVMM_VA=lifo")                                \
    X(reports_memory, B25_graph_with_memory_nodes, NULL)                                           \
    X(reports_memory, B26_beside_collectives, NULL)                                                \
    X(reports_memory, G4_func_kern_or_neither, NULL)                                               \
    X(reports_capture, B17_updates_during_a_capture, NULL)                                         \
    X(reports_capture, B29_order_of_captured_nodes, NULL)                                          \
    X(reports_capture, B30_nothing_on_the_legacy_stream, NULL)

#define X(program, row, setting)                                                                   \
    TEST(program, row)                                                                             \
    {                                                                                              \
        const char *const env[] = {setting, NULL};                                                 \
                                                                                                   \
        check_row(#program, #row, env);                                                            \
    }
ROWS(X)
#undef X

/* Where another thread's wait breaks a capture, nothing of ours waits. */
TEST(reports_capture, B18_a_wait_breaks_captures)
{
    const char *const env[] = {"FAKEVMM_MODEL=peersync=breaks", NULL};

    check_row("reports_capture", "B17_updates_during_a_capture", env);
}

TEST(reports, every_row_has_a_test)
{
#define X(program, row, setting) #program " " #row "\n"
    const char *tested = ROWS(X);
#undef X
    static const char *const programs[] = {"reports", "reports_memory", "reports_capture"};
    size_t listed = 0;

    for (size_t i = 0; i < 3; i++) {
        struct t_run run = run_row(T_BARE, programs[i], "--rows", NULL);
        char *place;

        for (char *row = strtok_r(run.out, "\n", &place); row; row = strtok_r(NULL, "\n", &place)) {
            char *line = t_format("%s %s\n", programs[i], row);

            T_STR_HAS(tested, line);
            listed++;
            free(line);
        }
        t_run_free(&run);
    }
    T_GT(listed, 0);
}
