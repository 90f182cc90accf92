/* options.c: the table of options and the parsers of their types. Must not know where values come
 * from (the shim passes its getenv) nor what the options do. Values are hostile: any length, any
 * bytes. */
#include "options.h"

#include <string.h>

typedef const struct vr_option *row_t;

/* ---- words ---- */

struct word {
    const char *text;
    int value;
};

static const struct word modes[] = {
    {"on", VR_MODE_ON},           {"1", VR_MODE_ON},
    {"true", VR_MODE_ON},         {"yes", VR_MODE_ON},
    {"observe", VR_MODE_OBSERVE}, {"off", VR_MODE_OFF},
    {"0", VR_MODE_OFF},           {"false", VR_MODE_OFF},
    {"no", VR_MODE_OFF},          {NULL, 0},
};

static const struct word switches[] = {
    {"1", true},    {"on", true},     {"true", true}, {"yes", true}, {"0", false},
    {"off", false}, {"false", false}, {"no", false},  {NULL, 0},
};

static const struct word levels[] = {
    {"error", VR_LOG_ERROR},
    {"warn", VR_LOG_WARN},
    {"info", VR_LOG_INFO},
    {"debug", VR_LOG_DEBUG},
    {NULL, 0},
};

static const struct word backings[] = {
    {"learned", VR_BACKING_LEARNED},
    {"eager", VR_BACKING_EAGER},
    {"off", VR_BACKING_OFF},
    {NULL, 0},
};

static bool find_word(const struct word *words, const char *text, int *value)
{
    for (; words->text; words++) {
        if (strcmp(words->text, text) == 0) {
            *value = words->value;
            return true;
        }
    }
    return false;
}

const char *vr_mode_name(enum vr_mode mode)
{
    static const char *const names[] = {"off", "observe", "on"};

    return names[mode];
}

/* ---- comma lists ---- */

/* The next item that is not empty, or NULL; `*list` moves past it. */
static const char *next_item(const char **list, size_t *length)
{
    const char *item = *list + strspn(*list, ",");

    *length = strcspn(item, ",");
    *list = item + *length;
    return *length ? item : NULL;
}

static bool is_item(const char *item, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(item, text, length) == 0;
}

static bool has_item(const char *list, const char *text)
{
    const char *item;
    size_t length;

    while ((item = next_item(&list, &length)))
        if (is_item(item, length, text))
            return true;
    return false;
}

/* ---- parsers ---- */

static const char *parse_mode(row_t row, const char *value, const char *program,
                              struct vr_options *out)
{
    int mode = VR_MODE_OFF;
    bool known = find_word(modes, value, &mode);

    out->mode = (enum vr_mode)mode;
    return known ? NULL : "off";
}

static uint32_t rung_bit(const char *item, size_t length)
{
#define X(id, name)                                                                                \
    if (is_item(item, length, name))                                                               \
        return VR_RUNG_##id;
    VR_RUNGS(X)
#undef X
    return 0;
}

/* Unknown names are left out: a list made for a later version still means what it can here. */
static const char *parse_rungs(row_t row, const char *value, const char *program,
                               struct vr_options *out)
{
    bool unknown = false;
    const char *item;
    size_t length;

    out->rungs = 0;
    if (strcmp(value, "none") == 0)
        return NULL;
    while ((item = next_item(&value, &length))) {
        uint32_t bit = rung_bit(item, length);
        out->rungs |= bit;
        unknown |= !bit;
    }
    return !unknown ? NULL : out->rungs ? "the names that are known" : "none";
}

static const char *parse_launches(row_t row, const char *value, const char *program,
                                  struct vr_options *out)
{
    uint32_t number = 0;

    for (const char *digit = value; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || number > row->high)
            return row->fallback;
        number = number * 10 + (uint32_t)(*digit - '0');
    }
    if (number < row->low || number > row->high)
        return row->fallback;
    out->profile_launches = number;
    return NULL;
}

static const char *parse_level(row_t row, const char *value, const char *program,
                               struct vr_options *out)
{
    int level;

