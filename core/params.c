/* params.c: asks for, keeps and applies parameter layouts. Owns the two caches; must not know
 * nodes, execs or what a comparison is for. Parameter memory belongs to the application: it is
 * read, during the call, and never written. */
#include "params.h"

/* What is known about one code handle in the present generation. */
struct vr_code_layout {
    vr_handle handle;
    const struct vr_layout *layout; /* NULL: the driver cannot tell */
    UT_hash_handle hh;
};

static size_t layout_bytes(size_t count)
{
    return sizeof(struct vr_layout) + count * sizeof(struct vr_param);
}

/* A kernel without parameters has a shape too, of one empty word: a hash key may not be empty. */
static size_t shape_words(const struct vr_layout *layout)
{
    return layout->count ? layout->count : 1;
}

void vr_layouts_init(struct vr_layouts *layouts)
{
    memset(layouts, 0, sizeof *layouts);
    vr_lock_init(&layouts->lock, VR_RANK_LAYOUTS);
}

static void forget_codes(struct vr_layouts *layouts, struct vr_heap *heap)
{
    for (int kind = 0; kind < 2; kind++) {
        struct vr_code_layout *code, *next;
        HASH_ITER (hh, layouts->codes[kind], code, next) {
            HASH_DEL(layouts->codes[kind], code);
            vr_free(heap, code, sizeof *code);
        }
    }
}

void vr_layouts_free(struct vr_layouts *layouts, struct vr_heap *heap)
{
    struct vr_layout *layout, *next;

    forget_codes(layouts, heap);
    HASH_ITER (hh, layouts->shapes, layout, next) {
        HASH_DEL(layouts->shapes, layout);
        vr_free(heap, layout, layout_bytes(shape_words(layout)));
    }
    vr_lock_free(&layouts->lock);
}

/* ---- asking the driver ---- */

/* A layout under construction, with room for `room` parameters. */
struct draft {
    struct vr_layout *layout;
    size_t room;
};

static bool grow(struct draft *draft, struct vr_heap *heap)
{
    size_t count = draft->layout ? draft->layout->count : 0;
    size_t room = draft->room ? draft->room * 2 : 16;
    struct vr_layout *larger = vr_alloc(heap, layout_bytes(room));

    if (!larger)
        return false;
    if (draft->layout)
        memcpy(larger, draft->layout, layout_bytes(count));
    vr_free(heap, draft->layout, layout_bytes(draft->room));
    *draft = (struct draft){larger, room};
    return true;
}

/* Parameters follow each other without overlap, none is empty, all lie within the limit. */
static bool believable(const struct vr_layout *layout, size_t offset, size_t bytes)
{
    return layout->count < VR_PARAM_COUNT_MAX && bytes > 0 && bytes <= VR_PARAM_BYTES_MAX &&
           offset >= layout->extent && offset <= VR_PARAM_BYTES_MAX - bytes;
}

static enum vr_status ask(struct draft *draft, struct vr_heap *heap,
                          const struct vr_driver_ops *ops, struct vr_code code)
{
    for (size_t index = 0;; index++) {
        size_t offset, bytes;
        if (index >= draft->room && !grow(draft, heap))
            return VR_NO_MEMORY;
        enum vr_status status = ops->param_info(code, index, &offset, &bytes);
        if (status == VR_NONE)
            return VR_OK;
        if (status != VR_OK || !believable(draft->layout, offset, bytes))
            return VR_REFUSED;
        draft->layout->param[index] = (struct vr_param){(uint32_t)offset, (uint32_t)bytes};
        draft->layout->words += draft->layout->words == index && bytes == 8 && offset == 8 * index;
        draft->layout->extent = (uint32_t)(offset + bytes);
        draft->layout->count++;
    }
}

/* ---- the caches ---- */

