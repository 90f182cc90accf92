/* log.c: makes a line and hands it to the kernel. Owns the line's shape, the rate cap and where
 * lines go; must not know who logs what. errno is kept for the application. */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "output.h"
#include "text.h"

void vr_log_init(struct vr_log *log, enum vr_log_level level, const char *file)
{
    memset(log, 0, sizeof *log);
    log->level = level;
    log->file = file;
}

bool vr_path_expand(char *out, size_t size, const char *name)
{
    struct vr_text text = vr_text_over(out, size - 1, -1);
    struct utsname host;

    for (; *name; name++) {
        char next = name[0] == '%' ? name[1] : '\0';
        if (next == 'p')
            vr_text_u64(&text, (uint64_t)getpid());
        else if (next == 'h')
            vr_text_put(&text, uname(&host) == 0 ? host.nodename : "unknown");
        else
            vr_text_bytes(&text, name, 1);
        if (next == 'p' || next == 'h' || next == '%')
            name++;
    }
    out[text.failed ? 0 : text.used] = '\0';
    return !text.failed;
}

static int open_log(const struct vr_log *log)
{
    char path[PATH_MAX];

    if (!log->file || !log->file[0] || !vr_path_expand(path, sizeof path, log->file))
        return STDERR_FILENO;
    int fd = vr_output_open(path, O_APPEND);
    return fd < 0 ? STDERR_FILENO : fd;
}

static void write_line(const struct vr_log *log, struct vr_text *line)
{
    int fd = open_log(log);

    /* The buffer has four bytes more than the text was told of. */
    if (line->failed) {
        memcpy(line->buffer + line->used, "...", 3);
        line->used += 3;
    }
    for (size_t i = 0; i < line->used; i++)
        if ((unsigned char)line->buffer[i] < 0x20 || line->buffer[i] == 0x7f)
            line->buffer[i] = '?';
    line->buffer[line->used++] = '\n';
    vr_write_all(fd, line->buffer, line->used);
    if (fd != STDERR_FILENO)
        close(fd);
}

static void begin_line(struct vr_text *line, enum vr_log_level level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};

    vr_text_format(line, "varemap[%d]: %s: ", (int)getpid(), names[level]);
}

static uint64_t seconds_now(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec + 1; /* never the 0 of a fresh log */
}

/* Two threads may both see a new second begin; then a few lines more get through, which does no
 * harm. */
static bool admit(struct vr_log *log)
{
    uint64_t now = seconds_now();

    if (atomic_exchange_explicit(&log->second, now, memory_order_relaxed) != now)
        atomic_store_explicit(&log->lines, 0, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&log->lines, 1, memory_order_relaxed) < VR_LOG_LINES_PER_SECOND)
        return true;
    atomic_fetch_add_explicit(&log->dropped, 1, memory_order_relaxed);
    return false;
}

static void log_list(struct vr_log *log, enum vr_log_level level, const char *format, va_list args)
{
    char buffer[VR_LOG_LINE];
    struct vr_text line = vr_text_over(buffer, sizeof buffer - 4, -1);
    uint64_t dropped = atomic_exchange_explicit(&log->dropped, 0, memory_order_relaxed);
    int saved_errno = errno;

    begin_line(&line, level);
    if (dropped)
        vr_text_format(&line, "(%llu lines dropped) ", (unsigned long long)dropped);
    vr_text_vformat(&line, format, args);
    write_line(log, &line);
    errno = saved_errno;
}

void vr_log_line(struct vr_log *log, enum vr_log_level level, const char *format, ...)
{
    va_list args;

    if (!vr_log_on(log, level) || !admit(log))
        return;
    va_start(args, format);
    log_list(log, level, format, args);
    va_end(args);
}

void vr_log_always(struct vr_log *log, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_list(log, VR_LOG_WARN, format, args);
    va_end(args);
}
