/* params.c: fuzzes packed parameters under layouts that no driver should tell. The input's first
 * bytes are offsets and sizes, two bytes each, in pairs, up to a pair of zeros; the rest are
 * parameters. What is believed must be readable: buffers are as long as they must be and no longer.
 */
#include "core/alloc.h"
#include "core/params.h"
#include "tests/fuzz/fuzz.h"

static struct {
    const uint8_t *bytes;
    size_t pairs;
} told;

static enum vr_status param_info(struct vr_code code, size_t index, size_t *offset, size_t *bytes)
{
    const uint8_t *pair = told.bytes + 4 * index;

    if (index >= told.pairs)
        return VR_NONE;
    *offset = pair[0] | (size_t)pair[1] << 8;
    *bytes = pair[2] | (size_t)pair[3] << 8;
    /* Far beyond what two bytes hold, too. */
    if (pair[1] == 0xff)
        *offset <<= 48;
    if (pair[3] == 0xff)
        *bytes <<= 48;
    return VR_OK;
}

/* Exactly `bytes` bytes, filled from the input as far as it goes. */
static unsigned char *fill(const uint8_t *from, size_t size, size_t bytes)
{
    unsigned char *memory = calloc(1, bytes ? bytes : 1);

    FUZZ_CHECK(memory);
    if (size)
        memcpy(memory, from, size < bytes ? size : bytes);
    return memory;
}

static void apply(const struct vr_layout *layout, const uint8_t *rest, size_t size)
{
    unsigned char *packed = fill(rest, size, layout->extent), *kept = fill(rest, 0, layout->extent);
    void **params = calloc(layout->count + 1, sizeof *params);
    struct vr_update update = {.packed = packed, .packed_bytes = layout->extent};

    FUZZ_CHECK(params);
    for (uint32_t i = 0; i < layout->count; i++)
        params[i] = packed + layout->param[i].offset;
    if (layout->count) {
        FUZZ_CHECK(vr_params_readable(layout, &update));
        vr_params_copy(layout, kept, &update);
        FUZZ_CHECK(vr_packed_equal(layout, kept, packed));
        FUZZ_CHECK(vr_params_equal(layout, kept, params));
        FUZZ_CHECK(vr_params_changed(layout, kept, &update) == 0);
        update.packed_bytes = layout->extent - 1;
        FUZZ_CHECK(!vr_params_readable(layout, &update));
        kept[layout->param[0].offset] ^= 1;
        FUZZ_CHECK(!vr_packed_equal(layout, kept, packed));
        FUZZ_CHECK(!vr_params_equal(layout, kept, params));
        FUZZ_CHECK(vr_params_changed(layout, kept, &update) != 0);
    }
    free(params);
    free(packed);
    free(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct vr_driver_ops ops = {.param_info = param_info};
    struct vr_heap heap = {0};
    struct vr_layouts layouts;
    const struct vr_layout *layout;
    struct vr_code code = {.handle = 1};

    told.bytes = data;
    for (told.pairs = 0; 4 * told.pairs + 4 <= size; told.pairs++)
        if (!memcmp(data + 4 * told.pairs, "\0\0\0\0", 4))
            break;
    vr_layouts_init(&layouts);
    if (vr_layout_of(&layouts, &heap, &ops, code, 1, &layout) == VR_OK) {
        FUZZ_CHECK(!vr_layouts_check(&layouts));
        apply(layout, data + 4 * told.pairs, size - 4 * told.pairs);
    }
    vr_layouts_free(&layouts, &heap);
    return 0;
}
