/* nvcc_programs.c: the sample programs that nvcc compiles, and the one in Python, which all compare
 * their results with the CPU's: bare, observed and with the library at work, with compressed device
 * code and with plain one. They must succeed with the same output in every way, use nothing that is
 * gone (FAKEVMM_STRICT) and leave nothing behind (FAKEVMM_LEAKS). */
#include "tests/unit/vr_test.h"
#include "tests/helpers.h"
#include <unistd.h>

#define WAYS     3  /* of enum t_way: all but switched off */
#define MOST_ARG 12 /* arguments of a program */

static const char *const folders[] = {"apps", "apps/uncompressed"};
static const char *const clean[] = {"FAKEVMM_STRICT=1", "FAKEVMM_LEAKS=1", NULL};
static const char *const strict[] = {"FAKEVMM_STRICT=1", NULL};

/* Runs the program argv[0] of a folder of the build. */
static struct t_run run_program(enum t_way way, const char *folder, const char *const argv[],
                                const char *const env[])
{
    const char *command[MOST_ARG + 1] = {NULL};
    char *path = t_build("%s/%s", folder, argv[0]);

    if (access(path, X_OK) != 0)
        T_SKIP("%s is not built: there is no nvcc here", argv[0]);
    for (size_t i = 0; argv[i] && i < MOST_ARG; i++)
        command[i] = argv[i];
    command[0] = path;
    struct t_run run = t_run(way, command, env);
    free(path);
    return run;
}

static void check_clean(const struct t_run *run, enum t_way way, const char *name)
{
    T_ASSERT(run->exit_code == 0 && !*run->err, "way %d of %s: exit code %d\n%s", (int)way, name,
             run->exit_code, run->err);
}

/* Runs it in all ways; the answer is the bare run of the compressed one. */
static struct t_run check_program(const char *const argv[])
{
    struct t_run first = run_program(T_BARE, folders[0], argv, clean);

    check_clean(&first, T_BARE, argv[0]);
    for (size_t f = 0; f < 2; f++)
        for (enum t_way way = f ? T_BARE : T_OBSERVE; way < WAYS; way++) {
            struct t_run run = run_program(way, folders[f], argv, clean);
            check_clean(&run, way, argv[0]);
            T_STR_EQ(run.out, first.out);
            t_run_free(&run);
        }
    return first;
}

