/* Ways to launch: attributes, cooperative grids, clusters, the calls from before cuLaunchKernel,
 * and what occupancy says, by their documentation in cuda.h. */
#include "tests/fake/module_fixture.h"

/* add: *p += a, from each thread; fill: takes all shared memory; meet: blocks wait for each other
 * and count behind that; rank: stores the rank in the cluster and its size by block. */
static const char text[] =
    PTX(".visible .entry add(.param .u64 p, .param .u32 a) { .reg .b64 %p; .reg .b32 %a;\n"
        "ld.param.u64 %p, [p]; ld.param.u32 %a, [a]; red.global.add.u32 [%p], %a; ret; }\n"
        ".visible .entry fill(.param .u64 p) { .shared .align 16 .b8 s[40960]; ret; }\n"
        ".visible .entry meet(.param .u64 p) { .reg .b64 %p, %s, %x; .reg .b32 %h, %l, %n, %v;\n"
        ".reg .pred %q; ld.param.u64 %p, [p]; mov.u32 %h, %envreg1; mov.u32 %l, %envreg2;\n"
        "cvt.u64.u32 %s, %h; shl.b64 %s, %s, 32; cvt.u64.u32 %x, %l; or.b64 %s, %s, %x;\n"
        "mov.u32 %n, %nctaid.x; atom.add.u32 %v, [%s], 1;\n"
        "L: ld.volatile.u32 %v, [%s]; setp.lt.u32 %q, %v, %n; @%q bra L;\n"
        "red.global.add.u32 [%p], 1; ret; }\n"
        ".visible .entry rank(.param .u64 p) { .reg .b64 %p, %o; .reg .b32 %c, %v;\n"
        "ld.param.u64 %p, [p]; mov.u32 %c, %ctaid.x; mul.wide.u32 %o, %c, 8; add.u64 %p, %p, %o;\n"
        "mov.u32 %v, %cluster_ctarank; st.global.u32 [%p], %v; mov.u32 %v, %cluster_nctarank;\n"
        "st.global.u32 [%p+4], %v; ret; }\n");

struct world {
    CUfunction function;
    CUdeviceptr memory;
};

static struct world begin(const char *name)
{
    struct world world;

    start();
    world.function = function_of(load_module(text), name);
    world.memory = allocate(4096);
    OK(cuMemsetD32_v2(world.memory, 0, 1024));
    return world;
}

static CUresult launch_with(const struct world *world, unsigned grid, unsigned block,
                            CUlaunchAttribute *attributes, unsigned count)
{
    CUdeviceptr address = world->memory;
    unsigned value = 1;
    void *params[] = {&address, &value};
    CUlaunchConfig config = {grid, 1, 1, block, 1, 1, 0, NULL, attributes, count};

    return cuLaunchKernelEx(&config, world->function, params, NULL);
}

static CUlaunchAttribute cluster_of(unsigned x)
{
    return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value = {.clusterDim = {x, 1, 1}}};
}

TEST(launch_forms, attributes_that_change_nothing)
{
    struct world world = begin("add");
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_IGNORE},
        {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = -1}},
        {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
         .value = {.programmaticStreamSerializationAllowed = 1}},
        {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
         .value = {.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE}},
        {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
         .value = {.sharedMemCarveout = 50}},
    };

    OK(launch_with(&world, 2, 3, attributes, 5));
    T_EQ(read_u32(world.memory), 6);
}

