/* text.h: text without stdio and without the heap, because it is written inside other people's
 * programs, at any moment, also from a signal handler. A vr_text collects bytes in the caller's
 * buffer; one with a file descriptor flushes itself when full, one without cuts the text off and
 * remembers it. */
#ifndef VR_TEXT_H
#define VR_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vr_text {
    char *buffer;
    size_t size, used;
    int fd;      /* -1: keep what fits */
    bool failed; /* bytes were lost: cut off, or a write failed */
};

/* An empty text over `buffer`; `fd` -1 for none. */
struct vr_text vr_text_over(char *buffer, size_t size, int fd);

void vr_text_bytes(struct vr_text *text, const void *bytes, size_t count);
void vr_text_put(struct vr_text *text, const char *string);
void vr_text_u64(struct vr_text *text, uint64_t value);

/* A small printf. Conversions: %s %c %d %u %x %zu %llu %llx %p %%; no flags, widths or precisions.
 * A NULL string prints as (null). An unknown conversion is printed as it stands and ends the text,
 * since its argument cannot be skipped. */
void vr_text_format(struct vr_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vr_text_vformat(struct vr_text *text, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* A JSON string, quotes included. Control characters and bytes above 0x7e are escaped by their
 * value, so that any bytes make valid JSON. */
void vr_text_json(struct vr_text *text, const char *string);

/* Writes what is buffered to the descriptor; false when bytes were lost, now or before. */
bool vr_text_flush(struct vr_text *text);

/* All bytes to `fd`: interrupted and short writes go on, a closed pipe raises no signal, and errno
 * is what it was. False when not all were written. */
bool vr_write_all(int fd, const void *bytes, size_t count);

#endif
