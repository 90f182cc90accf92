/* text.c: the small formatter and the one place that writes to a file descriptor. Must not know
 * what is written. Uses no heap, no stdio and no locale; everything here may run in a signal
 * handler. */
#include "text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct vr_text vr_text_over(char *buffer, size_t size, int fd)
{
    return (struct vr_text){.buffer = buffer, .size = size, .fd = fd};
}

void vr_text_bytes(struct vr_text *text, const void *bytes, size_t count)
{
    const char *from = bytes;

    while (count) {
        size_t room = text->size - text->used, part = count < room ? count : room;
        if (part)
            memcpy(text->buffer + text->used, from, part);
        text->used += part;
        from += part;
        count -= part;
        if (count && (text->fd < 0 || !vr_text_flush(text))) {
            text->failed = true;
            return;
        }
    }
}

void vr_text_put(struct vr_text *text, const char *string)
{
    vr_text_bytes(text, string, strlen(string));
}

static void put_number(struct vr_text *text, uint64_t value, unsigned base)
{
    char digits[20], *first = digits + sizeof digits;

    do {
        *--first = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    vr_text_bytes(text, first, (size_t)(digits + sizeof digits - first));
}

void vr_text_u64(struct vr_text *text, uint64_t value)
{
    put_number(text, value, 10);
}

static void put_signed(struct vr_text *text, int value)
{
    if (value < 0)
        vr_text_put(text, "-");
    put_number(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

static const char *or_null(const char *string)
{
    return string ? string : "(null)";
}

/* The conversion is named by its characters after the '%'; returns how many those were, 0 if
 * unknown. The list is passed in a struct, because a va_list that is an array cannot be passed by
 * address. */
struct arguments {
    va_list list;
};

static size_t put_conversion(struct vr_text *text, const char *name, struct arguments *args)
{
    switch (name[0]) {
    case '%': vr_text_put(text, "%"); return 1;
    case 's': vr_text_put(text, or_null(va_arg(args->list, const char *))); return 1;
    case 'c': vr_text_bytes(text, &(char){(char)va_arg(args->list, int)}, 1); return 1;
    case 'd': put_signed(text, va_arg(args->list, int)); return 1;
    case 'u': put_number(text, va_arg(args->list, unsigned), 10); return 1;
    case 'x': put_number(text, va_arg(args->list, unsigned), 16); return 1;
    case 'p':
        vr_text_put(text, "0x");
        put_number(text, (uintptr_t)va_arg(args->list, void *), 16);
        return 1;
    }
    if (strncmp(name, "zu", 2) == 0) {
        put_number(text, va_arg(args->list, size_t), 10);
        return 2;
    }
    if (strncmp(name, "llu", 3) == 0 || strncmp(name, "llx", 3) == 0) {
        put_number(text, va_arg(args->list, unsigned long long), name[2] == 'x' ? 16 : 10);
        return 3;
    }
    return 0;
}

void vr_text_vformat(struct vr_text *text, const char *format, va_list list)
{
    struct arguments args;

    va_copy(args.list, list);
    for (;;) {
        const char *percent = strchr(format, '%');
        if (!percent) {
            vr_text_put(text, format);
            break;
        }
        vr_text_bytes(text, format, (size_t)(percent - format));
        size_t taken = put_conversion(text, percent + 1, &args);
        if (!taken) {
            vr_text_put(text, percent);
            break;
        }
        format = percent + 1 + taken;
    }
    va_end(args.list);
}

void vr_text_format(struct vr_text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vr_text_vformat(text, format, args);
    va_end(args);
}

void vr_text_json(struct vr_text *text, const char *string)
{
    vr_text_put(text, "\"");
    for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
        if (*c == '"' || *c == '\\')
            vr_text_format(text, "\\%c", *c);
        else if (*c < 0x20 || *c > 0x7e)
            vr_text_format(text, "\\u00%x%x", *c >> 4, *c & 15);
        else
            vr_text_bytes(text, c, 1);
    }
    vr_text_put(text, "\"");
}

bool vr_text_flush(struct vr_text *text)
{
    if (text->used && !vr_write_all(text->fd, text->buffer, text->used))
        text->failed = true;
    text->used = 0;
    return !text->failed;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

/* A reader that went away, or a file size limit, must cost the application nothing: the signals
 * that a write can raise are held back meanwhile, and one that it did raise is taken away, unless
 * the application had one pending already. On Linux sigprocmask acts on the calling thread, as
 * pthread_sigmask does, which libc has only from glibc 2.32 on. */
bool vr_write_all(int fd, const void *bytes, size_t count)
{
    int saved_errno = errno;
    sigset_t raised, before, pending;

    sigemptyset(&raised);
    sigaddset(&raised, SIGPIPE);
    sigaddset(&raised, SIGXFSZ);
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, &raised, &before);

    bool done = write_all(fd, bytes, count);
    int signal = done ? 0 : errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;

    if (signal && !sigismember(&pending, signal)) {
        const struct timespec at_once = {0};
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, signal);
        while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR)
            ;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved_errno;
    return done;
}
