/* rig.h: a small graph for the programs that test the shim: two kernel nodes, a memcpy, a memset, a
 * host, an empty and a child-graph node, and the setters' arguments. Linked against libcuda, ELF
 * names. A call that must succeed and does not ends the program with status 1, naming it. */
#ifndef RIG_H
#define RIG_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        CUresult must_result = (call);                                                             \
        if (must_result != CUDA_SUCCESS) {                                                         \
            fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, (int)must_result); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Stores a + b at p; `other` does the same under another name. */
static const char rig_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry store(.param .u64 p, .param .u32 a, .param .u64 b)\n"
    "{\n .reg .b32 %r<2>;\n .reg .b64 %d<6>;\n"
    " ld.param.u64 %d1, [p];\n ld.param.u32 %r1, [a];\n ld.param.u64 %d2, [b];\n"
    " cvta.to.global.u64 %d3, %d1;\n cvt.u64.u32 %d4, %r1;\n add.s64 %d5, %d4, %d2;\n"
    " st.global.u64 [%d3], %d5;\n ret;\n}\n"
    ".visible .entry other(.param .u64 p, .param .u32 a, .param .u64 b)\n"
    "{\n .reg .b32 %r<2>;\n .reg .b64 %d<6>;\n"
    " ld.param.u64 %d1, [p];\n ld.param.u32 %r1, [a];\n ld.param.u64 %d2, [b];\n"
    " cvta.to.global.u64 %d3, %d1;\n cvt.u64.u32 %d4, %r1;\n add.s64 %d5, %d4, %d2;\n"
    " st.global.u64 [%d3], %d5;\n ret;\n}\n";

struct rig {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction store, other;
    CUdeviceptr buffer; /* 1 KiB */
    CUgraph graph;
    CUgraphNode kernel[2], memcpy, memset, host, empty, child;
    CUgraphExec exec;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS_v1 fill;
    CUDA_HOST_NODE_PARAMS_v1 call;
    CUgraph inner;
    /* The arguments that setter() sends. */
    CUdeviceptr p;
    unsigned a;
    unsigned long long b;
    unsigned sent; /* kernel setters sent so far, any ABI */
};

static inline void rig_nothing(void *data)
{
    (void)data;
}

static inline CUDA_KERNEL_NODE_PARAMS_v2 rig_params(CUfunction function, void **args)
{
    return (CUDA_KERNEL_NODE_PARAMS_v2){
        .func = function,
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 1,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = args,
    };
}

/* The setter for kernel node 0 with the rig's arguments; the driver's answer. */
static inline CUresult rig_setter(struct rig *rig)
{
    void *args[] = {&rig->p, &rig->a, &rig->b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig->store, args);

    rig->sent++;
    return cuGraphExecKernelNodeSetParams_v2(rig->exec, rig->kernel[0], &params);
}

static inline void rig_load(struct rig *rig)
{
    MUST(cuModuleLoadData(&rig->module, rig_ptx));
    MUST(cuModuleGetFunction(&rig->store, rig->module, "store"));
    MUST(cuModuleGetFunction(&rig->other, rig->module, "other"));
}

static inline void rig_build(struct rig *rig)
{
    void *args[] = {&rig->p, &rig->a, &rig->b};
    CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(rig->store, args);

    MUST(cuGraphCreate(&rig->graph, 0));
    for (int i = 0; i < 2; i++)
        MUST(cuGraphAddKernelNode_v2(&rig->kernel[i], rig->graph, NULL, 0, &params));
    rig->copy = (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = rig->buffer + 512,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = rig->buffer + 768,
        .WidthInBytes = 64,
        .Height = 1,
        .Depth = 1,
    };
    MUST(cuGraphAddMemcpyNode(&rig->memcpy, rig->graph, NULL, 0, &rig->copy, rig->context));
    rig->fill = (CUDA_MEMSET_NODE_PARAMS_v1){
        .dst = rig->buffer + 256,
        .value = 7,
        .elementSize = 4,
        .width = 16,
        .height = 1,
    };
    MUST(cuGraphAddMemsetNode(&rig->memset, rig->graph, NULL, 0, &rig->fill, rig->context));
    rig->call = (CUDA_HOST_NODE_PARAMS_v1){.fn = rig_nothing};
    MUST(cuGraphAddHostNode(&rig->host, rig->graph, NULL, 0, &rig->call));
    MUST(cuGraphAddEmptyNode(&rig->empty, rig->graph, NULL, 0));
    MUST(cuGraphCreate(&rig->inner, 0));
    MUST(cuGraphAddEmptyNode(&(CUgraphNode){NULL}, rig->inner, NULL, 0));
    MUST(cuGraphAddChildGraphNode(&rig->child, rig->graph, NULL, 0, rig->inner));
    MUST(cuGraphInstantiateWithFlags(&rig->exec, rig->graph, 0));
}

static inline void rig_up(struct rig *rig)
{
    MUST(cuInit(0));
    MUST(cuDeviceGet(&rig->device, 0));
    MUST(cuDevicePrimaryCtxRetain(&rig->context, rig->device));
    MUST(cuCtxSetCurrent(rig->context));
    rig_load(rig);
    MUST(cuMemAlloc_v2(&rig->buffer, 1024));
    rig->p = rig->buffer;
    rig->a = 1;
    rig->b = 2;
    rig_build(rig);
}

#endif
