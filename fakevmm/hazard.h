/* hazard.h: mistakes that a GPU answers with garbage or not at all: found and printed under
 * FAKEVMM_STRICT=1, and the process exits 97. Owned by hazard.c. */
#ifndef FAKEVMM_HAZARD_H
#define FAKEVMM_HAZARD_H

#include "fakevmm.h"

struct fv_span;
struct fv_touched;

/* Prints one line, "fakevmm: hazard: ..."; without FAKEVMM_STRICT=1 nothing. Any thread. */
void fv_hazard(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the process with status 97 if there was a hazard; the last thing the library does. */
void fv_hazards_end(void);

/* `call` is about to take [base, base + size) away: a hazard if queued or running work names an
 * address in it, or a running kernel has been there. One line at most. Lock held. */
void fv_hazard_if_used(const char *call, CUdeviceptr base, size_t size);

/* For the `uses` functions of work (stream.h). */
static inline bool fv_overlap(CUdeviceptr a, size_t a_size, CUdeviceptr b, size_t b_size)
{
    return a_size && b_size && (a < b ? b - a < a_size : a - b < b_size);
}

/* Where a running kernel has been lately. A kernel is watched from start to end; any thread, no
 * lock. */
struct fv_watch {
    const char *kernel;
    struct fv_place {
        CUdeviceptr base, end;
    } places[32]; /* the newest ones, in a ring */
    unsigned seen;
    struct fv_touched *touched; /* hazard_alias.c's */
    struct fv_watch *next;
};
void fv_watch_start(struct fv_watch *watch, const char *kernel);
/* An access of `bytes` bytes to the memory of a span. If the same memory has another address, the
 * span is narrowed to this access, so that every other one is noted too. */
void fv_watch_note(struct fv_watch *watch, struct fv_span *span, CUdeviceptr address,
                   unsigned bytes, bool write);
void fv_watch_end(struct fv_watch *watch);

/* hazard_alias.c, for hazard.c: one launch reaching the same bytes through two addresses, with a
 * write among them: a GPU does not promise that either sees the other. The watch's lock is held. */
void fv_alias_note(struct fv_watch *watch, const unsigned char *host, CUdeviceptr address,
                   unsigned bytes, bool write);
void fv_alias_end(struct fv_watch *watch);

#endif
