/* builder.h: a function while it is read: its names, its slots, and the instructions so far. Every
 * function takes the builder first and notes errors in its lexer; after an error all go on
 * harmlessly. */
#ifndef FAKEVMM_PTX_BUILDER_H
#define FAKEVMM_PTX_BUILDER_H

#include "code.h"
#include "lex.h"
#include "ops.h"

struct ptx_type_info {
    const char *name;
    unsigned bytes;
    char kind;
};
extern const struct ptx_type_info ptx_types[];
/* The type named, or PTX_NO_TYPE. */
enum ptx_type ptx_type_of(struct ptx_text text);

enum ptx_name_kind {
    PTX_NAME_REGISTER, /* value: first slot */
    PTX_NAME_VARIABLE, /* value: index in the module */
    PTX_NAME_LOCAL,  /* value: offset in local memory; also .param of calls and device functions */
    PTX_NAME_PARAM,  /* value: offset in the kernel's parameters */
    PTX_NAME_TARGETS /* value: index of a .branchtargets list */
};

struct ptx_name {
    struct ptx_text text;
    enum ptx_name_kind kind;
    enum ptx_type type;
    unsigned range; /* 0: this name; n: text followed by 0..n-1 */
    uint32_t value, size;
};

/* Slots that a register of the type takes. */
static inline unsigned ptx_type_slots(enum ptx_type type)
{
    return type == PTX_b128 ? 2 : 1;
}

struct ptx_label {
    struct ptx_text text;
    unsigned at;
};

struct ptx_jump {
    struct ptx_text text;
    unsigned at, depth, line;
};

struct ptx_targets {
    struct ptx_text *labels;
    unsigned count, room;
};

struct ptx_constant {
    uint64_t bits;
    uint16_t slot;
};

/* The least a name or label list is cut back to when a block in braces ends. */
struct ptx_scope {
    unsigned names, labels;
};

enum { PTX_SCOPES = 64 };

struct ptx_builder {
    struct ptx_lexer *lexer;
    struct ptx_module *module;
    struct ptx_function *function;
    unsigned line; /* of the statement being decoded */
    unsigned registers;
    unsigned insn_room, line_room, call_room, fill_room, note_room, note_count;
    struct ptx_name *names;
    unsigned name_count, name_room;
    struct ptx_label *labels;
    unsigned label_count, label_room;
    struct ptx_jump *jumps;
    unsigned jump_count, jump_room;
    struct ptx_targets *targets;
    unsigned target_count, target_room;
    struct ptx_constant *constants;
    unsigned constant_count, constant_room;
    struct ptx_scope scopes[PTX_SCOPES];
    unsigned depth;
};

/* ---- names (names.c) ---- */

void ptx_open_scope(struct ptx_builder *builder);
/* Resolves jumps to the labels of the block that ends. */
void ptx_close_scope(struct ptx_builder *builder);
void ptx_add_name(struct ptx_builder *builder, const struct ptx_name *name);
/* Space in the function's local memory under a name; returns the offset. */
uint32_t ptx_add_local(struct ptx_builder *builder, struct ptx_text text, uint32_t size,
                       uint32_t align);
/* NULL when the name means nothing here. *slot is set for registers. */
const struct ptx_name *ptx_find_name(struct ptx_builder *builder, struct ptx_text text,
                                     uint16_t *slot);
void ptx_add_label(struct ptx_builder *builder, struct ptx_text text);
struct ptx_function *ptx_find_function(struct ptx_module *module, struct ptx_text name);
/* The function of that name, declared now if it is new; NULL when memory is out. */
struct ptx_function *ptx_add_function(struct ptx_builder *builder, struct ptx_text name);

/* ---- instructions and slots (emit.c) ---- */

/* Appends an instruction; the answer is valid until the next one. Never NULL. */
struct ptx_insn *ptx_emit(struct ptx_builder *builder, enum ptx_op op, unsigned d, unsigned a,
                          unsigned b, unsigned c);
/* A jump to a label, whose distance is known when its block ends. */
void ptx_emit_jump(struct ptx_builder *builder, enum ptx_op op, unsigned a, struct ptx_text label);
/* In place of a statement the interpreter has nothing for. */
void ptx_emit_unsupported(struct ptx_builder *builder, struct ptx_text opcode);
/* `count` fresh slots in a row; the first. */
uint16_t ptx_new_slots(struct ptx_builder *builder, unsigned count);
uint16_t ptx_constant_slot(struct ptx_builder *builder, uint64_t bits);
/* The slot that is filled so at frame set-up. */
uint16_t ptx_fill_slot(struct ptx_builder *builder, enum ptx_fill_kind kind, uint32_t index,
                       int64_t addend);
/* Keeps an opcode's name for messages; its index among the function's notes. */
unsigned ptx_note(struct ptx_builder *builder, struct ptx_text opcode);
/* The next access site. */
uint16_t ptx_new_site(struct ptx_builder *builder, bool write);

/* ---- the parts above (body.c, variable.c, link.c) ---- */

/* Reads a function's body, behind its opening brace. */
void ptx_read_body(struct ptx_builder *builder);
/* What follows .reg's siblings: [.align n] [.vn] .type name[n]..., up to a mark. */
struct ptx_declaration {
    struct ptx_text name;
    enum ptx_type type;
    uint32_t align, element; /* bytes */
    uint64_t size;
    uint64_t dimensions[8];
    unsigned dimension_count;
    bool unsized, managed;
};
void ptx_read_declaration(struct ptx_lexer *lexer, struct ptx_declaration *declaration);
/* Module variables of a space, up to and with the semicolon; inside a function also its names. */
void ptx_read_variables(struct ptx_builder *builder, enum ptx_space space, bool external);
/* When a function's body has been read. */
void ptx_finish_code(struct ptx_builder *builder);
/* When all functions are known: lays out shared memory and measures chains of calls. */
void ptx_link(struct ptx_builder *builder);

#endif
