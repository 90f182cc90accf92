/* hostile.c: every variable with values that nobody means: the program's result is the same,
 * nothing crashes, and there is one warning at most for each variable. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

static const char *const values[] = {
    "-1",
    "99999999999999999999999999",
    "\x01\xff\x80\x1b[31m\n%s%n%d",
    "on,off,,,elide\r",
    " ",
    "%p%h%%%q%n",
    "../../../../../../..",
};

static void check(const struct t_run *with, const char *setting, int warnings)
{
    int lines = 0;

    T_ASSERT(with->exit_code == 0, "%s: exit code %d\n%s", setting, with->exit_code, with->err);
    T_STR_EQ(with->out, "result 3000837307346\n");
    for (const char *line = with->err; (line = strchr(line, '\n')); line++)
        lines++;
    T_ASSERT(lines <= warnings, "%s: %s", setting, with->err);
    for (const char *c = with->err; *c; c++)
        T_ASSERT(*c == '\n' || (*c >= ' ' && *c != 0x7f) || (unsigned char)*c >= 0x80,
                 "%s: control character %d", setting, *c);
}

static char *variables[32];
static int variable_count;

static void free_names(void)
{
    while (variable_count)
        free(variables[--variable_count]);
}

/* The names in the table of options. */
static void read_names(void)
{
    char *file = t_source("core/options.c");
    const char *const argv[] = {"grep", "-oE", "\"VAREMAP[A-Z_]*\"", file, NULL};
    struct t_run names = t_command(argv, NULL);
    char *place;

    for (char *name = strtok_r(names.out, "\"\n", &place); name;
         name = strtok_r(NULL, "\"\n", &place))
        variables[variable_count++] = strdup(name);
    T_GE(variable_count, 15);
    t_run_free(&names);
    free(file);
}

static void one_by_one(const char *value)
{
    char *program = t_build("tests/progs/work_linked");

    read_names();
    for (int i = 0; i < variable_count; i++) {
        char *setting = t_format("%s=%s", variables[i], value);
        const char *const argv[] = {"env", "-C", t_temp(), setting, program, NULL};
        struct t_run with = t_run(T_ON, argv, NULL);

        check(&with, setting, 1);
        t_run_free(&with);
        free(setting);
    }
    free_names();
    free(program);
}

TEST(hostile, one_variable_at_a_time)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        one_by_one(values[i]);
}

/* `NAME=value` for every name, into `argv` from `count` on; the new count. */
static int add_settings(const char *argv[], int count, const char *value)
{
    for (int i = 0; i < variable_count; i++)
        argv[count++] = t_format("%s=%s", variables[i], value);
    return count;
}

static void free_settings(const char *argv[], int first)
{
    for (int i = first; i < first + variable_count; i++)
        free((char *)argv[i]);
    free_names();
}

/* Longer than any path and any line. */
TEST(hostile, long_values)
{
    char *value = malloc(100001);

    memset(value, 'a', 100000);
    value[100000] = '\0';
    one_by_one(value);
    free(value);
}

TEST(hostile, empty_means_unset)
{
    char *program = t_build("tests/progs/work_linked");
    const char *argv[40] = {"env"};
    int count = 1;

    read_names();
    count = add_settings(argv, count, "");
    argv[count++] = "VAREMAP=on";
    argv[count++] = program;
    struct t_run with = t_run(T_ON, argv, NULL);
    check(&with, "all empty", 0);
    t_run_free(&with);
    free_settings(argv, 1);
    free(program);
}

TEST(hostile, all_at_once)
{
    for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
        char *program = t_build("tests/progs/work_linked");
        const char *argv[40] = {"env", "-C", t_temp()};
        int count = 3;

        read_names();
        count = add_settings(argv, count, values[v]);
        argv[count++] = "VAREMAP=on";
        argv[count++] = program;
        struct t_run with = t_run(T_ON, argv, NULL);
        check(&with, values[v], variable_count);
        t_run_free(&with);
        free_settings(argv, 3);
        free(program);
    }
}

/* Twice in the environment: the first counts, as it does for getenv. */
TEST(hostile, a_variable_twice)
{
    char *program = t_build("tests/progs/twice"), *work = t_build("tests/progs/work_linked");
    const char *const off[] = {program, "VAREMAP=off", "VAREMAP=on", work, NULL};
    const char *const on[] = {program, "VAREMAP=on", "VAREMAP=off", work, NULL};
    struct t_run first_off = t_run(T_ON, off, NULL), first_on = t_run(T_ON, on, NULL);

    check(&first_off, "off, on", 0);
    check(&first_on, "on, off", 0);
    T_EQ(first_off.stats.count, 0);
    T_EQ(t_json_get(&first_on.stats, "calls.updates", -1), 800);
    t_run_free(&first_off);
    t_run_free(&first_on);
    free(program);
    free(work);
}
