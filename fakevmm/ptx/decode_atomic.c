/* decode_atomic.c: atom and red. */
#include "decode_memory.h"

static int find_atomic(struct ptx_text name, enum ptx_type type)
{
    static const struct {
        const char *name;
        enum ptx_type type;
        enum ptx_atomic atomic;
    } atomics[] = {
#define X(operation, type) {#operation, PTX_##type, PTX_ATOMIC_##operation##_##type},
        PTX_ATOMICS(X)
#undef X
    };
    const struct ptx_type_info *info = &ptx_types[type];
    bool integer = info->kind == 'b' || info->kind == 'u' || info->kind == 's';

    for (unsigned i = 0; i < sizeof(atomics) / sizeof(*atomics); i++) {
        const struct ptx_type_info *own = &ptx_types[atomics[i].type];

        if (ptx_text_is(name, atomics[i].name) &&
            (atomics[i].type == type || (integer && own->kind == 'b' && own->bytes == info->bytes)))
            return atomics[i].atomic;
    }
    return -1;
}

static int atomic_of(const struct ptx_statement *statement)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        int atomic = find_atomic(statement->modifiers[i], statement->type);
        if (atomic >= 0)
            return atomic;
    }
    return -1;
}

static enum ptx_op instruction(enum ptx_atomic atomic, unsigned bytes)
{
    if (atomic == PTX_ATOMIC_add_f32)
        return PTX_OP_atomic_add_f32;
    return bytes == 2 ? PTX_OP_atomic_16 : bytes == 4 ? PTX_OP_atomic_32 : PTX_OP_atomic_64;
}

void ptx_emit_atomic(struct ptx_builder *builder, enum ptx_atomic atomic, enum ptx_type type,
                     const struct ptx_address *address, const uint16_t dbc[3])
{
    uint16_t a = ptx_generic_address(builder, address), site = ptx_new_site(builder, true);
    struct ptx_insn *insn =
        ptx_emit(builder, instruction(atomic, ptx_types[type].bytes), dbc[0], a, dbc[1], dbc[2]);

    insn->imm = atomic;
    insn->e = site;
}

/* Element by element: PTX promises no more for a vector. */
static void emit_vector(struct ptx_builder *builder, const struct ptx_statement *statement,
                        enum ptx_atomic atomic, const struct ptx_operand *to,
                        struct ptx_address address, const struct ptx_operand *from)
{
    enum ptx_type type = statement->type;
    uint16_t old = ptx_new_slots(builder, from->count);

    ptx_emit_check(builder, &address, ptx_types[type].bytes * from->count);
    for (unsigned i = 0; i < from->count; i++) {
        uint16_t b = ptx_source(builder, &from->items[i], type);
        ptx_emit_atomic(builder, atomic, type, &address, (uint16_t[3]){(uint16_t)(old + i), b, 0});
        address.offset += (int32_t)ptx_types[type].bytes;
    }
    for (unsigned i = 0; to && i < to->count; i++)
        ptx_emit(builder, PTX_OP_copy, ptx_destination(builder, &to->items[i]), old + i, 0, 0);
}

bool ptx_decode_atom(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool result = ptx_text_is(statement->mnemonic, "atom"),
         cas = ptx_has_modifier(statement, "cas");
    const struct ptx_operand *operands = statement->operands;
    unsigned first = result ? 2 : 1;
    int atomic = atomic_of(statement);
    struct ptx_address address;
    uint16_t dbc[3] = {0};

    if (statement->type == PTX_b128)
        return ptx_wide_atom(builder, statement);
    if (atomic < 0 || ptx_is_other_form(statement) ||
        ptx_operands_without_hint(statement) != first + 1 + cas ||
        !ptx_find_address(builder, statement, first - 1, &address))
        return false;
    builder->function->code.together |= result; /* a thread may wait for what it answers */
    if (operands[first].form == PTX_VECTOR) {
        if (operands[first].count > PTX_ELEMENTS ||
            (result && operands[0].count != operands[first].count))
            return false;
        emit_vector(builder, statement, (enum ptx_atomic)atomic, result ? &operands[0] : NULL,
                    address, &operands[first]);
        return true;
    }
    dbc[1] = ptx_source_at(builder, statement, first, statement->type);
    if (cas)
        dbc[2] = ptx_source_at(builder, statement, first + 1, statement->type);
    dbc[0] = result ? ptx_destination_at(builder, statement, 0) : ptx_new_slots(builder, 1);
    ptx_emit_atomic(builder, (enum ptx_atomic)atomic, statement->type, &address, dbc);
    return true;
}
