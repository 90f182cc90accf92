/* decode_memory.h: what the decoders of memory instructions share: state spaces and addresses. */
#ifndef FAKEVMM_PTX_DECODE_MEMORY_H
#define FAKEVMM_PTX_DECODE_MEMORY_H

#include "statement.h"

/* Where an address lies; .const is global here. */
enum ptx_in {
    PTX_IN_GLOBAL,
    PTX_IN_SHARED,
    PTX_IN_CLUSTER, /* of this block or another of its cluster */
    PTX_IN_LOCAL,
    PTX_IN_PARAM,
    PTX_IN_GENERIC,
    PTX_IN_NO_SPACE
};

struct ptx_address {
    enum ptx_in space;
    uint16_t slot;
    int32_t offset;
};

/* ---- decode_memory.c ---- */

/* The space a modifier names, PTX_IN_GENERIC when there is none. */
enum ptx_in ptx_space_of(const struct ptx_statement *statement);
/* Forms of ld, st, atom and red that are instructions of their own. */
bool ptx_is_other_form(const struct ptx_statement *statement);
/* The number of operands but for a cache policy. */
unsigned ptx_operands_without_hint(const struct ptx_statement *statement);
/* The address that operand `index` is, in the space the statement names; false when it is none. */
bool ptx_find_address(struct ptx_builder *builder, const struct ptx_statement *statement,
                      unsigned index, struct ptx_address *out);
/* A vector must be aligned as a whole. */
void ptx_emit_check(struct ptx_builder *builder, const struct ptx_address *address, unsigned bytes);
/* One load or store `skip` bytes behind the address. */
void ptx_emit_load(struct ptx_builder *builder, enum ptx_type type, uint16_t d,
                   const struct ptx_address *address, unsigned skip, uint16_t site);
void ptx_emit_store(struct ptx_builder *builder, enum ptx_type type, uint16_t b,
                    const struct ptx_address *address, unsigned skip, uint16_t site);

/* A slot with the generic address, its offset added. */
uint16_t ptx_generic_address(struct ptx_builder *builder, const struct ptx_address *address);

/* ---- decode_atomic.c ---- */

/* An atomic operation; d, b and c are slots. */
void ptx_emit_atomic(struct ptx_builder *builder, enum ptx_atomic atomic, enum ptx_type type,
                     const struct ptx_address *address, const uint16_t dbc[3]);

#endif
