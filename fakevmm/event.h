/* event.h: events as work that is not a stream's own uses them. Owned by event.c. The lock is held
 * throughout. */
#ifndef FAKEVMM_EVENT_H
#define FAKEVMM_EVENT_H

#include "fakevmm.h"

struct fv_event;
struct fv_shared_event;
/* One recording of an event. The event stands for its latest one. */
struct fv_record;

struct fv_context;
struct fv_stream;

/* CUDA_ERROR_INVALID_HANDLE for what is no live event; the error of its context, if it has one. */
CUresult fv_event_of(CUevent handle, struct fv_event **out);
/* A new event; takes over `shared` (NULL: this process's alone), on success only. */
CUresult fv_event_make(struct fv_context *context, unsigned flags, struct fv_shared_event *shared,
                       CUevent *out);
struct fv_shared_event *fv_event_shared(const struct fv_event *event);
struct fv_context *fv_event_context(const struct fv_event *event);
/* Whether a launch's attribute may record it: it must have no timing and be this process's alone.
 */
bool fv_event_is_plain(const struct fv_event *event);
/* Records it behind what the stream has so far, or in the stream's capture. */
CUresult fv_event_record(struct fv_event *event, struct fv_stream *stream);
/* Tells it from a later event with the same handle value. */
unsigned long long fv_event_id(const struct fv_event *event);
/* From now on the event stands for work that is being queued. The record is the caller's, until
 * fv_record_end(). */
CUresult fv_event_begin(struct fv_event *event, struct fv_record **out);
/* What the event stands for, NULL for nothing; the caller's, until fv_record_put().
 * CUDA_ERROR_CAPTURED_EVENT for nodes of a capture. */
CUresult fv_event_latest(struct fv_event *event, struct fv_record **out);
bool fv_record_done(const struct fv_record *record);
/* True when another process may come to it, without a word: waiting work `polls`. */
bool fv_record_polls(const struct fv_record *record);
/* That work has come to the record. Whoever waits for it finds out by fv_changed(). */
void fv_record_end(struct fv_record *record);
void fv_record_put(struct fv_record *record);
/* One more holder of it. */
struct fv_record *fv_record_get(struct fv_record *record);
/* The event stands for nodes of a capture, and that is in the way: the capture is invalid. */
void fv_event_refuse(const struct fv_event *event);
/* Work that makes a stream wait for the record; takes it over, even on failure. */
CUresult fv_record_await(struct fv_record *record, struct fv_stream *stream);

/* ---- event_context.c ---- */

/* A new stream: queues the waits that its context was told to begin with. */
void fv_event_enter_stream(struct fv_stream *stream);
/* The context ends, and what it was told to wait for. */
void fv_event_leave_context(const struct fv_context *context);

#endif
