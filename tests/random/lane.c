/* lane.c: what the operations of a random program are. A program never uses a buffer after its end
 * and never leaves two writers unordered, so that whatever differs between two runs is not its
 * fault. */
#include "tests/random/lane.h"

#define WINDOW ((size_t)APP_TOUCHED * sizeof(uint32_t))

/* ---- what was observed ---- */

uint64_t lane_draw(struct lane *lane, uint64_t below)
{
    return app_random(&lane->random) % below;
}

void lane_observe(struct lane *lane, const void *data, size_t bytes)
{
    lane->checksum = app_checksum(lane->checksum, data, bytes);
}

void lane_answer(struct lane *lane, CUresult result)
{
    lane->refused += result != CUDA_SUCCESS;
    lane_observe(lane, &result, sizeof result);
}

/* ---- the world ---- */

/* Both set the condition `handle` to the word at `p`; count_down takes one from it first. */
#define DECIDER(name, change)                                                                      \
    ".visible .entry " name "(.param .u64 handle, .param .u64 p) {\n"                              \
    ".reg .b64 %rd<4>; .reg .b32 %r<2>;\n"                                                         \
    "ld.param.u64 %rd1, [handle]; ld.param.u64 %rd2, [p];\n"                                       \
    "cvta.to.global.u64 %rd3, %rd2; ld.global.u32 %r1, [%rd3];\n" change                           \
    "{ .param .b64 param0; st.param.b64 [param0], %rd1;\n"                                         \
    ".param .b32 param1; st.param.b32 [param1], %r1;\n"                                            \
    "call.uni cudaGraphSetConditional, (param0, param1); }\n"                                      \
    "ret; }\n"

#define DECIDERS                                                                                   \
    PTX_HEADER ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
#define COUNT_DOWN "add.u32 %r1, %r1, -1; st.global.u32 [%rd3], %r1;\n"

static const char decider_ptx[] = DECIDERS DECIDER("decide", "") DECIDER("count_down", COUNT_DOWN);

void world_open(struct world *world)
{
    MUST(cuInit(0));
    MUST(cuDeviceGet(&world->device, 0));
    MUST(cuDevicePrimaryCtxRetain(&world->context, world->device));
    MUST(cuCtxSetCurrent(world->context));
    MUST(cuModuleLoadData(&world->module, resend_ptx));
    MUST(cuModuleGetFunction(&world->kernel, world->module, "resend_step"));
    MUST(cuModuleLoadData(&world->decider, decider_ptx));
    MUST(cuModuleGetFunction(&world->decide, world->decider, "decide"));
    MUST(cuModuleGetFunction(&world->count_down, world->decider, "count_down"));
}

void world_close(struct world *world)
{
    MUST(cuModuleUnload(world->module));
    MUST(cuModuleUnload(world->decider));
    MUST(cuDevicePrimaryCtxRelease_v2(world->device));
}

/* ---- buffers ---- */

static size_t window_of(const struct place *place)
{
    return place->bytes < WINDOW ? place->bytes : WINDOW;
}

static CUdeviceptr tail_of(const struct place *place)
{
    return place->base + place->bytes - window_of(place);
}

/* What is used of a buffer is written in stream order before anything reads it. */
static void allocate(struct lane *lane, struct place *place)
{
    CUresult result = cuMemAlloc_v2(&place->base, place->bytes);

    lane_answer(lane, result);
    if (result != CUDA_SUCCESS)
        exit(1);
    place->birth = ++lane->births;
    MUST(cuMemsetD32Async(place->base, (unsigned)lane_draw(lane, UINT32_MAX), window_of(place) / 4,
                          lane->stream));
    MUST(cuMemsetD32Async(tail_of(place), (unsigned)lane_draw(lane, UINT32_MAX),
                          window_of(place) / 4, lane->stream));
}

/* cuMemFree waits for the work that uses the buffer, and cuMemFreeAsync is behind it. */
static void release(struct lane *lane, struct place *place)
{
    uint64_t way = lane_draw(lane, 8);

    if (way < 3)
        MUST(cuStreamSynchronize(lane->stream));
    lane_answer(lane,
                way == 7 ? cuMemFreeAsync(place->base, lane->stream) : cuMemFree_v2(place->base));
    place->base = 0;
    place->birth = 0;
    if (lane_draw(lane, 12) == 0)
        place->bytes = lane->sizes[lane_draw(lane, SIZES)];
}

