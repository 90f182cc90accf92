/* reports.h: what the programs of reports from the field share: rows that are run by name, and the
 * lines by which a row says what must arrive at the driver. On rig.h. */
#ifndef REPORTS_H
#define REPORTS_H

#include "tests/shim/progs/rig.h"

struct row {
    const char *name;
    void (*run)(void); /* with the rig up */
};

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, name                                                                                \
    }

/* So many calls of it, no more and no fewer, must arrive. */
static inline void reach(const char *function, unsigned calls)
{
    printf("reach %s %u\n", function, calls);
}

/* No more than so many. */
__attribute__((unused)) static void at_most(const char *function, unsigned calls)
{
    printf("at_most %s %u\n", function, calls);
}

__attribute__((unused, noreturn)) static void fail(const char *what, unsigned number)
{
    fprintf(stderr, "%s %u\n", what, number);
    exit(1);
}

/* For main: the row that is asked for, or all their names. */
static inline int run_row(const struct row *rows, size_t count, struct rig *rig, int argc,
                          char **argv)
{
    bool list = argc == 2 && !strcmp(argv[1], "--rows");

    for (size_t i = 0; argc == 2 && i < count; i++) {
        if (list)
            printf("%s\n", rows[i].name);
        if (strcmp(argv[1], rows[i].name) != 0)
            continue;
        rig_up(rig);
        rows[i].run();
        return 0;
    }
    return list ? 0 : 2;
}

#endif
