/* decode_half.c: statements that compute with f16, bf16 and pairs of them. */
#include "adjust.h"

enum ptx_narrow ptx_narrow_of(enum ptx_type type)
{
    switch (type) {
    case PTX_f16:
    case PTX_f16x2: return PTX_NARROW_f16;
    case PTX_bf16:
    case PTX_bf16x2: return PTX_NARROW_bf16;
    default: return PTX_NARROW_NONE;
    }
}

bool ptx_is_pair(enum ptx_type type)
{
    return type == PTX_f16x2 || type == PTX_bf16x2;
}

static int find_half(struct ptx_text mnemonic, unsigned *sources)
{
    static const struct {
        const char *name;
        unsigned sources;
    } ops[] = {
#define X(name, sources) [PTX_HALF_##name] = {#name, sources},
        PTX_HALF_OPS(X)
#undef X
    };

    for (unsigned i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        if (ptx_text_is(mnemonic, ops[i].name)) {
            *sources = ops[i].sources;
            return (int)i;
        }
    }
    return -1;
}

/* The flags of all modifiers but the type; false when one is unknown. */
static bool read_flags(const struct ptx_statement *statement, unsigned *flags)
{
    static const struct {
        const char *name;
        unsigned flag;
    } words[] = {{"rn", 0},
                 {"approx", 0},
                 {"abs", 0}, /* of .xorsign.abs */
                 {"ftz", PTX_HALF_FTZ},
                 {"sat", PTX_HALF_SAT},
                 {"relu", PTX_HALF_RELU},
                 {"NaN", PTX_HALF_NAN},
                 {"xorsign", PTX_HALF_XORSIGN}};
    enum { WORDS = sizeof(words) / sizeof(*words) };

    *flags = ptx_is_pair(statement->type) ? PTX_HALF_PAIR : 0;
    for (unsigned i = 0; i + 1 < statement->modifier_count; i++) {
        unsigned k = 0;
        while (k < WORDS && !ptx_text_is(statement->modifiers[i], words[k].name))
            k++;
        if (k == WORDS)
            return false;
        *flags |= words[k].flag;
    }
    return true;
}

bool ptx_decode_half(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    unsigned sources = 0, flags;
    int op = find_half(statement->mnemonic, &sources);
    enum ptx_type type = ptx_type_of(statement->modifiers[statement->modifier_count - 1]);
    uint16_t s[3] = {0};

    if (op < 0 || !ptx_narrow_of(type) || !read_flags(statement, &flags))
        return false;
    if (!ptx_want(builder, statement, sources + 1))
        return true;
    for (unsigned i = 0; i < sources; i++)
        s[i] = ptx_source_at(builder, statement, i + 1, type);
    ptx_emit(builder, PTX_OP_half, ptx_destination_at(builder, statement, 0), s[0], s[1], s[2])
        ->imm = PTX_HALF(op, ptx_narrow_of(type), flags);
    return true;
}
