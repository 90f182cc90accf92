/* executable: a compiled program of many commands, as a machine-learning compiler makes them: each
 * command is a few kernel nodes, memsets, copies and child graphs stand between them. Of its 64
 * buffers most stay where they are, some alternate between two places, some come fresh in every
 * step, four of those holding one number each. Before a launch it sends the nodes of the commands
 * that a moved buffer touches, and no others.
 *
 * It remembers what it has sent: "differ N" counts the setters that said something else than the
 * one before for the same node. That, and "updates N", depend on where buffers come to lie. */
#include "tests/apps/resend.h"

#include <cuda.h>

enum {
    CONSTANT = 48,
    ALTERNATING = 8,
    FRESH = 4,
    SCALARS = 4,
    BUFFERS = CONSTANT + ALTERNATING + FRESH + SCALARS,
    WRITABLE = CONSTANT + ALTERNATING,
    COMMAND = 4, /* kernel nodes that are sent together */
    CHILDREN = 2,
    COPIES = 2,
    BYTES = 4096
};

struct buffer {
    CUdeviceptr at, before; /* now, and in the step before */
    CUdeviceptr places[2];  /* of an alternating one */
    size_t bytes;
};

struct kernel {
    CUgraphNode node;
    struct resend_args args, sent;
    unsigned buffer[3]; /* out, in, table */
};

struct fill {
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params, sent;
    unsigned buffer;
};

struct child {
    CUgraphNode node;
    struct kernel kernel;
};

struct program {
    struct app_options options;
    struct app_tally tally;
    uint64_t random, sent, differ;
    CUcontext context;
    CUdevice device;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    struct buffer buffers[BUFFERS];
    struct kernel *kernels;
    struct fill *fills;
    uint64_t fill_count;
    struct child children[CHILDREN];
};

#define CALL(call) check(#call, call)

static void check(const char *call, CUresult result)
{
    const char *name = "unknown error";

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    app_fail(call, name);
}

static unsigned draw(struct program *p, unsigned below)
{
    return (unsigned)(app_random(&p->random) % below);
}

/* ---- buffers ---- */

static bool is_alternating(unsigned i)
{
    return i >= CONSTANT && i < WRITABLE;
}

static void allocate(struct program *p, CUdeviceptr *at, size_t bytes)
{
    uint32_t host[BYTES / 4];
    uint64_t start = app_now();

    CALL(cuMemAlloc(at, bytes));
    p->tally.host_ns += app_now() - start;
    resend_fill(host, bytes, &p->random);
    CALL(cuMemcpyHtoD(*at, host, bytes));
}

static void release(struct program *p, CUdeviceptr at)
{
    uint64_t start = app_now();

    CALL(cuMemFree(at));
    p->tally.host_ns += app_now() - start;
}

static void make_buffers(struct program *p)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        struct buffer *b = &p->buffers[i];

        b->bytes = i < BUFFERS - SCALARS ? BYTES : sizeof(uint32_t);
        for (unsigned place = 0; place < (is_alternating(i) ? 2u : 1u); place++)
            allocate(p, &b->places[place], b->bytes);
        b->at = b->before = b->places[0];
    }
}

static void move_buffers(struct program *p, uint64_t step)
{
    for (unsigned i = CONSTANT; i < BUFFERS; i++) {
        struct buffer *b = &p->buffers[i];

        b->before = b->at;
        if (is_alternating(i))
            b->at = b->places[step % 2];
        else
            release(p, b->at);
    }
    for (unsigned i = WRITABLE; i < BUFFERS; i++)
        allocate(p, &p->buffers[i].at, p->buffers[i].bytes);
}

static bool moved(const struct program *p, unsigned buffer)
{
    return p->buffers[buffer].at != p->buffers[buffer].before;
}

/* ---- kernels ---- */

static void choose_buffers(struct program *p, struct kernel *k)
{
    const struct app_reach nothing = {.stride = 1};
    const uint64_t no_buffers[3] = {0};
    size_t least = BYTES;

    resend_start(&k->args, 0, no_buffers, &nothing, &p->random);
    k->buffer[0] = draw(p, WRITABLE);
    k->buffer[1] = draw(p, 8) ? draw(p, WRITABLE) : WRITABLE + draw(p, FRESH + SCALARS);
    k->buffer[2] = draw(p, CONSTANT);
    for (unsigned i = 0; i < 3; i++)
        least = p->buffers[k->buffer[i]].bytes < least ? p->buffers[k->buffer[i]].bytes : least;
    k->args.touched = (uint32_t)(least / sizeof(uint32_t));
    if (k->args.touched > APP_TOUCHED)
        k->args.touched = APP_TOUCHED;
    k->args.last = k->args.touched - 1;
}

