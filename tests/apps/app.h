/* app.h: what every sample program does beside its CUDA work: reads its options, keeps count of its
 * calls, and ends. With data.h; header-only, C and C++. It knows no CUDA type and nothing of
 * libvaremap or the fake GPU: these are programs as users write them, and they run on a real GPU as
 * well. */
#ifndef APP_H
#define APP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/apps/data.h"

/* A call failed: names it (the text of the call, cut at its arguments) and ends with status 1. */
__attribute__((noreturn)) static inline void app_fail(const char *call, const char *error)
{
    fprintf(stderr, "%s: %.*s failed: %s\n", program_invocation_short_name, (int)strcspn(call, "("),
            call, error);
    exit(1);
}

/* The command line is wrong: says why and ends with status 2. */
__attribute__((noreturn)) static inline void app_misuse(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s: %s (--help lists the options)\n", program_invocation_short_name, what,
            text);
    exit(2);
}

/* Zeroed memory for `count` (at least one) things, or the program ends. */
static inline void *app_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        app_fail("calloc", "out of memory");
    return memory;
}

/* ---- options ---- */

struct app_options {
    uint64_t steps; /* may be 0 */
    uint64_t nodes; /* kernel nodes of the graph, 1 or more */
    uint64_t bytes; /* of each buffer, 8 or more */
    uint64_t seed;
    bool time; /* also print the host time per step */
};

/* Digits with an optional K, M or G (powers of 1024), within [min, max]. */
static inline uint64_t app_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
    static const char units[] = "KMG";
    char *end;
    unsigned shift = 0;

    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || errno)
        app_misuse(option, "not a number");
    if (*end && strchr(units, *end))
        shift = 10 * (unsigned)(strchr(units, *end++) - units + 1);
    if (*end)
        app_misuse(option, "a number may end in K, M or G only");
    if (value > max >> shift || value << shift < min)
        app_misuse(option, "out of range");
    return value << shift;
}

static inline void app_help(const char *about, const struct app_options *o)
{
    printf("%s\n\n"
           "  --steps N   updates and launches of the graph (%" PRIu64 ")\n"
           "  --nodes K   kernel nodes in it (%" PRIu64 ")\n"
           "  --bytes B   size of each buffer, also with K, M or G (%" PRIu64 ")\n"
           "  --seed S    of the random numbers (%" PRIu64 ")\n"
           "  --time      also print host_ns_per_step, spent in the update and launch calls\n"
           "  --help      this text\n",
           about, o->steps, o->nodes, o->bytes, o->seed);
    exit(0);
}

/* Reads the command line; `options` holds the defaults before and the choice after. */
static inline void app_parse(int argc, char **argv, const char *about, struct app_options *options)
{
    const struct {
        const char *name;
        uint64_t *value, min, max;
    } table[] = {
        {"--steps", &options->steps, 0, UINT64_MAX},
        {"--nodes", &options->nodes, 1, 1 << 20},
        {"--bytes", &options->bytes, 8, UINT64_C(1) << 40},
        {"--seed", &options->seed, 0, UINT64_MAX},
    };

    for (int i = 1; i < argc; i++) {
        size_t row = 0;

        if (!strcmp(argv[i], "--help"))
            app_help(about, options);
        if (!strcmp(argv[i], "--time")) {
            options->time = true;
            continue;
        }
        while (row < sizeof table / sizeof *table && strcmp(argv[i], table[row].name))
            row++;
        if (row == sizeof table / sizeof *table)
            app_misuse(argv[i], "unknown option");
        if (++i == argc)
            app_misuse(table[row].name, "needs a value");
        *table[row].value = app_number(table[row].name, argv[i], table[row].min, table[row].max);
    }
}

/* ---- what is counted and printed ---- */

struct app_tally {
    uint64_t updates, launches; /* calls that change the exec; graph launches */
    uint64_t host_ns;           /* spent in those calls */
    uint64_t checksum;
};

static inline uint64_t app_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The closing lines, checksum last. Returns the status for main to return. */
static inline int app_finish(const struct app_options *options, const struct app_tally *tally)
{
    printf("updates %" PRIu64 "\nlaunches %" PRIu64 "\n", tally->updates, tally->launches);
    if (options->time)
        printf("host_ns_per_step %" PRIu64 "\n",
               options->steps ? tally->host_ns / options->steps : 0);
    printf("checksum %016" PRIx64 "\n", tally->checksum);
    if (fflush(stdout) || ferror(stdout))
        app_fail("printf", "cannot write the results");
    return 0;
}

#endif
