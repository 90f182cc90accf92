/* structs: kernels that take structs by value, of 12 and of 24 bytes, on the CUDA runtime. In every
 * step one byte of one struct changes and all nodes are sent; what each step computes is read back,
 * so that one lost byte shows in the checksum. It knows nothing of libvaremap or the fake GPU. */
#include "tests/apps/app.h"
#include "tests/apps/kernels.h"
#include <cuda_runtime_api.h>

/* Neither has padding: every byte is one the kernel reads. */
struct small {
    uint32_t a;
    uint16_t b;
    uint8_t c, d;
    uint32_t e;
};

struct large {
    uint64_t a;
    uint32_t b;
    uint16_t c;
    uint8_t d, e;
    uint64_t f;
};

_Static_assert(sizeof(struct small) == 12 && sizeof(struct large) == 24,
               "as the kernels read them");

#define BLOCK 16u
#define GRID  ((APP_TOUCHED + BLOCK - 1) / BLOCK)

struct structs {
    struct app_options options;
    struct app_reach reach;
    struct app_tally tally;
    uint64_t random, changes;
    cudaLibrary_t library;
    cudaKernel_t mix_small, mix_large;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    struct node *nodes;
    char *host; /* for one buffer */
};

/* Even nodes take the small struct, odd ones the large. */
struct node {
    cudaGraphNode_t node;
    void *out;
    bool is_large;
    union {
        struct small small;
        struct large large;
        uint8_t bytes[sizeof(struct large)];
    } arg;
};

#define CALL(call) check(#call, call)

static void check(const char *call, cudaError_t error)
{
    if (error != cudaSuccess)
        app_fail(call, cudaGetErrorName(error));
}

static size_t arg_bytes(const struct node *n)
{
    return n->is_large ? sizeof n->arg.large : sizeof n->arg.small;
}

static void load_kernels(struct structs *s)
{
    CALL(cudaLibraryLoadData(&s->library, structs_ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cudaLibraryGetKernel(&s->mix_small, s->library, "mix_small"));
    CALL(cudaLibraryGetKernel(&s->mix_large, s->library, "mix_large"));
    CALL(cudaStreamCreate(&s->stream));
}

static void make_node(struct structs *s, struct node *n)
{
    CALL(cudaMalloc(&n->out, s->options.bytes));
    for (size_t i = 0; i < s->reach.pieces; i++)
        CALL(cudaMemcpy((char *)n->out + app_piece(&s->reach, i), s->host, s->reach.piece_bytes,
                        cudaMemcpyHostToDevice));
    n->is_large = (n - s->nodes) % 2;
    for (size_t i = 0; i < arg_bytes(n); i++)
        n->arg.bytes[i] = (uint8_t)app_random(&s->random);
}

/* `values` gets the addresses of the parameters; the answer is good as long as all three live. */
static struct cudaKernelNodeParams node_params(struct structs *s, struct node *n, void *values[5])
{
    void *of_small[5] = {&n->out, &n->arg.small, &s->reach.touched, &s->reach.stride,
                         &s->reach.last};
    void *of_large[5] = {&n->out, &s->reach.touched, &n->arg.large, &s->reach.stride,
                         &s->reach.last};
    struct cudaKernelNodeParams params = {
        .func = (void *)(n->is_large ? s->mix_large : s->mix_small),
        .gridDim = {GRID, 1, 1},
        .blockDim = {BLOCK, 1, 1},
        .kernelParams = values,
    };

    memcpy(values, n->is_large ? of_large : of_small, sizeof of_small);
    return params;
}

static void make_graph(struct structs *s)
{
    void *values[5];

    s->host = app_alloc(1, s->reach.piece_bytes);
    s->nodes = app_alloc(s->options.nodes, sizeof *s->nodes);
    CALL(cudaGraphCreate(&s->graph, 0));
    for (uint64_t k = 0; k < s->options.nodes; k++) {
        make_node(s, &s->nodes[k]);
        struct cudaKernelNodeParams params = node_params(s, &s->nodes[k], values);
        CALL(cudaGraphAddKernelNode(&s->nodes[k].node, s->graph, NULL, 0, &params));
    }
    CALL(cudaGraphInstantiate(&s->exec, s->graph, 0));
}

/* The nodes take turns, and the bytes of each node's struct do. */
static void change_one_byte(struct structs *s, uint64_t number)
{
    struct node *n = &s->nodes[number % s->options.nodes];

    n->arg.bytes[number / s->options.nodes % arg_bytes(n)] ^=
        (uint8_t)(1 + app_random(&s->random) % 255);
    s->changes++;
}

static void read_buffers(struct structs *s)
{
    for (uint64_t k = 0; k < s->options.nodes; k++)
        for (size_t i = 0; i < s->reach.pieces; i++) {
            const char *device = (const char *)s->nodes[k].out + app_piece(&s->reach, i);
            CALL(cudaMemcpy(s->host, device, s->reach.piece_bytes, cudaMemcpyDeviceToHost));
            s->tally.checksum = app_checksum(s->tally.checksum, s->host, s->reach.piece_bytes);
        }
}

static void step(struct structs *s, uint64_t number)
{
    void *values[5];

    change_one_byte(s, number);
    uint64_t start = app_now();
    for (uint64_t k = 0; k < s->options.nodes; k++) {
        struct cudaKernelNodeParams params = node_params(s, &s->nodes[k], values);
        s->tally.updates++;
        CALL(cudaGraphExecKernelNodeSetParams(s->exec, s->nodes[k].node, &params));
    }
    s->tally.launches++;
    CALL(cudaGraphLaunch(s->exec, s->stream));
    s->tally.host_ns += app_now() - start;
    CALL(cudaStreamSynchronize(s->stream));
    read_buffers(s);
}

static void clean_up(struct structs *s)
{
    CALL(cudaGraphExecDestroy(s->exec));
    CALL(cudaGraphDestroy(s->graph));
    for (uint64_t k = 0; k < s->options.nodes; k++)
        CALL(cudaFree(s->nodes[k].out));
    CALL(cudaStreamDestroy(s->stream));
    CALL(cudaLibraryUnload(s->library));
    free(s->nodes);
    free(s->host);
}

int main(int argc, char **argv)
{
    struct structs s = {.options = {.steps = 96, .nodes = 4, .bytes = 4096, .seed = 1}};

    app_parse(argc, argv,
              "kernels with structs by value; each step changes one byte of one of them",
              &s.options);
    s.reach = app_reach(s.options.bytes, sizeof(uint64_t));
    s.random = s.options.seed;
    s.tally.checksum = APP_CHECKSUM_START;
    load_kernels(&s);
    make_graph(&s);
    for (uint64_t number = 0; number < s.options.steps; number++)
        step(&s, number);
    clean_up(&s);
    printf("changes %" PRIu64 "\n", s.changes);
    return app_finish(&s.options, &s.tally);
}
