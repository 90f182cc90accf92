/* core_options.c: reading VAREMAP and VAREMAP_*, friendly and hostile (docs/design.md, section 7).
 */
#include "core/options.h"

#include <unistd.h>

#include "tests/unit/vr_test.h"

/* The environment of a test: the values of at most four variables. */
static struct {
    const char *name, *value;
} environment[4];

static const char *get(const char *name)
{
    for (int i = 0; i < 4; i++)
        if (environment[i].name && strcmp(environment[i].name, name) == 0)
            return environment[i].value;
    return NULL;
}

static struct vr_options read_one(const char *name, const char *value)
{
    struct vr_options options;

    environment[0].name = name;
    environment[0].value = value;
    vr_options_read(&options, get, "/usr/bin/program");
    return options;
}

static void expect_problem(const struct vr_options *options, const char *name, const char *value,
                           const char *used)
{
    T_EQ(options->problem_count, 1);
    T_STR_EQ(options->problems[0].name, name);
    T_STR_EQ(options->problems[0].value, value);
    T_STR_EQ(options->problems[0].used, used);
}

TEST(options, defaults)
{
    struct vr_options options = read_one("HOME", "/");

    T_EQ(options.mode, VR_MODE_ON);
    T_EQ(options.excluded, false);
    T_EQ(options.rungs, VR_RUNG_ELIDE | VR_RUNG_RECYCLE);
    T_EQ(options.profile_launches, 3);
    T_EQ(options.backing, VR_BACKING_LEARNED);
    T_EQ(options.reserve, VR_SIZE_AUTO);
    T_EQ(options.min_size, 64 << 10);
    T_EQ(options.keep_bytes, VR_SIZE_AUTO);
    T_EQ(options.free_sync, true);
    T_EQ(options.log, VR_LOG_ERROR);
    T_EQ(options.stats_signal, false);
    T_EQ(options.report, false);
    T_STR_EQ(options.log_file, "");
    T_STR_EQ(options.stats_file, "");
    T_EQ(options.problem_count, 0);
}

TEST(options, modes)
{
    static const struct {
        const char *value;
        enum vr_mode mode;
    } rows[] = {{"on", VR_MODE_ON},   {"1", VR_MODE_ON},  {"true", VR_MODE_ON},
                {"yes", VR_MODE_ON},  {"", VR_MODE_ON},   {"observe", VR_MODE_OBSERVE},
                {"off", VR_MODE_OFF}, {"0", VR_MODE_OFF}, {"false", VR_MODE_OFF},
                {"no", VR_MODE_OFF}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct vr_options options = read_one("VAREMAP", rows[i].value);
        T_ASSERT(options.mode == rows[i].mode, "VAREMAP=%s", rows[i].value);
        T_EQ(options.problem_count, 0);
    }
}

TEST(options, unknown_mode_warns_and_means_off)
{
    static const char *const values[] = {"onn", "2", " on", "on ", "-1", "off\n", "\xff\xfe"};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct vr_options options = read_one("VAREMAP", values[i]);
        T_EQ(options.mode, VR_MODE_OFF);
        expect_problem(&options, "VAREMAP", values[i], "off");
    }
}

TEST(options, rungs)
{
    struct vr_options options = read_one("VAREMAP_RUNGS", "elide");

    T_EQ(options.rungs, VR_RUNG_ELIDE);
    options = read_one("VAREMAP_RUNGS", "none");
    T_EQ(options.rungs, 0);
    T_EQ(options.problem_count, 0);
    T_EQ(read_one("VAREMAP_RUNGS", "recycle").rungs, VR_RUNG_RECYCLE);
    T_EQ(read_one("VAREMAP_RUNGS", "recycle,elide").rungs, VR_RUNG_ELIDE | VR_RUNG_RECYCLE);
    options = read_one("VAREMAP_RUNGS", ",,elide,,elide,");
    T_EQ(options.rungs, VR_RUNG_ELIDE);
    T_EQ(options.problem_count, 0);
    options = read_one("VAREMAP_RUNGS", "elide,warp");
    T_EQ(options.rungs, VR_RUNG_ELIDE);
    T_EQ(options.problem_count, 1);
    options = read_one("VAREMAP_RUNGS", "elid,elidex");
    T_EQ(options.rungs, 0);
    expect_problem(&options, "VAREMAP_RUNGS", "elid,elidex", "none");
}

