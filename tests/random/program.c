/* program.c: random programs. Each seed is one: it allocates, frees, sends parameters and launches
 * in three lanes, and prints a checksum over everything it could observe, return codes and
 * contents. A lane is a stream with buffers and graphs of its own; two threads work on the lanes,
 * and at fixed points lanes change hands. So no two threads use one object at a time, and no result
 * depends on timing or on an address.
 *
 *   program [--seeds FIRST-LAST] [--ops N] [--drop LIST]
 *
 * N: operations of each lane. LIST: comma list of operations to leave out, each LANE * N + number,
 * or a range of them FIRST-LAST: the others stay what they are, so that a program that fails can be
 * made small (scripts/shrink-random).
 */
#include "tests/random/lane.h"
#include "tests/apps/app.h"

#include <pthread.h>

#define THREADS 2
#define LANES   3
#define TURN    8 /* operations of a lane before it may change hands */

static struct world world;
static struct lane lanes[LANES];
static pthread_barrier_t barrier;
static uint64_t operations = 48; /* of each lane */
static uint64_t seeds[2] = {1, 50};
static bool *dropped; /* by lane and number */

/* The thread that works on a lane in a turn: any function of these that varies. */
static unsigned owner(uint64_t seed, uint64_t turn, unsigned lane)
{
    uint64_t state = seed * 1000003 + turn * LANES + lane;

    return (unsigned)(app_random(&state) % THREADS);
}

static void work(uint64_t seed, unsigned thread)
{
    for (uint64_t turn = 0; turn * TURN < operations; turn++) {
        for (unsigned i = 0; i < LANES; i++) {
            if (owner(seed, turn, i) != thread)
                continue;
            for (uint64_t n = turn * TURN; n < operations && n < (turn + 1) * TURN; n++)
                if (!dropped[i * operations + n])
                    lane_operate(&lanes[i], n);
        }
        pthread_barrier_wait(&barrier);
    }
}

static void run_seed(uint64_t seed, unsigned thread)
{
    if (thread == 0)
        for (unsigned i = 0; i < LANES; i++)
            lane_begin(&lanes[i], &world, seed * LANES + i);
    pthread_barrier_wait(&barrier);
    work(seed, thread);
    if (thread == 0) {
        uint64_t sum = APP_CHECKSUM_START;

        for (unsigned i = 0; i < LANES; i++) {
            uint64_t part = lane_end(&lanes[i]);
            sum = app_checksum(sum, &part, sizeof part);
        }
        printf("seed %" PRIu64 " checksum %016" PRIx64 "\n", seed, sum);
    }
    pthread_barrier_wait(&barrier);
}

static void *run_thread(void *argument)
{
    unsigned thread = *(unsigned *)argument;

    MUST(cuCtxSetCurrent(world.context));
    for (uint64_t seed = seeds[0]; seed <= seeds[1]; seed++)
        run_seed(seed, thread);
    return NULL;
}

static void drop(const char *list)
{
    while (*list) {
        uint64_t first, last;
        int used = 0;

        if (sscanf(list, "%" SCNu64 "%n", &first, &used) != 1)
            app_misuse("--drop", "takes numbers");
        list += used;
        last = first;
        if (*list == '-' && sscanf(list, "-%" SCNu64 "%n", &last, &used) == 1)
            list += used;
        for (uint64_t i = first; i <= last && i < LANES * operations; i++)
            dropped[i] = true;
        list += *list == ',';
    }
}

static void parse(int argc, char **argv)
{
    const char *list = "";

    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (!strcmp(argv[i], "--seeds") &&
            sscanf(value, "%" SCNu64 "-%" SCNu64, &seeds[0], &seeds[1]) == 2)
            continue;
        if (!strcmp(argv[i], "--ops") && sscanf(value, "%" SCNu64, &operations) == 1)
            continue;
        if (strcmp(argv[i], "--drop") != 0)
            app_misuse(argv[i], "takes --seeds FIRST-LAST, --ops N and --drop LIST");
        list = value;
    }
    dropped = app_alloc(LANES * operations, sizeof *dropped);
    drop(list);
}

int main(int argc, char **argv)
{
    unsigned numbers[THREADS];
    pthread_t threads[THREADS];

    parse(argc, argv);
    world_open(&world);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, run_thread, &numbers[i]))
            app_fail("pthread_create", "no thread");
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    world_close(&world);
    free(dropped);
    return fflush(stdout) || ferror(stdout);
}
