/* options.c: fuzzes the reading of the environment, the file names and the warnings. The input is
 * NAME=value, one after another, separated by NUL; the names are the table's, by number. */
#include "core/options.h"
#include "core/text.h"
#include "tests/fuzz/fuzz.h"

static const char *values[32];
static const struct vr_option *table;
static size_t rows;

static const char *get(const char *name)
{
    for (size_t i = 0; i < rows; i++)
        if (!strcmp(table[i].name, name))
            return values[i];
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), path[64];
    struct vr_options options;
    struct vr_log log;

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    table = vr_options_table(&rows);
    memset(values, 0, sizeof values);
    for (size_t at = 0; at < size; at += strlen(text + at) + 1)
        values[(unsigned char)text[at] % rows] = text + at + 1 - (text[at] == '\0');
    vr_options_read(&options, get, values[0] ? values[0] : "program");
    FUZZ_CHECK(options.problem_count <= VR_OPTION_PROBLEMS);
    FUZZ_CHECK(options.mode <= VR_MODE_ON && options.log <= VR_LOG_DEBUG);
    FUZZ_CHECK(options.profile_launches >= 2 && options.profile_launches <= 1000);
    FUZZ_CHECK(strnlen(options.log_file, VR_PATH_BYTES) < VR_PATH_BYTES);
    FUZZ_CHECK(strnlen(options.stats_file, VR_PATH_BYTES) < VR_PATH_BYTES);
    vr_path_expand(path, sizeof path, options.stats_file);
    FUZZ_CHECK(strnlen(path, sizeof path) < sizeof path);
    vr_log_init(&log, VR_LOG_ERROR, "/dev/null");
    vr_options_warn(&options, &log);
    free(text);
    return 0;
}
