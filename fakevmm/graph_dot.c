/* graph_dot.c: writes a graph as a DOT file: a cluster for each graph, those inside nodes too, a
 * box for each node with its number, its kind and, as flags ask for it, what it does. */
#include "graph.h"
#include "ptx/ptx.h"

#include <stdio.h>

#define ALL_FLAGS ((CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS << 1) - 1)

struct dot {
    FILE *file;
    unsigned flags;
};

static bool wants(const struct dot *dot, unsigned flag)
{
    return dot->flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
}

static const char *name_of(CUgraphNodeType type)
{
    static const char *const names[] = {
        [CU_GRAPH_NODE_TYPE_KERNEL] = "KERNEL",
        [CU_GRAPH_NODE_TYPE_MEMCPY] = "MEMCPY",
        [CU_GRAPH_NODE_TYPE_MEMSET] = "MEMSET",
        [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
        [CU_GRAPH_NODE_TYPE_GRAPH] = "GRAPH",
        [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
        [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT",
        [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = "EXT_SEMAS_SIGNAL",
        [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = "EXT_SEMAS_WAIT",
        [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC",
        [CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
        [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP",
        [CU_GRAPH_NODE_TYPE_CONDITIONAL] = "CONDITIONAL",
    };
    return names[type];
}

/* ---- what a node does; each line ends the label's with a line break of DOT's ---- */

static void print_attributes(const struct dot *dot, const struct fv_node *node)
{
    struct fv_company company = fv_node_company(node);
    fprintf(dot->file, "cooperative: %d\\npriority: %d\\ncluster: {%u,%u,%u}\\nupdatable: %d\\n",
            company.cooperative, fv_node_attribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY)->priority,
            company.cluster[0], company.cluster[1], company.cluster[2], fv_node_updatable(node));
}

static void print_kernel(const struct dot *dot, const struct fv_node *node)
{
    const struct fv_params *params = node->params;
    const CUDA_KERNEL_NODE_PARAMS_v3 *set = &params->kernel.set;
    bool alive = fv_params_alive(params); /* else the name has gone with the module */
    fprintf(dot->file, "%s\\n", alive ? params->kernel.function.code->name : "(unloaded)");
    if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(dot->file, "function: %p\\n", (void *)params->kernel.handle);
    if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
        fprintf(dot->file,
                "grid: {%u,%u,%u}\\nblock: {%u,%u,%u}\\nshared: %u\\nparameters:", set->gridDimX,
                set->gridDimY, set->gridDimZ, set->blockDimX, set->blockDimY, set->blockDimZ,
                set->sharedMemBytes);
        for (size_t i = 0; i < params->kernel.size; i++)
            fprintf(dot->file, " %02x", params->kernel.bytes[i]);
        fprintf(dot->file, "\\n");
    }
    if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES))
        print_attributes(dot, node);
}

static const char *side_of(CUmemorytype type)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST: return "HOST";
    case CU_MEMORYTYPE_DEVICE: return "DEVICE";
    case CU_MEMORYTYPE_ARRAY: return "ARRAY";
    default: return "UNIFIED";
    }
}

static void print_copy(const struct dot *dot, const struct fv_params *params)
{
    const struct fv_copy3d *plan = &params->copy_plan;
    fprintf(dot->file, "%s -> %s\\n", side_of(params->copy.srcMemoryType),
            side_of(params->copy.dstMemoryType));
    if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        fprintf(dot->file, "source: 0x%llx\\ntarget: 0x%llx\\nextent: {%zu,%zu,%zu}\\n",
                (unsigned long long)plan->from.at, (unsigned long long)plan->to.at, plan->width,
                plan->height, plan->depth);
}

static void print_memset(const struct dot *dot, const CUDA_MEMSET_NODE_PARAMS_v1 *set)
{
    if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        fprintf(dot->file,
                "target: 0x%llx\\nvalue: %u\\nelement: %u\\nextent: {%zu,%zu}\\npitch: %zu\\n",
                (unsigned long long)set->dst, set->value, set->elementSize, set->width, set->height,
                set->pitch);
}

static void print_batch(const struct dot *dot, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *batch)
{
    if (!wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS))
        return;
    for (unsigned i = 0; i < batch->count; i++)
        fprintf(dot->file, "operation: %d\\n", (int)batch->paramArray[i].operation);
}

static void print_condition(const struct dot *dot, const CUDA_CONDITIONAL_NODE_PARAMS *set)
{
    static const char *const types[] = {"IF", "WHILE", "SWITCH"};
    fprintf(dot->file, "%s\\n", types[set->type]);
    if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS))
        fprintf(dot->file, "handle: %llu\\nsize: %u\\n", (unsigned long long)set->handle,
                set->size);
}