static struct place *any_place(struct lane *lane)
{
    struct place *place = &lane->places[lane_draw(lane, PLACES)];

    if (!place->base)
        allocate(lane, place);
    return place;
}

static void read_back(struct lane *lane, const struct place *place)
{
    char host[2 * WINDOW];
    size_t window = window_of(place);

    lane_answer(lane, cuMemcpyDtoHAsync_v2(host, place->base, window, lane->stream));
    lane_answer(lane, cuMemcpyDtoHAsync_v2(host + window, tail_of(place), window, lane->stream));
    lane_answer(lane, cuStreamSynchronize(lane->stream));
    lane_observe(lane, host, 2 * window);
}

/* ---- graphs ---- */

CUDA_KERNEL_NODE_PARAMS_v2 lane_params(struct lane *lane, struct resend_args *args,
                                       void *values[10])
{
    void *list[10] = {&args->out,    &args->in,   &args->table, &args->touched, &args->mult,
                      &args->stride, &args->last, &args->bias,  &args->add,     &args->salt};

    memcpy(values, list, sizeof list);
    return (CUDA_KERNEL_NODE_PARAMS_v2){
        .func = lane->world->kernel,
        .gridDimX = RESEND_GRID,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = RESEND_BLOCK,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = values,
    };
}

/* Adds the nodes, in a chain, without buffers; these come with the first launch. */
static void build(struct lane *lane, struct graph *graph)
{
    const struct app_reach nothing = {.stride = 1};
    const uint64_t no_buffers[3] = {0};
    void *values[10];

    MUST(cuGraphCreate(&graph->source, 0));
    for (unsigned k = 0; k < NODES; k++) {
        struct node *node = &graph->nodes[k];

        resend_start(&node->args, 0, no_buffers, &nothing, &lane->random);
        for (unsigned i = 0; i < 3; i++) {
            node->place[i] = (unsigned)lane_draw(lane, PLACES);
            node->birth[i] = 0;
        }
        CUDA_KERNEL_NODE_PARAMS_v2 params = lane_params(lane, &node->args, values);
        MUST(cuGraphAddKernelNode_v2(&node->handle, graph->source,
                                     &graph->nodes[k ? k - 1 : 0].handle, k ? 1 : 0, &params));
    }
    MUST(cuGraphInstantiateWithFlags(&graph->exec, graph->source, 0));
}

static void tear_down(struct lane *lane, struct graph *graph)
{
    lane_answer(lane, cuGraphExecDestroy(graph->exec));
    lane_answer(lane, cuGraphDestroy(graph->source));
}

/* The node gets the buffers that its places hold now, through one of the forms there are. */
static void send(struct lane *lane, struct graph *graph, struct node *node)
{
    const struct place *out = &lane->places[node->place[0]], *in = &lane->places[node->place[1]],
                       *table = &lane->places[node->place[2]];
    size_t bytes = sizeof node->args, window = window_of(out);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &node->args, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, CU_LAUNCH_PARAM_END};
    void *values[10];

    window = window_of(in) < window ? window_of(in) : window;
    window = window_of(table) < window ? window_of(table) : window;
    node->args.out = out->base;
    node->args.in = tail_of(in);
    node->args.table = table->base;
    node->args.touched = (uint32_t)(window / sizeof(uint32_t));
    node->args.last = node->args.touched - 1;
    for (unsigned i = 0; i < 3; i++)
        node->birth[i] = lane->places[node->place[i]].birth;
    CUDA_KERNEL_NODE_PARAMS_v2 params = lane_params(lane, &node->args, values);
    if (lane_draw(lane, 4) == 0) {
        params.kernelParams = NULL;
        params.extra = extra;
    }
    if (lane_draw(lane, 4) == 0)
        lane_answer(lane,
                    cuGraphExecKernelNodeSetParams(graph->exec, node->handle,
                                                   (const CUDA_KERNEL_NODE_PARAMS_v1 *)&params));
    else
        lane_answer(lane, cuGraphExecKernelNodeSetParams_v2(graph->exec, node->handle, &params));
}

/* True if the exec would use a buffer that is no more, or one that it never had. */
static bool is_stale(const struct lane *lane, const struct node *node)
{
    for (unsigned i = 0; i < 3; i++)
        if (!node->birth[i] || node->birth[i] != lane->places[node->place[i]].birth)
            return true;
    return false;
}

