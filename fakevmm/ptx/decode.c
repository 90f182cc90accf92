/* decode.c: statements that compute: rows of ops.def with the rounding, flushing and saturation
 * asked for around them, and moves. */
#include "adjust.h"

#include <stdio.h>
#include <string.h>

/* ---- rows by name ---- */

bool ptx_adjusts(struct ptx_text modifier, struct ptx_adjust *adjust)
{
    static const char *const roundings[] = {"rn", "rz", "rm", "rp"};

    for (unsigned i = 0; i < 4; i++) {
        if (ptx_text_is(modifier, roundings[i])) {
            adjust->rounding = (enum ptx_rounding)(PTX_RN + i);
            return true;
        }
    }
    if (ptx_text_is(modifier, "ftz"))
        return adjust->flush = true;
    if (ptx_text_is(modifier, "sat"))
        return adjust->saturate = true;
    return false;
}

int ptx_find_typed(const char *name, enum ptx_type type, unsigned *operands)
{
    const struct ptx_type_info *info = &ptx_types[type];
    bool integer = info->kind == 's' || info->kind == 'u' || info->kind == 'b';
    char full[96];
    int op;

    snprintf(full, sizeof(full), "%s_%s", name, info->name);
    op = ptx_find_op(full, operands);
    if (op < 0 && integer) {
        snprintf(full, sizeof(full), "%s_%c%u", name, info->kind == 'b' ? 'u' : 'b',
                 info->bytes * 8);
        op = ptx_find_op(full, operands);
    }
    return op;
}

bool ptx_row_name(const struct ptx_statement *statement, unsigned modifiers,
                  struct ptx_adjust *adjust, char *out, size_t size)
{
    int used = snprintf(out, size, "%.*s", (int)statement->mnemonic.length, statement->mnemonic.at);

    for (unsigned i = 0; i < modifiers; i++) {
        struct ptx_text modifier = statement->modifiers[i];
        if (adjust && ptx_adjusts(modifier, adjust))
            continue;
        if (used < 0 || (size_t)used >= size)
            return false;
        used +=
            snprintf(out + used, size - (size_t)used, "_%.*s", (int)modifier.length, modifier.at);
    }
    return used > 0 && (size_t)used < size;
}

uint16_t ptx_flushed(struct ptx_builder *builder, uint16_t slot, bool flush)
{
    uint16_t copy;

    if (!flush)
        return slot;
    copy = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_flush_f32, copy, slot, 0, 0);
    return copy;
}

/* One row; s holds the target and the sources. */
static void emit_row(struct ptx_builder *builder, int op, const uint16_t s[5],
                     const struct ptx_adjust *adjust)
{
    bool directed = adjust->rounding > PTX_RN;

    if (directed)
        ptx_emit(builder, PTX_OP_round, 0, 0, 0, 0)->imm = adjust->rounding;
    ptx_emit(builder, (enum ptx_op)op, s[0], s[1], s[2], s[3])->e = s[4];
    if (directed)
        ptx_emit(builder, PTX_OP_round, 0, 0, 0, 0)->imm = PTX_RN;
}

static void emit_adjusted(struct ptx_builder *builder, int op, const uint16_t slots[5],
                          unsigned count, enum ptx_type type, const struct ptx_adjust *adjust)
{
    uint16_t s[5];

    for (unsigned i = 0; i < 5; i++)
        s[i] = i && i < count ? ptx_flushed(builder, slots[i], adjust->flush) : slots[i];
    emit_row(builder, op, s, adjust);
    if (adjust->flush)
        ptx_emit(builder, PTX_OP_flush_f32, s[0], s[0], 0, 0);
    if (adjust->saturate)
        ptx_emit(builder, type == PTX_f64 ? PTX_OP_saturate_f64 : PTX_OP_saturate_f32, s[0], s[0],
                 0, 0);
}

/* The row of a pair's lanes, on one lane after the other. */
static void emit_lanes(struct ptx_builder *builder, int op, const uint16_t slots[5], unsigned count,
                       const struct ptx_adjust *adjust)
{
    uint16_t low[5] = {0}, high[5] = {0};

    low[0] = ptx_new_slots(builder, 1);
    high[0] = ptx_new_slots(builder, 1);
    for (unsigned i = 1; i < count; i++) {
        low[i] = slots[i];
        high[i] = ptx_new_slots(builder, 1);
        ptx_emit(builder, PTX_OP_shift_right, high[i], slots[i], 0, 0)->imm = 32;
    }
    emit_adjusted(builder, op, low, count, PTX_f32, adjust);
    emit_adjusted(builder, op, high, count, PTX_f32, adjust);
    ptx_emit(builder, PTX_OP_pack_2x32, slots[0], low[0], high[0], 0);
}

/* The row for a statement whose type is not the last modifier is named after all of them. */
static int find_row(const struct ptx_statement *statement, struct ptx_adjust *adjust,
                    unsigned *operands)
{
    unsigned last = statement->modifier_count - 1;
    enum ptx_type type = statement->type == PTX_f32x2 ? PTX_f32 : statement->type;
    char name[96];
    int op = -1;

    if (ptx_types[type].kind != 'f' && ptx_has_modifier(statement, "relu")) { /* on either side */
        snprintf(name, sizeof(name), "%.*s_%s_relu", (int)statement->mnemonic.length,
                 statement->mnemonic.at, ptx_types[type].name);
        return last == 1 ? ptx_find_op(name, operands) : -1;
    }
    if (ptx_type_of(statement->modifiers[last]) == PTX_NO_TYPE)
        return ptx_row_name(statement, last + 1, NULL, name, sizeof(name))
                   ? ptx_find_op(name, operands)
                   : -1;
    if (ptx_row_name(statement, last, NULL, name, sizeof(name)))
        op = ptx_find_typed(name, type, operands);
    if (op < 0 && (type == PTX_f32 || type == PTX_f64) &&
        ptx_row_name(statement, last, adjust, name, sizeof(name)))
        op = ptx_find_typed(name, type, operands);
    return op;
}