static void print_params(const struct dot *dot, const struct fv_node *node)
{
    const struct fv_params *params = node->params;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: print_kernel(dot, node); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: print_copy(dot, params); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: print_memset(dot, &params->memset); break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: print_batch(dot, &params->batch); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: print_condition(dot, &params->conditional.set); break;
    case CU_GRAPH_NODE_TYPE_HOST:
        if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
            fprintf(dot->file, "function: 0x%llx\\ndata: %p\\n",
                    (unsigned long long)(uintptr_t)params->host.fn, params->host.userData);
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
            fprintf(dot->file, "event: %p\\n", (void *)params->event.handle);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
            fprintf(dot->file, "address: 0x%llx\\nbytes: %zu\\n",
                    (unsigned long long)params->alloc.set.dptr, params->alloc.set.bytesize);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS))
            fprintf(dot->file, "address: 0x%llx\\n", (unsigned long long)params->free.address);
        break;
    default: break;
    }
}

/* ---- the graph ---- */

static void print_graph(const struct dot *dot, struct fv_graph *graph);

static void print_node(const struct dot *dot, const struct fv_node *node)
{
    fprintf(dot->file, "\"graph_%llu_node_%zu\" [shape=\"%s\" label=\"%zu\\n%s\\n", node->graph->id,
            node->mark, node->inner_count ? "octagon" : "rectangle", node->mark,
            name_of(node->params->type));
    if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(dot->file, "node: %p\\n", (const void *)node);
    print_params(dot, node);
    fprintf(dot->file, "\"];\n");
    for (size_t i = 0; i < node->inner_count; i++)
        print_graph(dot, fv_node_inner(node, i));
}

static void print_edges(const struct dot *dot, const struct fv_node *node)
{
    for (size_t i = 0; i < node->in.count; i++) {
        const struct fv_edge *edge = &node->in.at[i];
        fprintf(dot->file, "\"graph_%llu_node_%zu\" -> \"graph_%llu_node_%zu\"", node->graph->id,
                edge->node->mark, node->graph->id, node->mark);
        if (wants(dot, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
            fprintf(dot->file, " [label=\"%zu\"]", i);
        else if (edge->data.type)
            fprintf(dot->file, " [style=\"dashed\"]");
        fprintf(dot->file, ";\n");
    }
}

static void print_graph(const struct dot *dot, struct fv_graph *graph)
{
    size_t mark = 0;
    fprintf(dot->file, "subgraph cluster_%llu {\nlabel=\"graph_%llu\";\n", graph->id, graph->id);
    for (struct fv_node *node = graph->first; node; node = node->next)
        node->mark = mark++;
    for (struct fv_node *node = graph->first; node; node = node->next)
        print_node(dot, node);
    for (struct fv_node *node = graph->first; node; node = node->next)
        print_edges(dot, node);
    fprintf(dot->file, "}\n");
}

CUresult fv_cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned flags)
{
    struct fv_graph *graph;
    CUresult result = fv_graph_of(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!path || (flags & ~(unsigned)ALL_FLAGS))
        return CUDA_ERROR_INVALID_VALUE;
    struct dot dot = {fopen(path, "we"), flags};
    if (!dot.file)
        return CUDA_ERROR_OPERATING_SYSTEM;
    fprintf(dot.file, "digraph dot {\n");
    print_graph(&dot, graph);
    fprintf(dot.file, "}\n");
    bool written = !ferror(dot.file);
    return !fclose(dot.file) && written ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
