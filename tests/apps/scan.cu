/* scan: prefix sums over one array in three ways: block sums scanned by a second kernel, one pass
 * in which each block waits for its predecessor's sum, and a work-efficient scan of one block. Then
 * a compaction: the elements that a warp's vote selects, in their order. */
#include "tests/apps/cuda_app.h"

static const unsigned block_size = 128, most_elements = 64 * 1024;

/* The inclusive prefix sum over the block's threads; `warps` is shared memory for one sum each. */
__device__ unsigned scan_block(unsigned value, unsigned *warps)
{
    unsigned lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;

    for (unsigned reach = 1; reach < warpSize; reach *= 2) {
        unsigned other = __shfl_up_sync(~0u, value, reach);
        if (lane >= reach)
            value += other;
    }
    if (lane == warpSize - 1)
        warps[warp] = value;
    __syncthreads();
    unsigned before = 0;
    for (unsigned w = 0; w < warp; w++)
        before += warps[w];
    __syncthreads();
    return before + value;
}

/* Inclusive within each block; the sum of block b goes to sums[b]. */
__global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *sums, unsigned count)
{
    __shared__ unsigned warps[block_size / 32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = scan_block(i < count ? in[i] : 0, warps);

    if (i < count)
        out[i] = value;
    if (threadIdx.x == blockDim.x - 1 && sums)
        sums[blockIdx.x] = value;
}

__global__ void add_sums(unsigned *out, const unsigned *sums, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count && blockIdx.x > 0)
        out[i] += sums[blockIdx.x - 1];
}

