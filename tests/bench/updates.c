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
static CUgraphExec exec;
static CUgraphNode *nodes;
static struct arguments *arguments;

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

static void build(size_t count)
{
    CUgraph graph;
    void *args[8];

    MUST(p_cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    MUST(p_cuLibraryGetKernel(&kernel, library, "eight"));
    MUST(p_cuKernelGetFunction(&function, kernel));
    nodes = calloc(count + 1, sizeof(*nodes));
    arguments = calloc(count + 1, sizeof(*arguments));
    MUST(p_cuGraphCreate(&graph, 0));
    for (size_t i = 0; i < count; i++) {
        CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(args);

        for (int j = 0; j < 6; j++)
            arguments[i].wide[j] = 0x7f0000000000ull + i * 4096 + j;
        point_at(args, &arguments[i]);
        MUST(p_cuGraphAddKernelNode_v2(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i ? 1 : 0,
                                       &params));
    }
    if (!count)
        MUST(p_cuGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    MUST(p_cuGraphInstantiateWithFlags(&exec, graph, 0));
}

static __attribute__((noinline)) CUresult nothing(CUgraphExec e, CUgraphNode n,
                                                  const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    __asm__ volatile("" : : "r"(e), "r"(n), "r"(params) : "memory");
    return CUDA_SUCCESS;
}

static void setters(__typeof__(cuGraphExecKernelNodeSetParams_v2) *set, size_t count, bool kern,
                    unsigned change)
{
    void *args[8];
    CUDA_KERNEL_NODE_PARAMS_v2 params = node_params(args);

    if (kern) {
        params.func = NULL;
        params.kern = kernel;
    }
    for (size_t i = 0; i < count; i++) {
        arguments[i].narrow[1] += change;
        point_at(args, &arguments[i]);
        if (set(exec, nodes[i], &params) != CUDA_SUCCESS)
            exit(1);
    }
}

static void launches(size_t round)
{
    if (p_cuGraphLaunch(exec, NULL) != CUDA_SUCCESS)
        exit(1);
    if (round % 64 == 63)
        p_cuCtxSynchronize();
}

enum mode { CALL, SAME, KERN, CHANGE, LAUNCH, LOOKUP, MODES };

static const char *const modes[MODES] = {"call", "same", "kern", "change", "launch", "lookup"};

static void one_round(enum mode mode, void *driver, size_t count, size_t round)
{
    if (mode == CALL)
        setters(nothing, count, false, 0);
    else if (mode == LAUNCH)
        launches(round);
    else if (mode == LOOKUP)
        dlsym(driver, "strlen");
    else
        setters(p_cuGraphExecKernelNodeSetParams_v2, count, mode == KERN, mode == CHANGE);
}

int main(int argc, char **argv)
{
    struct timespec begin;
    size_t count, rounds;
    enum mode mode = CALL;
    void *driver;

    while (argc == 4 && mode < MODES && strcmp(argv[1], modes[mode]))
        mode++;
    if (argc != 4 || mode == MODES)
        return fprintf(stderr, "usage: updates MODE NODES ROUNDS\n"), 2;
    count = strtoull(argv[2], NULL, 10);
    rounds = strtoull(argv[3], NULL, 10);
    driver = bench_open();
    build(count);
    for (size_t i = 0; i < 2; i++) /* the first ones are learnt from */
        one_round(mode, driver, count, i);
    begin = bench_begin();
    for (size_t i = 0; i < rounds; i++)
        one_round(mode, driver, count, i);
    bench_end(begin, rounds * (count ? count : 1));
    p_cuCtxSynchronize();
    return 0;
}