/* `values` gets the addresses of the parameters; the answer is good as long as both live. */
static CUDA_KERNEL_NODE_PARAMS params_of(struct program *p, struct kernel *k, void *values[10])
{
    struct resend_args *args = &k->args;
    void *list[10] = {&args->out,    &args->in,   &args->table, &args->touched, &args->mult,
                      &args->stride, &args->last, &args->bias,  &args->add,     &args->salt};

    args->out = p->buffers[k->buffer[0]].at;
    args->in = p->buffers[k->buffer[1]].at;
    args->table = p->buffers[k->buffer[2]].at;
    memcpy(values, list, sizeof list);
    return (CUDA_KERNEL_NODE_PARAMS){
        .func = p->function,
        .gridDimX = RESEND_GRID,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = RESEND_BLOCK,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = values,
    };
}

static bool kernel_moved(const struct program *p, const struct kernel *k)
{
    return moved(p, k->buffer[0]) || moved(p, k->buffer[1]) || moved(p, k->buffer[2]);
}

static void send_kernel(struct program *p, struct kernel *k)
{
    void *values[10];
    CUDA_KERNEL_NODE_PARAMS params = params_of(p, k, values);
    uint64_t start = app_now();

    CALL(cuGraphExecKernelNodeSetParams(p->exec, k->node, &params));
    p->tally.host_ns += app_now() - start;
    p->sent++;
    p->differ += memcmp(&k->args, &k->sent, sizeof k->args) != 0;
    k->sent = k->args;
}

/* ---- memsets, copies, child graphs ---- */

static void send_fill(struct program *p, struct fill *f)
{
    uint64_t start = app_now();

    f->params.dst = p->buffers[f->buffer].at;
    CALL(cuGraphExecMemsetNodeSetParams(p->exec, f->node, &f->params, p->context));
    p->tally.host_ns += app_now() - start;
    p->sent++;
    p->differ += f->params.dst != f->sent.dst;
    f->sent = f->params;
}

static CUgraph child_graph(struct program *p, struct kernel *k)
{
    void *values[10];
    CUDA_KERNEL_NODE_PARAMS params = params_of(p, k, values);
    CUgraph graph;
    CUgraphNode node;

    CALL(cuGraphCreate(&graph, 0));
    CALL(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return graph;
}

/* A library's calls, recorded anew each time. */
static void send_child(struct program *p, struct child *c)
{
    CUgraph graph = child_graph(p, &c->kernel);
    uint64_t start = app_now();

    CALL(cuGraphExecChildGraphNodeSetParams(p->exec, c->node, graph));
    p->tally.host_ns += app_now() - start;
    p->sent++;
    p->differ++; /* it always arrives: what is in a graph cannot be seen from its handle */
    CALL(cuGraphDestroy(graph));
}

/* Rows of 64 bytes between two constant buffers, four deep. */
static void add_copy(struct program *p, unsigned i, CUgraphNode *last)
{
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = p->buffers[2 * i].at,
        .srcPitch = 128,
        .srcHeight = 2,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = p->buffers[2 * i + 1].at,
        .dstPitch = 128,
        .dstHeight = 2,
        .WidthInBytes = 64,
        .Height = 2,
        .Depth = 4,
    };
    CUgraphNode node;

    CALL(cuGraphAddMemcpyNode(&node, p->graph, last, *last ? 1 : 0, &copy, p->context));
    *last = node;
}

/* ---- the graph: one chain, so that nothing depends on an order ---- */

static void add_kernel(struct program *p, struct kernel *k, CUgraphNode *last)
{
    void *values[10];

    choose_buffers(p, k);
    CUDA_KERNEL_NODE_PARAMS params = params_of(p, k, values);
    CALL(cuGraphAddKernelNode(&k->node, p->graph, last, *last ? 1 : 0, &params));
    *last = k->node;
}

static void add_fill(struct program *p, struct fill *f, CUgraphNode *last)
{
    f->buffer = draw(p, WRITABLE);
    f->params = (CUDA_MEMSET_NODE_PARAMS){
        .dst = p->buffers[f->buffer].at,
        .value = draw(p, 1000),
        .elementSize = 4,
        .width = 1 + draw(p, 16),
        .height = 1,
    };
    CALL(cuGraphAddMemsetNode(&f->node, p->graph, last, *last ? 1 : 0, &f->params, p->context));
    *last = f->node;
}

