/* stats.c: writes the counters, for programs (JSON, schema 1) and for people. Reads the state
 * without a lock, without the heap and without stdio, so that a signal handler may call it. */
#include "recycle.h"
#include "state_private.h"

#include <limits.h>
#include <unistd.h>

#include "text.h"
#include "version.h"

static const char *const counter_names[] = {
#define X(name) #name,
    VR_COUNTERS(X)
#undef X
};

static const char *const refusal_names[] = {
#define X(name, text) #name,
    VR_REFUSALS(X)
#undef X
};

static const char *const refusal_texts[] = {
#define X(name, text) text,
    VR_REFUSALS(X)
#undef X
};

static const char *const rung_names[] = {
#define X(id, name) name,
    VR_RUNGS(X)
#undef X
};

/* An app call is one of these, hence the sum is the number of update calls answered. */
static uint64_t updates(const struct vr_totals *totals)
{
    return totals->counter[VR_COUNT_updates_elided] + totals->counter[VR_COUNT_updates_deferred] +
           totals->counter[VR_COUNT_updates_forwarded] + totals->counter[VR_COUNT_updates_failed];
}

/* The program's path; empty when the kernel will not say. */
static void find_program(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

    path[length < 0 ? 0 : length] = '\0';
}

/* ---- JSON ---- */

/* One member of an object; `first` says whether a comma goes before it. */
static void member(struct vr_text *text, bool first, const char *name)
{
    vr_text_format(text, "%s\"%s\": ", first ? "" : ", ", name);
}

static void number(struct vr_text *text, bool first, const char *name, uint64_t value)
{
    member(text, first, name);
    vr_text_u64(text, value);
}

static void string(struct vr_text *text, bool first, const char *name, const char *value)
{
    member(text, first, name);
    vr_text_json(text, value);
}

static void put_rungs(struct vr_text *text, uint32_t rungs)
{
    bool first = true;

    member(text, false, "rungs");
    vr_text_put(text, "[");
    for (int i = 0; i < VR_RUNG_COUNT; i++) {
        if (!(rungs & 1u << i))
            continue;
        vr_text_put(text, first ? "" : ", ");
        vr_text_json(text, rung_names[i]);
        first = false;
    }
    vr_text_put(text, "]");
}

static void put_identity(struct vr_text *text, const struct vr_state *state, int cuda_driver)
{
    char path[PATH_MAX];

    find_program(path);
    vr_text_put(text, "{\n  \"varemap\": {");
    string(text, true, "version", VR_VERSION);
    number(text, false, "schema", VR_STATS_SCHEMA);
    string(text, false, "mode", vr_mode_name(state->options.mode));
    put_rungs(text, state->options.rungs);
    number(text, false, "pid", (uint64_t)getpid());
    string(text, false, "exe", path);
    number(text, false, "cuda_driver", (uint64_t)cuda_driver);
}

static const char *const memory_call_names[] = {
#define X(name) #name,
    VR_MEMORY_CALLS(X)
#undef X
};

static const char *const vmm_names[] = {
#define X(name) #name,
    VR_VMM_CALLS(X)
#undef X
};

#define COUNT_OF(names) ((int)(sizeof(names) / sizeof *(names)))

static uint64_t allocs(const struct vr_memory_totals *memory)
{
    return memory->counter[VR_COUNT_allocs_recycled] + memory->counter[VR_COUNT_allocs_placed] +
           memory->counter[VR_COUNT_allocs_forwarded];
}

static void put_calls(struct vr_text *text, const struct vr_totals *totals,
                      const struct vr_memory_totals *memory)
{
    vr_text_put(text, "},\n  \"calls\": {");
    number(text, true, "updates", updates(totals));
    for (int i = 0; i < VR_COUNTER_COUNT; i++)
        if (i != VR_COUNT_would_elide)
            number(text, false, counter_names[i], totals->counter[i]);
    number(text, false, "allocs", allocs(memory));
    for (int i = 0; i < COUNT_OF(memory_call_names); i++)
        number(text, false, memory_call_names[i], memory->counter[i]);
}

static void put_memory(struct vr_text *text, const struct vr_memory_totals *memory)
{
    vr_text_put(text, "},\n  \"memory\": {");
    number(text, true, "reserved_bytes", memory->reserved_bytes);
    number(text, false, "mapped_bytes", memory->mapped_bytes);
    number(text, false, "kept_bytes", memory->kept_bytes);
    number(text, false, "slices", memory->slices);
    vr_text_put(text, "},\n  \"vmm\": {");
    for (int i = 0; i < COUNT_OF(vmm_names); i++)
        number(text, i == 0, vmm_names[i], memory->counter[VR_COUNT_vmm_create + i]);
}

static void put_execs(struct vr_text *text, const struct vr_totals *totals)
{
    vr_text_put(text, "},\n  \"execs\": {");
    number(text, true, "seen", totals->execs_seen);
    number(text, false, "profiling", totals->phase[VR_PHASE_PROFILING]);
    number(text, false, "active", totals->phase[VR_PHASE_ACTIVE]);
    number(text, false, "disabled", totals->phase[VR_PHASE_DISABLED]);
}

