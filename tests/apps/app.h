/* app.h: what every sample program does beside its CUDA work: keeps count of its calls, measures
 * them, prints its results. With options.h and data.h; header-only, C and C++. It knows no CUDA
 * type and nothing of libvaremap or the fake GPU: these are programs as users write them, and they
 * run on a real GPU as well. */
#ifndef APP_H
#define APP_H

#include "tests/apps/options.h"
#include "tests/apps/data.h"
#include <time.h>

/* Zeroed memory for `count` (at least one) things, or the program ends. */
static inline void *app_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        app_fail("calloc", "out of memory");
    return memory;
}

struct app_tally {
    uint64_t updates, launches; /* calls that change the exec; graph launches */
    uint64_t allocs, frees;     /* of device memory, by a program that allocates in every step */
    uint64_t host_ns;           /* spent in these calls */
    uint64_t checksum;
};

static inline uint64_t app_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The last line of every program. Returns the status for main to return. */
static inline int app_checksum_line(uint64_t checksum)
{
    printf("checksum %016" PRIx64 "\n", checksum);
    if (fflush(stdout) || ferror(stdout))
        app_fail("printf", "cannot write the results");
    return 0;
}

/* The closing lines of a program that updates and launches a graph. */
static inline int app_finish(const struct app_options *options, const struct app_tally *tally)
{
    printf("updates %" PRIu64 "\nlaunches %" PRIu64 "\n", tally->updates, tally->launches);
    if (options->allocates)
        printf("allocs %" PRIu64 "\nfrees %" PRIu64 "\n", tally->allocs, tally->frees);
    if (options->time)
        printf("host_ns_per_step %" PRIu64 "\n",
               options->steps ? tally->host_ns / options->steps : 0);
    return app_checksum_line(tally->checksum);
}

#endif