/* The one layout of this shape; NULL when memory is out. */
static const struct vr_layout *intern_locked(struct vr_layouts *layouts, struct vr_heap *heap,
                                             const struct vr_layout *draft)
{
    size_t bytes = layout_bytes(shape_words(draft));
    size_t key_bytes = shape_words(draft) * sizeof(struct vr_param);
    struct vr_layout *layout;

    HASH_FIND(hh, layouts->shapes, draft->param, key_bytes, layout);
    if (layout || !(layout = vr_alloc(heap, bytes)))
        return layout;
    memcpy(layout, draft, bytes);
    HASH_ADD_KEYPTR(hh, layouts->shapes, layout->param, key_bytes, layout);
    if (vr_hash_added(layout))
        return layout;
    vr_free(heap, layout, bytes);
    return NULL;
}

/* Remembers the answer for `code`. Memory being out costs another question later, nothing else. */
static void remember_locked(struct vr_layouts *layouts, struct vr_heap *heap, struct vr_code code,
                            const struct vr_layout *layout)
{
    struct vr_code_layout *entry;

    HASH_FIND(hh, layouts->codes[code.kind], &code.handle, sizeof code.handle, entry);
    if (entry || !(entry = vr_alloc(heap, sizeof *entry)))
        return;
    entry->handle = code.handle;
    entry->layout = layout;
    HASH_ADD(hh, layouts->codes[code.kind], handle, sizeof entry->handle, entry);
    if (!vr_hash_added(entry))
        vr_free(heap, entry, sizeof *entry);
}

/* True when the answer is known. A caller of an older generation than the cache's is not served
 * from it; a caller of a newer one begins a new cache. */
static bool recall(struct vr_layouts *layouts, struct vr_heap *heap, struct vr_code code,
                   uint64_t generation, const struct vr_layout **out)
{
    struct vr_code_layout *entry = NULL;

    vr_lock_take(&layouts->lock);
    if (generation > layouts->generation) {
        forget_codes(layouts, heap);
        layouts->generation = generation;
    }
    if (generation == layouts->generation)
        HASH_FIND(hh, layouts->codes[code.kind], &code.handle, sizeof code.handle, entry);
    if (entry)
        *out = entry->layout;
    vr_lock_drop(&layouts->lock);
    return entry != NULL;
}

static enum vr_status keep(struct vr_layouts *layouts, struct vr_heap *heap, struct vr_code code,
                           uint64_t generation, const struct vr_layout *draft,
                           const struct vr_layout **out)
{
    const struct vr_layout *layout = NULL;

    vr_lock_take(&layouts->lock);
    if (draft)
        layout = intern_locked(layouts, heap, draft);
    if (generation == layouts->generation && (layout || !draft))
        remember_locked(layouts, heap, code, layout);
    vr_lock_drop(&layouts->lock);
    if (draft && !layout)
        return VR_NO_MEMORY;
    *out = layout;
    return VR_OK;
}

enum vr_status vr_layout_of(struct vr_layouts *layouts, struct vr_heap *heap,
                            const struct vr_driver_ops *ops, struct vr_code code,
                            uint64_t generation, const struct vr_layout **out)
{
    const struct vr_layout *layout = NULL;
    struct draft draft = {0};
    enum vr_status status = VR_OK;

    if (!recall(layouts, heap, code, generation, &layout)) {
        status = ask(&draft, heap, ops, code);
        if (status != VR_NO_MEMORY)
            status = keep(layouts, heap, code, generation, status == VR_OK ? draft.layout : NULL,
                          &layout);
        vr_free(heap, draft.layout, layout_bytes(draft.room));
    }
    if (status != VR_OK)
        return status;
    if (!layout)
        return VR_REFUSED;
    *out = layout;
    return VR_OK;
}

/* ---- applying ---- */

bool vr_params_readable(const struct vr_layout *layout, const struct vr_update *update)
{
    if (!layout->count)
        return !update->params && !update->packed;
    if (!update->params == !update->packed)
        return false;
    if (update->packed)
        return update->packed_bytes >= layout->extent;
    for (uint32_t i = 0; i < layout->count; i++)
        if (!update->params[i])
            return false;
    return true;
}

