/* captures.h: the stream captures that live now. Owned by capture.c; part of the process, so that a
 * forked child has none. */
#ifndef VR_CAPTURES_H
#define VR_CAPTURES_H

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A stream capture that lives. */
struct vr_capture_entry {
    CUstream stream;
    CUstreamCaptureMode mode;
    pthread_t thread; /* that began it */
};

#define VR_CAPTURES_MAX 64

struct vr_captures {
    atomic_bool alive; /* whether there are any; read without the lock */
    bool lost;         /* one did not fit: from then on a capture lives */
    pthread_mutex_t lock;
    unsigned count;
    struct vr_capture_entry entry[VR_CAPTURES_MAX];
};

#endif
