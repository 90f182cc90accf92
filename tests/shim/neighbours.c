/* neighbours.c: the library beside others that override dlsym or malloc, in front of it and behind
 * it, and beside one that it does not see. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_UNDER_SANITIZERS() T_SKIP("a sanitizer's runtime must be preloaded first")
#else
#define SKIP_UNDER_SANITIZERS() ((void)0)
#endif

/* What LD_PRELOAD says, in order; "" is left out. */
static char *preload(const char *first, const char *second, const char *third)
{
    const char *const names[] = {first, second, third};
    char *list = t_format("LD_PRELOAD=");

    for (int i = 0; i < 3; i++) {
        char *path = !strcmp(names[i], "ours") ? t_build("libvaremap.so")
                                               : t_build("tests/libs/%s.so", names[i]);
        char *longer = t_format("%s%s%s", list, i && *names[i] ? ":" : "", *names[i] ? path : "");

        free(path);
        free(list);
        list = longer;
    }
    return list;
}

/* Runs a program with that preloaded, on the fake GPU, statistics in a file; NULL-terminated words.
 */
static struct t_run run(char *preloaded, const char *program, const char *mode, const char *more)
{
    char *path = t_build("tests/progs/%s", program);
    const char *const argv[] = {"env", preloaded, path, mode, more, NULL};
    struct t_run result = t_run(T_BARE, argv, NULL);

    T_ASSERT(result.exit_code == 0, "%s %s %s: %d\n%s", preloaded, program, mode, result.exit_code,
             result.err);
    free(path);
    return result;
}

static const struct {
    const char *program, *mode;
} works[] = {{"work", "dlopen"}, {"work", "procaddress"}, {"work_linked", "linked"}};

/* Each order of the libraries sees all updates, each library is in the chain, the result is the
 * same. */
static void each_order(const char *const orders[][3], int count, const char *said, bool linked_too)
{
    for (int i = 0; i < count; i++) {
        for (int w = 0; w < 2 + linked_too; w++) {
            char *preloaded = preload(orders[i][0], orders[i][1], orders[i][2]);
            struct t_run with = run(preloaded, works[w].program, works[w].mode, NULL);

            T_STR_EQ(with.out, "result 3000837307346\n");
            T_EQ(t_json_get(&with.stats, "calls.updates", -1), 800);
            T_EQ(t_json_get(&with.stats, "calls.updates_elided", -1), 782);
            if (strcmp(works[w].mode, "procaddress"))
                T_STR_EQ(with.err, said);
            t_run_free(&with);
            free(preloaded);
        }
    }
}

/* R12, and what it takes to be found by the version of dlsym. */
TEST(neighbours, another_override_of_dlsym)
{
    static const char *const orders[][3] = {{"ours", "overrider", ""}, {"overrider", "ours", ""}};

    SKIP_UNDER_SANITIZERS();
    each_order(orders, 2, "overridden\n", false);
}

/* R9: in each order RTLD_NEXT finds the next malloc for the allocator, though its first look-up
 * comes before libc has started. (Behind the overrider, whose dlsym is no tail jump, it would find
 * itself without us too.) */
TEST(neighbours, an_allocator_that_looks_up_in_malloc)
{
    static const char *const orders[][3] = {{"ours", "allocator", ""},
                                            {"allocator", "ours", ""},
                                            {"allocator", "overrider", "ours"},
                                            {"allocator", "ours", "overrider"}};

    SKIP_UNDER_SANITIZERS();
    each_order(orders, 2, "allocations\n", true);
    each_order(orders + 2, 2, "allocations\noverridden\n", false);
}

/* R17: a library that is not seen has right results from the execs it owns, and the program's are
 * right and still answered. */
TEST(neighbours, a_library_opened_with_deepbind)
{
    SKIP_UNDER_SANITIZERS();
    char *library = t_build("tests/libs/apart.so"), *nothing = preload("", "", "");
    char *ours = preload("ours", "", "");
    struct t_run bare = run(nothing, "neighbours", "apart", library);
    struct t_run with = run(ours, "neighbours", "apart", library);

    T_STR_EQ(bare.out, "apart 11 12 13 13 result 3\n");
    T_STR_EQ(with.out, bare.out);
    T_EQ(t_json_get(&with.stats, "calls.updates", -1), 4);
    T_EQ(t_json_get(&with.stats, "calls.updates_elided", -1), 2);
    t_run_free(&bare);
    t_run_free(&with);
    free(library);
    free(nothing);
    free(ours);
}

/* Look-ups of names that begin as the driver's do are their libraries' (R7). */
TEST(neighbours, names_that_begin_alike)
{
    SKIP_UNDER_SANITIZERS();
    char *library = t_build("tests/libs/alike.so"), *ours = preload("ours", "", "");
    struct t_run with = run(ours, "neighbours", "alike", library);

    T_STR_EQ(with.out, "alike 1 2 3 4 result 3\n");
    T_EQ(t_json_get(&with.stats, "calls.updates_elided", -1), 2);
    t_run_free(&with);
    free(library);
    free(ours);
}
