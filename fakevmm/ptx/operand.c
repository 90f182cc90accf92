/* operand.c: reads operands and finds the slots they are in. */
#include "statement.h"

#include <string.h>

/* ---- reading ---- */

static void read_literal(struct ptx_lexer *lexer, struct ptx_atom *atom, bool negative)
{
    if (lexer->token.kind == PTX_INT) {
        atom->kind = PTX_ATOM_INT;
        atom->bits = negative ? 0 - lexer->token.bits : lexer->token.bits;
    } else if (lexer->token.kind == PTX_FLOAT) {
        atom->kind = PTX_ATOM_FLOAT;
        atom->number = negative ? -lexer->token.number : lexer->token.number;
        atom->bits = lexer->token.bits;
    } else {
        ptx_error(lexer, "expected an operand");
    }
    ptx_next(lexer);
}

static void read_atom(struct ptx_lexer *lexer, struct ptx_atom *atom)
{
    *atom = (struct ptx_atom){.negated = ptx_accept(lexer, '!')};
    if (lexer->token.kind != PTX_WORD) {
        read_literal(lexer, atom, ptx_accept(lexer, '-'));
        return;
    }
    atom->text = lexer->token.text;
    atom->kind = ptx_text_is(atom->text, "_") ? PTX_ATOM_SINK : PTX_ATOM_NAME;
    ptx_next(lexer);
    if (lexer->token.kind == PTX_DOT) {
        atom->suffix = lexer->token.text;
        ptx_next(lexer);
    }
    if (ptx_accept(lexer, '+'))
        atom->offset = (int64_t)ptx_expect_int(lexer);
    else if (ptx_at(lexer, '-'))
        atom->offset = (int64_t)ptx_expect_int(lexer);
}

static void read_list(struct ptx_lexer *lexer, struct ptx_operand *operand, char end)
{
    ptx_next(lexer);
    while (!ptx_at(lexer, end) && lexer->token.kind != PTX_END) {
        if (operand->count == PTX_LIST_MAX) {
            ptx_error(lexer, "too many operands in a list");
            return;
        }
        read_atom(lexer, &operand->items[operand->count++]);
        if (!ptx_at(lexer, end))
            ptx_expect(lexer, ',');
    }
    ptx_expect(lexer, end);
}

static void read_operand(struct ptx_lexer *lexer, struct ptx_operand *operand)
{
    operand->form = PTX_PLAIN;
    operand->count = 0;
    if (ptx_at(lexer, '{')) {
        operand->form = PTX_VECTOR;
        read_list(lexer, operand, '}');
    } else if (ptx_at(lexer, '[')) {
        operand->form = PTX_ADDRESS;
        read_list(lexer, operand, ']');
    } else if (ptx_at(lexer, '(')) {
        operand->form = PTX_LIST;
        read_list(lexer, operand, ')');
    } else {
        read_atom(lexer, &operand->items[operand->count++]);
        if (ptx_accept(lexer, '|')) {
            operand->form = PTX_PAIR;
            read_atom(lexer, &operand->items[operand->count++]);
        }
    }
}

void ptx_read_operands(struct ptx_builder *builder, struct ptx_statement *statement)
{
    struct ptx_lexer *lexer = builder->lexer;

    statement->count = 0;
    while (!ptx_at(lexer, ';') && lexer->token.kind != PTX_END) {
        if (statement->count == PTX_OPERANDS) {
            ptx_error(lexer, "too many operands");
            return;
        }
        read_operand(lexer, &statement->operands[statement->count++]);
        if (!ptx_at(lexer, ';'))
            ptx_expect(lexer, ',');
    }
    ptx_expect(lexer, ';');
}

/* ---- slots ---- */

