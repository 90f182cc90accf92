/* decode_flow.c: branches, calls, and everything in which threads meet. */
#include "statement.h"

/* ---- branches ---- */

static bool is_name(const struct ptx_statement *statement, unsigned index)
{
    return index < statement->count && statement->operands[index].form == PTX_PLAIN &&
           statement->operands[index].items[0].kind == PTX_ATOM_NAME;
}

bool ptx_decode_bra(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    if (!ptx_want(builder, statement, 1) || !is_name(statement, 0))
        return false;
    ptx_emit_jump(builder, PTX_OP_jump, 0, statement->operands[0].items[0].text);
    return true;
}

/* A row of jumps behind the instruction that picks one of them. */
bool ptx_decode_brx(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_name *name;
    const struct ptx_targets *targets;
    uint16_t index, slot;

    if (!ptx_want(builder, statement, 2) || !is_name(statement, 1))
        return false;
    name = ptx_find_name(builder, statement->operands[1].items[0].text, &slot);
    if (!name || name->kind != PTX_NAME_TARGETS)
        return false;
    targets = &builder->targets[name->value];
    index = ptx_source_at(builder, statement, 0, PTX_u32);
    ptx_emit(builder, PTX_OP_jump_table, 0, index, 0, 0)->imm = (int32_t)targets->count;
    for (unsigned i = 0; i < targets->count; i++)
        ptx_emit_jump(builder, PTX_OP_jump, 0, targets->labels[i]);
    return true;
}

bool ptx_decode_ret(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool leave = ptx_text_is(statement->mnemonic, "ret");

    ptx_emit(builder, leave ? PTX_OP_return : PTX_OP_exit, 0, 0, 0, 0);
    return true;
}

bool ptx_decode_trap(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    ptx_emit(builder, PTX_OP_trap, 0, 0, 0, 0);
    return true;
}

/* ---- calls ---- */

/* Where the operands of a list are in local memory; false when one is no .param variable. */
static bool find_places(struct ptx_builder *builder, const struct ptx_operand *list,
                        struct ptx_param **out, unsigned *count)
{
    struct ptx_param *places;

    *count = list ? list->count : 0;
    *out = places = ptx_take(&builder->module->arena, *count * sizeof(*places));
    if (!places)
        return false;
    for (unsigned i = 0; i < *count; i++) {
        uint16_t slot;
        const struct ptx_name *name = ptx_find_name(builder, list->items[i].text, &slot);

        if (!name || name->kind != PTX_NAME_LOCAL)
            return false;
        places[i] = (struct ptx_param){name->value, name->size};
    }
    return true;
}

static bool fit(const struct ptx_param *places, unsigned count, const struct ptx_param *params,
                unsigned param_count)
{
    if (count != param_count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (places[i].size < params[i].size)
            return false;
    }
    return true;
}

static bool fits(const struct ptx_call *call)
{
    const struct ptx_function *callee = call->callee;

    return !callee->entry &&
           fit(call->arguments, call->argument_count, callee->params, callee->param_count) &&
           fit(call->results, call->result_count, callee->results, callee->result_count);
}

static void emit_call(struct ptx_builder *builder, const struct ptx_call *call, uint16_t address)
{
    struct ptx_code *code = &builder->function->code;
    struct ptx_call *calls = ptx_grow(&builder->module->arena, code->calls, code->call_count,
                                      &builder->call_room, sizeof(*calls));

    if (!calls) {
        ptx_error(builder->lexer, "out of memory");
        return;
    }
    code->calls = calls;
    calls[code->call_count] = *call;
    code->indirect |= !call->callee;
    ptx_emit(builder, PTX_OP_call, 0, address, 0, 0)->imm = (int32_t)code->call_count++;
}

/* call [(results),] name [, (arguments)], or a register with an address in place of the name and
 * behind the arguments a prototype or a list of targets, of which the call itself says enough. */
bool ptx_decode_call(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *operands = statement->operands;
    unsigned name = statement->count && operands[0].form == PTX_LIST ? 1 : 0;
    bool given = statement->count > name + 1 && operands[name + 1].form == PTX_LIST;
    struct ptx_call call = {0};
    uint16_t address = 0;

    if (!is_name(statement, name) ||
        !find_places(builder, given ? &operands[name + 1] : NULL, &call.arguments,
                     &call.argument_count) ||
        !find_places(builder, name ? &operands[0] : NULL, &call.results, &call.result_count))
        return false;
    call.callee = ptx_find_function(builder->module, operands[name].items[0].text);
    if (call.callee && (statement->count > name + 1u + given || !fits(&call)))
        return false;
    if (!call.callee)
        address = ptx_source(builder, &operands[name].items[0], PTX_b64);
    call.note = ptx_note(builder, operands[name].items[0].text);
    emit_call(builder, &call, address);
    return true;
}

