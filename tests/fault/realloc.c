/* realloc.c: every driver call of a small program that reallocates in every step fails once, and
 * once for good, while the library places its buffers. The program must see the error it would have
 * seen, or none, and never a wrong result; and nothing may be left over but what the library
 * reports that it keeps. */
#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#define BYTES   "2M" /* a granule, so that each slice has a handle of its own */
#define GRANULE (2 << 20)

/* One run, with what it left behind taken out of its stderr. */
struct seen {
    struct t_run run;
    char *objects; /* the lines of all kinds but the following */
    long long allocations, handles, mappings, reservations;
    int warnings; /* lines of the library */
};

static void add(char **text, const char *line, size_t length)
{
    char *longer = t_format("%s%.*s\n", *text, (int)length, line);

    free(*text);
    *text = longer;
}

/* True if the line is `leak KIND COUNT` of that kind. */
static bool is_leak(const char *line, const char *kind, long long *count)
{
    char *format = t_format("leak %s %%lld", kind);
    bool is = sscanf(line, format, count) == 1;

    free(format);
    return is;
}

static void sort_stderr(struct seen *seen)
{
    char *rest = strdup("");
    size_t length;

    seen->objects = strdup("");
    for (const char *line = seen->run.err; *line; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        if (is_leak(line, "allocation", &seen->allocations) ||
            is_leak(line, "vmm_handle", &seen->handles) ||
            is_leak(line, "mapping", &seen->mappings) ||
            is_leak(line, "reservation", &seen->reservations))
            continue;
        if (!strncmp(line, "varemap", 7))
            seen->warnings++;
        else
            add(strncmp(line, "leak ", 5) ? &rest : &seen->objects, line, length);
    }
    free(seen->run.err);
    seen->run.err = rest;
}

static struct seen run(enum t_way way, const char *fault)
{
    char *program = t_build("apps/realloc"), *setting = t_format("FAKEVMM_FAULT=%s", fault);
    const char *const argv[] = {program, "--steps", "6", "--nodes", "3", "--bytes", BYTES, NULL};
    const char *const env[] = {setting, "FAKEVMM_LEAKS=1", "FAKEVMM_STRICT=1",
                               "VAREMAP_PROFILE_LAUNCHES=2", NULL};
    struct seen seen = {.run = t_run(way, argv, env)};

    sort_stderr(&seen);
    free(program);
    free(setting);
    return seen;
}

static void forget(struct seen *seen)
{
    t_run_free(&seen->run);
    free(seen->objects);
}

static bool same(const struct seen *a, const struct seen *b)
{
    return a->run.exit_code == b->run.exit_code && !strcmp(a->run.out, b->run.out) &&
           !strcmp(a->run.err, b->run.err) && !strcmp(a->objects, b->objects);
}

/* Bare runs that there have been, by their fault: many calls are compared with the same one. */
static struct bare {
    char *fault;
    struct seen seen;
} bares[4096];
static size_t bare_count;

static const struct seen *run_bare(char *fault)
{
    struct bare *bare = bares;

    while (bare < bares + bare_count && strcmp(bare->fault, fault))
        bare++;
    if (bare < bares + bare_count) {
        free(fault);
        return &bare->seen;
    }
    T_ASSERT(bare_count < sizeof(bares) / sizeof(*bares), "too many different faults");
    *bare = (struct bare){fault, run(T_BARE, fault)};
    bare_count++;
    return &bare->seen;
}

static void forget_bares(void)
{
    while (bare_count) {
        forget(&bares[--bare_count].seen);
        free(bares[bare_count].fault);
    }
}

/* Whether the bare program looks like `seen` when some call of `name` fails. The one with the same
 * number is tried first. */
static bool seen_bare(const char *name, long long nth, const char *suffix, const struct seen *clean,
                      const struct seen *seen)
{
    long long calls = t_json_get(&clean->run.counts, name, 0);
    bool found = false;

    for (long long i = 0; i < calls && !found; i++)
        found =
            same(run_bare(t_format("%s:%lld%s", name, (nth - 1 + i) % calls + 1, suffix)), seen);
    return found;
}