    if (!find_word(levels, value, &level))
        return row->fallback;
    out->log = (enum vr_log_level)level;
    return NULL;
}

static const char *parse_switch(row_t row, const char *value, bool *out)
{
    int on;

    if (!find_word(switches, value, &on))
        return row->fallback;
    *out = on;
    return NULL;
}

static const char *parse_stats_signal(row_t row, const char *value, const char *program,
                                      struct vr_options *out)
{
    return parse_switch(row, value, &out->stats_signal);
}

static const char *parse_report(row_t row, const char *value, const char *program,
                                struct vr_options *out)
{
    return parse_switch(row, value, &out->report);
}

static const char *parse_free_sync(row_t row, const char *value, const char *program,
                                   struct vr_options *out)
{
    return parse_switch(row, value, &out->free_sync);
}

static const char *parse_backing(row_t row, const char *value, const char *program,
                                 struct vr_options *out)
{
    int backing;

    if (!find_word(backings, value, &backing))
        return row->fallback;
    out->backing = (enum vr_backing)backing;
    return NULL;
}

/* Digits, then K, M, G or nothing; or "auto", where that is the default. */
static const char *parse_size(row_t row, const char *value, uint64_t *out)
{
    uint64_t number = 0;
    size_t digits = strspn(value, "0123456789");
    const char *suffix = value + digits;
    unsigned shift = 0;

    if (strcmp(value, row->fallback) == 0 && !digits) {
        *out = VR_SIZE_AUTO;
        return NULL;
    }
    if (*suffix)
        shift = *suffix == 'K' ? 10 : *suffix == 'M' ? 20 : *suffix == 'G' ? 30 : 64;
    if (!digits || shift == 64 || (*suffix && suffix[1]))
        return row->fallback;
    for (size_t i = 0; i < digits; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(value[i] - '0'), &number))
            return row->fallback;
    if (number > VR_SIZE_AUTO >> shift || number << shift == VR_SIZE_AUTO)
        return row->fallback;
    *out = number << shift;
    return NULL;
}

static const char *parse_reserve(row_t row, const char *value, const char *program,
                                 struct vr_options *out)
{
    return parse_size(row, value, &out->reserve);
}

static const char *parse_min_size(row_t row, const char *value, const char *program,
                                  struct vr_options *out)
{
    return parse_size(row, value, &out->min_size);
}

static const char *parse_keep_bytes(row_t row, const char *value, const char *program,
                                    struct vr_options *out)
{
    return parse_size(row, value, &out->keep_bytes);
}

static const char *parse_path(row_t row, const char *value, char out[VR_PATH_BYTES])
{
    size_t length = strnlen(value, VR_PATH_BYTES);

    if (length == VR_PATH_BYTES)
        return row->fallback;
    memcpy(out, value, length + 1);
    return NULL;
}

static const char *parse_log_file(row_t row, const char *value, const char *program,
                                  struct vr_options *out)
{
    return parse_path(row, value, out->log_file);
}

static const char *parse_stats(row_t row, const char *value, const char *program,
                               struct vr_options *out)
{
    return parse_path(row, value, out->stats_file);
}

static void exclude(struct vr_options *out)
{
    out->mode = VR_MODE_OFF;
    out->excluded = true;
}

static const char *parse_only(row_t row, const char *value, const char *program,
                              struct vr_options *out)
{
    if (!has_item(value, program))
        exclude(out);
    return NULL;
}

static const char *parse_skip(row_t row, const char *value, const char *program,
                              struct vr_options *out)
{
    if (has_item(value, program))
        exclude(out);
    return NULL;
}

/* ---- the table ---- */

