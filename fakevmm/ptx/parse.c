/* parse.c: a module: its directives, variables and function headers (PTX ISA, "Directives"). */
#include "builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

static uint32_t place(uint32_t *end, uint64_t size, uint32_t align, struct ptx_lexer *lexer)
{
    uint64_t offset = ((uint64_t)*end + align - 1) / align * align;

    if (offset + size > UINT16_MAX) {
        ptx_error(lexer, "too many bytes of parameters");
        return 0;
    }
    *end = (uint32_t)(offset + size);
    return (uint32_t)offset;
}

/* (.param .type name, ...): laid out one behind the other, each at its own alignment. Those of a
 * kernel are offsets in the launch's bytes, those of a function in its local memory. */
static void read_params(struct ptx_builder *builder, struct ptx_param **params, unsigned *count,
                        uint32_t *end)
{
    struct ptx_lexer *lexer = builder->lexer;
    struct ptx_param *all = NULL;
    unsigned room = 0;

    *count = 0;
    ptx_expect(lexer, '(');
    while (!ptx_at(lexer, ')') && lexer->token.kind != PTX_END) {
        struct ptx_declaration declaration;
        uint32_t offset;

        if (!ptx_accept_dot(lexer, "param"))
            ptx_error(lexer, "expected .param");
        ptx_read_declaration(lexer, &declaration);
        offset = place(end, declaration.size, declaration.align, lexer);
        all = ptx_grow(&builder->module->arena, all, *count, &room, sizeof(*all));
        if (!all) {
            ptx_error(lexer, "out of memory");
            return;
        }
        all[(*count)++] = (struct ptx_param){offset, (uint32_t)declaration.size};
        ptx_add_name(builder, &(struct ptx_name){.text = declaration.name,
                                                 .kind = builder->function->entry ? PTX_NAME_PARAM
                                                                                  : PTX_NAME_LOCAL,
                                                 .value = offset,
                                                 .size = (uint32_t)declaration.size});
        if (!ptx_at(lexer, ')'))
            ptx_expect(lexer, ',');
    }
    ptx_expect(lexer, ')');
    *params = all;
}

/* ---- functions ---- */

/* Up to three extents; those left out are 1. */
static void read_extents(struct ptx_lexer *lexer, uint16_t extents[3])
{
    extents[0] = extents[1] = extents[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        extents[i] = (uint16_t)ptx_expect_int(lexer);
        if (!ptx_accept(lexer, ','))
            return;
    }
}

/* .maxntid and its kind, up to the body or the semicolon. */
static void read_tuning(struct ptx_builder *builder)
{
    struct ptx_kernel *kernel = &builder->function->kernel;
    struct ptx_lexer *lexer = builder->lexer;
    uint16_t threads[3];

    while (lexer->token.kind != PTX_END && !ptx_at(lexer, '{') && !ptx_at(lexer, ';')) {
        if (ptx_accept_dot(lexer, "maxntid") || ptx_accept_dot(lexer, "reqntid")) {
            read_extents(lexer, threads);
            uint64_t product = (uint64_t)threads[0] * threads[1] * threads[2];
            kernel->max_threads = product < 1024 ? (uint32_t)product : 1024;
        } else if (ptx_accept_dot(lexer, "reqnctapercluster")) {
            read_extents(lexer, kernel->cluster);
        } else if (ptx_accept_dot(lexer, "maxclusterrank")) {
            kernel->max_cluster = (uint32_t)ptx_expect_int(lexer) & 0xffff;
        } else if (ptx_accept_dot(lexer, "explicitcluster")) {
            kernel->explicit_cluster = true;
        } else {
            ptx_next(lexer);
        }
    }
}

static void finish_kernel(struct ptx_builder *builder, uint32_t param_bytes)
{
    struct ptx_function *function = builder->function;
    struct ptx_kernel *kernel = &function->kernel;

    kernel->name = function->name;
    kernel->param_count = function->param_count;
    kernel->params = function->params;
    kernel->param_bytes = param_bytes;
    kernel->registers = builder->registers;
    kernel->function = function;
}

static void read_definition(struct ptx_builder *builder, uint32_t end)
{
    struct ptx_function *function = builder->function;

    if (function->defined) {
        ptx_error(builder->lexer, "%s is defined twice", function->name);
        return;
    }
    function->code.slots = PTX_FIRST_SLOT;
    function->code.local_bytes = function->entry ? 0 : end;
    ptx_read_body(builder);
    if (!builder->lexer->failed)
        ptx_finish_code(builder);
    finish_kernel(builder, end);
}

/* .entry name (params) ..., .func (result) name (params) ... The builder is the module's; the
 * function gets a copy, so that what it adds ends with it. */
