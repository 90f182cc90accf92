/* memory_threeway.c: the sample programs that allocate their buffers in every step, bare, observed
 * and with the library at work: the same results, and, once the profile has ended, neither an
 * update nor an allocation reaches the driver. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#define NODES     64
#define STEPS     200
#define PROFILING 3 /* launches, the default of VAREMAP_PROFILE_LAUNCHES */
#define MIB       (1024 * 1024)

static const char *const churn[] = {"FAKEVMM_VA=churn", "FAKEVMM_STRICT=1", NULL};
static const char *const lifo[] = {"FAKEVMM_VA=lifo", "FAKEVMM_STRICT=1", NULL};

/* A sample program and how it is run. `env` is a NULL-terminated list. */
struct program {
    const char *name, *bytes;
    const char *const *env;
};

static struct t_run run_steps(enum t_way way, const struct program *p, int steps, const char *flag)
{
    char *path = t_build("apps/%s", p->name), *number = t_format("%d", steps);
    char *nodes = t_format("%d", NODES);
    const char *const argv[] = {path,      "--steps", number, "--nodes", nodes,
                                "--bytes", p->bytes,  flag,   NULL};
    struct t_run run = t_run(way, argv, p->env);

    T_ASSERT(run.exit_code == 0 && !*run.err, "way %d of %s: exit code %d\n%s", (int)way, p->name,
             run.exit_code, run.err);
    free(path);
    free(number);
    free(nodes);
    return run;
}

static long long count(const struct t_run *run, const char *name)
{
    return t_json_get(&run->counts, name, 0);
}

static long long stat(const struct t_run *run, const char *path)
{
    return t_json_get(&run->stats, path, -1);
}

/* Each call of the program is counted once, by what became of it, and what was not answered reached
 * the driver. */
static void check_statistics(const struct t_run *run)
{
    T_EQ(stat(run, "calls.updates"), t_line_number(run->out, "updates"));
    T_EQ(stat(run, "calls.updates"),
         stat(run, "calls.updates_elided") + stat(run, "calls.updates_deferred") +
             stat(run, "calls.updates_forwarded") + stat(run, "calls.updates_failed"));
    T_EQ(stat(run, "calls.updates_failed"), 0);
    T_EQ(stat(run, "calls.updates_forwarded"), t_kernel_setters(&run->counts));
    T_EQ(stat(run, "calls.launches"), t_line_number(run->out, "launches"));
    T_EQ(stat(run, "calls.allocs"), t_line_number(run->out, "allocs"));
    T_EQ(stat(run, "calls.allocs"), stat(run, "calls.allocs_recycled") +
                                        stat(run, "calls.allocs_placed") +
                                        stat(run, "calls.allocs_forwarded"));
    T_EQ(stat(run, "calls.allocs_forwarded"), count(run, "cuMemAlloc_v2"));
    T_EQ(stat(run, "calls.frees"), t_line_number(run->out, "frees"));
    T_EQ(count(run, "cuMemFree_v2"), count(run, "cuMemAlloc_v2"));
}

/* Switched off or only observing, the driver sees what it sees without the library. */
static void check_untouched(const struct t_run *bare, const struct t_run *run)
{
    static const char *const names[] = {
        "cuMemAlloc_v2",       "cuMemFree_v2", "cuGraphLaunch", "cuStreamSynchronize",
        "cuMemAddressReserve", "cuMemCreate",  "cuMemMap",
    };

    T_EQ(t_kernel_setters(&run->counts), t_kernel_setters(&bare->counts));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        T_ASSERT(count(run, names[i]) == count(bare, names[i]), "%s: %lld, bare %lld", names[i],
                 count(run, names[i]), count(bare, names[i]));
}

/* Bare, observed, on and off: the same output. The run with the library on. */
static struct t_run run_all_ways(const struct program *p)
{
    struct t_run bare = run_steps(T_BARE, p, STEPS, NULL);
    struct t_run observed = run_steps(T_OBSERVE, p, STEPS, NULL);
    struct t_run off = run_steps(T_OFF, p, STEPS, NULL);
    struct t_run on = run_steps(T_ON, p, STEPS, NULL);

    T_STR_EQ(observed.out, bare.out);
    T_STR_EQ(off.out, bare.out);
    T_STR_EQ(on.out, bare.out);
    T_EQ(t_kernel_setters(&bare.counts), NODES * STEPS);
    check_untouched(&bare, &observed);
    check_untouched(&bare, &off);
    check_statistics(&observed);
    check_statistics(&on);
    t_run_free(&bare);
    t_run_free(&observed);
    t_run_free(&off);
    return on;
}

