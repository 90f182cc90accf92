/* reports_memory.c: the rows of reports.c about memory, devices and the bindings by which a program
 * reaches the driver. The lines it prints are told there.
 *
 *   reports_memory ROW | --rows */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "tests/shim/progs/reports.h"
#include "tests/shim/progs/warm.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

static struct rig rig;

static CUresult run_graph(CUgraphExec exec)
{
    CUresult result = cuGraphLaunch(exec, NULL);

    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

static unsigned word_at(CUdeviceptr address)
{
    unsigned word;

    MUST(cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

static CUDA_KERNEL_NODE_PARAMS_v2 params_of(CUfunction function)
{
    static void *args[3];

    args[0] = &rig.p;
    args[1] = &rig.a;
    args[2] = &rig.b;
    return rig_params(function, args);
}

/* ---- B9: both ABIs of a name, by symbol and by version ---- */

typedef CUresult (*setter_v1)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *);
typedef CUresult (*setter_v2)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *);
typedef CUresult (*update_v1)(CUgraphExec, CUgraph, CUgraphNode *, CUgraphExecUpdateResult *);
typedef CUresult (*update_v2)(CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo *);

static void *by_version(const char *name, int version)
{
    void *function = NULL;

    MUST(cuGetProcAddress(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT));
    return function;
}

/* The first struct, the last thing before a page that cannot be read. */
static CUDA_KERNEL_NODE_PARAMS_v1 *at_the_edge(void)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = params_of(rig.store);
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE))
        fail("no page to guard", 0);
    return memcpy(pages + 4096 - sizeof(CUDA_KERNEL_NODE_PARAMS_v1), &params,
                  sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
}

/* Whoever sends it: what the driver holds already need not arrive. */
static void B9_setters_of_both_abis(void)
{
    setter_v1 old = by_version("cuGraphExecKernelNodeSetParams", 10010);
    setter_v2 new = by_version("cuGraphExecKernelNodeSetParams", 12000);
    CUDA_KERNEL_NODE_PARAMS_v2 params = params_of(rig.store);
    CUDA_KERNEL_NODE_PARAMS_v1 *edge = at_the_edge();

    for (unsigned round = 0; round < 4; round++) {
        rig.a = round;
        if (round % 2)
            MUST(new (rig.exec, rig.kernel[0], &params));
        MUST(cuGraphExecKernelNodeSetParams(rig.exec, rig.kernel[0], edge));
        MUST(old(rig.exec, rig.kernel[0], edge));
        MUST(cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[0], &params));
        MUST(new (rig.exec, rig.kernel[0], &params));
    }
    reach("cuGraphExecKernelNodeSetParams", 2);
    reach("cuGraphExecKernelNodeSetParams_v2", 2);
}

/* `result` comes from another argument in each ABI, and only from that. */
static void update_all_ways(CUgraph graph)
{
    update_v1 old[] = {cuGraphExecUpdate, by_version("cuGraphExecUpdate", 10020)};
    update_v2 new[] = {cuGraphExecUpdate_v2, by_version("cuGraphExecUpdate", 12000)};

    for (int i = 0; i < 2; i++) {
        CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
        CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
        CUgraphNode node = rig.empty;

        printf("old %d", (int)old[i](rig.exec, graph, &node, &result));
        printf(" because %d, node %d; ", (int)result, node != NULL);
        printf("new %d", (int)new[i](rig.exec, graph, &info));
        printf(" because %d, node %d\n", (int)info.result, info.errorNode != NULL);
    }
}

static void B9_updates_of_both_abis(void)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = params_of(rig.store);
    CUgraph other;

    MUST(cuGraphClone(&other, rig.graph));
    update_all_ways(other);
    MUST(cuGraphAddKernelNode_v2(&(CUgraphNode){NULL}, other, NULL, 0, &params));
    update_all_ways(other);
    reach("cuGraphExecUpdate", 4);
    reach("cuGraphExecUpdate_v2", 4);
}

/* ---- B11: nodes that another library has made are looked at, and nothing is left behind ---- */

static void B11_nodes_of_another_module(void)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = params_of(NULL);
    struct cudaKernelNodeParams asked;
    CUgraphNode node;
    CUmodule module;

    MUST(cuModuleLoadData(&module, rig_ptx));
    MUST(cuModuleGetFunction(&params.func, module, "store"));
    MUST(cuGraphExecDestroy(rig.exec));
    MUST(cuGraphAddKernelNode_v2(&node, rig.graph, NULL, 0, &params));
    MUST(cuGraphInstantiateWithFlags(&rig.exec, rig.graph, 0));
    for (int i = 0; i < 3; i++) {
        MUST(cuGraphExecKernelNodeSetParams_v2(rig.exec, node, &params));
        printf("last error %d", (int)cudaPeekAtLastError());
        printf(", asked %d", (int)cudaGraphKernelNodeGetParams(node, &asked));
        printf(", last error %d", (int)cudaPeekAtLastError());
        MUST(cuGraphExecKernelNodeSetParams_v2(rig.exec, node, &params));
        MUST(run_graph(rig.exec));
        printf(", still %d\n", (int)cudaGetLastError());
    }
    reach("cuGraphExecKernelNodeSetParams_v2", 1);
}

