/* memory_queries.c: what a program can find out about memory that the library has placed: results,
 * error codes, answers to queries and free memory are those of the bare run, with learned and with
 * eager backing. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

static const char *const learned[] = {"FAKEVMM_STRICT=1", "FAKEVMM_DEVICES=2",
                                      "FAKEVMM_MEMORY=256M", NULL};
static const char *const eager[] = {"FAKEVMM_STRICT=1",    "FAKEVMM_DEVICES=2",
                                    "FAKEVMM_MEMORY=256M", "VAREMAP_BACKING=eager",
                                    "VAREMAP_MIN_SIZE=1",  NULL};

static struct t_run run(enum t_way way, const char *program, const char *mode,
                        const char *const *env)
{
    char *path = t_build("tests/progs/%s", program);
    const char *const argv[] = {path, mode, NULL};
    struct t_run result = t_run(way, argv, env);

    T_ASSERT(result.exit_code == 0, "%s %s: exit code %d\n%s", program, mode ? mode : "",
             result.exit_code, result.err);
    free(path);
    return result;
}

/* Without memory of ours the comparison would show nothing. */
static void check_placed(const struct t_run *on)
{
    T_GT(t_json_get(&on->stats, "calls.allocs_placed", 0), 0);
    T_GT(t_json_get(&on->stats, "calls.allocs_recycled", 0), 0);
    T_GT(t_json_get(&on->counts, "cuMemMap", 0), 0);
}

/* The same text; the first line that differs is named. */
static void check_same(const char *on, const char *bare)
{
    for (int line = 1; *on || *bare; line++) {
        int length = (int)strcspn(on, "\n"), expected = (int)strcspn(bare, "\n");

        T_ASSERT(length == expected && !memcmp(on, bare, (size_t)length),
                 "line %d: \"%.*s\", bare \"%.*s\"", line, length, on, expected, bare);
        on += length + (on[length] == '\n');
        bare += expected + (bare[expected] == '\n');
    }
}

static void compare(const char *program, const char *mode, const char *const *env)
{
    struct t_run bare = run(T_BARE, program, mode, env), on = run(T_ON, program, mode, env);

    check_same(on.out, bare.out);
    check_same(on.err, bare.err);
    check_placed(&on);
    t_run_free(&bare);
    t_run_free(&on);
}

#define COMPARED(X)                                                                                \
    X(memory, queries)                                                                             \
    X(memory, contents)                                                                            \
    X(memory, frees)                                                                               \
    X(memory, contexts)                                                                            \
    X(memory, allocs)                                                                              \
    X(memory_room, info)                                                                           \
    X(memory_room, fill)                                                                           \
    X(memory_room, export)                                                                         \
    X(memory_room, async)                                                                          \
    X(memory_devices, copy)                                                                        \
    X(memory_devices, late)                                                                        \
    X(memory_devices, own)

#define X(program, mode)                                                                           \
    TEST(program, mode##_learned)                                                                  \
    {                                                                                              \
        compare(#program, #mode, learned);                                                         \
    }                                                                                              \
    TEST(program, mode##_eager)                                                                    \
    {                                                                                              \
        compare(#program, #mode, eager);                                                           \
    }
COMPARED(X)
#undef X

/* Unsafe calls during capture are what these programs are about, so FAKEVMM_STRICT stays out. */
TEST(memory_capture, learned)
{
    const char *const env[] = {"VAREMAP_BACKING=learned", NULL};

    compare("memory_capture", NULL, env);
}

TEST(memory_capture, eager)
{
    const char *const env[] = {"VAREMAP_BACKING=eager", "VAREMAP_MIN_SIZE=1", NULL};

    compare("memory_capture", NULL, env);
}

/* ---- what mapped memory cannot do ---- */

static size_t lines_of(const char *text)
{
    size_t lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* The first request about a size is refused, by the driver; after that, allocations of that size
 * are the driver's and can do what is asked. Bare, nothing is refused. */
static void check_refused_once(const char *mode, const char *refusal, const char *const *env)
{
    struct t_run bare = run(T_BARE, "memory_room", mode, env);
    struct t_run on = run(T_ON, "memory_room", mode, env);
    char *first = t_format("first %s\n", refusal);
    const char *line = on.out;

    T_STR_HAS(bare.out, "first 0\n");
    T_EQ(lines_of(on.out), lines_of(bare.out));
    for (size_t i = 0; i < lines_of(bare.out); i++) {
        const char *expected = i % 3 == 0 ? first : "again 0\n";

        T_ASSERT(!strncmp(line, expected, strlen(expected)), "line %zu of %s", i, on.out);
        line = strchr(line, '\n') + 1;
    }
    T_EQ(lines_of(on.err), 1); /* one warning in all */
    check_placed(&on);
    t_run_free(&bare);
    t_run_free(&on);
    free(first);
}

/* CUDA_ERROR_INVALID_VALUE */
TEST(memory_room, ipc_learned)
{
    check_refused_once("ipc", "1", learned);
}

TEST(memory_room, ipc_eager)
{
    check_refused_once("ipc", "1", eager);
}

/* CUDA_ERROR_NOT_SUPPORTED */
TEST(memory_room, memops_learned)
{
    check_refused_once("memops", "801", learned);
}

TEST(memory_room, memops_eager)
{
    check_refused_once("memops", "801", eager);
}

/* ---- devices ---- */

/* Each device's buffers lie in a range of its own. */
TEST(memory_devices, one_reservation_each)
{
    struct t_run on = run(T_ON, "memory_devices", "own", eager);

    T_EQ(t_json_get(&on.counts, "cuMemAddressReserve", 0), 2);
    t_run_free(&on);
}
