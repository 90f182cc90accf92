/* fault.c: FAKEVMM_FAULT=<function>:<nth>[:<error name or number>][:persistent], a comma list.
 * The nth call of an exported function (the first is 1) answers the error instead of reaching
 * its implementation; with `persistent` every later call does too. Without an error the answer
 * is CUDA_ERROR_INVALID_VALUE, which is documented for more functions than any other and leaves
 * the context usable. It must not know what the functions do. */
#include "door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FAULTS 64

struct fault {
    enum fv_row row;
    uint64_t nth;
    CUresult error;
    bool persistent;
};

static struct fault faults[MAX_FAULTS];
static int fault_count;

static bool parse_number(const char *text, unsigned long *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *out = strtoul(text, &end, 10);
    return *end == '\0';
}

static bool find_row(const char *symbol, enum fv_row *out)
{
    for (int row = 0; row < FV_ROWS; row++) {
        if (strcmp(fv_symbols[row].symbol, symbol) == 0) {
            *out = (enum fv_row)row;
            return true;
        }
    }
    return false;
}

/* A name or a number of an error; success is no fault. */
static bool parse_error(const char *text, CUresult *out)
{
    unsigned long number;

    if (fv_error_from_name(text, out))
        return *out != CUDA_SUCCESS;
    if (!parse_number(text, &number) || number == 0)
        return false;
    *out = (CUresult)number;
    return fv_error_name(*out) != NULL;
}

/* Entries that name a function of the runtime library are read there. */
static bool is_runtimes(const char *entry)
{
    return strncmp(entry, "cuda", 4) == 0 || strncmp(entry, "__cuda", 6) == 0;
}

/* Parses one entry, which it cuts up. NULL, or what is wrong. */
static const char *parse_entry(char *entry, struct fault *out)
{
    char *rest = entry;
    const char *symbol = strsep(&rest, ":"), *nth = strsep(&rest, ":");
    unsigned long number;

    *out = (struct fault){.error = CUDA_ERROR_INVALID_VALUE};
    if (!find_row(symbol, &out->row))
        return "no such exported function";
    if (!nth || !parse_number(nth, &number) || number == 0)
        return "the call's number is missing; the first call is 1";
    out->nth = number;
    for (const char *word; (word = strsep(&rest, ":"));) {
        if (strcmp(word, "persistent") == 0)
            out->persistent = true;
        else if (!parse_error(word, &out->error))
            return "no such error";
    }
    return NULL;
}

const char *fv_fault_parse(const char *text)
{
    char *copy = strdup(text), *rest = copy;
    const char *wrong = copy ? NULL : "out of memory";

    while (!wrong && rest) {
        char *entry = strsep(&rest, ",");

        if (is_runtimes(entry))
            continue;
        wrong = fault_count < MAX_FAULTS ? parse_entry(entry, &faults[fault_count])
                                         : "too many entries";
        fault_count += !wrong;
    }
    if (wrong)
        fault_count = 0;
    free(copy);
    return wrong;
}

CUresult fv_fault_of(enum fv_row row, uint64_t nth)
{
    for (int i = 0; i < fault_count; i++) {
        const struct fault *fault = &faults[i];
        if (fault->row == row && (fault->nth == nth || (fault->persistent && nth > fault->nth)))
            return fault->error;
    }
    return CUDA_SUCCESS;
}
