/* builtin.c: device functions that no module defines, because a GPU's driver does. What they come
 * to outside the launch is struct ptx_host's. */
#include "exec.h"

#include <stdio.h>
#include <string.h>

static uint64_t argument(const struct ptx_thread *thread, const struct ptx_call *call,
                         unsigned index)
{
    const struct ptx_param *place = &call->arguments[index];
    uint64_t value = 0;

    memcpy(&value, thread->locals + thread->local + place->offset,
           place->size < sizeof(value) ? place->size : sizeof(value));
    return value;
}

static void answer(struct ptx_thread *thread, const struct ptx_call *call, uint64_t value)
{
    const struct ptx_param *place = &call->results[0];

    memcpy(thread->locals + thread->local + place->offset, &value,
           place->size < sizeof(value) ? place->size : sizeof(value));
}

/* "file:line: function: block: [x,y,z], thread: [x,y,z] Assertion `text` failed." */
static bool assert_fails(struct ptx_block *block, struct ptx_thread *thread,
                         const struct ptx_call *call)
{
    char text[160], file[120], function[120];

    if (!ptx_read_text(block, thread, argument(thread, call, 0), text, sizeof(text)) ||
        !ptx_read_text(block, thread, argument(thread, call, 1), file, sizeof(file)) ||
        !ptx_read_text(block, thread, argument(thread, call, 3), function, sizeof(function)))
        return false;
    snprintf(block->said, sizeof(block->said),
             "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file,
             (unsigned)argument(thread, call, 2), function, block->ctaid[0], block->ctaid[1],
             block->ctaid[2], thread->tid[0], thread->tid[1], thread->tid[2], text);
    ptx_fault(block, PTX_ASSERT, "assertion", 0, 0);
    return false;
}

static bool give_back(struct ptx_block *block, uint64_t address)
{
    const struct ptx_host *host = &block->launch->host;

    if (!address || host->give(host->context, address))
        return true;
    ptx_fault(block, PTX_ILLEGAL_ADDRESS, "free", address, 0);
    return false;
}

static bool has_host(const struct ptx_host *host, enum ptx_builtin builtin)
{
    switch (builtin) {
    case PTX_BUILTIN_vprintf: return host->print;
    case PTX_BUILTIN_cudaGraphSetConditional: return host->set_conditional;
    case PTX_BUILTIN_malloc: return host->take;
    case PTX_BUILTIN_free: return host->give;
    default: return true;
    }
}

bool ptx_call_builtin(struct ptx_block *block, struct ptx_thread *thread,
                      const struct ptx_call *call)
{
    const struct ptx_host *host = &block->launch->host;
    uint64_t first = argument(thread, call, 0);

    block->fault.result = PTX_OK;
    if (!has_host(host, call->builtin)) {
        ptx_fault(block, PTX_UNSUPPORTED, "call", 0, 0);
        return false;
    }
    switch (call->builtin) {
    case PTX_BUILTIN_vprintf:
        answer(thread, call, (uint32_t)ptx_print(block, thread, first, argument(thread, call, 1)));
        break;
    case PTX_BUILTIN_cudaGraphSetConditional:
        host->set_conditional(host->context, first, (unsigned)argument(thread, call, 1));
        break;
    case PTX_BUILTIN_malloc: answer(thread, call, host->take(host->context, first)); break;
    case PTX_BUILTIN_free: return give_back(block, first);
    default: return assert_fails(block, thread, call);
    }
    return block->fault.result == PTX_OK;
}