TEST(launch_forms, bad_attributes)
{
    struct world world = begin("add");
    CUlaunchAttribute unknown = {.id = (CUlaunchAttributeID)1000},
                      domain = {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};

    memset(&domain.value, 0x7f, sizeof domain.value);
    T_NE(launch_with(&world, 1, 1, &unknown, 1), CUDA_SUCCESS);
    T_EQ(launch_with(&world, 1, 1, &domain, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(launch_with(&world, 1, 1, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(launch_with(&world, 0, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(launch_with(&world, 1, 0, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(launch_with(&world, 1, 1025, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    T_EQ(read_u32(world.memory), 0);
}

TEST(launch_forms, parameter_forms_exclude_each_other)
{
    struct world world = begin("add");
    CUdeviceptr address = world.memory;
    unsigned value = 1;
    size_t size = 4;
    void *params[] = {&address, &value};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &address, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};

    T_EQ(cuLaunchKernel(world.function, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuLaunchKernel(world.function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
         CUDA_ERROR_INVALID_VALUE); /* too few bytes */
    T_EQ(cuLaunchKernel(world.function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
         CUDA_ERROR_INVALID_VALUE);
}

/* ---- cooperative grids ---- */

TEST(launch_forms, blocks_of_a_cooperative_grid_meet)
{
    struct world world = begin("meet");
    void *params[] = {&world.memory};

    for (unsigned i = 1; i <= 3; i++) {
        OK(cuLaunchCooperativeKernel(world.function, 100, 1, 1, 8, 1, 1, 0, NULL, params));
        OK(cuCtxSynchronize());
        T_EQ(read_u32(world.memory), 800 * i);
    }
}

/* "The total number of blocks launched cannot exceed the maximum number of blocks per
 * multiprocessor as returned by cuOccupancyMaxActiveBlocksPerMultiprocessor times the number of
 * multiprocessors." */
TEST(launch_forms, a_cooperative_grid_must_fit)
{
    struct world world = begin("add");
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                     .value = {.cooperative = 1}};
    unsigned value = 1, fitting;
    void *params[] = {&world.memory, &value};
    int blocks = 0, multiprocessors = 0;

    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, world.function, 1024, 0));
    OK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    T_GT(blocks, 0);
    fitting = (unsigned)(blocks * multiprocessors);
    OK(cuLaunchCooperativeKernel(world.function, fitting, 1, 1, 1024, 1, 1, 0, NULL, params));
    T_EQ(cuLaunchCooperativeKernel(world.function, fitting + 1, 1, 1, 1024, 1, 1, 0, NULL, params),
         CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    T_EQ(launch_with(&world, fitting + 1, 1024, &cooperative, 1),
         CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(launch_with(&world, fitting + 1, 1024, NULL, 0));
    OK(cuCtxSynchronize());
    T_EQ(read_u32(world.memory), (2 * fitting + 1) * 1024);
}

TEST(launch_forms, a_captured_cooperative_launch_stays_one)
{
    struct world world = begin("meet");
    void *params[] = {&world.memory};
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec;
    CUgraph graph;

    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuLaunchCooperativeKernel(world.function, 50, 1, 1, 4, 1, 1, 0, stream, params));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    T_EQ(read_u32(world.memory), 200);
}

/* ---- clusters ---- */

TEST(launch_forms, clusters)
{
    struct world world = begin("rank");
    CUlaunchAttribute attribute = cluster_of(4);

    OK(launch_with(&world, 8, 1, &attribute, 1));
    for (unsigned i = 0; i < 8; i++) {
        T_EQ(read_u32(world.memory + 8 * i), i % 4);
        T_EQ(read_u32(world.memory + 8 * i + 4), 4);
    }
    T_EQ(launch_with(&world, 6, 1, &attribute, 1), CUDA_ERROR_INVALID_VALUE);
    attribute = cluster_of(0);
    T_EQ(launch_with(&world, 8, 1, &attribute, 1), CUDA_ERROR_INVALID_VALUE);
    attribute = cluster_of(64);
    T_EQ(launch_with(&world, 64, 1, &attribute, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST(launch_forms, cluster_occupancy)
{
    struct world world = begin("rank");
    CUlaunchAttribute attribute = cluster_of(4);
    CUlaunchConfig config = {8, 1, 1, 1024, 1, 1, 0, NULL, &attribute, 1};
    int size = 0, clusters = 0, blocks = 0, multiprocessors = 0;

    OK(cuOccupancyMaxPotentialClusterSize(&size, world.function, &config));
    T_EQ(size, 8); /* what every device with clusters supports */
    OK(cuOccupancyMaxActiveClusters(&clusters, world.function, &config));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, world.function, 1024, 0));
    OK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    T_GT(clusters, 0);
    T_LE(clusters, blocks * multiprocessors / 4);
    T_EQ(cuOccupancyMaxActiveClusters(NULL, world.function, &config), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuOccupancyMaxActiveClusters(&clusters, world.function, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* ---- occupancy ---- */

static size_t quarter(int block)
{
    return (size_t)block * 64;
}

TEST(launch_forms, potential_block_size)
{
    struct world world = begin("add");
    int grid = 0, block = 0, blocks = 0, multiprocessors = 0;

    OK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, world.function, NULL, 0, 0));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, world.function, block, 0));
    T_EQ(grid, blocks * multiprocessors);
    T_EQ(block * blocks, 2048); /* a small kernel can fill a multiprocessor */
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, world.function, NULL, 0, 100));
    T_LE(block, 100);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, world.function, quarter, 0, 0));
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, world.function, block, quarter(block)));
    T_EQ(grid, blocks * multiprocessors);
    T_EQ(cuOccupancyMaxPotentialBlockSize(NULL, &block, world.function, NULL, 0, 0),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, world.function, NULL, 0, 0, 2),
         CUDA_ERROR_INVALID_VALUE);
}

/* As many blocks as asked for fit with what it answers, and no more. */
TEST(launch_forms, available_dynamic_shared_memory)
{
    struct world world = begin("fill");
    size_t bytes = 0;
    int blocks = 0;

    OK(cuFuncSetAttribute(world.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, world.function, 2, 128));
    T_GT(bytes, 0);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, world.function, 128, bytes));
    T_EQ(blocks, 2);
    T_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, world.function, 1000, 128),
         CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuOccupancyAvailableDynamicSMemPerBlock(NULL, world.function, 1, 128),
         CUDA_ERROR_INVALID_VALUE);
}

/* ---- the calls from before ---- */

TEST(launch_forms, shape_and_parameters_set_first)
{
    struct world world = begin("add");

    OK(cuFuncSetBlockShape(world.function, 4, 2, 1));
    OK(cuFuncSetSharedSize(world.function, 16));
    OK(cuParamSetSize(world.function, 12));
    OK(cuParamSetv(world.function, 0, &world.memory, sizeof world.memory));
    OK(cuParamSeti(world.function, 8, 5));
    OK(cuLaunch(world.function));
    T_EQ(read_u32(world.memory), 40);
    OK(cuLaunchGrid(world.function, 3, 2));
    T_EQ(read_u32(world.memory), 280);
    OK(cuLaunchGridAsync(world.function, 1, 1, new_stream(0)));
    OK(cuCtxSynchronize());
    T_EQ(read_u32(world.memory), 320);
}

TEST(launch_forms, bad_settings)
{
    struct world world = begin("add");
    int local;

    T_EQ(cuFuncSetBlockShape(world.function, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuParamSetSize(world.function, 1 << 20), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuParamSetv(world.function, 4000, &local, 200), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuParamSetv(world.function, 0, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    T_EQ(cuLaunchGrid(world.function, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuParamSetSize(world.function, 4));
    T_EQ(cuLaunch(world.function), CUDA_ERROR_INVALID_VALUE); /* too few bytes for its parameters */
    T_EQ(cuParamSeti((CUfunction)&local, 0, 1), CUDA_ERROR_INVALID_HANDLE);
}
