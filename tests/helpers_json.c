/* helpers_json.c: finds the whole numbers in a JSON text of nested objects, which is all that tests
 * read. It knows nothing of what the numbers mean. */
#define _GNU_SOURCE
#define VR_TEST_ASSERTIONS_ONLY
#include "tests/unit/vr_test.h"
#include "tests/helpers.h"
#include <ctype.h>
#include <errno.h>

struct reader {
    const char *at;
    char path[512];
    struct t_json json;
};

static bool read_value(struct reader *r);

static void skip_space(struct reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

/* After space, the character `c`: taken, or false. */
static bool take(struct reader *r, char c)
{
    skip_space(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

/* A string, cut to `size`; a backslash and the character after it are kept as they stand. */
static bool read_string(struct reader *r, char *text, size_t size)
{
    size_t length = 0;

    if (!take(r, '"'))
        return false;
    for (; *r->at && *r->at != '"'; r->at++) {
        if (length + 2 < size)
            text[length++] = *r->at;
        if (*r->at == '\\' && r->at[1])
            text[length++] = *++r->at;
    }
    text[length] = 0;
    return take(r, '"');
}

static bool read_object(struct reader *r)
{
    size_t outer = strlen(r->path);
    char name[256];

    if (take(r, '}'))
        return true;
    do {
        if (!read_string(r, name, sizeof name) || !take(r, ':'))
            return false;
        snprintf(r->path + outer, sizeof r->path - outer, "%s%s", outer ? "." : "", name);
        if (!read_value(r))
            return false;
        r->path[outer] = 0;
    } while (take(r, ','));
    return take(r, '}');
}

static bool read_array(struct reader *r)
{
    if (take(r, ']'))
        return true;
    do {
        if (!read_value(r))
            return false;
    } while (take(r, ','));
    return take(r, ']');
}

static void add_number(struct reader *r, long long value)
{
    struct t_json *json = &r->json;

    json->numbers = realloc(json->numbers, (json->count + 1) * sizeof *json->numbers);
    T_ASSERT(json->numbers, "out of memory");
    json->numbers[json->count].path = t_format("%s", r->path);
    json->numbers[json->count++].value = value;
}

/* A number or one of the three words. */
static bool read_scalar(struct reader *r)
{
    static const char *const words[] = {"true", "false", "null"};
    char *end;
    long long value = strtoll(r->at, &end, 10);

    for (size_t i = 0; i < 3; i++)
        if (!strncmp(r->at, words[i], strlen(words[i]))) {
            r->at += strlen(words[i]);
            return true;
        }
    if (end == r->at)
        return false;
    if (*end == '.' || *end == 'e' || *end == 'E')
        strtod(r->at, &end);
    else
        add_number(r, value);
    r->at = end;
    return true;
}

static bool read_value(struct reader *r)
{
    char text[512];

    skip_space(r);
    if (*r->at == '"')
        return read_string(r, text, sizeof text);
    if (take(r, '{'))
        return read_object(r);
    if (take(r, '['))
        return read_array(r);
    return read_scalar(r);
}

struct t_json t_json_read(const char *path)
{
    struct reader r = {0};
    static char text[1 << 20];
    FILE *file = fopen(path, "r");

    T_ASSERT(file, "%s: %s", path, strerror(errno));
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    T_ASSERT(length < sizeof text - 1, "%s is too long", path);
    text[length] = 0;
    r.at = text;
    skip_space(&r);
    bool read = *r.at == '{' && read_value(&r);
    skip_space(&r);
    T_ASSERT(read && !*r.at, "%s is not one JSON object, at byte %zu: %.300s", path,
             (size_t)(r.at - text), text);
    return r.json;
}

long long t_json_get(const struct t_json *json, const char *path, long long missing)
{
    for (size_t i = 0; i < json->count; i++)
        if (!strcmp(json->numbers[i].path, path))
            return json->numbers[i].value;
    return missing;
}

void t_json_free(struct t_json *json)
{
    for (size_t i = 0; i < json->count; i++)
        free(json->numbers[i].path);
    free(json->numbers);
    *json = (struct t_json){0};
}
