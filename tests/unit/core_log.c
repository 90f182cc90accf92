/* core_log.c: the formatter, writing, log lines and file names. */
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/text.h"
#include "tests/unit/vr_test.h"

/* ---- the formatter ---- */

#define EXPECT_FORMAT(expected, ...)                                                               \
    do {                                                                                           \
        char buffer_[256];                                                                         \
        struct vr_text text_ = vr_text_over(buffer_, sizeof buffer_ - 1, -1);                      \
        vr_text_format(&text_, __VA_ARGS__);                                                       \
        buffer_[text_.used] = '\0';                                                                \
        T_STR_EQ(buffer_, expected);                                                               \
        T_ASSERT(!text_.failed);                                                                   \
    } while (0)

TEST(text, conversions)
{
    EXPECT_FORMAT("plain", "plain");
    EXPECT_FORMAT("a b c", "a %s %c", "b", 'c');
    EXPECT_FORMAT("0 -1 2147483647 -2147483648", "%d %d %d %d", 0, -1, 2147483647, -2147483647 - 1);
    EXPECT_FORMAT("4294967295 ffffffff 0", "%u %x %u", 4294967295u, 4294967295u, 0u);
    EXPECT_FORMAT("18446744073709551615 ffffffffffffffff", "%llu %llx", ~0ull, ~0ull);
    EXPECT_FORMAT("7 0x1f", "%zu %p", (size_t)7, (void *)0x1f);
    EXPECT_FORMAT("100%", "%d%%", 100);
}

TEST(text, null_string)
{
    const char *volatile nothing = NULL;

    EXPECT_FORMAT("(null)", "%s", nothing);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
TEST(text, unknown_conversion_ends_the_text)
{
    EXPECT_FORMAT("1 %y %s", "%d %y %s", 1, 2, "x");
    EXPECT_FORMAT("%", "%");
}
#pragma GCC diagnostic pop

TEST(text, cut_off_is_remembered)
{
    char buffer[4];
    struct vr_text text = vr_text_over(buffer, sizeof buffer, -1);

    vr_text_put(&text, "1234");
    T_ASSERT(!text.failed);
    vr_text_put(&text, "5");
    T_ASSERT(text.failed);
    T_EQ(text.used, 4);
    T_MEM_EQ(buffer, "1234", 4);
}

TEST(text, flushes_when_full)
{
    char buffer[3], read_back[64] = "";
    int ends[2];
    struct vr_text text;

    T_EQ(pipe(ends), 0);
    text = vr_text_over(buffer, sizeof buffer, ends[1]);
    vr_text_put(&text, "a text longer than its buffer");
    T_ASSERT(vr_text_flush(&text));
    T_EQ(read(ends[0], read_back, sizeof read_back), 29);
    T_STR_EQ(read_back, "a text longer than its buffer");
}

TEST(text, json_strings)
{
    char buffer[128];
    struct vr_text text = vr_text_over(buffer, sizeof buffer - 1, -1);

    vr_text_json(&text, "a\"b\\c\nd\x01\x7f\xc3\xa9");
    buffer[text.used] = '\0';
    T_STR_EQ(buffer, "\"a\\\"b\\\\c\\u000ad\\u0001\\u007f\\u00c3\\u00a9\"");
}

/* ---- writing ---- */

TEST(text, closed_pipe_raises_no_signal)
{
    int ends[2];
    sigset_t pending;

    T_EQ(pipe(ends), 0);
    close(ends[0]);
    errno = 1234;
    T_ASSERT(!vr_write_all(ends[1], "x", 1));
    T_EQ(errno, 1234);
    sigpending(&pending);
    T_EQ(sigismember(&pending, SIGPIPE), 0);
}

TEST(text, closed_pipe_leaves_the_applications_signal)
{
    int ends[2];
    sigset_t pipe_only, pending;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_only, NULL);
    raise(SIGPIPE);
    T_EQ(pipe(ends), 0);
    close(ends[0]);
    T_ASSERT(!vr_write_all(ends[1], "x", 1));
    sigpending(&pending);
    T_EQ(sigismember(&pending, SIGPIPE), 1);
}

TEST(text, bad_descriptor)
{
    errno = 7;
    T_ASSERT(!vr_write_all(-1, "x", 1));
    T_EQ(errno, 7);
}

/* ---- lines ---- */

static char path[] = "/tmp/vr-log-XXXXXX";
static struct vr_log a_log;

static void begin(enum vr_log_level level)
{
    int fd = mkstemp(path);

    T_GE(fd, 0);
    close(fd);
    vr_log_init(&a_log, level, path);
}

static const char *lines(void)
{
    static char text[1 << 20];
    int fd = open(path, O_RDONLY);
    ssize_t length = read(fd, text, sizeof text - 1);

    close(fd);
    unlink(path);
    T_GE(length, 0);
    text[length] = '\0';
    return text;
}

