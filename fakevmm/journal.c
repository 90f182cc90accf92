/* journal.c: FAKEVMM_JOURNAL: one line of JSON for each call that arrives from outside, so that two
 * runs can be compared with diff. What a call was given is written before it works, since it may
 * end the objects it names; what it answers after. It must not know what any function does; the
 * parameters' types say what can be shown. */
#include "journal.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ELEMENTS 64 /* of an array that are shown */

struct fv_journal {
    struct fv_writer writer;
    char *text;
    size_t length;
    int count;
    struct fv_param params[FV_MAX_PARAMS];
};

static int file = -1;

void fv_journal_start(void)
{
    if (fv_settings()->journal)
        file = fv_open_output("FAKEVMM_JOURNAL");
}

/* A child that has a file of its own by the name starts it; else both write to one. */
void fv_journal_in_child(void)
{
    const char *pattern = fv_settings()->journal ? fv_env("FAKEVMM_JOURNAL") : NULL;

    if (!pattern || !strstr(pattern, "%p"))
        return;
    close(file);
    fv_journal_start();
}

/* In order of first appearance. */
static unsigned thread_ordinal(void)
{
    static unsigned threads;
    static _Thread_local unsigned own;

    if (!own)
        own = ++threads;
    return own;
}

/* ---- what the types say ---- */

static bool is_type(const struct fv_param *param, const char *name, int depth)
{
    return param->depth == depth && strcmp(param->type->name, name) == 0;
}

static bool is_in(const struct fv_call *call, const char *part)
{
    return strstr(fv_symbols[call->row].symbol, part) != NULL;
}

/* The pointers that nobody writes through although they are not const. */
static void correct(const struct fv_call *call, struct fv_journal *journal)
{
    for (int i = 0; i < journal->count; i++) {
        struct fv_param *param = &journal->params[i];
        if (is_in(call, "UpdateCaptureDependencies") || is_type(param, "CUmemLocation", 1))
            param->constant = true;
    }
}

/* Structs that are filled in beforehand in part; getters only write. */
static bool is_read_too(const struct fv_call *call, const struct fv_param *param)
{
    return param->type->class == FV_IS_STRUCT && !is_in(call, "Get") &&
           !is_type(param, "CUgraphExecUpdateResultInfo", 1);
}

/* `void **` is written if it comes first; elsewhere it is a list of options. */
static bool is_written(const struct fv_journal *journal, int index)
{
    const struct fv_param *param = &journal->params[index];

    if (param->depth != 1 || param->constant || param->type->class == FV_IS_OPAQUE)
        return false;
    return !is_type(param, "void", 1) || index == 0;
}

static const void *pointer_in(const struct fv_value *value)
{
    const void *pointer;

    memcpy(&pointer, value->at, sizeof pointer);
    return pointer;
}

/* True for a pointer to several elements, and how many: what a number behind it says, given by
 * value for what is read, by pointer for what is written. */
static bool is_list(const struct fv_call *call, const struct fv_journal *journal, int index,
                    size_t *count)
{
    const struct fv_param *param = &journal->params[index];

    if (!is_type(param, "CUgraphNode", 1) && !is_type(param, "CUgraphEdgeData", 1) &&
        !is_type(param, "CUmemAccessDesc", 1))
        return false;
    for (int i = index + 1; i < journal->count; i++) {
        const struct fv_value *value = &call->values[i];
        if (param->constant && is_type(&journal->params[i], "size_t", 0))
            return *count = (size_t)fv_number_at(value->at, value->size, false), true;
        if (!param->constant && is_type(&journal->params[i], "size_t", 1) && pointer_in(value))
            return *count = *(const size_t *)pointer_in(value), true;
    }
    return false;
}

/* ---- writing ---- */

static void write_list(struct fv_journal *journal, const struct fv_type *type,
                       const unsigned char *at, size_t count)
{
    FILE *out = journal->writer.file;

    fputc('[', out);
    for (size_t i = 0; i < count && i < MAX_ELEMENTS; i++) {
        if (i)
            fputc(',', out);
        fv_write_value(&journal->writer, type, at + i * type->size, type->size);
    }
    fputs(count > MAX_ELEMENTS ? ",\"...\"]" : "]", out);
}

static void write_pointed(const struct fv_call *call, struct fv_journal *journal, int index)
{
    const struct fv_type *type = journal->params[index].type;
    const void *at = pointer_in(&call->values[index]);
    size_t count;

    if (!at)
        fputs("null", journal->writer.file);
    else if (is_list(call, journal, index, &count))
        write_list(journal, type, at, count);
    else
        fv_write_value(&journal->writer, type, at, type->size);
}

