/* apps_threeway.c: the sample programs bare, observed and with the library at work: the same
 * results, and below the library exactly the calls that were needed. */
#include "tests/unit/vr_test.h"
#include "tests/helpers.h"
#include <unistd.h>

#define MODES 4 /* of enum t_way */

/* Runs build/apps/<argv[0]>, which must succeed without a word on stderr. */
static struct t_run app(enum t_way way, const char *const argv[])
{
    const char *command[16];
    char *path = t_build("apps/%s", argv[0]);
    size_t i = 0;

    for (; argv[i] && i < 15; i++)
        command[i] = argv[i];
    command[0] = path;
    command[i] = NULL;
    struct t_run run = t_run(way, command, NULL);
    T_ASSERT(run.exit_code == 0 && !*run.err, "way %d of %s: exit code %d\n%s", (int)way, argv[0],
             run.exit_code, run.err);
    free(path);
    return run;
}

/* All modes; each with the output of the bare run. */
static void run_all(struct t_run runs[MODES], const char *const argv[])
{
    for (enum t_way way = T_BARE; way <= T_OFF; way++) {
        runs[way] = app(way, argv);
        T_STR_EQ(runs[way].out, runs[T_BARE].out);
    }
}

static void free_all(struct t_run runs[MODES])
{
    for (enum t_way way = T_BARE; way <= T_OFF; way++)
        t_run_free(&runs[way]);
}

/* Each update and each launch of the program is counted once, by what became of it. */
static void check_statistics(const struct t_run *run)
{
    const struct t_json *stats = &run->stats;
    long long updates = t_line_number(run->out, "updates");
    long long sum = t_json_get(stats, "calls.updates_elided", 0) +
                    t_json_get(stats, "calls.updates_deferred", 0) +
                    t_json_get(stats, "calls.updates_forwarded", 0) +
                    t_json_get(stats, "calls.updates_failed", 0);

    T_EQ(t_json_get(stats, "calls.updates", -1), updates);
    T_EQ(sum, updates);
    T_EQ(t_json_get(stats, "calls.updates_forwarded", -1), t_kernel_setters(&run->counts));
    T_EQ(t_json_get(stats, "calls.updates_failed", 0), 0);
    T_EQ(t_json_get(stats, "calls.launches", -1), t_line_number(run->out, "launches"));
}

static void check_all_statistics(const struct t_run runs[MODES])
{
    check_statistics(&runs[T_OBSERVE]);
    check_statistics(&runs[T_ON]);
    T_EQ(t_json_get(&runs[T_OBSERVE].stats, "calls.updates_elided", 0), 0);
    T_EQ(t_json_get(&runs[T_OBSERVE].stats, "would.updates_elided", -1),
         t_json_get(&runs[T_ON].stats, "calls.updates_elided", -2));
}

/* Read-only questions, and the retain and release at once by which a device's primary context is
 * learnt. */
static bool is_question(const char *name)
{
    return strstr(name, "Get") || strstr(name, "TotalMem") || strstr(name, "CanAccessPeer") ||
           !strncmp(name, "cuDevicePrimaryCtx", 18);
}

/* Every call the program makes arrives as often as in the bare run, but for kernel setters and
 * questions, and nothing but questions is new. */
static void check_other_calls(const struct t_json *bare, const struct t_json *shimmed)
{
    const struct t_json *both[2] = {bare, shimmed};

    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < both[side]->count; i++) {
            const char *name = both[side]->numbers[i].path;
            if (is_question(name) || !strncmp(name, "cuGraphExecKernelNodeSetParams", 30))
                continue;
            T_ASSERT(t_json_get(bare, name, 0) == t_json_get(shimmed, name, 0),
                     "%s: bare %lld, under the library %lld", name, t_json_get(bare, name, 0),
                     t_json_get(shimmed, name, 0));
        }
}

/* Switched off, not one call is added, lost or changed. */
static void check_off(const struct t_json *bare, const struct t_json *off)
{
    T_GT(bare->count, 0);
    T_EQ(off->count, bare->count);
    for (size_t i = 0; i < bare->count; i++)
        T_ASSERT(t_json_get(off, bare->numbers[i].path, -1) == bare->numbers[i].value,
                 "%s: bare %lld, off %lld", bare->numbers[i].path, bare->numbers[i].value,
                 t_json_get(off, bare->numbers[i].path, -1));
}

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
