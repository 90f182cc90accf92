/* resend.c: every driver call of a small program fails once, and once for good, under the library.
 * The program must see that call's own error and nothing else: what it sees is what it sees without
 * the library when the same function fails. The failure of a call that the library adds must be
 * invisible. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

static struct t_run run(const char *app, enum t_way way, const char *fault)
{
    char *program = t_build("apps/%s", app), *setting = t_format("FAKEVMM_FAULT=%s", fault);
    const char *const argv[] = {program, "--steps", "6", "--nodes", "3", NULL};
    const char *const env[] = {setting, NULL};
    struct t_run result = t_run(way, argv, env);

    free(program);
    free(setting);
    return result;
}

static bool same(const struct t_run *a, const struct t_run *b)
{
    return a->exit_code == b->exit_code && !strcmp(a->out, b->out) && !strcmp(a->err, b->err);
}

/* Whether the bare program, failing in any call of the same name, looks like `seen`. The call with
 * the same number is tried first: it mostly is the one. */
static bool seen_bare(const char *app, const char *name, long long nth, long long calls,
                      const char *suffix, const struct t_run *seen)
{
    bool found = false;

    for (long long i = 0; i < calls && !found; i++) {
        char *fault = t_format("%s:%lld%s", name, (nth - 1 + i) % calls + 1, suffix);
        struct t_run bare = run(app, T_BARE, fault);

        found = same(&bare, seen);
        t_run_free(&bare);
        free(fault);
    }
    return found;
}

static void fail_once(const char *app, const struct t_number *calls_with, long long nth,
                      const char *suffix, const struct t_run *clean)
{
    const char *name = calls_with->path;
    char *fault = t_format("%s:%lld%s", name, nth, suffix);
    struct t_run seen = run(app, T_ON, fault);
    long long calls = t_json_get(&clean->counts, name, 0);

    if (!(calls_with->value > calls && same(&seen, clean)))
        T_ASSERT(seen_bare(app, name, nth, calls, suffix, &seen),
                 "%s: exit code %d, unlike any failure of it without the library\n%s", fault,
                 seen.exit_code, seen.err);
    t_run_free(&seen);
    free(fault);
}

static void fail_everything(const char *app, const char *suffix)
{
    struct t_run clean = run(app, T_BARE, ""), with = run(app, T_ON, "");

    T_EQ(clean.exit_code, 0);
    T_ASSERT(same(&clean, &with), "a run without a fault differs under the library");
    T_GT(with.counts.count, 10);
    for (size_t i = 0; i < with.counts.count; i++) {
        for (long long nth = 1; nth <= with.counts.numbers[i].value; nth++)
            fail_once(app, &with.counts.numbers[i], nth, suffix, &clean);
    }
    t_run_free(&clean);
    t_run_free(&with);
}

TEST(fault, resend_once)
{
    fail_everything("resend", "");
}

TEST(fault, resend_for_good)
{
    fail_everything("resend", ":CUDA_ERROR_UNKNOWN:persistent");
}

TEST(fault, resend_drv_once)
{
    fail_everything("resend_drv", "");
}

TEST(fault, resend_drv_for_good)
{
    fail_everything("resend_drv", ":CUDA_ERROR_UNKNOWN:persistent");
}
