/* doors.c: what the resolvers answer under the library, against what they answer without it. The
 * expectation is the table of driver functions: a hooked function's address becomes ours, of the
 * very same ABI, and everything else stays the driver's. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#define OURS "libvaremap.so"

static const char *const hooked[] = {
#define VR_ENTRY(body, class, symbol, base, since, ptds, params, args) #symbol,
#include "shim/entries.h"
};

static bool is_hooked(const char *symbol)
{
    for (size_t i = 0; i < sizeof(hooked) / sizeof(*hooked); i++) {
        if (!strcmp(hooked[i], symbol))
            return true;
    }
    return false;
}

static struct t_run resolve(enum t_way way, const char *what, const char *const env[])
{
    char *program = t_build("tests/resolver");
    const char *const argv[] = {program, what, NULL};
    struct t_run run = t_run(way, argv, env);

    T_ASSERT(run.exit_code == 0, "exit code %d\n%s", run.exit_code, run.err);
    free(program);
    return run;
}

/* Walks both outputs line by line: "<question> LIBRARY SYMBOL". Returns how many answers are ours.
 */
static int compare(char *bare, char *with)
{
    char *bare_place, *with_place;
    int ours = 0;

    for (char *b = strtok_r(bare, "\n", &bare_place), *w = strtok_r(with, "\n", &with_place);
         b || w; b = strtok_r(NULL, "\n", &bare_place), w = strtok_r(NULL, "\n", &with_place)) {
        char *symbol = b ? strrchr(b, ' ') + 1 : NULL;

        T_ASSERT(b && w, "the outputs differ in length");
        if (!is_hooked(symbol)) {
            T_STR_EQ(w, b);
            continue;
        }
        char expected[512];
        char *library = symbol - 1;

        *library = '\0';
        library = strrchr(b, ' ');
        snprintf(expected, sizeof(expected), "%.*s " OURS " %s", (int)(library - b), b, symbol);
        T_STR_EQ(w, expected);
        ours++;
    }
    return ours;
}

static void compare_ways(enum t_way way, const char *const env[])
{
    struct t_run bare = resolve(T_BARE, NULL, env), with = resolve(way, NULL, env);

    /* Each hooked function is asked for once by dlsym and twice by cuGetProcAddress. */
    T_EQ(compare(bare.out, with.out), 3 * (int)(sizeof(hooked) / sizeof(*hooked)));
    t_run_free(&bare);
    t_run_free(&with);
}

TEST(doors, on)
{
    compare_ways(T_ON, NULL);
}

TEST(doors, observe)
{
    compare_ways(T_OBSERVE, NULL);
}

TEST(doors, off_answers_the_drivers_own_pointers)
{
    struct t_run bare = resolve(T_BARE, NULL, NULL), with = resolve(T_OFF, NULL, NULL);

    T_STR_EQ(with.out, bare.out);
    T_EQ(with.err[0], 0);
    t_run_free(&bare);
    t_run_free(&with);
}

/* A driver that answers other addresses through cuGetProcAddress than through its symbol table. */
TEST(doors, distinct_addresses)
{
    const char *const env[] = {"FAKEVMM_MODEL=gpa=distinct", NULL};
    struct t_run with = resolve(T_ON, NULL, env);
    int ours = 0;

    for (char *line = with.out; (line = strstr(line, " " OURS " ")); line++) {
        char *end = strchr(line, '\n');
        char symbol[128];

        snprintf(symbol, sizeof(symbol), "%.*s", (int)(end - line - strlen(" " OURS " ")),
                 line + strlen(" " OURS " "));
        T_ASSERT(is_hooked(symbol), "%s", symbol);
        ours++;
    }
    T_EQ(ours, 3 * (int)(sizeof(hooked) / sizeof(*hooked)));
    t_run_free(&with);
}

/* With RTLD_DEFAULT and RTLD_NEXT the caller's place in the search order decides: a program finds
 * the preloaded library's hooks first, and for all other names what it finds without us. */
