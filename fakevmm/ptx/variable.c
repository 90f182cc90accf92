/* variable.c: declarations of variables and parameters, with their initial values (PTX ISA,
 * "Variables"). */
#include "builder.h"

#include <string.h>

/* ---- declarations ---- */

static void read_attribute(struct ptx_lexer *lexer, struct ptx_declaration *declaration)
{
    ptx_expect(lexer, '(');
    while (!ptx_at(lexer, ')') && lexer->token.kind != PTX_END) {
        declaration->managed |= ptx_at_dot(lexer, "managed");
        ptx_next(lexer);
    }
    ptx_expect(lexer, ')');
}

/* .ptr .global .align 16 says where a parameter points; .align there is not the parameter's. */
static void skip_pointer(struct ptx_lexer *lexer)
{
    while (lexer->token.kind == PTX_DOT) {
        if (ptx_accept_dot(lexer, "align"))
            ptx_expect_int(lexer);
        else
            ptx_next(lexer);
    }
}

static void read_prefix(struct ptx_lexer *lexer, struct ptx_declaration *declaration,
                        unsigned *vector)
{
    while (lexer->token.kind == PTX_DOT) {
        struct ptx_text word = lexer->token.text;
        ptx_next(lexer);
        if (ptx_text_is(word, "align"))
            declaration->align = (uint32_t)ptx_expect_int(lexer);
        else if (ptx_text_is(word, "attribute"))
            read_attribute(lexer, declaration);
        else if (ptx_text_is(word, "v2") || ptx_text_is(word, "v4"))
            *vector = (unsigned)(word.at[1] - '0');
        else if (ptx_text_is(word, "ptr"))
            skip_pointer(lexer);
        else if (ptx_type_of(word))
            declaration->type = ptx_type_of(word);
        else
            ptx_error(lexer, "unknown type .%.*s", (int)word.length, word.at);
    }
}

static void read_dimensions(struct ptx_lexer *lexer, struct ptx_declaration *declaration)
{
    while (ptx_accept(lexer, '[')) {
        uint64_t extent = 0;

        if (!ptx_at(lexer, ']'))
            extent = ptx_expect_int(lexer);
        else
            declaration->unsized = true;
        ptx_expect(lexer, ']');
        if (declaration->dimension_count == 8 ||
            (!declaration->unsized &&
             __builtin_mul_overflow(declaration->size, extent, &declaration->size)) ||
            declaration->size > UINT64_C(1) << 40) {
            ptx_error(lexer, "an array of that size is too large");
            return;
        }
        declaration->dimensions[declaration->dimension_count++] = extent;
    }
}

void ptx_read_declaration(struct ptx_lexer *lexer, struct ptx_declaration *declaration)
{
    unsigned vector = 1;

    *declaration = (struct ptx_declaration){.type = PTX_NO_TYPE};
    read_prefix(lexer, declaration, &vector);
    declaration->name = ptx_expect_word(lexer);
    declaration->element = ptx_types[declaration->type].bytes;
    declaration->size = (uint64_t)declaration->element * vector;
    if (!declaration->align)
        declaration->align = (uint32_t)declaration->size;
    if (!lexer->failed &&
        (!declaration->size || declaration->type == PTX_pred ||
         (declaration->align & (declaration->align - 1)) || declaration->align > 4096))
        ptx_error(lexer, "a variable without a sensible type or alignment");
    read_dimensions(lexer, declaration);
    if (declaration->unsized)
        declaration->size = 0;
    if (lexer->failed)
        declaration->align = 1; /* callers divide by it */
}

/* ---- initial values ---- */

struct initialiser {
    struct ptx_builder *builder;
    const struct ptx_declaration *declaration;
    unsigned char *data;
    struct ptx_reloc *relocs;
    unsigned reloc_count, reloc_room;
    uint64_t at; /* byte the next element goes to */
};

static int variable_index(const struct ptx_module *module, struct ptx_text name)
{
    for (unsigned i = module->variable_count; i-- > 0;) {
        if (ptx_text_is(name, module->variables[i].name))
            return (int)i;
    }
    return -1;
}

/* A function's address is known when it is declared. */
static bool take_function(struct initialiser *init, struct ptx_text name)
{
    struct ptx_function *function = ptx_find_function(init->builder->module, name);
    uint64_t address;

    if (!function || function->entry || init->declaration->element != 8)
        return false;
    function->addressed = true;
    address = ptx_code_address(function);
    memcpy(init->data + init->at, &address, sizeof(address));
    return true;
}

/* name, name+offset, generic(name)+offset */
static void read_address(struct initialiser *init)
{
    struct ptx_builder *builder = init->builder;
    struct ptx_lexer *lexer = builder->lexer;
    struct ptx_text name = ptx_expect_word(lexer);
    bool generic = ptx_text_is(name, "generic") && ptx_accept(lexer, '(');
    struct ptx_reloc *relocs;
    int64_t addend = 0;
    int variable;

    if (generic) {
        name = ptx_expect_word(lexer);
        ptx_expect(lexer, ')');
    }
    if (ptx_accept(lexer, '+') || ptx_at(lexer, '-'))
        addend = (int64_t)ptx_expect_int(lexer);
    variable = variable_index(builder->module, name);
    if (variable < 0 && take_function(init, name))
        return;
    relocs = ptx_grow(&builder->module->arena, init->relocs, init->reloc_count, &init->reloc_room,
                      sizeof(*relocs));
    if (variable < 0 || init->declaration->element != 8 || !relocs) {
        ptx_error(lexer, "no initial value from %.*s", (int)name.length, name.at);
        return;
    }
    init->relocs = relocs;
    relocs[init->reloc_count++] =
        (struct ptx_reloc){(uint32_t)init->at, (unsigned)variable, addend};
}

