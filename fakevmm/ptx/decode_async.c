/* decode_async.c: copies beside the threads, and the barriers in memory that wait for them. Here a
 * copy is done when it is issued, which PTX allows. */
#include "decode_memory.h"
#include "mbarrier.h"

/* ---- cp.async ---- */

struct copy {
    struct ptx_address to, from;
    uint16_t load, store; /* sites */
    unsigned bytes;
};

/* Piece by piece; 16 bytes are two. */
static void copy_all(struct ptx_builder *builder, const struct copy *copy)
{
    enum ptx_type type = copy->bytes == 4 ? PTX_b32 : PTX_b64;
    unsigned piece = ptx_types[type].bytes;
    uint16_t value = ptx_new_slots(builder, 1);

    for (unsigned at = 0; at < copy->bytes; at += piece) {
        ptx_emit_load(builder, type, value, &copy->from, at, copy->load);
        ptx_emit_store(builder, type, value, &copy->to, at, copy->store);
    }
}

/* Bytes from `given` on are zero and not read. */
static void copy_given(struct ptx_builder *builder, const struct copy *copy, uint16_t given)
{
    uint16_t value = ptx_new_slots(builder, 1), here = ptx_new_slots(builder, 1);
    uint16_t zero = ptx_constant_slot(builder, 0);

    for (unsigned at = 0; at < copy->bytes; at++) {
        ptx_emit(builder, PTX_OP_setp_gt_u32, here, given, ptx_constant_slot(builder, at), 0);
        ptx_emit(builder, PTX_OP_copy, value, zero, 0, 0);
        ptx_emit(builder, PTX_OP_jump_unless, 0, here, 0, 0)->imm = 2; /* past the load */
        ptx_emit_load(builder, PTX_u8, value, &copy->from, at, copy->load);
        ptx_emit_store(builder, PTX_b8, value, &copy->to, at, copy->store);
    }
}

/* The number of source bytes that operand 3 means: itself, or none where a predicate is true. */
static uint16_t given_bytes(struct ptx_builder *builder, const struct ptx_statement *statement,
                            unsigned bytes)
{
    uint16_t slot, chosen;

    if (ptx_atom_type(builder, &statement->operands[3].items[0]) != PTX_pred)
        return ptx_source_at(builder, statement, 3, PTX_u32);
    slot = ptx_source_at(builder, statement, 3, PTX_pred);
    chosen = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_select, chosen, ptx_constant_slot(builder, 0),
             ptx_constant_slot(builder, bytes), slot);
    return chosen;
}

/* cp.async [to], [from], bytes[, given][, policy] */
static bool copy_async(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    unsigned count = ptx_operands_without_hint(statement);
    const struct ptx_atom *size = &statement->operands[2].items[0];
    struct copy copy;

    if ((count != 3 && count != 4) || size->kind != PTX_ATOM_INT ||
        (size->bits != 4 && size->bits != 8 && size->bits != 16) ||
        !ptx_find_address(builder, statement, 0, &copy.to) ||
        !ptx_find_address(builder, statement, 1, &copy.from))
        return false;
    copy.to.space = PTX_IN_SHARED;
    copy.from.space = PTX_IN_GLOBAL;
    copy.bytes = (unsigned)size->bits;
    copy.load = ptx_new_site(builder, false);
    copy.store = ptx_new_site(builder, true);
    ptx_emit_check(builder, &copy.to, copy.bytes);
    ptx_emit_check(builder, &copy.from, copy.bytes);
    if (count == 3)
        copy_all(builder, &copy);
    else
        copy_given(builder, &copy, given_bytes(builder, statement, copy.bytes));
    return true;
}

/* An arrival when all earlier copies are done, for which .noinc says it is counted already. */
static bool arrive_after_copies(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const uint16_t one = ptx_constant_slot(builder, 1), old = ptx_new_slots(builder, 1);
    struct ptx_address address;

    if (statement->count != 1 || !ptx_find_address(builder, statement, 0, &address))
        return false;
    if (ptx_has_modifier(statement, "noinc"))
        ptx_emit_atomic(builder, PTX_ATOMIC_arrive, PTX_b64, &address, (uint16_t[3]){old, one, 0});
    return true;
}

bool ptx_decode_cp(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    if (!ptx_has_modifier(statement, "async") || ptx_has_modifier(statement, "bulk") ||
        ptx_has_modifier(statement, "reduce"))
        return false;
    if (ptx_has_modifier(statement, "mbarrier"))
        return arrive_after_copies(builder, statement);
    if (ptx_has_modifier(statement, "commit_group") || ptx_has_modifier(statement, "wait_group") ||
        ptx_has_modifier(statement, "wait_all"))
        return true;
    return copy_async(builder, statement);
}

