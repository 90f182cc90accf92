/* decode_stack.c: local memory that a function allocates as it runs. */
#include "statement.h"

enum { LEAST_ALIGN = 8 };

/* alloca pointer, size[, alignment] */
bool ptx_decode_alloca(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    const struct ptx_atom *given = &statement->operands[2].items[0];
    uint64_t align = statement->count == 3 ? given->bits : LEAST_ALIGN;
    uint16_t size;

    if (statement->count != 2 && (statement->count != 3 || given->kind != PTX_ATOM_INT))
        return false;
    if (!align || (align & (align - 1)) || align > PTX_STACK_BYTES)
        return false;
    size = ptx_source_at(builder, statement, 1, statement->type);
    if (ptx_types[statement->type].bytes == 4) {
        uint16_t wide = ptx_new_slots(builder, 1);
        ptx_emit(builder, PTX_OP_extend_u32, wide, size, 0, 0);
        size = wide;
    }
    builder->function->code.dynamic = true;
    ptx_emit(builder, PTX_OP_alloca, ptx_destination_at(builder, statement, 0), size,
             ptx_constant_slot(builder, align), 0);
    return true;
}

/* stacksave d; stackrestore a */
bool ptx_decode_stack(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    if (!ptx_want(builder, statement, 1))
        return true;
    if (ptx_text_is(statement->mnemonic, "stacksave"))
        ptx_emit(builder, PTX_OP_stack_save, ptx_destination_at(builder, statement, 0), 0, 0, 0);
    else
        ptx_emit(builder, PTX_OP_stack_restore, 0,
                 ptx_source_at(builder, statement, 0, statement->type), 0, 0);
    return true;
}
