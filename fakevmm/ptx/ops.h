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

/* What an atomic does to memory; X(operation, type), as in PTX. A row for bits serves all integers
 * of that width. */
#define PTX_ATOMICS(X)                                                                             \
    X(add, b32) X(add, f32) X(min, s32) X(min, u32) X(max, s32) X(max, u32) X(inc, u32)            \
    X(dec, u32) X(and, b32) X(or, b32) X(xor, b32) X(exch, b32) X(cas, b32)                        \
    X(add, f16x2) X(add, bf16x2) X(min, f16x2) X(min, bf16x2) X(max, f16x2) X(max, bf16x2)         \
    X(add, b64) X(add, f64) X(min, s64) X(min, u64) X(max, s64) X(max, u64) X(and, b64)            \
    X(or, b64) X(xor, b64) X(exch, b64) X(cas, b64)                                                \
    X(cas, b16) X(add, f16) X(add, bf16) X(min, f16) X(min, bf16) X(max, f16) X(max, bf16)

enum ptx_atomic {
#define X(operation, type) PTX_ATOMIC_##operation##_##type,
    PTX_ATOMICS(X)
#undef X
    /* add_f32 with subnormals flushed, as in global memory */
    PTX_ATOMIC_add_ftz_f32,
    /* 128 bits */
    PTX_ATOMIC_load_b128,
    PTX_ATOMIC_exch_b128,
    PTX_ATOMIC_cas_b128,
    /* on an mbarrier, 64 bits (mbarrier.h) */
    PTX_ATOMIC_arrive,
    PTX_ATOMIC_arrive_drop,
    PTX_ATOMIC_expect,
    PTX_ATOMIC_complete
};

#endif
