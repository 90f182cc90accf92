/* neighbours.c: other libraries in the process that define, wrap or look up driver functions must
 * work as without us, in front of us and behind us, and must not make a record lie. Each test is a
 * bug that was. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

static struct t_run run(enum t_way way, const char *preload, const char *mode, const char *library)
{
    char *program = t_build("tests/progs/neighbours"), *path = t_build("tests/libs/%s", library);
    const char *const argv[] = {program, mode, path, NULL};
    const char *const env[] = {preload, NULL};
    struct t_run result = t_run(way, argv, preload ? env : NULL);

    T_ASSERT(result.exit_code == 0, "%s: exit code %d\n%s", mode, result.exit_code, result.err);
    free(program);
    free(path);
    return result;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_SANITIZERS() T_SKIP("a sanitizer's runtime must be preloaded first")
#else
#define SKIP_UNDER_SANITIZERS() ((void)0)
#endif

/* run-fake puts us in front of what LD_PRELOAD already names. */
TEST(neighbours, tracer_behind_us)
{
    SKIP_UNDER_SANITIZERS();
    char *tracer = t_build("tests/libs/tracer.so"), *preload = t_format("LD_PRELOAD=%s", tracer);
    static const enum t_way ways[] = {T_BARE, T_ON, T_OBSERVE, T_OFF};

    for (int i = 0; i < 4; i++) {
        struct t_run with = run(ways[i], preload, "plain", "tracer.so");

        T_STR_EQ(with.out, "result 3\ntraced 1 1\n");
        t_run_free(&with);
    }
    free(tracer);
    free(preload);
}

/* A tracer in front of us, whose next definition is ours, must not be ours in turn. */
TEST(neighbours, tracer_in_front_of_us)
{
    SKIP_UNDER_SANITIZERS();
    char *program = t_build("tests/progs/neighbours"), *tracer = t_build("tests/libs/tracer.so");
    char *ours = t_build("libvaremap.so"), *fake = t_build("fakevmm");
    char *preload = t_format("LD_PRELOAD=%s:%s", tracer, ours);
    char *path = t_format("LD_LIBRARY_PATH=%s", fake);
    const char *const argv[] = {program, "plain", NULL};
    const char *const env[] = {preload, path, NULL};
    struct t_run with = t_command(argv, env);

    T_EQ(with.exit_code, 0);
    T_STR_EQ(with.out, "result 3\ntraced 1 1\n");
    t_run_free(&with);
    free(program);
    free(tracer);
    free(ours);
    free(fake);
    free(preload);
    free(path);
}

/* One setter comes to us twice, the second time from inside the first. */
TEST(neighbours, converter_behind_us)
{
    SKIP_UNDER_SANITIZERS();
    char *library = t_build("tests/libs/converter.so"),
         *preload = t_format("LD_PRELOAD=%s", library);
    static const enum t_way ways[] = {T_BARE, T_ON, T_OBSERVE, T_OFF};

    for (int i = 0; i < 4; i++) {
        struct t_run with = run(ways[i], preload, "converted", "converter.so");

        T_STR_EQ(with.out, "result 3\nconverted 1\n");
        t_run_free(&with);
    }
    free(library);
    free(preload);
}

TEST(neighbours, namesake_is_no_driver)
{
    struct t_run bare = run(T_BARE, NULL, "namesake", "namesake.so");
    struct t_run with = run(T_ON, NULL, "namesake", "namesake.so");

    T_STR_EQ(bare.out, "namesake 999\nresult 3\n");
    T_STR_EQ(with.out, bare.out);
    T_GT(t_json_get(&with.stats, "calls.updates_elided", 0), 0);
    t_run_free(&bare);
    t_run_free(&with);
}

/* The update that passes us makes our record old; from the look-up on, everything is forwarded. */
TEST(neighbours, updates_from_behind_us)
{
    struct t_run bare = run(T_BARE, NULL, "behind", "behind.so");
    struct t_run with = run(T_ON, NULL, "behind", "behind.so");

    T_STR_EQ(bare.out, "result 3\n");
    T_STR_EQ(with.out, bare.out);
    t_run_free(&bare);
    t_run_free(&with);
}
