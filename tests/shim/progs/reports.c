/* reports.c: what programs in the field do with graph updates, and what went wrong there. The rows
 * are those of docs/testing.md, "Reports from the field"; those about captures are in
 * reports_capture.c, those about devices, memory and bindings in reports_memory.c.
 *
 *   reports ROW      runs a row; prints what it observed, and for functions "reach NAME N": the
 *                    calls of it that must arrive at the driver, no more and no fewer
 *   reports --rows   prints the rows' names, a line each
 *
 * What it observes must not depend on whether a call arrives. It uses driver and runtime side by
 * side, as programs do. */
#include "tests/shim/progs/reports.h"

#include <cuda_runtime_api.h>
#include <malloc.h>

static struct rig rig;

static CUresult set(unsigned a)
{
    rig.a = a;
    return rig_setter(&rig);
}

static void launch(CUgraphExec exec)
{
    MUST(cuGraphLaunch(exec, NULL));
    MUST(cuCtxSynchronize());
}

static unsigned word_at(CUdeviceptr address)
{
    unsigned word;

    MUST(cuMemcpyDtoH_v2(&word, address, sizeof word));
    return word;
}

/* ---- B1: an ExecUpdate fails now and then, after thousands that did not ---- */

enum { UPDATES = 10000, LONGER_EVERY = 97, OTHER_EVERY = 89 };

/* Two kernels in a row; by turns one more, or a fill in the second one's place. */
static CUgraph next_graph(unsigned number)
{
    void *args[] = {&rig.p, &number, &rig.b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig.store, args);
    CUgraphNode node[3];
    CUgraph graph;

    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddKernelNode_v2(&node[0], graph, NULL, 0, &params));
    if (number % OTHER_EVERY == OTHER_EVERY - 1)
        MUST(cuGraphAddMemsetNode(&node[1], graph, node, 1, &rig.fill, rig.context));
    else
        MUST(cuGraphAddKernelNode_v2(&node[1], graph, node, 1, &params));
    if (number % LONGER_EVERY == LONGER_EVERY - 1)
        MUST(cuGraphAddKernelNode_v2(&node[2], graph, &node[1], 1, &params));
    return graph;
}

static void update_or_renew(unsigned number)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    CUgraph graph = next_graph(number);
    CUresult result = cuGraphExecUpdate_v2(rig.exec, graph, &info);

    if (result != CUDA_SUCCESS) {
        printf("%u: %d because %d\n", number, (int)result, (int)info.result);
        MUST(cuGraphExecDestroy(rig.exec));
        MUST(cuGraphInstantiateWithFlags(&rig.exec, graph, 0));
    }
    MUST(cuGraphDestroy(graph));
}

static void B1_updates_fail_now_and_then(void)
{
    unsigned long long sum = 0;

    MUST(cuGraphExecDestroy(rig.exec));
    MUST(cuGraphInstantiateWithFlags(&rig.exec, next_graph(0), 0));
    for (unsigned number = 1; number <= UPDATES; number++) {
        update_or_renew(number);
        launch(rig.exec);
        sum = sum * 31 + word_at(rig.p);
    }
    printf("sum %llx\n", sum);
    reach("cuGraphExecUpdate_v2", UPDATES);
}

/* ---- B2: an error is normal flow, and the last error is asked for afterwards ---- */

static cudaError_t fill(void)
{
    struct cudaMemsetParams params = {.dst = (void *)(uintptr_t)rig.fill.dst,
                                      .value = rig.fill.value,
                                      .elementSize = rig.fill.elementSize,
                                      .width = rig.fill.width,
                                      .height = 1};

    return cudaGraphExecMemsetNodeSetParams(rig.exec, rig.memset, &params);
}

/* Updates that need not arrive, a launch and an allocation leave the last error as it is. */
static void look(const char *what, cudaError_t answer)
{
    void *memory;

    printf("%s: %d, last error %d", what, (int)answer, (int)cudaPeekAtLastError());
    printf(", fill %d", (int)fill());
    printf(", launch %d", (int)cudaGraphLaunch(rig.exec, NULL));
    printf(", malloc %d", (int)cudaMalloc(&memory, 4096));
    printf(", free %d: ", (int)cudaFree(memory));
    printf("%d\n", (int)cudaPeekAtLastError());
}

static void clear(void)
{
    printf("cleared %d", (int)cudaGetLastError());
    printf(", then %d\n", (int)cudaPeekAtLastError());
}

static void B2_last_error(void)
{
    void *args[] = {&rig.p, &rig.a, &rig.b}, *memory;
    struct cudaKernelNodeParams params = {
        .gridDim = {1, 1, 1}, .blockDim = {1u << 20, 1, 1}, .kernelParams = args};
    cudaGraphExecUpdateResultInfo info;
    cudaLibrary_t library;
    CUgraph other;

    if (cudaLibraryLoadData(&library, rig_ptx, NULL, NULL, 0, NULL, NULL, 0) ||
        cudaLibraryGetKernel((cudaKernel_t *)&params.func, library, "store"))
        exit(1);
    MUST(cuGraphCreate(&other, 0));
    for (int round = 0; round < 3; round++) {
        look("nothing", cudaSuccess);
        look("update", cudaGraphExecUpdate(rig.exec, other, &info));
        clear();
        look("setter", cudaGraphExecKernelNodeSetParams(rig.exec, rig.kernel[0], &params));
        look("update after it", cudaGraphExecUpdate(rig.exec, other, &info));
        clear();
        look("too much", cudaMalloc(&memory, (size_t)1 << 50));
        look("no exec", cudaGraphExecDestroy(NULL));
        clear();
    }
    /* Once, and after each of the six whole-graph updates, whatever became of them. */
    reach("cuGraphExecMemsetNodeSetParams", 1 + 6);
}

