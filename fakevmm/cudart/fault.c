/* fault.c: the part of FAKEVMM_FAULT that concerns this library: entries that name a function of
 * the runtime, <function>:<nth>[:<error name or number>][:persistent]. Those of driver functions
 * are the driver's to read. Without an error the answer is cudaErrorInvalidValue. It must not know
 * what the functions do. */
#include "fault.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FAULTS 64

struct fault {
    const char *symbol; /* of `symbols` */
    unsigned long nth;
    cudaError_t error;
    bool persistent;
};

static struct fault faults[MAX_FAULTS];
static int fault_count; /* does not change once it was read */

static const char *const symbols[] = {
#define RT(need, symbol, impl, params, args) #symbol,
#define RT_PLAIN(type, fallback, symbol, params, args)
#include "entries.def"
#undef RT
#undef RT_PLAIN
};

static const char *find_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strcmp(symbols[i], name) == 0)
            return symbols[i];
    return NULL;
}

static bool parse_number(const char *text, unsigned long *out)
{
    char *end;

    if (!text || *text < '1' || *text > '9')
        return false;
    *out = strtoul(text, &end, 10);
    return *end == '\0';
}

static bool parse_error(const char *text, cudaError_t *out)
{
    static const struct {
        const char *name;
        cudaError_t error;
    } errors[] = {
#define E(name, description) {#name, name},
#include "errors.def"
#undef E
    };
    unsigned long number = 0;

    parse_number(text, &number);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].error == cudaSuccess ||
            (strcmp(errors[i].name, text) != 0 && errors[i].error != (cudaError_t)number))
            continue;
        *out = errors[i].error;
        return true;
    }
    return false;
}

/* Parses one entry, which it cuts up. NULL, or what is wrong. */
static const char *parse_entry(char *entry, struct fault *out)
{
    char *rest = entry;

    *out =
        (struct fault){.symbol = find_symbol(strsep(&rest, ":")), .error = cudaErrorInvalidValue};
    if (!out->symbol)
        return "no such exported function that returns an error";
    if (!parse_number(strsep(&rest, ":"), &out->nth))
        return "the call's number is missing; the first call is 1";
    for (const char *word; (word = strsep(&rest, ":"));) {
        if (strcmp(word, "persistent") == 0)
            out->persistent = true;
        else if (!parse_error(word, &out->error))
            return "no such error";
    }
    return NULL;
}

static bool is_ours(const char *entry)
{
    return strncmp(entry, "cuda", 4) == 0 || strncmp(entry, "__cuda", 6) == 0;
}

static void read_faults(void)
{
    const char *value = getenv("FAKEVMM_FAULT"), *wrong = NULL;
    char *copy = value ? strdup(value) : NULL, *rest = copy;

    while (!wrong && rest) {
        char *entry = strsep(&rest, ",");

        if (!is_ours(entry))
            continue;
        wrong = fault_count < MAX_FAULTS ? parse_entry(entry, &faults[fault_count])
                                         : "too many entries";
        fault_count += !wrong;
    }
    free(copy);
    if (!wrong)
        return;
    fprintf(stderr,
            "fakevmm: FAKEVMM_FAULT=%s: %s; use <function>:<nth>[:<error name or number>]"
            "[:persistent], separated by commas\n",
            value, wrong);
    _exit(1);
}

cudaError_t rt_fault_of(const char *symbol, atomic_ulong *calls)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    unsigned long nth;

    pthread_once(&once, read_faults);
    if (!fault_count)
        return cudaSuccess;
    nth = atomic_fetch_add_explicit(calls, 1, memory_order_relaxed) + 1;
    for (int i = 0; i < fault_count; i++) {
        const struct fault *fault = &faults[i];
        if (strcmp(fault->symbol, symbol) == 0 &&
            (fault->nth == nth || (fault->persistent && nth > fault->nth)))
            return fault->error;
    }
    return cudaSuccess;
}
