/* frame.c: frames of threads: at the start of the kernel, at calls and returns. */
#include "exec.h"

#include <string.h>

static uint64_t lane_mask(enum ptx_fill_kind kind, unsigned lane)
{
    uint32_t own = UINT32_C(1) << lane;

    switch (kind) {
    case PTX_FILL_MASK_EQ: return own;
    case PTX_FILL_MASK_LT: return own - 1;
    case PTX_FILL_MASK_LE: return own | (own - 1);
    case PTX_FILL_MASK_GT: return ~(own | (own - 1));
    default: return ~(own - 1);
    }
}

static uint64_t thread_value(const struct ptx_thread *thread, const struct ptx_fill *fill)
{
    switch (fill->kind) {
    case PTX_FILL_TID_X: return thread->tid[0];
    case PTX_FILL_TID_Y: return thread->tid[1];
    case PTX_FILL_TID_Z: return thread->tid[2];
    case PTX_FILL_LANEID: return thread->index % PTX_WARP;
    case PTX_FILL_WARPID: return thread->index / PTX_WARP;
    case PTX_FILL_LOCAL: return thread->local + fill->index;
    default: return lane_mask(fill->kind, thread->index % PTX_WARP);
    }
}

static uint64_t launch_value(const struct ptx_block *block, const struct ptx_fill *fill)
{
    const struct ptx_launch *launch = block->launch;

    switch (fill->kind) {
    case PTX_FILL_VARIABLE: return launch->addresses[fill->index];
    case PTX_FILL_SHARED: return block->function->shared_offsets[fill->index];
    case PTX_FILL_NTID_X: return launch->block[0];
    case PTX_FILL_NTID_Y: return launch->block[1];
    case PTX_FILL_NTID_Z: return launch->block[2];
    case PTX_FILL_NCTAID_X: return launch->grid[0];
    case PTX_FILL_NCTAID_Y: return launch->grid[1];
    case PTX_FILL_NCTAID_Z: return launch->grid[2];
    case PTX_FILL_NWARPID: return (block->thread_count + PTX_WARP - 1) / PTX_WARP;
    case PTX_FILL_DYNAMIC_SHARED: return launch->dynamic_shared;
    case PTX_FILL_TOTAL_SHARED: return block->shared_bytes;
    case PTX_FILL_ONE: return 1;
    case PTX_FILL_CTAID_X: return block->ctaid[0];
    case PTX_FILL_CTAID_Y: return block->ctaid[1];
    case PTX_FILL_CTAID_Z: return block->ctaid[2];
    default: return 0;
    }
}

void ptx_fill(struct ptx_block *block, struct ptx_thread *thread, const struct ptx_code *code,
              union ptx_slot *frame, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        const struct ptx_fill *fill = &code->fills[i];
        uint64_t value =
            fill->kind >= PTX_FILL_TID_X ? thread_value(thread, fill) : launch_value(block, fill);
        frame[fill->slot].u64 = value + (uint64_t)fill->addend;
    }
}

void ptx_start(struct ptx_block *block, struct ptx_thread *thread, unsigned index)
{
    const struct ptx_code *code = &block->function->code;
    const unsigned *size = block->launch->block;

    thread->function = block->function;
    thread->ip = code->insns;
    thread->frame = thread->frames;
    thread->local = 0;
    thread->depth = 0;
    thread->state = PTX_READY;
    thread->index = index;
    thread->tid[0] = index % size[0];
    thread->tid[1] = index / size[0] % size[1];
    thread->tid[2] = index / size[0] / size[1];
    memcpy(thread->frame, block->fresh, code->slots * sizeof(*thread->frame));
    ptx_fill(block, thread, code, thread->frame, code->thread_fills, code->fill_count);
}

bool ptx_enter(struct ptx_block *block, struct ptx_thread *thread, const struct ptx_call *call)
{
    const struct ptx_code *caller = &thread->function->code, *callee = &call->callee->code;
    union ptx_slot *frame = thread->frame + caller->slots;
    uint32_t local = thread->local + caller->local_bytes;

    if (thread->depth == PTX_DEPTH ||
        (size_t)(frame - thread->frames) + callee->slots > block->frame_slots ||
        local + callee->local_bytes > block->local_bytes) {
        ptx_fault(block, PTX_ILLEGAL_ADDRESS, "stack overflow in a call", local, 0);
        return false;
    }
    thread->returns[thread->depth++] =
        (struct ptx_return){thread->function, thread->ip, thread->frame, thread->local};
    for (unsigned i = 0; i < call->argument_count; i++) {
        const struct ptx_move *move = &call->arguments[i];
        memcpy(thread->locals + local + move->to, thread->locals + thread->local + move->from,
               move->size);
    }
    thread->function = call->callee;
    thread->ip = callee->insns;
    thread->frame = frame;
    thread->local = local;
    memcpy(frame, callee->frame, callee->slots * sizeof(*frame));
    ptx_fill(block, thread, callee, frame, 0, callee->fill_count);
    return true;
}

void ptx_leave(struct ptx_thread *thread)
{
    const struct ptx_return *back = &thread->returns[--thread->depth];
    const struct ptx_call *call = &back->function->code.calls[back->ip->imm];

    for (unsigned i = 0; i < call->result_count; i++) {
        const struct ptx_move *move = &call->results[i];
        memcpy(thread->locals + back->local + move->to, thread->locals + thread->local + move->from,
               move->size);
    }
    thread->function = back->function;
    thread->ip = back->ip;
    thread->frame = back->frame;
    thread->local = back->local;
}
