/* ops.h: the instructions by number and name. */
#ifndef FAKEVMM_PTX_OPS_H
#define FAKEVMM_PTX_OPS_H

/* It does not settle on the tables of this file. */
/* clang-format off */

#include "lex.h"

enum ptx_op {
#define OP(name, operands, ...) PTX_OP_##name,
#define MICRO(name, ...)        PTX_OP_##name,
#include "ops.def"
    PTX_OP_COUNT
};

/* The row of a PTX opcode by the name ops.def gives it, or -1; *operands is set on success. */
int ptx_find_op(const char *name, unsigned *operands);
/* True if some row of ops.def is a form of this mnemonic. */
bool ptx_known_mnemonic(struct ptx_text mnemonic);

/* What an atomic does to memory; X(name), names as in PTX with their type. */
#define PTX_ATOMICS(X)                                                                             \
    X(add_b32)                                                                                     \
    X(add_f32)                                                                                     \
    X(min_s32)                                                                                     \
    X(min_u32)                                                                                     \
    X(max_s32) X(max_u32) X(inc_u32) X(dec_u32) X(and_b32) X(or_b32) X(xor_b32) X(exch_b32)        \
        X(cas_b32) X(add_b64) X(add_f64) X(min_s64) X(min_u64) X(max_s64) X(max_u64) X(and_b64)    \
            X(or_b64) X(xor_b64) X(exch_b64) X(cas_b64)

enum ptx_atomic {
#define X(name) PTX_ATOMIC_##name,
    PTX_ATOMICS(X)
#undef X
};

#endif
