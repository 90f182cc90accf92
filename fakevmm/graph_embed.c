/* graph_embed.c: a launch into a capture. Nothing runs: what the exec does now becomes a child
 * graph node of the captured graph. */
#include "capture.h"
#include "graph_schedule.h"

#include <stdlib.h>

/* The graph of a level of steps. */
static CUresult embed(const struct fv_exec *exec, size_t index, struct fv_graph **out);

static CUresult embed_attributes(const struct fv_step *step, CUgraphNode node)
{
    const unsigned *blocks = step->company.cluster;
    CUlaunchAttributeValue cooperative = {.cooperative = step->company.cooperative};
    CUlaunchAttributeValue priority = {.priority = step->priority};
    CUlaunchAttributeValue cluster = {.clusterDim = {blocks[0], blocks[1], blocks[2]}};
    CUresult result = CUDA_SUCCESS;

    if (step->company.cooperative)
        result =
            fv_cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative);
    if (result == CUDA_SUCCESS && blocks[0])
        result =
            fv_cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster);
    if (result == CUDA_SUCCESS && step->priority)
        result = fv_cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority);
    return result;
}

/* Without its edges: they may come from steps that are not there yet. */
static CUresult embed_step(const struct fv_exec *exec, const struct fv_step *step,
                           struct fv_graph *graph, CUgraphNode *out)
{
    struct fv_params *params = exec->plan->actions[step->action].params;
    struct fv_graph *child = NULL;
    CUresult result = CUDA_SUCCESS;

    if (step->type == CU_GRAPH_NODE_TYPE_GRAPH)
        result = embed(exec, step->level, &child);
    if (result == CUDA_SUCCESS)
        result = fv_node_add(graph, NULL, NULL, 0, params, out);
    if (result == CUDA_SUCCESS) {
        fv_params_get(params); /* the node's */
        if (child)
            result = fv_node_give_inner((struct fv_node *)*out, child, 1);
    }
    if (result != CUDA_SUCCESS) {
        if (child)
            fv_graph_free(child);
        return result;
    }
    return step->type == CU_GRAPH_NODE_TYPE_KERNEL ? embed_attributes(step, *out) : CUDA_SUCCESS;
}

static CUresult embed_edges(const struct fv_step *step, struct fv_graph *graph, CUgraphNode to,
                            const CUgraphNode *nodes)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < step->in_count && result == CUDA_SUCCESS; i++)
        result = fv_cuGraphAddDependencies_v2((CUgraph)graph, &nodes[step->in[i].from], &to,
                                              &step->in[i].data, 1);
    return result;
}

static CUresult embed_level(const struct fv_exec *exec, const struct fv_level *level,
                            struct fv_graph *graph, CUgraphNode *nodes)
{
    const struct fv_step *steps = &exec->steps[level->first];
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < level->count && result == CUDA_SUCCESS; i++)
        result = embed_step(exec, &steps[i], graph, &nodes[i]);
    for (size_t i = 0; i < level->count && result == CUDA_SUCCESS; i++)
        result = embed_edges(&steps[i], graph, nodes[i], nodes);
    return result;
}

static CUresult embed(const struct fv_exec *exec, size_t index, struct fv_graph **out)
{
    const struct fv_level *level = &exec->levels[index];
    struct fv_graph *graph = fv_graph_new();
    CUgraphNode *nodes = calloc(level->count + 1, sizeof *nodes);
    CUresult result =
        graph && nodes ? embed_level(exec, level, graph, nodes) : CUDA_ERROR_OUT_OF_MEMORY;

    free(nodes);
    if (result != CUDA_SUCCESS) {
        if (graph)
            fv_graph_free(graph);
        return result;
    }
    graph->objects = fv_objects_get(exec->plan->objects[index]);
    *out = graph;
    return CUDA_SUCCESS;
}

/* A node of a graph has no switch, so a disabled one cannot be taken over. Nor can what no child
 * graph may hold: memory and conditional nodes. */
static bool all_enabled(const struct fv_exec *exec)
{
    for (size_t i = 0; i < exec->plan->count; i++)
        if (!exec->plan->actions[i].enabled)
            return false;
    return true;
}

CUresult fv_exec_capture(const struct fv_exec *exec, struct fv_stream *stream)
{
    struct fv_graph *graph;
    CUgraphNodeParams given;
    CUgraphNode node;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;

    if (all_enabled(exec) && !exec->unique && !exec->schedule->choice_count)
        result = embed(exec, 0, &graph);
    if (result != CUDA_SUCCESS)
        return fv_capture_refuse(stream, result);
    given = fv_given_child((CUgraph)graph);
    result = fv_capture_node(stream, &given, &node);
    fv_graph_free(graph);
    return result;
}