static void add_child(struct program *p, struct child *c, CUgraphNode *last)
{
    choose_buffers(p, &c->kernel);
    CUgraph graph = child_graph(p, &c->kernel);
    CALL(cuGraphAddChildGraphNode(&c->node, p->graph, last, *last ? 1 : 0, graph));
    CALL(cuGraphDestroy(graph));
    *last = c->node;
}

static void build(struct program *p)
{
    CUgraphNode last = NULL;

    p->fill_count = (p->options.nodes + 19) / 20;
    p->kernels = (struct kernel *)app_alloc(p->options.nodes, sizeof *p->kernels);
    p->fills = (struct fill *)app_alloc(p->fill_count, sizeof *p->fills);
    CALL(cuGraphCreate(&p->graph, 0));
    for (uint64_t k = 0; k < p->options.nodes; k++) {
        if (k % 20 == 0)
            add_fill(p, &p->fills[k / 20], &last);
        add_kernel(p, &p->kernels[k], &last);
    }
    for (unsigned i = 0; i < COPIES; i++)
        add_copy(p, i, &last);
    for (unsigned i = 0; i < CHILDREN; i++)
        add_child(p, &p->children[i], &last);
    CALL(cuGraphInstantiateWithFlags(&p->exec, p->graph, 0));
}

/* ---- steps ---- */

static void send_command(struct program *p, uint64_t first)
{
    uint64_t end = first + COMMAND < p->options.nodes ? first + COMMAND : p->options.nodes;
    bool touched = false;

    for (uint64_t k = first; k < end; k++)
        touched |= kernel_moved(p, &p->kernels[k]);
    for (uint64_t k = first; touched && k < end; k++)
        send_kernel(p, &p->kernels[k]);
}

static void step(struct program *p, uint64_t number)
{
    move_buffers(p, number);
    for (uint64_t k = 0; k < p->options.nodes; k += COMMAND)
        send_command(p, k);
    for (uint64_t i = 0; i < p->fill_count; i++) {
        if (moved(p, p->fills[i].buffer))
            send_fill(p, &p->fills[i]);
    }
    for (unsigned i = 0; i < CHILDREN; i++) {
        if (kernel_moved(p, &p->children[i].kernel))
            send_child(p, &p->children[i]);
    }
    uint64_t start = app_now();
    p->tally.launches++;
    CALL(cuGraphLaunch(p->exec, p->stream));
    p->tally.host_ns += app_now() - start;
    CALL(cuStreamSynchronize(p->stream));
}

static void read_back(struct program *p)
{
    char host[BYTES];

    for (unsigned i = 0; i < BUFFERS; i++) {
        CALL(cuMemcpyDtoH(host, p->buffers[i].at, p->buffers[i].bytes));
        p->tally.checksum = app_checksum(p->tally.checksum, host, p->buffers[i].bytes);
    }
}

static void open_device(struct program *p)
{
    CALL(cuInit(0));
    CALL(cuDeviceGet(&p->device, 0));
    CALL(cuDevicePrimaryCtxRetain(&p->context, p->device));
    CALL(cuCtxSetCurrent(p->context));
    CALL(cuModuleLoadData(&p->module, resend_ptx));
    CALL(cuModuleGetFunction(&p->function, p->module, "resend_step"));
    CALL(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
}

static void close_device(struct program *p)
{
    CALL(cuGraphExecDestroy(p->exec));
    CALL(cuGraphDestroy(p->graph));
    for (unsigned i = 0; i < BUFFERS; i++) {
        release(p, is_alternating(i) ? p->buffers[i].places[0] : p->buffers[i].at);
        if (is_alternating(i))
            release(p, p->buffers[i].places[1]);
    }
    CALL(cuStreamDestroy(p->stream));
    CALL(cuModuleUnload(p->module));
    CALL(cuDevicePrimaryCtxRelease(p->device));
    free(p->kernels);
    free(p->fills);
}

int main(int argc, char **argv)
{
    struct program p = {.options = {.steps = 20, .nodes = 100, .seed = 1}};

    app_parse(argc, argv, "sends the nodes of the commands that a moved buffer touches",
              &p.options);
    p.random = p.options.seed;
    p.tally.checksum = APP_CHECKSUM_START;
    open_device(&p);
    make_buffers(&p);
    build(&p);
    for (uint64_t number = 0; number < p.options.steps; number++)
        step(&p, number);
    read_back(&p);
    close_device(&p);
    p.tally.updates = p.sent;
    printf("differ %" PRIu64 "\n", p.differ);
    return app_finish(&p.options, &p.tally);
}
