/* memory.h: what shim/ asks and tells about device memory (the rung "recycle", and the profile's
 * view of allocations). Part of the surface that state.h begins; the same rules about threads hold.
 *
 * An allocation is known from the moment cuMemAlloc returned it until cuMemFree of it succeeds; its
 * identity is a generation that is never reused. It belongs to the driver or is ours: a slice of
 * the device's reservation, backed by memory that outlives it. */
#ifndef VR_MEMORY_H
#define VR_MEMORY_H

#include "state.h"

/* What the captures that live now mean for an allocation or a free by the calling thread
 * (cuThreadExchangeStreamCaptureMode, "potentially unsafe API calls"). */
enum vr_capture { VR_CAPTURE_NONE, VR_CAPTURE_PERMITS, VR_CAPTURE_FORBIDS };

/* ---- cuMemAlloc ---- */

struct vr_alloc_call {
    size_t bytes;
    vr_handle context; /* current; never 0 */
    int device;        /* of that context */
    enum vr_capture capture;
};

/* VR_ANSWERED: *address is the application's new allocation, ours. VR_FORWARD: make the driver's
 * call, then tell. Never waits for work unless parked slices are all there is. */
enum vr_answer vr_alloc_ask(struct vr_state *state, const struct vr_alloc_call *call,
                            uint64_t *address);
void vr_alloc_told(struct vr_state *state, const struct vr_alloc_call *call, bool accepted,
                   uint64_t address);

/* Gives back all kept memory. True if there was any: the driver's call that found no memory is then
 * worth one more try. Not while a capture lives (`capture`). */
bool vr_memory_give_back(struct vr_state *state, enum vr_capture capture);

/* ---- cuMemFree ---- */

struct vr_free_call {
    uint64_t address;
    enum vr_capture capture;
    /* Set by vr_free_ask(). */
    uint64_t generation; /* of the driver's allocation that was retired, 0: none */
    int result;          /* VR_FREE_REFUSED: the driver's code for the application */
};

enum vr_free_answer {
    VR_FREE_FORWARD, /* not ours: make the driver's call, then tell */
    VR_FREE_DONE,    /* ours, and free now */
    VR_FREE_REFUSED  /* ours, and kept: the driver would not drain; `result` is its answer */
};

/* An address that is not the base of a known allocation is forwarded. A driver's allocation is
 * retired here, before its address can come back on another thread, and restored by a refusal. */
enum vr_free_answer vr_free_ask(struct vr_state *state, struct vr_free_call *call);
void vr_free_told(struct vr_state *state, const struct vr_free_call *call, bool accepted);

/* ---- what may be asked about ours ---- */

struct vr_memory_view {
    uint64_t base;
    size_t bytes; /* as the application asked */
    vr_handle context;
    int device;
    uint64_t generation;
};

/* The allocation of ours that contains an address. VR_NONE for anything else; VR_REFUSED when the
 * address lies in a reservation of ours but in no live allocation: kept memory, which the driver
 * still knows and the application must not. */
enum vr_status vr_memory_find(struct vr_state *state, uint64_t address, struct vr_memory_view *out);

enum vr_pin { VR_PIN_IPC, VR_PIN_EXPORT, VR_PIN_ATTRIBUTE, VR_PIN_COUNT };

/* The allocation of ours around `address` leaves our control, or was asked to (legacy IPC): its
 * slice is never handed out again and never loses its memory before it is freed; its size is the
 * driver's from now on. True for the first time with this reason: worth a warning. */
bool vr_memory_pin(struct vr_state *state, uint64_t address, enum vr_pin reason);

/* An operand of a memcpy or memset node, or of a setter of one: allocations of that size stay, or
 * become, the driver's. Also called for every operand found when an exec is instantiated. */
void vr_memory_operand(struct vr_state *state, uint64_t address);

/* Bytes of `device` that we keep for reuse; cuMemGetInfo counts them as free. */
size_t vr_memory_kept(struct vr_state *state, int device);

/* Around the end of a context: what there is before the driver's call, and after it, that what the
 * context had by then is no more. Another thread's new context may have the same handle value by
 * the time we are back: what is younger than the mark is its. */
#define VR_MEMORY_DEVICES 64

struct vr_context_mark {
    uint64_t generation;
    uint64_t moment[VR_MEMORY_DEVICES];
};

void vr_context_ending(struct vr_state *state, struct vr_context_mark *mark);
void vr_context_gone(struct vr_state *state, vr_handle context, const struct vr_context_mark *mark);

#endif