/* What must not happen any more in a steady state: the second hundred steps add nothing. */
static void check_steady(const struct program *p)
{
    static const char *const names[] = {
        "cuGraphExecKernelNodeSetParams",
        "cuGraphExecKernelNodeSetParams_v2",
        "cuMemAlloc_v2",
        "cuMemFree_v2",
        "cuMemCreate",
        "cuMemMap",
        "cuMemUnmap",
        "cuMemSetAccess",
        "cuMemRelease",
        "cuMemAddressReserve",
        "cuMemAddressFree",
    };
    struct t_run half = run_steps(T_ON, p, STEPS / 2, NULL);
    struct t_run full = run_steps(T_ON, p, STEPS, NULL);

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        T_ASSERT(count(&full, names[i]) == count(&half, names[i]),
                 "%s: %lld, after half of it %lld", names[i], count(&full, names[i]),
                 count(&half, names[i]));
    T_GT(count(&full, "cuMemCreate"), 0); /* it is our memory that does it */
    T_EQ(count(&full, "cuMemAddressReserve"), 1);
    t_run_free(&half);
    t_run_free(&full);
}

/* ---- realloc ---- */

/* 3 launches to learn from, one with new addresses: the rest is margin. */
static void check_realloc(const char *const *env)
{
    const struct program p = {"realloc", "4M", env};
    struct t_run on = run_all_ways(&p);

    T_LE(t_kernel_setters(&on.counts), NODES * 8);
    T_GT(t_kernel_setters(&on.counts), NODES * PROFILING);
    T_GT(stat(&on, "calls.allocs_recycled"), 5 * (STEPS - 8));
    check_steady(&p);
    t_run_free(&on);
}

TEST(memory_threeway, realloc_churn)
{
    check_realloc(churn);
}

TEST(memory_threeway, realloc_lifo)
{
    check_realloc(lifo);
}

/* Five buffers live at a time, each a multiple of the granule: five handles, one slice each. */
TEST(memory_threeway, one_handle_for_each_live_buffer)
{
    const struct program p = {"realloc", "4M", churn};
    struct t_run on = run_steps(T_ON, &p, STEPS, NULL);

    T_EQ(count(&on, "cuMemCreate"), 5);
    T_EQ(stat(&on, "vmm.create"), 5);
    T_EQ(stat(&on, "memory.slices"), 5);
    T_EQ(stat(&on, "memory.mapped_bytes"), 5 * 4 * MIB);
    T_EQ(stat(&on, "memory.kept_bytes"), 5 * 4 * MIB);
    t_run_free(&on);
}

/* The profile decides when: with more launches to profile, more setters arrive. */
TEST(memory_threeway, profile_of_twenty_launches)
{
    const char *const env[] = {"FAKEVMM_VA=churn", "VAREMAP_PROFILE_LAUNCHES=20", NULL};
    const struct program p = {"realloc", "4M", env};
    struct t_run on = run_steps(T_ON, &p, STEPS, NULL);

    T_GE(t_kernel_setters(&on.counts), NODES * 20);
    T_LE(t_kernel_setters(&on.counts), NODES * 26);
    t_run_free(&on);
}

static void check_without(const char *setting)
{
    const char *const env[] = {"FAKEVMM_VA=churn", setting, NULL};
    const struct program p = {"realloc", "4M", env};
    struct t_run bare = run_steps(T_BARE, &p, STEPS, NULL);
    struct t_run on = run_steps(T_ON, &p, STEPS, NULL);

    T_STR_EQ(on.out, bare.out);
    check_untouched(&bare, &on);
    check_statistics(&on);
    t_run_free(&bare);
    t_run_free(&on);
}

/* Under churn no address comes back by itself, so without our memory no update is equal to the
 * last. */
TEST(memory_threeway, without_backing_nothing_is_saved)
{
    check_without("VAREMAP_BACKING=off");
}

TEST(memory_threeway, without_recycle_nothing_is_saved)
{
    check_without("VAREMAP_RUNGS=elide");
}

/* From birth ours: the first setter of each node is all that arrives. */
TEST(memory_threeway, eager)
{
    const char *const env[] = {"FAKEVMM_VA=churn", "VAREMAP_BACKING=eager", "FAKEVMM_STRICT=1",
                               NULL};
    const struct program p = {"realloc", "4M", env};
    struct t_run on = run_all_ways(&p);

    T_EQ(t_kernel_setters(&on.counts), NODES);
    T_EQ(count(&on, "cuMemAlloc_v2"), 0);
    check_steady(&p);
    t_run_free(&on);
}

/* The lowest and the highest address that lines `ptr STEP INDEX ADDRESS` name from a step on. */
static void find_range(const char *out, int from, unsigned long long *low, unsigned long long *high)
{
    int step, index, lines = 0;
    unsigned long long address;

    *low = ~0ull;
    *high = 0;
    for (const char *line = out; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "ptr %d %d 0x%llx", &step, &index, &address) != 3 || step < from)
            continue;
        *low = address < *low ? address : *low;
        *high = address > *high ? address : *high;
        lines++;
    }
    T_EQ(lines, (STEPS - from) * 5);
}