static void read_value(struct initialiser *init)
{
    struct ptx_lexer *lexer = init->builder->lexer;
    const struct ptx_declaration *declaration = init->declaration;
    bool negative = ptx_accept(lexer, '-');
    struct ptx_token token = lexer->token;
    double number = token.kind == PTX_INT ? (double)token.bits : token.number;
    float narrow = (float)(negative ? -number : number);
    uint64_t bits = negative ? 0 - token.bits : token.bits;

    if (init->at + declaration->element > declaration->size) {
        ptx_error(lexer, "more initial values than the variable holds");
        return;
    }
    if (token.kind == PTX_WORD) {
        read_address(init);
    } else if (token.kind != PTX_INT && token.kind != PTX_FLOAT) {
        ptx_error(lexer, "expected an initial value");
        return;
    } else {
        number = negative ? -number : number;
        if (declaration->type == PTX_f64)
            memcpy(&bits, &number, sizeof(number));
        else if (declaration->type == PTX_f32)
            memcpy(&bits, &narrow, sizeof(narrow));
        memcpy(init->data + init->at, &bits,
               declaration->element < sizeof(bits) ? declaration->element : sizeof(bits));
        ptx_next(lexer);
    }
    init->at += declaration->element;
}

/* A value, or a list of the parts of dimension `level`; a short list leaves zeros. */
static void read_initial(struct initialiser *init, unsigned level, uint64_t size)
{
    struct ptx_lexer *lexer = init->builder->lexer;
    uint64_t start = init->at, part;

    if (!ptx_accept(lexer, '{')) {
        read_value(init);
        return;
    }
    if (level > init->declaration->dimension_count)
        ptx_error(lexer, "initial values are nested too deep");
    part = level < init->declaration->dimension_count && init->declaration->dimensions[level]
               ? size / init->declaration->dimensions[level]
               : init->declaration->element;
    while (!ptx_at(lexer, '}') && lexer->token.kind != PTX_END) {
        read_initial(init, level + 1, part);
        if (!ptx_at(lexer, '}'))
            ptx_expect(lexer, ',');
    }
    ptx_expect(lexer, '}');
    if (level)
        init->at = start + size;
}

/* The size of an array that takes it from its values: counts them ahead. */
static uint64_t count_values(const struct ptx_lexer *lexer)
{
    struct ptx_lexer ahead = *lexer;
    uint64_t count = 1;

    while (ahead.token.kind != PTX_END && !ptx_at(&ahead, ';')) {
        count += ptx_at(&ahead, ',');
        ptx_next(&ahead);
    }
    return count;
}

static void read_initialiser(struct ptx_builder *builder, struct ptx_declaration *declaration,
                             struct ptx_variable *variable)
{
    struct initialiser init = {.builder = builder, .declaration = declaration};

    if (declaration->unsized) {
        declaration->size = declaration->element * count_values(builder->lexer);
        declaration->unsized = false;
    }
    init.data = declaration->size <= UINT32_MAX
                    ? ptx_take(&builder->module->arena, (size_t)declaration->size)
                    : NULL;
    if (!init.data) {
        ptx_error(builder->lexer, "out of memory");
        return;
    }
    read_initial(&init, 0, declaration->size);
    variable->data = init.data;
    variable->relocs = init.relocs;
    variable->reloc_count = init.reloc_count;
}

/* ---- module variables ---- */

static void add_variable(struct ptx_builder *builder, const struct ptx_declaration *declaration,
                         struct ptx_variable *variable)
{
    struct ptx_module *module = builder->module;
    struct ptx_variable *all = ptx_grow(&module->arena, module->variables, module->variable_count,
                                        &module->variable_room, sizeof(*all));

    variable->name = ptx_keep_text(&module->arena, declaration->name.at, declaration->name.length);
    variable->size = declaration->size;
    variable->align = declaration->align;
    variable->managed = declaration->managed;
    if (!all || !variable->name) {
        ptx_error(builder->lexer, "out of memory");
        return;
    }
    module->variables = all;
    all[module->variable_count] = *variable;
    ptx_add_name(builder, &(struct ptx_name){.text = declaration->name,
                                             .kind = PTX_NAME_VARIABLE,
                                             .value = module->variable_count});
    /* a function's own shared variable takes room even if it is not used */
    if (builder->function && variable->space == PTX_SHARED)
        ptx_fill_slot(builder, PTX_FILL_SHARED, module->variable_count, 0);
    module->variable_count++;
}

void ptx_read_variables(struct ptx_builder *builder, enum ptx_space space, bool external)
{
    struct ptx_lexer *lexer = builder->lexer;

    do {
        struct ptx_variable variable = {.space = space, .external = external};
        struct ptx_declaration declaration;

        ptx_read_declaration(lexer, &declaration);
        if (ptx_accept(lexer, '='))
            read_initialiser(builder, &declaration, &variable);
        if (declaration.unsized && !external)
            ptx_error(lexer, "an array without a size");
        if (!lexer->failed)
            add_variable(builder, &declaration, &variable);
    } while (ptx_accept(lexer, ','));
    ptx_expect(lexer, ';');
}
