/* decode_memory.c: loads, stores, atomics and addresses. */
#include "statement.h"

enum space { GLOBAL, SHARED, LOCAL, PARAM, GENERIC, NO_SPACE };

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
    [GLOBAL] = ROW(global), [SHARED] = ROW(shared),   [LOCAL] = ROW(local),
    [PARAM] = ROW(param),   [GENERIC] = ROW(generic),
#undef ROW
};

static enum space named_space(struct ptx_text text)
{
    static const struct {
        const char *name;
        enum space space;
    } names[] = {{"global", GLOBAL},      {"const", GLOBAL},       {"shared", SHARED},
                 {"local", LOCAL},        {"shared::cta", SHARED}, {"param", PARAM},
                 {"param::entry", PARAM}, {"param::func", PARAM}};

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (ptx_text_is(text, names[i].name))
            return names[i].space;
    }
    return NO_SPACE;
}

static enum space space_of(const struct ptx_statement *statement)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        enum space space = named_space(statement->modifiers[i]);
        if (space != NO_SPACE)
            return space;
    }
    return GENERIC;
}

/* Forms of ld, st, atom and red that are instructions of their own. */
static bool is_other_form(const struct ptx_statement *statement)
{
    static const char *const words[] = {"async",          "bulk", "shared::cluster",
                                        "L2::cache_hint", "v8",   "mmio"};

    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (ptx_has_modifier(statement, words[i]))
            return true;
    }
    return false;
}

/* ---- addresses ---- */

struct address {
    enum space space;
    uint16_t slot;
    int32_t offset;
};

/* .param means the kernel's parameters or, for those of calls, the function's local memory. */
static enum space param_space(struct ptx_builder *builder, const struct ptx_atom *atom)
{
    uint16_t slot;
    const struct ptx_name *name = ptx_find_name(builder, atom->text, &slot);

    if (name && name->kind == PTX_NAME_LOCAL)
        return LOCAL;
    return builder->function->entry ? PARAM : LOCAL;
}

