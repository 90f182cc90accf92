/* core_recycle_threads.c: threads that allocate and free at the same time, while others read
 * statistics and take memory back: no address is two threads' at once, and the books are right at
 * the end. */
#include "tests/unit/core_app.h"

enum { THREADS = 4, ROUNDS = 3000, HELD = 8, UNITS = 1 << 18 };

static atomic_bool owned[UNITS]; /* by offset in the reservation, in 512 bytes */
static atomic_int wrong;
static atomic_bool stop;

struct worker {
    pthread_t thread;
    unsigned seed;
    uint64_t next; /* the driver's addresses for this thread */
    uint64_t address[HELD];
};

static bool is_ours(uint64_t address)
{
    return address >= (uint64_t)0x7f << 40;
}

static void own(uint64_t address, bool begins)
{
    uint64_t unit = (address - ((uint64_t)0x7f << 40)) / 512;

    if (unit >= UNITS || atomic_exchange(&owned[unit], begins) == begins)
        wrong++;
}

static enum vr_capture some_capture(unsigned *seed)
{
    return rand_r(seed) % 16 ? VR_CAPTURE_NONE : VR_CAPTURE_PERMITS;
}

static uint64_t alloc(struct worker *worker)
{
    static const uint64_t sizes[] = {2 * MIB, 4 * MIB, 512, 100, MIB, 70 * KIB};
    struct vr_alloc_call call = {.bytes = sizes[rand_r(&worker->seed) % 6],
                                 .context = APP_CONTEXT,
                                 .capture = some_capture(&worker->seed)};
    uint64_t address;

    if (vr_alloc_ask(app.state, &call, &address) == VR_ANSWERED) {
        own(address, true);
        return address;
    }
    address = worker->next;
    worker->next += 4 * MIB;
    vr_alloc_told(app.state, &call, true, address);
    return address;
}

static void free_one(struct worker *worker, uint64_t address)
{
    struct vr_free_call call = {.address = address, .capture = some_capture(&worker->seed)};
    enum vr_free_answer answer;

    if (is_ours(address))
        own(address, false);
    answer = vr_free_ask(app.state, &call);
    if ((answer == VR_FREE_DONE) != is_ours(address))
        wrong++;
    if (answer == VR_FREE_FORWARD)
        vr_free_told(app.state, &call, true);
}

static void *work(void *data)
{
    struct worker *worker = data;

    for (int round = 0; round < ROUNDS; round++) {
        uint64_t *address = &worker->address[rand_r(&worker->seed) % HELD];
        struct vr_memory_view view;
        if (*address) {
            if (is_ours(*address) && vr_memory_find(app.state, *address, &view) != VR_OK)
                wrong++;
            free_one(worker, *address);
            *address = 0;
        } else {
            *address = alloc(worker);
        }
    }
    for (int i = 0; i < HELD; i++)
        if (worker->address[i])
            free_one(worker, worker->address[i]);
    return NULL;
}

static void *disturb(void *data)
{
    while (!atomic_load(&stop)) {
        vr_memory_give_back(app.state, VR_CAPTURE_NONE);
        vr_memory_kept(app.state, 0);
        app_totals();
        app_take(512);
        app_take(100);
    }
    return NULL;
}

static void run(bool free_sync)
{
    struct worker worker[THREADS] = {0};
    pthread_t disturber;

    app_prepare(VR_MODE_ON, VR_BACKING_EAGER);
    app.options.free_sync = free_sync;
    app_start();
    stop = false;
    memset(owned, 0, sizeof owned);
    for (int i = 0; i < THREADS; i++) {
        worker[i].seed = (unsigned)i + 1;
        worker[i].next = (uint64_t)(i + 1) << 36;
        T_EQ(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
    }
    T_EQ(pthread_create(&disturber, NULL, disturb, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(worker[i].thread, NULL);
    stop = true;
    pthread_join(disturber, NULL);
    T_EQ(wrong, 0);
    T_EQ(vr_allocations_count(app.state->allocations), 0);
    T_GT(app_count(VR_COUNT_allocs_recycled), 0);
    app_end();
    T_EQ(device_handles(), 0);
}

TEST(threads, allocate_and_free)
{
    run(true);
}

TEST(threads, allocate_and_free_without_waiting)
{
    run(false);
}

/* Two threads free the same address: one of them does, the driver answers the other. */
static atomic_int done;

static void *free_shared(void *data)
{
    struct vr_free_call call = {.address = *(uint64_t *)data};

    if (vr_free_ask(app.state, &call) == VR_FREE_DONE)
        done++;
    return NULL;
}

TEST(threads, a_double_free_is_done_once)
{
    app_begin(VR_MODE_ON, VR_BACKING_EAGER);
    for (int round = 0; round < 200; round++) {
        struct vr_alloc_call call = {.bytes = 2 * MIB, .context = APP_CONTEXT};
        pthread_t thread[2];
        uint64_t address;
        done = 0;
        T_EQ(vr_alloc_ask(app.state, &call, &address), VR_ANSWERED);
        for (int i = 0; i < 2; i++)
            pthread_create(&thread[i], NULL, free_shared, &address);
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        T_EQ(done, 1);
    }
    T_EQ(app_totals().slices, 1);
    app_end();
}
