/* params.c: reads the text of entries.def's parameter lists, and looks types and fields up in
 * types.def and fields.def. It must not know what a value means to anybody. */
#include "params.h"

#include <string.h>

static const struct fv_type types[] = {
#define HANDLE(type, kind)    {#type, FV_IS_HANDLE, sizeof(type), false, kind},
#define NUMBER(type, below)   {#type, FV_IS_NUMBER, sizeof(type), below, FV_KINDS},
#define OTHER(type, class_of) {#type, class_of, sizeof(type), false, FV_KINDS},
#include "types.def"
#undef HANDLE
#undef NUMBER
#undef OTHER
};

static const struct fv_type opaque = {"", FV_IS_OPAQUE, 0, false, FV_KINDS};
static const struct fv_type text = {"char", FV_IS_TEXT, 1, false, FV_KINDS};
/* What `void *` is: an address, of the host's memory as a rule. */
static const struct fv_type address = {"void", FV_IS_ADDRESS, sizeof(void *), false, FV_KINDS};

const struct fv_type *fv_type_named(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0)
            return &types[i];
    return &opaque;
}

/* A string that is read is worth showing; one that is written may have no end. `void *` is a value
 * of its own rather than a pointer to something. */
static void adjust(struct fv_param *param, const char *name, size_t length)
{
    if (length == 4 && strncmp(name, "void", length) == 0 && param->depth) {
        param->type = &address;
        param->depth--;
    } else if (length == 4 && strncmp(name, "char", length) == 0 && param->depth == 1 &&
               param->constant) {
        param->type = &text;
        param->depth = 0;
    } else if (length == 4 && strncmp(name, "char", length) == 0) {
        param->type = &opaque;
    }
}

/* One declaration, "const CUgraphNode *a": the words before the last are the type. */
static struct fv_param parse(const char *from, const char *end)
{
    struct fv_param param = {.type = &opaque};

    while (from < end && *from == ' ')
        from++;
    if (end - from > 6 && strncmp(from, "const ", 6) == 0) {
        param.constant = true;
        from += 6;
    }
    while (end > from && end[-1] != ' ' && end[-1] != '*')
        end--; /* the parameter's own name */
    while (end > from && (end[-1] == ' ' || end[-1] == '*'))
        param.depth += *--end == '*';
    param.type = fv_type_named(from, (size_t)(end - from));
    adjust(&param, from, (size_t)(end - from));
    return param;
}

int fv_params_of(enum fv_row row, struct fv_param params[FV_MAX_PARAMS])
{
    const char *at = fv_symbols[row].params + 1;
    int count = 0;

    if (strcmp(fv_symbols[row].params, "(void)") == 0)
        return 0;
    while (count < FV_MAX_PARAMS) {
        size_t length = strcspn(at, ",)");
        params[count++] = parse(at, at + length);
        if (at[length] == ')')
            break;
        at += length + 1;
    }
    return count;
}

/* ---- structs ---- */

typedef void *LAUNCH[2]; /* the type of kernelParams and extra in fields.def */

static const struct fv_field fields[] = {
#define FIELD(owner, type, field) {#owner, #type, #field, offsetof(owner, field), sizeof(type)},
#include "fields.def"
#undef FIELD
};

const struct fv_field *fv_fields_of(const char *owner, size_t *count)
{
    size_t total = sizeof fields / sizeof fields[0], first = 0;

    while (first < total && strcmp(fields[first].owner, owner) != 0)
        first++;
    *count = 0;
    while (first + *count < total && strcmp(fields[first + *count].owner, owner) == 0)
        ++*count;
    return *count ? &fields[first] : NULL;
}

int64_t fv_number_at(const void *at, size_t size, bool negative)
{
    int64_t number = 0;
    unsigned unused = 64 - 8 * (unsigned)size;

    memcpy(&number, at, size);
    if (!unused || size > 8)
        return number;
    return negative ? (int64_t)((uint64_t)number << unused) >> unused : number;
}
