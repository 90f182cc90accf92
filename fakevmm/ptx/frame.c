/* frame.c: frames of threads: at the start of the kernel, at calls and returns. */
#include "run.h"

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

/* Without clusters each block is one. */
static unsigned cluster_size(const struct ptx_launch *launch, unsigned axis)
{
    return launch->cluster[axis] ? launch->cluster[axis] : 1;
}

static uint64_t cluster_value(const struct ptx_block *block, const struct ptx_fill *fill)
{
    const struct ptx_launch *launch = block->launch;
    unsigned axis;

    switch (fill->kind) {
    case PTX_FILL_IS_CLUSTER: return launch->cluster[0] != 0;
    case PTX_FILL_CLUSTER_NCTARANK: return block->run->unit;
    case PTX_FILL_CLUSTER_CTARANK: return block->number % block->run->unit;
    case PTX_FILL_CLUSTER_NCTAID_X:
    case PTX_FILL_CLUSTER_NCTAID_Y:
    case PTX_FILL_CLUSTER_NCTAID_Z:
        return cluster_size(launch, fill->kind - PTX_FILL_CLUSTER_NCTAID_X);
    case PTX_FILL_NCLUSTERID_X:
    case PTX_FILL_NCLUSTERID_Y:
    case PTX_FILL_NCLUSTERID_Z:
        axis = fill->kind - PTX_FILL_NCLUSTERID_X;
        return launch->grid[axis] / cluster_size(launch, axis);
    case PTX_FILL_CLUSTER_CTAID_X:
    case PTX_FILL_CLUSTER_CTAID_Y:
    case PTX_FILL_CLUSTER_CTAID_Z:
        axis = fill->kind - PTX_FILL_CLUSTER_CTAID_X;
        return block->ctaid[axis] % cluster_size(launch, axis);
    case PTX_FILL_CLUSTERID_X:
    case PTX_FILL_CLUSTERID_Y:
    case PTX_FILL_CLUSTERID_Z:
        axis = fill->kind - PTX_FILL_CLUSTERID_X;
        return block->ctaid[axis] / cluster_size(launch, axis);
    default: return 0;
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
    case PTX_FILL_GRIDID: return launch->id;
    case PTX_FILL_GRID_HIGH: return launch->cooperative ? PTX_GRID_WINDOW >> 32 : 0;
    case PTX_FILL_GRID_LOW: return launch->cooperative ? (uint32_t)PTX_GRID_WINDOW : 0;
    case PTX_FILL_CTAID_X: return block->ctaid[0];
    case PTX_FILL_CTAID_Y: return block->ctaid[1];
    case PTX_FILL_CTAID_Z: return block->ctaid[2];
    case PTX_FILL_ZERO: return 0;
    default: return cluster_value(block, fill);
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
    thread->top = block->local_bytes;
    thread->depth = 0;
    thread->state = PTX_READY;
    thread->index = index;
    thread->tid[0] = index % size[0];
    thread->tid[1] = index / size[0] % size[1];
    thread->tid[2] = index / size[0] / size[1];
    memcpy(thread->frame, block->fresh, code->slots * sizeof(*thread->frame));
    ptx_fill(block, thread, code, thread->frame, code->thread_fills, code->fill_count);
}

/* ---- calls ---- */

/* The function an address stands for, if the call fits it. */
static struct ptx_function *find_callee(struct ptx_block *block, const struct ptx_thread *thread,
                                        const struct ptx_call *call)
{
    const struct ptx_module *module = block->function->module;
    uint64_t address = thread->frame[thread->ip->a].u64;
    uint64_t index = (address - PTX_CODE_WINDOW) / PTX_CODE_STEP - 1;
    struct ptx_function *callee = index < module->function_count ? module->functions[index] : NULL;

    if (callee && callee->defined && ptx_code_address(callee) == address &&
        callee->param_count == call->argument_count && callee->result_count == call->result_count)
        return callee;
    ptx_fault(block, PTX_BAD_CALL, "call", address, 0);
    return NULL;
}

static bool has_room(const struct ptx_block *block, const struct ptx_thread *thread,
                     const union ptx_slot *frame, uint32_t local, const struct ptx_code *callee)
{
    return thread->depth < PTX_DEPTH &&
           (size_t)(frame - thread->frames) + callee->slots <= block->frame_slots &&
           local + callee->local_bytes <= thread->top;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

bool ptx_enter(struct ptx_block *block, struct ptx_thread *thread, const struct ptx_call *call)
{
    const struct ptx_code *caller = &thread->function->code, *code;
    struct ptx_function *callee = call->callee ? call->callee : find_callee(block, thread, call);
    union ptx_slot *frame = thread->frame + caller->slots;
    uint32_t local = thread->local + caller->local_bytes;

    if (!callee)
        return false;
    code = &callee->code;
    if (!has_room(block, thread, frame, local, code)) {
        ptx_fault(block, PTX_STACK_OVERFLOW, "call", local, 0);
        return false;
    }
    thread->returns[thread->depth++] = (struct ptx_return){
        thread->function, thread->ip, thread->frame, thread->local, thread->top};
    for (unsigned i = 0; i < call->argument_count; i++)
        memcpy(thread->locals + local + callee->params[i].offset,
               thread->locals + thread->local + call->arguments[i].offset,
               least(callee->params[i].size, call->arguments[i].size));
    thread->function = callee;
    thread->ip = code->insns;
    thread->frame = frame;
    thread->local = local;
    memcpy(frame, code->frame, code->slots * sizeof(*frame));
    ptx_fill(block, thread, code, frame, 0, code->fill_count);
    return true;
}

void ptx_leave(struct ptx_thread *thread)
{
    const struct ptx_return *back = &thread->returns[--thread->depth];
    const struct ptx_call *call = &back->function->code.calls[back->ip->imm];
    const struct ptx_param *results = thread->function->results;

    for (unsigned i = 0; i < call->result_count; i++)
        memcpy(thread->locals + back->local + call->results[i].offset,
               thread->locals + thread->local + results[i].offset,
               least(results[i].size, call->results[i].size));
    thread->function = back->function;
    thread->ip = back->ip;
    thread->frame = back->frame;
    thread->local = back->local;
    thread->top = back->top;
}

/* ---- alloca ---- */

/* From the end of the thread's local memory downwards, towards the functions' own. */
bool ptx_alloca(struct ptx_block *block, struct ptx_thread *thread, uint64_t size, uint64_t align,
                uint64_t *out)
{
    uint32_t end = thread->local + thread->function->code.local_bytes;

    if (size > thread->top - end || ((thread->top - size) & ~(align - 1)) < end) {
        ptx_fault(block, PTX_STACK_OVERFLOW, "alloca", size, 0);
        return false;
    }
    thread->top = (uint32_t)((thread->top - size) & ~(align - 1));
    *out = thread->top;
    return true;
}

bool ptx_stack_restore(struct ptx_block *block, struct ptx_thread *thread, uint32_t top)
{
    if (top < thread->top || top > block->local_bytes) {
        ptx_fault(block, PTX_STACK_OVERFLOW, "stackrestore", top, 0);
        return false;
    }
    thread->top = top;
    return true;
}
