/* door.h: the door every exported call passes, for the files that generate entry points (door.c and
 * procaddr.c) and those that watch it (fault.c, journal.c). Implementations do not need it. */
#ifndef FAKEVMM_DOOR_H
#define FAKEVMM_DOOR_H

#include "fakevmm.h"
#include "values.h"

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
    const char *params; /* as entries.def has them, in parentheses */
};

extern const struct fv_symbol fv_symbols[FV_ROWS];

/* One call of an exported function, from its door until it returns; lives on the caller's stack. */
struct fv_call {
    enum fv_row row;
    bool ptds;
    const struct fv_value *values; /* one for each parameter */
    struct fv_journal *journal;    /* what has been written about it so far, or NULL */
    bool watched;                  /* graphs among the arguments are noted as in use */
};

/* Takes the lock, counts the call, and answers for the driver as a whole: injected faults, not
 * initialised, already shut down, a forked child. Only CUDA_SUCCESS goes on to the
 * implementation. */
CUresult fv_enter(struct fv_call *call);
/* Drops the lock; `result` is what the call is going to return. */
void fv_leave(struct fv_call *call, CUresult result);
/* Names a function that nobody implements, once, and answers CUDA_ERROR_NOT_SUPPORTED. */
CUresult fv_missing(enum fv_row row);

/* The body of an entry point. */
#define FV_DOOR(symbol, ptds, impl, args)                                                          \
    {                                                                                              \
        const struct fv_value values[] = {FV_VALUES args{NULL, 0}};                                \
        struct fv_call call = {FV_ROW_##symbol, ptds, values, NULL, false};                        \
        CUresult result = fv_enter(&call);                                                         \
        if (result == CUDA_SUCCESS)                                                                \
            result = fv_##impl ? fv_##impl args : fv_missing(FV_ROW_##symbol);                     \
        fv_leave(&call, result);                                                                   \
        return result;                                                                             \
    }

/* What idle workers sleep on; the lock is dropped meanwhile. fv_changed() wakes one too. */
void fv_wait_for_work(void);
void fv_work_added(void);
/* Wakes the sleepers of fv_wait() alone, for a worker that looks for more work itself. */
void fv_work_done(void);

/* Opens the file that an environment variable names, with %p replaced by the process id, for
 * appending to it from empty. -1 when it is not set, or cannot be opened, which is said. */
int fv_open_output(const char *variable);

/* fault.c: reads FAKEVMM_FAULT. NULL, or what is wrong with it (valid until the next call). */
const char *fv_fault_parse(const char *text);
/* The error to answer for the nth call of a function, or CUDA_SUCCESS. Lock held. */
CUresult fv_fault_of(enum fv_row row, uint64_t nth);

/* journal.c: FAKEVMM_JOURNAL. Lock held; before and after the work of a call. */
void fv_journal_start(void);
void fv_journal_in_child(void);
void fv_journal_before(struct fv_call *call);
void fv_journal_after(struct fv_call *call, CUresult result);

/* graph_use.c: notes which graphs and execs the call is given, before the lock is taken; looks for
 * another thread's call with one of them, and forgets them, lock held. */
void fv_graphs_enter(struct fv_call *call);
void fv_graphs_check(struct fv_call *call);
void fv_graphs_leave(struct fv_call *call);

/* cost.c: how long the call is known to take on the GPU that is played, in nanoseconds; spins for
 * as long. The lock is held for the first only. */
uint64_t fv_cost_of(const struct fv_call *call);
void fv_cost_spend(uint64_t nanoseconds);

/* capture_rules.c: CUDA_SUCCESS, or the error of a function that may not be called while a capture
 * lives. Lock held. */
CUresult fv_capture_permits_call(enum fv_row row);

/* errors.c */
const char *fv_error_name(CUresult error); /* NULL for a number that is none */
bool fv_error_from_name(const char *name, CUresult *out);

#endif
