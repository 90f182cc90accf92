/* setters.c: setters of every kind that may be answered, again and again, with something in
 * between.
 *
 *   setters ROW      runs a row; prints what it observed, and for each function "reach NAME N": the
 *                    calls of it that must arrive at the driver, since what they say is not what
 *                    the driver accepted last, or cannot be known to be
 *   setters --rows   prints the rows' names, a line each
 *
 * Linked against libcuda.so.1. What it observes must not depend on whether a call arrives. */
#include "rig.h"

static struct rig rig;
static unsigned copies, fills, generics, kernels; /* that must arrive */

/* ---- the setters ---- */

static CUresult copy(void)
{
    return cuGraphExecMemcpyNodeSetParams(rig.exec, rig.memcpy, &rig.copy, rig.context);
}

static CUresult fill(void)
{
    return cuGraphExecMemsetNodeSetParams(rig.exec, rig.memset, &rig.fill, rig.context);
}

static CUresult generic_copy(void)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};

    params.memcpy.copyCtx = rig.context;
    params.memcpy.copyParams = rig.copy;
    return cuGraphExecNodeSetParams(rig.exec, rig.memcpy, &params);
}

static CUresult generic_fill(void)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET};

    memcpy(&params.memset, &rig.fill, sizeof rig.fill);
    params.memset.ctx = rig.context;
    return cuGraphExecNodeSetParams(rig.exec, rig.memset, &params);
}

static CUresult generic_kernel(long long reserved)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = rig_params(rig.store, args);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .reserved2 = reserved};

    memcpy(&params.kernel, &kernel, sizeof kernel);
    return cuGraphExecNodeSetParams(rig.exec, rig.kernel[0], &params);
}

static CUresult kernel_of(CUgraphNode node)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig.store, args);

    return cuGraphExecKernelNodeSetParams_v2(rig.exec, node, &params);
}

static void thrice(CUresult (*setter)(void))
{
    for (int i = 0; i < 3; i++)
        MUST(setter());
}

/* ---- copies ---- */

static void copy_same(void)
{
    thrice(copy);
    copies = 1;
}

static void copy_unified(void)
{
    MUST(copy());
    rig.copy.srcMemoryType = rig.copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    thrice(copy);            /* ExecUpdate tells the two types apart */
    rig.copy.srcHost = &rig; /* not looked at */
    MUST(copy());
    copies = 2;
}

static void copy_offset(void)
{
    MUST(copy());
    rig.copy.srcXInBytes = 4;
    thrice(copy);
    rig.copy.srcXInBytes = 0;
    MUST(copy());
    copies = 3;
}

static void copy_width(void)
{
    MUST(copy());
    rig.copy.WidthInBytes = 32;
    thrice(copy);
    copies = 2;
}

/* Host memory is no allocation that anybody could vouch for. */
static void copy_host(void)
{
    static unsigned word[16] = {5};
    CUgraphNode node;

    rig.copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    rig.copy.srcHost = word;
    MUST(cuGraphExecDestroy(rig.exec));
    MUST(cuGraphAddMemcpyNode(&node, rig.graph, NULL, 0, &rig.copy, rig.context));
    MUST(cuGraphInstantiateWithFlags(&rig.exec, rig.graph, 0));
    rig.memcpy = node;
    thrice(copy);
    copies = 3;
}

static void copy_two_rows(void)
{
    MUST(copy());
    rig.copy.Height = 2;
    rig.copy.srcPitch = rig.copy.dstPitch = 64;
    printf("two rows: %d\n", (int)copy());
    rig.copy.Height = 1;
    rig.copy.srcPitch = rig.copy.dstPitch = 0;
    thrice(copy); /* unsure after a refusal */
    copies = 3;
}

static void copy_freed(void)
{
    CUdeviceptr before;

    MUST(cuMemAlloc_v2(&before, 4096));
    rig.copy.srcDevice = before;
    MUST(copy());
    MUST(cuMemFree_v2(before));
    printf("freed: %d\n", (int)copy());
    copies = 2;
}

/* ---- fills ---- */

static void fill_same(void)
{
    thrice(fill);
    fills = 1;
}

static void fill_value(void)
{
    MUST(fill());
    rig.fill.value++;
    thrice(fill);
    fills = 2;
}

static void fill_width(void)
{
    MUST(fill());
    rig.fill.width--;
    thrice(fill);
    fills = 2;
}

/* ---- the generic setter says the same as those of one kind ---- */

static void generic_same(void)
{
    MUST(copy());
    thrice(generic_copy);
    MUST(fill());
    thrice(generic_fill);
    MUST(kernel_of(rig.kernel[0]));
    MUST(generic_kernel(0));
    copies = fills = kernels = 1;
}

static void generic_first(void)
{
    thrice(generic_copy);
    MUST(copy());
    thrice(generic_fill);
    MUST(fill());
    MUST(generic_kernel(0));
    MUST(generic_kernel(0));
    MUST(kernel_of(rig.kernel[0]));
    generics = 3;
}

/* "Must be zero" (cuda.h): the driver says what it thinks of it. */
static void generic_reserved(void)
{
    MUST(generic_kernel(0));
    printf("reserved: %d\n", (int)generic_kernel(1));
    MUST(generic_kernel(0));
    generics = 3;
}