/* ---- B13: staged copies on the second device ---- */

static void B13_staged_on_the_second_device(void)
{
    CUdeviceptr memory[2];
    CUcontext second;
    CUgraphNode node;
    CUgraph graph;
    CUgraphExec exec;

    MUST(cuDevicePrimaryCtxRetain(&second, 1));
    MUST(cuCtxSetCurrent(second));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemAlloc_v2(&memory[i], 1024));
        MUST(cuMemsetD32_v2(memory[i], (unsigned)i + 40, 256));
    }
    rig.copy.srcDevice = memory[0];
    rig.copy.dstDevice = memory[1];
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &rig.copy, second));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        MUST(cuGraphExecMemcpyNodeSetParams(exec, node, &rig.copy, second));
    printf("as of the first device: %d\n",
           (int)cuGraphExecMemcpyNodeSetParams(exec, node, &rig.copy, rig.context));
    for (int i = 0; i < 3; i++)
        MUST(cuGraphExecMemcpyNodeSetParams(exec, node, &rig.copy, second));
    MUST(run_graph(exec));
    printf("copied %u\n", word_at(memory[1]));
    rig.copy.srcDevice = rig.buffer;
    printf("from the first device: %d\n",
           (int)cuGraphExecMemcpyNodeSetParams(exec, node, &rig.copy, second));
    reach("cuGraphExecMemcpyNodeSetParams", 4);
}

/* ---- B15: the program's pointers change and nobody updates the graph ---- */

static void B15_swapped_without_an_update(void)
{
    CUdeviceptr swapped = rig.buffer + 64;

    rig.p = rig.buffer + 8; /* the other node's is the first word */
    for (int i = 0; i < 3; i++) {
        rig.a = 10 + (unsigned)i;
        if (i == 0)
            MUST(rig_setter(&rig));
        MUST(run_graph(rig.exec));
        printf("%u %u\n", word_at(rig.p), word_at(swapped));
        CUdeviceptr p = rig.p;
        rig.p = swapped;
        swapped = p;
    }
    reach("cuGraphExecKernelNodeSetParams_v2", 1);
}

static void B15_freed_without_an_update(void)
{
    MUST(cuMemAlloc_v2(&rig.p, 1024));
    MUST(rig_setter(&rig));
    MUST(run_graph(rig.exec));
    MUST(cuMemFree_v2(rig.p));
    printf("launch %d\n", (int)run_graph(rig.exec));
    printf("and then %d\n", (int)run_graph(rig.exec));
    reach("cuGraphExecKernelNodeSetParams_v2", 1);
}

/* ---- B16, G3: an address comes back, and it is another allocation ---- */

enum { ROUNDS = 60 };

/* The copy's operand is new memory each time, whatever its address. */
static void B16_an_address_comes_back(void)
{
    CUdeviceptr before = 0;
    unsigned same = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        MUST(cuMemAlloc_v2(&rig.copy.srcDevice, 4096));
        same += rig.copy.srcDevice == before;
        before = rig.copy.srcDevice;
        MUST(cuMemsetD32_v2(rig.copy.srcDevice, i + 1, 16));
        MUST(cuGraphExecMemcpyNodeSetParams(rig.exec, rig.memcpy, &rig.copy, rig.context));
        MUST(run_graph(rig.exec));
        if (word_at(rig.copy.dstDevice) != i + 1)
            fail("a stale value in round", i);
        MUST(cuMemFree_v2(rig.copy.srcDevice));
    }
    if (same < ROUNDS / 2)
        fail("addresses that came back:", same);
    printf("sum %u\n", word_at(rig.copy.dstDevice));
}

/* ---- B25: a graph with memory nodes ---- */

static void B25_graph_with_memory_nodes(void)
{
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = 4096,
    };
    CUgraphNode node[4];
    CUgraph graph;
    CUgraphExec exec;
    CUresult result;

    MUST(cuGraphCreate(&graph, 0));
    result = cuGraphAddMemAllocNode(&node[0], graph, NULL, 0, &alloc);
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        exit(77);
    MUST(result);
    rig.p = alloc.dptr;
    CUDA_KERNEL_NODE_PARAMS_v2 params = params_of(rig.store);
    MUST(cuGraphAddKernelNode_v2(&node[1], graph, &node[0], 1, &params));
    rig.copy.srcDevice = alloc.dptr;
    MUST(cuGraphAddMemcpyNode(&node[2], graph, &node[1], 1, &rig.copy, rig.context));
    MUST(cuGraphAddMemFreeNode(&node[3], graph, &node[2], 1, alloc.dptr));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < 10; i++) {
        rig.a = i / 2;
        MUST(cuGraphExecKernelNodeSetParams_v2(exec, node[1], &params));
        printf("copy %d", (int)cuGraphExecMemcpyNodeSetParams(exec, node[2], &rig.copy, //
                                                              rig.context));
        MUST(run_graph(exec));
        printf(", %u\n", word_at(rig.copy.dstDevice));
    }
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    reach("cuGraphExecKernelNodeSetParams_v2", 5);
    reach("cuGraphExecMemcpyNodeSetParams", 10); /* nobody saw that memory made */
}