/* ---- B4: of a copy only the place it reads from moves, and of a kernel only one pointer ---- */

enum { READS = 600 };

static void B4_only_the_source_moves(void)
{
    CUdeviceptr source;

    MUST(cuMemAlloc_v2(&source, READS * 4 + 64));
    for (unsigned i = 0; i < READS; i++)
        MUST(cuMemsetD32_v2(source + i * 4, i + 1, 1));
    for (unsigned i = 0; i < READS; i++) {
        rig.copy.srcDevice = source + (i % 2 ? 0 : i * 4); /* by the pointer, or by the offset */
        rig.copy.srcXInBytes = i % 2 ? i * 4 : 0;
        MUST(cuGraphExecMemcpyNodeSetParams(rig.exec, rig.memcpy, &rig.copy, rig.context));
        rig.p = rig.buffer + 8 + i % 16 * 8;
        MUST(set(i + 1));
        launch(rig.exec);
        if (word_at(rig.copy.dstDevice) != i + 1 || word_at(rig.p) != i + 1 + rig.b)
            fail("a stale value in step", i);
    }
    reach("cuGraphExecMemcpyNodeSetParams", READS);
    reach("cuGraphExecKernelNodeSetParams_v2", READS);
}

/* ---- B6: what is given up for one exec is not given up for others, nor for good ---- */

static void B6_one_exec_always_changes(void)
{
    CUgraphExec changing = rig.exec, steady;

    rig.p = rig.buffer + 8; /* the other node's is the first word */
    MUST(cuGraphInstantiateWithFlags(&steady, rig.graph, 0));
    for (unsigned i = 0; i < 100; i++) {
        rig.exec = changing;
        MUST(set(i < 50 ? i : 50)); /* and then no more */
        launch(rig.exec);
        rig.exec = steady;
        MUST(set(7));
        launch(rig.exec);
    }
    printf("%u\n", word_at(rig.p));
    reach("cuGraphExecKernelNodeSetParams_v2", 51 + 1);
}

/* An exec that had nothing to gain begins to get fresh buffers. */
static void B6_tried_again(void)
{
    for (unsigned i = 0; i < 220; i++) {
        if (i >= 20)
            MUST(cuMemAlloc_v2(&rig.p, 65536));
        MUST(set(1));
        launch(rig.exec);
        printf("%u ", word_at(rig.p));
        if (i >= 20)
            MUST(cuMemFree_v2(rig.p));
    }
    printf("\n");
    at_most("cuGraphExecKernelNodeSetParams_v2", 110);
}

/* ---- B23: many execs, one after the other ---- */

enum { EXECS = 3000, WARM = 300, SPARE = 65536 };

static void B23_many_execs(void)
{
    size_t before = 0, after;

    MUST(cuGraphExecDestroy(rig.exec));
    for (int i = 0; i < EXECS; i++) {
        if (i == WARM)
            before = mallinfo2().uordblks;
        MUST(cuGraphInstantiateWithFlags(&rig.exec, rig.graph, 0));
        MUST(set((unsigned)i));
        MUST(set((unsigned)i));
        if (i % 8 == 0)
            launch(rig.exec);
        MUST(cuGraphExecDestroy(rig.exec));
    }
    after = mallinfo2().uordblks;
    if (after > before + SPARE)
        fail("bytes more on the heap:", (unsigned)(after - before));
    reach("cuGraphExecKernelNodeSetParams_v2", EXECS);
}

/* ---- B28: the wrong one of two execs is launched ---- */

static void B28_the_wrong_parity(void)
{
    CUgraphExec execs[2];
    CUgraph graph[2];
    CUgraphNode node;
    CUdeviceptr places[2] = {rig.buffer, rig.buffer + 64};

    for (int i = 0; i < 2; i++) {
        rig.copy.srcDevice = places[i];
        rig.copy.dstDevice = places[!i];
        MUST(cuMemsetD32_v2(places[i], 100 * ((unsigned)i + 1), 16));
        MUST(cuGraphCreate(&graph[i], 0));
        MUST(cuGraphAddMemcpyNode(&node, graph[i], NULL, 0, &rig.copy, rig.context));
        MUST(cuGraphInstantiateWithFlags(&execs[i], graph[i], 0));
    }
    for (int step = 0; step < 20; step++) {
        MUST(cuMemsetD32_v2(places[step % 2], (unsigned)step, 1));
        launch(execs[step == 7 ? !(step % 2) : step % 2]);
        printf("%u %u\n", word_at(places[0]), word_at(places[1]));
    }
}

static const struct row rows[] = {
    ROW(B1_updates_fail_now_and_then), ROW(B2_last_error),  ROW(B4_only_the_source_moves),
    ROW(B6_one_exec_always_changes),   ROW(B6_tried_again), ROW(B23_many_execs),
    ROW(B28_the_wrong_parity),
};

int main(int argc, char **argv)
{
    return run_row(rows, sizeof rows / sizeof *rows, &rig, argc, argv);
}
