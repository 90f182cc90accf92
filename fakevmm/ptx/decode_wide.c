/* decode_wide.c: instructions on .b128, which are moves: register to register, and to and from
 * memory, each access in one piece. */
#include "decode_memory.h"

/* Two registers of 64 bits next to one of 128. */
static bool mov_parts(struct ptx_builder *builder, const struct ptx_statement *statement, bool pack)
{
    const struct ptx_operand *parts = &statement->operands[pack];
    uint16_t wide = pack ? ptx_destination_at(builder, statement, 0)
                         : ptx_source_at(builder, statement, 1, PTX_b128);

    if (parts->count != 2)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (pack)
            ptx_emit(builder, PTX_OP_copy, wide + i, ptx_source(builder, &parts->items[i], PTX_b64),
                     0, 0);
        else
            ptx_emit(builder, PTX_OP_copy, ptx_destination(builder, &parts->items[i]), wide + i, 0,
                     0);
    }
    return true;
}

/* A register of the type: only those have two slots. */
static bool is_wide(struct ptx_builder *builder, const struct ptx_operand *operand)
{
    return operand->form == PTX_PLAIN && ptx_atom_type(builder, &operand->items[0]) == PTX_b128;
}

bool ptx_wide_mov(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *operands = statement->operands;
    uint16_t d, a;

    if (operands[0].form == PTX_VECTOR && is_wide(builder, &operands[1]))
        return mov_parts(builder, statement, false);
    if (operands[1].form == PTX_VECTOR && is_wide(builder, &operands[0]))
        return mov_parts(builder, statement, true);
    if (!is_wide(builder, &operands[0]) || !is_wide(builder, &operands[1]))
        return false;
    d = ptx_destination_at(builder, statement, 0);
    a = ptx_source_at(builder, statement, 1, PTX_b128);
    ptx_emit(builder, PTX_OP_copy, d, a, 0, 0);
    ptx_emit(builder, PTX_OP_copy, d + 1u, a + 1u, 0, 0);
    return true;
}

/* The generic address that operand `index` is; false when it is none. */
static bool find_generic(struct ptx_builder *builder, const struct ptx_statement *statement,
                         unsigned index, uint16_t *slot)
{
    struct ptx_address address;

    if (ptx_is_other_form(statement) || !ptx_find_address(builder, statement, index, &address))
        return false;
    *slot = ptx_generic_address(builder, &address);
    return true;
}

bool ptx_wide_ld(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint16_t a;

    if (ptx_operands_without_hint(statement) != 2 || !is_wide(builder, &statement->operands[0]) ||
        !find_generic(builder, statement, 1, &a))
        return false;
    ptx_emit(builder, PTX_OP_load_128, ptx_destination_at(builder, statement, 0), a, 0, 0)->e =
        ptx_new_site(builder, false);
    builder->function->code.together = true;
    return true;
}

static void emit_atomic(struct ptx_builder *builder, enum ptx_atomic atomic, uint16_t a,
                        const uint16_t dbc[3])
{
    struct ptx_insn *insn = ptx_emit(builder, PTX_OP_atomic_128, dbc[0], a, dbc[1], dbc[2]);

    insn->imm = atomic;
    insn->e = ptx_new_site(builder, true);
    builder->function->code.together = true;
}

bool ptx_wide_st(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint16_t a, dbc[3] = {0};

    if (ptx_operands_without_hint(statement) != 2 || !is_wide(builder, &statement->operands[1]) ||
        !find_generic(builder, statement, 0, &a))
        return false;
    dbc[0] = ptx_new_slots(builder, 2);
    dbc[1] = ptx_source_at(builder, statement, 1, PTX_b128);
    emit_atomic(builder, PTX_ATOMIC_exch_b128, a, dbc);
    return true;
}

/* atom d, [a], b[, c] */
bool ptx_wide_atom(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool cas = ptx_has_modifier(statement, "cas");
    uint16_t a, dbc[3] = {0};

    if (!ptx_text_is(statement->mnemonic, "atom") ||
        (!cas && !ptx_has_modifier(statement, "exch")) ||
        ptx_operands_without_hint(statement) != 3u + cas)
        return false;
    for (unsigned i = 0; i < 3u + cas; i++) {
        if (i != 1 && !is_wide(builder, &statement->operands[i]))
            return false;
    }
    if (!find_generic(builder, statement, 1, &a))
        return false;
    dbc[0] = ptx_destination_at(builder, statement, 0);
    dbc[1] = ptx_source_at(builder, statement, 2, PTX_b128);
    if (cas)
        dbc[2] = ptx_source_at(builder, statement, 3, PTX_b128);
    emit_atomic(builder, cas ? PTX_ATOMIC_cas_b128 : PTX_ATOMIC_exch_b128, a, dbc);
    return true;
}
