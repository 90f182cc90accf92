/* decode_memory.c: loads, stores and addresses. */
#include "decode_memory.h"

/* The instructions of one space: loads by width, unsigned then signed; stores by width. */
struct access_ops {
    uint16_t load[4][2], store[4], check;
};

static const struct access_ops accesses[] = {
#define ROW(name)                                                                                  \
    {                                                                                              \
        {{PTX_OP_load_##name##_u8, PTX_OP_load_##name##_s8},                                       \
         {PTX_OP_load_##name##_u16, PTX_OP_load_##name##_s16},                                     \
         {PTX_OP_load_##name##_u32, PTX_OP_load_##name##_s32},                                     \
         {PTX_OP_load_##name##_b64, PTX_OP_load_##name##_b64}},                                    \
            {PTX_OP_store_##name##_b8, PTX_OP_store_##name##_b16, PTX_OP_store_##name##_b32,       \
             PTX_OP_store_##name##_b64},                                                           \
            PTX_OP_check_##name                                                                    \
    }
    [PTX_IN_GLOBAL] = ROW(global), [PTX_IN_SHARED] = ROW(shared),   [PTX_IN_LOCAL] = ROW(local),
    [PTX_IN_PARAM] = ROW(param),   [PTX_IN_GENERIC] = ROW(generic), [PTX_IN_CLUSTER] = ROW(cluster),
#undef ROW
};

static enum ptx_in named_space(struct ptx_text text)
{
    static const struct {
        const char *name;
        enum ptx_in space;
    } names[] = {{"global", PTX_IN_GLOBAL},      {"const", PTX_IN_GLOBAL},
                 {"shared", PTX_IN_SHARED},      {"local", PTX_IN_LOCAL},
                 {"shared::cta", PTX_IN_SHARED}, {"shared::cluster", PTX_IN_CLUSTER},
                 {"param", PTX_IN_PARAM},        {"param::entry", PTX_IN_PARAM},
                 {"param::func", PTX_IN_PARAM}};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (ptx_text_is(text, names[i].name))
            return names[i].space;
    }
    return PTX_IN_NO_SPACE;
}

enum ptx_in ptx_space_of(const struct ptx_statement *statement)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        enum ptx_in space = named_space(statement->modifiers[i]);
        if (space != PTX_IN_NO_SPACE)
            return space;
    }
    return PTX_IN_GENERIC;
}

bool ptx_is_other_form(const struct ptx_statement *statement)
{
    static const char *const words[] = {"async", "bulk", "multimem"};

    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (ptx_has_modifier(statement, words[i]))
            return true;
    }
    return false;
}

unsigned ptx_operands_without_hint(const struct ptx_statement *statement)
{
    return statement->count - (statement->count && ptx_has_modifier(statement, "L2::cache_hint"));
}

/* ---- addresses ---- */

/* .param means the kernel's parameters or, for those of calls, the function's local memory. */
static enum ptx_in param_space(struct ptx_builder *builder, const struct ptx_atom *atom)
{
    uint16_t slot;
    const struct ptx_name *name = ptx_find_name(builder, atom->text, &slot);

    if (name && name->kind == PTX_NAME_LOCAL)
        return PTX_IN_LOCAL;
    return builder->function->entry ? PTX_IN_PARAM : PTX_IN_LOCAL;
}

bool ptx_find_address(struct ptx_builder *builder, const struct ptx_statement *statement,
                      unsigned index, struct ptx_address *out)
{
    const struct ptx_operand *operand = &statement->operands[index];
    const struct ptx_atom *atom = &operand->items[0];
    enum ptx_type type;

    if (index >= statement->count || operand->form != PTX_ADDRESS || operand->count != 1)
        return false;
    type = ptx_atom_type(builder, atom);
    out->space = ptx_space_of(statement);
    if (out->space == PTX_IN_PARAM)
        out->space = param_space(builder, atom);
    out->slot = ptx_source(builder, atom, PTX_b64);
    out->offset = type == PTX_NO_TYPE ? 0 : (int32_t)atom->offset;
    if (type != PTX_NO_TYPE && out->offset != atom->offset)
        return false;
    if (ptx_types[type].bytes == 4 &&
        (out->space == PTX_IN_GLOBAL || out->space == PTX_IN_GENERIC)) {
        uint16_t wide = ptx_new_slots(builder, 1);
        ptx_emit(builder, PTX_OP_extend_u32, wide, out->slot, 0, 0);
        out->slot = wide;
    }
    return true;
}

/* ---- loads and stores ---- */

static unsigned width_index(enum ptx_type type)
{
    unsigned bytes = ptx_types[type].bytes;

    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static void emit_access(struct ptx_builder *builder, unsigned op, uint16_t d, uint16_t b,
                        const struct ptx_address *address, unsigned skip, uint16_t site)
{
    struct ptx_insn *insn = ptx_emit(builder, (enum ptx_op)op, d, address->slot, b, 0);

    insn->imm = address->offset + (int32_t)skip;
    insn->e = site;
}

void ptx_emit_check(struct ptx_builder *builder, const struct ptx_address *address, unsigned bytes)
{
    emit_access(builder, accesses[address->space].check, 0, ptx_constant_slot(builder, bytes),
                address, 0, 0);
}

void ptx_emit_load(struct ptx_builder *builder, enum ptx_type type, uint16_t d,
                   const struct ptx_address *address, unsigned skip, uint16_t site)
{
    emit_access(builder,
                accesses[address->space].load[width_index(type)][ptx_types[type].kind == 's'], d, 0,
                address, skip, site);
}

void ptx_emit_store(struct ptx_builder *builder, enum ptx_type type, uint16_t b,
                    const struct ptx_address *address, unsigned skip, uint16_t site)
{
    emit_access(builder, accesses[address->space].store[width_index(type)], 0, b, address, skip,
                site);
}

/* An address register that a vector load overwrites is copied first. */
static void protect_address(struct ptx_builder *builder, struct ptx_address *address,
                            const uint16_t *targets, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (targets[i] == address->slot) {
            uint16_t copy = ptx_new_slots(builder, 1);
            ptx_emit(builder, PTX_OP_copy, copy, address->slot, 0, 0);
            address->slot = copy;
            return;
        }
    }
}

static bool is_volatile(const struct ptx_statement *statement)
{
    return ptx_has_modifier(statement, "volatile") || ptx_has_modifier(statement, "relaxed") ||
           ptx_has_modifier(statement, "acquire") || ptx_has_modifier(statement, "mmio");
}

bool ptx_decode_ld(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *to = &statement->operands[0];
    enum ptx_type type = statement->type;
    unsigned bytes = ptx_types[type].bytes;
    uint16_t targets[PTX_ELEMENTS], site;
    struct ptx_address address;

    if (type == PTX_b128)
        return ptx_wide_ld(builder, statement);
    if (ptx_is_other_form(statement) || ptx_operands_without_hint(statement) != 2 ||
        to->count > PTX_ELEMENTS || !bytes || type == PTX_pred ||
        !ptx_find_address(builder, statement, 1, &address))
        return false;
    for (unsigned i = 0; i < to->count; i++)
        targets[i] = ptx_destination(builder, &to->items[i]);
    if (to->form == PTX_VECTOR) {
        protect_address(builder, &address, targets, to->count);
        ptx_emit_check(builder, &address, bytes * to->count);
    }
    site = ptx_new_site(builder, false);
    for (unsigned i = 0; i < to->count; i++)
        ptx_emit_load(builder, type, targets[i], &address, i * bytes, site);
    if (ptx_has_modifier(statement, "acquire"))
        ptx_emit(builder, PTX_OP_fence, 0, 0, 0, 0);
    builder->function->code.together |= is_volatile(statement);
    return true;
}

bool ptx_decode_st(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *from = &statement->operands[1];
    enum ptx_type type = statement->type;
    unsigned bytes = ptx_types[type].bytes;
    struct ptx_address address;
    uint16_t site;

    if (type == PTX_b128)
        return ptx_wide_st(builder, statement);
    if (ptx_is_other_form(statement) || ptx_operands_without_hint(statement) != 2 ||
        from->count > PTX_ELEMENTS || !bytes || type == PTX_pred ||
        !ptx_find_address(builder, statement, 0, &address) || address.space == PTX_IN_PARAM)
        return false;
    if (ptx_has_modifier(statement, "release"))
        ptx_emit(builder, PTX_OP_fence, 0, 0, 0, 0);
    if (from->form == PTX_VECTOR)
        ptx_emit_check(builder, &address, bytes * from->count);
    site = ptx_new_site(builder, true);
    for (unsigned i = 0; i < from->count; i++) {
        uint16_t value = ptx_source(builder, &from->items[i], type);
        ptx_emit_store(builder, type, value, &address, i * bytes, site);
    }
    return true;
}

/* ---- address conversions ---- */

static int window_of(enum ptx_in space)
{
    switch (space) {
    case PTX_IN_SHARED:
    case PTX_IN_CLUSTER: return PTX_SHARED_WINDOW >> PTX_WINDOW_SHIFT;
    case PTX_IN_LOCAL: return PTX_LOCAL_WINDOW >> PTX_WINDOW_SHIFT;
    case PTX_IN_PARAM: return PTX_PARAM_WINDOW >> PTX_WINDOW_SHIFT;
    default: return 0;
    }
}

uint16_t ptx_generic_address(struct ptx_builder *builder, const struct ptx_address *address)
{
    uint16_t slot = ptx_new_slots(builder, 1);
    int window = window_of(address->space);

    ptx_emit(builder, PTX_OP_address, slot, address->slot, 0, 0)->imm = address->offset;
    if (window)
        ptx_emit(builder, PTX_OP_to_generic, slot, slot, 0, 0)->imm = window;
    return slot;
}

bool ptx_decode_cvta(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    int window = window_of(ptx_space_of(statement));
    uint16_t a, d;

    if (!ptx_want(builder, statement, 2))
        return true;
    if (ptx_space_of(statement) == PTX_IN_GENERIC)
        return false;
    a = ptx_source_at(builder, statement, 1, PTX_b64);
    d = ptx_destination_at(builder, statement, 0);
    if (!window)
        ptx_emit(builder, PTX_OP_copy, d, a, 0, 0);
    else if (ptx_has_modifier(statement, "to"))
        ptx_emit(builder, PTX_OP_from_generic, d, a, 0, 0);
    else
        ptx_emit(builder, PTX_OP_to_generic, d, a, 0, 0)->imm = window;
    return true;
}

bool ptx_decode_isspacep(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint16_t a;

    if (!ptx_want(builder, statement, 2))
        return true;
    if (ptx_space_of(statement) == PTX_IN_GENERIC || ptx_has_modifier(statement, "const"))
        return false;
    a = ptx_source_at(builder, statement, 1, PTX_b64);
    ptx_emit(builder,
             ptx_space_of(statement) == PTX_IN_SHARED ? PTX_OP_in_own_shared : PTX_OP_in_window,
             ptx_destination_at(builder, statement, 0), a, 0, 0)
        ->imm = window_of(ptx_space_of(statement));
    return true;
}
