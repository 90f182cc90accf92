/* copy.h: copies between boxes of bytes: host memory, device memory and arrays, one to three
 * dimensions. Owned by copy.c (what a copy is) and copy_submit.c (how one is queued); the driver's
 * many forms are turned into these. */
#ifndef FAKEVMM_COPY_H
#define FAKEVMM_COPY_H

#include "fakevmm.h"

/* One end of a copy: row y of slice z begins at `at + z * plane + y * pitch`. */
struct fv_box {
    uint64_t at;
    size_t pitch, plane;
};

/* What a checked CUDA_MEMCPY3D amounts to. Its arrays have become addresses, so it can run when
 * nothing is known about handles any more. */
struct fv_copy3d {
    struct fv_box from, to;
    size_t width, height, depth; /* bytes, rows, slices; nothing to do if one is 0 */
};

/* Checks both ends as the copy functions and memcpy nodes are documented to: memory types, pitches,
 * the bounds of arrays, that device memory is there. Lock held. */
CUresult fv_copy3d_plan(const CUDA_MEMCPY3D *copy, struct fv_copy3d *out);
/* Copies. Any thread, no lock. `device`: as for fv_copy_any(). */
CUresult fv_copy3d_run(const struct fv_copy3d *plan, int device);
/* True if the copy touches [base, base + size). */
bool fv_copy3d_uses(const struct fv_copy3d *plan, CUdeviceptr base, size_t size);

/* A copy call: on which stream, and whether it is one of the *Async functions. */
struct fv_copy_call {
    CUstream stream;
    bool async;
    bool to_device, from_device; /* this end has to be memory that a device reaches */
    bool source_now;             /* the source is read during the call, whatever memory it is */
};

/* Does a copy call: checks, then queues or captures it; returns when the documentation says. */
CUresult fv_copy_submit(const CUDA_MEMCPY3D *copy, const struct fv_copy_call *call);
/* A one-dimensional copy, as a box. The ends are told by their addresses. */
CUDA_MEMCPY3D fv_copy_linear(uint64_t to, uint64_t from, size_t size);

#endif
