/* code.h: what a kernel is once it has been read: compact instructions over numbered slots.
 *
 * A thread owns a frame, an array of 8-byte slots. Every operand of an instruction is the number of
 * a slot: registers, but also constants, special registers and addresses of variables, whose slots
 * are filled when a frame is set up. So no instruction looks at the kind of an operand. A slot
 * holds the value in its low bytes; those above are unspecified unless an instruction says
 * otherwise. */
#ifndef FAKEVMM_PTX_CODE_H
#define FAKEVMM_PTX_CODE_H

/* It does not settle on the tables of this file. */
/* clang-format off */

#include "arena.h"
#include "fill.h"
#include "ptx.h"

/* X(name, bytes, kind) kind: b bits, u unsigned, s signed, f float, p predicate */
#define PTX_TYPES(X)                                                                               \
    X(b8, 1, 'b') X(u8, 1, 'u') X(s8, 1, 's') X(b16, 2, 'b') X(u16, 2, 'u') X(s16, 2, 's')         \
    X(f16, 2, 'f') X(bf16, 2, 'f') X(b32, 4, 'b') X(u32, 4, 'u') X(s32, 4, 's') X(f32, 4, 'f')     \
    X(f16x2, 4, 'v') X(bf16x2, 4, 'v') X(u16x2, 4, 'v') X(s16x2, 4, 'v') X(f32x2, 8, 'v')          \
    X(b64, 8, 'b') X(u64, 8, 'u') X(s64, 8, 's') X(f64, 8, 'f') X(pred, 4, 'p')           \
    X(b128, 16, 'v')

enum ptx_type {
    PTX_NO_TYPE,
#define X(name, bytes, kind) PTX_##name,
    PTX_TYPES(X)
#undef X
};

union ptx_slot {
    uint64_t u64;
    int64_t s64;
    uint32_t u32; /* a predicate is 0 or 1 here */
    int32_t s32;
    uint16_t u16;
    int16_t s16;
    uint8_t u8;
    int8_t s8;
    double f64;
    float f32;
};

/* d is the target, a, b, c and e are sources (an opcode may use them otherwise: ops.def). e is also
 * the number of the access site of a memory instruction (memory.h). */
struct ptx_insn {
    uint16_t op, d, a, b, c, e;
    int32_t imm; /* address offset, branch distance, index into notes or calls */
};

/* Slot 0 is the carry flag of add.cc and its kind in every frame. */
enum { PTX_CARRY_SLOT, PTX_FIRST_SLOT };

/* Functions that the driver defines; X(name, arguments, results) */
#define PTX_BUILTINS(X)                                                                            \
    X(vprintf, 2, 1)                                                                               \
    X(__assertfail, 5, 0)                                                                          \
    X(cudaGraphSetConditional, 2, 0)                                                               \
    X(malloc, 1, 1)                                                                                \
    X(free, 1, 0)

enum ptx_builtin {
    PTX_NO_BUILTIN,
#define X(name, arguments, results) PTX_BUILTIN_##name,
    PTX_BUILTINS(X)
#undef X
};

/* A call: where its arguments and results are in the caller's local memory. */
struct ptx_call {
    struct ptx_function *callee; /* NULL: the one whose address is in the instruction's slot a */
    enum ptx_builtin builtin;    /* instead of a callee that is defined nowhere */
    struct ptx_param *arguments, *results;
    unsigned argument_count, result_count;
    unsigned note; /* for a callee that is defined nowhere */
};

struct ptx_code {
    struct ptx_insn *insns;
    uint32_t *lines; /* of the text, per instruction */
    unsigned count;
    uint64_t *frame; /* a fresh frame: zeros and constants */
    unsigned slots;
    struct ptx_fill *fills;                         /* sorted by kind */
    unsigned fill_count, block_fills, thread_fills; /* the latter two: where these groups start */
    struct ptx_call *calls;
    unsigned call_count;
    const char **notes; /* names of opcodes the interpreter lacks */
    unsigned sites;     /* even ones for loads, odd ones for stores */
    uint32_t local_bytes;
    bool together; /* some instruction waits for, or may wait for, another thread */
    bool indirect; /* some call is of an address */
    bool dynamic;  /* it allocates local memory as it runs */
};

/* A kernel or a device function. Parameters of a kernel are offsets in the launch's bytes, those of
 * a function offsets in its local memory. */
struct ptx_function {
    struct ptx_module *module;
    const char *name;
    unsigned index; /* in the module */
    bool entry, defined;
    bool addressed; /* its address is taken */
    struct ptx_param *params, *results;
    unsigned param_count, result_count;
    struct ptx_code code;
    struct ptx_kernel kernel; /* entries only */
    uint32_t *shared_offsets; /* per variable, entries only */
    unsigned depth_slots;     /* slots and local bytes of the deepest chain of calls */
    uint32_t depth_local;
    bool together;  /* code.together of it or of anything it calls */
    bool prints;    /* it or anything it calls prints */
    unsigned visit; /* while call chains are measured */
};

struct ptx_module {
    struct ptx_arena arena;
    const char *text;
    unsigned target;
    unsigned site_count; /* of the function that has most */
    struct ptx_function **functions;
    unsigned function_count, function_room;
    struct ptx_variable *variables;
    unsigned variable_count, variable_room;
};

enum {
    PTX_WARP = 32,
    PTX_STACK_SLOTS = 32 * 1024, /* of a thread whose calls recurse */
    PTX_STACK_BYTES = 64 * 1024
};

/* Generic addresses of shared, local and parameter memory: no device address lies here. */
#define PTX_WINDOW_SHIFT  56
#define PTX_SHARED_WINDOW (UINT64_C(1) << PTX_WINDOW_SHIFT)
#define PTX_LOCAL_WINDOW  (UINT64_C(2) << PTX_WINDOW_SHIFT)
#define PTX_PARAM_WINDOW  (UINT64_C(3) << PTX_WINDOW_SHIFT)
/* Addresses of functions, and of what a cooperative launch keeps for its blocks to meet. */
#define PTX_CODE_WINDOW (UINT64_C(4) << PTX_WINDOW_SHIFT)
#define PTX_GRID_WINDOW (UINT64_C(5) << PTX_WINDOW_SHIFT)
enum { PTX_CODE_STEP = 16, PTX_GRID_BYTES = 64 };

static inline uint64_t ptx_code_address(const struct ptx_function *function)
{
    return PTX_CODE_WINDOW + (uint64_t)PTX_CODE_STEP * (function->index + 1);
}

#endif