static void generic_null(void)
{
    printf("null: %d\n", (int)cuGraphExecNodeSetParams(rig.exec, rig.kernel[0], NULL));
    printf("no exec: %d\n",
           (int)cuGraphExecMemcpyNodeSetParams(NULL, rig.memcpy, &rig.copy, rig.context));
    printf("no copy: %d\n",
           (int)cuGraphExecMemcpyNodeSetParams(rig.exec, rig.memcpy, NULL, rig.context));
    printf("no fill: %d\n",
           (int)cuGraphExecMemsetNodeSetParams(rig.exec, rig.memset, NULL, rig.context));
    copies = 2;
    fills = generics = 1;
}

/* ---- events in between ---- */

static void enabled(void)
{
    MUST(fill());
    MUST(kernel_of(rig.kernel[0]));
    MUST(cuGraphNodeSetEnabled(rig.exec, rig.kernel[1], 0));
    MUST(kernel_of(rig.kernel[0])); /* another node */
    MUST(cuGraphNodeSetEnabled(rig.exec, rig.kernel[0], 0));
    MUST(cuGraphNodeSetEnabled(rig.exec, rig.memset, 0));
    MUST(kernel_of(rig.kernel[0]));
    MUST(fill());
    MUST(cuGraphNodeSetEnabled(rig.exec, rig.kernel[0], 1));
    MUST(kernel_of(rig.kernel[0]));
    thrice(fill);
    kernels = 3;
    fills = 2;
}

static void updated(void)
{
    CUgraphExecUpdateResultInfo info;

    thrice(copy);
    thrice(fill);
    MUST(cuGraphExecUpdate_v2(rig.exec, rig.graph, &info));
    thrice(copy);
    thrice(fill);
    copies = fills = 2;
}

static void graph_destroyed(void)
{
    MUST(copy());
    MUST(cuGraphDestroy(rig.graph));
    printf("destroyed: %d\n", (int)copy());
    copies = 2;
}

/* A child graph with a kernel, set by way of the node in it, and the whole child set anew. */
static void nested(CUresult (*set_child)(CUgraph inner))
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig.other, args);
    CUgraphNode node;
    size_t count = 1;
    CUgraph embedded;

    MUST(cuGraphExecDestroy(rig.exec));
    MUST(cuGraphDestroyNode(rig.child));
    MUST(cuGraphCreate(&rig.inner, 0));
    MUST(cuGraphAddKernelNode_v2(&node, rig.inner, NULL, 0, &params));
    MUST(cuGraphAddChildGraphNode(&rig.child, rig.graph, NULL, 0, rig.inner));
    MUST(cuGraphInstantiateWithFlags(&rig.exec, rig.graph, 0));
    MUST(cuGraphChildGraphNodeGetGraph(rig.child, &embedded));
    MUST(cuGraphGetNodes(embedded, &node, &count));
    for (int round = 0; round < 2; round++) {
        MUST(kernel_of(node));
        MUST(kernel_of(rig.kernel[0]));
        MUST(kernel_of(node));
        MUST(kernel_of(rig.kernel[0]));
        MUST(set_child(rig.inner));
    }
    kernels = 3; /* the nested one twice */
}

static CUresult set_child(CUgraph inner)
{
    return cuGraphExecChildGraphNodeSetParams(rig.exec, rig.child, inner);
}

static CUresult set_child_generic(CUgraph inner)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};

    params.graph.graph = inner;
    generics++;
    return cuGraphExecNodeSetParams(rig.exec, rig.child, &params);
}

static void child(void)
{
    nested(set_child);
}

static void child_generic(void)
{
    nested(set_child_generic);
}

static const struct row {
    const char *name;
    void (*run)(void);
} rows[] = {
    {"copy_same", copy_same},
    {"copy_unified", copy_unified},
    {"copy_offset", copy_offset},
    {"copy_width", copy_width},
    {"copy_host", copy_host},
    {"copy_two_rows", copy_two_rows},
    {"copy_freed", copy_freed},
    {"fill_same", fill_same},
    {"fill_value", fill_value},
    {"fill_width", fill_width},
    {"generic_same", generic_same},
    {"generic_first", generic_first},
    {"generic_reserved", generic_reserved},
    {"generic_null", generic_null},
    {"enabled", enabled},
    {"updated", updated},
    {"graph_destroyed", graph_destroyed},
    {"child", child},
    {"child_generic", child_generic},
};

/* What the graph did to the rig's buffer. */
static void print_buffer(void)
{
    unsigned words[256];

    MUST(cuMemsetD32_v2(rig.buffer, 3, 256));
    MUST(cuGraphLaunch(rig.exec, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH_v2(words, rig.buffer, sizeof words));
    for (int i = 0; i < 256; i += 8)
        printf("%u ", words[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!strcmp(argv[1], "--rows"))
            printf("%s\n", rows[i].name);
        if (strcmp(argv[1], rows[i].name) != 0)
            continue;
        rig_up(&rig);
        rows[i].run();
        if (rows[i].run != copy_freed)
            print_buffer();
        printf("reach cuGraphExecMemcpyNodeSetParams %u\n", copies);
        printf("reach cuGraphExecMemsetNodeSetParams %u\n", fills);
        printf("reach cuGraphExecNodeSetParams %u\n", generics);
        printf("reach cuGraphExecKernelNodeSetParams_v2 %u\n", kernels);
        return 0;
    }
    return strcmp(argv[1], "--rows") ? 2 : 0;
}