static void read_function(struct ptx_builder *outer, bool entry)
{
    struct ptx_lexer *lexer = outer->lexer;
    struct ptx_function unnamed = {.entry = entry}, *function;
    struct ptx_builder builder = *outer;
    uint32_t end = 0;

    builder.function = &unnamed;
    if (!entry && ptx_at(lexer, '('))
        read_params(&builder, &unnamed.results, &unnamed.result_count, &end);
    function = ptx_add_function(&builder, ptx_expect_word(lexer));
    if (ptx_at(lexer, '('))
        read_params(&builder, &unnamed.params, &unnamed.param_count, &end);
    if (lexer->failed)
        return;
    outer->names = builder.names;
    outer->name_room = builder.name_room;
    builder.function = function;
    function->entry = entry;
    function->params = unnamed.params;
    function->param_count = unnamed.param_count;
    function->results = unnamed.results;
    function->result_count = unnamed.result_count;
    function->kernel.max_threads = 1024;
    read_tuning(&builder);
    if (ptx_accept(lexer, '{'))
        read_definition(&builder, end);
    else
        ptx_expect(lexer, ';');
}

/* ---- the module ---- */

static void read_target(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;

    do {
        struct ptx_text word = ptx_expect_word(lexer);
        if (word.length > 3 && memcmp(word.at, "sm_", 3) == 0)
            builder->module->target = (unsigned)strtoul(word.at + 3, NULL, 10);
    } while (ptx_accept(lexer, ','));
}

static void read_linked(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;
    bool external = false;

    for (;;) {
        if (ptx_accept_dot(lexer, "extern"))
            external = true;
        else if (!ptx_accept_dot(lexer, "visible") && !ptx_accept_dot(lexer, "weak") &&
                 !ptx_accept_dot(lexer, "common"))
            break;
    }
    if (ptx_accept_dot(lexer, "entry"))
        read_function(builder, true);
    else if (ptx_accept_dot(lexer, "func"))
        read_function(builder, false);
    else if (ptx_accept_dot(lexer, "global"))
        ptx_read_variables(builder, PTX_GLOBAL, external);
    else if (ptx_accept_dot(lexer, "const"))
        ptx_read_variables(builder, PTX_CONST, external);
    else if (ptx_accept_dot(lexer, "shared"))
        ptx_read_variables(builder, PTX_SHARED, external);
    else
        ptx_error(lexer, "expected a directive");
}

static void read_top(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;

    if (ptx_accept_dot(lexer, "target")) {
        read_target(builder);
    } else if (ptx_accept_dot(lexer, "address_size")) {
        if (ptx_expect_int(lexer) != 64)
            ptx_error(lexer, "only 64-bit addresses are supported");
    } else if (ptx_at_dot(lexer, "file") || ptx_at_dot(lexer, "loc")) {
        ptx_skip_line(lexer);
    } else if (ptx_accept_dot(lexer, "section")) {
        ptx_skip_past(lexer, '}');
    } else if (ptx_at_dot(lexer, "pragma") || ptx_at_dot(lexer, "alias")) {
        ptx_skip_past(lexer, ';');
    } else {
        read_linked(builder);
    }
}

static void read_module(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;

    if (!ptx_accept_dot(lexer, "version") || lexer->token.kind != PTX_FLOAT) {
        ptx_error(lexer, "a module starts with .version");
        return;
    }
    ptx_next(lexer);
    while (lexer->token.kind != PTX_END)
        read_top(builder);
    if (!lexer->failed && !builder->module->target)
        ptx_error(lexer, "no .target");
    if (!lexer->failed)
        ptx_link(builder);
}

struct ptx_module *ptx_load(const char *text, size_t length, char *message, size_t message_size)
{
    struct ptx_module *module = calloc(1, sizeof(*module));
    struct ptx_lexer lexer;

    if (message_size)
        message[0] = '\0';
    if (module)
        module->text = ptx_keep_text(&module->arena, text, length);
    if (!module || !module->text) {
        snprintf(message, message_size, "out of memory");
        ptx_unload(module);
        return NULL;
    }
    ptx_lex(&lexer, module->text, message, message_size);
    read_module(&(struct ptx_builder){.lexer = &lexer, .module = module});
    if (!lexer.failed)
        return module;
    ptx_unload(module);
    return NULL;
}

void ptx_unload(struct ptx_module *module)
{
    if (!module)
        return;
    ptx_arena_free(&module->arena);
    free(module);
}

/* ---- questions about a module ---- */

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, unsigned index)
{
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = module->functions[i];
        if (function->entry && function->defined && index-- == 0)
            return &function->kernel;
    }
    return NULL;
}

const struct ptx_kernel *ptx_find(const struct ptx_module *module, const char *name)
{
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = module->functions[i];
        if (function->entry && function->defined && strcmp(function->name, name) == 0)
            return &function->kernel;
    }
    return NULL;
}

const struct ptx_variable *ptx_variable_at(const struct ptx_module *module, unsigned index)
{
    return index < module->variable_count ? &module->variables[index] : NULL;
}

unsigned ptx_target(const struct ptx_module *module)
{
    return module->target;
}