/* ---- mbarrier ---- */

static bool initialize(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    struct ptx_address address;
    uint16_t word = ptx_new_slots(builder, 1);

    if (statement->count != 2 || !ptx_find_address(builder, statement, 0, &address))
        return false;
    ptx_emit(builder, PTX_OP_mbarrier_new, word, ptx_source_at(builder, statement, 1, PTX_u32), 0,
             0);
    ptx_emit_store(builder, PTX_b64, word, &address, 0, ptx_new_site(builder, true));
    return true;
}

/* mbarrier.operation [state,] [barrier] [, count]: the state is the word before. */
static bool change(struct ptx_builder *builder, const struct ptx_statement *statement,
                   enum ptx_atomic atomic)
{
    unsigned at = statement->count && statement->operands[0].form == PTX_PLAIN;
    bool expects = ptx_has_modifier(statement, "expect_tx"),
         arrives = atomic != PTX_ATOMIC_expect && atomic != PTX_ATOMIC_complete;
    uint16_t one = ptx_constant_slot(builder, 1), count = one, d;
    struct ptx_address address;

    if (statement->count <= at || statement->count > at + 2 ||
        !ptx_find_address(builder, statement, at, &address) ||
        (statement->count == at + 1 && (expects || !arrives)))
        return false;
    if (statement->count == at + 2)
        count = ptx_source_at(builder, statement, at + 1, PTX_u32);
    d = at ? ptx_destination_at(builder, statement, 0) : ptx_new_slots(builder, 1);
    if (expects && arrives) {
        ptx_emit_atomic(builder, PTX_ATOMIC_expect, PTX_b64, &address,
                        (uint16_t[3]){ptx_new_slots(builder, 1), count, 0});
        count = one;
    }
    ptx_emit_atomic(builder, atomic, PTX_b64, &address, (uint16_t[3]){d, count, 0});
    return true;
}

/* p, [barrier], state or parity [, time]: true when that phase is over. Others run before the next
 * look at it. */
static bool test(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool parity = ptx_has_modifier(statement, "parity");
    uint16_t word = ptx_new_slots(builder, 1), state;
    struct ptx_address address;

    if (statement->count < 3 || !ptx_find_address(builder, statement, 1, &address))
        return false;
    state = ptx_source_at(builder, statement, 2, parity ? PTX_u32 : PTX_b64);
    builder->function->code.together = true;
    ptx_emit(builder, PTX_OP_pause, 0, 0, 0, 0);
    ptx_emit_load(builder, PTX_b64, word, &address, 0, ptx_new_site(builder, false));
    ptx_emit(builder, parity ? PTX_OP_mbarrier_parity : PTX_OP_mbarrier_test,
             ptx_destination_at(builder, statement, 0), word, state, 0);
    return true;
}

bool ptx_decode_mbarrier(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    static const struct {
        const char *name;
        enum ptx_atomic atomic;
    } changes[] = {{"arrive", PTX_ATOMIC_arrive},
                   {"arrive_drop", PTX_ATOMIC_arrive_drop},
                   {"expect_tx", PTX_ATOMIC_expect},
                   {"complete_tx", PTX_ATOMIC_complete}};

    if (!statement->modifier_count)
        return false;
    for (unsigned i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        if (ptx_text_is(statement->modifiers[0], changes[i].name))
            return change(builder, statement, changes[i].atomic);
    }
    if (ptx_text_is(statement->modifiers[0], "init"))
        return initialize(builder, statement);
    if (ptx_text_is(statement->modifiers[0], "inval"))
        return true;
    if (ptx_text_is(statement->modifiers[0], "pending_count")) {
        if (ptx_want(builder, statement, 2))
            ptx_emit(builder, PTX_OP_mbarrier_missing, ptx_destination_at(builder, statement, 0),
                     ptx_source_at(builder, statement, 1, PTX_b64), 0, 0);
        return true;
    }
    return (ptx_text_is(statement->modifiers[0], "test_wait") ||
            ptx_text_is(statement->modifiers[0], "try_wait")) &&
           test(builder, statement);
}

/* ---- what has no effect here ---- */

/* A cache policy is a number nobody looks at. */
bool ptx_decode_createpolicy(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    if (statement->count)
        ptx_emit(builder, PTX_OP_copy, ptx_destination_at(builder, statement, 0),
                 ptx_constant_slot(builder, 0), 0, 0);
    return true;
}
