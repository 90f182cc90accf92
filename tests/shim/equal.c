/* equal.c: the same work gives the same statistics, whatever the program is written in and however
 * it reaches the driver: 8 nodes, 9 buffers, 100 steps with one change in ten. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#include <unistd.h>

/* All counts but the doors', which tell the ways apart. */
static void check(const char *const argv[], const char *const env[])
{
    static const struct {
        const char *path;
        long long value;
    } expected[] = {{"calls.updates", 800},
                    {"calls.updates_elided", 782},
                    {"calls.updates_forwarded", 18},
                    {"calls.launches", 100},
                    {"calls.allocs", 9},
                    {"calls.allocs_forwarded", 9},
                    {"calls.frees", 9},
                    {"execs.seen", 1}};
    struct t_run with = t_run(T_ON, argv, env);

    T_ASSERT(with.exit_code == 0, "%s: exit code %d\n%s", argv[0], with.exit_code, with.err);
    for (size_t i = 0; i < with.stats.count; i++) {
        const struct t_number *number = &with.stats.numbers[i];
        long long wanted = 0;

        if (strncmp(number->path, "calls.", 6) && strncmp(number->path, "execs.", 6) &&
            strncmp(number->path, "refusals.", 9) && strncmp(number->path, "memory.", 7) &&
            strncmp(number->path, "vmm.", 4))
            continue;
        for (size_t e = 0; e < sizeof(expected) / sizeof(*expected); e++)
            wanted = strcmp(expected[e].path, number->path) ? wanted : expected[e].value;
        T_ASSERT(number->value == wanted, "%s %s: %s is %lld, not %lld", argv[0],
                 argv[1] ? argv[1] : "", number->path, number->value, wanted);
    }
    T_GT(with.stats.count, 30);
    t_run_free(&with);
}

TEST(equal, linked)
{
    char *program = t_build("tests/progs/work_linked");
    const char *const argv[] = {program, NULL};

    check(argv, NULL);
    free(program);
}

TEST(equal, looked_up)
{
    static const char *const modes[] = {"dlopen", "procaddress"};
    char *program = t_build("tests/progs/work");

    for (int i = 0; i < 2; i++) {
        const char *const argv[] = {program, modes[i], NULL};

        check(argv, NULL);
    }
    free(program);
}

TEST(equal, python)
{
    char *program = t_source("tests/apps/ctypes_v1.py");
    const char *const argv[] = {"python3", program, "--steps", "100", "--nodes", "8", NULL};
    /* Python does not free all it has at its end. */
    const char *const env[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};

    if (system("python3 -c 'import ctypes' >/dev/null 2>&1"))
        T_SKIP("there is no Python with ctypes here");
    check(argv, env);
    free(program);
}

TEST(equal, nvcc)
{
    char *program = t_build("apps/saxpy_graph");
    const char *const argv[] = {program, "--steps", "100", "--nodes", "8", NULL};

    if (access(program, X_OK) != 0)
        T_SKIP("built where there is an nvcc");
    check(argv, NULL);
    free(program);
}
