/* graph_event.c: nodes that record an event or wait for one: their parameters and the calls of
 * their kind. When an event counts as recorded is graph_launch.c's. */
#include "event.h"
#include "graph_exec.h"

CUresult fv_params_set_event(struct fv_params *params, CUevent handle)
{
    struct fv_event *event;
    CUresult result = handle ? fv_event_of(handle, &event) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    params->event.handle = handle;
    params->event.id = fv_event_id(event);
    return CUDA_SUCCESS;
}

static CUresult get_event(CUgraphNode handle, CUgraphNodeType type, CUevent *out)
{
    struct fv_node *node;
    CUresult result = fv_node_of_type(handle, type, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = node->params->event.handle;
    return CUDA_SUCCESS;
}

/* fv_cuGraph*Event<what>Node*(): the four calls of a kind of event node. */
#define EVENT_NODE(what, type)                                                                     \
    CUresult fv_cuGraphAddEvent##what##Node(CUgraphNode *out, CUgraph graph,                       \
                                            const CUgraphNode *dependencies, size_t count,         \
                                            CUevent event)                                         \
    {                                                                                              \
        CUgraphNodeParams given = fv_given_event(type, event);                                     \
        return fv_node_add_given(out, graph, dependencies, NULL, count, &given);                   \
    }                                                                                              \
                                                                                                   \
    CUresult fv_cuGraphEvent##what##NodeGetEvent(CUgraphNode node, CUevent *out)                   \
    {                                                                                              \
        return get_event(node, type, out);                                                         \
    }                                                                                              \
                                                                                                   \
    CUresult fv_cuGraphEvent##what##NodeSetEvent(CUgraphNode node, CUevent event)                  \
    {                                                                                              \
        CUgraphNodeParams given = fv_given_event(type, event);                                     \
        return fv_node_set_given(node, &given);                                                    \
    }                                                                                              \
                                                                                                   \
    CUresult fv_cuGraphExecEvent##what##NodeSetEvent(CUgraphExec exec, CUgraphNode node,           \
                                                     CUevent event)                                \
    {                                                                                              \
        CUgraphNodeParams given = fv_given_event(type, event);                                     \
        return fv_exec_set_given(exec, node, &given);                                              \
    }

EVENT_NODE(Record, CU_GRAPH_NODE_TYPE_EVENT_RECORD)
EVENT_NODE(Wait, CU_GRAPH_NODE_TYPE_WAIT_EVENT)
