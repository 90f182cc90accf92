/* core_stats.c: the statistics are JSON of schema 1 (docs/design.md, section 7), the report is a
 * table, and both hold what was counted. */
#include <ctype.h>
#include <unistd.h>

#include "tests/unit/core_setters.h"

/* ---- a checker of JSON, by the grammar of RFC 8259 ---- */

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *json_value(const char *at);

/* NULL when there is no string here. */
static const char *json_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u') {
            for (int i = 0; i < 4; i++)
                if (!isxdigit((unsigned char)*++at))
                    return NULL;
        } else if (!*at || !strchr("\"\\/bfnrt", *at)) {
            return NULL;
        }
    }
    return at + 1;
}

static const char *json_number(const char *at)
{
    const char *first = at;

    while (isdigit((unsigned char)*at))
        at++;
    return at > first && (*first != '0' || at == first + 1) ? at : NULL;
}

/* Members of an object or elements of an array, up to and with `close`. */
static const char *json_list(const char *at, char close)
{
    at = skip_space(at + 1);
    if (*at == close)
        return at + 1;
    for (;;) {
        if (close == '}') {
            at = json_string(at);
            at = at ? skip_space(at) : NULL;
            if (!at || *at != ':')
                return NULL;
            at = skip_space(at + 1);
        }
        at = json_value(at);
        at = at ? skip_space(at) : NULL;
        if (!at || (*at != ',' && *at != close))
            return NULL;
        if (*at == close)
            return at + 1;
        at = skip_space(at + 1);
    }
}

static const char *json_value(const char *at)
{
    switch (*at) {
    case '{': return json_list(at, '}');
    case '[': return json_list(at, ']');
    case '"': return json_string(at);
    }
    return json_number(at);
}

static bool is_json(const char *text)
{
    const char *end = json_value(skip_space(text));

    return end && *skip_space(end) == '\0';
}

TEST(json, the_checker_checks)
{
    T_ASSERT(is_json("{\"a\": [1, \"x\\n\\u00ff\", {}], \"b\": 0}\n"));
    T_ASSERT(!is_json("{\"a\": 1,}"));
    T_ASSERT(!is_json("{\"a\" 1}"));
    T_ASSERT(!is_json("{\"a\": 01}"));
    T_ASSERT(!is_json("{\"a\": \"\\x\"}"));
    T_ASSERT(!is_json("{\"a\": \"\n\"}"));
    T_ASSERT(!is_json("{} {}"));
    T_ASSERT(!is_json("[1, 2"));
    T_ASSERT(!is_json(""));
}

/* ---- reading it back ---- */

static char text[65536];

static const struct vr_doors doors = {
    .elf = 11, .dlsym = 22, .procaddress = 33, .cuda_driver = 13000};

typedef enum vr_status writer(struct vr_state *, const struct vr_doors *, int);

static void write_with(writer *write_it, struct vr_state *state)
{
    FILE *file = tmpfile();
    ssize_t length;

    T_NOT_NULL(file);
    T_EQ(write_it(state, &doors, fileno(file)), VR_OK);
    length = pread(fileno(file), text, sizeof text - 1, 0);
    T_GT(length, 0);
    text[length] = '\0';
    fclose(file);
}

/* The number named `name` in the object named `section`. */
static long long number(const char *section, const char *name)
{
    char key[64];
    const char *at;

    snprintf(key, sizeof key, "\"%s\": {", section);
    at = strstr(text, key);
    T_ASSERT(at, "%s", section);
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *end = strchr(at, '}');
    at = strstr(at, key);
    T_ASSERT(at && at < end, "%s.%s", section, name);
    return atoll(at + strlen(key));
}

/* Two elided, one forwarded, one failed, one on an unseen exec; three launches, one failed. */
static struct vr_state *busy(enum vr_mode mode)
{
    struct vr_state *state = world_begin(mode);
    struct world_setter setter;

    world_setter(&setter, EXEC, NODE);
    world_born(state, EXEC, GRAPH);
    for (int i = 0; i < 3; i++)
        world_send(state, &setter.update, true);
    setter.value[0]++;
    world_send(state, &setter.update, false);
    setter.update.exec = EXEC_B;
    world_send(state, &setter.update, true);
    for (int i = 0; i < 3; i++)
        vr_launch_told(state, EXEC, true);
    vr_launch_told(state, EXEC, false);
    return state;
}

