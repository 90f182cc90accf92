/* body.c: the statements of a function: declarations, labels, and instructions handed to their
 * decoders. */
#include "statement.h"

#include <string.h>

/* ---- declarations ---- */

/* .reg .type a, %r<10>; A vector of registers is not taken apart. */
static void read_registers(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;
    enum ptx_type type = ptx_type_of(lexer->token.text);

    if (lexer->token.kind != PTX_DOT || lexer->token.text.at[0] == 'v') {
        ptx_error(lexer, "expected the type of a register");
        return;
    }
    ptx_next(lexer);
    do {
        struct ptx_name name = {.kind = PTX_NAME_REGISTER, .type = type};

        name.text = ptx_expect_word(lexer);
        if (ptx_accept(lexer, '<')) {
            uint64_t range = ptx_expect_int(lexer);
            name.range = range <= UINT16_MAX ? (unsigned)range : UINT16_MAX;
            ptx_expect(lexer, '>');
        }
        name.value = ptx_new_slots(builder, (name.range ? name.range : 1) * ptx_type_slots(type));
        builder->registers += name.range ? name.range : 1;
        ptx_add_name(builder, &name);
    } while (ptx_accept(lexer, ','));
    ptx_expect(lexer, ';');
}

/* .local variables, and .param ones that carry the arguments of a call. */
static void read_locals(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;

    do {
        struct ptx_declaration declaration;

        ptx_read_declaration(lexer, &declaration);
        if (declaration.size > UINT32_MAX || declaration.unsized)
            ptx_error(lexer, "a local variable without a sensible size");
        if (!lexer->failed)
            ptx_add_local(builder, declaration.name, (uint32_t)declaration.size, declaration.align);
    } while (ptx_accept(lexer, ','));
    ptx_expect(lexer, ';');
}

/* name: .branchtargets a, b; */
static void read_targets(struct ptx_builder *builder, struct ptx_text name)
{
    struct ptx_arena *arena = &builder->module->arena;
    struct ptx_lexer *lexer = builder->lexer;
    struct ptx_targets list = {0};
    struct ptx_targets *all = ptx_grow(arena, builder->targets, builder->target_count,
                                       &builder->target_room, sizeof(*all));

    do {
        struct ptx_text *labels =
            ptx_grow(arena, list.labels, list.count, &list.room, sizeof(*labels));
        if (!labels || !all) {
            ptx_error(lexer, "out of memory");
            return;
        }
        list.labels = labels;
        labels[list.count++] = ptx_expect_word(lexer);
    } while (ptx_accept(lexer, ','));
    ptx_expect(lexer, ';');
    builder->targets = all;
    all[builder->target_count] = list;
    ptx_add_name(builder, &(struct ptx_name){.text = name,
                                             .kind = PTX_NAME_TARGETS,
                                             .value = builder->target_count++});
}

static void read_directive(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;

    if (ptx_accept_dot(lexer, "reg"))
        read_registers(builder);
    else if (ptx_accept_dot(lexer, "local") || ptx_accept_dot(lexer, "param"))
        read_locals(builder);
    else if (ptx_accept_dot(lexer, "shared"))
        ptx_read_variables(builder, PTX_SHARED, false);
    else if (ptx_accept_dot(lexer, "global"))
        ptx_read_variables(builder, PTX_GLOBAL, false);
    else if (ptx_accept_dot(lexer, "const"))
        ptx_read_variables(builder, PTX_CONST, false);
    else if (ptx_at_dot(lexer, "loc"))
        ptx_skip_line(lexer);
    else if (ptx_at_dot(lexer, "pragma"))
        ptx_skip_past(lexer, ';');
    else
        ptx_error(lexer, "unknown directive .%.*s", (int)lexer->token.text.length,
                  lexer->token.text.at);
}

/* ---- instructions ---- */

static ptx_decoder *find_decoder(struct ptx_text mnemonic)
{
    static const struct {
        const char *mnemonic;
        ptx_decoder *decode;
    } decoders[] = {
#define X(mnemonic, decoder) {mnemonic, decoder},
        PTX_DECODERS(X)
#undef X
    };

    for (unsigned i = 0; i < sizeof(decoders) / sizeof(*decoders); i++) {
        if (ptx_text_is(mnemonic, decoders[i].mnemonic))
            return decoders[i].decode;
    }
    return ptx_known_mnemonic(mnemonic) ? ptx_decode_plain : NULL;
}

static void read_opcode(struct ptx_builder *builder, struct ptx_text mnemonic,
                        struct ptx_statement *statement)
{
    struct ptx_lexer *lexer = builder->lexer;