/* ---- barriers ---- */

/* Without .sync there is no mask: slot 0. */
static void emit_warp(struct ptx_builder *builder, enum ptx_op op, uint16_t d, uint16_t a,
                      uint16_t b, uint16_t c, uint16_t e, uint16_t mask)
{
    struct ptx_insn *insn = ptx_emit(builder, op, d, a, b, c);

    insn->e = e;
    insn->imm = mask;
    builder->function->code.together = true;
}

static bool reduce_barrier(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool counted = statement->count == 4;
    enum ptx_op op = ptx_has_modifier(statement, "popc")  ? PTX_OP_bar_popc
                     : ptx_has_modifier(statement, "and") ? PTX_OP_bar_and
                                                          : PTX_OP_bar_or;
    uint16_t a, b = 0, c, d;

    if (!counted && !ptx_want(builder, statement, 3))
        return true;
    a = ptx_source_at(builder, statement, 1, PTX_u32);
    if (counted)
        b = ptx_source_at(builder, statement, 2, PTX_u32);
    c = ptx_source_at(builder, statement, counted ? 3 : 2, PTX_pred);
    d = ptx_destination_at(builder, statement, 0);
    ptx_emit(builder, op, d, a, b, c);
    return true;
}

static bool cluster_barrier(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool wait = ptx_has_modifier(statement, "wait");

    builder->function->code.together = true;
    ptx_emit(builder, wait ? PTX_OP_cluster_wait : PTX_OP_cluster_arrive, 0, 0, 0, 0);
    return true;
}

bool ptx_decode_bar(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool arrive = ptx_has_modifier(statement, "arrive");
    uint16_t a, b = 0;

    if (ptx_has_modifier(statement, "cluster"))
        return cluster_barrier(builder, statement);
    if (ptx_has_modifier(statement, "warp")) {
        emit_warp(builder, PTX_OP_warp_sync, 0, 0, 0, 0, 0,
                  ptx_source_at(builder, statement, 0, PTX_b32));
        return true;
    }
    builder->function->code.together = true;
    if (ptx_has_modifier(statement, "red"))
        return reduce_barrier(builder, statement);
    if (!arrive && !ptx_has_modifier(statement, "sync"))
        return false;
    a = ptx_source_at(builder, statement, 0, PTX_u32);
    if (statement->count > 1)
        b = ptx_source_at(builder, statement, 1, PTX_u32);
    ptx_emit(builder, arrive ? PTX_OP_bar_arrive : PTX_OP_bar_sync, 0, a, b, 0);
    return true;
}

/* ---- warps ---- */

struct choice {
    const char *name;
    enum ptx_op op;
};

static int choose(const struct ptx_statement *statement, const struct choice *choices,
                  unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (ptx_has_modifier(statement, choices[i].name))
            return (int)choices[i].op;
    }
    return -1;
}

bool ptx_decode_shfl(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    static const struct choice modes[] = {{"up", PTX_OP_shfl_up},
                                          {"down", PTX_OP_shfl_down},
                                          {"bfly", PTX_OP_shfl_bfly},
                                          {"idx", PTX_OP_shfl_idx}};
    const struct ptx_operand *to = &statement->operands[0];
    bool sync = ptx_has_modifier(statement, "sync");
    int op = choose(statement, modes, 4);
    uint16_t s[4] = {0}, d, e;

    if (op < 0)
        return false;
    if (!ptx_want(builder, statement, 4 + sync))
        return true;
    for (unsigned i = 0; i < 3u + sync; i++)
        s[i] = ptx_source_at(builder, statement, i + 1, PTX_b32);
    d = ptx_destination(builder, &to->items[0]);
    e = to->form == PTX_PAIR ? ptx_destination(builder, &to->items[1]) : ptx_new_slots(builder, 1);
    emit_warp(builder, (enum ptx_op)op, d, s[0], s[1], s[2], e, s[3]);
    return true;
}