#define PROGRAM(name)                                                                              \
    TEST(nvcc_programs, name)                                                                      \
    {                                                                                              \
        struct t_run run = check_program((const char *const[]){#name, NULL});                      \
        t_run_free(&run);                                                                          \
    }

PROGRAM(reduction)
PROGRAM(scan)
PROGRAM(matmul)
PROGRAM(histogram)
PROGRAM(bitonic_sort)
PROGRAM(while_graph)
PROGRAM(fork_join)
PROGRAM(f16_kernels)
PROGRAM(bf16_kernels)
PROGRAM(grid_sync)
PROGRAM(managed_memory)
PROGRAM(stream_ordered)
PROGRAM(copies)
PROGRAM(symbols)
PROGRAM(virtuals)

/* Both ways to update solve the same system, with one update of theirs in each step. */
TEST(nvcc_programs, jacobi)
{
    struct t_run setters =
        check_program((const char *const[]){"jacobi", "--steps", "30", "--mode", "setters", NULL});
    struct t_run capture =
        check_program((const char *const[]){"jacobi", "--steps", "30", "--mode", "capture", NULL});

    T_STR_EQ(setters.out, capture.out);
    T_EQ(t_line_number(setters.out, "updates"), 30);
    T_EQ(t_kernel_setters(&setters.counts), 30);
    T_EQ(t_kernel_setters(&capture.counts), 0);
    T_EQ(t_json_get(&capture.counts, "cuGraphExecUpdate_v2", 0), 30);
    t_run_free(&setters);
    t_run_free(&capture);
}

/* What the kernels print is compared by the program; here, that it arrives, and only once. */
TEST(nvcc_programs, device_printf)
{
    struct t_run run = check_program((const char *const[]){"device_printf", "--steps", "1", NULL});
    const char *line = strstr(run.out, "no arguments, a percent sign: %\n");

    T_NOT_NULL(line);
    T_NULL(strstr(line + 1, "no arguments"));
    t_run_free(&run);
}

/* The message of an assertion, once, with the thread it failed in. */
static void check_message(const struct t_run *run)
{
    static const char text[] = "block: [0,0,0], thread: [33,0,0] "
                               "Assertion `values[threadIdx.x] < limit` failed.";
    const char *found = strstr(run->err, text);

    T_ASSERT(found, "in: %s", run->err);
    T_NULL(strstr(found + strlen(text), "Assertion"));
    T_ASSERT(strstr(run->err, "tests/apps/device_assert.cu:"), "in: %s", run->err);
    T_ASSERT(strstr(run->err, "check_limits"), "in: %s", run->err);
}

TEST(nvcc_programs, device_assert)
{
    static const char *const modes[] = {"stream", "device", "copy", "event", "graph"};

    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
        for (enum t_way way = T_BARE; way < WAYS; way++) {
            const char *const argv[] = {"device_assert", "--mode", modes[m], NULL};
            struct t_run run = run_program(way, folders[m % 2], argv, strict);
            T_ASSERT(run.exit_code == 0, "way %d, mode %s: exit code %d\n%s", (int)way, modes[m],
                     run.exit_code, run.err);
            check_message(&run);
            t_run_free(&run);
        }
}

TEST(nvcc_programs, assertion_that_holds)
{
    struct t_run run =
        check_program((const char *const[]){"device_assert", "--mode", "none", NULL});

    t_run_free(&run);
}

/* Says more than success: with another seed the results are others. */
TEST(nvcc_programs, results_depend_on_the_seed)
{
    static const char *const names[] = {"reduction", "scan", "bitonic_sort", "fork_join"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const one[] = {names[i], "--seed", "1", NULL};
        const char *const two[] = {names[i], "--seed", "2", NULL};
        struct t_run first = run_program(T_BARE, folders[0], one, strict);
        struct t_run second = run_program(T_BARE, folders[0], two, strict);
        T_EQ(first.exit_code, 0);
        T_EQ(second.exit_code, 0);
        T_ASSERT(strcmp(first.out, second.out) != 0, "%s", first.out);
        t_run_free(&first);
        t_run_free(&second);
    }
}

/* Python itself, not a script that looks for it: the line that it prints, malloc'd. */
static char *find_python(void)
{
    const char *const argv[] = {"python3", "-c",
                                "import ctypes, sys; print('python', sys.executable)", NULL};
    struct t_run run = t_command(argv, NULL);

    if (run.exit_code != 0)
        T_SKIP("there is no python3 with ctypes here");
    char *path = t_line(run.out, "python");
    t_run_free(&run);
    return path;
}

TEST(nvcc_programs, python_ctypes)
{
    /* The interpreter keeps memory until it ends; a leak check would count it. */
    static const char *const environment[] = {"FAKEVMM_STRICT=1", "FAKEVMM_LEAKS=1",
                                              "LSAN_OPTIONS=detect_leaks=0", NULL};
    char *python = find_python(), *program = t_source("tests/apps/ctypes_graph.py");
    const char *const argv[] = {python, program, NULL};
    struct t_run bare = t_run(T_BARE, argv, environment);

    check_clean(&bare, T_BARE, program);
    T_EQ(t_kernel_setters(&bare.counts), 40);
    T_EQ(t_json_get(&bare.counts, "cuGraphLaunch", 0), 20);
    for (enum t_way way = T_OBSERVE; way < WAYS; way++) {
        struct t_run run = t_run(way, argv, environment);
        check_clean(&run, way, program);
        T_STR_EQ(run.out, bare.out);
        t_run_free(&run);
    }
    t_run_free(&bare);
    free(program);
    free(python);
}
