/* graph_plan.c: plans: what the actions of an exec do, shared with its queued launches and copied
 * before a change. */
#include "graph_exec.h"

#include <stdlib.h>

struct fv_plan *fv_plan_new(size_t count, size_t level_count)
{
    struct fv_plan *plan = calloc(1, sizeof *plan + count * sizeof *plan->actions);
    if (!plan)
        return NULL;
    plan->objects = calloc(level_count, sizeof *plan->objects);
    if (!plan->objects) {
        free(plan);
        return NULL;
    }
    plan->refs = 1;
    plan->level_count = level_count;
    plan->count = count;
    plan->generation = fv_params_generation();
    return plan;
}

void fv_plan_put(struct fv_plan *plan)
{
    if (--plan->refs)
        return;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->actions[i].params)
            fv_params_put(plan->actions[i].params);
    for (size_t i = 0; i < plan->level_count; i++)
        fv_objects_put(plan->objects[i]);
    free(plan->objects);
    free(plan);
}

CUresult fv_plan_own(struct fv_exec *exec)
{
    struct fv_plan *old = exec->plan;
    if (old->refs == 1)
        return CUDA_SUCCESS;
    struct fv_plan *plan = fv_plan_new(old->count, old->level_count);
    if (!plan)
        return CUDA_ERROR_OUT_OF_MEMORY;
    plan->generation = old->generation;
    for (size_t i = 0; i < old->count; i++) {
        plan->actions[i] = old->actions[i];
        fv_params_get(plan->actions[i].params);
    }
    for (size_t i = 0; i < old->level_count; i++)
        plan->objects[i] = fv_objects_get(old->objects[i]);
    fv_plan_put(old);
    exec->plan = plan;
    return CUDA_SUCCESS;
}

/* Nothing can have gone while no function and no context has. A disabled action is looked at too
 * late, when it is enabled again, unless it is looked at now. */
size_t fv_plan_check(struct fv_plan *plan)
{
    uint64_t now = fv_params_generation();
    bool all = true;
    if (plan->generation == now)
        return plan->count;
    for (size_t i = 0; i < plan->count; i++) {
        bool alive = fv_params_alive(plan->actions[i].params);
        if (!alive && plan->actions[i].enabled)
            return i;
        all = all && alive;
    }
    if (all)
        plan->generation = now;
    return plan->count;
}
