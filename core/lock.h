/* lock.h: the one kind of lock core/ uses, and the order in which they may be taken: a thread that
 * holds a lock takes only locks of a higher rank. What is called under each is said at its rank;
 * nothing of the application's ever is, and of the driver's only the VMM calls, which call nobody.
 * Builds with VR_DEBUG_LOCKS (those under a sanitizer are) check the order and abort; release
 * builds carry nothing for it. */
#ifndef VR_LOCK_H
#define VR_LOCK_H

#include <pthread.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define VR_DEBUG_LOCKS 1
#endif

enum vr_rank {
    VR_RANK_SHARD = 1,  /* an exec shard's table; the heap is called under it */
    VR_RANK_POOL,       /* the execs' memory */
    VR_RANK_LAYOUTS,    /* parameter layouts; the heap is called under it */
    VR_RANK_SIZES,      /* which sizes are taken; the heap is called under it */
    VR_RANK_ARENA,      /* a device's slices; the heap and the driver's VMM calls under it */
    VR_RANK_ALLOCATIONS /* the table of allocations; the heap is called under it */
};

struct vr_lock {
    pthread_mutex_t mutex;
    enum vr_rank rank;
};

#ifdef VR_DEBUG_LOCKS
/* Abort, naming both ranks, unless `rank` is above every rank this thread holds. */
void vr_rank_taken(enum vr_rank rank);
void vr_rank_dropped(enum vr_rank rank);
#else
static inline void vr_rank_taken(enum vr_rank rank)
{
    (void)rank;
}
static inline void vr_rank_dropped(enum vr_rank rank)
{
    (void)rank;
}
#endif

static inline void vr_lock_init(struct vr_lock *lock, enum vr_rank rank)
{
    pthread_mutex_init(&lock->mutex, NULL);
    lock->rank = rank;
}

static inline void vr_lock_free(struct vr_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

static inline void vr_lock_take(struct vr_lock *lock)
{
    vr_rank_taken(lock->rank);
    pthread_mutex_lock(&lock->mutex);
}

static inline void vr_lock_drop(struct vr_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
    vr_rank_dropped(lock->rank);
}

#endif
