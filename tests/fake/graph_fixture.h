/* graph_fixture.h: what the tests of graphs share: a context, a module with kernels whose order
 * shows in the result, numbers on the device, a graph. Calls carry the names the library exports,
 * first versions included. */
#ifndef GRAPH_FIXTURE_H
#define GRAPH_FIXTURE_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "tests/unit/vr_test.h"

#define OK(call) T_EQ(call, CUDA_SUCCESS)
/* Almost every misuse of a graph call answers the same. */
#define REFUSED(call) T_EQ(call, CUDA_ERROR_INVALID_VALUE)

#define GRAPH_ENTRY(name, body)                                                                    \
    ".visible .entry " name "(.param .u64 p, .param .u32 a, .param .u32 b) {\n"                    \
    ".reg .u64 %rd<3>; .reg .u32 %r<5>;\n"                                                         \
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];\n"                      \
    "cvta.to.global.u64 %rd2, %rd1;\n" body "st.global.u32 [%rd2], %r4; ret; }\n"

/* mix: *p = *p * a + b; put: *p = a ^ b. */
static const char graph_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n" /* for any device */
    GRAPH_ENTRY("mix", "ld.global.u32 %r3, [%rd2]; mad.lo.u32 %r4, %r3, %r1, %r2;\n")
        GRAPH_ENTRY("put", "xor.b32 %r4, %r1, %r2;\n") ".visible .entry nothing() { ret; }\n";

struct fixture {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction mix, put, nothing;
    CUdeviceptr data; /* 4 KiB, zero */
    CUstream stream;
    CUgraph graph;
};

/* Arguments of mix and put, and the list a node takes them from. */
struct arguments {
    CUdeviceptr p;
    unsigned a, b;
    void *list[3];
};

static inline struct fixture fixture_begin(void)
{
    struct fixture f;
    OK(cuInit(0));
    OK(cuDeviceGet(&f.device, 0));
    OK(cuDevicePrimaryCtxRetain(&f.context, f.device));
    OK(cuCtxSetCurrent(f.context));
    OK(cuModuleLoadData(&f.module, graph_ptx));
    OK(cuModuleGetFunction(&f.mix, f.module, "mix"));
    OK(cuModuleGetFunction(&f.put, f.module, "put"));
    OK(cuModuleGetFunction(&f.nothing, f.module, "nothing"));
    OK(cuMemAlloc_v2(&f.data, 4096));
    OK(cuMemsetD8_v2(f.data, 0, 4096));
    OK(cuCtxSynchronize()); /* the streams of the tests do not wait for the default one */
    OK(cuStreamCreate(&f.stream, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&f.graph, 0));
    return f;
}

static inline void fixture_end(struct fixture *f)
{
    OK(cuGraphDestroy(f->graph));
    OK(cuStreamSynchronize(f->stream));
    OK(cuStreamDestroy_v2(f->stream));
    OK(cuMemFree_v2(f->data));
    OK(cuModuleUnload(f->module));
    OK(cuDevicePrimaryCtxRelease_v2(f->device));
}

static inline unsigned word_at(CUdeviceptr address)
{
    unsigned value;
    OK(cuMemcpyDtoH_v2(&value, address, sizeof value));
    return value;
}

/* One thread of `function`; the arguments are read when the node is set. */
static inline CUDA_KERNEL_NODE_PARAMS kernel_params(CUfunction function,
                                                    struct arguments *arguments)
{
    CUDA_KERNEL_NODE_PARAMS params = {function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL, NULL};
    if (arguments) {
        arguments->list[0] = &arguments->p;
        arguments->list[1] = &arguments->a;
        arguments->list[2] = &arguments->b;
        params.kernelParams = arguments->list;
    }
    return params;
}

/* A node that does *p = *p * a + b after `after` (or as a root, with NULL). */
static inline CUgraphNode add_kernel(CUgraph graph, CUgraphNode after, CUfunction function,
                                     CUdeviceptr p, unsigned a, unsigned b)
{
    CUgraphNode node = NULL;
    struct arguments arguments = {.p = p, .a = a, .b = b};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(function, &arguments);
    OK(cuGraphAddKernelNode_v2(&node, graph, &after, after != NULL, &params));
    return node;
}

static inline CUresult set_kernel(CUgraphExec exec, CUgraphNode node, CUfunction function,
                                  CUdeviceptr p, unsigned a, unsigned b)
{
    struct arguments arguments = {.p = p, .a = a, .b = b};
    CUDA_KERNEL_NODE_PARAMS params = kernel_params(function, &arguments);
    return cuGraphExecKernelNodeSetParams_v2(exec, node, &params);
}

static inline CUgraphNode add_empty(CUgraph graph, CUgraphNode after)
{
    CUgraphNode node = NULL;
    OK(cuGraphAddEmptyNode(&node, graph, &after, after != NULL));
    return node;
}

static inline CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static inline void run(CUgraphExec exec, CUstream stream)
{
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
}

/* A 1-D copy; a side of type host takes its address from the same number. */
static inline CUDA_MEMCPY3D copy_params(CUmemorytype to_type, CUdeviceptr to,
                                        CUmemorytype from_type, CUdeviceptr from, size_t bytes)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = from_type,
                           .srcHost = (const void *)(uintptr_t)from,
                           .srcDevice = from,
                           .dstMemoryType = to_type,
                           .dstHost = (void *)(uintptr_t)to,
                           .dstDevice = to,
                           .WidthInBytes = bytes,
                           .Height = 1,
                           .Depth = 1};
}

#endif