/* ---- B26: beside a library whose ranks must all see the same ---- */

/* A library of that name; it is known by nothing else. */
static void load_collectives(void)
{
    char folder[] = "/tmp/reports.XXXXXX", link[64], target[PATH_MAX + 32], path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length < 0 || !mkdtemp(folder))
        fail("no folder", 0);
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    snprintf(target, sizeof target, "%s/../libs/namesake.so", path);
    snprintf(link, sizeof link, "%s/libnccl.so.2", folder);
    if (symlink(target, link) || !dlopen(link, RTLD_NOW | RTLD_LOCAL))
        fail("no library", 0);
    unlink(link);
    rmdir(folder);
}

/* No memory is ours there: buffers that recur are the driver's. Updates are as everywhere. */
static void B26_beside_collectives(void)
{
    static const size_t sizes[] = {65536, 1 << 21};
    CUdeviceptr memory;

    load_collectives();
    warm_up(&rig, sizes, COUNT_OF(sizes));
    for (int i = 0; i < 10; i++) {
        MUST(cuMemAlloc_v2(&memory, sizes[i % 2]));
        MUST(rig_setter(&rig));
        MUST(run_graph(rig.exec));
        MUST(cuMemFree_v2(memory));
    }
    reach("cuMemAlloc_v2", 1 + WARM_ROUNDS * COUNT_OF(sizes) + 10);
    reach("cuMemFree_v2", WARM_ROUNDS * COUNT_OF(sizes) + 10);
    reach("cuMemCreate", 0);
    reach("cuGraphExecKernelNodeSetParams_v2", WARM_ROUNDS * COUNT_OF(sizes) + 1);
}

/* ---- G4: a kernel by `func`, by `kern`, by neither ---- */

static CUresult send(CUfunction function, CUkernel kernel, CUcontext context)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = params_of(function);

    params.kern = kernel;
    params.ctx = context;
    return cuGraphExecKernelNodeSetParams_v2(rig.exec, rig.kernel[0], &params);
}

static void G4_func_kern_or_neither(void)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = params_of(rig.store);
    CUlibrary library;
    CUkernel store, other;

    rig.p = rig.buffer + 8; /* the other node's is the first word */
    rig.a = 5;
    MUST(cuLibraryLoadData(&library, rig_ptx, NULL, NULL, 0, NULL, NULL, 0));
    MUST(cuLibraryGetKernel(&store, library, "store"));
    MUST(cuLibraryGetKernel(&other, library, "other"));
    for (int i = 0; i < 3; i++)
        MUST(send(rig.store, NULL, NULL));
    for (int i = 0; i < 3; i++)
        MUST(send(rig.store, other, NULL)); /* not looked at: `func` is not NULL */
    for (int i = 0; i < 3; i++)
        MUST(send(NULL, store, NULL));
    for (int i = 0; i < 3; i++)
        MUST(send(NULL, other, NULL));
    printf("neither %d\n", (int)send(NULL, NULL, NULL));
    for (int i = 0; i < 3; i++)
        MUST(send(NULL, other, NULL));
    for (int i = 0; i < 3; i++)
        MUST(cuGraphExecKernelNodeSetParams(rig.exec, rig.kernel[0],
                                            (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params));
    params.func = NULL;
    printf("old, none %d\n",
           (int)cuGraphExecKernelNodeSetParams(rig.exec, rig.kernel[0],
                                               (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params));
    MUST(run_graph(rig.exec));
    printf("%u\n", word_at(rig.p));
    reach("cuGraphExecKernelNodeSetParams_v2", 1 + 2 + 2);
    reach("cuGraphExecKernelNodeSetParams", 2);
}

static const struct row rows[] = {
    ROW(B9_setters_of_both_abis),       ROW(B9_updates_of_both_abis),
    ROW(B11_nodes_of_another_module),   ROW(B13_staged_on_the_second_device),
    ROW(B15_swapped_without_an_update), ROW(B15_freed_without_an_update),
    ROW(B16_an_address_comes_back),     ROW(B25_graph_with_memory_nodes),
    ROW(B26_beside_collectives),        ROW(G4_func_kern_or_neither),
};

int main(int argc, char **argv)
{
    return run_row(rows, sizeof rows / sizeof *rows, &rig, argc, argv);
}
