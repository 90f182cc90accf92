/* params.h: where a kernel's parameters lie in its packed form, and comparing and copying them
 * without packing first. The driver is asked once per function and code generation. Layouts with
 * one shape are one layout, and live as long as the state (programs have few shapes), so that
 * records may point at them freely; which function has which is forgotten when the code generation
 * moves. */
#ifndef VR_PARAMS_H
#define VR_PARAMS_H

#include "driver_ops.h"
#include "hash.h"
#include "lock.h"
#include "state.h"

/* Beyond these a driver's answers are not believed (CUDA allows 32,764 bytes of parameters). */
#define VR_PARAM_BYTES_MAX 65536
#define VR_PARAM_COUNT_MAX 8192

struct vr_param {
    uint32_t offset, bytes;
};

struct vr_layout {
    UT_hash_handle hh; /* in vr_layouts.shapes, by `param` */
    uint32_t count;
    uint32_t extent; /* bytes up to the last parameter's end */
    uint32_t words;  /* parameters at the beginning that are 8 bytes each, without a gap */
    struct vr_param param[];
};

struct vr_layouts {
    struct vr_lock lock; /* guards all below; layouts themselves never change */
    uint64_t generation; /* of `codes` */
    struct vr_layout *shapes;
    struct vr_code_layout *codes[2]; /* by enum vr_code_kind: the two spaces of handles */
};

void vr_layouts_init(struct vr_layouts *layouts);
void vr_layouts_free(struct vr_layouts *layouts, struct vr_heap *heap);

/* The layout of `code`, whose handle means what it did at code generation `generation`. VR_REFUSED
 * when the driver cannot tell or tells nonsense. Asks the driver, with no lock held. */
enum vr_status vr_layout_of(struct vr_layouts *layouts, struct vr_heap *heap,
                            const struct vr_driver_ops *ops, struct vr_code code,
                            uint64_t generation, const struct vr_layout **out);

/* Whether the parameters come in exactly one complete form. A kernel without parameters must be
 * given none: otherwise the driver and the application do not mean the same kernel. */
bool vr_params_readable(const struct vr_layout *layout, const struct vr_update *update);

/* Whether every parameter, given by pointers, equals the one in `bytes` (packed, layout->extent
 * bytes). False as well when a pointer is NULL. */
bool vr_params_equal(const struct vr_layout *layout, const unsigned char *bytes,
                     void *const *params);

/* The same for parameters given packed, in a buffer that covers them; padding does not count. */
bool vr_packed_equal(const struct vr_layout *layout, const unsigned char *bytes,
                     const unsigned char *packed);

/* Packed parameters are also seen as windows: aligned pieces of 8 bytes. A set of windows is a
 * word; its last bit stands for all from the 64th on. */
#define VR_WINDOWS_ALL UINT64_MAX

static inline uint64_t vr_window_bit(size_t window)
{
    return UINT64_C(1) << (window < 63 ? window : 63);
}

/* The windows in which parameters, which must be readable, differ from `bytes`. */
uint64_t vr_params_changed(const struct vr_layout *layout, const unsigned char *bytes,
                           const struct vr_update *update);

/* Copies the parameters, which must be readable, to their places in `bytes`. */
void vr_params_copy(const struct vr_layout *layout, unsigned char *bytes,
                    const struct vr_update *update);

/* NULL, or the first broken invariant. Callers are alone. */
const char *vr_layouts_check(const struct vr_layouts *layouts);

#endif