static void put_refusals(struct vr_text *text, const struct vr_totals *totals)
{
    vr_text_put(text, "},\n  \"refusals\": {");
    for (int i = 0; i < VR_REFUSAL_COUNT; i++)
        number(text, i == 0, refusal_names[i], totals->refusal[i]);
}

static void put_doors(struct vr_text *text, const struct vr_doors *doors)
{
    vr_text_put(text, "},\n  \"doors\": {");
    number(text, true, "elf", doors->elf);
    number(text, false, "dlsym", doors->dlsym);
    number(text, false, "procaddress", doors->procaddress);
}

enum vr_status vr_stats_write(struct vr_state *state, const struct vr_doors *doors, int fd)
{
    char buffer[2048];
    struct vr_text text = vr_text_over(buffer, sizeof buffer, fd);
    struct vr_memory_totals memory;
    struct vr_totals totals;

    vr_track_sum(&state->track, &totals);
    vr_recycler_sum(state->recycler, &memory);
    put_identity(&text, state, doors->cuda_driver);
    put_calls(&text, &totals, &memory);
    put_execs(&text, &totals);
    put_refusals(&text, &totals);
    put_memory(&text, &memory);
    put_doors(&text, doors);
    if (state->options.mode == VR_MODE_OBSERVE) {
        vr_text_put(&text, "},\n  \"would\": {");
        number(&text, true, "updates_elided", totals.counter[VR_COUNT_would_elide]);
        number(&text, false, "allocs_recycled", memory.counter[VR_COUNT_would_recycle]);
    }
    vr_text_put(&text, "}\n}\n");
    return vr_text_flush(&text) ? VR_OK : VR_REFUSED;
}

/* ---- the table for people ---- */

static void line(struct vr_text *text, const char *name, uint64_t value, const char *note)
{
    char buffer[24];
    struct vr_text digits = vr_text_over(buffer, sizeof buffer, -1);

    vr_text_u64(&digits, value);
    vr_text_format(text, "  %s", name);
    for (size_t column = strlen(name) + digits.used; column < 36; column++)
        vr_text_put(text, " ");
    vr_text_bytes(text, buffer, digits.used);
    vr_text_format(text, "%s%s\n", *note ? "  " : "", note);
}

static void put_share(struct vr_text *text, const char *name, uint64_t part, uint64_t all)
{
    char note[32] = "";
    struct vr_text share = vr_text_over(note, sizeof note - 1, -1);
    uint64_t tenths = all ? part * 1000 / all : 0;

    vr_text_format(&share, "%llu.%llu %%", (unsigned long long)(tenths / 10),
                   (unsigned long long)(tenths % 10));
    note[share.used] = '\0';
    line(text, name, part, note);
}

/* Nothing for a program that does not allocate. */
static void put_allocs(struct vr_text *text, const struct vr_memory_totals *memory, bool observe)
{
    uint64_t recycled =
        memory->counter[observe ? VR_COUNT_would_recycle : VR_COUNT_allocs_recycled];

    if (!allocs(memory))
        return;
    line(text, "device allocations", allocs(memory), "");
    put_share(text, observe ? "would use kept memory" : "answered from kept memory", recycled,
              allocs(memory));
    if (!observe)
        line(text, "placed in new memory", memory->counter[VR_COUNT_allocs_placed], "");
    line(text, "made by the driver", memory->counter[VR_COUNT_allocs_forwarded], "");
    line(text, "frees", memory->counter[VR_COUNT_frees], "");
}

enum vr_status vr_stats_report(struct vr_state *state, const struct vr_doors *doors, int fd)
{
    bool observe = state->options.mode == VR_MODE_OBSERVE;
    char buffer[2048], path[PATH_MAX];
    struct vr_text text = vr_text_over(buffer, sizeof buffer, fd);
    struct vr_memory_totals memory;
    struct vr_totals totals;

    vr_track_sum(&state->track, &totals);
    vr_recycler_sum(state->recycler, &memory);
    find_program(path);
    vr_text_format(&text, "varemap %s, mode %s, driver %d: %s (pid %d)\n", VR_VERSION,
                   vr_mode_name(state->options.mode), doors->cuda_driver, path, (int)getpid());
    line(&text, "graph updates by the program", updates(&totals), "");
    if (observe)
        put_share(&text, "would be answered here", totals.counter[VR_COUNT_would_elide],
                  updates(&totals));
    else
        put_share(&text, "answered here", totals.counter[VR_COUNT_updates_elided],
                  updates(&totals));
    line(&text, "sent to the driver", totals.counter[VR_COUNT_updates_forwarded], "");
    line(&text, "failed", totals.counter[VR_COUNT_updates_failed], "");
    line(&text, "graph launches", totals.counter[VR_COUNT_launches], "");
    line(&text, "executable graphs seen", totals.execs_seen, "");
    put_allocs(&text, &memory, observe);
    for (int i = 0; i < VR_REFUSAL_COUNT; i++)
        if (totals.refusal[i])
            line(&text, refusal_names[i], totals.refusal[i], refusal_texts[i]);
    return vr_text_flush(&text) ? VR_OK : VR_REFUSED;
}