/* Lets the stream fall behind, so that a buffer whose end comes too early is still in use. */
static void rest(void *data)
{
    const struct timespec pause = {.tv_nsec = 300000};

    nanosleep(&pause, NULL);
}

/* Sends all nodes or those that must be sent, then launches. */
static void launch(struct lane *lane, struct graph *graph, bool all)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (!lane->places[i].base)
            allocate(lane, &lane->places[i]);
    for (unsigned k = 0; k < NODES; k++)
        if (all || is_stale(lane, &graph->nodes[k]))
            send(lane, graph, &graph->nodes[k]);
    if (lane_draw(lane, 8) == 0)
        lane_answer(lane, cuLaunchHostFunc(lane->stream, rest, NULL));
    lane_answer(lane, cuGraphLaunch(graph->exec, lane->stream));
}

/* ---- operations ---- */

static struct graph *any_graph(struct lane *lane)
{
    return &lane->graphs[lane_draw(lane, GRAPHS)];
}

/* A step of a program that allocates everything anew. */
static void op_step(struct lane *lane)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (lane->places[i].base)
            release(lane, &lane->places[i]);
    launch(lane, &lane->graphs[0], true);
    read_back(lane, &lane->places[lane_draw(lane, PLACES)]);
}

static void op_launch(struct lane *lane)
{
    launch(lane, any_graph(lane), lane_draw(lane, 2));
}

/* A few launches with nothing between them. */
static void op_burst(struct lane *lane)
{
    struct graph *graph = any_graph(lane);

    for (uint64_t i = lane_draw(lane, 4); i > 0; i--)
        launch(lane, graph, false);
}

static void op_release(struct lane *lane)
{
    struct place *place = &lane->places[lane_draw(lane, PLACES)];

    if (place->base)
        release(lane, place);
}

static void op_allocate(struct lane *lane)
{
    any_place(lane);
}

static void op_read(struct lane *lane)
{
    read_back(lane, any_place(lane));
}

static void op_copy(struct lane *lane)
{
    const struct place *to = any_place(lane), *from = any_place(lane);
    size_t window = window_of(to) < window_of(from) ? window_of(to) : window_of(from);

    if (to != from)
        lane_answer(lane, cuMemcpyDtoDAsync_v2(to->base, tail_of(from), window, lane->stream));
}

/* One node gets another place or another scalar, before its next launch or after it. */
static void op_change(struct lane *lane)
{
    struct graph *graph = any_graph(lane);
    struct node *node = &graph->nodes[lane_draw(lane, NODES)];

    if (lane_draw(lane, 2))
        node->args.add += (uint32_t)lane_draw(lane, 3);
    else
        node->place[lane_draw(lane, 3)] = (unsigned)lane_draw(lane, PLACES);
    for (unsigned i = 0; i < 3; i++)
        if (!lane->places[node->place[i]].base)
            allocate(lane, &lane->places[node->place[i]]);
    send(lane, graph, node);
}

static void op_query(struct lane *lane)
{
    const struct place *place = any_place(lane);
    CUdeviceptr base = 0;
    size_t bytes = 0, range = 0;

    lane_answer(lane, cuMemGetAddressRange_v2(&base, &bytes, tail_of(place)));
    base -= place->base;
    lane_observe(lane, &base, sizeof base);
    lane_observe(lane, &bytes, sizeof bytes);
    lane_answer(lane, cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, place->base));
    lane_observe(lane, &range, sizeof range);
}

/* What the driver refuses. */
static void op_mistake(struct lane *lane)
{
    const struct place *place = any_place(lane);
    struct graph *graph = any_graph(lane);
    struct node *node = &graph->nodes[lane_draw(lane, NODES)];
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    CUdeviceptr nothing = 0;
    void *values[10];

    switch (lane_draw(lane, 4)) {
    case 0: lane_answer(lane, cuMemFree_v2(place->base + 4)); break;
    case 1: lane_answer(lane, cuMemFree_v2(0)); break;
    case 2: lane_answer(lane, cuMemAlloc_v2(&nothing, 0)); break;
    default:
        params = lane_params(lane, &node->args, values);
        params.blockDimX = 1u << 20;
        lane_answer(lane, cuGraphExecKernelNodeSetParams_v2(graph->exec, node->handle, &params));
        for (unsigned i = 0; i < 3; i++)
            node->birth[i] = 0;
    }
}