/* What a pointer that is not followed is worth: whether it is there. */
static void write_presence(const struct fv_call *call, struct fv_journal *journal, int index,
                           const char *word)
{
    if (pointer_in(&call->values[index]))
        fprintf(journal->writer.file, "\"%s\"", word);
    else
        fputs("null", journal->writer.file);
}

static void write_input(const struct fv_call *call, struct fv_journal *journal, int index)
{
    const struct fv_param *param = &journal->params[index];
    const struct fv_value *value = &call->values[index];

    if (param->type->class == FV_IS_TEXT && pointer_in(value))
        fv_write_text(&journal->writer, pointer_in(value));
    else if (param->depth == 0)
        fv_write_value(&journal->writer, param->type, value->at, value->size);
    else if (is_written(journal, index) && !is_read_too(call, param))
        write_presence(call, journal, index, "out");
    else if (param->depth == 1 && param->type->size && !is_type(param, "void", 1) &&
             (param->type->class != FV_IS_NUMBER || is_list(call, journal, index, &(size_t){0})))
        write_pointed(call, journal, index);
    else
        write_presence(call, journal, index, "opaque");
}

/* The launch calls have the kernel's arguments in two `void **`: one after the other, or in two
 * parameters, or only the first. */
static bool write_kernel_params(const struct fv_call *call, struct fv_journal *journal, int index)
{
    const struct fv_value *values = call->values;
    bool is_launch = is_in(call, "cuLaunch") && is_type(&journal->params[index], "void", 1);
    void *const *extra = NULL;

    if (!is_launch)
        return false;
    if (is_type(&journal->params[index - 1], "void", 1)) {
        write_presence(call, journal, index, "extra");
        return true;
    }
    if (index + 1 < journal->count && is_type(&journal->params[index + 1], "void", 1))
        extra = pointer_in(&values[index + 1]);
    fv_write_launch(&journal->writer, pointer_in(&values[index]), extra);
    return true;
}

static void write_inputs(const struct fv_call *call, struct fv_journal *journal)
{
    fprintf(journal->writer.file, "{\"call\":\"%s\",\"args\":[", fv_symbols[call->row].symbol);
    for (int i = 0; i < journal->count; i++) {
        if (i)
            fputc(',', journal->writer.file);
        if (!write_kernel_params(call, journal, i))
            write_input(call, journal, i);
    }
    fputc(']', journal->writer.file);
}

static void write_outputs(const struct fv_call *call, struct fv_journal *journal)
{
    const char *separator = "";

    fputs(",\"out\":[", journal->writer.file);
    for (int i = 0; i < journal->count; i++) {
        if (!is_written(journal, i) || is_in(call, "cuLaunch"))
            continue;
        fputs(separator, journal->writer.file);
        write_pointed(call, journal, i);
        separator = ",";
    }
    fputc(']', journal->writer.file);
}

static void write_result(struct fv_journal *journal, CUresult result)
{
    const char *name = fv_error_name(result);

    if (name)
        fprintf(journal->writer.file, ",\"result\":\"%s\"", name);
    else
        fprintf(journal->writer.file, ",\"result\":%d", (int)result);
    fprintf(journal->writer.file, ",\"thread\":%u}\n", thread_ordinal());
}

/* Each line in one go, so that what a crash leaves is whole. */
static void append(const char *text, size_t length)
{
    while (length) {
        ssize_t wrote = write(file, text, length);
        if (wrote <= 0)
            return;
        text += wrote;
        length -= (size_t)wrote;
    }
}

void fv_journal_before(struct fv_call *call)
{
    struct fv_journal *journal = file < 0 ? NULL : calloc(1, sizeof *journal);

    if (!journal)
        return;
    journal->writer.file = open_memstream(&journal->text, &journal->length);
    if (!journal->writer.file) {
        free(journal);
        return;
    }
    journal->count = fv_params_of(call->row, journal->params);
    correct(call, journal);
    write_inputs(call, journal);
    call->journal = journal;
}

/* A graph update that is refused says where. */
static bool has_outputs(const struct fv_call *call, CUresult result)
{
    return result == CUDA_SUCCESS ||
           (result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE && is_in(call, "cuGraphExecUpdate"));
}

void fv_journal_after(struct fv_call *call, CUresult result)
{
    struct fv_journal *journal = call->journal;

    if (!journal)
        return;
    if (has_outputs(call, result))
        write_outputs(call, journal);
    write_result(journal, result);
    if (fclose(journal->writer.file) == 0)
        append(journal->text, journal->length);
    free(journal->text);
    free(journal);
}