static const struct special {
    const char *name, *suffix;
    enum ptx_fill_kind fill;
} specials[] = {
    {"%tid", "x", PTX_FILL_TID_X},
    {"%tid", "y", PTX_FILL_TID_Y},
    {"%tid", "z", PTX_FILL_TID_Z},
    {"%ntid", "x", PTX_FILL_NTID_X},
    {"%ntid", "y", PTX_FILL_NTID_Y},
    {"%ntid", "z", PTX_FILL_NTID_Z},
    {"%ctaid", "x", PTX_FILL_CTAID_X},
    {"%ctaid", "y", PTX_FILL_CTAID_Y},
    {"%ctaid", "z", PTX_FILL_CTAID_Z},
    {"%nctaid", "x", PTX_FILL_NCTAID_X},
    {"%nctaid", "y", PTX_FILL_NCTAID_Y},
    {"%nctaid", "z", PTX_FILL_NCTAID_Z},
    {"%laneid", "", PTX_FILL_LANEID},
    {"%warpid", "", PTX_FILL_WARPID},
    {"%nwarpid", "", PTX_FILL_NWARPID},
    {"%smid", "", PTX_FILL_ZERO},
    {"%nsmid", "", PTX_FILL_ONE},
    {"%gridid", "", PTX_FILL_GRIDID},
    {"%envreg1", "", PTX_FILL_GRID_HIGH},
    {"%envreg2", "", PTX_FILL_GRID_LOW},
    {"%cluster_ctaid", "x", PTX_FILL_CLUSTER_CTAID_X},
    {"%cluster_ctaid", "y", PTX_FILL_CLUSTER_CTAID_Y},
    {"%cluster_ctaid", "z", PTX_FILL_CLUSTER_CTAID_Z},
    {"%cluster_nctaid", "x", PTX_FILL_CLUSTER_NCTAID_X},
    {"%cluster_nctaid", "y", PTX_FILL_CLUSTER_NCTAID_Y},
    {"%cluster_nctaid", "z", PTX_FILL_CLUSTER_NCTAID_Z},
    {"%clusterid", "x", PTX_FILL_CLUSTERID_X},
    {"%clusterid", "y", PTX_FILL_CLUSTERID_Y},
    {"%clusterid", "z", PTX_FILL_CLUSTERID_Z},
    {"%nclusterid", "x", PTX_FILL_NCLUSTERID_X},
    {"%nclusterid", "y", PTX_FILL_NCLUSTERID_Y},
    {"%nclusterid", "z", PTX_FILL_NCLUSTERID_Z},
    {"%cluster_ctarank", "", PTX_FILL_CLUSTER_CTARANK},
    {"%cluster_nctarank", "", PTX_FILL_CLUSTER_NCTARANK},
    {"%is_explicit_cluster", "", PTX_FILL_IS_CLUSTER},
    {"%lanemask_eq", "", PTX_FILL_MASK_EQ},
    {"%lanemask_lt", "", PTX_FILL_MASK_LT},
    {"%lanemask_le", "", PTX_FILL_MASK_LE},
    {"%lanemask_gt", "", PTX_FILL_MASK_GT},
    {"%lanemask_ge", "", PTX_FILL_MASK_GE},
    {"%dynamic_smem_size", "", PTX_FILL_DYNAMIC_SHARED},
    {"%total_smem_size", "", PTX_FILL_TOTAL_SHARED},
    {"%aggr_smem_size", "", PTX_FILL_TOTAL_SHARED},
    {"%current_graph_exec", "", PTX_FILL_ZERO},
};

static const struct special *find_special(const struct ptx_atom *atom)
{
    for (unsigned i = 0; i < sizeof(specials) / sizeof(*specials); i++) {
        if (ptx_text_is(atom->text, specials[i].name) &&
            ptx_text_is(atom->suffix, specials[i].suffix))
            return &specials[i];
    }
    return NULL;
}

static uint16_t unknown_name(struct ptx_builder *builder, const struct ptx_atom *atom)
{
    ptx_error(builder->lexer, "unknown name %.*s", (int)atom->text.length, atom->text.at);
    return 0;
}

/* %clock and its kind are read each time anew. */
static bool read_clock(struct ptx_builder *builder, struct ptx_text text, uint16_t *slot)
{
    bool high = ptx_text_is(text, "%clock_hi") || ptx_text_is(text, "%globaltimer_hi");

    if (!high && !ptx_text_is(text, "%clock") && !ptx_text_is(text, "%clock64") &&
        !ptx_text_is(text, "%globaltimer") && !ptx_text_is(text, "%globaltimer_lo"))
        return false;
    *slot = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_clock, *slot, 0, 0, 0);
    if (high)
        ptx_emit(builder, PTX_OP_shift_right, *slot, *slot, 0, 0)->imm = 32;
    return true;
}

/* Special registers that mean nothing here: what a driver passes, counters of a profiler, shared
 * memory that the system keeps. */
static bool is_idle(struct ptx_text text)
{
    static const char *const prefixes[] = {"%envreg", "%pm", "%reserved_smem_offset_"};

    for (unsigned i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
        size_t length = strlen(prefixes[i]);
        if (text.length > length && memcmp(text.at, prefixes[i], length) == 0)
            return true;
    }
    return false;
}

/* Names that no declaration of variables or registers has introduced. */
static uint16_t global_slot(struct ptx_builder *builder, const struct ptx_atom *atom)
{
    const struct special *special = find_special(atom);
    struct ptx_function *function = ptx_find_function(builder->module, atom->text);
    uint16_t slot;

    if (special)
        return ptx_fill_slot(builder, special->fill, 0, 0);
    if (ptx_text_is(atom->text, "WARP_SZ"))
        return ptx_constant_slot(builder, PTX_WARP);
    if (function && !function->entry) {
        function->addressed = true;
        return ptx_constant_slot(builder, ptx_code_address(function));
    }
    if (is_idle(atom->text))
        return ptx_constant_slot(builder, 0);
    return read_clock(builder, atom->text, &slot) ? slot : unknown_name(builder, atom);
}