/* Nearly all parameters are pointers, sizes and scalars: two loads each, instead of a call. */
static inline bool differ(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    if (bytes == 8)
        return memcmp(a, b, 8) != 0;
    if (bytes == 4)
        return memcmp(a, b, 4) != 0;
    return memcmp(a, b, bytes) != 0;
}

/* From parameter `first` on. Apart, and called last, so that the usual case saves no registers. */
static __attribute__((noinline)) bool rest_equal(const struct vr_layout *layout, size_t first,
                                                 const unsigned char *bytes, void *const *params)
{
    for (size_t i = first; i < layout->count; i++) {
        const struct vr_param *param = &layout->param[i];
        if (!params[i] || differ(bytes + param->offset, params[i], param->bytes))
            return false;
    }
    return true;
}

bool vr_params_equal(const struct vr_layout *layout, const unsigned char *bytes,
                     void *const *params)
{
    size_t i = 0, words = layout->words;

#pragma GCC unroll 4
    for (; i < words; i++)
        if (!params[i] || memcmp(bytes + 8 * i, params[i], 8) != 0)
            return false;
    for (; i < layout->count; i++) {
        const struct vr_param *param = &layout->param[i];
        if (param->bytes != 4)
            return rest_equal(layout, i, bytes, params);
        if (!params[i] || memcmp(bytes + param->offset, params[i], 4) != 0)
            return false;
    }
    return true;
}

bool vr_packed_equal(const struct vr_layout *layout, const unsigned char *bytes,
                     const unsigned char *packed)
{
    const struct vr_param *end = layout->param + layout->count;

    for (const struct vr_param *param = layout->param; param < end; param++)
        if (differ(bytes + param->offset, packed + param->offset, param->bytes))
            return false;
    return true;
}

static inline const unsigned char *param_at(const struct vr_layout *layout,
                                            const struct vr_update *update, uint32_t index)
{
    const unsigned char *packed = update->packed;

    return packed ? packed + layout->param[index].offset : update->params[index];
}

static uint64_t windows_of(const struct vr_param *param)
{
    size_t last = (param->offset + param->bytes - 1) / 8;
    uint64_t windows = 0;

    for (size_t window = param->offset / 8; window <= last; window++)
        windows |= vr_window_bit(window);
    return windows;
}

uint64_t vr_params_changed(const struct vr_layout *layout, const unsigned char *bytes,
                           const struct vr_update *update)
{
    uint64_t windows = 0;
    uint32_t i = 0;

    for (; i < layout->words; i++)
        if (memcmp(bytes + 8 * (size_t)i, param_at(layout, update, i), 8) != 0)
            windows |= vr_window_bit(i);
    for (; i < layout->count; i++) {
        const struct vr_param *param = &layout->param[i];
        if (differ(bytes + param->offset, param_at(layout, update, i), param->bytes))
            windows |= windows_of(param);
    }
    return windows;
}

void vr_params_copy(const struct vr_layout *layout, unsigned char *bytes,
                    const struct vr_update *update)
{
    uint32_t i = 0;

    for (; i < layout->words; i++)
        memcpy(bytes + 8 * (size_t)i, param_at(layout, update, i), 8);
    for (; i < layout->count; i++)
        memcpy(bytes + layout->param[i].offset, param_at(layout, update, i),
               layout->param[i].bytes);
}

const char *vr_layouts_check(const struct vr_layouts *layouts)
{
    for (const struct vr_layout *layout = layouts->shapes; layout; layout = layout->hh.next) {
        uint32_t end = 0;
        for (uint32_t i = 0; i < layout->count; i++) {
            if (layout->param[i].offset < end)
                return "parameters of a layout overlap";
            end = layout->param[i].offset + layout->param[i].bytes;
        }
        if (end != layout->extent)
            return "a layout's extent is not its last parameter's end";
    }
    return NULL;
}