static int count_lines(const char *text)
{
    int count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

TEST(log, shape_of_a_line)
{
    char expected[128];

    begin(VR_LOG_DEBUG);
    vr_log(&a_log, VR_LOG_WARN, "%s is %d", "x", 3);
    snprintf(expected, sizeof expected, "varemap[%d]: warn: x is 3\n", (int)getpid());
    T_STR_EQ(lines(), expected);
}

TEST(log, levels)
{
    const char *text;

    begin(VR_LOG_WARN);
    vr_log(&a_log, VR_LOG_ERROR, "one");
    vr_log(&a_log, VR_LOG_WARN, "two");
    vr_log(&a_log, VR_LOG_INFO, "three");
    vr_log(&a_log, VR_LOG_DEBUG, "four");
    text = lines();
    T_STR_HAS(text, "error: one\n");
    T_STR_HAS(text, "warn: two\n");
    T_EQ(count_lines(text), 2);
}

TEST(log, arguments_are_not_looked_at_below_the_level)
{
    int looked = 0;

    begin(VR_LOG_ERROR);
    vr_log(&a_log, VR_LOG_INFO, "%d", looked++);
    T_EQ(looked, 0);
    T_EQ(count_lines(lines()), 0);
}

TEST(log, no_file_before_the_first_line)
{
    begin(VR_LOG_ERROR);
    unlink(path);
    vr_log(&a_log, VR_LOG_INFO, "quiet");
    T_NE(access(path, F_OK), 0);
    vr_log(&a_log, VR_LOG_ERROR, "loud");
    T_EQ(count_lines(lines()), 1);
}

TEST(log, one_line_whatever_is_in_it)
{
    begin(VR_LOG_ERROR);
    vr_log(&a_log, VR_LOG_ERROR, "a%sb", "\n\x1b[31m\r");
    T_STR_HAS(lines(), "error: a??[31m?b\n");
}

TEST(log, long_lines_are_cut)
{
    static char word[5000];
    const char *text;

    begin(VR_LOG_ERROR);
    memset(word, 'w', sizeof word - 1);
    vr_log(&a_log, VR_LOG_ERROR, "%s", word);
    text = lines();
    T_EQ(count_lines(text), 1);
    T_EQ(strlen(text), VR_LOG_LINE);
    T_STR_EQ(text + VR_LOG_LINE - 5, "w...\n");
}

/* The rest comes through again in another second, and says how many lines are missing. */
TEST(log, rate_is_capped_and_the_loss_told)
{
    const char *text;
    int count;

    begin(VR_LOG_ERROR);
    for (int i = 0; i < 10 * VR_LOG_LINES_PER_SECOND; i++)
        vr_log(&a_log, VR_LOG_ERROR, "line");
    T_GT(a_log.dropped, 0);
    vr_log_always(&a_log, "last");
    text = lines();
    count = count_lines(text);
    T_LT(count, 10 * VR_LOG_LINES_PER_SECOND);
    T_STR_HAS(text, " lines dropped) last\n");
    T_EQ(a_log.dropped, 0);
}

TEST(log, once_per_reason)
{
    begin(VR_LOG_INFO);
    T_ASSERT(vr_log_first(&a_log, VR_LOG_INFO, 5));
    T_ASSERT(!vr_log_first(&a_log, VR_LOG_INFO, 5));
    T_ASSERT(vr_log_first(&a_log, VR_LOG_INFO, 63));
    T_ASSERT(!vr_log_first(&a_log, VR_LOG_DEBUG, 6));
    unlink(path);
}

TEST(log, errno_is_kept)
{
    begin(VR_LOG_ERROR);
    errno = 4321;
    vr_log(&a_log, VR_LOG_ERROR, "x");
    T_EQ(errno, 4321);
    unlink(path);
}

TEST(log, file_that_cannot_be_opened_means_stderr)
{
    char text[128] = "";
    int ends[2];

    T_EQ(pipe(ends), 0);
    int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    vr_log_init(&a_log, VR_LOG_ERROR, "/nonexistent/directory/file");
    vr_log(&a_log, VR_LOG_ERROR, "here");
    dup2(before, STDERR_FILENO);
    T_GT(read(ends[0], text, sizeof text - 1), 0);
    T_STR_HAS(text, "error: here\n");
}

/* ---- file names ---- */

TEST(path, expansion)
{
    char out[512], expected[512];
    struct utsname host;

    T_EQ(uname(&host), 0);
    T_ASSERT(vr_path_expand(out, sizeof out, "/tmp/%h-%p-%p.json"));
    snprintf(expected, sizeof expected, "/tmp/%s-%d-%d.json", host.nodename, (int)getpid(),
             (int)getpid());
    T_STR_EQ(out, expected);
    T_ASSERT(vr_path_expand(out, sizeof out, "100%% %d %"));
    T_STR_EQ(out, "100% %d %");
    T_ASSERT(vr_path_expand(out, sizeof out, ""));
    T_STR_EQ(out, "");
}

TEST(path, result_that_does_not_fit)
{
    char out[8] = "before";

    T_ASSERT(vr_path_expand(out, sizeof out, "1234567"));
    T_STR_EQ(out, "1234567");
    T_ASSERT(!vr_path_expand(out, sizeof out, "12345678"));
    T_STR_EQ(out, "");
    T_ASSERT(!vr_path_expand(out, sizeof out, "123456%%%h"));
}
