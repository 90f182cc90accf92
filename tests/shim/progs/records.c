/* records.c: a setter is sent, something happens that no call on its exec tells, and the same
 * setter is sent again: the driver has to answer.
 *
 *   records moved      the source graph moves into another graph, and ends with it
 *   records reset      the primary context is reset, an allocation's address mapped, and unmapped
 *   records detached   the same, of a context that is detached
 *   records attached   a context is detached, but lives on: its memory is still known
 *   records params     each value of the last parameter, twice
 *
 * Prints the driver's answers, and what params did. Linked against libcuda.so.1. */
#include "rig.h"

#define BYTES ((size_t)2 << 20)

static struct rig rig;

static CUresult fill(void)
{
    return cuGraphExecMemsetNodeSetParams(rig.exec, rig.memset, &rig.fill, rig.context);
}

static void moved(void)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUgraph parent;
    CUgraphNode node;

    MUST(rig_setter(&rig));
    MUST(rig_setter(&rig));
    params.graph.graph = rig.graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    MUST(cuGraphCreate(&parent, 0));
    MUST(cuGraphAddNode(&node, parent, NULL, 0, &params));
    printf("inside another: %d\n", (int)rig_setter(&rig));
    MUST(cuGraphDestroy(parent));
    printf("gone with it: %d\n", (int)rig_setter(&rig));
}

/* Maps other memory where an allocation was, fills it, and takes it away. */
static void map_at(CUdeviceptr address)
{
    CUmemAllocationProp prop = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = rig.device},
    };
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    CUdeviceptr reserved;

    MUST(cuMemCreate(&memory, BYTES, &prop, 0));
    MUST(cuMemAddressReserve(&reserved, BYTES, 0, address, 0));
    MUST(cuMemMap(reserved, BYTES, 0, memory, 0));
    MUST(cuMemSetAccess(reserved, BYTES, &access, 1));
    rig.fill.dst = reserved;
    printf("mapped: %d %d\n", (int)fill(), (int)fill());
    MUST(cuMemUnmap(reserved, BYTES));
    printf("unmapped: %d\n", (int)fill());
}

static void reset(void)
{
    CUdeviceptr before[8];

    for (int i = 0; i < 8; i++)
        MUST(cuMemAlloc_v2(&before[i], BYTES));
    MUST(cuDevicePrimaryCtxReset_v2(rig.device));
    rig_up(&rig);
    map_at(before[4]);
}

static void detached(void)
{
    CUcontext context;
    CUdeviceptr before;

    MUST(cuCtxCreate_v2(&context, 0, rig.device));
    MUST(cuMemAlloc_v2(&before, BYTES));
    MUST(cuCtxDetach(context));
    MUST(cuCtxSetCurrent(rig.context));
    map_at(before);
}

static void attached(void)
{
    CUcontext context;

    MUST(cuCtxCreate_v2(&context, 0, rig.device));
    MUST(cuCtxAttach(&context, 0));
    rig.context = context;
    rig_load(&rig);
    MUST(cuMemAlloc_v2(&rig.buffer, 1024));
    rig.p = rig.buffer;
    rig_build(&rig);
    MUST(cuCtxDetach(context));
    printf("attached: %d %d %d\n", (int)fill(), (int)fill(), (int)fill());
}

static void params(void)
{
    unsigned long long value;

    MUST(cuGraphNodeSetEnabled(rig.exec, rig.kernel[1], 0));
    for (rig.b = 0; rig.b < 4; rig.b++) {
        MUST(rig_setter(&rig));
        MUST(rig_setter(&rig));
        MUST(cuGraphLaunch(rig.exec, NULL));
        MUST(cuMemcpyDtoH_v2(&value, rig.buffer, sizeof value));
        printf("stored: %llu\n", value);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } rows[] = {{"moved", moved},
                {"reset", reset},
                {"detached", detached},
                {"attached", attached},
                {"params", params}};

    rig_up(&rig);
    for (size_t i = 0; argc == 2 && i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(argv[1], rows[i].name) != 0)
            continue;
        rows[i].run();
        return 0;
    }
    return 2;
}