TEST(stats, every_section_and_number)
{
    struct vr_state *state = busy(VR_MODE_ON);

    write_with(vr_stats_write, state);
    T_ASSERT(is_json(text), "%s", text);
    T_STR_HAS(text, "\"mode\": \"on\"");
    T_STR_HAS(text, "\"rungs\": [\"elide\", \"recycle\"]");
    T_STR_HAS(text, "core_stats\"");
    T_EQ(number("varemap", "schema"), 1);
    T_EQ(number("varemap", "pid"), getpid());
    T_EQ(number("varemap", "cuda_driver"), 13000);
    T_EQ(number("calls", "updates"), 5);
    T_EQ(number("calls", "updates_elided"), 2);
    T_EQ(number("calls", "updates_deferred"), 0);
    T_EQ(number("calls", "updates_forwarded"), 2);
    T_EQ(number("calls", "updates_failed"), 1);
    T_EQ(number("calls", "launches"), 3);
    T_EQ(number("calls", "launches_failed"), 1);
    T_EQ(number("execs", "seen"), 1);
    T_EQ(number("execs", "profiling"), 0);
    T_EQ(number("execs", "active"), 0);
    T_EQ(number("execs", "disabled"), 1);
    T_EQ(number("refusals", "unseen_exec"), 1);
    T_EQ(number("refusals", "device_updatable"), 0);
    T_EQ(number("doors", "elf"), 11);
    T_EQ(number("doors", "dlsym"), 22);
    T_EQ(number("doors", "procaddress"), 33);
    T_NULL(strstr(text, "\"would\""));
    world_end(state);
}

TEST(stats, observe_says_what_would_be)
{
    struct vr_state *state = busy(VR_MODE_OBSERVE);

    write_with(vr_stats_write, state);
    T_ASSERT(is_json(text), "%s", text);
    T_STR_HAS(text, "\"mode\": \"observe\"");
    T_EQ(number("calls", "updates_elided"), 0);
    T_EQ(number("calls", "updates_forwarded"), 4);
    T_EQ(number("would", "updates_elided"), 2);
    world_end(state);
}

TEST(stats, empty_state)
{
    struct vr_options options;
    struct vr_state *state;

    vr_options_read(&options, world_no_variables, "test");
    options.rungs = 0;
    state = vr_state_new(&world_ops, &options);
    write_with(vr_stats_write, state);
    T_ASSERT(is_json(text), "%s", text);
    T_STR_HAS(text, "\"rungs\": []");
    T_EQ(number("calls", "updates"), 0);
    T_EQ(number("execs", "seen"), 0);
    world_end(state);
}

TEST(stats, failed_write_is_told)
{
    struct vr_state *state = busy(VR_MODE_ON);

    T_EQ(vr_stats_write(state, &doors, -1), VR_REFUSED);
    T_EQ(vr_stats_report(state, &doors, -1), VR_REFUSED);
    world_end(state);
}

/* A signal handler may run while its own thread holds a lock: one that the writer took would hang.
 */
TEST(stats, needs_no_lock)
{
    struct vr_state *state = busy(VR_MODE_ON);
    struct vr_lock *const locks[] = {&state->track.shard[0].lock,
                                     &state->track.shard[VR_SHARDS - 1].lock, &state->track.pool,
                                     &state->layouts.lock};

    for (int i = 0; i < 4; i++)
        pthread_mutex_lock(&locks[i]->mutex);
    write_with(vr_stats_write, state);
    T_EQ(number("calls", "updates"), 5);
    write_with(vr_stats_report, state);
    for (int i = 0; i < 4; i++)
        pthread_mutex_unlock(&locks[i]->mutex);
    world_end(state);
}

TEST(stats, needs_no_heap)
{
    struct vr_state *state = busy(VR_MODE_ON);
    uint64_t blocks = state->heap.blocks;

    state->heap.fail_at = 1;
    write_with(vr_stats_write, state);
    T_EQ(state->heap.fail_at, 1);
    T_EQ(state->heap.blocks, blocks);
    world_end(state);
}

/* Column positions are the layout's; numbers and words are what a reader needs. */
TEST(report, says_what_was_saved_and_why_not_more)
{
    struct vr_state *state = busy(VR_MODE_ON);

    write_with(vr_stats_report, state);
    T_STR_HAS(text, "mode on");
    T_STR_HAS(text, "graph updates by the program       5\n");
    T_STR_HAS(text, "2  40.0 %\n");
    T_STR_HAS(text, "unseen_exec");
    T_STR_HAS(text, "its exec was not seen from instantiation on");
    T_NULL(strstr(text, "device_updatable"));
    world_end(state);
}

TEST(report, observe)
{
    struct vr_state *state = busy(VR_MODE_OBSERVE);

    write_with(vr_stats_report, state);
    T_STR_HAS(text, "would be answered here");
    T_STR_HAS(text, "2  40.0 %\n");
    world_end(state);
}
