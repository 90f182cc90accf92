/* mixed_values.c: what nodes of every kind can be told. Few values each, so that updates often say
 * what was said before; each names cells that exist. */
#include "tests/random/lane.h"

static CUdeviceptr any_cell(struct lane *lane)
{
    return lane->mixed.cell[lane_draw(lane, CELLS)];
}

CUDA_KERNEL_NODE_PARAMS_v2 mixed_draw_kernel(struct lane *lane, struct resend_args *args,
                                             void *values[10])
{
    const struct app_reach reach = {.touched = APP_TOUCHED, .stride = 1, .last = APP_TOUCHED - 1};
    const uint64_t buffers[3] = {any_cell(lane), any_cell(lane), any_cell(lane)};
    uint64_t fixed = 7;

    resend_start(args, 0, buffers, &reach, &fixed);
    args->add = (uint32_t)lane_draw(lane, 2);
    return lane_params(lane, args, values);
}

CUDA_MEMSET_NODE_PARAMS_v1 mixed_draw_fill(struct lane *lane)
{
    return (CUDA_MEMSET_NODE_PARAMS_v1){
        .dst = any_cell(lane) + 64 * lane_draw(lane, 2),
        .value = 1 + (unsigned)lane_draw(lane, 2),
        .elementSize = 4,
        .width = lane_draw(lane, 2) ? 4 : 16,
        .height = 1,
    };
}

CUDA_MEMCPY3D mixed_draw_copy(struct lane *lane)
{
    unsigned from = (unsigned)lane_draw(lane, CELLS);
    unsigned to = (from + 1 + (unsigned)lane_draw(lane, CELLS - 1)) % CELLS;
    CUmemorytype type = lane_draw(lane, 2) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;

    return (CUDA_MEMCPY3D){
        .srcMemoryType = type,
        .srcDevice = lane->mixed.cell[from],
        .srcXInBytes = 32 * lane_draw(lane, 2),
        .dstMemoryType = type,
        .dstDevice = lane->mixed.cell[to],
        .WidthInBytes = lane_draw(lane, 2) ? 64 : 128,
        .Height = 1,
        .Depth = 1,
    };
}

static void add_to_total(void *data)
{
    struct mixed *mixed = data;

    mixed->total = mixed->total * 3 + mixed->step;
}

static void add_twice(void *data)
{
    add_to_total(data);
    add_to_total(data);
}

CUDA_HOST_NODE_PARAMS_v1 mixed_draw_host(struct lane *lane)
{
    return (CUDA_HOST_NODE_PARAMS_v1){
        .fn = lane_draw(lane, 2) ? add_to_total : add_twice,
        .userData = &lane->mixed,
    };
}

CUevent mixed_any_event(struct lane *lane)
{
    return lane->mixed.event[lane_draw(lane, 2)];
}

CUgraphNodeParams mixed_draw_any(struct lane *lane, enum mixed_kind kind, struct resend_args *args,
                                 void *values[10])
{
    CUgraphNodeParams params = {0};
    CUDA_KERNEL_NODE_PARAMS_v2 kernel;
    CUDA_MEMSET_NODE_PARAMS_v1 fill;
    CUDA_HOST_NODE_PARAMS_v1 host;

    switch (kind) {
    case MIXED_FILL:
        params.type = CU_GRAPH_NODE_TYPE_MEMSET;
        fill = mixed_draw_fill(lane);
        memcpy(&params.memset, &fill, sizeof fill);
        params.memset.ctx = lane->world->context;
        break;
    case MIXED_COPY:
        params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
        params.memcpy.copyParams = mixed_draw_copy(lane);
        params.memcpy.copyCtx = lane->world->context;
        break;
    case MIXED_HOST:
        params.type = CU_GRAPH_NODE_TYPE_HOST;
        host = mixed_draw_host(lane);
        memcpy(&params.host, &host, sizeof host);
        break;
    case MIXED_CHILD:
        params.type = CU_GRAPH_NODE_TYPE_GRAPH;
        params.graph.graph = lane->mixed.inner;
        break;
    case MIXED_RECORD:
        params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        params.eventRecord.event = mixed_any_event(lane);
        break;
    case MIXED_WAIT:
        params.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
        params.eventWait.event = mixed_any_event(lane);
        break;
    default:
        params.type = CU_GRAPH_NODE_TYPE_KERNEL;
        kernel = mixed_draw_kernel(lane, args, values);
        memcpy(&params.kernel, &kernel, sizeof kernel);
        break;
    }
    return params;
}
