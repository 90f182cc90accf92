/* door.h: the door every exported call passes, for the files that generate entry points (door.c and
 * procaddr.c) and those that watch it (fault.c). Implementations do not need it. */
#ifndef FAKEVMM_DOOR_H
#define FAKEVMM_DOOR_H

#include "fakevmm.h"

/* One number per row of entries.def, in its order. */
enum fv_row {
#define FV(symbol, base, since, ptds, impl, params, args) FV_ROW_##symbol,
#include "entries.def"
#undef FV
    FV_ROWS
};

struct fv_symbol {
    const char *symbol; /* the exported name */
    const char *base;   /* what cuGetProcAddress knows it by */
    int since;
    bool ptds;
};

extern const struct fv_symbol fv_symbols[FV_ROWS];

/* Takes the lock, counts the call, and answers for the driver as a whole: injected faults, not
 * initialised, already shut down, a forked child. Only CUDA_SUCCESS goes on to the
 * implementation. */
CUresult fv_enter(enum fv_row row, bool ptds);
void fv_leave(void);
/* Names a function that nobody implements, once, and answers CUDA_ERROR_NOT_SUPPORTED. */
CUresult fv_missing(enum fv_row row);

/* The body of an entry point. */
#define FV_DOOR(symbol, ptds, impl, args)                                                          \
    {                                                                                              \
        CUresult result = fv_enter(FV_ROW_##symbol, ptds);                                         \
        if (result == CUDA_SUCCESS)                                                                \
            result = fv_##impl ? fv_##impl args : fv_missing(FV_ROW_##symbol);                     \
        fv_leave();                                                                                \
        return result;                                                                             \
    }

/* What idle workers sleep on; the lock is dropped meanwhile. fv_changed() wakes one too. */
void fv_wait_for_work(void);
void fv_work_added(void);
/* Wakes the sleepers of fv_wait() alone, for a worker that looks for more work itself. */
void fv_work_done(void);

/* fault.c: reads FAKEVMM_FAULT. NULL, or what is wrong with it (valid until the next call). */
const char *fv_fault_parse(const char *text);
/* The error to answer for the nth call of a function, or CUDA_SUCCESS. Lock held. */
CUresult fv_fault_of(enum fv_row row, uint64_t nth);

/* capture_rules.c: CUDA_SUCCESS, or the error of a function that may not be called while a capture
 * lives. Lock held. */
CUresult fv_capture_permits_call(enum fv_row row);

/* errors.c */
const char *fv_error_name(CUresult error); /* NULL for a number that is none */
bool fv_error_from_name(const char *name, CUresult *out);

#endif
