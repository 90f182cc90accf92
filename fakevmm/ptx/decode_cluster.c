/* decode_cluster.c: addresses in the shared memory of a cluster's other blocks. */
#include "decode_memory.h"

/* Operand 1, with clean upper bits if it is one of shared::cluster. */
static uint16_t shared_address(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    struct ptx_address address = {.slot = ptx_source_at(builder, statement, 1, PTX_b64)};
    const struct ptx_atom *atom = &statement->operands[1].items[0];
    uint16_t slot;

    if (ptx_atom_type(builder, atom) != PTX_NO_TYPE)
        address.offset = (int32_t)atom->offset;
    slot = ptx_new_slots(builder, 1);
    ptx_emit(builder, PTX_OP_address, slot, address.slot, 0, 0)->imm = address.offset;
    if (ptx_space_of(statement) == PTX_IN_CLUSTER)
        ptx_emit(builder, PTX_OP_extend_u32, slot, slot, 0, 0);
    return slot;
}

static bool has_space(const struct ptx_statement *statement)
{
    enum ptx_in space = ptx_space_of(statement);

    return space == PTX_IN_CLUSTER || space == PTX_IN_GENERIC;
}

/* mapa d, address, rank */
bool ptx_decode_mapa(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint16_t a, b;

    if (!ptx_want(builder, statement, 3))
        return true;
    if (!has_space(statement))
        return false;
    a = shared_address(builder, statement);
    b = ptx_source_at(builder, statement, 2, PTX_u32);
    builder->function->code.together = true;
    ptx_emit(builder, PTX_OP_map_rank, ptx_destination_at(builder, statement, 0), a, b, 0);
    return true;
}

/* getctarank d, address */
bool ptx_decode_getctarank(struct ptx_builder *builder, const struct ptx_statement *statement)
{
    uint16_t a;

    if (!ptx_want(builder, statement, 2))
        return true;
    if (!has_space(statement))
        return false;
    a = shared_address(builder, statement);
    ptx_emit(builder, PTX_OP_rank_of, ptx_destination_at(builder, statement, 0), a, 0, 0);
    return true;
}
