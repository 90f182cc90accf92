/* log.h: lines for people, on stderr or in a file. No heap, no stdio; the level is checked before a
 * line is formatted; one write per line, so that lines of several threads and processes do not mix.
 * A log file is opened for each line and closed again: an application may close or reuse any
 * descriptor it did not open itself. A line begins "varemap[pid]: level: ". */
#ifndef VR_LOG_H
#define VR_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vr_log_level { VR_LOG_ERROR, VR_LOG_WARN, VR_LOG_INFO, VR_LOG_DEBUG };

/* Longer lines are cut off and end in "...". */
#define VR_LOG_LINE 1024

/* More lines than this in one second are dropped and counted; the count is told with the next line
 * that gets through. */
#define VR_LOG_LINES_PER_SECOND 200

struct vr_log {
    enum vr_log_level level;
    const char *file; /* NULL or empty: stderr */
    _Atomic uint64_t second, lines, dropped;
    _Atomic uint64_t once; /* one bit per reason that has been told */
};

/* `file` may hold %p and %h; it is kept by pointer. */
void vr_log_init(struct vr_log *log, enum vr_log_level level, const char *file);

/* Conversions: those of vr_text_format(). Control characters in the finished line print as '?'. */
void vr_log_line(struct vr_log *log, enum vr_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, whatever the level asked for and however many lines there were: for bad options. */
void vr_log_always(struct vr_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline bool vr_log_on(const struct vr_log *log, enum vr_log_level level)
{
    return level <= log->level;
}

#define vr_log(log, level, ...)                                                                    \
    do {                                                                                           \
        if (vr_log_on(log, level))                                                                 \
            vr_log_line(log, level, __VA_ARGS__);                                                  \
    } while (0)

/* True for the first caller with this reason (0-63), if its level is on. One relaxed load after
 * that. */
static inline bool vr_log_first(struct vr_log *log, enum vr_log_level level, unsigned reason)
{
    uint64_t bit = (uint64_t)1 << reason;

    if (!vr_log_on(log, level) || (atomic_load_explicit(&log->once, memory_order_relaxed) & bit))
        return false;
    return !(atomic_fetch_or_explicit(&log->once, bit, memory_order_relaxed) & bit);
}

/* Expands %p (process id), %h (host name) and %% in a file name; other '%' stay. False when the
 * result does not fit; `out` is then empty. No heap. */
bool vr_path_expand(char *out, size_t size, const char *name);

#endif
