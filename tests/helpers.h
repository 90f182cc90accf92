/* helpers.h: what system tests share: running a program in a chosen way on the fake GPU, and
 * reading the count and statistics files it leaves. It knows file formats and environment
 * variables, no CUDA.
 *
 * Folders come from the environment: VR_BUILD (default "build") holds the products, VR_ROOT
 * (default
 * ".") the sources. A helper that cannot do its job fails the running test. */
#ifndef T_HELPERS_H
#define T_HELPERS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- folders ---- */

/* The path of a build product, e.g. t_build("apps/%s", name): formatted, malloc'd. */
char *t_build(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As t_build(), for a file of the source tree. */
char *t_source(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* printf into a malloc'd string. */
char *t_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A new, empty folder; removed with all it holds when the test's process exits. */
const char *t_temp(void);

/* ---- numbers in JSON ---- */

struct t_number {
    char *path; /* names of the objects around it and its own, joined by dots */
    long long value;
};

/* The whole numbers of a JSON text, in its order; other values are skipped. */
struct t_json {
    size_t count;
    struct t_number *numbers;
};

/* Reads a file; fails the test when there is none or it is not one JSON object. */
struct t_json t_json_read(const char *file);
/* The number at a path, `missing` when there is none. */
long long t_json_get(const struct t_json *json, const char *path, long long missing);
void t_json_free(struct t_json *json);

/* ---- programs ---- */

enum t_way { T_BARE, T_OBSERVE, T_ON, T_OFF };

/* What a program did. exit_code is 128 + the signal's number when a signal ended it. `counts` is
 * what reached the fake driver, by exported name; `stats` the library's statistics (of a run that
 * has any: observed or on). Both are empty when the program left no such file. */
struct t_run {
    int exit_code;
    char *out, *err;
    struct t_json counts, stats;
};

/* Runs argv[0] (a path, or a name found in PATH) through scripts/run-fake in the given way. `env`
 * is a NULL-terminated list of NAME=value on top of the test's own environment, or NULL. A program
 * that runs longer than T_RUN_SECONDS is killed and fails the test. */
#define T_RUN_SECONDS 200
struct t_run t_run(enum t_way way, const char *const argv[], const char *const env[]);
/* The same without run-fake and without counts or statistics, as the environment stands. */
struct t_run t_command(const char *const argv[], const char *const env[]);
void t_run_free(struct t_run *run);

/* Setters of kernel nodes, both forms, that reached the driver. */
long long t_kernel_setters(const struct t_json *counts);
/* The text after "<name> " on the line of `text` that starts so, up to the line's end; fails the
 * test when there is no such line. Malloc'd. */
char *t_line(const char *text, const char *name);
/* The same as a whole number. */
long long t_line_number(const char *text, const char *name);

#endif
