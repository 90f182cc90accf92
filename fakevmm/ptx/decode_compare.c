/* decode_compare.c: comparisons and choices. */
#include "adjust.h"

#include <stdio.h>

/* The row for a comparison such as "lt"; lo, ls, hi and hs are the unsigned ones. */
static int compare_op(struct ptx_text comparison, enum ptx_type type)
{
    static const char *const unsigned_names[][2] = {
        {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
    unsigned operands;
    char name[32];

    if (ptx_narrow_of(type))
        type = PTX_f32;
    for (unsigned i = 0; i < 4; i++) {
        if (ptx_text_is(comparison, unsigned_names[i][0]))
            comparison = (struct ptx_text){unsigned_names[i][1], 2};
    }
    if (comparison.length > 8)
        return -1;
    snprintf(name, sizeof(name), "setp_%.*s", (int)comparison.length, comparison.at);
    return ptx_find_typed(name, type, &operands);
}

int ptx_join_op(const struct ptx_statement *statement)
{
    if (ptx_has_modifier(statement, "and"))
        return PTX_OP_and_pred;
    if (ptx_has_modifier(statement, "or"))
        return PTX_OP_or_pred;
    return ptx_has_modifier(statement, "xor") ? PTX_OP_xor_pred : -1;
}

/* Operand `index` as the comparison wants it: of f16 and its kind the value of a lane, as f32. */
static uint16_t compared(struct ptx_builder *builder, const struct ptx_statement *statement,
                         unsigned index, unsigned lane)
{
    bool flush = ptx_has_modifier(statement, "ftz");
    enum ptx_narrow format = ptx_narrow_of(statement->type);
    uint16_t slot = ptx_source_at(builder, statement, index, statement->type), value;

    if (!format)
        return ptx_flushed(builder, slot, flush);
    value = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_half_lane, value, slot, 0, 0)->imm =
        PTX_HALF_LANE(format, lane, flush);
    return value;
}

/* Compares operands 1 and 2 and joins operand 3 where the statement says so. A fresh slot holds the
 * result, the one behind it the second one: of a pair that of its upper lane, else that of the
 * opposite comparison (setp's second target). */
static bool compare(struct ptx_builder *builder, const struct ptx_statement *statement,
                    uint16_t *out)
{
    int op = compare_op(statement->modifiers[0], statement->type), join = ptx_join_op(statement);
    bool pair = ptx_is_pair(statement->type);
    uint16_t a, b, c;

    if (op < 0)
        return false;
    *out = ptx_new_slots(builder, 2);
    if (!ptx_want(builder, statement, join < 0 ? 3 : 4))
        return true;
    for (unsigned lane = 0; lane <= pair; lane++) {
        a = compared(builder, statement, 1, lane);
        b = compared(builder, statement, 2, lane);
        ptx_emit(builder, (enum ptx_op)op, *out + lane, a, b, 0);
    }
    if (!pair)
        ptx_emit(builder, PTX_OP_not_pred, *out + 1u, *out, 0, 0);
    if (join < 0)
        return true;
    c = ptx_source_at(builder, statement, 3, PTX_pred);
    ptx_emit(builder, (enum ptx_op)join, *out, *out, c, 0);
    ptx_emit(builder, (enum ptx_op)join, *out + 1u, *out + 1u, c, 0);
    return true;
}

/* The usual case is one instruction. */
static bool compare_simply(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    int op = compare_op(statement->modifiers[0], statement->type);
    uint16_t a, b;

    if (op < 0 || statement->modifier_count != 2 || statement->count != 3 ||
        statement->operands[0].form != PTX_PLAIN || ptx_is_pair(statement->type))
        return false;
    a = compared(builder, statement, 1, 0);
    b = compared(builder, statement, 2, 0);
    ptx_emit(builder, (enum ptx_op)op, ptx_destination_at(builder, statement, 0), a, b, 0);
    return true;
}

bool ptx_decode_setp(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *targets = &statement->operands[0];
    uint16_t result;

    if (statement->modifier_count < 2 || !statement->count)
        return false;
    if (compare_simply(builder, statement))
        return true;
    if (!compare(builder, statement, &result))
        return false;
    for (unsigned i = 0; i < targets->count && i < 2; i++)
        ptx_emit(builder, PTX_OP_copy, ptx_destination(builder, &targets->items[i]), result + i, 0,
                 0);
    return true;
}

/* What set writes for true: 1 as a float, all ones as a whole number; 0 for types it lacks. */
static uint64_t true_value(enum ptx_type type)
{
    switch (type) {
    case PTX_f32: return 0x3f800000;
    case PTX_f16:
    case PTX_f16x2: return 0x3c00;
    case PTX_bf16:
    case PTX_bf16x2: return 0x3f80;
    case PTX_u16:
    case PTX_s16: return 0xffff;
    case PTX_u32:
    case PTX_s32: return 0xffffffff;
    default: return 0;
    }
}

/* set on a pair: 16 bits of the result per lane. */
static void set_pair(struct ptx_builder *builder, const struct ptx_statement *statement,
                     uint16_t result, uint64_t yes)
{
    uint16_t one = ptx_constant_slot(builder, yes & 0xffff), none = ptx_constant_slot(builder, 0);
    uint16_t lanes = ptx_new_slots(builder, 2);

    ptx_emit(builder, PTX_OP_select, lanes, one, none, result);
    ptx_emit(builder, PTX_OP_select, lanes + 1u, one, none, result + 1u);
    ptx_emit(builder, PTX_OP_pack_2x16, ptx_destination_at(builder, statement, 0), lanes,
             lanes + 1u, 0);
}

bool ptx_decode_set(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint64_t yes;
    uint16_t result;

    if (statement->modifier_count < 3)
        return false;
    yes = true_value(ptx_type_of(statement->modifiers[statement->modifier_count - 2]));
    if (!yes || !compare(builder, statement, &result))
        return false;
    if (ptx_is_pair(statement->type))
        set_pair(builder, statement, result, yes);
    else
        ptx_emit(builder, PTX_OP_select, ptx_destination_at(builder, statement, 0),
                 ptx_constant_slot(builder, yes), ptx_constant_slot(builder, 0), result);
    return true;
}

bool ptx_decode_selp(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint16_t a, b, c;

    if (!ptx_want(builder, statement, 4))
        return true;
    a = ptx_source_at(builder, statement, 1, statement->type);
    b = ptx_source_at(builder, statement, 2, statement->type);
    c = ptx_source_at(builder, statement, 3, PTX_pred);
    ptx_emit(builder, PTX_OP_select, ptx_destination_at(builder, statement, 0), a, b, c);
    return true;
}

bool ptx_decode_slct(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool real = statement->type == PTX_f32;
    enum ptx_type type;
    uint16_t a, b, c;

    if (statement->modifier_count < 2 || (!real && statement->type != PTX_s32))
        return false;
    if (!ptx_want(builder, statement, 4))
        return true;
    type = ptx_type_of(statement->modifiers[statement->modifier_count - 2]);
    a = ptx_source_at(builder, statement, 1, type);
    b = ptx_source_at(builder, statement, 2, type);
    c = ptx_source_at(builder, statement, 3, statement->type);
    c = ptx_flushed(builder, c, ptx_has_modifier(statement, "ftz"));
    ptx_emit(builder, real ? PTX_OP_slct_f32 : PTX_OP_slct_s32,
             ptx_destination_at(builder, statement, 0), a, b, c);
    return true;
}
