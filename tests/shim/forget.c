/* forget.c: nothing that happens between two identical setters may let the second one be answered
 * from a record that no longer holds. Each row of tests/shim/progs/forget.c is run under the
 * library; it says how many setters must arrive at the driver. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

static void check_row(const char *row)
{
    char *program = t_build("tests/progs/forget");
    const char *const argv[] = {program, row, NULL};
    struct t_run run = t_run(T_ON, argv, NULL);

    T_ASSERT(run.exit_code == 0, "%s: exit code %d\n%s", row, run.exit_code, run.err);
    T_ASSERT(t_kernel_setters(&run.counts) == t_line_number(run.out, "reach"),
             "%s: %lld setters reached the driver, %lld must", row, t_kernel_setters(&run.counts),
             t_line_number(run.out, "reach"));
    t_run_free(&run);
    free(program);
}

/* Each row is its own test, so that a report names it; completeness is checked against the program.
 */
#define ROWS(X)                                                                                    \
    X(control)                                                                                     \
    X(kernel_context)                                                                              \
    X(exec_update)                                                                                 \
    X(exec_update_v1)                                                                              \
    X(exec_generic)                                                                                \
    X(exec_memcpy)                                                                                 \
    X(exec_memset)                                                                                 \
    X(exec_host)                                                                                   \
    X(exec_child)                                                                                  \
    X(set_enabled)                                                                                 \
    X(failed_setter)                                                                               \
    X(reinstantiate)                                                                               \
    X(source_v1)                                                                                   \
    X(source_v2)                                                                                   \
    X(source_generic)                                                                              \
    X(source_memcpy)                                                                               \
    X(source_memset)                                                                               \
    X(source_host)                                                                                 \
    X(node_attribute)                                                                              \
    X(copy_attributes)                                                                             \
    X(node_destroy)                                                                                \
    X(graph_destroy)                                                                               \
    X(module_reload)                                                                               \
    X(library_unload)                                                                              \
    X(function_attribute)                                                                          \
    X(function_cache_config)                                                                       \
    X(context_destroy)                                                                             \
    X(primary_release)                                                                             \
    X(primary_release_v2)                                                                          \
    X(primary_reset)                                                                               \
    X(primary_reset_v2)

#define X(row)                                                                                     \
    TEST(forget, row)                                                                              \
    {                                                                                              \
        check_row(#row);                                                                           \
    }
ROWS(X)
#undef X

TEST(forget, every_row_has_a_test)
{
#define X(row) #row "\n"
    const char *tested = ROWS(X);
#undef X
    char *program = t_build("tests/progs/forget");
    const char *const argv[] = {program, "--rows", NULL};
    struct t_run run = t_run(T_BARE, argv, NULL);

    T_EQ(run.exit_code, 0);
    T_STR_EQ(run.out, tested);
    t_run_free(&run);
    free(program);
}
