/* setters.c: setters of memcpy and memset nodes, the generic setter, SetEnabled and child graphs:
 * which of them arrive at the driver, and that nothing else differs from a bare run. Each row of
 * tests/shim/progs/setters.c says how many must. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#include <string.h>

static const char *const functions[] = {
    "cuGraphExecMemcpyNodeSetParams",
    "cuGraphExecMemsetNodeSetParams",
    "cuGraphExecNodeSetParams",
    "cuGraphExecKernelNodeSetParams_v2",
};

static void check_counts(const char *row, const struct t_run *run)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char *line = t_format("reach %s", functions[i]);
        long long must = t_line_number(run->out, line);

        T_ASSERT(t_json_get(&run->counts, functions[i], 0) == must,
                 "%s: %lld calls of %s reached the driver, %lld must", row,
                 t_json_get(&run->counts, functions[i], 0), functions[i], must);
        free(line);
    }
}

static void check_row(const char *row)
{
    static const enum t_way ways[] = {T_OBSERVE, T_ON};
    char *program = t_build("tests/progs/setters");
    const char *const argv[] = {program, row, NULL};
    struct t_run bare = t_run(T_BARE, argv, NULL);

    T_ASSERT(bare.exit_code == 0, "%s: exit code %d\n%s", row, bare.exit_code, bare.err);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct t_run run = t_run(ways[i], argv, NULL);

        T_EQ(run.exit_code, 0);
        T_STR_EQ(run.out, bare.out);
        if (ways[i] == T_ON)
            check_counts(row, &run);
        t_run_free(&run);
    }
    t_run_free(&bare);
    free(program);
}

#define ROWS(X)                                                                                    \
    X(copy_same)                                                                                   \
    X(copy_unified)                                                                                \
    X(copy_offset)                                                                                 \
    X(copy_width)                                                                                  \
    X(copy_host)                                                                                   \
    X(copy_two_rows)                                                                               \
    X(copy_freed)                                                                                  \
    X(fill_same)                                                                                   \
    X(fill_value)                                                                                  \
    X(fill_width)                                                                                  \
    X(generic_same)                                                                                \
    X(generic_first)                                                                               \
    X(generic_reserved)                                                                            \
    X(generic_null)                                                                                \
    X(enabled)                                                                                     \
    X(updated)                                                                                     \
    X(graph_destroyed)                                                                             \
    X(child)                                                                                       \
    X(child_generic)

#define X(row)                                                                                     \
    TEST(setters, row)                                                                             \
    {                                                                                              \
        check_row(#row);                                                                           \
    }
ROWS(X)
#undef X

TEST(setters, every_row_has_a_test)
{
#define X(row) #row "\n"
    const char *tested = ROWS(X);
#undef X
    char *program = t_build("tests/progs/setters");
    const char *const argv[] = {program, "--rows", NULL};
    struct t_run run = t_run(T_BARE, argv, NULL);

    T_EQ(run.exit_code, 0);
    T_STR_EQ(run.out, tested);
    t_run_free(&run);
    free(program);
}