TEST(options, launches)
{
    static const char *const bad[] = {"1",         "0",   "1001", "-3",
                                      "+3",        "3 ",  " 3",   "3x",
                                      "0x3",       "3.0", "abc",  "99999999999999999999",
                                      "4294967299"};

    T_EQ(read_one("VAREMAP_PROFILE_LAUNCHES", "2").profile_launches, 2);
    T_EQ(read_one("VAREMAP_PROFILE_LAUNCHES", "1000").profile_launches, 1000);
    T_EQ(read_one("VAREMAP_PROFILE_LAUNCHES", "").profile_launches, 3);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct vr_options options = read_one("VAREMAP_PROFILE_LAUNCHES", bad[i]);
        T_EQ(options.profile_launches, 3);
        expect_problem(&options, "VAREMAP_PROFILE_LAUNCHES", bad[i], "3");
    }
}

TEST(options, backing)
{
    struct vr_options options = read_one("VAREMAP_BACKING", "eager");

    T_EQ(options.backing, VR_BACKING_EAGER);
    T_EQ(read_one("VAREMAP_BACKING", "off").backing, VR_BACKING_OFF);
    T_EQ(read_one("VAREMAP_BACKING", "learned").backing, VR_BACKING_LEARNED);
    options = read_one("VAREMAP_BACKING", "Eager");
    T_EQ(options.backing, VR_BACKING_LEARNED);
    expect_problem(&options, "VAREMAP_BACKING", "Eager", "learned");
    T_EQ(read_one("VAREMAP_FREE_SYNC", "0").free_sync, false);
}

TEST(options, sizes)
{
    static const struct {
        const char *value;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"1", 1},
                {"4096", 4096},
                {"64K", 65536},
                {"007M", 7 << 20},
                {"3G", (uint64_t)3 << 30},
                {"17179869183G", (uint64_t)17179869183u << 30},
                {"18446744073709551614", UINT64_MAX - 1}};
    static const char *const bad[] = {"K",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1k",
                                      "1KB",
                                      "1.5G",
                                      "0x10",
                                      "Auto",
                                      "auto ",
                                      "1KK",
                                      "1T",
                                      "1,000",
                                      "17179869184G",
                                      "18446744073709551615",
                                      "99999999999999999999999"};

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct vr_options options = read_one("VAREMAP_RESERVE", good[i].value);
        T_ASSERT(options.reserve == good[i].bytes, "%s", good[i].value);
        T_EQ(options.problem_count, 0);
        T_EQ(read_one("VAREMAP_MIN_SIZE", good[i].value).min_size, good[i].bytes);
        T_EQ(read_one("VAREMAP_KEEP_BYTES", good[i].value).keep_bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct vr_options options = read_one("VAREMAP_KEEP_BYTES", bad[i]);
        T_ASSERT(options.keep_bytes == VR_SIZE_AUTO, "%s", bad[i]);
        expect_problem(&options, "VAREMAP_KEEP_BYTES", bad[i], "auto");
        options = read_one("VAREMAP_MIN_SIZE", bad[i]);
        T_EQ(options.min_size, 64 << 10);
        expect_problem(&options, "VAREMAP_MIN_SIZE", bad[i], "64K");
    }
    T_EQ(read_one("VAREMAP_KEEP_BYTES", "auto").problem_count, 0);
    T_EQ(read_one("VAREMAP_RESERVE", "auto").problem_count, 0);
    T_EQ(read_one("VAREMAP_MIN_SIZE", "auto").problem_count, 1);
}

TEST(options, log_level_and_switches)
{
    struct vr_options options = read_one("VAREMAP_LOG", "debug");

    T_EQ(options.log, VR_LOG_DEBUG);
    options = read_one("VAREMAP_LOG", "loud");
    T_EQ(options.log, VR_LOG_ERROR);
    expect_problem(&options, "VAREMAP_LOG", "loud", "error");
    T_EQ(read_one("VAREMAP_REPORT", "1").report, true);
    T_EQ(read_one("VAREMAP_STATS_SIGNAL", "1").stats_signal, true);
    T_EQ(read_one("VAREMAP_STATS_SIGNAL", "0").stats_signal, false);
    options = read_one("VAREMAP_REPORT", "2");
    T_EQ(options.report, false);
    expect_problem(&options, "VAREMAP_REPORT", "2", "0");
}

