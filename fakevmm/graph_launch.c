/* graph_launch.c: what a launch does and when. A launch is one unit of stream work: it holds the
 * plan of the moment it was called, stands in the exec's line, and runs the plan's actions one
 * after the other. Launches of one exec never overlap, on whatever streams they are. */
#include "graph_exec.h"

#include <stdlib.h>

/* Launches and uploads of one exec that have not finished, oldest first. */
struct fv_line {
    unsigned refs; /* the exec's and one for each launch */
    struct launch *head, **tail;
};

struct launch {
    struct fv_work work;
    struct fv_plan *plan; /* NULL: an upload */
    struct fv_line *line;
    struct launch *next;
    CUresult error; /* found when its turn came */
};

/* ---- plans ---- */

struct fv_plan *fv_plan_new(size_t count)
{
    struct fv_plan *plan = calloc(1, sizeof *plan + count * sizeof *plan->actions);
    if (plan) {
        plan->refs = 1;
        plan->count = count;
    }
    return plan;
}

void fv_plan_put(struct fv_plan *plan)
{
    if (--plan->refs)
        return;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->actions[i].params)
            fv_params_put(plan->actions[i].params);
    free(plan);
}

CUresult fv_plan_own(struct fv_exec *exec)
{
    struct fv_plan *old = exec->plan;
    if (old->refs == 1)
        return CUDA_SUCCESS;
    struct fv_plan *plan = fv_plan_new(old->count);
    if (!plan)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < old->count; i++) {
        plan->actions[i].params = fv_params_get(old->actions[i].params);
        plan->actions[i].enabled = old->actions[i].enabled;
    }
    fv_plan_put(old);
    exec->plan = plan;
    return CUDA_SUCCESS;
}

/* ---- lines ---- */

struct fv_line *fv_line_new(void)
{
    struct fv_line *line = calloc(1, sizeof *line);
    if (line) {
        line->refs = 1;
        line->tail = &line->head;
    }
    return line;
}

void fv_line_put(struct fv_line *line)
{
    if (!--line->refs)
        free(line);
}

static void line_join(struct fv_line *line, struct launch *launch)
{
    launch->line = line;
    line->refs++;
    *line->tail = launch;
    line->tail = &launch->next;
}

/* From any place: work that an error drops may leave before its turn. */
static void line_leave(struct launch *launch)
{
    struct fv_line *line = launch->line;
    struct launch **at = &line->head;
    while (*at != launch)
        at = &(*at)->next;
    *at = launch->next;
    if (!launch->next)
        line->tail = at;
    fv_line_put(line);
}

/* ---- a launch as stream work ---- */

static bool launch_ready(struct fv_work *work)
{
    struct launch *launch = (struct launch *)work;
    return launch->line->head == launch;
}

/* A module or a context may have gone since; on a GPU the kernel's code would be missing. */
static void launch_begin(struct fv_work *work)
{
    struct launch *launch = (struct launch *)work;
    for (size_t i = 0; launch->plan && i < launch->plan->count; i++) {
        const struct fv_action *action = &launch->plan->actions[i];
        if (!action->enabled || fv_params_alive(action->params))
            continue;
        fv_say("a graph launch needs a function or context that is gone (node %zu of %zu)", i,
               launch->plan->count);
        launch->error = CUDA_ERROR_INVALID_PC;
        return;
    }
}

static CUresult launch_run(struct fv_work *work)
{
    const struct launch *launch = (const struct launch *)work;
    CUresult result = launch->error;
    for (size_t i = 0; launch->plan && i < launch->plan->count && result == CUDA_SUCCESS; i++)
        if (launch->plan->actions[i].enabled)
            result = fv_params_run(launch->plan->actions[i].params);
    return result;
}

static const char *launch_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    const struct launch *launch = (const struct launch *)work;
    const char *what = NULL;
    for (size_t i = 0; launch->plan && i < launch->plan->count && !what; i++)
        if (launch->plan->actions[i].enabled)
            what = fv_params_use(launch->plan->actions[i].params, base, size);
    return what;
}

static void launch_retire(struct fv_work *work)
{
    struct launch *launch = (struct launch *)work;
    line_leave(launch);
    if (launch->plan)
        fv_plan_put(launch->plan);
    free(launch);
}

CUresult fv_exec_queue(struct fv_exec *exec, struct fv_stream *stream, bool run)
{
    struct launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    launch->work.ready = launch_ready;
    launch->work.begin = launch_begin;
    launch->work.run = launch_run;
    launch->work.retire = launch_retire;
    launch->work.uses = launch_uses;
    if (run) {
        launch->plan = exec->plan;
        exec->plan->refs++;
    }
    line_join(exec->line, launch);
    fv_submit(stream, &launch->work);
    return CUDA_SUCCESS;
}

/* ---- the driver's calls ---- */

static CUresult queue(CUgraphExec exec_handle, CUstream stream_handle, bool run)
{
    struct fv_exec *exec;
    struct fv_stream *stream;
    CUresult result = fv_exec_of(exec_handle, &exec);
    if (result == CUDA_SUCCESS)
        result = run ? fv_stream_for_work(stream_handle, &stream)
                     : fv_stream_uncaptured(stream_handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    return stream->tail ? fv_exec_capture(exec, stream) : fv_exec_queue(exec, stream, run);
}

CUresult fv_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    return queue(exec, stream, true);
}

CUresult fv_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    return queue(exec, stream, false);
}
