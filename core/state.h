/* state.h: what shim/ calls. One struct vr_state holds everything core/ knows about the process;
 * the functions here are the only way in.
 *
 * Threads: every function may be called from any thread. CUDA makes callers serialise their calls
 * on one exec (driver API, "Graph object thread safety"), so what belongs to an exec takes no lock;
 * finding it takes its shard's. No function calls the application or holds a lock across a
 * driver_ops call. */
#ifndef VR_STATE_H
#define VR_STATE_H

#include "driver_ops.h"
#include "options.h"
#include "types.h"

struct vr_state;
struct vr_exec;

/* A new state, or NULL when memory is out (then the shim forwards everything). `options` is copied,
 * `ops` is kept by pointer and must outlive the state. Uses mmap, not the heap, for itself. */
struct vr_state *vr_state_new(const struct vr_driver_ops *ops, const struct vr_options *options);
/* Frees everything. Nobody else may be inside. Tests and losers of the race to publish use it; a
 * process never does. */
void vr_state_free(struct vr_state *state);
const struct vr_options *vr_state_options(const struct vr_state *state);
/* Where lines for people go; lives as long as the state. */
struct vr_log *vr_state_log(struct vr_state *state);
/* Walks every invariant; NULL when all hold, else the first broken one in words (static text).
 * Callers are alone. */
const char *vr_state_check(struct vr_state *state);

/* ---- execs: instantiate and destroy ---- */

struct vr_exec_origin {
    vr_handle graph;    /* the graph it was instantiated from */
    bool device_launch; /* instantiated for device launch: always forwarded */
};

/* The driver has instantiated `exec`. A record left under that handle value (its exec died unseen)
 * is replaced. */
void vr_exec_born(struct vr_state *state, vr_handle exec, const struct vr_exec_origin *origin);

/* Before the driver's destroy: takes the exec out of the tables, since its handle value may come
 * back on another thread the moment the driver has freed it. NULL for an unknown one. Then, by the
 * driver's answer, one of the other two; both take NULL. */
struct vr_exec *vr_exec_retire(struct vr_state *state, vr_handle exec);
void vr_exec_restore(struct vr_state *state, struct vr_exec *retired);
void vr_exec_bury(struct vr_state *state, struct vr_exec *retired);

/* ---- kernel-node setters ---- */

/* Side by side and without padding, as the driver's structs have them. */
struct vr_geometry {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
};

struct vr_update {
    vr_handle exec, node;
    struct vr_code code;
    vr_handle context; /* for VR_CODE_KERNEL, 0: the current context; ignored for a function */
    struct vr_geometry geometry;
    /* Exactly one form may be given; both NULL is right for a kernel without parameters. Read
     * during the call only, never kept, never written. */
    void *const *params; /* one pointer per parameter (kernelParams) */
    const void *packed;  /* packed parameters (from extra) */
    size_t packed_bytes;
    bool malformed; /* the shim could not read the parameters: forward, and forget the node */
};

enum vr_answer { VR_FORWARD, VR_ANSWERED };

/* Filled by vr_update_ask() for vr_update_told(); opaque to the shim. */
struct vr_ticket {
    struct vr_exec *exec;
    uint64_t generation;
    uint64_t epoch;
    vr_handle context;
    int refusal; /* enum vr_refusal (counters.h) */
    bool would_elide;
};

/* VR_ANSWERED: the node already holds exactly this, the application's call has succeeded, nothing
 * else is to be done (it is counted). VR_FORWARD: make the call, then tell. */
enum vr_answer vr_update_ask(struct vr_state *state, const struct vr_update *update,
                             struct vr_ticket *ticket);
/* The driver's answer to a forwarded setter. Accepted: the parameters are copied as the node's
 * record. Refused: the node is unsure until a setter succeeds. */
void vr_update_told(struct vr_state *state, const struct vr_update *update,
                    const struct vr_ticket *ticket, bool accepted);

/* ---- memcpy-node and memset-node setters ---- */

/* Bytes of the largest normal form of a descriptor (CUDA_MEMCPY3D). */
#define VR_TRANSFER_BYTES 208

