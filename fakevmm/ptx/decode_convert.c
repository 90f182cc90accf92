/* decode_convert.c: conversions: cvt between numbers, and those that pack. */
#include "adjust.h"

/* ---- between two numbers ---- */

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

/* .relu and .satfinite, and roundings only cvt has. */
static bool read_modifier(struct ptx_text modifier, struct ptx_adjust *adjust, unsigned *flags)
{
    static const struct {
        const char *name;
        enum ptx_rounding rounding;
        unsigned flag;
    } words[] = {{"rni", PTX_RNI, 0},
                 {"rzi", PTX_RZI, 0},
                 {"rmi", PTX_RMI, 0},
                 {"rpi", PTX_RPI, 0},
                 {"rna", PTX_RNA, 0},
                 {"relu", PTX_ROUND_NONE, PTX_CONVERT_RELU},
                 {"satfinite", PTX_ROUND_NONE, PTX_CONVERT_FINITE}};

    if (ptx_adjusts(modifier, adjust))
        return true;
    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (ptx_text_is(modifier, words[i].name)) {
            if (words[i].rounding)
                adjust->rounding = words[i].rounding;
            *flags |= words[i].flag;
            return true;
        }
    }
    return false;
}

/* All modifiers before the two types; false when one is unknown. */
static bool read_modifiers(const struct ptx_statement *statement, struct ptx_adjust *adjust,
                           unsigned *flags)
{
    for (unsigned i = 0; i + 2 < statement->modifier_count; i++) {
        if (!read_modifier(statement->modifiers[i], adjust, flags))
            return false;
    }
    *flags |= (adjust->saturate ? PTX_CONVERT_SAT : 0u) | (adjust->flush ? PTX_CONVERT_FTZ : 0u);
    return true;
}

static bool convert_numbers(struct ptx_builder *builder, const struct ptx_statement *statement,
                            enum ptx_type to, enum ptx_rounding rounding, unsigned flags)
{
    enum ptx_type from = statement->type;
    unsigned operands;
    char name[96];
    uint16_t a, d;
    int op = -1;

    if (!convertible(to) || !convertible(from))
        return false;
    if (!ptx_want(builder, statement, 2))
        return true;
    a = ptx_source_at(builder, statement, 1, from);
    d = ptx_destination_at(builder, statement, 0);
    if (ptx_row_name(statement, statement->modifier_count - 1, NULL, name, sizeof(name)))
        op = ptx_find_typed(name, from, &operands);
    if (op >= 0)
        ptx_emit(builder, (enum ptx_op)op, d, a, 0, 0);
    else if (ptx_types[to].kind != 'f' && ptx_types[from].kind != 'f' && !flags)
        convert_integers(builder, d, a, to, from);
    else
        ptx_emit(builder, PTX_OP_convert, d, a, 0, 0)->imm =
            (int32_t)PTX_CONVERT(to, from, rounding, flags);
    return true;
}

/* ---- to and from pairs, and to tf32 ---- */

/* The format of a pair's lanes, such as e4m3x2. */
static enum ptx_narrow pair_format(struct ptx_text name)
{
    static const struct {
        const char *name;
        enum ptx_narrow format;
    } pairs[] = {
#define X(name, ...) {#name "x2", PTX_NARROW_##name},
        PTX_NARROW(X)
#undef X
    };

    for (unsigned i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        if (ptx_text_is(name, pairs[i].name))
            return pairs[i].format;
    }
    return PTX_NARROW_NONE;
}

/* cvt.to.f32 d, a, b: a is the upper lane; cvt.to.from d, a: lane by lane. */
static bool convert_pairs(struct ptx_builder *builder, const struct ptx_statement *statement,
                          enum ptx_narrow to, enum ptx_rounding rounding, unsigned flags)
{
    struct ptx_text source = statement->modifiers[statement->modifier_count - 1];
    enum ptx_narrow from = pair_format(source);
    uint16_t a, b = 0;

    if (!from && !ptx_text_is(source, "f32"))
        return false;
    if (!ptx_want(builder, statement, from ? 2 : 3))
        return true;
    a = ptx_source_at(builder, statement, 1, PTX_f32);
    if (!from)
        b = ptx_source_at(builder, statement, 2, PTX_f32);
    ptx_emit(builder, PTX_OP_convert_pair, ptx_destination_at(builder, statement, 0), a, b, 0)
        ->imm = (int32_t)PTX_CONVERT(to, from, rounding, flags);
    return true;
}

static bool convert_tf32(struct ptx_builder *builder, const struct ptx_statement *statement,
                         enum ptx_rounding rounding, unsigned flags)
{
    uint16_t a;

    if (statement->type != PTX_f32)
        return false;
    if (!ptx_want(builder, statement, 2))
        return true;
    a = ptx_source_at(builder, statement, 1, PTX_f32);
    ptx_emit(builder, PTX_OP_convert_tf32, ptx_destination_at(builder, statement, 0), a, 0, 0)
        ->imm = (int32_t)PTX_CONVERT(0, 0, rounding, flags);
    return true;
}

/* cvt.pack.sat.type.s32[.b32] d, a, b[, c] */
static bool convert_pack(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool shifts = statement->modifier_count == 5;
    struct ptx_text type = statement->modifiers[2];
    unsigned bits = type.length == 3 && type.at[1] == '1' && type.at[2] == '6' ? 16
                    : type.length == 2 ? (unsigned)(type.at[1] - '0')
                                       : 0;
    uint16_t a, b, c = 0;

    if ((type.at[0] != 's' && type.at[0] != 'u') || shifts == (bits == 16) ||
        (bits != 2 && bits != 4 && bits != 8 && bits != 16))
        return false;
    if (!ptx_want(builder, statement, shifts ? 4 : 3))
        return true;
    a = ptx_source_at(builder, statement, 1, PTX_s32);
    b = ptx_source_at(builder, statement, 2, PTX_s32);
    if (shifts)
        c = ptx_source_at(builder, statement, 3, PTX_b32);
    else
        c = ptx_constant_slot(builder, 0);
    ptx_emit(builder, PTX_OP_convert_pack, ptx_destination_at(builder, statement, 0), a, b, c)
        ->imm = (int32_t)bits | (type.at[0] == 's') << 8;
    return true;
}

bool ptx_decode_cvt(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    struct ptx_adjust adjust = {PTX_ROUND_NONE, false, false};
    struct ptx_text target;
    unsigned flags = 0;
    enum ptx_narrow pair;

    if (statement->modifier_count < 2)
        return false;
    if (ptx_text_is(statement->modifiers[0], "pack"))
        return statement->modifier_count >= 4 && convert_pack(builder, statement);
    target = statement->modifiers[statement->modifier_count - 2];
    if (!read_modifiers(statement, &adjust, &flags))
        return false;
    if (ptx_text_is(target, "tf32"))
        return convert_tf32(builder, statement, adjust.rounding, flags);
    pair = pair_format(target);
    if (pair)
        return convert_pairs(builder, statement, pair, adjust.rounding, flags);
    return ptx_type_of(statement->modifiers[statement->modifier_count - 1]) == statement->type &&
           convert_numbers(builder, statement, ptx_type_of(target), adjust.rounding, flags);
}
