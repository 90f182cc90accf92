/* stream.h: streams and the workers that run what is queued on them. Owned by stream.c
 * (handles) and worker.c (queues).
 *
 * Work runs later than the call that queued it, in stream order, with the lock dropped. Work of
 * different streams overlaps. The legacy NULL stream orders itself with every blocking stream of
 * its context, both ways. */
#ifndef FAKEVMM_STREAM_H
#define FAKEVMM_STREAM_H

#include "fakevmm.h"

struct fv_context;
struct fv_stream;
struct fv_tail;

/* What is left of work in pieces. */
enum fv_pieces {
    FV_PIECES_DONE,  /* nothing, once the workers in it have left */
    FV_PIECES_READY, /* a worker that joined now would find something to do */
    FV_PIECES_WAIT   /* all that may be done is being done */
};

/* One unit of queued work. The submitter embeds it at the start of its own struct and owns the
 * bytes until `retire`. */
struct fv_work {
    /* Does the work, on a worker, without the lock. An error poisons the context. NULL: nothing. */
    CUresult (*run)(struct fv_work *work);
    /* Extra condition beside stream order, asked with the lock held, often. NULL: always true. */
    bool (*ready)(struct fv_work *work);
    /* Lock held, as the work is taken off the stream to run. NULL: nothing. */
    void (*begin)(struct fv_work *work);
    /* Lock held, after the work has run (or was dropped by an earlier error). Frees the work. */
    void (*retire)(struct fv_work *work);
    /* Lock held: what of the work names an address in [base, base + size), in words, or NULL. For
     * FAKEVMM_STRICT. NULL: none can be. */
    const char *(*uses)(const struct fv_work *work, CUdeviceptr base, size_t size);
    /* Runs even if the context has an error by then: callbacks that report it. */
    bool always;
    /* `ready` looks at memory that changes without a word: it is asked again now and then. */
    bool polls;
    /* For work in pieces: `run` then does pieces while it finds some, on several workers at once.
     * Lock held, after `begin`. NULL: `run` does it all. */
    enum fv_pieces (*pieces)(struct fv_work *work);
    unsigned workers; /* that are in `run` */
    /* Set by fv_submit(). */
    struct fv_stream *stream;
    struct fv_context *context;
    struct fv_work *next;
    uint64_t sequence;
};

struct fv_stream {
    struct fv_context *context;
    unsigned flags; /* CU_STREAM_NON_BLOCKING or 0 */
    int priority;
    unsigned long long id; /* never reused; handles are */
    uint64_t thread;       /* owner, of a thread's own default stream; 0: another stream */
    /* Attributes, which nothing here depends on. */
    CUaccessPolicyWindow window;
    CUsynchronizationPolicy sync_policy;
    CUlaunchMemSyncDomainMap domain_map;
    CUlaunchMemSyncDomain domain;
    struct fv_work *head, *last;
    bool dying;           /* destroyed by the application, finishes its work first */
    bool busy;            /* a worker has taken the head */
    uint64_t queued;      /* sequence of the newest work, 0: none yet */
    uint64_t done;        /* sequence of the newest finished work */
    struct fv_tail *tail; /* its place in a capture (capture.h), NULL: not capturing */
};

/* Stream priorities reach from 0, the least, to this. */
#define FV_GREATEST_PRIORITY (-5)
/* The nearest priority there is. */
int fv_stream_clamp_priority(int priority);

/* Makes a zeroed FV_STREAM object a blocking stream of the context. It begins with what the context
 * was told to wait for (cuCtxWaitEvent). */
void fv_stream_init(struct fv_stream *stream, struct fv_context *context);

/* The stream a handle means in the calling thread: NULL and CU_STREAM_LEGACY the current
 * context's legacy stream (NULL in a call of a per-thread twin: CU_STREAM_PER_THREAD),
 * CU_STREAM_PER_THREAD this thread's own, others by handle. Errors of fv_current();
 * CUDA_ERROR_INVALID_HANDLE for an unknown one (a destroyed stream). */
CUresult fv_stream_of(CUstream handle, struct fv_stream **out);
/* As fv_stream_of(), for work that can be captured: if the stream has a tail then, the work becomes
 * a node (fv_capture_node()) instead of being queued. Fails for a stream of an invalid capture, and
 * for the legacy stream while it would depend on a capture. */
CUresult fv_stream_for_work(CUstream handle, struct fv_stream **out);
/* As fv_stream_for_work(), for what no capture can hold: never succeeds with a capturing stream. */
CUresult fv_stream_uncaptured(CUstream handle, struct fv_stream **out);

/* True for a stream that the legacy stream orders itself with. */
static inline bool fv_stream_blocks(const struct fv_stream *stream)
{
    return !(stream->flags & CU_STREAM_NON_BLOCKING);
}
/* A number for the calling thread; never 0, never another thread's. */
uint64_t fv_thread(void);

/* Queues work. Never fails and never runs anything in the caller. */
void fv_submit(struct fv_stream *stream, struct fv_work *work);

/* Wait until everything queued so far has finished. Drop the lock meanwhile. Return the context's
 * sticky error, if it has one by then. */
CUresult fv_stream_wait(struct fv_stream *stream);
CUresult fv_context_wait(struct fv_context *context);
/* The same for all contexts. */
void fv_wait_everywhere(void);
/* True when all work of the context with a lower number than this has finished. */
bool fv_context_done_before(const struct fv_context *context, uint64_t sequence);
/* True when nothing queued is unfinished. */
bool fv_stream_idle(const struct fv_stream *stream);
/* Calls a host function of the application. On a worker, without the lock. Driver calls that the
 * function makes answer CUDA_ERROR_NOT_PERMITTED. */
void fv_call_host(CUhostFn function, void *data);
/* Calls it from a worker, some time later, in no stream. Lock held. False when memory is out. */
bool fv_call_host_later(CUhostFn function, void *data);
/* True on a thread that is inside fv_call_host(). */
bool fv_in_host_call(void);
/* At process exit: lets running work end, starts no other, and ends the workers. */
void fv_workers_stop(void);
/* True when work is still running some time after that: it may be endless. Any thread, no lock. */
bool fv_workers_overdue(void);
/* Returns when no worker is at any memory, which stays so until the lock is dropped (it is dropped
 * meanwhile). Host functions of the application may go on. */
void fv_workers_rest(void);
/* True once that was called. Lock held. */
bool fv_workers_stopping(void);
/* True while any worker runs anything (va.c keeps dead blocks meanwhile). */
bool fv_workers_running(void);

#endif
