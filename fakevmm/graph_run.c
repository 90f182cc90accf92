/* graph_run.c: runs a launch. Workers take segments whose dependencies have finished and run their
 * actions one by one, so branches of a graph overlap and a branch that waits for an event, a value
 * or the host holds up nobody else. It must not know how a launch came about (graph_launch.c). */
#include "door.h"
#include "event.h"
#include "graph_launch.h"
#include "stream_ops.h"
#include "va.h"

static bool is_over(const struct fv_launch *launch)
{
    return launch->failed || launch->work.context->sticky != CUDA_SUCCESS ||
           launch->finished == launch->schedule->segment_count;
}

/* ---- actions; without the lock ---- */

static CUresult run_action(struct fv_launch *launch, size_t index);

/* Actions in the order of the plan; those inside conditional nodes are theirs to run. */
static CUresult run_range(struct fv_launch *launch, const struct fv_range *range)
{
    const struct fv_schedule *schedule = launch->schedule;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = range->begin; i < range->end && result == CUDA_SUCCESS; i++) {
        const struct fv_choice *choice = NULL;
        result = run_action(launch, i);
        if (launch->plan->actions[i].params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            choice = fv_schedule_choice(schedule, i);
        if (choice)
            i = schedule->bodies[choice->body + choice->count - 1].end - 1;
    }
    return result;
}

/* A loop that nothing else ends, ends when another branch fails or the process does. */
static bool may_go_on(const struct fv_launch *launch)
{
    fv_lock();
    bool go_on = !is_over(launch) && !fv_workers_stopping();
    fv_unlock();
    return go_on;
}

static CUresult run_choice(struct fv_launch *launch, size_t index, const struct fv_params *params)
{
    const struct fv_choice *choice = fv_schedule_choice(launch->schedule, index);
    const struct fv_range *bodies = &launch->schedule->bodies[choice->body];
    const struct fv_condition *condition = params->conditional.condition;
    unsigned value = fv_condition_value(condition);
    CUresult result = CUDA_SUCCESS;
    switch (params->conditional.set.type) {
    case CU_GRAPH_COND_TYPE_IF: value = value ? 0 : 1; break;
    case CU_GRAPH_COND_TYPE_WHILE:
        for (; value && result == CUDA_SUCCESS && may_go_on(launch);
             value = fv_condition_value(condition))
            result = run_range(launch, &bodies[0]);
        return result;
    case CU_GRAPH_COND_TYPE_SWITCH: break;
    }
    return value < choice->count ? run_range(launch, &bodies[value]) : CUDA_SUCCESS;
}

static void end_record(struct fv_call_state *call)
{
    fv_lock();
    fv_record_end(call->record);
    call->record = NULL;
    fv_changed();
    fv_unlock();
}

static void run_memory(struct fv_call_state *call, const struct fv_params *params)
{
    fv_lock();
    fv_memory_run(params);
    call->coming = false;
    fv_unlock();
}

static CUresult run_action(struct fv_launch *launch, size_t index)
{
    const struct fv_action *action = &launch->plan->actions[index];
    struct fv_call_state *call = &launch->calls[action->slot];
    if (!action->enabled)
        return CUDA_SUCCESS;
    switch (action->params->type) {
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return CUDA_SUCCESS; /* it was waited for */
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return call->error;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: end_record(call); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE: run_memory(call, action->params); return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return run_choice(launch, index, action->params);
    default: return fv_params_run(action->params, &action->company);
    }
}

static CUresult run_segment(struct fv_launch *launch, size_t index)
{
    const struct fv_segment *segment = &launch->schedule->segments[index];
    const size_t *order = &launch->schedule->order[segment->first];
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < segment->count && result == CUDA_SUCCESS; i++)
        result = run_action(launch, order[i]);
    return result;
}

/* ---- pieces; with the lock ---- */

static void push(struct fv_launch *launch, size_t *list, size_t index)
{
    launch->pieces[index].next = *list;
    *list = index;
}

