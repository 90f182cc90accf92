/* emit.c: appends instructions to a function and numbers its slots. */
#include "builder.h"

#include <string.h>

/* Where instructions go when memory is out, so that callers need not ask. */
static _Thread_local struct ptx_insn nowhere;

struct ptx_insn *ptx_emit(struct ptx_builder *builder, enum ptx_op op, unsigned d, unsigned a,
                          unsigned b, unsigned c)
{
    struct ptx_arena *arena = &builder->module->arena;
    struct ptx_code *code = &builder->function->code;
    struct ptx_insn *insns =
        ptx_grow(arena, code->insns, code->count, &builder->insn_room, sizeof(*insns));
    uint32_t *lines =
        ptx_grow(arena, code->lines, code->count, &builder->line_room, sizeof(*lines));

    if (!insns || !lines) {
        ptx_error(builder->lexer, "out of memory");
        return &nowhere;
    }
    code->insns = insns;
    code->lines = lines;
    lines[code->count] = builder->line;
    insns[code->count] = (struct ptx_insn){
        .op = (uint16_t)op, .d = (uint16_t)d, .a = (uint16_t)a, .b = (uint16_t)b, .c = (uint16_t)c};
    return &insns[code->count++];
}

void ptx_emit_jump(struct ptx_builder *builder, enum ptx_op op, unsigned a, struct ptx_text label)
{
    struct ptx_jump *jumps = ptx_grow(&builder->module->arena, builder->jumps, builder->jump_count,
                                      &builder->jump_room, sizeof(*jumps));
    if (!jumps) {
        ptx_error(builder->lexer, "out of memory");
        return;
    }
    builder->jumps = jumps;
    jumps[builder->jump_count++] = (struct ptx_jump){label, builder->function->code.count,
                                                     builder->depth, builder->lexer->line};
    ptx_emit(builder, op, 0, a, 0, 0);
}

unsigned ptx_note(struct ptx_builder *builder, struct ptx_text opcode)
{
    struct ptx_arena *arena = &builder->module->arena;
    struct ptx_code *code = &builder->function->code;
    const char *text = ptx_keep_text(arena, opcode.at, opcode.length);
    const char **notes =
        ptx_grow(arena, code->notes, builder->note_count, &builder->note_room, sizeof(*notes));

    if (!text || !notes) {
        ptx_error(builder->lexer, "out of memory");
        return 0;
    }
    code->notes = notes;
    notes[builder->note_count] = text;
    return builder->note_count++;
}

void ptx_emit_unsupported(struct ptx_builder *builder, struct ptx_text opcode)
{
    unsigned note = ptx_note(builder, opcode);

    ptx_emit(builder, PTX_OP_unsupported, 0, 0, 0, 0)->imm = (int32_t)note;
}

uint16_t ptx_new_slots(struct ptx_builder *builder, unsigned count)
{
    struct ptx_code *code = &builder->function->code;

    if (count > UINT16_MAX - code->slots) {
        ptx_error(builder->lexer, "function %s needs more than %u slots", builder->function->name,
                  UINT16_MAX);
        return 0;
    }
    code->slots += count;
    return (uint16_t)(code->slots - count);
}

uint16_t ptx_constant_slot(struct ptx_builder *builder, uint64_t bits)
{
    struct ptx_constant *constants;

    for (unsigned i = builder->constant_count; i-- > 0;) {
        if (builder->constants[i].bits == bits)
            return builder->constants[i].slot;
    }
    constants = ptx_grow(&builder->module->arena, builder->constants, builder->constant_count,
                         &builder->constant_room, sizeof(*constants));
    if (!constants) {
        ptx_error(builder->lexer, "out of memory");
        return 0;
    }
    builder->constants = constants;
    constants[builder->constant_count] = (struct ptx_constant){bits, ptx_new_slots(builder, 1)};
    return constants[builder->constant_count++].slot;
}

uint16_t ptx_fill_slot(struct ptx_builder *builder, enum ptx_fill_kind kind, uint32_t index,
                       int64_t addend)
{
    struct ptx_code *code = &builder->function->code;
    struct ptx_fill *fills;

    for (unsigned i = 0; i < code->fill_count; i++) {
        const struct ptx_fill *fill = &code->fills[i];
        if (fill->kind == kind && fill->index == index && fill->addend == addend)
            return fill->slot;
    }
    fills = ptx_grow(&builder->module->arena, code->fills, code->fill_count, &builder->fill_room,
                     sizeof(*fills));
    if (!fills) {
        ptx_error(builder->lexer, "out of memory");
        return 0;
    }
    code->fills = fills;
    fills[code->fill_count] =
        (struct ptx_fill){ptx_new_slots(builder, 1), (uint16_t)kind, index, addend};
    return fills[code->fill_count++].slot;
}

uint16_t ptx_new_site(struct ptx_builder *builder, bool write)
{
    struct ptx_code *code = &builder->function->code;
    unsigned pair = code->sites++ % (UINT16_MAX / 2);

    return (uint16_t)(2 * pair + write);
}
