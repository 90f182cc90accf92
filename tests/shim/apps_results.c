/* apps_results.c: what the sample programs compute and how they take their options. The expected
 * checksums are computed here, in C, from the formulas in tests/apps/kernels.h, so that a fake GPU
 * that is wrong in every run alike does not pass. */
#include "tests/apps/resend.h"
#include "tests/unit/vr_test.h"
#include "tests/helpers.h"

/* The checksum line of resend for these options. */
static uint64_t expected_resend(uint64_t steps, uint64_t nodes, uint64_t bytes, uint64_t seed)
{
    struct app_reach reach = app_reach(bytes, sizeof(uint32_t));
    size_t count = reach.pieces * reach.piece_bytes / sizeof(uint32_t);
    uint64_t buffers = resend_buffers(nodes), random = seed, sum = APP_CHECKSUM_START;
    uint64_t addresses[16];
    struct resend_args args[14];
    uint32_t *data = app_alloc(buffers * count, sizeof *data);

    T_LE(buffers, 16);
    for (uint64_t b = 0; b < buffers; b++) {
        addresses[b] = (uintptr_t)(data + b * count);
        resend_fill(data + b * count, count * sizeof *data, &random);
    }
    for (uint64_t k = 0; k < nodes; k++)
        resend_start(&args[k], k, addresses, &reach, &random);
    for (uint64_t step = 0; step < steps; step++) {
        resend_change(args, nodes, step, &random);
        for (uint64_t k = 0; k < nodes; k++)
            for (uint32_t t = 0; t < reach.touched; t++) {
                const struct resend_args *a = &args[k];
                uint64_t e = t + 1 == reach.touched ? reach.last : t * reach.stride;
                size_t at = reach.pieces > 1 ? t : e; /* in the host's copy of the buffer */
                uint32_t *out = (uint32_t *)(uintptr_t)a->out + at;
                uint32_t in = ((const uint32_t *)(uintptr_t)a->in)[at];
                uint32_t v = (*out * a->mult + in) ^ data[at];
                *out = v + a->add + (uint32_t)a->bias + ((uint32_t)(a->bias >> 32) ^ t * a->salt);
            }
    }
    sum = app_checksum(sum, data, buffers * count * sizeof *data);
    free(data);
    return sum;
}

static void check_resend(const char *name, uint64_t steps, uint64_t nodes, uint64_t bytes,
                         uint64_t seed)
{
    char *path = t_build("apps/%s", name);
    char *numbers[4] = {t_format("%" PRIu64, steps), t_format("%" PRIu64, nodes),
                        t_format("%" PRIu64, bytes), t_format("%" PRIu64, seed)};
    const char *const argv[] = {path,      "--steps",  numbers[0], "--nodes",  numbers[1],
                                "--bytes", numbers[2], "--seed",   numbers[3], NULL};
    char *expected = t_format("%016" PRIx64, expected_resend(steps, nodes, bytes, seed));
    struct t_run run = t_run(T_BARE, argv, NULL);

    T_STR_EQ(run.err, "");
    T_EQ(run.exit_code, 0);
    T_EQ(t_line_number(run.out, "updates"), (long long)(steps * nodes));
    T_EQ(t_line_number(run.out, "launches"), (long long)steps);
    char *checksum = t_line(run.out, "checksum");
    T_STR_EQ(checksum, expected);
    for (size_t i = 0; i < 4; i++)
        free(numbers[i]);
    free(checksum);
    free(expected);
    free(path);
    t_run_free(&run);
}

/* Few and many steps, one and several nodes, buffers of fewer elements than threads, of whole
 * copies and of copies by element. */
static void check_shapes(const char *name)
{
    check_resend(name, 30, 4, 4096, 1);
    check_resend(name, 25, 3, 8, 2);
    check_resend(name, 11, 1, 132, 3);
    check_resend(name, 12, 5, 1000000, 4);
    check_resend(name, 0, 2, 65536, 5);
}

TEST(apps_results, resend)
{
    check_shapes("resend");
}

TEST(apps_results, resend_drv)
{
    check_shapes("resend_drv");
}

/* A change in one byte of one struct gives other results: no two seeds or step counts agree. */
TEST(apps_results, structs)
{
    char *path = t_build("apps/structs"), *sums[24];
    int n = 0;

    for (; n < 24; n++) {
        char *steps = t_format("%d", n + 1);
        const char *const argv[] = {path, "--steps", steps, "--nodes", "2", NULL};
        struct t_run run = t_run(T_BARE, argv, NULL);

        T_EQ(run.exit_code, 0);
        T_EQ(t_line_number(run.out, "changes"), n + 1);
        sums[n] = t_line(run.out, "checksum");
        for (int i = 0; i < n; i++)
            T_ASSERT(strcmp(sums[i], sums[n]), "%d and %d steps give %s", i + 1, n + 1, sums[n]);
        t_run_free(&run);
        free(steps);
    }
    while (n > 0)
        free(sums[--n]);
    free(path);
}

static void check_refused(const char *option, const char *value)
{
    static const char *const names[] = {"resend", "resend_drv", "structs"};

    for (size_t i = 0; i < 3; i++) {
        char *path = t_build("apps/%s", names[i]);
        const char *const argv[] = {path, option, value, NULL};
        struct t_run run = t_run(T_BARE, argv, NULL);

        T_ASSERT(run.exit_code == 2, "%s %s %s: exit %d", names[i], option, value ? value : "",
                 run.exit_code);
        T_STR_EQ(run.out, "");
        T_STR_HAS(run.err, option);
        T_EQ(run.counts.count, 0);
        t_run_free(&run);
        free(path);
    }
}

TEST(apps_results, bad_arguments)
{
    check_refused("--bytes", "7");
    check_refused("--bytes", "1T");
    check_refused("--bytes", "18446744073709551615G");
    check_refused("--nodes", "0");
    check_refused("--steps", "-1");
    check_refused("--seed", NULL);
    check_refused("--stepz", "1");
}

TEST(apps_results, sizes)
{
    char *path = t_build("apps/resend_drv");
    const char *const plain[] = {path, "--steps", "1024", "--nodes", "1", "--bytes", "2048", NULL};
    const char *const units[] = {path, "--steps", "1K", "--nodes", "1", "--bytes", "2K", NULL};
    struct t_run a = t_run(T_BARE, plain, NULL), b = t_run(T_BARE, units, NULL);

    T_EQ(a.exit_code, 0);
    T_STR_EQ(a.out, b.out);
    t_run_free(&a);
    t_run_free(&b);
    free(path);
}
