/* decode.c: statements that compute: rows of ops.def with the rounding, flushing and saturation
 * asked for around them, comparisons, moves and conversions. */
#include "convert.h"
#include "statement.h"

#include <stdio.h>
#include <string.h>

/* ---- rows by name ---- */

struct adjust {
    enum ptx_rounding rounding;
    bool flush, saturate;
};

/* Notes a modifier that a float row need not name; false for any other. */
static bool adjusts(struct ptx_text modifier, struct adjust *adjust)
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

/* Finds `name` with a type behind it; a row for bits serves both kinds of integers and the reverse.
 */
static int find_typed(const char *name, enum ptx_type type, unsigned *operands)
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

/* The row's name without the type: mnemonic and modifiers, those that adjust() knows left out. */
static bool row_name(const struct ptx_statement *statement, struct adjust *adjust, char *out,
                     size_t size)
{
    int used = snprintf(out, size, "%.*s", (int)statement->mnemonic.length, statement->mnemonic.at);

    for (unsigned i = 0; i + 1 < statement->modifier_count; i++) {
        struct ptx_text modifier = statement->modifiers[i];
        if (adjust && adjusts(modifier, adjust))
            continue;
        if (used < 0 || (size_t)used >= size)
            return false;
        used +=
            snprintf(out + used, size - (size_t)used, "_%.*s", (int)modifier.length, modifier.at);
    }
    return used > 0 && (size_t)used < size;
}

static uint16_t flushed(struct ptx_builder *builder, uint16_t slot, bool flush)
{
    uint16_t copy;

    if (!flush)
        return slot;
    copy = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_flush_f32, copy, slot, 0, 0);
    return copy;
}

static void emit_adjusted(struct ptx_builder *builder, int op, const uint16_t slots[5],
                          unsigned count, enum ptx_type type, const struct adjust *adjust)
{
    bool directed = adjust->rounding > PTX_RN;
    struct ptx_insn *insn;
    uint16_t s[5];

    for (unsigned i = 0; i < 5; i++)
        s[i] = i && i < count ? flushed(builder, slots[i], adjust->flush) : slots[i];
    if (directed)
        ptx_emit(builder, PTX_OP_round, 0, 0, 0, 0)->imm = adjust->rounding;
    insn = ptx_emit(builder, (enum ptx_op)op, s[0], s[1], s[2], s[3]);
    insn->e = s[4];
    if (directed)
        ptx_emit(builder, PTX_OP_round, 0, 0, 0, 0)->imm = PTX_RN;
    if (adjust->flush)
        ptx_emit(builder, PTX_OP_flush_f32, s[0], s[0], 0, 0);
    if (adjust->saturate)
        ptx_emit(builder, type == PTX_f32 ? PTX_OP_saturate_f32 : PTX_OP_saturate_f64, s[0], s[0],
                 0, 0);
}

bool ptx_decode_plain(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    enum ptx_type type = statement->type;
    struct adjust adjust = {PTX_ROUND_NONE, false, false};
    unsigned operands = 0;
    uint16_t slots[5] = {0};
    char name[96];
    int op = -1;

    if (!statement->modifier_count ||
        ptx_type_of(statement->modifiers[statement->modifier_count - 1]) == PTX_NO_TYPE)
        return false;
    if (row_name(statement, NULL, name, sizeof(name)))
        op = find_typed(name, type, &operands);
    if (op < 0 && (type == PTX_f32 || type == PTX_f64) &&
        row_name(statement, &adjust, name, sizeof(name)))
        op = find_typed(name, type, &operands);
    if (op < 0)
        return false;
    if (!ptx_want(builder, statement, operands))
        return true;
    for (unsigned i = 1; i < operands; i++)
        slots[i] = ptx_source_at(builder, statement, i, type);
    slots[0] = ptx_destination_at(builder, statement, 0);
    emit_adjusted(builder, op, slots, operands, type, &adjust);
    return true;
}

/* ---- comparisons ---- */