/* VAREMAP_ONLY and VAREMAP_SKIP come after VAREMAP, whose word they overrule. */
static const struct vr_option table[] = {
    {"VAREMAP", "mode", "on", 0, 0,
     "on, observe (report what could be saved, change nothing) or off; also 1 true yes 0 false no",
     parse_mode},
    {"VAREMAP_RUNGS", "list", "elide,recycle", 0, 0,
     "ways to avoid an update that may be used, or none: elide, recycle", parse_rungs},
    {"VAREMAP_PROFILE_LAUNCHES", "number", "3", 2, 1000,
     "successful launches of an exec to profile before its nodes are judged", parse_launches},
    {"VAREMAP_BACKING", "word", "learned", 0, 0,
     "which allocations are placed in the reserved range: learned (sizes seen to recur), eager "
     "(all from VAREMAP_MIN_SIZE on), off",
     parse_backing},
    {"VAREMAP_RESERVE", "size", "auto", 0, 0,
     "bytes of address range to reserve per device; halved until the driver accepts",
     parse_reserve},
    {"VAREMAP_MIN_SIZE", "size", "64K", 0, 0,
     "the smallest allocation that is placed under VAREMAP_BACKING=eager", parse_min_size},
    {"VAREMAP_KEEP_BYTES", "size", "auto", 0, 0,
     "cap on the device memory that is kept for reuse; auto: the program's own peak is the bound",
     parse_keep_bytes},
    {"VAREMAP_FREE_SYNC", "switch", "1", 0, 0,
     "1: cuMemFree waits for the context's work, as the driver's does; 0: it does not wait",
     parse_free_sync},
    {"VAREMAP_LOG", "level", "error", 0, 0, "error, warn, info or debug", parse_level},
    {"VAREMAP_LOG_FILE", "file", "stderr", 0, 0,
     "where log lines go; %p stands for the process id, %h for the host", parse_log_file},
    {"VAREMAP_STATS", "file", "none", 0, 0,
     "file for JSON statistics at exit (-: stderr); %p and %h as above", parse_stats},
    {"VAREMAP_STATS_SIGNAL", "switch", "0", 0, 0, "1: write the statistics on SIGUSR2 too",
     parse_stats_signal},
    {"VAREMAP_REPORT", "switch", "0", 0, 0, "1: a short table for people on stderr at exit",
     parse_report},
    {"VAREMAP_ONLY", "list", "none", 0, 0, "names of the programs to act in", parse_only},
    {"VAREMAP_SKIP", "list", "none", 0, 0, "names of programs to leave alone", parse_skip},
};

#define ROWS (sizeof table / sizeof table[0])

_Static_assert(ROWS <= VR_OPTION_PROBLEMS, "each row may have one problem");

const struct vr_option *vr_options_table(size_t *count)
{
    *count = ROWS;
    return table;
}

static void set_defaults(struct vr_options *out)
{
    memset(out, 0, sizeof *out);
    out->mode = VR_MODE_ON;
    for (size_t i = 0; i < ROWS; i++) {
        row_t row = &table[i];
        /* Files and lists of names have no value by default. */
        if (strcmp(row->type, "file") != 0 && row->parse != parse_only && row->parse != parse_skip)
            row->parse(row, row->fallback, "", out);
    }
}

static void note_problem(struct vr_options *out, row_t row, const char *value, const char *used)
{
    struct vr_option_problem *problem = &out->problems[out->problem_count++];
    size_t length = strnlen(value, sizeof problem->value - 1);

    problem->name = row->name;
    problem->used = used;
    memcpy(problem->value, value, length);
    problem->value[length] = '\0';
}

void vr_options_read(struct vr_options *out, const char *(*get)(const char *name),
                     const char *program_name)
{
    const char *program = program_name ? program_name : "";
    const char *slash = strrchr(program, '/');

    program = slash ? slash + 1 : program;
    set_defaults(out);
    for (size_t i = 0; i < ROWS; i++) {
        row_t row = &table[i];
        const char *value = get(row->name);
        const char *used = value && *value ? row->parse(row, value, program, out) : NULL;
        if (used)
            note_problem(out, row, value, used);
    }
}

void vr_options_warn(const struct vr_options *options, struct vr_log *log)
{
    for (uint32_t i = 0; i < options->problem_count; i++) {
        const struct vr_option_problem *problem = &options->problems[i];
        bool cut = strlen(problem->value) == sizeof problem->value - 1;
        vr_log_always(log, "%s=%s%s is not understood: using %s", problem->name, problem->value,
                      cut ? "..." : "", problem->used);
    }
}