static long long stat(const struct seen *seen, const char *path)
{
    return t_json_get(&seen->run.stats, path, -1);
}

/* What the program gave back completely leaves the reservation and the memory that is reported. */
static void check_left(const char *fault, const struct seen *seen)
{
    long long kept = stat(seen, "memory.mapped_bytes") / GRANULE;

    T_ASSERT(seen->allocations == 0 && seen->handles == kept && seen->mappings == kept &&
                 seen->reservations == (stat(seen, "memory.reserved_bytes") > 0),
             "%s: left %lld allocations, %lld handles, %lld mappings, %lld reservations; reported "
             "%lld mapped, %lld reserved",
             fault, seen->allocations, seen->handles, seen->mappings, seen->reservations, kept,
             stat(seen, "memory.reserved_bytes"));
}

/* When the driver will not take something back, it stays. */
static bool gives_back(const char *name)
{
    return !strcmp(name, "cuMemUnmap") || !strcmp(name, "cuMemRelease") ||
           !strcmp(name, "cuMemAddressFree");
}

/* A free of ours asks the driver to wait; its refusal is what the free reports. */
static void fail_once(const char *name, long long nth, const char *suffix, const struct seen *clean)
{
    char *fault = t_format("%s:%lld%s", name, nth, suffix);
    struct seen seen = run(T_ON, fault);

    T_ASSERT(same(&seen, clean) || seen_bare(name, nth, suffix, clean, &seen) ||
                 seen_bare("cuMemFree_v2", nth, suffix, clean, &seen),
             "%s: exit code %d, unlike any failure of it without the library\n%s%s", fault,
             seen.run.exit_code, seen.run.err, seen.run.out);
    T_ASSERT(seen.warnings <= 1, "%s: %d warnings", fault, seen.warnings);
    if (seen.run.exit_code == 0 && !gives_back(name))
        check_left(fault, &seen);
    forget(&seen);
    free(fault);
}

/* The calls of `name` that are made to fail. Starting up is the same for all programs, and resend.c
 * does it; out of memory is what the driver says about memory. */
static long long calls_to_fail(const struct t_json *counts, const char *name, const char *suffix)
{
    if (!strncmp(name, "cuGetProcAddress", strlen("cuGetProcAddress")) ||
        (strstr(suffix, "OUT_OF_MEMORY") && !strstr(name, "Mem")))
        return 0;
    return t_json_get(counts, name, 0);
}

static void fail_everything(const char *suffix)
{
    struct seen clean = run(T_BARE, ""), with = run(T_ON, "");

    T_EQ(clean.run.exit_code, 0);
    T_ASSERT(same(&clean, &with), "a run without a fault differs under the library");
    T_EQ(with.warnings, 0);
    T_EQ(with.reservations, 1);
    T_GT(with.handles, 0);
    T_EQ(with.handles, stat(&with, "memory.slices"));
    check_left("no fault", &with);
    for (size_t i = 0; i < with.run.counts.count; i++) {
        const char *name = with.run.counts.numbers[i].path;

        for (long long nth = 1; nth <= calls_to_fail(&with.run.counts, name, suffix); nth++)
            fail_once(name, nth, suffix, &clean);
    }
    forget(&clean);
    forget(&with);
    forget_bares();
}

TEST(fault, realloc_once)
{
    fail_everything("");
}

TEST(fault, realloc_for_good)
{
    fail_everything(":CUDA_ERROR_UNKNOWN:persistent");
}

TEST(fault, realloc_out_of_memory)
{
    fail_everything(":CUDA_ERROR_OUT_OF_MEMORY");
}

TEST(fault, realloc_out_of_memory_for_good)
{
    fail_everything(":CUDA_ERROR_OUT_OF_MEMORY:persistent");
}
