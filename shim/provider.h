/* provider.h: the driver library of the process, as the shim knows it: the functions it gets in
 * front of, those it calls itself, and who has been given what. Filled by resolve.c, once. */
#ifndef VR_PROVIDER_H
#define VR_PROVIDER_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL /* every ABI under its ELF name, no macros in between */
#endif
#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Indices into the provider's tables. */
enum vr_entry {
#define VR_ENTRY(body, class, symbol, base, since, ptds, params, args) VR_##symbol,
#include "shim/entries.h"
    VR_ENTRIES
};

enum vr_need {
#define VR_NEED(symbol, params) VR_NEED_##symbol,
#include "shim/entries.h"
    VR_NEEDS
};

/* A context that was allowed to use another's memory. */
struct vr_peer {
    _Atomic(CUcontext) user, owner;
};

/* Pairs of contexts: one context on each of 64 devices makes 4,032. */
#define VR_PEERS_MAX 4096

/* One driver library. All addresses are its own, read from its ELF tables; none is asked of dlsym,
 * so that the dlerror state stays the application's. */
struct vr_provider {
    void *real[VR_ENTRIES]; /* NULL: this driver has no such function */
    void *need[VR_NEEDS];
    /* cuGetProcAddress's answers by flag, where they differ from real[]. */
    _Atomic(void *) procaddress[VR_ENTRIES][3];
    atomic_bool procaddress_known;
    atomic_bool handed[VR_ENTRIES]; /* our hook was given out by dlsym or cuGetProcAddress */
    atomic_ullong doors_elf, doors_dlsym, doors_procaddress;
    atomic_int version; /* cuDriverGetVersion's answer, 0 before it was asked */
    atomic_uint peers;  /* of `peer` */
    struct vr_peer peer[VR_PEERS_MAX];
};

#endif
