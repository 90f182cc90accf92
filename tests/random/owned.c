/* owned.c: graphs that allocate and free memory themselves: freed in the graph, by the stream, by
 * another graph or by the next launch. */
#include "tests/random/lane.h"

#define OWNED_BYTES 2048
#define OUT_BYTES   1056 /* a size that no other buffer has: the graph copies there */

/* Who frees what the graph allocates. */
enum end { BY_GRAPH, BY_STREAM, BY_OTHER, BY_LAUNCH, ENDS };

struct owned {
    enum end end;
    CUgraph graph, other;
    CUgraphExec exec, freeing; /* `freeing` of `other` */
    CUgraphNode alloc, last;
    CUdeviceptr memory, out; /* what the graph allocates, and where it shows what it did there */
    bool live;               /* allocated in the order of the calls */
};

static void add_alloc(struct lane *lane, struct owned *o)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, lane->world->device}},
        .bytesize = OWNED_BYTES,
    };
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};

    if (lane_draw(lane, 2)) {
        MUST(cuGraphAddMemAllocNode(&o->alloc, o->graph, NULL, 0, &params));
        o->memory = params.dptr;
    } else {
        any.alloc.poolProps = params.poolProps;
        any.alloc.bytesize = OWNED_BYTES;
        MUST(cuGraphAddNode_v2(&o->alloc, o->graph, NULL, NULL, 0, &any));
        o->memory = any.alloc.dptr;
    }
}

/* A fill, a kernel, and a copy out of the memory, which is then full of what was written. */
static void add_work(struct lane *lane, struct owned *o)
{
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {.dst = o->memory,
                                       .value = (unsigned)lane_draw(lane, 100),
                                       .elementSize = 4,
                                       .width = OWNED_BYTES / 4,
                                       .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = o->memory,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = o->out,
                          .WidthInBytes = 512,
                          .Height = 1,
                          .Depth = 1};
    struct resend_args args;
    void *values[10];
    CUDA_KERNEL_NODE_PARAMS_v2 step =
        scratch_step(lane, &args, values, o->memory, o->out + SCRATCH_STEP);
    CUcontext context = lane->world->context;

    MUST(cuGraphAddMemsetNode(&o->last, o->graph, &o->alloc, 1, &fill, context));
    MUST(cuGraphAddKernelNode_v2(&o->last, o->graph, &o->last, 1, &step));
    MUST(cuGraphAddMemcpyNode(&o->last, o->graph, &o->last, 1, &copy, context));
}

static void build(struct lane *lane, struct owned *o)
{
    CUgraphNode node;
    unsigned long long flags =
        o->end == BY_LAUNCH ? CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH : 0;

    MUST(cuGraphCreate(&o->graph, 0));
    MUST(cuGraphCreate(&o->other, 0));
    add_alloc(lane, o);
    add_work(lane, o);
    if (o->end == BY_GRAPH)
        MUST(cuGraphAddMemFreeNode(&node, o->graph, &o->last, 1, o->memory));
    if (o->end == BY_OTHER)
        MUST(cuGraphAddMemFreeNode(&node, o->other, NULL, 0, o->memory));
    MUST(cuGraphInstantiateWithFlags(&o->exec, o->graph, flags));
    MUST(cuGraphInstantiateWithFlags(&o->freeing, o->other, 0));
}

/* What graphs with such nodes do not allow. */
static void mistakes(struct lane *lane, struct owned *o)
{
    CUgraph clone = NULL;
    CUgraphExec again = NULL;
    CUgraphNode node = NULL;
    CUgraphNodeParams child = {.type = CU_GRAPH_NODE_TYPE_GRAPH};

    switch (lane_draw(lane, 6)) {
    case 0: lane_answer(lane, cuGraphClone(&clone, o->graph)); break;
    case 1: lane_answer(lane, cuGraphInstantiateWithFlags(&again, o->graph, 0)); break;
    case 2: lane_answer(lane, cuGraphDestroyNode(o->alloc)); break;
    case 3:
        lane_answer(lane, cuGraphRemoveDependencies_v2(o->graph, &o->alloc, &o->last, NULL, 1));
        break;
    case 4:
        lane_answer(lane, cuGraphAddMemFreeNode(&node, o->graph, &o->last, 1, o->memory + 512));
        break;
    default:
        child.graph.graph = o->graph;
        lane_answer(lane, cuGraphAddNode_v2(&node, o->other, NULL, NULL, 0, &child));
        break;
    }
}

static void launch(struct lane *lane, struct owned *o)
{
    CUresult result = cuGraphLaunch(o->exec, lane->stream); /* refused while it is allocated */

    lane_answer(lane, result);
    if (result == CUDA_SUCCESS && o->end != BY_GRAPH)
        o->live = true;
}

/* The application may use it between a launch and its end. */
static void let_go(struct lane *lane, struct owned *o)
{
    if (!o->live)
        return;
    if (lane_draw(lane, 2)) {
        scratch_launch(lane, lane->stream, o->memory, o->out);
        scratch_see(lane, o->memory, 512);
    }
    if (o->end == BY_OTHER) {
        lane_answer(lane, cuGraphLaunch(o->freeing, lane->stream));
    } else if (lane_draw(lane, 2)) {
        lane_answer(lane, cuMemFreeAsync(o->memory, lane->stream));
    } else {
        MUST(cuStreamSynchronize(lane->stream));
        lane_answer(lane, cuMemFree_v2(o->memory));
    }
    o->live = false;
}

static void destroy(struct lane *lane, struct owned *o)
{
    if (lane_draw(lane, 2)) {
        lane_answer(lane, cuGraphDestroy(o->graph));
        lane_answer(lane, cuGraphExecDestroy(o->exec));
    } else {
        lane_answer(lane, cuGraphExecDestroy(o->exec));
        lane_answer(lane, cuGraphDestroy(o->graph));
    }
}

void owned_play(struct lane *lane)
{
    struct owned o = {.end = (enum end)lane_draw(lane, ENDS)};
    CUgraphExecUpdateResultInfo info = {0};
    bool early = lane_draw(lane, 2);

    o.out = scratch_new(lane, OUT_BYTES, 1);
    build(lane, &o);
    for (uint64_t i = 2 + lane_draw(lane, 5); i-- > 0;) {
        switch (lane_draw(lane, 6)) {
        case 0: let_go(lane, &o); break;
        case 1: mistakes(lane, &o); break;
        case 2: scratch_see(lane, o.out, OUT_BYTES); break;
        case 3:
            lane_answer(lane, cuGraphExecUpdate_v2(o.exec, o.graph, &info));
            lane_count(lane, info.result);
            break;
        default: launch(lane, &o); break;
        }
    }
    if (early)
        destroy(lane, &o); /* what is allocated stays so */
    let_go(lane, &o);
    if (!early)
        destroy(lane, &o);
    lane_answer(lane, cuGraphExecDestroy(o.freeing));
    lane_answer(lane, cuGraphDestroy(o.other));
    scratch_see(lane, o.out, OUT_BYTES);
    scratch_free(lane, o.out);
}
