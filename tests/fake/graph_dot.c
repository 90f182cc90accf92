/* graph_dot.c: the DOT file of a graph: its nodes, edges and inner graphs, and what the flags add.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tests/fake/graph_gate.h"

static char text[65536];

/* Prints the graph and reads the file back into `text`. */
static CUresult print(CUgraph graph, unsigned flags)
{
    char path[] = "/tmp/graph_dot.XXXXXX";
    int file = mkstemp(path);
    CUresult result = cuGraphDebugDotPrint(graph, path, flags);
    ssize_t length = read(file, text, sizeof text - 1);
    T_GE(length, 0);
    text[length] = '\0';
    close(file);
    unlink(path);
    return result;
}

static bool has(const char *what)
{
    return strstr(text, what) != NULL;
}

static unsigned count(const char *what)
{
    unsigned found = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        found++;
    return found;
}

TEST(graph_dot, shows_nodes_edges_names_and_directions)
{
    struct fixture f = fixture_begin();
    unsigned out = 0;
    struct gate gate = {0};
    CUgraphNode copy, kernel = add_kernel(f.graph, NULL, f.mix, f.data, 1, 2);
    CUDA_MEMCPY3D move =
        copy_params(CU_MEMORYTYPE_HOST, (uintptr_t)&out, CU_MEMORYTYPE_DEVICE, f.data, 4);
    OK(cuGraphAddMemcpyNode(&copy, f.graph, &kernel, 1, &move, f.context));
    add_gate(f.graph, copy, &gate);
    OK(print(f.graph, 0));
    T_ASSERT(strncmp(text, "digraph ", 8) == 0);
    T_EQ(count("{"), count("}"));
    T_EQ(count("->"), 2 + 1); /* two edges, one direction of a copy */
    T_ASSERT(has("KERNEL") && has("mix") && has("MEMCPY") && has("HOST"));
    T_ASSERT(has("DEVICE -> HOST"));
    T_ASSERT(!has("grid")); /* nobody asked for it */
    fixture_end(&f);
}

TEST(graph_dot, flags_add_detail)
{
    struct fixture f = fixture_begin();
    char handle[64];
    struct gate gate = {0};
    CUgraphNode node = add_kernel(f.graph, NULL, f.mix, f.data, 1, 2);
    add_gate(f.graph, node, &gate);
    snprintf(handle, sizeof handle, "%p", (void *)node);
    OK(print(f.graph, 0));
    T_ASSERT(!has(handle));
    OK(print(f.graph, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES));
    T_ASSERT(has(handle) && !has("grid"));
    OK(print(f.graph, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS));
    T_ASSERT(has("grid") && !has("priority"));
    OK(print(f.graph, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES));
    T_ASSERT(has("priority"));
    OK(print(f.graph, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS));
    snprintf(handle, sizeof handle, "data: %p", (void *)&gate);
    T_ASSERT(has(handle));
    OK(print(f.graph, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    T_ASSERT(has("grid") && has("priority") && has(handle));
    fixture_end(&f);
}

TEST(graph_dot, shows_graphs_inside_nodes)
{
    struct fixture f = fixture_begin();
    CUgraph child;
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    OK(cuGraphCreate(&child, 0));
    add_kernel(child, NULL, f.put, f.data, 1, 2);
    OK(cuGraphAddChildGraphNode(&node, f.graph, NULL, 0, child));
    OK(cuGraphConditionalHandleCreate(&handle, f.graph, f.context, 0, 0));
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 2;
    params.conditional.ctx = f.context;
    OK(cuGraphAddNode_v2(&node, f.graph, NULL, NULL, 0, &params));
    OK(print(f.graph, CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
    T_EQ(count("subgraph"), 4);
    T_ASSERT(has("put") && has("CONDITIONAL") && has("GRAPH"));
    T_EQ(count("{"), count("}"));
    OK(cuGraphDestroy(child));
    fixture_end(&f);
}

TEST(graph_dot, arguments_are_checked)
{
    struct fixture f = fixture_begin();
    T_EQ(print(f.graph, 1u << 16), CUDA_ERROR_INVALID_VALUE);
    T_EQ(print(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    REFUSED(cuGraphDebugDotPrint(f.graph, NULL, 0));
    T_EQ(cuGraphDebugDotPrint(f.graph, "/nowhere/at/all.dot", 0), CUDA_ERROR_OPERATING_SYSTEM);
    fixture_end(&f);
}
