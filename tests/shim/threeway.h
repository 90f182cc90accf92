/* threeway.h: a sample program bare, observed, with the library at work, and with it switched off:
 * the same output, and below the library exactly the calls that were needed. Header-only. */
#ifndef T_THREEWAY_H
#define T_THREEWAY_H

#include "tests/helpers.h"
#include "tests/unit/vr_test.h"

#include <string.h>

#define MODES 4 /* of enum t_way */

/* Runs build/apps/<argv[0]>, or tests/apps/<argv[0]> for a script, which must succeed without a
 * word on stderr. */
static inline struct t_run app(enum t_way way, const char *const argv[])
{
    const char *command[16];
    bool script = strstr(argv[0], ".py");
    char *path = script ? t_source("tests/apps/%s", argv[0]) : t_build("apps/%s", argv[0]);
    size_t i = 0;

    for (; argv[i] && i < 15; i++)
        command[i] = argv[i];
    command[0] = path;
    command[i] = NULL;
    /* Python does not free all it has at its end. */
    const char *const env[] = {script ? "ASAN_OPTIONS=detect_leaks=0" : NULL, NULL};
    struct t_run run = t_run(way, command, env);
    T_ASSERT(run.exit_code == 0 && !*run.err, "way %d of %s: exit code %d\n%s", (int)way, argv[0],
             run.exit_code, run.err);
    free(path);
    return run;
}

/* All modes; each with the output of the bare run. */
static inline void run_all(struct t_run runs[MODES], const char *const argv[])
{
    for (enum t_way way = T_BARE; way <= T_OFF; way++) {
        runs[way] = app(way, argv);
        T_STR_EQ(runs[way].out, runs[T_BARE].out);
    }
}

static inline void free_all(struct t_run runs[MODES])
{
    for (enum t_way way = T_BARE; way <= T_OFF; way++)
        t_run_free(&runs[way]);
}

static inline bool is_update(const char *name)
{
    return (!strncmp(name, "cuGraphExec", 11) &&
            (strstr(name, "Set") || !strncmp(name + 11, "Update", 6))) ||
           !strcmp(name, "cuGraphNodeSetEnabled");
}

/* Updates of any kind that reached the driver. */
static inline long long updates_arrived(const struct t_json *counts)
{
    long long sum = 0;

    for (size_t i = 0; i < counts->count; i++)
        if (is_update(counts->numbers[i].path))
            sum += counts->numbers[i].value;
    return sum;
}

/* Each update and each launch of the program is counted once, by what became of it. */
static inline void check_statistics(const struct t_run *run)
{
    const struct t_json *stats = &run->stats;
    long long updates = t_line_number(run->out, "updates");
    long long sum = t_json_get(stats, "calls.updates_elided", 0) +
                    t_json_get(stats, "calls.updates_deferred", 0) +
                    t_json_get(stats, "calls.updates_forwarded", 0) +
                    t_json_get(stats, "calls.updates_failed", 0);

    T_EQ(t_json_get(stats, "calls.updates", -1), updates);
    T_EQ(sum, updates);
    T_EQ(t_json_get(stats, "calls.updates_forwarded", -1) +
             t_json_get(stats, "calls.updates_failed", 0),
         updates_arrived(&run->counts));
    T_EQ(t_json_get(stats, "calls.launches", -1), t_line_number(run->out, "launches"));
}

static inline void check_all_statistics(const struct t_run runs[MODES])
{
    check_statistics(&runs[T_OBSERVE]);
    check_statistics(&runs[T_ON]);
    T_EQ(t_json_get(&runs[T_OBSERVE].stats, "calls.updates_elided", 0), 0);
    T_EQ(t_json_get(&runs[T_OBSERVE].stats, "would.updates_elided", -1),
         t_json_get(&runs[T_ON].stats, "calls.updates_elided", -2));
}

/* Read-only questions, and the retain and release at once by which a device's primary context is
 * learnt. */
static inline bool is_question(const char *name)
{
    return strstr(name, "Get") || strstr(name, "TotalMem") || strstr(name, "CanAccessPeer") ||
           !strncmp(name, "cuDevicePrimaryCtx", 18);
}

/* Every call the program makes arrives as often as in the bare run, but for updates and questions,
 * and nothing but questions is new. */
static inline void check_other_calls(const struct t_json *bare, const struct t_json *shimmed)
{
    const struct t_json *both[2] = {bare, shimmed};

    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < both[side]->count; i++) {
            const char *name = both[side]->numbers[i].path;
            if (is_question(name) || is_update(name))
                continue;
            T_ASSERT(t_json_get(bare, name, 0) == t_json_get(shimmed, name, 0),
                     "%s: bare %lld, under the library %lld", name, t_json_get(bare, name, 0),
                     t_json_get(shimmed, name, 0));
        }
}

/* Switched off, not one call is added, lost or changed. */
static inline void check_off(const struct t_json *bare, const struct t_json *off)
{
    T_GT(bare->count, 0);
    T_EQ(off->count, bare->count);
    for (size_t i = 0; i < bare->count; i++)
        T_ASSERT(t_json_get(off, bare->numbers[i].path, -1) == bare->numbers[i].value,
                 "%s: bare %lld, off %lld", bare->numbers[i].path, bare->numbers[i].value,
                 t_json_get(off, bare->numbers[i].path, -1));
}

#endif