static const struct fv_action *first_action(const struct fv_launch *launch, size_t index)
{
    const struct fv_segment *segment = &launch->schedule->segments[index];
    return segment->count ? &launch->plan->actions[launch->schedule->order[segment->first]] : NULL;
}

/* True once what the segment's first action waits for has happened. */
static bool may_start(struct fv_launch *launch, size_t index)
{
    const struct fv_action *action = first_action(launch, index);
    if (!action)
        return true;
    const struct fv_params *params = action->params;
    struct fv_call_state *call = &launch->calls[action->slot];
    if (params->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        return fv_record_done(call->record);
    if (params->type != CU_GRAPH_NODE_TYPE_BATCH_MEM_OP)
        return true;
    return fv_batch_ops_step(params->batch.paramArray, params->batch.count, &call->next,
                             FV_COPY_ON(params->device), &call->error);
}

/* The dependencies of a segment have finished. */
static void arm(struct fv_launch *launch, size_t index)
{
    push(launch, may_start(launch, index) ? &launch->ready : &launch->blocked, index);
}

static void arm_roots(struct fv_launch *launch)
{
    while (launch->ready == FV_NO_PIECE && launch->next_root < launch->schedule->root_count)
        arm(launch, launch->schedule->roots[launch->next_root++]);
}

static void ask_blocked(struct fv_launch *launch)
{
    size_t blocked = launch->blocked;
    launch->blocked = FV_NO_PIECE;
    while (blocked != FV_NO_PIECE) {
        size_t index = blocked;
        blocked = launch->pieces[index].next;
        arm(launch, index);
    }
}

enum fv_pieces fv_launch_pieces(struct fv_work *work)
{
    struct fv_launch *launch = (struct fv_launch *)work;
    if (is_over(launch))
        return FV_PIECES_DONE;
    arm_roots(launch);
    if (launch->ready == FV_NO_PIECE)
        ask_blocked(launch);
    return launch->ready == FV_NO_PIECE ? FV_PIECES_WAIT : FV_PIECES_READY;
}

static void finish(struct fv_launch *launch, size_t index)
{
    const struct fv_segment *segment = &launch->schedule->segments[index];
    launch->finished++;
    for (size_t i = 0; i < segment->out_count; i++) {
        size_t next = launch->schedule->out[segment->out + i];
        if (++launch->pieces[next].arrived == launch->schedule->segments[next].waits)
            arm(launch, next);
    }
    /* This worker goes on with one of them. */
    if (launch->ready != FV_NO_PIECE && launch->pieces[launch->ready].next != FV_NO_PIECE)
        fv_work_added();
}

CUresult fv_launch_run(struct fv_work *work)
{
    struct fv_launch *launch = (struct fv_launch *)work;
    CUresult result = CUDA_SUCCESS;
    fv_lock();
    while (result == CUDA_SUCCESS && fv_launch_pieces(work) == FV_PIECES_READY) {
        size_t index = launch->ready;
        launch->ready = launch->pieces[index].next;
        fv_unlock();
        result = run_segment(launch, index);
        fv_lock();
        if (result == CUDA_SUCCESS)
            finish(launch, index);
    }
    if (result != CUDA_SUCCESS)
        launch->failed = true;
    fv_unlock();
    return result;
}

/* A module or a context may have gone since; on a GPU the kernel's code would be missing. */
void fv_launch_begin(struct fv_work *work)
{
    struct fv_launch *launch = (struct fv_launch *)work;
    const struct fv_schedule *schedule = launch->schedule;
    if (!launch->plan)
        return;
    size_t gone = fv_plan_check(launch->plan);
    if (gone < launch->plan->count) {
        fv_say("a graph launch needs a function or context that is gone (node %zu of %zu)", gone,
               launch->plan->count);
        launch->failed = true;
        fv_context_poison(work->context, CUDA_ERROR_INVALID_PC);
        return;
    }
    for (size_t i = 0; i < schedule->choice_count; i++)
        fv_condition_reset(
            launch->plan->actions[schedule->choices[i].action].params->conditional.condition);
}
