/* lock.c: the check of lock ranks, in builds that have it. Owns the thread's set of held ranks. */
#include "lock.h"

#ifdef VR_DEBUG_LOCKS

#include <stdlib.h>
#include <unistd.h>

#include "text.h"

static _Thread_local unsigned held; /* bit n: a lock of rank n */

static void wrong_order(enum vr_rank rank)
{
    char buffer[128];
    struct vr_text text = vr_text_over(buffer, sizeof buffer, STDERR_FILENO);

    vr_text_format(&text, "varemap: lock of rank %u against held ranks 0x%x\n", rank, held);
    vr_text_flush(&text);
    abort();
}

void vr_rank_taken(enum vr_rank rank)
{
    if (held >> rank)
        wrong_order(rank);
    held |= 1u << rank;
}

void vr_rank_dropped(enum vr_rank rank)
{
    if (!(held & 1u << rank))
        wrong_order(rank);
    held &= ~(1u << rank);
}

#else

/* A translation unit may not be empty. */
typedef int vr_lock_ranks_unchecked;

#endif