TEST(memory_threeway, pointers_lie_in_one_range)
{
    const struct program p = {"realloc", "4M", churn};
    struct t_run on = run_steps(T_ON, &p, STEPS, "--print-pointers");
    unsigned long long low, high;

    find_range(on.out, 8, &low, &high);
    T_GT(stat(&on, "memory.reserved_bytes"), 0);
    T_LE(high + 4 * MIB - low, stat(&on, "memory.reserved_bytes"));
    T_EQ((high - low) / (4 * MIB), 4); /* five neighbours, in every step the same */
    t_run_free(&on);
}

/* ---- the others ---- */

TEST(memory_threeway, realloc_mixed_churn)
{
    const struct program p = {"realloc_mixed", "64M", churn};
    struct t_run on = run_all_ways(&p);

    T_LE(t_kernel_setters(&on.counts), NODES * 8);
    check_steady(&p);
    t_run_free(&on);
}

TEST(memory_threeway, realloc_mixed_lifo)
{
    const struct program p = {"realloc_mixed", "64M", lifo};
    struct t_run on = run_all_ways(&p);

    T_LE(t_kernel_setters(&on.counts), NODES * 8);
    check_steady(&p);
    t_run_free(&on);
}

/* Sizes change at steps 50, 100 and 150. What a phase costs: 3 launches to learn, one to move. */
static void check_growth(const char *const *env)
{
    const struct program p = {"grow", "1M", env};
    struct t_run on = run_all_ways(&p);
    long long before = 0;

    for (int phase = 0; phase < STEPS / 50; phase++) {
        struct t_run early = run_steps(T_ON, &p, phase * 50 + 10, NULL);
        struct t_run late = run_steps(T_ON, &p, phase * 50 + 50, NULL);
        long long setters = t_kernel_setters(&late.counts);

        T_GE(setters - before, NODES * PROFILING);
        T_LE(setters - before, NODES * 6);
        T_EQ(setters, t_kernel_setters(&early.counts)); /* steady after ten steps of a phase */
        T_EQ(count(&late, "cuMemAlloc_v2"), count(&early, "cuMemAlloc_v2"));
        T_EQ(count(&late, "cuMemCreate"), count(&early, "cuMemCreate"));
        T_EQ(count(&late, "cuMemMap"), count(&early, "cuMemMap"));
        before = setters;
        t_run_free(&early);
        t_run_free(&late);
    }
    t_run_free(&on);
}

TEST(memory_threeway, grow_churn)
{
    check_growth(churn);
}

TEST(memory_threeway, grow_lifo)
{
    check_growth(lifo);
}

/* A step's buffers never have the addresses of the step before: every setter differs from the last.
 */
static void check_double_buffer(const char *const *env)
{
    const struct program p = {"double_buffer", "4M", env};
    struct t_run on = run_all_ways(&p);

    T_EQ(t_kernel_setters(&on.counts), NODES * STEPS);
    T_EQ(stat(&on, "calls.updates_elided"), 0);
    t_run_free(&on);
}

TEST(memory_threeway, double_buffer_churn)
{
    check_double_buffer(churn);
}

TEST(memory_threeway, double_buffer_lifo)
{
    check_double_buffer(lifo);
}

/* ---- observe predicts ---- */

/* Within the steps that a profile takes, what observing promises is what being on saves. */
static void check_prediction(const char *name, const char *bytes, int buffers, int phases)
{
    const struct program p = {name, bytes, churn};
    struct t_run observed = run_steps(T_OBSERVE, &p, STEPS, NULL);
    struct t_run on = run_steps(T_ON, &p, STEPS, NULL);
    long long warm_up = (long long)phases * (PROFILING + 2);
    long long saved_updates = stat(&on, "calls.updates_elided");
    long long saved_allocs = stat(&on, "calls.allocs_recycled");

    T_GT(saved_allocs, 0);
    T_LE(llabs(stat(&observed, "would.updates_elided") - saved_updates), warm_up * NODES);
    T_LE(llabs(stat(&observed, "would.allocs_recycled") - saved_allocs), warm_up * buffers);
    t_run_free(&observed);
    t_run_free(&on);
}

TEST(memory_threeway, observe_predicts_realloc)
{
    check_prediction("realloc", "4M", 5, 1);
}

TEST(memory_threeway, observe_predicts_realloc_mixed)
{
    check_prediction("realloc_mixed", "64M", 12, 1);
}

TEST(memory_threeway, observe_predicts_grow)
{
    check_prediction("grow", "1M", 4, 4);
}

TEST(memory_threeway, observe_predicts_double_buffer)
{
    check_prediction("double_buffer", "4M", 3, 1);
}
