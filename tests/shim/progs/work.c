/* work.c: the same work through different doors. 8 kernel nodes write to buffers of their own (9
 * are made), all are sent before each of 100 launches, and every tenth step one argument of one
 * node changes. Prints "result N", a sum over what the kernels wrote.
 *
 *   work dlopen [DRIVER]       functions by dlopen and dlsym
 *   work dlvsym DRIVER         by dlvsym, under the version CUDA_1.0
 *   work procaddress [DRIVER]  by cuGetProcAddress alone
 *   work newer BASE            the same, after asking twice for BASE at version 13010
 *   work dlmopen [DRIVER]      by dlsym, from a namespace of its own
 *   work two DRIVER DRIVER     by dlopen, first with one driver, then with the other
 *   work_linked                linked symbols
 *   work_linked two DRIVER     then another driver by dlopen
 *   work_linked last DRIVER    after another driver by dlopen
 *
 * Built twice: with -DLINKED it is linked with the driver, else with nothing of CUDA. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rig.h"

#include <dlfcn.h>

#define NODES 8
#define STEPS 100

/* Symbol, name and version for cuGetProcAddress, parameters. */
#define FUNCTIONS(X)                                                                               \
    X(cuInit, cuInit, 2000, (unsigned))                                                            \
    X(cuDeviceGet, cuDeviceGet, 2000, (CUdevice *, int))                                           \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, (CUcontext *, CUdevice))           \
    X(cuCtxSetCurrent, cuCtxSetCurrent, 4000, (CUcontext))                                         \
    X(cuCtxSynchronize, cuCtxSynchronize, 2000, (void))                                            \
    X(cuModuleLoadData, cuModuleLoadData, 2000, (CUmodule *, const void *))                        \
    X(cuModuleGetFunction, cuModuleGetFunction, 2000, (CUfunction *, CUmodule, const char *))      \
    X(cuMemAlloc_v2, cuMemAlloc, 3020, (CUdeviceptr *, size_t))                                    \
    X(cuMemFree_v2, cuMemFree, 3020, (CUdeviceptr))                                                \
    X(cuMemcpyDtoH_v2, cuMemcpyDtoH, 3020, (void *, CUdeviceptr, size_t))                          \
    X(cuGraphCreate, cuGraphCreate, 10000, (CUgraph *, unsigned))                                  \
    X(cuGraphAddKernelNode_v2, cuGraphAddKernelNode, 12000,                                        \
      (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v2 *))   \
    X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040,                             \
      (CUgraphExec *, CUgraph, unsigned long long))                                                \
    X(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams, 12000,                    \
      (CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v2 *))                              \
    X(cuGraphLaunch, cuGraphLaunch, 10000, (CUgraphExec, CUstream))                                \
    X(cuGraphExecDestroy, cuGraphExecDestroy, 10000, (CUgraphExec))                                \
    X(cuGraphDestroy, cuGraphDestroy, 10000, (CUgraph))

#define MEMBER(symbol, base, version, params) CUresult(*symbol) params;
struct functions {
    FUNCTIONS(MEMBER)
};

static void die(const char *what)
{
    fprintf(stderr, "work: %s\n", what);
    exit(1);
}

static void *must(void *found)
{
    if (!found)
        die(dlerror());
    return found;
}

/* ---- the doors ---- */

