/* updates.c: the calls that libvaremap gets in front of, in a loop, for scripts/bench.
 *
 *   updates MODE NODES ROUNDS
 *
 * One exec of NODES kernel nodes with 8 parameters each. A round is one call per node (launch and
 * lookup: one call). MODE:
 *   call     a function that does nothing, called like a setter: the loop's own cost
 *   same     the v2 setter, unchanged arguments
 *   kern     the same with a CUkernel and a null context
 *   change   the v2 setter, one scalar different each time
 *   two      as same, by two threads, each on an exec of its own; per call of one of them
 *   launch   cuGraphLaunch of an exec of one empty node, a synchronise every 64
 *   lookup   dlsym of a name that is not the driver's
 * Prints "ns X": nanoseconds per call. Under callgrind only the measured loop is counted, and
 * "calls N" says by what to divide. */
/* The driver functions used, found as most programs find them. */
#define DRIVER(X)                                                                                  \
    X(cuLibraryLoadData)                                                                           \
    X(cuLibraryGetKernel)                                                                          \
    X(cuKernelGetFunction)                                                                         \
    X(cuGraphCreate)                                                                               \
    X(cuGraphAddKernelNode_v2)                                                                     \
    X(cuGraphAddEmptyNode)                                                                         \
    X(cuGraphInstantiateWithFlags)                                                                 \
    X(cuGraphExecKernelNodeSetParams_v2)                                                           \
    X(cuGraphLaunch)
#include "tests/bench/bench.h"
#include <pthread.h>

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry eight(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d,\n"
    " .param .u64 e, .param .u64 f, .param .u32 g, .param .u32 h)\n{\n ret;\n}\n";

/* What an application would pass; eight parameters as pointers to values. */
struct arguments {
    unsigned long long wide[6];
    unsigned narrow[2];
};

static CUlibrary library;
static CUkernel kernel;
static CUfunction function;

struct graph {
    CUgraphExec exec;
    CUgraphNode *nodes;
    struct arguments *arguments;
    size_t count, rounds;
};

static void point_at(void *args[8], struct arguments *values)
{
    for (int i = 0; i < 6; i++)
        args[i] = &values->wide[i];
    for (int i = 0; i < 2; i++)
        args[6 + i] = &values->narrow[i];
}

static CUDA_KERNEL_NODE_PARAMS_v2 node_params(void *args[8])
{
    return (CUDA_KERNEL_NODE_PARAMS_v2){
        .func = function,
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 32,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = args,
    };
}

static void load(void)
{
    MUST(p_cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    MUST(p_cuLibraryGetKernel(&kernel, library, "eight"));
    MUST(p_cuKernelGetFunction(&function, kernel));
}

static struct graph build(size_t count, size_t rounds)
{
    struct graph made = {.count = count, .rounds = rounds};
    CUgraph graph;
    void *args[8];

    made.nodes = calloc(count + 1, sizeof(*made.nodes));
    made.arguments = calloc(count + 1, sizeof(*made.arguments));
    MUST(p_cuGraphCreate(&graph, 0));
    for (size_t i = 0; i < count; i++) {
        CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(args);

        for (int j = 0; j < 6; j++)
            made.arguments[i].wide[j] = 0x7f0000000000ull + i * 4096 + j;
        point_at(args, &made.arguments[i]);
        MUST(p_cuGraphAddKernelNode_v2(&made.nodes[i], graph, i ? &made.nodes[i - 1] : NULL,
                                       i ? 1 : 0, &params));
    }
    if (!count)
        MUST(p_cuGraphAddEmptyNode(&made.nodes[0], graph, NULL, 0));
    MUST(p_cuGraphInstantiateWithFlags(&made.exec, graph, 0));
    return made;
}

static __attribute__((noinline)) CUresult nothing(CUgraphExec e, CUgraphNode n,
                                                  const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    __asm__ volatile("" : : "r"(e), "r"(n), "r"(params) : "memory");
    return CUDA_SUCCESS;
}

static void setters(__typeof__(cuGraphExecKernelNodeSetParams_v2) *set, const struct graph *graph,
                    bool kern, unsigned change)
{
    void *args[8];
    CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(args);

    if (kern) {
        params.func = NULL;
        params.kern = kernel;
    }
    for (size_t i = 0; i < graph->count; i++) {
        graph->arguments[i].narrow[1] += change;
        point_at(args, &graph->arguments[i]);
        if (set(graph->exec, graph->nodes[i], &params) != CUDA_SUCCESS)
            exit(1);
    }
}

static void *same_rounds(void *of)
{
    const struct graph *graph = of;

    for (size_t i = 0; i < graph->rounds; i++)
        setters(p_cuGraphExecKernelNodeSetParams_v2, graph, false, 0);
    return NULL;
}

static void launches(const struct graph *graph, size_t round)
{
    if (p_cuGraphLaunch(graph->exec, NULL) != CUDA_SUCCESS)
        exit(1);
    if (round % 64 == 63)
        p_cuCtxSynchronize();
}

enum mode { CALL, SAME, KERN, CHANGE, TWO, LAUNCH, LOOKUP, MODES };

static const char *const modes[MODES] = {"call", "same",   "kern",  "change",
                                         "two",  "launch", "lookup"};

static void one_round(enum mode mode, void *driver, const struct graph *graph, size_t round)
{
    if (mode == CALL)
        setters(nothing, graph, false, 0);
    else if (mode == LAUNCH)
        launches(graph, round);
    else if (mode == LOOKUP)
        dlsym(driver, "strlen");
    else
        setters(p_cuGraphExecKernelNodeSetParams_v2, graph, mode == KERN, mode == CHANGE);
}

/* The rounds of `graph`; in mode TWO beside those of another thread. */
static void run(enum mode mode, void *driver, const struct graph *graph)
{
    struct graph other;
    pthread_t thread;

    if (mode == TWO) {
        other = build(graph->count, graph->rounds);
        setters(p_cuGraphExecKernelNodeSetParams_v2, &other, false, 0);
    }
    struct timespec begin = bench_begin();
    if (mode == TWO && pthread_create(&thread, NULL, same_rounds, &other))
        exit(1);
    for (size_t i = 0; i < graph->rounds; i++)
        one_round(mode, driver, graph, i);
    if (mode == TWO)
        pthread_join(thread, NULL);
    bench_end(begin, graph->rounds * (graph->count ? graph->count : 1));
}

int main(int argc, char **argv)
{
    enum mode mode = CALL;
    struct graph graph;
    void *driver;

    while (argc == 4 && mode < MODES && strcmp(argv[1], modes[mode]))
        mode++;
    if (argc != 4 || mode == MODES)
        return fprintf(stderr, "usage: updates MODE NODES ROUNDS\n"), 2;
    driver = bench_open();
    load();
    graph = build(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    for (size_t i = 0; i < 2; i++) /* the first ones are learnt from */
        one_round(mode, driver, &graph, i);
    run(mode, driver, &graph);
    p_cuCtxSynchronize();
    return 0;
}
