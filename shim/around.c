/* around.c: what the classes of body AROUND do, read from the rows of effects.h. It must not know
 * single functions: what a call means is its row, and which row it has is in entries.h. */
#include "shim/around.h"

#include <stdlib.h>

static const struct vr_effect effects[VR_CLASSES] = {
#define VR_CLASS(class, records, generation, epoch, profile, memory)                               \
    [VR_CLASS_##class] = {VR_RECORDS_##records, VR_GENERATION_##generation, VR_EPOCH_##epoch,      \
                          VR_PROFILE_##profile, VR_MEMORY_##memory},
#include "shim/effects.h"
};

/* What follows from another column is not read below; a row that contradicts itself does not
 * compile. */
#define VR_CLASS(class, records, generation, epoch, profile, memory)                               \
    _Static_assert((VR_RECORDS_##records == VR_RECORDS_ALL) ==                                     \
                       (VR_GENERATION_##generation == VR_GENERATION_MOVES),                        \
                   #class ": all records are stale when the generation moves, and only then");     \
    _Static_assert((VR_RECORDS_##records == VR_RECORDS_ORIGIN) ==                                  \
                       (VR_EPOCH_##epoch == VR_EPOCH_BUCKET),                                      \
                   #class ": records by a graph are stale when its bucket moves, and only then");  \
    _Static_assert((VR_PROFILE_##profile == VR_PROFILE_RESTARTS) ==                                \
                       (VR_EPOCH_##epoch == VR_EPOCH_MOVES),                                       \
                   #class ": an exec's epoch moves when it becomes another graph's");              \
    _Static_assert((VR_PROFILE_##profile == VR_PROFILE_SETTER) ==                                  \
                       (VR_RECORDS_##records == VR_RECORDS_MADE ||                                 \
                        VR_RECORDS_##records == VR_RECORDS_NODE ||                                 \
                        VR_RECORDS_##records == VR_RECORDS_NESTED),                                \
                   #class ": what changes single nodes is a setter to the profile");
#include "shim/effects.h"

/* What moves before the call, too: another thread may be given a reused handle value before we are
 * back. */
static void move_counts(struct vr_state *state, const struct vr_effect *effect, vr_handle first)
{
    if (effect->generation == VR_GENERATION_MOVES)
        vr_code_changed(state);
    if (effect->epoch == VR_EPOCH_BUCKET)
        vr_graph_gone(state, first);
}

void vr_around_begin(struct vr_state *state, enum vr_class class, struct vr_around *around,
                     vr_handle first, vr_handle second)
{
    const struct vr_effect *effect = &effects[class];

    if (effect->memory == VR_MEMORY_OPERANDS)
        vr_note_graph(state, (CUgraph)second);
    if (effect->memory == VR_MEMORY_PRIMARY)
        around->primary = vr_primary_of((CUdevice)first);
    if (effect->memory == VR_MEMORY_PRIMARY || effect->memory == VR_MEMORY_CONTEXT ||
        effect->memory == VR_MEMORY_DETACHED)
        vr_context_ending(state, &around->mark);
    move_counts(state, effect, first);
}

/* A call that means nothing to the profile of an exec is no update of one. */
static void change_exec(struct vr_state *state, const struct vr_effect *effect, vr_handle exec,
                        vr_handle node, bool accepted)
{
    if (effect->profile == VR_PROFILE_STAYS)
        return;
    if (effect->records == VR_RECORDS_NODE)
        vr_exec_changed(state, exec, node, VR_CHANGE_NODE, accepted);
    else if (effect->records == VR_RECORDS_NESTED)
        vr_nested_changed(state, (CUgraphExec)exec, (CUgraphNode)node, accepted);
    else if (effect->records == VR_RECORDS_EXEC)
        vr_exec_changed(state, exec, node,
                        effect->profile == VR_PROFILE_RESTARTS ? VR_CHANGE_GRAPH : VR_CHANGE_EXEC,
                        accepted);
}

void vr_around_end(struct vr_state *state, enum vr_class class, const struct vr_around *around,
                   vr_handle first, vr_handle second, CUresult result)
{
    const struct vr_effect *effect = &effects[class];
    bool accepted = result == CUDA_SUCCESS;

    vr_result_seen(state, result);
    move_counts(state, effect, first);
    change_exec(state, effect, first, second, accepted);
    if (effect->memory == VR_MEMORY_CONTEXT && accepted)
        vr_context_ended(state, first, &around->mark);
    if (effect->memory == VR_MEMORY_DETACHED && accepted)
        vr_context_maybe_gone(state, first, &around->mark);
    if (effect->memory == VR_MEMORY_PRIMARY)
        vr_primary_maybe_gone(state, (CUdevice)first, around->primary, &around->mark);
}

/* ---- child graphs ---- */

static bool doubt_graph(struct vr_state *state, vr_handle exec, CUgraph graph);

/* A node's record, and those in its child graph if it has one. False when the driver does not tell.
 */
static bool doubt_node(struct vr_state *state, vr_handle exec, CUgraphNode node)
{
    CUresult (*type_of)(CUgraphNode, CUgraphNodeType *) = vr_need(VR_NEED_cuGraphNodeGetType);
    CUresult (*child_of)(CUgraphNode, CUgraph *) = vr_need(VR_NEED_cuGraphChildGraphNodeGetGraph);
    CUgraphNodeType type;
    CUgraph child;

    vr_node_doubted(state, exec, (vr_handle)node);
    if (!type_of || type_of(node, &type) != CUDA_SUCCESS)
        return false;
    if (type != CU_GRAPH_NODE_TYPE_GRAPH)
        return type != CU_GRAPH_NODE_TYPE_CONDITIONAL;
    return child_of && child_of(node, &child) == CUDA_SUCCESS && doubt_graph(state, exec, child);
}

static bool doubt_graph(struct vr_state *state, vr_handle exec, CUgraph graph)
{
    CUresult (*nodes_of)(CUgraph, CUgraphNode *, size_t *) = vr_need(VR_NEED_cuGraphGetNodes);
    CUgraphNode *nodes;
    size_t count = 0;
    bool told;

    if (!nodes_of || nodes_of(graph, NULL, &count) != CUDA_SUCCESS)
        return false;
    if (!count)
        return true;
    nodes = calloc(count, sizeof *nodes);
    told = nodes && nodes_of(graph, nodes, &count) == CUDA_SUCCESS;
    for (size_t i = 0; told && i < count; i++)
        told = doubt_node(state, exec, nodes[i]);
    free(nodes);
    return told;
}

/* The node lives: the application has just passed it. What the driver does not tell costs the
 * records of the whole exec. */
void vr_nested_changed(struct vr_state *state, CUgraphExec exec, CUgraphNode node, bool accepted)
{
    bool told =
        !vr_exec_has_records(state, (vr_handle)exec) || doubt_node(state, (vr_handle)exec, node);

    vr_exec_changed(state, (vr_handle)exec, (vr_handle)node, told ? VR_CHANGE_NODE : VR_CHANGE_EXEC,
                    accepted);
}
