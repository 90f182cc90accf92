/* Clusters that a kernel's code or attributes ask for, by cuda.h's CU_FUNC_ATTRIBUTE_* and the PTX
 * ISA's cluster directives. */
#include "tests/fake/module_fixture.h"

#define BODY                                                                                       \
    "{ .reg .b64 %p, %o; .reg .b32 %c, %v;\n"                                                      \
    "ld.param.u64 %p, [p]; mov.u32 %c, %ctaid.x; mul.wide.u32 %o, %c, 8; add.u64 %p, %p, %o;\n"    \
    "mov.u32 %v, %cluster_ctarank; st.global.u32 [%p], %v; mov.u32 %v, %cluster_nctarank;\n"       \
    "st.global.u32 [%p+4], %v; ret; }\n"

/* Each stores the rank in the cluster and its size by block. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry free(.param .u64 p)\n" BODY
                           ".visible .entry four(.param .u64 p) .explicitcluster "
                           ".reqnctapercluster 4, 1, 1\n" BODY
                           ".visible .entry must(.param .u64 p) .explicitcluster\n" BODY
                           ".visible .entry two(.param .u64 p) .maxclusterrank 2\n" BODY;

struct world {
    CUmodule module;
    CUdeviceptr memory;
};

static struct world begin(void)
{
    struct world world;

    start();
    world.module = load_module(text);
    world.memory = allocate(4096);
    OK(cuMemsetD32_v2(world.memory, 0, 1024));
    return world;
}

/* `cluster` blocks in a row, 0: without the attribute. */
static CUresult launch_grid(const struct world *world, CUfunction function, unsigned grid,
                            unsigned cluster)
{
    CUdeviceptr address = world->memory;
    void *params[] = {&address};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value = {.clusterDim = {cluster, 1, 1}}};
    CUlaunchConfig config = {grid, 1, 1, 1, 1, 1, 0, NULL, &attribute, cluster != 0};

    return cuLaunchKernelEx(&config, function, params, NULL);
}

static void check_ranks(const struct world *world, unsigned grid, unsigned cluster)
{
    OK(cuCtxSynchronize());
    for (unsigned i = 0; i < grid; i++) {
        T_EQ(read_u32(world->memory + 8 * i), i % cluster);
        T_EQ(read_u32(world->memory + 8 * i + 4), cluster);
    }
    OK(cuMemsetD32_v2(world->memory, 0, 1024));
}

static int attribute_of(CUfunction function, CUfunction_attribute attribute)
{
    int value = -1;

    OK(cuFuncGetAttribute(&value, attribute, function));
    return value;
}

