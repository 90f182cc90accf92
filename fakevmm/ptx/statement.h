/* statement.h: one PTX instruction as written, and the decoders that turn it into ours. */
#ifndef FAKEVMM_PTX_STATEMENT_H
#define FAKEVMM_PTX_STATEMENT_H

/* It does not settle on the tables of this file. */
/* clang-format off */

#include "builder.h"

enum ptx_atom_kind { PTX_ATOM_NAME, PTX_ATOM_INT, PTX_ATOM_FLOAT, PTX_ATOM_SINK };

/* A register, a name, a special register with its suffix, or a literal. */
struct ptx_atom {
    enum ptx_atom_kind kind;
    struct ptx_text text, suffix;
    bool negated;
    uint64_t bits;
    double number;
    int64_t offset; /* of name+offset */
};

enum ptx_form { PTX_PLAIN, PTX_ADDRESS, PTX_VECTOR, PTX_PAIR, PTX_LIST };

enum { PTX_ELEMENTS = 8, PTX_OPERANDS = 8, PTX_MODIFIERS = 12, PTX_LIST_MAX = 32 };

/* Address: [items[0]]; pair: p|q; list: (a, b) of a call. */
struct ptx_operand {
    enum ptx_form form;
    unsigned count;
    struct ptx_atom items[PTX_LIST_MAX];
};

struct ptx_statement {
    struct ptx_text opcode; /* mnemonic with all modifiers */
    struct ptx_text mnemonic;
    struct ptx_text modifiers[PTX_MODIFIERS];
    unsigned modifier_count;
    struct ptx_operand operands[PTX_OPERANDS];
    unsigned count;
    enum ptx_type type; /* of the last modifier that is one */
};

/* ---- operands (operand.c) ---- */

/* Reads the operands up to and with the semicolon. */
void ptx_read_operands(struct ptx_builder *builder, struct ptx_statement *statement);
/* The slot a source operand is in; literals become bits of `type`. */
uint16_t ptx_source(struct ptx_builder *builder, const struct ptx_atom *atom, enum ptx_type type);
/* The slot of a target: a register, or a scratch slot for '_'. */
uint16_t ptx_destination(struct ptx_builder *builder, const struct ptx_atom *atom);
/* The slot of plain operand `index`; an error when it is of another form or missing. */
uint16_t ptx_source_at(struct ptx_builder *builder, const struct ptx_statement *statement,
                       unsigned index, enum ptx_type type);
uint16_t ptx_destination_at(struct ptx_builder *builder, const struct ptx_statement *statement,
                            unsigned index);
bool ptx_has_modifier(const struct ptx_statement *statement, const char *name);
/* The register's declared type, PTX_NO_TYPE for anything else. */
enum ptx_type ptx_atom_type(struct ptx_builder *builder, const struct ptx_atom *atom);
/* An error unless the statement has that many operands. */
bool ptx_want(struct ptx_builder *builder, const struct ptx_statement *statement, unsigned count);

/* ---- decoders: emit a statement; false when the interpreter lacks this form ---- */

typedef bool ptx_decoder(struct ptx_builder *builder, const struct ptx_statement *statement);

/* X(mnemonic, decoder): what needs more than a row of ops.def */
#define PTX_DECODERS(X)                                                                            \
    X("mov", ptx_decode_mov) X("cvt", ptx_decode_cvt) X("cvta", ptx_decode_cvta)                   \
    X("isspacep", ptx_decode_isspacep) X("lop3", ptx_decode_lop3) X("elect", ptx_decode_elect)     \
    X("cp", ptx_decode_cp) X("mbarrier", ptx_decode_mbarrier) X("vadd2", ptx_decode_video)         \
    X("vadd4", ptx_decode_video) X("vsub2", ptx_decode_video) X("vsub4", ptx_decode_video)         \
    X("vavrg2", ptx_decode_video) X("vavrg4", ptx_decode_video) X("vabsdiff2", ptx_decode_video)   \
    X("vabsdiff4", ptx_decode_video) X("vmin2", ptx_decode_video) X("vmin4", ptx_decode_video)     \
    X("vmax2", ptx_decode_video) X("vmax4", ptx_decode_video) X("vset2", ptx_decode_video)         \
    X("vset4", ptx_decode_video) X("createpolicy", ptx_decode_createpolicy)                        \
    X("griddepcontrol", ptx_decode_hint) X("applypriority", ptx_decode_hint)                       \
    X("discard", ptx_decode_hint) X("setp", ptx_decode_setp) X("set", ptx_decode_set)              \
    X("selp", ptx_decode_selp) X("slct", ptx_decode_slct) X("ld", ptx_decode_ld)                   \
    X("ldu", ptx_decode_ld) X("st", ptx_decode_st) X("atom", ptx_decode_atom)                      \
    X("red", ptx_decode_atom) X("bra", ptx_decode_bra) X("brx", ptx_decode_brx)                    \
    X("ret", ptx_decode_ret) X("exit", ptx_decode_ret) X("trap", ptx_decode_trap)                  \
    X("brkpt", ptx_decode_trap) X("call", ptx_decode_call) X("bar", ptx_decode_bar)                \
    X("barrier", ptx_decode_bar) X("shfl", ptx_decode_shfl) X("vote", ptx_decode_vote)             \
    X("match", ptx_decode_match) X("redux", ptx_decode_redux)                                      \
    X("activemask", ptx_decode_activemask) X("membar", ptx_decode_fence)                           \
    X("fence", ptx_decode_fence) X("nanosleep", ptx_decode_nanosleep)                              \
    X("prefetch", ptx_decode_hint) X("prefetchu", ptx_decode_hint) X("pmevent", ptx_decode_hint)   \
    X("setmaxnreg", ptx_decode_hint)                                                               \
    X("mapa", ptx_decode_mapa) X("getctarank", ptx_decode_getctarank)                              \
    X("alloca", ptx_decode_alloca) X("stacksave", ptx_decode_stack)                                \
    X("stackrestore", ptx_decode_stack)

#define X(mnemonic, decoder) ptx_decoder decoder;
PTX_DECODERS(X)
#undef X
/* Those on .b128, whose registers are two slots (decode_wide.c). */
ptx_decoder ptx_wide_mov, ptx_wide_ld, ptx_wide_st, ptx_wide_atom;
/* Everything that is rows of ops.def. */
ptx_decoder ptx_decode_plain;

#endif