TEST(doors, pseudo_handles)
{
    struct t_run bare = resolve(T_BARE, "default", NULL), with = resolve(T_ON, "default", NULL);
    char *bare_place, *with_place;

    for (char *b = strtok_r(bare.out, "\n", &bare_place),
              *w = strtok_r(with.out, "\n", &with_place);
         b || w; b = strtok_r(NULL, "\n", &bare_place), w = strtok_r(NULL, "\n", &with_place)) {
        char name[128];

        T_ASSERT(b && w, "the outputs differ in length");
        T_EQ(sscanf(w, "%*s %127s", name), 1);
        if (is_hooked(name)) {
            T_STR_HAS(w, " " OURS " ");
            T_STR_EQ(strrchr(w, ' ') + 1, name);
        } else {
            T_STR_EQ(w, b);
        }
    }
    t_run_free(&bare);
    t_run_free(&with);
}

TEST(doors, statistics_count_answers)
{
    struct t_run with = resolve(T_ON, NULL, NULL);

    /* dlsym: every hooked name once, and cuGetProcAddress_v2 once more to begin with. */
    T_EQ(t_json_get(&with.stats, "doors.dlsym", -1),
         (long long)(sizeof(hooked) / sizeof(*hooked)) + 1);
    /* cuGetProcAddress: every hooked ABI twice, and itself twice to begin with. */
    T_EQ(t_json_get(&with.stats, "doors.procaddress", -1),
         2 * (long long)(sizeof(hooked) / sizeof(*hooked)) + 2);
    t_run_free(&with);
}

/* Each name at several versions with each flag and none that is one, with a status pointer and
 * without: result, status and answer are the driver's, except that a hooked function is ours. */
TEST(doors, versions_and_flags)
{
    static const char *const models[] = {"FAKEVMM_MODEL=gpa=same", "FAKEVMM_DRIVER=12040"};

    for (int i = 0; i < 2; i++) {
        const char *const env[] = {models[i], NULL};
        struct t_run bare = resolve(T_BARE, "flags", env), with = resolve(T_ON, "flags", env);

        T_GT(compare(bare.out, with.out), (int)(sizeof(hooked) / sizeof(*hooked)));
        t_run_free(&bare);
        t_run_free(&with);
    }
}

/* The same by dlvsym, with a driver whose functions have a version. The pseudo handles find none:
 * the program is not linked with it, and the preloaded library's have no version. */
TEST(doors, dlvsym)
{
    static const char *const versions[] = {"CUDA_1.0", "CUDA_2.0"};

    for (int i = 0; i < 2; i++) {
        char *program = t_build("tests/resolver"), *folder = t_build("tests/drivers/versioned");
        char *path = t_format("LD_LIBRARY_PATH=%s", folder);
        const char *const argv[] = {"env", path, program, "dlvsym", versions[i], NULL};
        struct t_run bare = t_run(T_BARE, argv, NULL), with = t_run(T_ON, argv, NULL);

        T_EQ(compare(bare.out, with.out), i ? 0 : (int)(sizeof(hooked) / sizeof(*hooked)));
        t_run_free(&bare);
        t_run_free(&with);
        free(program);
        free(folder);
        free(path);
    }
}

/* R14: programs linked before and after glibc 2.34, and libraries that look dlsym up by either
 * version or none, find ours, and nobody finds it under a version that it never had. */
TEST(doors, dlsym_in_every_version)
{
    struct t_run with = resolve(T_ON, "dlsym", NULL), bare = resolve(T_BARE, "dlsym", NULL);
    char *bare_place, *with_place;
    int lines = 0;

    for (char *b = strtok_r(bare.out, "\n", &bare_place),
              *w = strtok_r(with.out, "\n", &with_place);
         b || w; b = strtok_r(NULL, "\n", &bare_place), w = strtok_r(NULL, "\n", &with_place)) {
        char how[32], name[32], expected[128];

        T_ASSERT(b && w, "the outputs differ in length");
        T_EQ(sscanf(w, "%31s %31s", how, name), 2);
        if (strcmp(how, "1.0"))
            snprintf(expected, sizeof(expected), "%s %s " OURS " %s", how, name, name);
        else
            snprintf(expected, sizeof(expected), "1.0 %s none none", name);
        T_STR_EQ(w, expected);
        lines++;
    }
    T_EQ(lines, 13);
    t_run_free(&bare);
    t_run_free(&with);
}