    statement->mnemonic = statement->opcode = mnemonic;
    statement->modifier_count = 0;
    statement->type = PTX_NO_TYPE;
    while (lexer->token.kind == PTX_DOT) {
        struct ptx_text modifier = lexer->token.text;

        if (statement->modifier_count == PTX_MODIFIERS) {
            ptx_error(lexer, "too many modifiers");
            return;
        }
        statement->modifiers[statement->modifier_count++] = modifier;
        if (ptx_type_of(modifier))
            statement->type = ptx_type_of(modifier);
        statement->opcode.length = (unsigned)(modifier.at + modifier.length - mnemonic.at);
        ptx_next(lexer);
    }
}

/* The guard's slot, and in *jump the instruction that goes around what it guards. */
static uint16_t read_guard(struct ptx_builder *builder, enum ptx_op *jump)
{
    bool negated = ptx_accept(builder->lexer, '!');
    struct ptx_text name = ptx_expect_word(builder->lexer);
    const struct ptx_name *found;
    uint16_t slot = 0;

    found = ptx_find_name(builder, name, &slot);
    if (!found || found->kind != PTX_NAME_REGISTER)
        ptx_error(builder->lexer, "unknown predicate %.*s", (int)name.length, name.at);
    *jump = negated ? PTX_OP_jump_if : PTX_OP_jump_unless;
    return slot;
}

/* A guarded branch needs no way around it. */
static bool read_guarded_branch(struct ptx_builder *builder, const struct ptx_statement *statement,
                                uint16_t guard, enum ptx_op around)
{
    if (!ptx_text_is(statement->mnemonic, "bra") || statement->count != 1)
        return false;
    ptx_emit_jump(builder, around == PTX_OP_jump_if ? PTX_OP_jump_unless : PTX_OP_jump_if, guard,
                  statement->operands[0].items[0].text);
    return true;
}

static void decode(struct ptx_builder *builder, ptx_decoder *decoder, bool guarded, uint16_t guard,
                   enum ptx_op around, struct ptx_statement *statement)
{
    struct ptx_code *code = &builder->function->code;
    unsigned start = code->count;

    if (guarded && read_guarded_branch(builder, statement, guard, around))
        return;
    if (guarded)
        ptx_emit(builder, around, 0, guard, 0, 0);
    if (!decoder || !decoder(builder, statement))
        ptx_emit_unsupported(builder, statement->opcode);
    if (guarded && !builder->lexer->failed)
        code->insns[start].imm = (int32_t)(code->count - start);
}

static void read_instruction(struct ptx_builder *builder, struct ptx_text mnemonic, bool guarded,
                             uint16_t guard, enum ptx_op around)
{
    ptx_decoder *decoder = find_decoder(mnemonic);
    struct ptx_statement statement;
    unsigned next;

    read_opcode(builder, mnemonic, &statement);
    if (decoder) {
        ptx_read_operands(builder, &statement);
    } else {
        statement.count = 0;
        ptx_skip_past(builder->lexer, ';');
    }
    next = builder->lexer->line;
    builder->lexer->line = builder->line; /* errors belong to the statement */
    if (!builder->lexer->failed)
        decode(builder, decoder, guarded, guard, around, &statement);
    builder->lexer->line = next;
}

static void read_statement(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;
    enum ptx_op around = PTX_OP_jump_unless;
    struct ptx_text word;
    uint16_t guard = 0;
    bool guarded;

    builder->line = lexer->line;
    guarded = ptx_accept(lexer, '@');
    if (guarded)
        guard = read_guard(builder, &around);
    word = ptx_expect_word(lexer);
    if (guarded || !ptx_accept(lexer, ':'))
        read_instruction(builder, word, guarded, guard, around);
    else if (ptx_accept_dot(lexer, "branchtargets"))
        read_targets(builder, word);
    else if (ptx_at_dot(lexer, "callprototype") || ptx_at_dot(lexer, "calltargets"))
        ptx_skip_past(lexer, ';');
    else
        ptx_add_label(builder, word);
}

void ptx_read_body(struct ptx_builder *builder)
{
    struct ptx_lexer *lexer = builder->lexer;
    unsigned outer = builder->depth;

    ptx_open_scope(builder);
    while (lexer->token.kind != PTX_END && builder->depth > outer) {
        if (ptx_accept(lexer, '{'))
            ptx_open_scope(builder);
        else if (ptx_accept(lexer, '}'))
            ptx_close_scope(builder);
        else if (ptx_accept(lexer, ';'))
            continue;
        else if (lexer->token.kind == PTX_DOT)
            read_directive(builder);
        else
            read_statement(builder);
    }
    if (builder->depth > outer)
        ptx_error(lexer, "function %s does not end", builder->function->name);
    builder->line = lexer->line;
    ptx_emit(builder, PTX_OP_return, 0, 0, 0, 0);
}
