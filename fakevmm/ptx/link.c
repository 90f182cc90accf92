/* link.c: what can be said about a function only once its body, or the whole module, has been read.
 */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

static int by_kind(const void *a, const void *b)
{
    const struct ptx_fill *x = a, *y = b;

    return (x->kind > y->kind) - (x->kind < y->kind);
}

void ptx_finish_code(struct ptx_builder *builder)
{
    struct ptx_module *module = builder->module;
    struct ptx_code *code = &builder->function->code;

    code->frame = ptx_take(&module->arena, code->slots * sizeof(*code->frame));
    if (!code->frame) {
        ptx_error(builder->lexer, "out of memory");
        return;
    }
    for (unsigned i = 0; i < builder->constant_count; i++)
        code->frame[builder->constants[i].slot] = builder->constants[i].bits;
    if (code->fill_count)
        qsort(code->fills, code->fill_count, sizeof(*code->fills), by_kind);
    for (unsigned i = 0; i < code->fill_count; i++) {
        code->block_fills += code->fills[i].kind < PTX_FILL_CTAID_X;
        code->thread_fills += code->fills[i].kind < PTX_FILL_TID_X;
    }
    code->local_bytes = (code->local_bytes + 15) / 16 * 16;
    if (2 * code->sites > module->site_count)
        module->site_count = 2 * code->sites < UINT16_MAX ? 2 * code->sites : UINT16_MAX;
    builder->function->defined = true;
}

/* Calls of functions that are defined nowhere fail when they are reached. */
static void disarm_calls(struct ptx_code *code)
{
    for (unsigned i = 0; i < code->count; i++) {
        struct ptx_insn *insn = &code->insns[i];
        if (insn->op == PTX_OP_call && !code->calls[insn->imm].callee->defined) {
            insn->op = PTX_OP_unsupported;
            insn->imm = (int32_t)code->calls[insn->imm].note;
        }
    }
}

enum { NEW, OPEN, DONE };

/* The deepest chain of calls from here. One that comes back to itself gets a fixed stack. */
static void measure(struct ptx_function *function)
{
    struct ptx_code *code = &function->code;
    uint64_t slots = 0, local = 0;

    function->visit = OPEN;
    function->together = code->together;
    for (unsigned i = 0; i < code->call_count; i++) {
        struct ptx_function *callee = code->calls[i].callee;
        bool recurses = callee->visit == OPEN;

        if (!callee->defined)
            continue;
        if (callee->visit == NEW)
            measure(callee);
        if (recurses || callee->depth_slots > slots)
            slots = recurses ? PTX_STACK_SLOTS : callee->depth_slots;
        if (recurses || callee->depth_local > local)
            local = recurses ? PTX_STACK_BYTES : callee->depth_local;
        function->together |= callee->together || recurses;
    }
    function->depth_slots = (unsigned)(code->slots + slots);
    function->depth_local = (uint32_t)(code->local_bytes + local);
    function->visit = DONE;
}

/* Marks the shared variables that a function and its callees use. */
static void mark_shared(struct ptx_function *function, unsigned round, unsigned char *used)
{
    if (function->visit == round)
        return;
    function->visit = round;
    for (unsigned i = 0; i < function->code.fill_count; i++) {
        if (function->code.fills[i].kind == PTX_FILL_SHARED)
            used[function->code.fills[i].index] = 1;
    }
    for (unsigned i = 0; i < function->code.call_count; i++)
        mark_shared(function->code.calls[i].callee, round, used);
}

/* Static variables first; the dynamic array starts behind them. */
static bool lay_out_shared(struct ptx_function *function, unsigned round)
{
    struct ptx_module *module = function->module;
    unsigned char *used = ptx_take(&module->arena, module->variable_count);
    uint32_t *offsets = ptx_take(&module->arena, module->variable_count * sizeof(*offsets));
    uint64_t end = 0;

    if (!used || !offsets)
        return false;
    mark_shared(function, round, used);
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        if (!used[i] || variable->external)
            continue;
        end = (end + variable->align - 1) / variable->align * variable->align;
        offsets[i] = (uint32_t)end;
        end += variable->size;
        if (end > UINT32_MAX / 4)
            return false;
    }
    function->kernel.static_shared = (uint32_t)end;
    for (unsigned i = 0; i < module->variable_count; i++) {
        uint32_t align = module->variables[i].align;
        if (used[i] && module->variables[i].external)
            offsets[i] = ((uint32_t)end + align - 1) / align * align;
    }
    function->shared_offsets = offsets;
    return true;
}

void ptx_link(struct ptx_builder *builder)
{
    struct ptx_module *module = builder->module;

    for (unsigned i = 0; i < module->function_count; i++) {
        disarm_calls(&module->functions[i]->code);
        if (module->functions[i]->visit == NEW)
            measure(module->functions[i]);
    }
    for (unsigned i = 0; i < module->function_count; i++) {
        struct ptx_function *function = module->functions[i];

        if (!function->entry || builder->lexer->failed)
            continue;
        if (!lay_out_shared(function, DONE + 1 + i)) {
            ptx_error(builder->lexer, "kernel %s: too much shared memory", function->name);
            return;
        }
        function->kernel.local_bytes = function->depth_local;
    }
}
