/* forget.c: sends one setter, does one thing that can make a record of it lie, sends the identical
 * setter again. The second one must reach the driver, unless the thing concerns other nodes only.
 *
 *   forget ROW      runs a row; prints "reach N": kernel setters that must arrive at the driver
 *   forget --rows   prints the rows' names, a line each
 *
 * Linked against libcuda.so.1, so its calls come through the exported symbols. */
#include "rig.h"

static struct rig rig;
static unsigned extra; /* setters of the row itself that must arrive */
static bool others;    /* what was done concerns other nodes: the second setter may be answered */
static bool dead;      /* the second setter is expected to be refused, by the driver itself */

/* ---- calls that change the exec ---- */

static void exec_update(void)
{
    CUgraphExecUpdateResultInfo info;

    MUST(cuGraphExecUpdate_v2(rig.exec, rig.graph, &info));
}

static void exec_update_v1(void)
{
    CUgraphNode node;
    CUgraphExecUpdateResult result;

    MUST(cuGraphExecUpdate(rig.exec, rig.graph, &node, &result));
}

static void exec_generic(void)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = rig_params(rig.other, args);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};

    memcpy(&params.kernel, &kernel, sizeof(kernel));
    MUST(cuGraphExecNodeSetParams(rig.exec, rig.kernel[0], &params));
}

static void exec_memcpy(void)
{
    others = true;
    rig.copy.WidthInBytes = 32;
    MUST(cuGraphExecMemcpyNodeSetParams(rig.exec, rig.memcpy, &rig.copy, rig.context));
}

static void exec_memset(void)
{
    others = true;
    rig.fill.value = 9;
    MUST(cuGraphExecMemsetNodeSetParams(rig.exec, rig.memset, &rig.fill, rig.context));
}

static void exec_host(void)
{
    others = true;
    MUST(cuGraphExecHostNodeSetParams(rig.exec, rig.host, &rig.call));
}

static void exec_child(void)
{
    others = true;
    MUST(cuGraphExecChildGraphNodeSetParams(rig.exec, rig.child, rig.inner));
}

static void set_enabled(void)
{
    MUST(cuGraphNodeSetEnabled(rig.exec, rig.kernel[0], 0));
}

static void failed_setter(void)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig.store, args);

    params.blockDimX = 1u << 20;
    extra = 1;
    if (cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[0], &params) == CUDA_SUCCESS)
        exit(1);
}

static void reinstantiate(void)
{
    CUgraphExec before = rig.exec;

    MUST(cuGraphExecDestroy(rig.exec));
    MUST(cuGraphInstantiateWithFlags(&rig.exec, rig.graph, 0));
    if (rig.exec != before)
        printf("note: the exec's handle value did not come back\n");
}

/* ---- calls on the source graph and its nodes ---- */

static void source_v1(void)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig.other, args);

    MUST(cuGraphKernelNodeSetParams(rig.kernel[0], (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params));
}

static void source_v2(void)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig.other, args);

    MUST(cuGraphKernelNodeSetParams_v2(rig.kernel[0], &params));
}

static void source_generic(void)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = rig_params(rig.other, args);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};

    memcpy(&params.kernel, &kernel, sizeof(kernel));
    MUST(cuGraphNodeSetParams(rig.kernel[0], &params));
}

static void source_memcpy(void)
{
    MUST(cuGraphMemcpyNodeSetParams(rig.memcpy, &rig.copy));
}

static void source_memset(void)
{
    MUST(cuGraphMemsetNodeSetParams(rig.memset, &rig.fill));
}

static void source_host(void)
{
    MUST(cuGraphHostNodeSetParams(rig.host, &rig.call));
}

