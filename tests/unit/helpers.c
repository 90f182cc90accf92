/* helpers.c: tests of the tests' own helpers: a reader that overlooks a number, or a runner that
 * overlooks a failure, would let every other test pass. */
#define _GNU_SOURCE
#include "tests/unit/vr_test.h"
#include "tests/helpers.h"
#include <signal.h>
#include <unistd.h>

static struct t_json read_text(const char *text)
{
    char *path = t_format("%s/text.json", t_temp());
    FILE *file = fopen(path, "w");

    T_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
    struct t_json json = t_json_read(path);
    free(path);
    return json;
}

TEST(helpers, json)
{
    struct t_json json =
        read_text("{\"cuInit\": 1, \"calls\": {\"updates\" :12800,\n"
                  "\"deep\":{\"x\":-3}}, \"word\":\"a \\\"b\\\", {\", \"list\":[1,{}],"
                  " \"share\": 0.25, \"none\": null, \"last\":9000000000 }\n");

    T_EQ(t_json_get(&json, "cuInit", -1), 1);
    T_EQ(t_json_get(&json, "calls.updates", -1), 12800);
    T_EQ(t_json_get(&json, "calls.deep.x", -1), -3);
    T_EQ(t_json_get(&json, "last", -1), 9000000000);
    T_EQ(t_json_get(&json, "updates", -1), -1);
    T_EQ(t_json_get(&json, "share", -1), -1);
    t_json_free(&json);
    json = read_text("{}");
    T_EQ(json.count, 0);
    t_json_free(&json);
}

TEST(helpers, setters_of_both_forms)
{
    struct t_json json = read_text("{\"cuGraphExecKernelNodeSetParams\": 3, "
                                   "\"cuGraphExecKernelNodeSetParams_v2\": 40}");

    T_EQ(t_kernel_setters(&json), 43);
    t_json_free(&json);
}

TEST(helpers, command)
{
    const char *const argv[] = {"sh", "-c", "echo out $T_WORD; echo err >&2; exit 7", NULL};
    const char *const env[] = {"T_WORD=given", NULL};
    struct t_run run = t_command(argv, env);

    T_EQ(run.exit_code, 7);
    T_STR_EQ(run.out, "out given\n");
    T_STR_EQ(run.err, "err\n");
    T_NULL(getenv("T_WORD"));
    t_run_free(&run);
}

TEST(helpers, command_killed)
{
    const char *const argv[] = {"sh", "-c", "kill -SEGV $$", NULL};
    struct t_run run = t_command(argv, NULL);

    T_EQ(run.exit_code, 128 + SIGSEGV);
    t_run_free(&run);
}

TEST(helpers, command_missing)
{
    const char *const argv[] = {"/nowhere/program", NULL};
    struct t_run run = t_command(argv, NULL);

    T_EQ(run.exit_code, 127);
    T_STR_HAS(run.err, "/nowhere/program");
    t_run_free(&run);
}

TEST(helpers, lines)
{
    const char *text = "updates 12\nlaunches 3\nchecksum 00ff\n";
    char *checksum = t_line(text, "checksum");

    T_STR_EQ(checksum, "00ff");
    T_EQ(t_line_number(text, "updates"), 12);
    T_EQ(t_line_number(text, "launches"), 3);
    free(checksum);
}
