/* vr_test_plain.h: the part of vr_test.h that takes Criterion's place under -DVR_PLAIN_MAIN: a list
 * of tests filled by constructors, a main that runs each in a child of its own, skipping and
 * failing. Included by vr_test.h only. */
#ifndef VR_TEST_PLAIN_H
#define VR_TEST_PLAIN_H

#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

/* How a test's process tells its parent that it was skipped; failures exit with 1. */
#define VR_TEST_SKIPPED 77

__attribute__((noreturn, format(printf, 5, 6), unused)) static void
vr_test_end(int status, const char *what, const char *file, int line, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "%s:%d: %s: ", file, line, what);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    /* Not exit(): other threads of the test may be running, and a leak report would hide the cause.
     */
    _exit(status);
}

#define T_SKIP(...) vr_test_end(VR_TEST_SKIPPED, "skipped", __FILE__, __LINE__, __VA_ARGS__)
#define T_FAIL(...) vr_test_end(1, "failed", __FILE__, __LINE__, __VA_ARGS__)

#ifndef VR_TEST_ASSERTIONS_ONLY

struct vr_test {
    const char *suite, *name;
    void (*run)(void);
    struct vr_test *next;
};

static struct vr_test *vr_test_list;

/* Appends, so that tests run in the order of the file. */
static void vr_test_add(struct vr_test *test)
{
    struct vr_test **end = &vr_test_list;

    while (*end)
        end = &(*end)->next;
    *end = test;
}

#define TEST(suite_, name_)                                                                        \
    static void vr_test_run_##suite_##_##name_(void);                                              \
    __attribute__((constructor)) static void vr_test_add_##suite_##_##name_(void)                  \
    {                                                                                              \
        static struct vr_test test = {#suite_, #name_, vr_test_run_##suite_##_##name_, NULL};      \
        vr_test_add(&test);                                                                        \
    }                                                                                              \
    static void vr_test_run_##suite_##_##name_(void)

static int vr_test_fork(const struct vr_test *test)
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(VR_TEST_SECONDS);
        test->run();
        exit(0); /* exit handlers run: sanitizers report leaks there */
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;

    for (const struct vr_test *test = vr_test_list; test; test = test->next) {
        char name[256];
        snprintf(name, sizeof name, "%s/%s", test->suite, test->name);
        if (argc > 1 && !strstr(name, argv[1]))
            continue;
        int status = vr_test_fork(test);
        passed += status == 0;
        skipped += status == VR_TEST_SKIPPED;
        failed += status != 0 && status != VR_TEST_SKIPPED;
        if (status)
            printf("%s %s (status %d)\n", status == VR_TEST_SKIPPED ? "SKIP" : "FAIL", name,
                   status);
    }
    if (skipped)
        printf("%d skipped\n", skipped);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#endif /* VR_TEST_ASSERTIONS_ONLY */

#endif