/* The whole exec, or its handle, means something else afterwards: every node must be sent again. */
static void op_renew(struct lane *lane)
{
    struct graph *graph = any_graph(lane);
    CUgraphExecUpdateResultInfo info;

    if (lane_draw(lane, 2)) {
        lane_answer(lane, cuGraphExecUpdate_v2(graph->exec, graph->source, &info));
    } else {
        lane_answer(lane, cuGraphExecDestroy(graph->exec));
        MUST(cuGraphInstantiateWithFlags(&graph->exec, graph->source, 0));
    }
    for (unsigned k = 0; k < NODES; k++)
        graph->nodes[k].birth[0] = 0;
}

static void op_enable(struct lane *lane)
{
    struct graph *graph = any_graph(lane);

    lane_answer(lane,
                cuGraphNodeSetEnabled(graph->exec, graph->nodes[lane_draw(lane, NODES)].handle,
                                      (unsigned)lane_draw(lane, 2)));
}

/* How often each of them, of the sum of all. */
static const struct {
    void (*run)(struct lane *lane);
    unsigned weight;
} operations[] = {
    {op_step, 40},          {op_launch, 10},
    {op_burst, 4},          {op_release, 12},
    {op_allocate, 6},       {op_read, 6},
    {op_copy, 6},           {op_change, 10},
    {op_query, 4},          {op_mistake, 3},
    {op_renew, 1},          {op_enable, 1},
    {mixed_set, 24},        {mixed_launch, 12},
    {mixed_enable, 3},      {mixed_set_nested, 4},
    {mixed_edit, 3},        {mixed_update, 3},
    {mixed_renew, 2},       {mixed_move, 2},
    {mixed_mistake, 3},     {vmm_play, 3},
    {captured_play, 4},     {capture_shape_play, 6},
    {memory_pool_play, 4},  {memory_managed_play, 2},
    {memory_host_play, 3},  {boxes_play, 5},
    {streams_play, 6},      {shapes_play, 8},
    {owned_play, 5},        {conditions_play, 4},
    {user_objects_play, 2},
};

void lane_operate(struct lane *lane, uint64_t number)
{
    unsigned sum = 0, chosen, i = 0;

    lane->random = lane->seed ^ number * UINT64_C(0xd1342543de82ef95);
    app_random(&lane->random);
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++)
        sum += operations[o].weight;
    chosen = (unsigned)lane_draw(lane, sum);
    while (chosen >= operations[i].weight)
        chosen -= operations[i++].weight;
    operations[i].run(lane);
}

/* ---- beginning and end ---- */

/* From 4 bytes to 8 MiB, multiples of 4; two lanes often have sizes in common. */
static void choose_sizes(struct lane *lane)
{
    static const size_t common[] = {4, 256, 4096, 65536, 1 << 20, 2 << 20, (2 << 20) + 4, 8 << 20};

    for (unsigned i = 0; i < SIZES; i++)
        lane->sizes[i] = lane_draw(lane, 3)
                             ? common[lane_draw(lane, sizeof common / sizeof *common)]
                             : (1 + lane_draw(lane, 1 << lane_draw(lane, 21))) * 4;
    for (unsigned i = 0; i < PLACES; i++)
        lane->places[i] = (struct place){.bytes = lane->sizes[lane_draw(lane, SIZES)]};
}

void lane_begin(struct lane *lane, struct world *world, uint64_t seed)
{
    *lane =
        (struct lane){.world = world, .seed = seed, .random = seed, .checksum = APP_CHECKSUM_START};
    MUST(cuStreamCreate(&lane->stream, CU_STREAM_NON_BLOCKING));
    choose_sizes(lane);
    for (unsigned i = 0; i < GRAPHS; i++)
        build(lane, &lane->graphs[i]);
    mixed_begin(lane);
}

uint64_t lane_end(struct lane *lane)
{
    mixed_end(lane);
    for (unsigned i = 0; i < PLACES; i++) {
        if (!lane->places[i].base)
            continue;
        read_back(lane, &lane->places[i]);
        lane_answer(lane, cuMemFree_v2(lane->places[i].base));
    }
    for (unsigned i = 0; i < GRAPHS; i++)
        tear_down(lane, &lane->graphs[i]);
    lane_answer(lane, cuStreamDestroy_v2(lane->stream));
    return lane->checksum;
}
