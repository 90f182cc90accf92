/* providers.c: more than one driver library in a process, and drivers that are not as usual. The
 * same work (progs/work.c) must give the same result whatever is routed, and the statistics show
 * what was: of 800 updates 18 differ from the one before, the first of each node and ten changes.
 */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#define UPDATES 800
#define ELIDED  782

struct drivers {
    char *fake, *stub_path, *stub_real, *versioned, *versioned_path, *work, *linked;
};

static struct drivers drivers(void)
{
    char *stub = t_build("tests/drivers/stub"), *folder = t_build("tests/drivers/versioned");
    struct drivers d = {
        .fake = t_build("fakevmm/libcuda.so.1"),
        .versioned = t_build("tests/drivers/versioned/libcuda.so.1"),
        .work = t_build("tests/progs/work"),
        .linked = t_build("tests/progs/work_linked"),
    };

    d.stub_path = t_format("LD_LIBRARY_PATH=%s", stub);
    d.versioned_path = t_format("LD_LIBRARY_PATH=%s", folder);
    d.stub_real = t_format("STUB_REAL=%s", d.fake);
    free(stub);
    free(folder);
    return d;
}

static void drivers_free(struct drivers *d)
{
    free(d->fake);
    free(d->stub_path);
    free(d->stub_real);
    free(d->versioned);
    free(d->versioned_path);
    free(d->work);
    free(d->linked);
}

/* Runs `argv` bare and on; the answers must be equal, and `updates` of them seen, all elided but 18
 * (or none, if `elided` is false). Returns the run under the library. */
static struct t_run same(const char *const argv[], long long updates, bool elided)
{
    struct t_run bare = t_run(T_BARE, argv, NULL), with = t_run(T_ON, argv, NULL);

    T_ASSERT(bare.exit_code == 0, "%s", bare.err);
    T_ASSERT(with.exit_code == 0, "%d: %s", with.exit_code, with.err);
    T_STR_EQ(with.out, bare.out);
    T_STR_EQ(bare.err, "");
    T_EQ(t_json_get(&with.stats, "calls.updates", -1), updates);
    T_EQ(t_json_get(&with.stats, "calls.updates_elided", -1), elided ? ELIDED : 0);
    t_run_free(&bare);
    return with;
}

static void quiet(const char *const argv[], long long updates, bool elided)
{
    struct t_run with = same(argv, updates, elided);

    T_STR_EQ(with.err, "");
    T_EQ(t_json_get(&with.stats, "refusals.trouble", -1), 0);
    t_run_free(&with);
}

/* The second driver of a process works as without us. */
TEST(providers, the_first_is_routed)
{
    struct drivers d = drivers();
    const char *const opened[] = {d.work, "two", d.fake, d.versioned, NULL};
    const char *const linked[] = {d.linked, "two", d.versioned, NULL};

    quiet(opened, UPDATES, true);
    quiet(linked, UPDATES, true);
    drivers_free(&d);
}

/* A program that is linked with a driver and looks another's functions up first: a hook cannot tell
 * who calls it, so only the linked one's may be handed out. */
TEST(providers, the_linked_one_before_others)
{
    struct drivers d = drivers();
    const char *const argv[] = {d.linked, "last", d.versioned, NULL};

    quiet(argv, UPDATES, true);
    drivers_free(&d);
}

/* R10: a driver that stands before another looks that one's functions up, at its first call or when
 * it is loaded, before the program looks up anything: they are not hooks, which would lead back
 * into it. R11: and it calls dlsym and cuGetProcAddress from its own functions. */
TEST(providers, a_driver_before_another)
{
    static const char *const doors[] = {"dlopen", "procaddress", "linked"};
    struct drivers d = drivers();

    for (int early = 0; early < 2; early++) {
        for (int i = 0; i < 3; i++) {
            const char *const argv[] = {"env",
                                        d.stub_path,
                                        d.stub_real,
                                        early ? "STUB_EARLY=1" : "STUB_LATE=1",
                                        i < 2 ? d.work : d.linked,
                                        doors[i],
                                        NULL};

            quiet(argv, UPDATES, true);
        }
    }
    drivers_free(&d);
}

/* In a namespace of its own a driver is not seen, since nothing preloaded is there. */
TEST(providers, another_namespace)
{
    struct drivers d = drivers();
    const char *const argv[] = {d.work, "dlmopen", NULL};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    T_SKIP("a sanitizer's runtime does not work twice in a process");
#endif
    quiet(argv, 0, false);
    drivers_free(&d);
}

/* Symbols of a driver that has versions: dlvsym, and a program that is linked with it. */
TEST(providers, versioned_symbols)
{
    struct drivers d = drivers();
    char *program = t_build("tests/progs/work_versioned");
    const char *const looked_up[] = {"env", d.versioned_path, d.work, "dlvsym", NULL};
    const char *const linked[] = {"env", d.versioned_path, program, NULL};

    quiet(looked_up, UPDATES, true);
    quiet(linked, UPDATES, true);
    free(program);
    drivers_free(&d);
}

/* R5: an ABI newer than ours, of a function that we depend on: it goes to the program as it is, and
 * everything is forwarded from then on, said once. */
TEST(providers, an_unknown_abi_of_a_known_name)
{
    struct drivers d = drivers();
    const char *const argv[] = {"env",
                                d.stub_path,
                                d.stub_real,
                                "STUB_NEWER=cuGraphExecUpdate",
                                "VAREMAP_LOG=warn",
                                d.work,
                                "newer",
                                "cuGraphExecUpdate",
                                NULL};
    struct t_run with = same(argv, UPDATES, false);

    T_EQ(t_json_get(&with.stats, "refusals.trouble", -1), UPDATES);
    T_EQ(strncmp(with.err, "varemap[", 8), 0);
    T_PTR_EQ(strchr(with.err, '\n'), with.err + strlen(with.err) - 1);
    t_run_free(&with);
    drivers_free(&d);
}

/* The same for a name that we are not in front of means nothing. */
TEST(providers, an_unknown_abi_of_another_name)
{
    struct drivers d = drivers();
    const char *const argv[] = {"env",  d.stub_path, d.stub_real,      "STUB_NEWER=cuCtxGetDevice",
                                d.work, "newer",     "cuCtxGetDevice", NULL};

    quiet(argv, UPDATES, true);
    drivers_free(&d);
}

/* R3: success with NULL, as drivers answer for what they do not have, stays NULL. */
TEST(providers, success_with_null)
{
    struct drivers d = drivers();
    char *program = t_build("tests/resolver");
    const char *const argv[] = {"env",   d.stub_path, d.stub_real, "STUB_NULL=cuGraphLaunch",
                                program, NULL};
    struct t_run with = t_run(T_ON, argv, NULL);

    T_EQ(with.exit_code, 0);
    T_STR_HAS(with.out, "procaddress2 cuGraphLaunch 10000 0 none none");
    T_STR_HAS(with.out, "procaddress1 cuGraphLaunch 10000 0 none none");
    T_STR_HAS(with.out, "procaddress2 cuGraphExecDestroy 10000 0 libvaremap.so cuGraphExecDestroy");
    t_run_free(&with);
    free(program);
    drivers_free(&d);
}
