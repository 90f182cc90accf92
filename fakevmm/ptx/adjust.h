/* adjust.h: what the decoders of arithmetic share: rows of ops.def by name, and the modifiers that
 * change what any float row does. */
#ifndef FAKEVMM_PTX_ADJUST_H
#define FAKEVMM_PTX_ADJUST_H

#include "convert.h"
#include "half.h"
#include "statement.h"

struct ptx_adjust {
    enum ptx_rounding rounding;
    bool flush, saturate;
};

/* ---- decode.c ---- */

/* Notes a modifier that a float row need not name; false for any other. */
bool ptx_adjusts(struct ptx_text modifier, struct ptx_adjust *adjust);
/* The row named `name` with a type behind it, or -1; a row for bits serves both kinds of integers,
 * and the reverse. */
int ptx_find_typed(const char *name, enum ptx_type type, unsigned *operands);
/* Mnemonic and the first `modifiers` modifiers as a row's name, but for those that ptx_adjusts()
 * notes when adjust is given. False when there is no room. */
bool ptx_row_name(const struct ptx_statement *statement, unsigned modifiers,
                  struct ptx_adjust *adjust, char *out, size_t size);
/* The slot, or one with its subnormal f32 flushed. */
uint16_t ptx_flushed(struct ptx_builder *builder, uint16_t slot, bool flush);

/* ---- decode_compare.c ---- */

/* The row that joins predicates as the statement's .and, .or or .xor says, or -1. */
int ptx_join_op(const struct ptx_statement *statement);

/* ---- decode_half.c ---- */

/* The format of f16, bf16 and pairs of them; PTX_NARROW_NONE for other types. */
enum ptx_narrow ptx_narrow_of(enum ptx_type type);
bool ptx_is_pair(enum ptx_type type);
/* Statements on those types. */
ptx_decoder ptx_decode_half;

#endif
