/* graph_launch.c: queues launches and uploads. A launch is one unit of stream work: it holds the
 * plan of the moment it was called, stands in the exec's line, and is run by graph_run.c. Launches
 * of one exec never overlap, on whatever streams they are. What depends on the order of the
 * application's calls is settled here: what an event stands for, whether memory is allocated. */
#include "graph_launch.h"
#include "event.h"

#include <stdlib.h>

/* Launches and uploads of one exec that have not finished, oldest first. */
struct fv_line {
    unsigned refs; /* the exec's and one for each launch */
    struct fv_launch *head, **tail;
};

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

static void line_join(struct fv_line *line, struct fv_launch *launch)
{
    launch->line = line;
    line->refs++;
    *line->tail = launch;
    line->tail = &launch->next;
}

/* From any place: work that an error drops may leave before its turn. */
static void line_leave(struct fv_launch *launch)
{
    struct fv_line *line = launch->line;
    struct fv_launch **at = &line->head;
    while (*at != launch)
        at = &(*at)->next;
    *at = launch->next;
    if (!launch->next)
        line->tail = at;
    fv_line_put(line);
}

static bool launch_ready(struct fv_work *work)
{
    struct fv_launch *launch = (struct fv_launch *)work;
    return launch->line->head == launch;
}

/* ---- what the order of calls decides ---- */

static const struct fv_params *call_params(const struct fv_launch *launch, size_t index)
{
    return launch->plan->actions[launch->schedule->calls[index]].params;
}

static bool is_event(const struct fv_params *params)
{
    return params->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT ||
           params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
}

static bool is_memory(const struct fv_params *params)
{
    return params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
           params->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/* The node's event. CUDA_ERROR_INVALID_VALUE if it was destroyed. */
static CUresult event_of(const struct fv_params *params, struct fv_event **out)
{
    CUresult result = fv_event_of(params->event.handle, out);
    if (result == CUDA_ERROR_INVALID_HANDLE ||
        (result == CUDA_SUCCESS && fv_event_id(*out) != params->event.id))
        return CUDA_ERROR_INVALID_VALUE;
    return result;
}

/* An event that is recorded stands for this launch from now on; one that is waited for, for what it
 * stands for now. */
static CUresult prepare_event(const struct fv_params *params, struct fv_call_state *call)
{
    struct fv_event *event;
    CUresult result = event_of(params, &event);
    if (result != CUDA_SUCCESS)
        return result;
    return params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD ? fv_event_begin(event, &call->record)
                                                           : fv_event_latest(event, &call->record);
}

/* Nothing is changed unless all of it can be had. */
static CUresult check_calls(const struct fv_launch *launch, bool again)
{
    struct fv_event *event;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < launch->schedule->call_count && result == CUDA_SUCCESS; i++) {
        const struct fv_params *params = call_params(launch, i);
        if (is_event(params))
            result = event_of(params, &event);
        else if (is_memory(params))
            result = fv_memory_prepare(params, again);
    }
    return result;
}

static CUresult prepare_events(struct fv_launch *launch)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < launch->schedule->call_count && result == CUDA_SUCCESS; i++) {
        const struct fv_params *params = call_params(launch, i);
        if (is_event(params))
            result = prepare_event(params, &launch->calls[i]);
    }
    return result;
}

static void queue_memory(struct fv_launch *launch)
{
    for (size_t i = 0; i < launch->schedule->call_count; i++) {
        if (!is_memory(call_params(launch, i)))
            continue;
        launch->calls[i].coming = true;
        fv_memory_queue(call_params(launch, i));
    }
}

/* What the launch has not come to. Nobody shall wait for it for ever. */
static void cancel_calls(struct fv_launch *launch)
{
    for (size_t i = 0; i < launch->schedule->call_count; i++) {
        const struct fv_params *params = call_params(launch, i);
        struct fv_call_state *call = &launch->calls[i];
        if (call->coming)
            fv_memory_cancel(params);
        if (params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && call->record)
            fv_record_end(call->record);
        if (params->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
            fv_record_put(call->record);
    }
}

/* ---- a launch as stream work ---- */

static const char *launch_uses(const struct fv_work *work, CUdeviceptr base, size_t size)
{
    const struct fv_launch *launch = (const struct fv_launch *)work;
    const char *what = NULL;
    for (size_t i = 0; launch->plan && i < launch->plan->count && !what; i++)
        if (launch->plan->actions[i].enabled)
            what = fv_params_use(launch->plan->actions[i].params, base, size);
    return what;
}

/* All but its place in line. */
static void launch_free(struct fv_launch *launch)
{
    if (launch->plan) {
        if (launch->calls)
            cancel_calls(launch);
        fv_plan_put(launch->plan);
        fv_schedule_put(launch->schedule);
    }
    free(launch->calls);
    free(launch->pieces);
    free(launch);
}

static void launch_retire(struct fv_work *work)
{
    struct fv_launch *launch = (struct fv_launch *)work;
    line_leave(launch);
    launch_free(launch);
}

static struct fv_launch *launch_new(struct fv_exec *exec)
{
    struct fv_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return NULL;
    launch->plan = exec->plan;
    launch->schedule = exec->schedule;
    exec->plan->refs++;
    exec->schedule->refs++;
    launch->work = (struct fv_work){.ready = launch_ready,
                                    .begin = fv_launch_begin,
                                    .run = fv_launch_run,
                                    .pieces = fv_launch_pieces,
                                    .retire = launch_retire,
                                    .uses = launch_uses,
                                    .polls = exec->schedule->polls};
    launch->ready = launch->blocked = FV_NO_PIECE;
    launch->calls = calloc(exec->schedule->call_count + 1, sizeof *launch->calls);
    launch->pieces = calloc(exec->schedule->segment_count + 1, sizeof *launch->pieces);
    if (launch->calls && launch->pieces)
        return launch;
    launch_free(launch);
    return NULL;
}

static CUresult queue_run(struct fv_exec *exec, struct fv_stream *stream)
{
    bool again = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    struct fv_launch *launch = launch_new(exec);
    if (!launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = check_calls(launch, again);
    if (result == CUDA_SUCCESS)
        result = prepare_events(launch);
    if (result != CUDA_SUCCESS) {
        launch_free(launch);
        return result;
    }
    queue_memory(launch);
    line_join(exec->line, launch);
    fv_submit(stream, &launch->work);
    return CUDA_SUCCESS;
}

static CUresult queue_upload(struct fv_exec *exec, struct fv_stream *stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < exec->schedule->call_count && result == CUDA_SUCCESS; i++)
        result = fv_memory_upload(exec->plan->actions[exec->schedule->calls[i]].params);
    if (result != CUDA_SUCCESS)
        return result;
    struct fv_launch *launch = calloc(1, sizeof *launch);
    if (!launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    launch->work = (struct fv_work){.ready = launch_ready, .retire = launch_retire};
    line_join(exec->line, launch);
    fv_submit(stream, &launch->work);
    return CUDA_SUCCESS;
}

CUresult fv_exec_queue(struct fv_exec *exec, struct fv_stream *stream, bool run)
{
    return run ? queue_run(exec, stream) : queue_upload(exec, stream);
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