#define BY_DLSYM(symbol, base, version, params)                                                    \
    cu.symbol = (CUresult(*) params)must(dlsym(driver, #symbol));

static struct functions by_dlsym(void *driver)
{
    struct functions cu;

    FUNCTIONS(BY_DLSYM)
    return cu;
}

#define BY_DLVSYM(symbol, base, version, params)                                                   \
    cu.symbol = (CUresult(*) params)must(dlvsym(driver, #symbol, "CUDA_1.0"));

static struct functions by_dlvsym(void *driver)
{
    struct functions cu;

    FUNCTIONS(BY_DLVSYM)
    return cu;
}

#define BY_PROCADDRESS(symbol, base, version, params)                                              \
    if (ask(#base, &found, version, 0, NULL) != CUDA_SUCCESS || !found)                            \
        die(#base);                                                                                \
    cu.symbol = (CUresult(*) params)found;

static struct functions by_procaddress(void *driver)
{
    CUresult (*ask)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        (CUresult(*)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *))must(
            dlsym(driver, "cuGetProcAddress_v2"));
    struct functions cu;
    void *found = NULL;

    FUNCTIONS(BY_PROCADDRESS)
    return cu;
}

static void ask_newer(void *driver, const char *base)
{
    CUresult (*ask)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
        (CUresult(*)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *))must(
            dlsym(driver, "cuGetProcAddress_v2"));
    void *found;

    for (int i = 0; i < 2; i++)
        MUST(ask(base, &found, 13010, 0, NULL));
}

#ifdef LINKED
#define BY_LINKER(symbol, base, version, params) cu.symbol = symbol;

static struct functions by_linker(void)
{
    struct functions cu;

    FUNCTIONS(BY_LINKER)
    return cu;
}
#endif

/* ---- the work ---- */

struct work {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node[NODES];
    CUdeviceptr buffer[NODES + 1];
    unsigned a[NODES];
    unsigned long long b;
};

static void make(struct work *work, const struct functions *cu, CUfunction store)
{
    for (int i = 0; i < NODES + 1; i++)
        MUST(cu->cuMemAlloc_v2(&work->buffer[i], 256));
    MUST(cu->cuGraphCreate(&work->graph, 0));
    for (int i = 0; i < NODES; i++) {
        void *args[] = {&work->buffer[i], &work->a[i], &work->b};
        CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(store, args);

        MUST(cu->cuGraphAddKernelNode_v2(&work->node[i], work->graph, NULL, 0, &params));
    }
    MUST(cu->cuGraphInstantiateWithFlags(&work->exec, work->graph, 0));
}

static void step(struct work *work, const struct functions *cu, CUfunction store, int number)
{
    if (number % 10 == 9)
        work->a[number / 10 % NODES] += (unsigned)number;
    for (int i = 0; i < NODES; i++) {
        void *args[] = {&work->buffer[i], &work->a[i], &work->b};
        CUDA_KERNEL_NODE_PARAMS_v2 params = rig_params(store, args);

        MUST(cu->cuGraphExecKernelNodeSetParams_v2(work->exec, work->node[i], &params));
    }
    MUST(cu->cuGraphLaunch(work->exec, NULL));
}

static void run(const struct functions *cu)
{
    struct work work = {.b = 7};
    unsigned long long sum = 0, value;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction store;

    MUST(cu->cuInit(0));
    MUST(cu->cuDeviceGet(&device, 0));
    MUST(cu->cuDevicePrimaryCtxRetain(&context, device));
    MUST(cu->cuCtxSetCurrent(context));
    MUST(cu->cuModuleLoadData(&module, rig_ptx));
    MUST(cu->cuModuleGetFunction(&store, module, "store"));
    make(&work, cu, store);
    for (int number = 0; number < STEPS; number++)
        step(&work, cu, store, number);
    MUST(cu->cuCtxSynchronize());
    for (int i = 0; i < NODES; i++) {
        MUST(cu->cuMemcpyDtoH_v2(&value, work.buffer[i], sizeof(value)));
        sum = sum * 31 + value;
    }
    MUST(cu->cuGraphExecDestroy(work.exec));
    MUST(cu->cuGraphDestroy(work.graph));
    for (int i = 0; i < NODES + 1; i++)
        MUST(cu->cuMemFree_v2(work.buffer[i]));
    printf("result %llu\n", sum);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "linked", *path = argc > 2 ? argv[2] : "libcuda.so.1";
    bool apart = !strcmp(mode, "dlmopen"), newer = !strcmp(mode, "newer");
    struct functions cu;
    void *driver;

#ifdef LINKED
    if (strcmp(mode, "last")) {
        cu = by_linker();
        run(&cu);
    }
    if (!strcmp(mode, "linked"))
        return 0;
#endif
    if (newer)
        path = "libcuda.so.1";
    driver = must(apart ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW));
    if (newer)
        ask_newer(driver, argv[2]);
    cu = !strcmp(mode, "dlvsym")                 ? by_dlvsym(driver)
         : newer || !strcmp(mode, "procaddress") ? by_procaddress(driver)
                                                 : by_dlsym(driver);
    run(&cu);
#ifdef LINKED
    if (!strcmp(mode, "last")) {
        cu = by_linker();
        run(&cu);
    }
#endif
    if (argc > 3) {
        cu = by_dlsym(must(dlopen(argv[3], RTLD_NOW)));
        run(&cu);
    }
    return 0;
}