struct vr_transfer {
    vr_handle exec, node;
    vr_handle context; /* 0: the current context */
    /* The descriptor, without what the driver does not look at. Read during the call only. */
    const void *said;
    size_t bytes;
    struct vr_operand {
        uint64_t address, bytes; /* device memory it names */
        /* Set by vr_transfer_ask(): what memory that is. */
        vr_handle context;
        int device;
        bool ours;
    } operand[2]; /* those not in use are zero */
    unsigned operands;
    /* It names memory that is no device address, or could not be read: forward, and forget the
     * node. */
    bool opaque;
};

/* As vr_update_ask(). Such a node also binds what kind of memory its operands are: VR_ANSWERED only
 * if each lies in an allocation that we know, of the same kind, device and context as before. */
enum vr_answer vr_transfer_ask(struct vr_state *state, struct vr_transfer *transfer,
                               struct vr_ticket *ticket);
/* As vr_update_told(). */
void vr_transfer_told(struct vr_state *state, const struct vr_transfer *transfer,
                      const struct vr_ticket *ticket, bool accepted);

/* ---- everything else that can make a record lie: forward, then forget ---- */

enum vr_change {
    VR_CHANGE_NODE, /* a setter of another kind, SetEnabled: the node may differ */
    VR_CHANGE_EXEC, /* all its nodes may differ */
    VR_CHANGE_GRAPH /* ExecUpdate: the same, and it is another graph's: profiling ends until the
                     * next setter */
};

/* After a forwarded call that changes `exec`, whatever the driver answered. Counts it as an update.
 * `node` counts for VR_CHANGE_NODE. */
void vr_exec_changed(struct vr_state *state, vr_handle exec, vr_handle node, enum vr_change change,
                     bool accepted);

/* More nodes of the exec may differ, by the same call: those of a child graph. */
void vr_node_doubted(struct vr_state *state, vr_handle exec, vr_handle node);
/* False: nobody needs to know which. */
bool vr_exec_has_records(struct vr_state *state, vr_handle exec);

/* Meanings of handles change: module and library unload, context end, function attributes,
 * source-node setters and attributes, node destroy. No record from before is believed. Called
 * before the driver's call and after it: another thread may be given a reused handle value in
 * between. Takes no lock. */
void vr_code_changed(struct vr_state *state);

/* Around the destroy of a graph (before and after): records of execs that came from it, or that
 * were updated as a whole from an unknown one, are not believed any more. */
void vr_graph_gone(struct vr_state *state, vr_handle graph);
/* A graph has become part of another one, and its nodes will end with that one's: no record from
 * before is believed, and from now on the end of any graph ends the belief in all. */
void vr_graph_moved(struct vr_state *state);

/* ---- launches and errors ---- */

void vr_launch_told(struct vr_state *state, vr_handle exec, bool accepted);

enum vr_trouble {
    VR_TROUBLE_STICKY,  /* the context is lost: forward everything from now on */
    VR_TROUBLE_EXITING, /* the process ends: forward everything, since the driver may be gone unseen
                         */
    VR_TROUBLE_ENDED,   /* the driver has shut down: do nothing from now on */
    VR_TROUBLE_BYPASSED /* the driver gave out an ABI of a hooked function that we do not know, so
                         * updates may pass us: forward everything from now on */
};
void vr_trouble_seen(struct vr_state *state, enum vr_trouble trouble);
/* False once trouble was seen: every update is then forwarded, and still counted. One relaxed load.
 */
bool vr_state_alive(const struct vr_state *state);

/* ---- statistics ---- */

/* What only the shim knows, for the report. */
struct vr_doors {
    uint64_t elf, dlsym, procaddress;
    int cuda_driver; /* cuDriverGetVersion's answer, 0 when never asked */
};

/* Writes the JSON statistics (docs: schema 1) to `fd`; no heap, no stdio. VR_REFUSED when a write
 * failed. */
enum vr_status vr_stats_write(struct vr_state *state, const struct vr_doors *doors, int fd);
/* The short table for people. */
enum vr_status vr_stats_report(struct vr_state *state, const struct vr_doors *doors, int fd);

#endif