/* Exclusive, up and down a tree over two elements per thread. */
__global__ void scan_tree(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tree[2 * block_size];
    unsigned t = threadIdx.x, size = 2 * block_size, reach = 1;

    tree[2 * t] = in[2 * t];
    tree[2 * t + 1] = in[2 * t + 1];
    for (unsigned active = size / 2; active > 0; active /= 2, reach *= 2) {
        __syncthreads();
        if (t < active)
            tree[reach * (2 * t + 2) - 1] += tree[reach * (2 * t + 1) - 1];
    }
    if (t == 0)
        tree[size - 1] = 0;
    for (unsigned active = 1; active < size; active *= 2) {
        reach /= 2;
        __syncthreads();
        if (t < active) {
            unsigned left = reach * (2 * t + 1) - 1, right = reach * (2 * t + 2) - 1;
            unsigned kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();
    out[2 * t] = tree[2 * t];
    out[2 * t + 1] = tree[2 * t + 1];
}

struct link {
    unsigned turn; /* blocks take their numbers here, in the order they start */
    volatile unsigned flags[most_elements / block_size]; /* 1: the sum up to this block is there */
    volatile unsigned sums[most_elements / block_size];
};

/* One pass: each block waits for the sum of the blocks before it. */
__global__ void scan_chained(const unsigned *in, unsigned *out, link *chain, unsigned count)
{
    __shared__ unsigned warps[block_size / 32], turn, before;

    if (threadIdx.x == 0)
        turn = atomicAdd(&chain->turn, 1);
    __syncthreads();
    unsigned i = turn * blockDim.x + threadIdx.x;
    unsigned value = scan_block(i < count ? in[i] : 0, warps);
    if (threadIdx.x == blockDim.x - 1) {
        before = 0;
        if (turn > 0) {
            while (!chain->flags[turn - 1])
                ;
            __threadfence();
            before = chain->sums[turn - 1];
        }
        chain->sums[turn] = before + value;
        __threadfence();
        chain->flags[turn] = 1;
    }
    __syncthreads();
    if (i < count)
        out[i] = before + value;
}

/* Keeps the odd elements: each finds its room by the votes of the threads below. Only one warp, so
 * that the order is kept. */
__global__ void compact(const unsigned *in, unsigned *out, unsigned *kept, unsigned count)
{
    unsigned at = 0, below = (1u << threadIdx.x) - 1;

    for (unsigned first = 0; first < count; first += warpSize) {
        unsigned i = first + threadIdx.x, value = i < count ? in[i] : 0;
        unsigned odd = __ballot_sync(~0u, value & 1);
        if (value & 1)
            out[at + __popc(odd & below)] = value;
        at += __popc(odd);
    }
    if (threadIdx.x == 0)
        *kept = at;
}

struct scan_app {
    unsigned count, blocks;
    unsigned *host, *want, *got; /* `want`: the inclusive prefix sums */
    unsigned *in, *out, *sums, *total;
    link *chain;
    uint64_t checksum;
};

static void check(scan_app *s, const char *what, const unsigned *want, unsigned count)
{
    from_device(s->got, s->out, count);
    expect_same(what, s->got, want, count);
    s->checksum = app_checksum(s->checksum, s->got, count * sizeof *s->got);
    CALL(cudaMemset(s->out, 0, s->count * sizeof *s->out));
}

static void check_scans(scan_app *s)
{
    unsigned outer = (s->blocks + block_size - 1) / block_size;
    unsigned *outer_sums = s->total;

    scan_blocks<<<s->blocks, block_size>>>(s->in, s->out, s->sums, s->count);
    CALL_KERNEL("scan_blocks");
    scan_blocks<<<outer, block_size>>>(s->sums, s->sums, outer_sums, s->blocks);
    CALL_KERNEL("scan_blocks");
    scan_blocks<<<1, block_size>>>(outer_sums, outer_sums, NULL, outer);
    CALL_KERNEL("scan_blocks");
    add_sums<<<outer, block_size>>>(s->sums, outer_sums, s->blocks);
    CALL_KERNEL("add_sums");
    add_sums<<<s->blocks, block_size>>>(s->out, s->sums, s->count);
    CALL_KERNEL("add_sums");
    check(s, "scan by blocks", s->want, s->count);

    CALL(cudaMemset(s->chain, 0, sizeof *s->chain));
    scan_chained<<<s->blocks, block_size>>>(s->in, s->out, s->chain, s->count);
    CALL_KERNEL("scan_chained");
    check(s, "chained scan", s->want, s->count);

    if (s->count < 2 * block_size)
        return;
    unsigned exclusive[2 * block_size] = {0};
    memcpy(exclusive + 1, s->want, sizeof exclusive - sizeof *exclusive);
    scan_tree<<<1, block_size>>>(s->in, s->out);
    CALL_KERNEL("scan_tree");
    check(s, "tree scan", exclusive, 2 * block_size);
}

static void check_compaction(scan_app *s)
{
    unsigned want_kept = 0, kept, count = s->count < 1000 ? s->count : 1000;

    for (unsigned i = 0; i < count; i++)
        if (s->host[i] & 1)
            s->want[want_kept++] = s->host[i];
    compact<<<1, 32>>>(s->in, s->out, s->total, count);
    CALL_KERNEL("compact");
    from_device(&kept, s->total, 1);
    expect_same("kept", kept, want_kept);
    check(s, "compaction", s->want, want_kept);
}

int main(int argc, char **argv)
{
    app_options options = {};
    scan_app s = {};

    options.steps = 3;
    options.bytes = 40004;
    options.seed = 1;
    app_parse(argc, argv, "prefix sums in several ways", &options);

    uint64_t random = options.seed;
    s.count = options.bytes / 4 < most_elements ? (unsigned)(options.bytes / 4) : most_elements;
    s.blocks = (s.count + block_size - 1) / block_size;
    s.checksum = APP_CHECKSUM_START;
    s.host = (unsigned *)app_alloc(s.count, sizeof *s.host);
    s.want = (unsigned *)app_alloc(s.count, sizeof *s.want);
    s.got = (unsigned *)app_alloc(s.count, sizeof *s.got);
    s.in = device_array<unsigned>(s.count);
    s.out = device_array<unsigned>(s.count);
    s.sums = device_array<unsigned>(s.blocks);
    s.total = device_array<unsigned>(block_size);
    s.chain = device_array<link>(1);
    for (uint64_t step = 0; step < options.steps; step++) {
        for (unsigned i = 0; i < s.count; i++) {
            s.host[i] = (unsigned)app_random(&random);
            s.want[i] = s.host[i] + (i ? s.want[i - 1] : 0);
        }
        CALL(cudaMemcpy(s.in, s.host, s.count * sizeof *s.in, cudaMemcpyHostToDevice));
        check_scans(&s);
        check_compaction(&s);
    }
    CALL(cudaDeviceSynchronize());
    void *device[] = {s.in, s.out, s.sums, s.total, s.chain};
    for (void *memory : device)
        CALL(cudaFree(memory));
    free(s.host);
    free(s.want);
    free(s.got);
    return cuda_finish(s.checksum);
}