TEST(options, files_and_over_long_values)
{
    static char value[100000];
    struct vr_options options = read_one("VAREMAP_STATS", "/tmp/%h.%p.json");

    T_STR_EQ(options.stats_file, "/tmp/%h.%p.json");
    memset(value, 'a', sizeof value - 1);
    options = read_one("VAREMAP_STATS", value);
    T_STR_EQ(options.stats_file, "");
    T_EQ(options.problem_count, 1);
    T_STR_EQ(options.problems[0].used, "none");
    T_LT(strlen(options.problems[0].value), sizeof options.problems[0].value);
    options = read_one("VAREMAP_LOG_FILE", value);
    T_STR_EQ(options.log_file, "");
    T_EQ(options.problem_count, 1);
    value[VR_PATH_BYTES] = '\0';
    T_EQ(read_one("VAREMAP_LOG_FILE", value).problem_count, 1);
    value[VR_PATH_BYTES - 1] = '\0';
    T_STR_EQ(read_one("VAREMAP_LOG_FILE", value).log_file, value);
    memset(value, 'b', sizeof value - 1);
    T_EQ(read_one("VAREMAP", value).mode, VR_MODE_OFF);
    T_EQ(read_one("VAREMAP_PROFILE_LAUNCHES", value).profile_launches, 3);
    T_EQ(read_one("VAREMAP_RUNGS", value).rungs, 0);
}

TEST(options, programs)
{
    T_EQ(read_one("VAREMAP_SKIP", "bash,program").mode, VR_MODE_OFF);
    T_EQ(read_one("VAREMAP_SKIP", "bash,program").excluded, true);
    T_EQ(read_one("VAREMAP_SKIP", "bash,programs,pro").mode, VR_MODE_ON);
    T_EQ(read_one("VAREMAP_SKIP", ",").mode, VR_MODE_ON);
    T_EQ(read_one("VAREMAP_ONLY", "bash,program").mode, VR_MODE_ON);
    T_EQ(read_one("VAREMAP_ONLY", "bash").mode, VR_MODE_OFF);
    T_EQ(read_one("VAREMAP_ONLY", "").mode, VR_MODE_ON);
}

TEST(options, exclusion_overrules_the_mode)
{
    environment[1].name = "VAREMAP";
    environment[1].value = "on";
    T_EQ(read_one("VAREMAP_ONLY", "other").mode, VR_MODE_OFF);
    environment[1].value = "observe";
    T_EQ(read_one("VAREMAP_ONLY", "program").mode, VR_MODE_OBSERVE);
    environment[1].value = "off";
    T_EQ(read_one("VAREMAP_ONLY", "program").mode, VR_MODE_OFF);
}

TEST(options, program_name_unknown)
{
    struct vr_options options;

    environment[0].name = "VAREMAP_ONLY";
    environment[0].value = "program";
    vr_options_read(&options, get, NULL);
    T_EQ(options.mode, VR_MODE_OFF);
    environment[0].name = "VAREMAP_SKIP";
    vr_options_read(&options, get, NULL);
    T_EQ(options.mode, VR_MODE_ON);
}

TEST(options, every_row_is_documented)
{
    size_t count;
    const struct vr_option *rows = vr_options_table(&count);

    T_EQ(count, 15);
    for (size_t i = 0; i < count; i++) {
        T_ASSERT(strncmp(rows[i].name, "VAREMAP", 7) == 0);
        T_ASSERT(rows[i].type[0] && rows[i].fallback[0] && rows[i].help[0], "%s", rows[i].name);
        T_LE(rows[i].low, rows[i].high);
    }
}

/* One line each, at every level, naming variable, value and what is used instead. */
TEST(options, warnings)
{
    char text[4096] = "", path[] = "/tmp/vr-options-XXXXXX";
    struct vr_options options;
    struct vr_log log;
    int fd = mkstemp(path);

    environment[1].name = "VAREMAP_LOG";
    environment[1].value = "lo\nud";
    options = read_one("VAREMAP", "maybe");
    vr_log_init(&log, VR_LOG_ERROR, path);
    vr_options_warn(&options, &log);
    T_GT(read(fd, text, sizeof text - 1), 0);
    unlink(path);
    T_STR_HAS(text, "warn: VAREMAP=maybe is not understood: using off\n");
    T_STR_HAS(text, "warn: VAREMAP_LOG=lo?ud is not understood: using error\n");
    T_PTR_EQ(strchr(strchr(text, '\n') + 1, '\n'), text + strlen(text) - 1);
}
