/* stream_ordered: memory that is allocated and freed in the order of a stream: from the device's
 * pool, from a pool of the program's own, across two streams, and by the nodes of a captured
 * graph. */
#include "tests/apps/cuda_app.h"

static const unsigned elements = 3000, block_size = 128;
static const unsigned grid_size = (elements + block_size - 1) / block_size;

__global__ void fill(unsigned *out, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        out[i] = i * seed + 1;
}

__global__ void add(unsigned *to, const unsigned *from)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        to[i] += from[i];
}

struct pool_app {
    app_options options;
    app_tally tally;
    cudaMemPool_t pool; /* the program's own */
    cudaStream_t streams[2];
    cudaEvent_t event;
    unsigned *total;
    unsigned want[elements], got[elements];
    cudaGraphExec_t exec;
};

static void expect_added(pool_app *p, unsigned seed)
{
    for (unsigned i = 0; i < elements; i++)
        p->want[i] += i * seed + 1;
}

/* Adds a buffer that lives only in the order of the stream. */
static void add_temporary(pool_app *p, cudaStream_t stream, unsigned seed, bool own_pool)
{
    unsigned *temporary;

    if (own_pool)
        CALL(cudaMallocFromPoolAsync(&temporary, sizeof p->got, p->pool, stream));
    else
        CALL(cudaMallocAsync(&temporary, sizeof p->got, stream));
    fill<<<grid_size, block_size, 0, stream>>>(temporary, seed);
    CALL_KERNEL("fill");
    add<<<grid_size, block_size, 0, stream>>>(p->total, temporary);
    CALL_KERNEL("add");
    CALL(cudaFreeAsync(temporary, stream));
}

/* Allocated and filled on one stream, used on the other, freed on the first. */
static void add_across(pool_app *p, unsigned seed)
{
    unsigned *temporary;

    CALL(cudaMallocAsync(&temporary, sizeof p->got, p->streams[1]));
    fill<<<grid_size, block_size, 0, p->streams[1]>>>(temporary, seed);
    CALL_KERNEL("fill");
    CALL(cudaEventRecord(p->event, p->streams[1]));
    CALL(cudaStreamWaitEvent(p->streams[0], p->event, 0));
    add<<<grid_size, block_size, 0, p->streams[0]>>>(p->total, temporary);
    CALL_KERNEL("add");
    CALL(cudaEventRecord(p->event, p->streams[0]));
    CALL(cudaStreamWaitEvent(p->streams[1], p->event, 0));
    CALL(cudaFreeAsync(temporary, p->streams[1]));
}

/* The allocation and the free become nodes of the graph. */
static void capture(pool_app *p, unsigned seed)
{
    cudaGraph_t graph;
    size_t nodes, memory_nodes = 0;
    cudaGraphNode_t node[8];

    CALL(cudaStreamBeginCapture(p->streams[0], cudaStreamCaptureModeGlobal));
    add_temporary(p, p->streams[0], seed, false);
    CALL(cudaStreamEndCapture(p->streams[0], &graph));
    CALL(cudaGraphGetNodes(graph, NULL, &nodes));
    expect_same("nodes", nodes, (size_t)4);
    CALL(cudaGraphGetNodes(graph, node, &nodes));
    for (size_t i = 0; i < nodes; i++) {
        cudaGraphNodeType type;
        CALL(cudaGraphNodeGetType(node[i], &type));
        memory_nodes += type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree;
    }
    expect_same("nodes that allocate or free", memory_nodes, (size_t)2);
    CALL(cudaGraphInstantiate(&p->exec, graph, 0));
    CALL(cudaGraphDestroy(graph));
}

static void start(pool_app *p)
{
    cudaMemPoolProps props = {};
    int supported;
    uint64_t keep = UINT64_MAX;

    CALL(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    expect_same("memory pools", supported, 1);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CALL(cudaMemPoolCreate(&p->pool, &props));
    CALL(cudaMemPoolSetAttribute(p->pool, cudaMemPoolAttrReleaseThreshold, &keep));
    for (cudaStream_t &stream : p->streams)
        CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CALL(cudaEventCreateWithFlags(&p->event, cudaEventDisableTiming));
    p->total = device_array<unsigned>(elements);
    CALL(cudaDeviceSynchronize());
    capture(p, 11);
}

static void check(pool_app *p)
{
    CALL(cudaMemcpyAsync(p->got, p->total, sizeof p->got, cudaMemcpyDeviceToHost, p->streams[0]));
    CALL(cudaStreamSynchronize(p->streams[0]));
    expect_same("totals", p->got, p->want, elements);
    p->tally.checksum = app_checksum(p->tally.checksum, p->got, sizeof p->got);
}

static void clean_up(pool_app *p)
{
    uint64_t used = 1, reserved = 1;

    CALL(cudaStreamSynchronize(p->streams[1]));
    CALL(cudaMemPoolTrimTo(p->pool, 0));
    CALL(cudaMemPoolGetAttribute(p->pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CALL(cudaMemPoolGetAttribute(p->pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    expect_same("bytes used by the pool", used, UINT64_C(0));
    expect_same("bytes kept by the pool", reserved, UINT64_C(0));
    CALL(cudaGraphExecDestroy(p->exec));
    CALL(cudaFree(p->total));
    CALL(cudaMemPoolDestroy(p->pool));
    CALL(cudaEventDestroy(p->event));
    for (cudaStream_t stream : p->streams)
        CALL(cudaStreamDestroy(stream));
    CALL(cudaDeviceReset());
}

int main(int argc, char **argv)
{
    static pool_app p;

    p.options.steps = 5;
    p.options.seed = 1;
    app_parse(argc, argv, "memory allocated and freed in the order of a stream", &p.options);
    uint64_t random = p.options.seed;
    p.tally.checksum = APP_CHECKSUM_START;
    start(&p);
    for (uint64_t number = 0; number < p.options.steps; number++) {
        unsigned seed = (unsigned)app_random(&random);
        add_temporary(&p, p.streams[0], seed, false);
        add_temporary(&p, p.streams[0], seed + 1, true);
        add_across(&p, seed + 2);
        CALL(cudaGraphLaunch(p.exec, p.streams[0]));
        p.tally.launches++;
        for (unsigned i = 0; i < 3; i++)
            expect_added(&p, seed + i);
        expect_added(&p, 11);
        check(&p);
    }
    clean_up(&p);
    return app_finish(&p.options, &p.tally);
}