static uint16_t named_slot(struct ptx_builder *builder, const struct ptx_atom *atom)
{
    uint16_t slot;
    const struct ptx_name *name = ptx_find_name(builder, atom->text, &slot);

    if (!name)
        return global_slot(builder, atom);
    if (atom->suffix.length)
        return unknown_name(builder, atom);
    switch (name->kind) {
    case PTX_NAME_REGISTER: return slot;
    case PTX_NAME_PARAM: return ptx_constant_slot(builder, name->value + (uint64_t)atom->offset);
    case PTX_NAME_LOCAL: return ptx_fill_slot(builder, PTX_FILL_LOCAL, name->value, atom->offset);
    case PTX_NAME_VARIABLE:
        return ptx_fill_slot(builder,
                             builder->module->variables[name->value].space == PTX_SHARED
                                 ? PTX_FILL_SHARED
                                 : PTX_FILL_VARIABLE,
                             name->value, atom->offset);
    default: return unknown_name(builder, atom);
    }
}

static uint64_t literal_bits(const struct ptx_atom *atom, enum ptx_type type)
{
    double number = atom->kind == PTX_ATOM_FLOAT ? atom->number : (double)(int64_t)atom->bits;
    uint64_t bits = atom->bits;

    if (type == PTX_f32) {
        float narrow = (float)number;
        uint32_t word;
        memcpy(&word, &narrow, sizeof(word));
        return word;
    }
    if (type == PTX_f64)
        memcpy(&bits, &number, sizeof(bits));
    return bits;
}

uint16_t ptx_source(struct ptx_builder *builder, const struct ptx_atom *atom, enum ptx_type type)
{
    uint16_t slot, inverse;

    if (atom->kind == PTX_ATOM_SINK)
        return ptx_constant_slot(builder, 0);
    if (atom->kind != PTX_ATOM_NAME)
        return ptx_constant_slot(builder, literal_bits(atom, type));
    slot = named_slot(builder, atom);
    if (!atom->negated)
        return slot;
    inverse = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_not_pred, inverse, slot, 0, 0);
    return inverse;
}

uint16_t ptx_destination(struct ptx_builder *builder, const struct ptx_atom *atom)
{
    const struct ptx_name *name;
    uint16_t slot = 0;

    if (atom->kind == PTX_ATOM_SINK)
        return ptx_new_slots(builder, 1);
    name = atom->kind == PTX_ATOM_NAME ? ptx_find_name(builder, atom->text, &slot) : NULL;
    if (!name || name->kind != PTX_NAME_REGISTER || atom->suffix.length)
        ptx_error(builder->lexer, "the target is not a register");
    return slot;
}

static const struct ptx_atom *plain_at(struct ptx_builder *builder,
                                       const struct ptx_statement *statement, unsigned index)
{
    if (index < statement->count && statement->operands[index].form == PTX_PLAIN)
        return &statement->operands[index].items[0];
    ptx_error(builder->lexer, "operand %u of %.*s is missing or of the wrong form", index + 1,
              (int)statement->opcode.length, statement->opcode.at);
    return NULL;
}

uint16_t ptx_source_at(struct ptx_builder *builder, const struct ptx_statement *statement,
                       unsigned index, enum ptx_type type)
{
    const struct ptx_atom *atom = plain_at(builder, statement, index);

    return atom ? ptx_source(builder, atom, type) : 0;
}

uint16_t ptx_destination_at(struct ptx_builder *builder, const struct ptx_statement *statement,
                            unsigned index)
{
    const struct ptx_atom *atom = plain_at(builder, statement, index);

    return atom ? ptx_destination(builder, atom) : 0;
}

bool ptx_has_modifier(const struct ptx_statement *statement, const char *name)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        if (ptx_text_is(statement->modifiers[i], name))
            return true;
    }
    return false;
}

enum ptx_type ptx_atom_type(struct ptx_builder *builder, const struct ptx_atom *atom)
{
    uint16_t slot;
    const struct ptx_name *name =
        atom->kind == PTX_ATOM_NAME ? ptx_find_name(builder, atom->text, &slot) : NULL;

    return name && name->kind == PTX_NAME_REGISTER ? name->type : PTX_NO_TYPE;
}

bool ptx_want(struct ptx_builder *builder, const struct ptx_statement *statement, unsigned count)
{
    if (statement->count == count)
        return true;
    ptx_error(builder->lexer, "%.*s takes %u operands", (int)statement->opcode.length,
              statement->opcode.at, count);
    return false;
}
