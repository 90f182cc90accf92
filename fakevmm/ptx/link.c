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

static enum ptx_builtin find_builtin(const struct ptx_function *function)
{
    static const struct {
        const char *name;
        unsigned params, results;
    } builtins[] = {[PTX_NO_BUILTIN] = {"", 0, 0},
#define X(name, params, results) [PTX_BUILTIN_##name] = {#name, params, results},
                    PTX_BUILTINS(X)
#undef X
    };

    for (unsigned i = 1; i < sizeof(builtins) / sizeof(*builtins); i++) {
        if (strcmp(function->name, builtins[i].name) == 0 &&
            function->param_count == builtins[i].params &&
            function->result_count == builtins[i].results)
            return (enum ptx_builtin)i;
    }
    return PTX_NO_BUILTIN;
}

/* Calls of functions that are defined nowhere: the driver's, or they fail when reached. */
static void resolve_calls(struct ptx_function *function)
{
    struct ptx_code *code = &function->code;

    for (unsigned i = 0; i < code->count; i++) {
        struct ptx_insn *insn = &code->insns[i];
        struct ptx_call *call = insn->op == PTX_OP_call ? &code->calls[insn->imm] : NULL;

        if (!call || !call->callee || call->callee->defined)
            continue;
        call->builtin = find_builtin(call->callee);
        function->prints |= call->builtin == PTX_BUILTIN_vprintf;
        if (call->builtin) {
            insn->op = PTX_OP_call_builtin;
        } else {
            insn->op = PTX_OP_unsupported;
            insn->imm = (int32_t)call->note;
        }
    }
}

enum { NEW, OPEN, DONE };

static void measure(struct ptx_function *function);

/* What the caller of a function needs beyond its own: in *slots and *local the most so far. One
 * that comes back to a function in the chain gets a fixed stack. */
static void include(struct ptx_function *caller, struct ptx_function *callee, uint64_t *slots,
                    uint64_t *local)
{
    bool recurses = callee->visit == OPEN;

    if (!callee->defined)
        return;
    if (callee->visit == NEW)
        measure(callee);
    if (recurses || callee->depth_slots > *slots)
        *slots = recurses ? PTX_STACK_SLOTS : callee->depth_slots;
    if (recurses || callee->depth_local > *local)
        *local = recurses ? PTX_STACK_BYTES : callee->depth_local;
    caller->together |= callee->together || recurses;
    caller->prints |= callee->prints;
}

static bool uses_shared(const struct ptx_code *code)
{
    for (unsigned i = 0; i < code->fill_count; i++) {
        if (code->fills[i].kind == PTX_FILL_SHARED)
            return true;
    }
    return false;
}

/* The deepest chain of calls from here. A call of an address may be of any function that has one.
 */
static void measure(struct ptx_function *function)
{
    struct ptx_module *module = function->module;
    struct ptx_code *code = &function->code;
    uint64_t slots = 0, local = 0;

    function->visit = OPEN;
    function->together = code->together || uses_shared(code);
    for (unsigned i = 0; i < code->call_count; i++) {
        if (code->calls[i].callee)
            include(function, code->calls[i].callee, &slots, &local);
    }
    for (unsigned i = 0; i < module->function_count && code->indirect; i++) {
        if (module->functions[i]->addressed)
            include(function, module->functions[i], &slots, &local);
    }
    function->depth_slots = (unsigned)(code->slots + slots);
    function->depth_local =
        (uint32_t)(code->local_bytes + local + (code->dynamic ? PTX_STACK_BYTES : 0));
    function->visit = DONE;
}

/* Marks the shared variables that a function and its callees use. */
static void mark_shared(struct ptx_function *function, unsigned round, unsigned char *used)
{
    const struct ptx_module *module = function->module;

    if (function->visit == round)
        return;
    function->visit = round;
    for (unsigned i = 0; i < function->code.fill_count; i++) {
        if (function->code.fills[i].kind == PTX_FILL_SHARED)
            used[function->code.fills[i].index] = 1;
    }
    for (unsigned i = 0; i < function->code.call_count; i++) {
        if (function->code.calls[i].callee)
            mark_shared(function->code.calls[i].callee, round, used);
    }
    for (unsigned i = 0; i < module->function_count && function->code.indirect; i++) {
        if (module->functions[i]->addressed)
            mark_shared(module->functions[i], round, used);
    }
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
    for (unsigned i = 0; i < module->variable_count; i++) {
        uint32_t align = module->variables[i].align;
        if (used[i] && module->variables[i].external)
            end = (end + align - 1) / align * align;
    }
    for (unsigned i = 0; i < module->variable_count; i++) {
        if (used[i] && module->variables[i].external)
            offsets[i] = (uint32_t)end;
    }
    function->kernel.static_shared = (uint32_t)end; /* the launch's own share comes behind it */
    function->shared_offsets = offsets;
    return true;
}

void ptx_link(struct ptx_builder *builder)
{
    struct ptx_module *module = builder->module;

    for (unsigned i = 0; i < module->function_count; i++)
        resolve_calls(module->functions[i]);
    for (unsigned i = 0; i < module->function_count; i++) {
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
