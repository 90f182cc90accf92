/* decode_video.c: the SIMD video instructions, all lanes in order. */
#include "statement.h"
#include "video.h"

static int find_video(struct ptx_text mnemonic)
{
    static const char *const names[] = {
#define X(name) #name,
        PTX_VIDEO_OPS(X)
#undef X
    };
    struct ptx_text stem = {mnemonic.at, mnemonic.length - 1};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (ptx_text_is(stem, names[i]))
            return (int)i;
    }
    return -1;
}

static int find_compare(const struct ptx_statement *statement)
{
    static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (ptx_has_modifier(statement, names[i]))
            return (int)i;
    }
    return -1;
}

/* The types come first: d, a, b, of vset only a and b. */
static unsigned type_flags(const struct ptx_statement *statement, bool set)
{
    static const unsigned flags[] = {PTX_VIDEO_SIGNED_D, PTX_VIDEO_SIGNED_A, PTX_VIDEO_SIGNED_B};
    unsigned out = 0;

    for (unsigned i = 0; i < 3u - set; i++) {
        if (ptx_type_of(statement->modifiers[i]) == PTX_s32)
            out |= flags[i + set];
    }
    return out;
}

/* A choice or another order of lanes is not among what the interpreter has. */
static bool takes_lanes_in_order(const struct ptx_statement *statement)
{
    for (unsigned i = 0; i < 4; i++) {
        if (statement->operands[i].items[0].suffix.length)
            return false;
    }
    return true;
}

bool ptx_decode_video(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    int op = find_video(statement->mnemonic), compare = find_compare(statement);
    bool set = op == PTX_VIDEO_vset;
    unsigned flags;
    uint16_t s[4];

    if (op < 0 || set == (compare < 0) || statement->modifier_count < 3u - set ||
        statement->count != 4 || !takes_lanes_in_order(statement))
        return false;
    flags = type_flags(statement, set);
    if (statement->mnemonic.at[statement->mnemonic.length - 1] == '4')
        flags |= PTX_VIDEO_BYTES;
    if (ptx_has_modifier(statement, "sat"))
        flags |= PTX_VIDEO_SAT;
    if (ptx_has_modifier(statement, "add"))
        flags |= PTX_VIDEO_SUM;
    for (unsigned i = 1; i < 4; i++)
        s[i] = ptx_source_at(builder, statement, i, PTX_b32);
    s[0] = ptx_destination_at(builder, statement, 0);
    ptx_emit(builder, PTX_OP_video, s[0], s[1], s[2], s[3])->imm =
        PTX_VIDEO(op, set ? compare : 0, flags);
    return true;
}