static void node_attribute(void)
{
    CUkernelNodeAttrValue value = {.priority = 0};

    MUST(cuGraphKernelNodeSetAttribute(rig.kernel[0], CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
}

static void copy_attributes(void)
{
    MUST(cuGraphKernelNodeCopyAttributes(rig.kernel[0], rig.kernel[1]));
}

static void node_destroy(void)
{
    MUST(cuGraphDestroyNode(rig.kernel[0]));
    dead = true;
}

static void graph_destroy(void)
{
    MUST(cuGraphDestroy(rig.graph));
    dead = true;
}

/* ---- calls after which a handle means something else ---- */

static void module_reload(void)
{
    CUfunction before = rig.store;

    MUST(cuModuleUnload(rig.module));
    rig_load(&rig);
    if (rig.store != before)
        exit(1); /* the row is about the same value meaning new code */
}

static void library_unload(void)
{
    CUlibrary library;

    MUST(cuLibraryLoadData(&library, rig_ptx, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryUnload(library));
}

static void function_attribute(void)
{
    MUST(cuFuncSetAttribute(rig.store, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
}

static void function_cache_config(void)
{
    MUST(cuFuncSetCacheConfig(rig.store, CU_FUNC_CACHE_PREFER_L1));
}

static void context_destroy(void)
{
    CUcontext context;

    MUST(cuCtxCreate_v2(&context, 0, rig.device));
    MUST(cuCtxDestroy_v2(context));
    MUST(cuCtxSetCurrent(rig.context));
}

static void primary_release(void)
{
    CUcontext context;

    MUST(cuDevicePrimaryCtxRetain(&context, rig.device));
    MUST(cuDevicePrimaryCtxRelease(rig.device));
}

static void primary_release_v2(void)
{
    CUcontext context;

    MUST(cuDevicePrimaryCtxRetain(&context, rig.device));
    MUST(cuDevicePrimaryCtxRelease_v2(rig.device));
}

/* A reset destroys what the rig is made of, and a fresh rig gets its handle values again. */
static void start_again(void)
{
    CUgraphNode node = rig.kernel[0];
    CUfunction function = rig.store;

    MUST(cuGraphExecDestroy(rig.exec));
    MUST(cuGraphDestroy(rig.graph));
    rig_up(&rig);
    if (rig.kernel[0] != node || rig.store != function)
        printf("note: a handle value did not come back\n");
}

static void primary_reset(void)
{
    MUST(cuDevicePrimaryCtxReset(rig.device));
    start_again();
}

static void primary_reset_v2(void)
{
    MUST(cuDevicePrimaryCtxReset_v2(rig.device));
    start_again();
}

static const struct row {
    const char *name;
    void (*between)(void);
} rows[] = {
    {"exec_update", exec_update},
    {"exec_update_v1", exec_update_v1},
    {"exec_generic", exec_generic},
    {"exec_memcpy", exec_memcpy},
    {"exec_memset", exec_memset},
    {"exec_host", exec_host},
    {"exec_child", exec_child},
    {"set_enabled", set_enabled},
    {"failed_setter", failed_setter},
    {"reinstantiate", reinstantiate},
    {"source_v1", source_v1},
    {"source_v2", source_v2},
    {"source_generic", source_generic},
    {"source_memcpy", source_memcpy},
    {"source_memset", source_memset},
    {"source_host", source_host},
    {"node_attribute", node_attribute},
    {"copy_attributes", copy_attributes},
    {"node_destroy", node_destroy},
    {"graph_destroy", graph_destroy},
    {"module_reload", module_reload},
    {"library_unload", library_unload},
    {"function_attribute", function_attribute},
    {"function_cache_config", function_cache_config},
    {"context_destroy", context_destroy},
    {"primary_release", primary_release},
    {"primary_release_v2", primary_release_v2},
    {"primary_reset", primary_reset},
    {"primary_reset_v2", primary_reset_v2},
};

/* ---- rows with a setter of their own ---- */

/* A kernel of a library with a null context means the current context. */
static void kernel_context(void)
{
    void *args[] = {&rig.p, &rig.a, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(NULL, args);
    CUlibrary library;
    CUcontext second;
    CUresult refused;

    MUST(cuLibraryLoadData(&library, rig_ptx, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&params.kern, library, "store"));
    MUST(cuCtxCreate_v2(&second, 0, rig.device));
    MUST(cuCtxSetCurrent(rig.context));
    for (int i = 0; i < 2; i++) /* the second one is the control: the same context, so no call */
        MUST(cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[0], &params));
    MUST(cuCtxSetCurrent(second));
    refused = cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[0], &params);
    if (refused == CUDA_SUCCESS)
        exit(1); /* cuda.h: the context of a node's function cannot change */
    printf("reach 2\n");
}

/* The control: nothing in between, so the second setter does not arrive. */
static void control(void)
{
    for (int i = 0; i < 2; i++)
        MUST(rig_setter(&rig));
    printf("reach 1\n");
}

static void run(const struct row *row)
{
    CUresult second;

    MUST(rig_setter(&rig));
    row->between();
    second = rig_setter(&rig);
    if ((second == CUDA_SUCCESS) == dead) {
        fprintf(stderr, "%s: the second setter answered %d\n", row->name, (int)second);
        exit(1);
    }
    printf("reach %u\n", (others ? 1 : 2) + extra);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (!strcmp(argv[1], "--rows")) {
        printf("control\nkernel_context\n");
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
            printf("%s\n", rows[i].name);
        return 0;
    }
    rig_up(&rig);
    if (!strcmp(argv[1], "control"))
        return control(), 0;
    if (!strcmp(argv[1], "kernel_context"))
        return kernel_context(), 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!strcmp(argv[1], rows[i].name))
            return run(&rows[i]), 0;
    }
    return 2;
}
