/* apps_threeway.c: the sample programs bare, observed and with the library at work: the same
 * results, and below the library exactly the calls that were needed. */
#include "tests/shim/threeway.h"
#include <unistd.h>

static void check_resend(const char *name)
{
    const char *const argv[] = {name, "--steps", "200", "--nodes", "64", NULL};
    struct t_run runs[MODES];

    run_all(runs, argv);
    T_EQ(t_line_number(runs[T_BARE].out, "updates"), 12800);
    T_EQ(t_line_number(runs[T_BARE].out, "launches"), 200);
    T_EQ(t_kernel_setters(&runs[T_BARE].counts), 12800);
    T_EQ(t_kernel_setters(&runs[T_OBSERVE].counts), 12800);
    /* The first of each node, and one change in every tenth step. */
    T_LE(t_kernel_setters(&runs[T_ON].counts), 64 + 20);
    T_GE(t_kernel_setters(&runs[T_ON].counts), 20);
    check_all_statistics(runs);
    check_other_calls(&runs[T_BARE].counts, &runs[T_OBSERVE].counts);
    check_other_calls(&runs[T_BARE].counts, &runs[T_ON].counts);
    check_off(&runs[T_BARE].counts, &runs[T_OFF].counts);
    free_all(runs);
}

TEST(apps, resend)
{
    check_resend("resend");
}

TEST(apps, resend_drv)
{
    check_resend("resend_drv");
}

TEST(apps, structs)
{
    /* 4 nodes of at most 24 bytes: after 96 steps each byte has changed, here twice. */
    const char *const argv[] = {"structs", "--steps", "192", "--nodes", "4", NULL};
    struct t_run runs[MODES];

    run_all(runs, argv);
    T_EQ(t_line_number(runs[T_BARE].out, "changes"), 192);
    T_EQ(t_kernel_setters(&runs[T_BARE].counts), 192 * 4);
    T_EQ(t_kernel_setters(&runs[T_OBSERVE].counts), 192 * 4);
    T_GE(t_kernel_setters(&runs[T_ON].counts), 192);
    T_LE(t_kernel_setters(&runs[T_ON].counts), 192 + 4);
    check_all_statistics(runs);
    check_off(&runs[T_BARE].counts, &runs[T_OFF].counts);
    free_all(runs);
}

TEST(apps, large_buffers)
{
    const char *const argv[] = {"resend",  "--steps", "20",     "--nodes", "3",
                                "--bytes", "256M",    "--seed", "7",       NULL};
    struct t_run runs[MODES];

    run_all(runs, argv);
    T_EQ(t_kernel_setters(&runs[T_BARE].counts), 60);
    T_LE(t_kernel_setters(&runs[T_ON].counts), 3 + 2);
    free_all(runs);
}

TEST(apps, saxpy_graph)
{
    const char *const argv[] = {"saxpy_graph", "--steps", "50", "--nodes", "4", NULL};
    struct t_run runs[MODES];
    char *path = t_build("apps/saxpy_graph");

    if (access(path, X_OK) != 0)
        T_SKIP("saxpy_graph is not built: there is no nvcc here");
    run_all(runs, argv);
    T_EQ(t_kernel_setters(&runs[T_BARE].counts), 200);
    T_EQ(t_kernel_setters(&runs[T_OBSERVE].counts), 200);
    T_LE(t_kernel_setters(&runs[T_ON].counts), 4 + 5);
    check_all_statistics(runs);
    check_other_calls(&runs[T_BARE].counts, &runs[T_ON].counts);
    check_off(&runs[T_BARE].counts, &runs[T_OFF].counts);
    free_all(runs);
    free(path);
}
