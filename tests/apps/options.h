/* options.h: the command line of the sample programs, and how they end when something is wrong.
 * Header-only, C and C++. It knows no CUDA type and nothing of what the options are for. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A program that has no use for nodes or bytes leaves that default 0 and does not offer the option.
 */
struct app_options {
    uint64_t steps; /* may be 0 */
    uint64_t nodes; /* kernel nodes of the graph, 1 or more */
    uint64_t bytes; /* of each buffer, 8 or more */
    uint64_t seed;
    const char *const *modes; /* NULL-terminated names of the ways to do the work, or NULL */
    size_t mode;              /* which of them */
    const char *mode_option;  /* what that option is called; NULL: --mode */
    bool time;                /* also print the host time per step */
    bool allocates;           /* set by programs that allocate device memory in every step */
    bool pointers;            /* such a program also prints what it was given */
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

static inline const char *app_mode_option(const struct app_options *options)
{
    return options->mode_option ? options->mode_option : "--mode";
}

static inline void app_help(const char *about, const struct app_options *o)
{
    printf("%s\n\n  --steps N   how often the work is done (%" PRIu64 ")\n", about, o->steps);
    if (o->nodes)
        printf("  --nodes K   kernel nodes in the graph (%" PRIu64 ")\n", o->nodes);
    if (o->bytes)
        printf("  --bytes B   size of each buffer, also with K, M or G (%" PRIu64 ")\n", o->bytes);
    printf("  --seed S    of the random numbers (%" PRIu64 ")\n", o->seed);
    if (o->modes)
        printf("  %s M    one of", app_mode_option(o));
    for (size_t i = 0; o->modes && o->modes[i]; i++)
        printf(" %s%s", o->modes[i], o->modes[i + 1] ? "" : "; the first is the default\n");
    printf("  --time      also print host_ns_per_step, spent in the calls that are counted\n");
    if (o->allocates)
        printf("  --print-pointers  also print what each step allocated, as\n"
               "              lines `ptr STEP INDEX ADDRESS`\n");
    printf("  --help      this text\n");
    exit(0);
}

static inline size_t app_mode(const struct app_options *options, const char *name)
{
    size_t mode = 0;

    while (options->modes[mode] && strcmp(options->modes[mode], name))
        mode++;
    if (!options->modes[mode])
        app_misuse(name, "no such mode");
    return mode;
}

/* The switch that an argument sets, or NULL. */
static inline bool *app_switch(const char *argument, struct app_options *options)
{
    if (!strcmp(argument, "--time"))
        return &options->time;
    if (options->allocates && !strcmp(argument, "--print-pointers"))
        return &options->pointers;
    return NULL;
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
        const char *argument = argv[i];
        bool *on = app_switch(argument, options);
        bool mode = options->modes && !strcmp(argument, app_mode_option(options));
        size_t row = 0;

        if (!strcmp(argument, "--help"))
            app_help(about, options);
        if (on) {
            *on = true;
            continue;
        }
        while (row < sizeof table / sizeof *table && strcmp(argument, table[row].name))
            row++;
        bool offered = row < sizeof table / sizeof *table && *table[row].value >= table[row].min;
        if (!mode && !offered)
            app_misuse(argument, "unknown option");
        if (++i == argc)
            app_misuse(argument, "needs a value");
        if (mode)
            options->mode = app_mode(options, argv[i]);
        else
            *table[row].value = app_number(argument, argv[i], table[row].min, table[row].max);
    }
}

#endif
