/* graph_schedule.c: finds the order of an exec's actions. Child graphs are dissolved into the graph
 * around them: their roots follow the node's own action, and an invisible place behind their last
 * nodes, the join, stands for the node's end. Then places in a row become segments. The bodies of
 * conditional nodes are left out: who runs such a node runs them. It must not know what actions do,
 * but which kinds may have to wait. */
#include "graph_schedule.h"

#include <stdlib.h>

#define NONE SIZE_MAX

struct place_edge {
    size_t from, to;
};

/* A place is an action or, above the plan's count, a join. Arrays are by place but for those by
 * step. */
struct making {
    struct fv_exec *exec;
    struct fv_schedule *schedule;
    size_t places;
    size_t *step_of;             /* of an action */
    size_t *join_of;             /* by step: its join, for a child graph node */
    bool *has_out;               /* by step: another one of its level depends on it */
    bool *there;                 /* not inside a conditional node */
    size_t *in_degree, *last_in; /* and the last place found to lead here */
    size_t *out_degree, *first_out;
    size_t *out; /* places, by the place they follow */
    struct place_edge *edges;
    size_t edge_count, edge_room;
    size_t *segment_of; /* by the place it begins with */
    size_t *last_of;    /* by segment: the place it ends with */
};

static bool add_edge(struct making *making, size_t from, size_t to)
{
    if (making->edge_count == making->edge_room) {
        size_t room = making->edge_room ? making->edge_room * 2 : 64;
        struct place_edge *edges = realloc(making->edges, room * sizeof *edges);
        if (!edges)
            return false;
        making->edges = edges;
        making->edge_room = room;
    }
    making->edges[making->edge_count++] = (struct place_edge){from, to};
    making->out_degree[from]++;
    making->in_degree[to]++;
    making->last_in[to] = from;
    return true;
}

static CUgraphNodeType type_of(const struct making *making, size_t place)
{
    return making->exec->steps[making->step_of[place]].type;
}

/* ---- edges between places ---- */

static size_t exit_of(const struct making *making, size_t step)
{
    return making->join_of[step] == NONE ? making->exec->steps[step].action : making->join_of[step];
}

static bool walk_level(struct making *making, size_t index, size_t entry);

/* The inside of a child graph node, and its join. */
static bool walk_child(struct making *making, size_t step)
{
    const struct fv_exec *exec = making->exec;
    const struct fv_level *level = &exec->levels[exec->steps[step].level];
    size_t join = making->join_of[step];
    making->there[join] = true;
    if (!level->count)
        return add_edge(making, exec->steps[step].action, join);
    if (!walk_level(making, exec->steps[step].level, exec->steps[step].action))
        return false;
    for (size_t i = level->first; i < level->first + level->count; i++)
        if (!making->has_out[i] && !add_edge(making, exit_of(making, i), join))
            return false;
    return true;
}

static bool walk_step(struct making *making, const struct fv_level *level, size_t index,
                      size_t entry)
{
    const struct fv_step *step = &making->exec->steps[index];
    making->there[step->action] = true;
    if (!step->in_count && entry != NONE && !add_edge(making, entry, step->action))
        return false;
    for (size_t i = 0; i < step->in_count; i++) {
        size_t from = level->first + step->in[i].from;
        making->has_out[from] = true;
        if (!add_edge(making, exit_of(making, from), step->action))
            return false;
    }
    return step->type != CU_GRAPH_NODE_TYPE_GRAPH || walk_child(making, index);
}

static bool walk_level(struct making *making, size_t index, size_t entry)
{
    const struct fv_level *level = &making->exec->levels[index];
    for (size_t i = level->first; i < level->first + level->count; i++)
        if (!walk_step(making, level, i, entry))
            return false;
    return true;
}

/* Sorts the edges by where they come from. */
static void index_edges(struct making *making)
{
    size_t next = 0;
    for (size_t i = 0; i < making->places; i++) {
        making->first_out[i] = next;
        next += making->out_degree[i];
        making->out_degree[i] = 0; /* counted again below */
    }
    for (size_t i = 0; i < making->edge_count; i++) {
        const struct place_edge *edge = &making->edges[i];
        making->out[making->first_out[edge->from] + making->out_degree[edge->from]++] = edge->to;
    }
}

/* ---- segments ---- */

/* What may have to wait for more than its dependencies begins a segment. */
static bool may_wait(const struct making *making, size_t place)
{
    if (place >= making->exec->plan->count)
        return false;
    return type_of(making, place) == CU_GRAPH_NODE_TYPE_WAIT_EVENT ||
           type_of(making, place) == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
}

static bool begins_segment(const struct making *making, size_t place)
{
    return making->there[place] &&
           (making->in_degree[place] != 1 || making->out_degree[making->last_in[place]] != 1 ||
            may_wait(making, place));
}

static void add_segment(struct making *making, size_t place, size_t *used)
{
    struct fv_schedule *schedule = making->schedule;
    struct fv_segment *segment = &schedule->segments[schedule->segment_count];
    segment->first = *used;
    segment->waits = making->in_degree[place];
    making->segment_of[place] = schedule->segment_count;
    if (!segment->waits)
        schedule->roots[schedule->root_count++] = schedule->segment_count;
    for (;;) {
        if (place < making->exec->plan->count)
            schedule->order[(*used)++] = place;
        if (making->out_degree[place] != 1 ||
            begins_segment(making, making->out[making->first_out[place]]))
            break;
        place = making->out[making->first_out[place]];
    }
    segment->count = *used - segment->first;
    making->last_of[schedule->segment_count++] = place;
}