bool ptx_decode_vote(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    static const struct choice modes[] = {{"all", PTX_OP_vote_all},
                                          {"any", PTX_OP_vote_any},
                                          {"uni", PTX_OP_vote_uni},
                                          {"ballot", PTX_OP_vote_ballot}};
    bool sync = ptx_has_modifier(statement, "sync");
    int op = choose(statement, modes, 4);
    uint16_t a, mask = 0;

    if (op < 0)
        return false;
    if (!ptx_want(builder, statement, 2 + sync))
        return true;
    a = ptx_source_at(builder, statement, 1, PTX_pred);
    if (sync)
        mask = ptx_source_at(builder, statement, 2, PTX_b32);
    emit_warp(builder, (enum ptx_op)op, ptx_destination_at(builder, statement, 0), a, 0, 0, 0,
              mask);
    return true;
}

bool ptx_decode_match(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    static const enum ptx_op ops[2][2] = {{PTX_OP_match_any_32, PTX_OP_match_any_64},
                                          {PTX_OP_match_all_32, PTX_OP_match_all_64}};
    const struct ptx_operand *to = &statement->operands[0];
    bool all = ptx_has_modifier(statement, "all"), wide = statement->type == PTX_b64;
    uint16_t a, mask, d, e;

    if (!ptx_want(builder, statement, 3))
        return true;
    a = ptx_source_at(builder, statement, 1, statement->type);
    mask = ptx_source_at(builder, statement, 2, PTX_b32);
    d = ptx_destination(builder, &to->items[0]);
    e = to->form == PTX_PAIR ? ptx_destination(builder, &to->items[1]) : ptx_new_slots(builder, 1);
    emit_warp(builder, ops[all][wide], d, a, 0, 0, e, mask);
    return true;
}

bool ptx_decode_redux(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    bool sign = statement->type == PTX_s32;
    const struct choice modes[] = {{"add", PTX_OP_redux_add},
                                   {"min", sign ? PTX_OP_redux_min_s32 : PTX_OP_redux_min_u32},
                                   {"max", sign ? PTX_OP_redux_max_s32 : PTX_OP_redux_max_u32},
                                   {"and", PTX_OP_redux_and},
                                   {"or", PTX_OP_redux_or},
                                   {"xor", PTX_OP_redux_xor}};
    int op = choose(statement, modes, sizeof(modes) / sizeof(*modes));
    uint16_t a, mask;

    if (op < 0 || ptx_types[statement->type].kind == 'f')
        return false;
    if (!ptx_want(builder, statement, 3))
        return true;
    a = ptx_source_at(builder, statement, 1, statement->type);
    mask = ptx_source_at(builder, statement, 2, PTX_b32);
    emit_warp(builder, (enum ptx_op)op, ptx_destination_at(builder, statement, 0), a, 0, 0, 0,
              mask);
    return true;
}

/* The lane with the lowest number is elected. */
bool ptx_decode_elect(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_operand *to = &statement->operands[0];
    uint16_t mask, leader, lane;

    if (!ptx_want(builder, statement, 2))
        return true;
    if (to->form != PTX_PAIR)
        return false;
    mask = ptx_source_at(builder, statement, 1, PTX_b32);
    leader = ptx_new_slots(builder, 1);
    lane = ptx_fill_slot(builder, PTX_FILL_LANEID, 0, 0);
    emit_warp(builder, PTX_OP_warp_sync, 0, 0, 0, 0, 0, mask);
    ptx_emit(builder, PTX_OP_brev_b32, leader, mask, 0, 0);
    ptx_emit(builder, PTX_OP_clz_b32, leader, leader, 0, 0);
    ptx_emit(builder, PTX_OP_copy, ptx_destination(builder, &to->items[0]), leader, 0, 0);
    ptx_emit(builder, PTX_OP_setp_eq_b32, ptx_destination(builder, &to->items[1]), leader, lane, 0);
    return true;
}

/* The threads that have come here together, as far as their turns have taken them. */
bool ptx_decode_activemask(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    if (!ptx_want(builder, statement, 1))
        return true;
    emit_warp(builder, PTX_OP_active_mask, ptx_destination_at(builder, statement, 0), 0, 0, 0, 0,
              0);
    return true;
}

/* ---- the rest ---- */

bool ptx_decode_fence(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    ptx_emit(builder, PTX_OP_fence, 0, 0, 0, 0);
    return true;
}

bool ptx_decode_nanosleep(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    builder->function->code.together = true;
    ptx_emit(builder, PTX_OP_pause, 0, 0, 0, 0);
    return true;
}

/* Prefetches have no effect a kernel can see. */
bool ptx_decode_hint(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    return true;
}
