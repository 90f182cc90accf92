/* hazard.c: finds memory that is taken away under work, when FAKEVMM_STRICT=1. What queued work
 * will touch is known for copies and fills; for kernels it is what their parameters name, and,
 * while one runs, the mappings it has really been to. It must not know what the work does. */
#include "hazard.h"
#include "settings.h"
#include "stream.h"
#include "va.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include <unistd.h>

#define EXIT_STATUS 97
#define PLACES      (sizeof((struct fv_watch){0}.places) / sizeof(struct fv_place))

static atomic_bool found;

static struct {
    pthread_mutex_t lock; /* kernels run without the driver's */
    struct fv_watch *first;
} watches = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fv_hazard(const char *format, ...)
{
    char text[400];
    va_list args;

    if (!fv_settings()->strict)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fv_say("hazard: %s", text);
    found = true;
}

/* exit() flushes only after destructors, so that is left to do. */
void fv_hazards_end(void)
{
    if (!found)
        return;
    fflush(NULL);
    _exit(EXIT_STATUS);
}

/* ---- queued and running work ---- */

/* What uses the range in a stream, and whether it is running; NULL for nothing. */
static const char *used_in(const struct fv_stream *stream, CUdeviceptr base, size_t size,
                           bool *running)
{
    for (const struct fv_work *work = stream->head; work; work = work->next) {
        const char *what = work->uses ? work->uses(work, base, size) : NULL;
        *running = stream->busy && work == stream->head;
        if (what)
            return what;
    }
    return NULL;
}

static bool report_work(const char *call, CUdeviceptr base, size_t size)
{
    bool running;

    for (struct fv_stream *it = fv_next(FV_STREAM, NULL); it; it = fv_next(FV_STREAM, it)) {
        const char *what = used_in(it, base, size, &running);
        if (!what)
            continue;
        fv_hazard("%s of [0x%llx, 0x%llx), which a %s %s uses", call, (unsigned long long)base,
                  (unsigned long long)base + size, running ? "running" : "queued", what);
        return true;
    }
    return false;
}

/* ---- where running kernels have been ---- */

void fv_watch_start(struct fv_watch *watch, const char *kernel)
{
    *watch = (struct fv_watch){.kernel = kernel};
    if (!fv_settings()->strict)
        return;
    pthread_mutex_lock(&watches.lock);
    watch->next = watches.first;
    watches.first = watch;
    pthread_mutex_unlock(&watches.lock);
}

static bool is_noted(const struct fv_watch *watch, const struct fv_span *span)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (watch->places[i].base == span->base && watch->places[i].end == span->end)
            return true;
    return false;
}

void fv_watch_note(struct fv_watch *watch, struct fv_span *span, CUdeviceptr address,
                   unsigned bytes, bool write)
{
    if (!fv_settings()->strict)
        return;
    pthread_mutex_lock(&watches.lock);
    if (!is_noted(watch, span))
        watch->places[watch->seen++ % PLACES] = (struct fv_place){span->base, span->end};
    if (span->aliased && span->end - address >= bytes) {
        span->host += address - span->base;
        span->base = address;
        span->end = address + bytes;
        span->writable = span->writable && write;
        fv_alias_note(watch, span->host, address, bytes, write);
    }
    pthread_mutex_unlock(&watches.lock);
}

void fv_watch_end(struct fv_watch *watch)
{
    struct fv_watch **at = &watches.first;

    if (!fv_settings()->strict)
        return;
    pthread_mutex_lock(&watches.lock);
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
    pthread_mutex_unlock(&watches.lock);
    fv_alias_end(watch);
}

static bool has_been(const struct fv_watch *watch, CUdeviceptr base, size_t size)
{
    unsigned count = watch->seen < PLACES ? watch->seen : PLACES;

    for (unsigned i = 0; i < count; i++) {
        const struct fv_place *place = &watch->places[i];
        if (fv_overlap(place->base, place->end - place->base, base, size))
            return true;
    }
    return false;
}

static void report_watch(const char *call, CUdeviceptr base, size_t size)
{
    pthread_mutex_lock(&watches.lock);
    for (const struct fv_watch *it = watches.first; it; it = it->next) {
        if (!has_been(it, base, size))
            continue;
        fv_hazard("%s of [0x%llx, 0x%llx), where the running kernel %s has been", call,
                  (unsigned long long)base, (unsigned long long)base + size, it->kernel);
        break;
    }
    pthread_mutex_unlock(&watches.lock);
}

void fv_hazard_if_used(const char *call, CUdeviceptr base, size_t size)
{
    if (fv_settings()->strict && !report_work(call, base, size))
        report_watch(call, base, size);
}