static void make_segments(struct making *making)
{
    struct fv_schedule *schedule = making->schedule;
    size_t used = 0, next = 0;
    for (size_t place = 0; place < making->places; place++)
        if (begins_segment(making, place))
            add_segment(making, place, &used);
    for (size_t i = 0; i < schedule->segment_count; i++) {
        struct fv_segment *segment = &schedule->segments[i];
        const size_t *out = &making->out[making->first_out[making->last_of[i]]];
        segment->out = next;
        segment->out_count = making->out_degree[making->last_of[i]];
        for (size_t j = 0; j < segment->out_count; j++)
            schedule->out[next++] = making->segment_of[out[j]];
    }
}

/* ---- what launches ask for ---- */

static bool is_call(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return true;
    default: return false;
    }
}

static void list_calls(struct making *making)
{
    struct fv_schedule *schedule = making->schedule;
    for (size_t i = 0; i < making->exec->plan->count; i++) {
        if (!making->there[i] || !is_call(type_of(making, i)))
            continue;
        schedule->polls |= type_of(making, i) == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
        making->exec->plan->actions[i].slot = schedule->call_count;
        schedule->calls[schedule->call_count++] = i;
    }
}

static void list_choices(struct making *making)
{
    struct fv_schedule *schedule = making->schedule;
    size_t bodies = 0;
    for (size_t i = 0; i < making->exec->plan->count; i++) {
        const struct fv_step *step = &making->exec->steps[making->step_of[i]];
        if (step->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
            continue;
        schedule->choices[schedule->choice_count++] =
            (struct fv_choice){i, bodies, step->level_count};
        for (size_t j = 0; j < step->level_count; j++) {
            const struct fv_level *level = &making->exec->levels[step->level + j];
            schedule->bodies[bodies++] = (struct fv_range){level->begin, level->end};
        }
    }
}

const struct fv_choice *fv_schedule_choice(const struct fv_schedule *schedule, size_t action)
{
    size_t low = 0, high = schedule->choice_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (schedule->choices[middle].action == action)
            return &schedule->choices[middle];
        if (schedule->choices[middle].action < action)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ---- all of it ---- */

/* Numbers the joins. */
static void index_steps(struct making *making)
{
    for (size_t i = 0; i < making->exec->count; i++) {
        const struct fv_step *step = &making->exec->steps[i];
        making->step_of[step->action] = i;
        making->join_of[i] = step->type == CU_GRAPH_NODE_TYPE_GRAPH ? making->places++ : NONE;
    }
}

/* Every array, at the most it can need: twice as many places as steps. */
static bool reserve(struct making *making, size_t steps)
{
    struct fv_schedule *schedule = making->schedule;
    size_t most = 2 * steps + 1;
    making->step_of = calloc(most, sizeof *making->step_of);
    making->join_of = calloc(most, sizeof *making->join_of);
    making->has_out = calloc(most, sizeof *making->has_out);
    making->there = calloc(most, sizeof *making->there);
    making->in_degree = calloc(most, sizeof *making->in_degree);
    making->last_in = calloc(most, sizeof *making->last_in);
    making->out_degree = calloc(most, sizeof *making->out_degree);
    making->first_out = calloc(most, sizeof *making->first_out);
    making->segment_of = calloc(most, sizeof *making->segment_of);
    making->last_of = calloc(most, sizeof *making->last_of);
    schedule->segments = calloc(most, sizeof *schedule->segments);
    schedule->order = calloc(most, sizeof *schedule->order);
    schedule->roots = calloc(most, sizeof *schedule->roots);
    schedule->calls = calloc(most, sizeof *schedule->calls);
    schedule->choices = calloc(most, sizeof *schedule->choices);
    schedule->bodies = calloc(making->exec->level_count, sizeof *schedule->bodies);
    return making->step_of && making->join_of && making->has_out && making->there &&
           making->in_degree && making->last_in && making->out_degree && making->first_out &&
           making->segment_of && making->last_of && schedule->segments && schedule->order &&
           schedule->roots && schedule->calls && schedule->choices && schedule->bodies;
}

static bool reserve_edges(struct making *making)
{
    making->out = calloc(making->edge_count + 1, sizeof *making->out);
    making->schedule->out = calloc(making->edge_count + 1, sizeof *making->schedule->out);
    return making->out && making->schedule->out;
}

static bool make(struct making *making)
{
    if (!reserve(making, making->exec->count))
        return false;
    making->places = making->exec->plan->count;
    index_steps(making);
    if (!walk_level(making, 0, NONE) || !reserve_edges(making))
        return false;
    index_edges(making);
    make_segments(making);
    list_calls(making);
    list_choices(making);
    return true;
}

static void drop(struct making *making)
{
    free(making->step_of);
    free(making->join_of);
    free(making->has_out);
    free(making->there);
    free(making->in_degree);
    free(making->last_in);
    free(making->out_degree);
    free(making->first_out);
    free(making->out);
    free(making->edges);
    free(making->segment_of);
    free(making->last_of);
}

struct fv_schedule *fv_schedule_new(struct fv_exec *exec)
{
    struct making making = {.exec = exec, .schedule = calloc(1, sizeof *making.schedule)};
    if (!making.schedule)
        return NULL;
    making.schedule->refs = 1;
    bool made = make(&making);
    drop(&making);
    if (made)
        return making.schedule;
    fv_schedule_put(making.schedule);
    return NULL;
}

void fv_schedule_put(struct fv_schedule *schedule)
{
    if (--schedule->refs)
        return;
    free(schedule->segments);
    free(schedule->order);
    free(schedule->out);
    free(schedule->roots);
    free(schedule->calls);
    free(schedule->choices);
    free(schedule->bodies);
    free(schedule);
}
