/* graph_condition.c: the values that conditional nodes decide by, and the handles kernels set them
 * by. A handle belongs to the graph it was made for and to one node; a launch reads its value with
 * no lock of the driver's, so values have one of their own. */
#include "graph.h"

#include <pthread.h>
#include <stdlib.h>

struct fv_condition {
    CUgraphConditionalHandle handle; /* never reused */
    unsigned refs;                   /* the graph's and those of parameters */
    unsigned long long graph;        /* id */
    struct fv_context *context;
    unsigned initial;
    bool has_initial;
    bool taken; /* a node has it */
    unsigned value;
    struct fv_condition *next;  /* of the same graph */
    struct fv_condition *below; /* in the table */
};

static struct {
    pthread_mutex_t lock; /* taken last; also guards the values */
    struct fv_condition *top;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct fv_condition *find(CUgraphConditionalHandle handle)
{
    struct fv_condition *it = table.top;
    while (it && it->handle != handle)
        it = it->below;
    return it;
}

/* ---- life ---- */

static void enter(struct fv_condition *condition)
{
    static CUgraphConditionalHandle last;
    pthread_mutex_lock(&table.lock);
    condition->handle = ++last;
    condition->below = table.top;
    table.top = condition;
    pthread_mutex_unlock(&table.lock);
}

void fv_condition_put(struct fv_condition *condition)
{
    if (!condition || --condition->refs)
        return;
    pthread_mutex_lock(&table.lock);
    struct fv_condition **at = &table.top;
    while (*at != condition)
        at = &(*at)->below;
    *at = condition->below;
    pthread_mutex_unlock(&table.lock);
    free(condition);
}

void fv_conditions_drop(struct fv_graph *graph)
{
    for (struct fv_condition *it = graph->conditions, *next; it; it = next) {
        next = it->next;
        fv_condition_put(it);
    }
    graph->conditions = NULL;
}

CUresult fv_cuGraphConditionalHandleCreate(CUgraphConditionalHandle *out, CUgraph handle,
                                           CUcontext context_handle, unsigned initial,
                                           unsigned flags)
{
    struct fv_graph *graph;
    struct fv_context *context;
    CUresult result = fv_graph_of(handle, &graph);
    if (result == CUDA_SUCCESS)
        result = fv_context_of(context_handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT))
        return CUDA_ERROR_INVALID_VALUE;
    struct fv_condition *condition = calloc(1, sizeof *condition);
    if (!condition)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *condition = (struct fv_condition){.refs = 1,
                                       .graph = graph->id,
                                       .context = context,
                                       .initial = initial,
                                       .has_initial = flags & CU_GRAPH_COND_ASSIGN_DEFAULT,
                                       .next = graph->conditions};
    graph->conditions = condition;
    enter(condition);
    *out = condition->handle;
    return CUDA_SUCCESS;
}

/* ---- for nodes ---- */

static bool size_fits(const CUDA_CONDITIONAL_NODE_PARAMS *set)
{
    switch (set->type) {
    case CU_GRAPH_COND_TYPE_IF: return set->size == 1 || set->size == 2;
    case CU_GRAPH_COND_TYPE_WHILE: return set->size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH: return set->size > 0;
    default: return false;
    }
}

CUresult fv_params_set_condition(struct fv_params *params, const CUDA_CONDITIONAL_NODE_PARAMS *set)
{
    CUresult result = fv_params_set_context(params, set->ctx);
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&table.lock);
    struct fv_condition *condition = find(set->handle);
    pthread_mutex_unlock(&table.lock);
    if (!condition || condition->context != params->context || !size_fits(set))
        return CUDA_ERROR_INVALID_VALUE;
    condition->refs++;
    params->conditional.condition = condition;
    params->conditional.set = *set;
    params->conditional.set.ctx = (CUcontext)params->context;
    params->conditional.set.phGraph_out = NULL;
    return CUDA_SUCCESS;
}

CUresult fv_condition_take(struct fv_condition *condition, const struct fv_graph *graph)
{
    const struct fv_graph *it = graph;
    while (it && it->id != condition->graph)
        it = it->owner ? it->owner->graph : NULL;
    if (!it || condition->taken)
        return CUDA_ERROR_INVALID_VALUE;
    condition->taken = true;
    return CUDA_SUCCESS;
}

void fv_condition_leave(struct fv_condition *condition)
{
    condition->taken = false;
}

bool fv_conditions_used(const struct fv_graph *graph)
{
    const struct fv_condition *it = graph->conditions;
    while (it && it->taken)
        it = it->next;
    return !it;
}

/* ---- values ---- */

void fv_condition_reset(struct fv_condition *condition)
{
    if (!condition->has_initial)
        return;
    pthread_mutex_lock(&table.lock);
    condition->value = condition->initial;
    pthread_mutex_unlock(&table.lock);
}

unsigned fv_condition_value(const struct fv_condition *condition)
{
    pthread_mutex_lock(&table.lock);
    unsigned value = condition->value;
    pthread_mutex_unlock(&table.lock);
    return value;
}

void fv_conditional_set(CUgraphConditionalHandle handle, unsigned value)
{
    pthread_mutex_lock(&table.lock);
    struct fv_condition *condition = find(handle);
    if (condition)
        condition->value = value;
    pthread_mutex_unlock(&table.lock);
}