TEST(launch_clusters, of_the_code)
{
    struct world world = begin();
    CUfunction four = function_of(world.module, "four");
    void *params[] = {&world.memory};

    OK(cuLaunchKernel(four, 8, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    check_ranks(&world, 8, 4);
    OK(launch_grid(&world, four, 8, 4));
    check_ranks(&world, 8, 4);
    T_EQ(launch_grid(&world, four, 6, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    T_EQ(launch_grid(&world, four, 8, 2), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(launch_grid(&world, function_of(world.module, "free"), 3, 0));
    check_ranks(&world, 3, 1);
}

TEST(launch_clusters, of_a_graph_node)
{
    struct world world = begin();
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    void *params[] = {&world.memory};
    CUDA_KERNEL_NODE_PARAMS node_params = {.func = function_of(world.module, "four"),
                                           .gridDimX = 6,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 1,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = params};
    CUgraphExec exec;
    CUgraphNode node;
    CUgraph graph;

    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &node_params));
    T_NE(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    node_params.gridDimX = 8;
    OK(cuGraphKernelNodeSetParams_v2(node, &node_params));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuCtxSynchronize());
    OK(cuGraphLaunch(exec, stream));
    check_ranks(&world, 8, 4);
    node_params.gridDimX = 6;
    T_NE(cuGraphExecKernelNodeSetParams_v2(exec, node, &node_params), CUDA_SUCCESS);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

/* "If this attribute is set, the kernel must launch with a valid cluster size specified." */
TEST(launch_clusters, that_must_be_set)
{
    struct world world = begin();
    CUfunction must = function_of(world.module, "must");

    T_EQ(attribute_of(must, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 1);
    T_EQ(attribute_of(must, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 0);
    T_EQ(launch_grid(&world, must, 8, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(launch_grid(&world, must, 8, 2));
    check_ranks(&world, 8, 2);
}

TEST(launch_clusters, no_larger_than_the_code_allows)
{
    struct world world = begin();
    CUfunction two = function_of(world.module, "two");

    OK(launch_grid(&world, two, 8, 2));
    check_ranks(&world, 8, 2);
    T_EQ(launch_grid(&world, two, 8, 4), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST(launch_clusters, required_by_code_and_attributes)
{
    struct world world = begin();
    CUfunction four = function_of(world.module, "four"), none = function_of(world.module, "free");

    T_EQ(attribute_of(four, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 4);
    T_EQ(attribute_of(four, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT), 1);
    T_EQ(attribute_of(four, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH), 1);
    T_EQ(attribute_of(none, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 0);
    T_EQ(attribute_of(none, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
    T_EQ(cuFuncSetAttribute(four, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2),
         CUDA_ERROR_NOT_PERMITTED);
    OK(cuFuncSetAttribute(none, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
    T_NE(launch_grid(&world, none, 8, 0), CUDA_SUCCESS); /* all of them, or none */
    OK(cuFuncSetAttribute(none, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
    OK(cuFuncSetAttribute(none, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
    OK(launch_grid(&world, none, 8, 0));
    check_ranks(&world, 8, 2);
    T_EQ(launch_grid(&world, none, 8, 4), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    T_EQ(cuFuncSetAttribute(none, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, -1),
         CUDA_ERROR_INVALID_VALUE);
}

TEST(launch_clusters, larger_than_portable)
{
    struct world world = begin();
    CUfunction none = function_of(world.module, "free");
    const CUfunction_attribute allowed = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;

    T_EQ(attribute_of(none, allowed), 0);
    T_EQ(launch_grid(&world, none, 32, 16), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    T_EQ(cuFuncSetAttribute(none, allowed, 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(none, allowed, 1));
    T_EQ(attribute_of(none, allowed), 1);
    OK(launch_grid(&world, none, 32, 16));
    check_ranks(&world, 32, 16);
    T_EQ(launch_grid(&world, none, 32, 32), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cuFuncSetAttribute(none, allowed, 0));
    T_EQ(launch_grid(&world, none, 32, 16), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST(launch_clusters, occupancy)
{
    struct world world = begin();
    CUfunction four = function_of(world.module, "four"), none = function_of(world.module, "free");
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                   .value = {.clusterDim = {2, 1, 1}}};
    CUlaunchConfig config = {32, 1, 1, 32, 1, 1, 0, NULL, &attribute, 0};
    int size = 0, clusters = 0;

    OK(cuOccupancyMaxPotentialClusterSize(&size, four, &config));
    T_EQ(size, 4);
    OK(cuOccupancyMaxActiveClusters(&clusters, four, &config));
    T_GT(clusters, 0);
    T_NE(cuOccupancyMaxActiveClusters(&clusters, none, &config), CUDA_SUCCESS); /* no size at all */
    config.numAttrs = 1;
    T_EQ(cuOccupancyMaxActiveClusters(&clusters, four, &config), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cuFuncSetAttribute(none, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuOccupancyMaxPotentialClusterSize(&size, none, &config));
    T_EQ(size, 16);
}

TEST(launch_clusters, scheduling_policy)
{
    struct world world = begin();
    CUfunction none = function_of(world.module, "free");
    const CUfunction_attribute policy = CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;

    T_EQ(attribute_of(none, policy), CU_CLUSTER_SCHEDULING_POLICY_DEFAULT);
    OK(cuFuncSetAttribute(none, policy, CU_CLUSTER_SCHEDULING_POLICY_SPREAD));
    T_EQ(attribute_of(none, policy), CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
    T_EQ(cuFuncSetAttribute(none, policy, 3), CUDA_ERROR_INVALID_VALUE);
}

TEST(launch_clusters, attributes_of_a_kernel)
{
    const CUfunction_attribute allowed = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    CUkernel kernel;
    int value = 0;

    begin();
    kernel = kernel_of(load_library(text), "four");
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, kernel, 0));
    T_EQ(value, 4);
    OK(cuKernelSetAttribute(allowed, 1, kernel, 0));
    OK(cuKernelGetAttribute(&value, allowed, kernel, 0));
    T_EQ(value, 1);
}

TEST(launch_clusters, not_on_a_card_without_them)
{
    struct world world;

    setenv("FAKEVMM_DEVICE", "a100", 1);
    start();
    world.memory = allocate(4096);
    T_NE(launch_grid(&world,
                     function_of(load_module(PTX(".visible .entry free(.param .u64 p)\n"
                                                 "{ ret; }\n")),
                                 "free"),
                     8, 2),
         CUDA_SUCCESS);
}
