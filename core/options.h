/* options.h: what the environment may say (VAREMAP and VAREMAP_*). One table in options.c holds
 * name, type, default, range and help; it is read once. Nothing here fails: a bad value is noted, a
 * default takes its place, and vr_options_warn() tells each later, once there is a log. */
#ifndef VR_OPTIONS_H
#define VR_OPTIONS_H

#include "log.h"
#include "types.h"

#define VR_PATH_BYTES      1024
#define VR_OPTION_PROBLEMS 16

/* Ways to avoid an update that exist; bits of vr_options.rungs. X(NAME, name in VAREMAP_RUNGS) */
#define VR_RUNGS(X)                                                                                \
    X(ELIDE, "elide")                                                                              \
    X(RECYCLE, "recycle")

enum vr_rung_index {
#define X(id, name) VR_RUNG_INDEX_##id,
    VR_RUNGS(X)
#undef X
        VR_RUNG_COUNT
};

enum vr_rung {
#define X(id, name) VR_RUNG_##id = 1u << VR_RUNG_INDEX_##id,
    VR_RUNGS(X)
#undef X
};

/* Which allocations are placed in our reservation: sizes that the profile has seen recur, all from
 * min_size on, none. */
enum vr_backing { VR_BACKING_LEARNED, VR_BACKING_EAGER, VR_BACKING_OFF };

/* The value of a size that says "auto". */
#define VR_SIZE_AUTO UINT64_MAX

struct vr_option_problem {
    const char *name; /* of the variable; static text */
    const char *used; /* what is used instead; static text */
    char value[64];   /* the beginning of the value */
};

struct vr_options {
    enum vr_mode mode;
    bool excluded; /* mode is off because of VAREMAP_ONLY or VAREMAP_SKIP */
    uint32_t rungs;
    uint32_t profile_launches;
    enum vr_backing backing;
    uint64_t reserve;    /* bytes of address range per device, or VR_SIZE_AUTO */
    uint64_t min_size;   /* smallest allocation that is placed under VR_BACKING_EAGER */
    uint64_t keep_bytes; /* cap on memory kept for reuse, or VR_SIZE_AUTO: none of its own */
    bool free_sync;      /* a free waits for the work of its context, as the driver's does */
    enum vr_log_level log;
    bool stats_signal, report;
    char log_file[VR_PATH_BYTES];   /* empty: stderr; %p and %h not yet expanded */
    char stats_file[VR_PATH_BYTES]; /* empty: none; "-": stderr */
    uint32_t problem_count;
    struct vr_option_problem problems[VR_OPTION_PROBLEMS];
};

/* A row of the table, for the documentation. */
struct vr_option {
    const char *name;
    const char *type;
    const char *fallback; /* the default as text, as the environment would say it */
    uint32_t low, high;   /* range of a number; 0, 0 for other types */
    const char *help;
    /* Sets what the row names. NULL when `value` is good, else what is used instead. */
    const char *(*parse)(const struct vr_option *row, const char *value, const char *program,
                         struct vr_options *out);
};

/* Reads every variable with `get` (getenv's contract; values are not kept). `program_name` is the
 * program's name or path for VAREMAP_ONLY and VAREMAP_SKIP; NULL when unknown. */
void vr_options_read(struct vr_options *out, const char *(*get)(const char *name),
                     const char *program_name);

/* One warning per bad value, at every log level: variable, value, what is used instead. */
void vr_options_warn(const struct vr_options *options, struct vr_log *log);

/* The table, and how many rows it has. */
const struct vr_option *vr_options_table(size_t *count);

/* The word for a mode, as VAREMAP would say it. */
const char *vr_mode_name(enum vr_mode mode);

#endif
