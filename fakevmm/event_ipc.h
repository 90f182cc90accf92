/* event_ipc.h: what event.c needs of events that processes share. Owned by event_ipc.c. The lock is
 * held throughout; other processes do as they like. */
#ifndef FAKEVMM_EVENT_IPC_H
#define FAKEVMM_EVENT_IPC_H

#include "fakevmm.h"

/* The numbers of an event's records, in memory that processes share. Counted references. */
struct fv_shared_event;

/* With one reference; NULL when the host refuses. */
struct fv_shared_event *fv_shared_new(void);
struct fv_shared_event *fv_shared_get(struct fv_shared_event *shared);
void fv_shared_put(struct fv_shared_event *shared);
/* The number of a record that is being queued; that of the newest one of any process, 0: none. */
uint64_t fv_shared_queue(struct fv_shared_event *shared);
uint64_t fv_shared_latest(const struct fv_shared_event *shared);
/* Work has come to that record; has it? */
void fv_shared_reach(struct fv_shared_event *shared, uint64_t number);
bool fv_shared_reached(const struct fv_shared_event *shared, uint64_t number);

#endif
