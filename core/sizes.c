/* sizes.c: a table of the sizes that are taken or barred. Must not know slices or allocations. */
#include "sizes.h"

/* Devices are bits of one word; those beyond are left to the driver. */
#define DEVICES 64

struct size {
    uint64_t bytes;
    uint64_t wanted; /* bit n: on device n the profile has seen it recur */
    bool barred;
    UT_hash_handle hh;
};

/* The driver's answer to may_place. */
enum verdict { UNASKED, PLACES, REFUSES };

struct vr_sizes {
    const struct vr_driver_ops *ops;
    const struct vr_options *options;
    bool active;                  /* the rung and the backing are on; decided once */
    struct vr_lock lock;          /* guards what follows */
    struct size *table;           /* by `bytes` */
    bool all_barred;              /* a size to bar could not be noted: none is taken from then on */
    _Atomic int verdict[DEVICES]; /* needs no lock */
};

struct vr_sizes *vr_sizes_new(struct vr_heap *heap, const struct vr_driver_ops *ops,
                              const struct vr_options *options)
{
    struct vr_sizes *sizes = vr_alloc(heap, sizeof *sizes);

    if (!sizes)
        return NULL;
    sizes->ops = ops;
    sizes->options = options;
    sizes->active = options->mode != VR_MODE_OFF && options->rungs & VR_RUNG_RECYCLE &&
                    options->backing != VR_BACKING_OFF;
    vr_lock_init(&sizes->lock, VR_RANK_SIZES);
    return sizes;
}

void vr_sizes_free(struct vr_sizes *sizes, struct vr_heap *heap)
{
    struct size *size, *next;

    if (!sizes)
        return;
    HASH_ITER (hh, sizes->table, size, next) {
        HASH_DEL(sizes->table, size);
        vr_free(heap, size, sizeof *size);
    }
    vr_lock_free(&sizes->lock);
    vr_free(heap, sizes, sizeof *sizes);
}

/* ---- under the lock ---- */

static struct size *find(struct vr_sizes *sizes, size_t bytes)
{
    uint64_t key = bytes;
    struct size *size;

    HASH_FIND(hh, sizes->table, &key, sizeof key, size);
    return size;
}

static struct size *find_or_make(struct vr_sizes *sizes, struct vr_heap *heap, size_t bytes)
{
    struct size *size = find(sizes, bytes);

    if (size || !(size = vr_alloc(heap, sizeof *size)))
        return size;
    size->bytes = bytes;
    HASH_ADD(hh, sizes->table, bytes, sizeof size->bytes, size);
    if (vr_hash_added(size))
        return size;
    vr_free(heap, size, sizeof *size);
    return NULL;
}

/* ---- the driver's word ---- */

static bool is_device(int device)
{
    return device >= 0 && device < DEVICES;
}

static enum verdict verdict_on(const struct vr_sizes *sizes, int device)
{
    return (enum verdict)atomic_load_explicit(&sizes->verdict[device], memory_order_relaxed);
}

/* Asked once per device, without the lock: the driver may take its time. Two threads may both ask.
 */
static bool places(struct vr_sizes *sizes, int device)
{
    bool eager = sizes->options->backing == VR_BACKING_EAGER;
    enum vr_status status;

    if (!sizes->active || !is_device(device))
        return false;
    if (verdict_on(sizes, device) == UNASKED) {
        status = sizes->ops->may_place ? sizes->ops->may_place(device, eager) : VR_REFUSED;
        atomic_store_explicit(&sizes->verdict[device], status == VR_OK ? PLACES : REFUSES,
                              memory_order_relaxed);
    }
    return verdict_on(sizes, device) == PLACES;
}

/* ---- decisions ---- */

bool vr_sizes_take(struct vr_sizes *sizes, struct vr_heap *heap, int device, size_t bytes)
{
    bool newly, may = places(sizes, device);
    struct size *size;

    if (!bytes || !sizes->active || !is_device(device))
        return false;
    vr_lock_take(&sizes->lock);
    size = sizes->all_barred ? NULL : find_or_make(sizes, heap, bytes);
    newly = size && !size->barred && !(size->wanted >> device & 1);
    if (newly)
        size->wanted |= (uint64_t)1 << device;
    vr_lock_drop(&sizes->lock);
    return newly && may;
}

bool vr_sizes_bar(struct vr_sizes *sizes, struct vr_heap *heap, size_t bytes)
{
    struct size *size;
    bool newly;

    if (!sizes->active)
        return false;
    vr_lock_take(&sizes->lock);
    size = find_or_make(sizes, heap, bytes);
    newly = size && !size->barred;
    if (size)
        size->barred = true;
    else
        sizes->all_barred = true;
    vr_lock_drop(&sizes->lock);
    return newly;
}

enum vr_size_state vr_sizes_state(struct vr_sizes *sizes, int device, size_t bytes)
{
    const struct size *size;
    bool barred, wanted;

    if (!sizes->active || !bytes || !is_device(device))
        return VR_SIZE_DRIVERS;
    vr_lock_take(&sizes->lock);
    size = find(sizes, bytes);
    barred = sizes->all_barred || (size && size->barred);
    wanted = size && size->wanted >> device & 1;
    vr_lock_drop(&sizes->lock);
    if (barred)
        return VR_SIZE_BARRED;
    wanted |= sizes->options->backing == VR_BACKING_EAGER && bytes >= sizes->options->min_size;
    if (!wanted)
        return VR_SIZE_DRIVERS;
    return places(sizes, device) ? VR_SIZE_TAKEN : VR_SIZE_REFUSED;
}

const char *vr_sizes_check(struct vr_sizes *sizes)
{
    const struct size *size, *next;

    HASH_ITER (hh, sizes->table, size, next) {
        if (!size->bytes)
            return "a size of no bytes is noted";
        for (int device = 0; device < DEVICES; device++)
            if (size->wanted >> device & 1 && verdict_on(sizes, device) == UNASKED)
                return "a size is taken on a device that nobody was asked about";
    }
    return NULL;
}
