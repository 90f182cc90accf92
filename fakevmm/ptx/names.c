/* names.c: what names mean inside a function: registers, variables, labels, and the blocks in
 * braces that limit them. */
#include "builder.h"

#include <string.h>

const struct ptx_type_info ptx_types[] = {[PTX_NO_TYPE] = {"", 0, 0},
#define X(name, bytes, kind) [PTX_##name] = {#name, bytes, kind},
                                          PTX_TYPES(X)
#undef X
};

enum ptx_type ptx_type_of(struct ptx_text text)
{
    for (unsigned i = 1; i < sizeof(ptx_types) / sizeof(*ptx_types); i++) {
        if (ptx_text_is(text, ptx_types[i].name))
            return (enum ptx_type)i;
    }
    return PTX_NO_TYPE;
}

void ptx_open_scope(struct ptx_builder *builder)
{
    if (builder->depth + 1 >= PTX_SCOPES) {
        ptx_error(builder->lexer, "blocks are nested too deep");
        return;
    }
    builder->scopes[++builder->depth] =
        (struct ptx_scope){builder->name_count, builder->label_count};
}

static bool resolve(struct ptx_builder *builder, const struct ptx_jump *jump, unsigned first_label)
{
    for (unsigned i = first_label; i < builder->label_count; i++) {
        if (ptx_text_same(builder->labels[i].text, jump->text)) {
            builder->function->code.insns[jump->at].imm =
                (int32_t)builder->labels[i].at - (int32_t)jump->at;
            return true;
        }
    }
    return false;
}

void ptx_close_scope(struct ptx_builder *builder)
{
    struct ptx_scope scope = builder->scopes[builder->depth];
    unsigned kept = 0;

    for (unsigned i = 0; i < builder->jump_count; i++) {
        struct ptx_jump jump = builder->jumps[i];
        if (jump.depth == builder->depth) {
            if (resolve(builder, &jump, scope.labels))
                continue;
            if (builder->depth <= 1) {
                builder->lexer->line = jump.line;
                ptx_error(builder->lexer, "unknown label %.*s", (int)jump.text.length,
                          jump.text.at);
            }
            jump.depth--;
        }
        builder->jumps[kept++] = jump;
    }
    builder->jump_count = kept;
    builder->name_count = scope.names;
    builder->label_count = scope.labels;
    builder->depth--;
}

void ptx_add_name(struct ptx_builder *builder, const struct ptx_name *name)
{
    struct ptx_name *names = ptx_grow(&builder->module->arena, builder->names, builder->name_count,
                                      &builder->name_room, sizeof(*names));
    if (!names) {
        ptx_error(builder->lexer, "out of memory");
        return;
    }
    builder->names = names;
    names[builder->name_count++] = *name;
}

uint32_t ptx_add_local(struct ptx_builder *builder, struct ptx_text text, uint32_t size,
                       uint32_t align)
{
    struct ptx_code *code = &builder->function->code;
    uint64_t offset = ((uint64_t)code->local_bytes + align - 1) / align * align;

    if (offset + size > INT32_MAX / 2) {
        ptx_error(builder->lexer, "too much local memory");
        return 0;
    }
    ptx_add_name(builder, &(struct ptx_name){.text = text,
                                             .kind = PTX_NAME_LOCAL,
                                             .value = (uint32_t)offset,
                                             .size = size});
    code->local_bytes = (uint32_t)offset + size;
    return (uint32_t)offset;
}

/* The number behind a range's prefix: %r<10> declares %r0 to %r9. */
static bool in_range(const struct ptx_name *name, struct ptx_text text, unsigned *number)
{
    unsigned digits = text.length - name->text.length;
    const char *at;

    if (text.length <= name->text.length || digits > 9 ||
        memcmp(text.at, name->text.at, name->text.length) != 0)
        return false;
    at = text.at + name->text.length;
    if (digits > 1 && *at == '0')
        return false;
    for (*number = 0; digits--; at++) {
        if (*at < '0' || *at > '9')
            return false;
        *number = *number * 10 + (unsigned)(*at - '0');
    }
    return *number < name->range;
}

const struct ptx_name *ptx_find_name(struct ptx_builder *builder, struct ptx_text text,
                                     uint16_t *slot)
{
    for (unsigned i = builder->name_count; i-- > 0;) {
        const struct ptx_name *name = &builder->names[i];
        unsigned number = 0;

        if (name->range ? in_range(name, text, &number) : ptx_text_same(name->text, text)) {
            *slot = (uint16_t)(name->value + number * ptx_type_slots(name->type));
            return name;
        }
    }
    return NULL;
}

void ptx_add_label(struct ptx_builder *builder, struct ptx_text text)
{
    struct ptx_label *labels =
        ptx_grow(&builder->module->arena, builder->labels, builder->label_count,
                 &builder->label_room, sizeof(*labels));
    if (!labels) {
        ptx_error(builder->lexer, "out of memory");
        return;
    }
    builder->labels = labels;
    labels[builder->label_count++] = (struct ptx_label){text, builder->function->code.count};
}

struct ptx_function *ptx_find_function(struct ptx_module *module, struct ptx_text name)
{
    for (unsigned i = 0; i < module->function_count; i++) {
        if (ptx_text_is(name, module->functions[i]->name))
            return module->functions[i];
    }
    return NULL;
}

struct ptx_function *ptx_add_function(struct ptx_builder *builder, struct ptx_text name)
{
    struct ptx_module *module = builder->module;
    struct ptx_function *function = ptx_find_function(module, name), **all;

    if (function)
        return function;
    function = ptx_take(&module->arena, sizeof(*function));
    all = ptx_grow(&module->arena, module->functions, module->function_count,
                   &module->function_room, sizeof(*all));
    if (function && all) {
        function->module = module;
        function->index = module->function_count;
        function->name = ptx_keep_text(&module->arena, name.at, name.length);
        module->functions = all;
    }
    if (!function || !all || !function->name) {
        ptx_error(builder->lexer, "out of memory");
        return NULL;
    }
    all[module->function_count++] = function;
    return function;
}