/* The row for a comparison such as "lt"; lo, ls, hi and hs are the unsigned ones. */
static int compare_op(struct ptx_text comparison, enum ptx_type type)
{
    static const char *const unsigned_names[][2] = {
        {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
    unsigned operands;
    char name[32];

    for (unsigned i = 0; i < 4; i++) {
        if (ptx_text_is(comparison, unsigned_names[i][0]))
            comparison = (struct ptx_text){unsigned_names[i][1], 2};
    }
    if (comparison.length > 8)
        return -1;
    snprintf(name, sizeof(name), "setp_%.*s", (int)comparison.length, comparison.at);
    return find_typed(name, type, &operands);
}

static int bool_op(const struct ptx_statement *statement)
{
    if (ptx_has_modifier(statement, "and"))
        return PTX_OP_and_pred;
    if (ptx_has_modifier(statement, "or"))
        return PTX_OP_or_pred;
    return ptx_has_modifier(statement, "xor") ? PTX_OP_xor_pred : -1;
}

/* Compares operands 1 and 2 and joins operand 3 where the statement says so. A fresh slot holds the
 * result, the one behind it the result for the opposite comparison (setp's second target). */
static bool compare(struct ptx_builder *builder, const struct ptx_statement *statement,
                    uint16_t *out)
{
    int op = compare_op(statement->modifiers[0], statement->type), join = bool_op(statement);
    bool flush = ptx_has_modifier(statement, "ftz");
    uint16_t a, b, c;

    if (op < 0)
        return false;
    *out = ptx_new_slots(builder, 2);
    if (!ptx_want(builder, statement, join < 0 ? 3 : 4))
        return true;
    a = flushed(builder, ptx_source_at(builder, statement, 1, statement->type), flush);
    b = flushed(builder, ptx_source_at(builder, statement, 2, statement->type), flush);
    ptx_emit(builder, (enum ptx_op)op, *out, a, b, 0);
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
        statement->operands[0].form != PTX_PLAIN)
        return false;
    a = ptx_source_at(builder, statement, 1, statement->type);
    b = ptx_source_at(builder, statement, 2, statement->type);
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

bool ptx_decode_set(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    enum ptx_type type;
    uint64_t yes;
    uint16_t result;

    if (statement->modifier_count < 3)
        return false;
    type = ptx_type_of(statement->modifiers[statement->modifier_count - 2]);
    if (ptx_types[type].bytes != 4 || !compare(builder, statement, &result))
        return false;
    yes = type == PTX_f32 ? 0x3f800000 : 0xffffffff;
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
    c = flushed(builder, c, ptx_has_modifier(statement, "ftz"));
    ptx_emit(builder, real ? PTX_OP_slct_f32 : PTX_OP_slct_s32,
             ptx_destination_at(builder, statement, 0), a, b, c);
    return true;
}

/* ---- moves ---- */

static bool unpack(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *parts = &statement->operands[0];
    unsigned bits = ptx_types[statement->type].bytes * 8 / (parts->count ? parts->count : 1);
    uint16_t whole = ptx_new_slots(builder, 1);

    if (bits < 8)
        return false;
    ptx_emit(builder, PTX_OP_copy, whole, ptx_source_at(builder, statement, 1, statement->type), 0,
             0);
    for (unsigned i = 0; i < parts->count; i++) {
        uint16_t target = ptx_destination(builder, &parts->items[i]);
        ptx_emit(builder, PTX_OP_shift_right, target, whole, 0, 0)->imm = (int32_t)(i * bits);
    }
    return true;
}

static bool pack(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *parts = &statement->operands[1];
    unsigned bytes = ptx_types[statement->type].bytes;
    uint16_t target, low, high, s[4];

    if ((parts->count != 2 && parts->count != 4) || (bytes != 2 * parts->count && bytes != 8))
        return false;
    for (unsigned i = 0; i < parts->count; i++)
        s[i] = ptx_source(builder, &parts->items[i], parts->count == 4 ? PTX_b16 : PTX_b32);
    target = ptx_destination_at(builder, statement, 0);
    if (parts->count == 2) {
        ptx_emit(builder, bytes == 4 ? PTX_OP_pack_2x16 : PTX_OP_pack_2x32, target, s[0], s[1], 0);
        return true;
    }
    low = ptx_new_slots(builder, 1);
    high = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_pack_2x16, low, s[0], s[1], 0);
    ptx_emit(builder, PTX_OP_pack_2x16, high, s[2], s[3], 0);
    ptx_emit(builder, PTX_OP_pack_2x32, target, low, high, 0);
    return true;
}

bool ptx_decode_mov(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_atom *from = &statement->operands[1].items[0];
    uint16_t source;

    if (!ptx_want(builder, statement, 2))
        return true;
    if (statement->operands[0].form == PTX_VECTOR)
        return unpack(builder, statement);
    if (statement->operands[1].form == PTX_VECTOR)
        return pack(builder, statement);
    if (from->kind == PTX_ATOM_NAME && ptx_find_function(builder->module, from->text))
        return false;
    source = ptx_source_at(builder, statement, 1, statement->type);
    ptx_emit(builder, PTX_OP_copy, ptx_destination_at(builder, statement, 0), source, 0, 0);
    return true;
}

/* ---- conversions ---- */

static enum ptx_op extension(enum ptx_type type)
{
    bool sign = ptx_types[type].kind == 's';

    switch (ptx_types[type].bytes) {
    case 1: return sign ? PTX_OP_extend_s8 : PTX_OP_extend_u8;
    case 2: return sign ? PTX_OP_extend_s16 : PTX_OP_extend_u16;
    case 4: return sign ? PTX_OP_extend_s32 : PTX_OP_extend_u32;
    default: return PTX_OP_copy;
    }
}

static void convert_integers(struct ptx_builder *builder, uint16_t d, uint16_t a, enum ptx_type to,
                             enum ptx_type from)
{
    const struct ptx_type_info *target = &ptx_types[to], *source = &ptx_types[from];

    if (target->bytes <= source->bytes) {
        ptx_emit(builder, extension(to), d, a, 0, 0);
        return;
    }
    ptx_emit(builder, extension(from), d, a, 0, 0);
    if (source->kind == 's' && target->kind != 's')
        ptx_emit(builder, extension(to), d, d, 0, 0);
}

static bool convertible(enum ptx_type type)
{
    return type != PTX_NO_TYPE && type != PTX_pred && ptx_types[type].kind != 'v';
}

/* Everything before the two types: a rounding, .ftz, .sat; false for what is none of them. */
static bool conversion_modifiers(const struct ptx_statement *statement, struct adjust *adjust)
{
    static const char *const whole[] = {"rni", "rzi", "rmi", "rpi"};

    for (unsigned i = 0; i + 2 < statement->modifier_count; i++) {
        bool known = adjusts(statement->modifiers[i], adjust);
        for (unsigned k = 0; k < 4 && !known; k++) {
            known = ptx_text_is(statement->modifiers[i], whole[k]);
            if (known)
                adjust->rounding = (enum ptx_rounding)(PTX_RNI + k);
        }
        if (!known)
            return false;
    }
    return true;
}

bool ptx_decode_cvt(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    struct adjust adjust = {PTX_ROUND_NONE, false, false};
    enum ptx_type to, from = statement->type;
    unsigned operands;
    char name[96];
    uint16_t a, d;
    int op = -1;

    if (statement->modifier_count < 2)
        return false;
    to = ptx_type_of(statement->modifiers[statement->modifier_count - 2]);
    if (!convertible(to) || !convertible(from) || !conversion_modifiers(statement, &adjust))
        return false;
    if (!ptx_want(builder, statement, 2))
        return true;
    a = ptx_source_at(builder, statement, 1, from);
    d = ptx_destination_at(builder, statement, 0);
    if (row_name(statement, NULL, name, sizeof(name)))
        op = find_typed(name, from, &operands);
    if (op >= 0)
        ptx_emit(builder, (enum ptx_op)op, d, a, 0, 0);
    else if (ptx_types[to].kind != 'f' && ptx_types[from].kind != 'f' && !adjust.saturate)
        convert_integers(builder, d, a, to, from);
    else
        ptx_emit(builder, PTX_OP_convert, d, a, 0, 0)->imm =
            (int32_t)PTX_CONVERT(to, from, adjust.rounding, adjust.saturate, adjust.flush);
    return true;
}
