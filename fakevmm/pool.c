/* pool.c: objects whose addresses are the handles the application sees. Slots come from slabs
 * that are never given back and the slot freed last is handed out first, so a handle value comes
 * back at once, as on a GPU, and any value can be asked whether it names a live object. It must
 * not know what is stored in an object. */
#include "fakevmm.h"

#include <stdlib.h>
#include <string.h>

#define SLABS       24
#define FIRST_SLOTS 64 /* slots of the first slab; each later one has twice as many */

struct slab {
    unsigned char *slots;
    bool *live;
    unsigned *ordinals; /* of those that were asked for theirs, else 0 */
    size_t count, used; /* slots from `used` on were never handed out */
};

struct pool {
    struct slab slabs[SLABS];
    int slab_count;
    unsigned ordinals; /* given so far */
    uint64_t deletions;
    void *free; /* the slot freed last; its first word points to the one before */
};

static struct pool pools[FV_KINDS];

/* The slab and index of a slot, or NULL for an address that is none. */
static struct slab *slab_of(struct pool *pool, const void *address, size_t *index)
{
    uintptr_t at = (uintptr_t)address;

    for (int i = 0; i < pool->slab_count; i++) {
        struct slab *slab = &pool->slabs[i];
        uintptr_t base = (uintptr_t)slab->slots;
        if (at < base || at - base >= slab->count * FV_OBJECT_BYTES)
            continue;
        if ((at - base) % FV_OBJECT_BYTES)
            return NULL;
        *index = (at - base) / FV_OBJECT_BYTES;
        return slab;
    }
    return NULL;
}

static struct slab *add_slab(struct pool *pool)
{
    struct slab slab = {.count = (size_t)FIRST_SLOTS << pool->slab_count};

    if (pool->slab_count == SLABS)
        return NULL;
    slab.slots = calloc(slab.count, FV_OBJECT_BYTES);
    slab.live = calloc(slab.count, sizeof *slab.live);
    slab.ordinals = calloc(slab.count, sizeof *slab.ordinals);
    if (!slab.slots || !slab.live || !slab.ordinals) {
        free(slab.slots);
        free(slab.live);
        free(slab.ordinals);
        return NULL;
    }
    pool->slabs[pool->slab_count] = slab;
    return &pool->slabs[pool->slab_count++];
}

static void *fresh_slot(struct pool *pool)
{
    struct slab *slab = pool->slab_count ? &pool->slabs[pool->slab_count - 1] : NULL;

    if (!slab || slab->used == slab->count)
        slab = add_slab(pool);
    return slab ? slab->slots + FV_OBJECT_BYTES * slab->used++ : NULL;
}

void *fv_new(enum fv_kind kind)
{
    struct pool *pool = &pools[kind];
    void *object = pool->free;
    struct slab *slab;
    size_t index;

    if (object)
        memcpy(&pool->free, object, sizeof pool->free);
    else
        object = fresh_slot(pool);
    if (!object)
        return NULL;
    memset(object, 0, FV_OBJECT_BYTES);
    slab = slab_of(pool, object, &index);
    slab->live[index] = true;
    slab->ordinals[index] = 0;
    return object;
}

void fv_delete(enum fv_kind kind, void *object)
{
    struct pool *pool = &pools[kind];
    size_t index;
    struct slab *slab = slab_of(pool, object, &index);

    if (!slab || !slab->live[index])
        return;
    slab->live[index] = false;
    pool->deletions++;
    memcpy(object, &pool->free, sizeof pool->free);
    pool->free = object;
}

bool fv_valid(enum fv_kind kind, const void *handle)
{
    size_t index;
    struct slab *slab = slab_of(&pools[kind], handle, &index);

    return slab && slab->live[index];
}

unsigned fv_ordinal(enum fv_kind kind, const void *handle)
{
    struct pool *pool = &pools[kind];
    size_t index;
    struct slab *slab = slab_of(pool, handle, &index);

    if (!slab || !slab->live[index])
        return 0;
    if (!slab->ordinals[index])
        slab->ordinals[index] = ++pool->ordinals;
    return slab->ordinals[index];
}

uint64_t fv_deletions(enum fv_kind kind)
{
    return pools[kind].deletions;
}

void *fv_next(enum fv_kind kind, const void *after)
{
    struct pool *pool = &pools[kind];
    size_t index = 0;
    struct slab *slab = after ? slab_of(pool, after, &index) : pool->slabs;

    if (after)
        index++;
    for (; slab < pool->slabs + pool->slab_count; slab++, index = 0)
        for (; index < slab->used; index++)
            if (slab->live[index])
                return slab->slots + FV_OBJECT_BYTES * index;
    return NULL;
}