static bool find_address(struct ptx_builder *builder, const struct ptx_statement *statement,
                         unsigned index, struct address *out)
{
    const struct ptx_operand *operand = &statement->operands[index];
    const struct ptx_atom *atom = &operand->items[0];
    enum ptx_type type;

    if (index >= statement->count || operand->form != PTX_ADDRESS || operand->count != 1)
        return false;
    type = ptx_atom_type(builder, atom);
    out->space = space_of(statement);
    if (out->space == PARAM)
        out->space = param_space(builder, atom);
    out->slot = ptx_source(builder, atom, PTX_b64);
    out->offset = type == PTX_NO_TYPE ? 0 : (int32_t)atom->offset;
    if (type != PTX_NO_TYPE && out->offset != atom->offset)
        return false;
    if (ptx_types[type].bytes == 4 && (out->space == GLOBAL || out->space == GENERIC)) {
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
                        const struct address *address, unsigned skip, uint16_t site)
{
    struct ptx_insn *insn = ptx_emit(builder, (enum ptx_op)op, d, address->slot, b, 0);

    insn->imm = address->offset + (int32_t)skip;
    insn->e = site;
}

/* A vector must be aligned as a whole. */
static void emit_check(struct ptx_builder *builder, const struct address *address, unsigned bytes)
{
    emit_access(builder, accesses[address->space].check, 0, ptx_constant_slot(builder, bytes),
                address, 0, 0);
}

/* An address register that a vector load overwrites is copied first. */
static void protect_address(struct ptx_builder *builder, struct address *address,
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
           ptx_has_modifier(statement, "acquire");
}

bool ptx_decode_ld(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *to = &statement->operands[0];
    enum ptx_type type = statement->type;
    unsigned bytes = ptx_types[type].bytes, load;
    uint16_t targets[PTX_ELEMENTS], site;
    struct address address;

    if (is_other_form(statement) || statement->count != 2 || to->count > PTX_ELEMENTS || !bytes ||
        type == PTX_pred || !find_address(builder, statement, 1, &address))
        return false;
    for (unsigned i = 0; i < to->count; i++)
        targets[i] = ptx_destination(builder, &to->items[i]);
    if (to->form == PTX_VECTOR) {
        protect_address(builder, &address, targets, to->count);
        emit_check(builder, &address, bytes * to->count);
    }
    load = accesses[address.space].load[width_index(type)][ptx_types[type].kind == 's'];
    site = ptx_new_site(builder, false);
    for (unsigned i = 0; i < to->count; i++)
        emit_access(builder, load, targets[i], 0, &address, i * bytes, site);
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
    struct address address;
    uint16_t site;

    if (is_other_form(statement) || statement->count != 2 || from->count > PTX_ELEMENTS || !bytes ||
        type == PTX_pred || !find_address(builder, statement, 0, &address) ||
        address.space == PARAM)
        return false;
    if (ptx_has_modifier(statement, "release"))
        ptx_emit(builder, PTX_OP_fence, 0, 0, 0, 0);
    if (from->form == PTX_VECTOR)
        emit_check(builder, &address, bytes * from->count);
    site = ptx_new_site(builder, true);
    for (unsigned i = 0; i < from->count; i++) {
        uint16_t value = ptx_source(builder, &from->items[i], type);
        emit_access(builder, accesses[address.space].store[width_index(type)], 0, value, &address,
                    i * bytes, site);
    }
    return true;
}

/* ---- atomics ---- */

static int find_atomic(struct ptx_text name, enum ptx_type type)
{
    static const struct {
        const char *name;
        unsigned length;
        const char *type;
        enum ptx_atomic atomic;
    } atomics[] = {
#define X(row) {#row, sizeof(#row) - 5, #row + sizeof(#row) - 4, PTX_ATOMIC_##row},
        PTX_ATOMICS(X)
#undef X
    };
    const struct ptx_type_info *info = &ptx_types[type];

    for (unsigned i = 0; i < sizeof(atomics) / sizeof(*atomics); i++) {
        struct ptx_text own = {atomics[i].name, atomics[i].length};
        struct ptx_text row = {atomics[i].type, 3}, wanted = {info->name, 3};

        if (!ptx_text_same(own, name) || info->bytes < 4)
            continue;
        if (ptx_text_same(row, wanted) || (row.at[0] == 'b' && info->kind != 'f' &&
                                           info->kind != 'v' && row.at[1] == info->name[1]))
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

/* The generic address of an atomic, its offset added. */
static uint16_t atomic_address(struct ptx_builder *builder, const struct address *address)
{
    uint16_t slot = ptx_new_slots(builder, 1);

    ptx_emit(builder, PTX_OP_address, slot, address->slot, 0, 0)->imm = address->offset;
    if (address->space == SHARED)
        ptx_emit(builder, PTX_OP_to_generic, slot, slot, 0, 0)->imm =
            PTX_SHARED_WINDOW >> PTX_WINDOW_SHIFT;
    return slot;
}

bool ptx_decode_atom(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool result = ptx_text_is(statement->mnemonic, "atom");
    enum ptx_type type = statement->type;
    unsigned first = result ? 2 : 1, wide = ptx_types[type].bytes == 8;
    int atomic = atomic_of(statement);
    bool cas = atomic == PTX_ATOMIC_cas_b32 || atomic == PTX_ATOMIC_cas_b64;
    struct address address;
    struct ptx_insn *insn;
    uint16_t a, b, c = 0, d = 0, site;

    if (atomic < 0 || is_other_form(statement))
        return false;
    if (!ptx_want(builder, statement, first + 1 + cas))
        return true;
    if (!find_address(builder, statement, first - 1, &address))
        return false;
    a = atomic_address(builder, &address);
    b = ptx_source_at(builder, statement, first, type);
    if (cas)
        c = ptx_source_at(builder, statement, first + 1, type);
    d = result ? ptx_destination_at(builder, statement, 0) : ptx_new_slots(builder, 1);
    site = ptx_new_site(builder, true);
    insn = ptx_emit(builder, wide ? PTX_OP_atomic_64 : PTX_OP_atomic_32, d, a, b, c);
    insn->imm = atomic;
    insn->e = site;
    builder->function->code.together |=
        cas || atomic == PTX_ATOMIC_exch_b32 || atomic == PTX_ATOMIC_exch_b64;
    return true;
}

/* ---- address conversions ---- */

static int window_of(enum space space)
{
    switch (space) {
    case SHARED: return PTX_SHARED_WINDOW >> PTX_WINDOW_SHIFT;
    case LOCAL: return PTX_LOCAL_WINDOW >> PTX_WINDOW_SHIFT;
    case PARAM: return PTX_PARAM_WINDOW >> PTX_WINDOW_SHIFT;
    default: return 0;
    }
}

bool ptx_decode_cvta(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    int window = window_of(space_of(statement));
    uint16_t a, d;

    if (!ptx_want(builder, statement, 2))
        return true;
    if (space_of(statement) == GENERIC)
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
    if (space_of(statement) == GENERIC || ptx_has_modifier(statement, "const"))
        return false;
    a = ptx_source_at(builder, statement, 1, PTX_b64);
    ptx_emit(builder, PTX_OP_in_window, ptx_destination_at(builder, statement, 0), a, 0, 0)->imm =
        window_of(space_of(statement));
    return true;
}