/* The minimum or maximum of three is that of the first two and the third. */
static bool is_triple(const struct ptx_statement *statement)
{
    return statement->count == 4 && statement->type == PTX_f32 &&
           (ptx_text_is(statement->mnemonic, "min") || ptx_text_is(statement->mnemonic, "max"));
}

bool ptx_decode_plain(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    struct ptx_adjust adjust = {PTX_ROUND_NONE, false, false};
    unsigned operands = 0;
    uint16_t slots[5] = {0};
    int op;

    if (!statement->modifier_count)
        return false;
    if (ptx_narrow_of(statement->type))
        return ptx_decode_half(builder, statement);
    op = find_row(statement, &adjust, &operands);
    if (op < 0)
        return false;
    if (!is_triple(statement) && !ptx_want(builder, statement, operands))
        return true;
    for (unsigned i = 1; i < operands; i++)
        slots[i] = ptx_source_at(builder, statement, i, statement->type);
    slots[0] = ptx_destination_at(builder, statement, 0);
    if (statement->type == PTX_f32x2) {
        emit_lanes(builder, op, slots, operands, &adjust);
        return true;
    }
    if (is_triple(statement)) {
        uint16_t two = ptx_new_slots(builder, 1),
                 third = ptx_source_at(builder, statement, 3, PTX_f32);
        emit_adjusted(builder, op, (uint16_t[5]){two, slots[1], slots[2]}, 3, PTX_f32, &adjust);
        slots[1] = two;
        slots[2] = third;
    }
    emit_adjusted(builder, op, slots, operands, statement->type, &adjust);
    return true;
}

/* lop3 that also says whether the result has a bit set, joined with a predicate. */
bool ptx_decode_lop3(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *to = &statement->operands[0];
    int join = ptx_join_op(statement);
    uint16_t s[6], d, zero;

    if (join < 0)
        return ptx_decode_plain(builder, statement);
    if (!ptx_want(builder, statement, 6))
        return true;
    if (to->form != PTX_PAIR)
        return false;
    for (unsigned i = 1; i < 6; i++)
        s[i] = ptx_source_at(builder, statement, i, i == 5 ? PTX_pred : PTX_b32);
    d = ptx_new_slots(builder, 2);
    zero = ptx_constant_slot(builder, 0);
    ptx_emit(builder, PTX_OP_lop3_b32, d, s[1], s[2], s[3])->e = s[4];
    ptx_emit(builder, PTX_OP_setp_ne_b32, d + 1u, d, zero, 0);
    ptx_emit(builder, (enum ptx_op)join, d + 1u, d + 1u, s[5], 0);
    ptx_emit(builder, PTX_OP_copy, ptx_destination(builder, &to->items[0]), d, 0, 0);
    ptx_emit(builder, PTX_OP_copy, ptx_destination(builder, &to->items[1]), d + 1u, 0, 0);
    return true;
}

/* ---- moves ---- */

static bool unpack(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *parts = &statement->operands[0];
    unsigned bits = ptx_types[statement->type].bytes * 8 / (parts->count ? parts->count : 1);
    uint16_t whole = ptx_new_slots(builder, 1);

    if (bits < 8 || bits * parts->count != 8 * ptx_types[statement->type].bytes)
        return false;
    ptx_emit(builder, PTX_OP_copy, whole, ptx_source_at(builder, statement, 1, statement->type), 0,
             0);
    for (unsigned i = 0; i < parts->count; i++) {
        uint16_t target = ptx_destination(builder, &parts->items[i]);
        ptx_emit(builder, PTX_OP_shift_right, target, whole, 0, 0)->imm = (int32_t)(i * bits);
    }
    return true;
}

/* The instruction that joins two parts of that many bytes. */
static enum ptx_op joiner(unsigned bytes)
{
    return bytes == 1 ? PTX_OP_pack_2x8 : bytes == 2 ? PTX_OP_pack_2x16 : PTX_OP_pack_2x32;
}

static bool pack(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *parts = &statement->operands[1];
    unsigned bytes = parts->count ? ptx_types[statement->type].bytes / parts->count : 0;
    uint16_t low, high, s[4];

    if ((parts->count != 2 && parts->count != 4) || (bytes != 1 && bytes != 2 && bytes != 4))
        return false;
    for (unsigned i = 0; i < parts->count; i++)
        s[i] = ptx_source(builder, &parts->items[i], bytes == 4 ? PTX_b32 : PTX_b16);
    low = s[0];
    high = s[1];
    if (parts->count == 4) {
        low = ptx_new_slots(builder, 1);
        high = ptx_new_slots(builder, 1);
        ptx_emit(builder, joiner(bytes), low, s[0], s[1], 0);
        ptx_emit(builder, joiner(bytes), high, s[2], s[3], 0);
        bytes *= 2;
    }
    ptx_emit(builder, joiner(bytes), ptx_destination_at(builder, statement, 0), low, high, 0);
    return true;
}

bool ptx_decode_mov(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint16_t source;

    if (!ptx_want(builder, statement, 2))
        return true;
    if (statement->type == PTX_b128)
        return ptx_wide_mov(builder, statement);
    if (statement->operands[0].form == PTX_VECTOR)
        return unpack(builder, statement);
    if (statement->operands[1].form == PTX_VECTOR)
        return pack(builder, statement);
    source = ptx_source_at(builder, statement, 1, statement->type);
    ptx_emit(builder, PTX_OP_copy, ptx_destination_at(builder, statement, 0), source, 0, 0);
    return true;
}
