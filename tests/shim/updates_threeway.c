/* updates_threeway.c: programs that update graphs in every way there is, bare, observed, with the
 * library at work and off. Below the library arrives exactly what says something else than the
 * driver holds. */
#include "tests/shim/threeway.h"

#include <unistd.h>

/* Runs it in all ways; `arrive` updates must reach the driver when the library is at work. */
static void check_program(const char *const argv[], long long arrive)
{
    struct t_run runs[MODES];

    run_all(runs, argv);
    T_EQ(updates_arrived(&runs[T_OBSERVE].counts), updates_arrived(&runs[T_BARE].counts));
    T_EQ(updates_arrived(&runs[T_ON].counts), arrive);
    check_all_statistics(runs);
    check_other_calls(&runs[T_BARE].counts, &runs[T_OBSERVE].counts);
    check_off(&runs[T_BARE].counts, &runs[T_OFF].counts);
    free_all(runs);
}

#define RUN(arrive, ...) check_program((const char *const[]){__VA_ARGS__, NULL}, arrive)

/* ---- staged: 4 kernel setters once, then ten copy setters per call ---- */

TEST(updates, staged_same)
{
    RUN(4 + 10, "staged", "--pointers", "same", "--steps", "50");
}

TEST(updates, staged_alternate)
{
    RUN(4 + 10 * 50, "staged", "--pointers", "alternate", "--steps", "50");
}

TEST(updates, staged_fresh)
{
    RUN(4 + 10 * 50, "staged", "--pointers", "fresh", "--steps", "50");
}

/* ---- decode: each node's first setter, then two pointers and a position in each of 32 layers ----
 */

TEST(updates, decode)
{
    RUN(768 + 96 * 39, "decode", "--steps", "40");
}

/* Once in 256 steps a node of each layer changes its grid, and keeps it. */
TEST(updates, decode_grows)
{
    RUN(768 + 96 * 259 + 32, "decode", "--steps", "260");
}

/* ---- scalar: 16 nodes, all different each time; each was sent once before ---- */

TEST(updates, scalar)
{
    RUN(16 + 16 * 60, "scalar", "--steps", "60");
}

/* ---- executable: exactly the setters whose bytes differ, by the program's own book ---- */

static void check_executable(const char *nodes)
{
    const char *const argv[] = {"executable", "--nodes", nodes, "--steps", "20", NULL};

    for (enum t_way way = T_BARE; way <= T_ON; way++) {
        struct t_run run = app(way, argv), bare = app(T_BARE, argv);
        char *sum = t_line(run.out, "checksum"), *bare_sum = t_line(bare.out, "checksum");
        long long arrived = updates_arrived(&run.counts);
        /* A graph of the program's that shares a bucket with the source graph makes records stale.
         */
        long long stale = t_json_get(&run.stats, "refusals.stale", 0);

        T_STR_EQ(sum, bare_sum);
        if (way == T_ON) {
            T_GE(arrived, t_line_number(run.out, "differ"));
            T_LE(arrived, t_line_number(run.out, "differ") + stale);
        } else {
            T_EQ(arrived, t_line_number(run.out, "updates"));
        }
        if (way != T_BARE)
            check_statistics(&run);
        free(sum);
        free(bare_sum);
        t_run_free(&run);
        t_run_free(&bare);
    }
}

TEST(updates, executable_100)
{
    check_executable("100");
}

TEST(updates, executable_500)
{
    check_executable("500");
}

TEST(updates, executable_1000)
{
    check_executable("1000");
}

/* ---- nested: 8 nodes, 40 steps ---- */

/* 8 first ones and 3 others; then, by turns, three that differ and the way back, three that differ
 * (the first time after an even step the node holds another value). */
TEST(updates, nested_several)
{
    RUN(8 + 3 + 20 * (1 + 3 + 1) + 19 * 3, "nested", "--variant", "several");
}

/* Per step: off and on, one setter behind each of them, and one that differs. */
TEST(updates, nested_enabled)
{
    RUN(8 + 40 * (2 + 2 + 1), "nested", "--variant", "enabled");
}

/* Per step the child; and since a node of the source graph is set, which may change what handles
 * mean, one setter of each of nine nodes. */
TEST(updates, nested_child)
{
    RUN(9 + 40 * (1 + 9), "nested", "--variant", "child");
}

/* 8 first ones, and the one for which the driver has an error. */
TEST(updates, nested_source_destroyed)
{
    RUN(8 + 1, "nested", "--variant", "source-destroyed");
}

/* A new exec knows nothing: 8 for each; and one that differs. */
TEST(updates, nested_exec_destroyed)
{
    RUN(8 + 8 + 39 * (1 + 8), "nested", "--variant", "exec-destroyed");
}

/* ---- nothing to do: what arrives is what arrives bare ---- */

static void check_untouched(const char *const argv[])
{
    struct t_run bare = app(T_BARE, argv), on = app(T_ON, argv);

    T_STR_EQ(on.out, bare.out);
    T_EQ(updates_arrived(&on.counts), updates_arrived(&bare.counts));
    check_other_calls(&bare.counts, &on.counts);
    check_statistics(&on);
    T_EQ(t_json_get(&on.stats, "memory.reserved_bytes", -1), 0);
    T_EQ(t_json_get(&on.stats, "vmm.create", -1), 0);
    t_run_free(&bare);
    t_run_free(&on);
}

#define UNTOUCHED(...) check_untouched((const char *const[]){__VA_ARGS__, NULL})

TEST(updates, even_odd)
{
    UNTOUCHED("even_odd");
}

TEST(updates, recapture_keep)
{
    UNTOUCHED("recapture", "--variant", "keep");
}

TEST(updates, recapture_destroy)
{
    UNTOUCHED("recapture", "--variant", "destroy");
}

TEST(updates, recapture_null_info)
{
    UNTOUCHED("recapture", "--variant", "null-info");
}

TEST(updates, recapture_fallback)
{
    UNTOUCHED("recapture", "--variant", "fallback");
}

/* ---- bindings: first symbols, packed arguments in a buffer that is used again ---- */

TEST(updates, ctypes_v1)
{
    if (system("python3 -c 'import ctypes' >/dev/null 2>&1"))
        T_SKIP("there is no Python with ctypes here");
    /* The first of each of 8 nodes, and one in every tenth of 100 steps. */
    RUN(8 + 10, "ctypes_v1.py");
}
